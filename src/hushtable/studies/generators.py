"""Private generators under the scores G and G+, by epsilon: the study of Galloni and Lendak, and our methods beside theirs.

Each generator makes as many rows as it was given, and ``Reference.compare`` scores them against these: mu (correlations), delta
(classifiers), nu (columns). The noise is fresh: numbers vary. Table 5.1 of the dissertation, which shows what G does not see, has
numbers; its other results are curves. ``hush study generators``

A. Galloni, I. Lendak, Differentially private copulas, DAG and hybrid methods: a comprehensive data utility study, ICCCI 2023.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from hushtable.api.store import Result
from hushtable.measures.composite import CompositeOptions, Reference
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.run import release
from hushtable.privacy.unit import Unit
from hushtable.studies import composite_table
from hushtable.studies.generators_report import Extent, report
from hushtable.studies.study import Scope, Study, Task, Work, slug
from hushtable.studies.tables import at_hand
from hushtable.table.columns import Role
from hushtable.table.table import Table

SPLITS, MANY = 3, 5000
"""Random parts of a table that its classifiers are tested on, to be averaged; of so many rows one part is enough."""
NAMES = ("adult_train", "credit_approval", "credit_card_default")
FULL = Extent(names=NAMES, epsilons=(0.05, 0.1, 0.2, 0.4, 0.8, 1.6), runs=3)
"""As published. Hours."""
QUICK = Extent(names=NAMES[:2], epsilons=(0.05, 0.4, 1.6), runs=1, rows=2000)
"""About two minutes."""
DRAWS = 10
"""Of the points of table 5.1."""


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


@cache
def data_sets(names: tuple[str, ...], folder: Path | None, rows: int | None) -> tuple[dict[str, Data], tuple[str, ...]]:
    """Those that are at hand, and why the others are not."""
    tables, skipped = at_hand(names, folder, rows)
    return {name: Data(name, table) for name, table in tables.items()}, tuple(skipped)


def plan(scope: Scope) -> Work:
    """Every method at every epsilon on every data set, and the points of table 5.1."""
    extent = (QUICK if scope.quick else FULL).with_runs(scope.runs)
    sets, skipped = data_sets(extent.names, scope.data, extent.rows)
    where = (extent.names, scope.data, extent.rows)
    tasks = [Task(name=f"points-{n}", title=f"points, draw {n + 1}", make=partial(points, n), cost=0.1) for n in range(DRAWS)]
    for name in sets:
        tasks.append(Task(name=f"{name}-real", title=f"{name}: real rows", make=partial(real, where, name)))
        for method in METHODS:
            for epsilon in extent.epsilons:
                for run in range(extent.runs):
                    file = f"{name}-{slug(method.name)}-{epsilon:g}-{run}"
                    title = f"{name}: {method.shown}, epsilon {epsilon:g}"
                    tasks.append(Task(name=file, title=title, make=partial(cell, where, name, method, epsilon)))
    return Work(
        tasks=tasks,
        report=partial(report, extent, tuple(sets), METHODS, skipped),
        identity=[extent.rows, *((m.name, m.recipe, dict(m.knobs)) for m in METHODS)],
        tables=[one.table for one in sets.values()],
    )


Where = tuple[tuple[str, ...], Path | None, int | None]
"""What the data sets are loaded by."""


def points(draw: int) -> Result:
    """The scores of table 5.1 on one draw of its points."""
    scores = composite_table.scores(draw)
    return {name: {key: getattr(scores[name], key) for key in row} for name, row in composite_table.PUBLISHED.items()}


def real(where: Where, name: str) -> Result:
    """What classifiers make of the real rows."""
    one = data_sets(*where)[0][name]
    performance = one.reference.performance[one.target[0]]
    return {"rows": one.table.rows, "columns": len(one.table.schema), "target": one.target[0], **_means(performance)}


def cell(where: Where, name: str, method: Method, epsilon: float) -> Result:
    """One release of one method, scored."""
    one = data_sets(*where)[0][name]
    start = time.process_time()
    released, proven = method.make(one.table, epsilon)
    seconds = time.process_time() - start
    scores = one.reference.compare(released)
    own, there = (_means(scores_of[one.target[0]]) for scores_of in (scores.own, scores.there))
    return {
        "mu": scores.mu, "delta": scores.delta, "nu": scores.nu, "g": scores.g, "g_plus": scores.g_plus,
        "accuracy": own["accuracy"], "score": own["score"], "there": there["score"], "proven": proven, "seconds": seconds,
    }  # fmt: skip


def _means(performance: Any) -> dict[str, float]:
    return {"accuracy": performance.mean("accuracy"), "score": performance.mean()}


STUDY = Study(
    name="generators",
    title="Private generators by epsilon",
    source="A. Galloni, Evaluating synthetic data generators in the context of differential privacy, dissertation, Eotvos Lorand "
    "University 2025, chapters 4 and 5; A. Galloni, I. Lendak, ICCCI 2023",
    plan=plan,
)
