"""Private generators under the scores G and G+, by epsilon: the study of Galloni and Lendak, and our methods beside theirs.

Each generator makes as many rows as it was given, and ``Reference.compare`` scores them against these: mu (correlations), delta
(classifiers), nu (columns). The noise is fresh: numbers vary. ``hush study generators``

A. Galloni, I. Lendak, Differentially private copulas, DAG and hybrid methods: a comprehensive data utility study, ICCCI 2023.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from hushtable.api.store import Result
from hushtable.measures.composite import CompositeOptions, Reference
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.run import release
from hushtable.privacy.unit import Unit
from hushtable.studies import generators_report
from hushtable.studies.report import Report
from hushtable.studies.study import Scope, Study, Task, Work, slug
from hushtable.studies.tables import at_hand
from hushtable.table.columns import Role
from hushtable.table.table import Table

SPLITS, MANY = 3, 5000
"""Random parts of a table that its classifiers are tested on, to be averaged; of so many rows one part is enough."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is run: the data sets, the epsilons, how often, and how many rows of each set at most."""

    names: tuple[str, ...] = ("adult_train", "credit_approval", "credit_card_default")
    epsilons: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
    runs: int = 3
    rows: int | None = None


FULL = Effort()
"""As published. Hours."""
QUICK = Effort(names=FULL.names[:2], epsilons=(0.05, 0.4, 1.6), runs=1, rows=2000)
"""About two minutes of one core."""


@dataclass(frozen=True)
class Method:
    """One curve: a recipe with some of its knobs turned."""

    name: str
    recipe: str
    published: bool = False
    """As in the publication: of those that are proven, with pure epsilon."""
    knobs: Mapping[str, str] = field(default_factory=dict)

    @property
    def proven(self) -> bool:
        """Whether it spends epsilon, or only claims it."""
        return any(step.spends for step in recipes.load(self.recipe).steps)

    @property
    def shown(self) -> str:
        """Its name, and that nothing is proven if so."""
        return self.name if self.proven else f"{self.name} (no proof)"

    def make(self, table: Table, epsilon: float) -> tuple[Table, str]:
        """A synthetic table of as many rows, and what is proven of it."""
        recipe = recipes.load(self.recipe).set(self.knobs)
        if not self.proven:
            claimed = release(table, recipe.set({"epsilon": str(epsilon)}), rows=table.rows)
            return claimed.table, "nothing (claimed)"
        unit = Unit(relation=recipe.relation)
        proven = release(table, recipe, epsilon=epsilon, delta=0.0 if self.published else None, unit=unit, rows=table.rows)
        delta = "pure" if self.published else "with a delta"
        return proven.table, f"epsilon, {delta}, {unit.relation}"


METHODS = (
    Method("PrivBayes, degree 2", "privbayes-published", True, {"degree": "2"}),
    Method("PrivBayes, degree 3", "privbayes-published", True, {"degree": "3"}),
    Method("NPGauss", "dpcopula-kendall", True),
    Method("Gauss", "dpcopula-hybrid", True),
    Method("Vine", "copula-shirley", True),
    Method("mst", "mst"),
    Method("aim", "aim"),
    Method("vine-certified", "vine-certified"),
    Method("privbayes", "privbayes"),
)
"""The publication's names for its own; ours by that of the recipe."""


def plan(scope: Scope) -> Work:
    """A task for each method, epsilon and run on each data set, and one for the real rows."""
    effort, folder = QUICK if scope.quick else FULL, None if scope.data is None else str(scope.data)
    tables, skipped = at_hand(effort.names, folder, effort.rows)
    runs = scope.runs or effort.runs
    tasks = []
    for name in tables:
        where = (name, folder, effort.rows)
        tasks.append(Task(name=f"{name}-real", title=f"{name}: real rows", make=partial(real, *where)))
        for method in METHODS:
            for epsilon in effort.epsilons:
                title = f"{name}: {method.shown}, epsilon {epsilon:g}"
                for run in range(runs):
                    make = partial(cell, *where, method.name, epsilon)
                    tasks.append(Task(name=cell_name(name, method.name, epsilon, run), title=title, make=make, cost=3.0))

    def report(results: Mapping[str, Result]) -> Report:
        found = generators_report.Found(results, tuple(METHODS), effort.epsilons, runs, cell_name)
        return generators_report.report(found, list(tables), skipped)

    named = [(m.name, m.recipe, dict(m.knobs)) for m in METHODS]
    return Work(tasks=tasks, report=report, identity=["generators", named, effort], tables=list(tables.values()))


def cell_name(data: str, method: str, epsilon: float, run: int) -> str:
    """The name of the task of one cell."""
    return f"{data}-{slug(method)}-{epsilon:g}-{run}"


@cache
def reference(name: str, folder: str | None, rows: int | None) -> Reference:
    """The real side of the scores, computed once in each process."""
    table = at_hand((name,), folder, rows)[0][name]
    return Reference.of(table, [target(table)], CompositeOptions(splits=SPLITS if table.rows < MANY else 1))


def target(table: Table) -> str:
    """The class to predict; the last column with levels if none has that role."""
    levels = [column.name for column in table.schema if not column.numeric]
    return next((name for name in levels if table.schema[name].role is Role.TARGET), levels[-1])


def real(name: str, folder: str | None, rows: int | None) -> Result:
    """How well classifiers do on the real rows."""
    own = reference(name, folder, rows)
    predicted = target(own.table)
    sizes = {"rows": own.table.rows, "columns": len(own.table.schema), "target": predicted}
    return sizes | _means(own.performance[predicted])


def cell(name: str, folder: str | None, rows: int | None, method: str, epsilon: float) -> Result:
    """One release of one method at one epsilon, scored."""
    own = reference(name, folder, rows)
    start = time.process_time()
    released, proven = next(one for one in METHODS if one.name == method).make(own.table, epsilon)
    seconds = time.process_time() - start
    scores = own.compare(released)
    predicted = target(own.table)
    ours, there = (_means(scores_of[predicted]) for scores_of in (scores.own, scores.there))
    return {
        "mu": scores.mu, "delta": scores.delta, "nu": scores.nu, "g": scores.g, "g_plus": scores.g_plus,
        "accuracy": ours["accuracy"], "score": ours["score"], "there": there["score"], "proven": proven, "seconds": seconds,
    }  # fmt: skip


def _means(performance: Any) -> dict[str, float]:
    return {"accuracy": performance.mean("accuracy"), "score": performance.mean()}


STUDY = Study(name="generators", title="Private generators by epsilon", source=generators_report.SOURCE, plan=plan)
