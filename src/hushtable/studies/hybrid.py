"""Anonymize, sample, bring back, synthesize: the pipeline of Plasencia Palacios (2025), its four printed cells and its findings.

A grid of hybrids (``hush hybrid``) on Adult, a task for each k and generator; and the four configurations whose numbers are
printed (tables A.1 to A.4), each with the generator of the source. ``hush study hybrid``
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hushtable.api.hybrid.run import hybrid
from hushtable.api.store import Result
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.studies.hybrid_report import CONFIGURATIONS, Configuration, report
from hushtable.studies.plasencia import ADULT, FILES, PEOPLE, SOURCE, loaded, tables, unrefined
from hushtable.studies.study import Scope, Study, Task, Work

ATTACKS = ("singling-out", "inference", "linkability", "near-matches")
"""Those of the source, and the nearest of ours."""


@dataclass(frozen=True, kw_only=True)
class Extent:
    """What is run."""

    rows: int
    k: tuple[int, ...] = (5, 10, 20, 50)
    beta: tuple[float, ...] = (0.1, 0.2, 0.5, 1.0)
    generators: tuple[str, ...] = ("argn", "sequential")
    epochs: Mapping[str, int] = field(default_factory=dict)
    """Of the generators of the printed configurations, where they are fewer than usual."""
    cost: float = 900.0
    """CPU seconds of a task, about."""


FULL = Extent(rows=10_000)
"""The grid of 336 cells, hours; the source has 30,000 rows of training."""
QUICK = Extent(
    rows=2000, k=(5, 50), beta=(0.2, 1.0), generators=("sequential",), epochs={"ctgan": 5, "realtabformer": 2, "tabddpm": 10},
    cost=60.0,
)  # fmt: skip
"""36 cells, and the printed configurations after a short training."""


def plan(scope: Scope) -> Work:
    """A task for each k and generator, and for each of the printed configurations."""
    extent = QUICK if scope.quick else FULL
    folder = None if scope.data is None else str(scope.data)
    here, skipped = tables(folder, extent.rows)
    name = here.get(ADULT, next(iter(here.values())))
    where = (name, folder, extent.rows)
    tasks = [
        Task(
            name=f"grid-{generator}-k{k}",
            title=f"grid of {generator}, k = {k}",
            make=partial(grid, where, generator, k, extent.beta),
            cost=extent.cost,
        )
        for generator in extent.generators
        for k in extent.k
    ]
    tasks += [
        Task(
            name=one.name,
            title=f"{one.table}: {one.words}",
            make=partial(printed, where, one, extent.epochs.get(one.generator)),
            cost=extent.cost,
        )
        for one in CONFIGURATIONS
    ]
    about = f"{extent.rows:,} rows here" + (", and a training of few epochs" if scope.quick else "")
    why = PEOPLE if name != FILES[ADULT] else about if scope.quick else ""
    return Work(
        tasks=tasks,
        report=partial(report, why, tuple(skipped)),
        identity=[extent.rows, extent.beta],
        tables=[loaded(*where)],
    )


Where = tuple[str, str | None, int | None]
"""What the table is loaded by."""


def grid(where: Where, generator: str, k: int, beta: tuple[float, ...]) -> Result:
    """All hybrids of one k and one generator, as it is usually run."""
    return _run(where, recipes.load(generator), k=k, beta=beta)


def printed(where: Where, one: Configuration, epochs: int | None) -> Result:
    """One configuration of the source; its generator draws as it was published, without refinement."""
    settings: dict[str, Any] = {**unrefined(one.generator), **({} if epochs is None else {"epochs": epochs})}
    return _run(
        where,
        recipes.load(one.generator).set(settings),
        k=one.k,
        beta=one.beta,
        sampling=one.sampling,
        transition=one.transition,
        order=one.order,
    )


def _run(where: Where, generator: Recipe, **axes: Any) -> Result:
    """A grid as plain values. Diversity is asked for as in the source, where some column is secret."""
    table = loaded(*where)
    secrets = any(str(column.role) == "secret" for column in table.schema)
    made = hybrid(table, generators=(generator,), l=2.0 if secrets else 0.0, only=ATTACKS, seed=0, **axes)
    return made.to_json()


STUDY = Study(
    name="hybrid",
    title="Hybrids of anonymization and synthesis",
    source=f"{SOURCE}, chapter 5 and appendix A.4",
    plan=plan,
)
