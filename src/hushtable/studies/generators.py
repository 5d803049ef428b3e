"""Private generators under the scores G and G+, by epsilon: the study of Galloni and Lendak, and our methods beside theirs.

Each generator makes as many rows as it was given, and ``Reference.compare`` scores them against these: mu (correlations), delta
(classifiers), nu (columns). Every cell is written as soon as it is there, so a study that was stopped goes on where it stopped.
The noise is fresh: numbers vary. ``hush study generators``

A. Galloni, I. Lendak, Differentially private copulas, DAG and hybrid methods: a comprehensive data utility study, ICCCI 2023.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from hushtable.api.store import Result, Store
from hushtable.display import Progress
from hushtable.errors import HushError, InputError
from hushtable.measures.composite import CompositeOptions, Reference
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.run import release
from hushtable.privacy.unit import Unit
from hushtable.studies.generators_page import page_of, svgs, text_of
from hushtable.studies.study import Report, Resumable, Setting, repeat, slug
from hushtable.studies.tables import at_hand
from hushtable.table.columns import Role
from hushtable.table.table import Table

SPLITS, MANY = 3, 5000
"""Random parts of a table that its classifiers are tested on, to be averaged; of so many rows one part is enough."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What is run: the data sets, the epsilons, how often, and how many rows of each set at most."""

    names: tuple[str, ...] = ("adult_train", "credit_approval", "credit_card_default")
    epsilons: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
    runs: int = 3
    rows: int | None = None

    def __post_init__(self) -> None:
        """At least one of each."""
        if not (self.names and self.epsilons and self.runs > 0):
            raise InputError("needs at least one data set, epsilon and run", where="study")


FULL = Scope()
"""As published. Hours."""
QUICK = Scope(names=FULL.names[:2], epsilons=(0.05, 0.4, 1.6), runs=1, rows=2000)
"""About two minutes."""


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


@dataclass(frozen=True, eq=False)
class Data:
    """A table under study; what is computed of it once is computed when it is first needed."""

    name: str
    table: Table

    @cached_property
    def reference(self) -> Reference:
        """The real side of the scores."""
        return Reference.of(self.table, self.target, CompositeOptions(splits=SPLITS if self.table.rows < MANY else 1))

    @property
    def target(self) -> list[str]:
        """The class to predict; the last column with levels if none has that role."""
        roles = [column.name for column in self.table.schema if column.role is Role.TARGET and not column.numeric]
        return roles[:1] or [column.name for column in self.table.schema if not column.numeric][-1:]


def resumable(data: str | Path | None = None, scope: Scope = FULL, methods: Sequence[Method] = METHODS) -> Resumable[Data]:
    """The study, ready to run. ``data`` is where the real tables lie, if not in the usual place."""
    tables, skipped = at_hand(scope.names, data, scope.rows)
    sets = [Data(name, table) for name, table in tables.items()]

    def report(results: list[Mapping[str, Any]]) -> Report:
        study: dict[str, Any] = {
            "epsilons": list(scope.epsilons), "runs": scope.runs, "skipped": skipped, "data": results,
            "methods": [{"name": m.name, "shown": m.shown, "published": m.published} for m in methods],
        }  # fmt: skip
        text = text_of(study)
        return Report(text, {"generators.txt": text, "study.html": page_of(study), **svgs(study)})

    named = [(m.name, m.recipe, dict(m.knobs)) for m in methods]
    return Resumable(
        identity=["generators", named, list(scope.epsilons), scope.runs, [one.name for one in sets]],
        sets=sets,
        tables=[one.table for one in sets],
        examine=partial(_examine, methods=methods, scope=scope),
        report=report,
    )


def _examine(one: Data, store: Store, progress: Progress, *, methods: Sequence[Method], scope: Scope) -> dict[str, Any]:
    """All results of a data set: by method, a list for each epsilon of a result for each run."""
    real = store.get_or_make(f"{one.name}-real", lambda: _real(one))
    settings = [_setting(one, method, epsilon) for method in methods for epsilon in scope.epsilons]
    results = iter(repeat(store, settings, scope.runs, progress))
    cells = {method.name: [next(results) for _ in scope.epsilons] for method in methods}
    return {"name": one.name, "real": real, "cells": cells}


def _setting(one: Data, method: Method, epsilon: float) -> Setting:
    title = f"{one.name}: {method.shown}, epsilon {epsilon:g}"
    return Setting(f"{one.name}-{slug(method.name)}-{epsilon:g}", title, lambda number: _cell(one, method, epsilon))


def _real(one: Data) -> Result:
    performance = one.reference.performance[one.target[0]]
    return {"rows": one.table.rows, "columns": len(one.table.schema), "target": one.target[0], **_means(performance)}


def _means(performance: Any) -> dict[str, float]:
    return {"accuracy": performance.mean("accuracy"), "score": performance.mean()}


def _cell(one: Data, method: Method, epsilon: float) -> Result:
    start = time.process_time()
    try:
        released, proven = method.make(one.table, epsilon)
    except HushError as error:
        return {"refused": str(error)}
    seconds = time.process_time() - start
    scores = one.reference.compare(released)
    own, there = (_means(scores_of[one.target[0]]) for scores_of in (scores.own, scores.there))
    return {
        "mu": scores.mu, "delta": scores.delta, "nu": scores.nu, "g": scores.g, "g_plus": scores.g_plus,
        "accuracy": own["accuracy"], "score": own["score"], "there": there["score"], "proven": proven, "seconds": seconds,
    }  # fmt: skip
