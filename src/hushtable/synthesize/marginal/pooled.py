"""A graphical model with more marginals than its junction tree has room for, and rows drawn to match all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Arrays, Given
from hushtable.synthesize.histogram_cells import given_cells, table_of
from hushtable.synthesize.marginal.estimate import Stopping, descended
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.measurement import Measurement, combined
from hushtable.synthesize.marginal.pool import Group, Pool, tempered
from hushtable.synthesize.marginal.swaps import matched
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

OVER = 3
"""So many rows are drawn from the graphical model for each that is wanted."""
FEWEST, MOST = 20_000, 300_000
"""The fewest and the most rows of a pool."""
CODES = 60_000_000
"""The most cells of a pool: rows times marginals."""
STEPS = Stopping(steps=300)
ROUGH = Stopping(steps=60, tolerance=1e-3)
"""While marginals are still being chosen."""


@dataclass(frozen=True, eq=False)
class PooledModel:
    """Rows of a graphical model, weighted by the exponential of a sum of potentials of other groups of columns.

    Everything in it follows from noisy answers, public knowledge and fresh randomness; it holds no row.
    """

    schema: Schema
    graphical: Graphical
    potentials: Mapping[Group, Floats]
    """Of what the junction tree of the graphical model has no room for."""
    expected: Mapping[Group, Floats]
    """The shares of the cells of the marginals that drawn rows are to match."""
    summary: dict[str, Any] = field(default_factory=dict)
    """For the public card."""

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default the (noisy) total; ``given`` fixes columns, and the others follow as the model says."""
        rows = max(2, round(self.graphical.total)) if n is None else n
        fixed = given_cells(self.schema, given)
        batch = max(1000, min(MOST, CODES // (len(self.expected) + len(self.potentials) + 1)) // OVER)
        try:
            parts = [self._drawn(min(batch, rows - at), rng, fixed) for at in range(0, max(rows, 1), batch)]
        except InputError as error:
            if not fixed:
                raise
            raise InputError(f"no row can have these values of {', '.join(fixed)} together", where="given") from error
        return table_of(self.schema, {name: np.concatenate([part[name] for part in parts]) for name in self.schema.names})

    def _drawn(self, rows: int, rng: np.random.Generator, fixed: Mapping[str, int]) -> dict[str, Integers]:
        if not rows:
            return self.graphical.draw(0, rng, fixed or None)
        cells = self.graphical.draw(max(OVER * rows, min(FEWEST, 100 * rows)), rng, fixed or None)
        weights = np.ones(len(next(iter(cells.values()))))
        if self.potentials:
            tilt = Pool(cells, self.graphical.sizes, list(self.potentials))
            weights = tilt.beliefs(np.concatenate([array.ravel() for array in self.potentials.values()]))
            weights = tempered(weights, min(rows, len(weights) / OVER))
        pool = Pool(cells, self.graphical.sizes, list(self.expected))
        # What holds for all rows does not hold for those with some values given: there the pool itself says what to expect.
        shares = pool.group_marginals(weights / weights.sum())
        if not fixed:
            shares = np.concatenate([np.empty(0), *(array.ravel() for array in self.expected.values())])
        places = matched(pool, weights, shares, rows, rng)
        # A weight may take a row of the pool more than once; in what order they came says nothing.
        return {name: values[places] for name, values in cells.items()}

    def result(self) -> dict[str, Any]:
        """What was chosen and measured."""
        return self.summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The graphical model, potentials, what to match, and the summary."""
        values, arrays = self.graphical.parts()
        named = {"potential": self.potentials, "expected": self.expected}
        more = {f"pool {kind} {i}": array for kind, group in named.items() for i, array in enumerate(group.values())}
        groups = {f"{kind} groups": [list(columns) for columns in group] for kind, group in named.items()}
        return {"schema": self.schema.portable().dump(), "graphical": values, "summary": self.summary, **groups}, arrays | more

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        potentials, expected = (
            {tuple(c): arrays[f"pool {kind} {i}"].astype(np.float64) for i, c in enumerate(values[f"{kind} groups"])}
            for kind in ("potential", "expected")
        )
        graphical = Graphical.from_parts(values["graphical"], arrays)
        return cls(Schema.parse(values["schema"]), graphical, potentials, expected, values["summary"])


@dataclass(frozen=True, eq=False)
class Fit:
    """Measurements fitted by a graphical model and weights of rows drawn from it."""

    graphical: Graphical
    measured: tuple[Group, ...]
    cells: Mapping[str, Integers]
    potentials: Floats
    weights: Floats

    @classmethod
    def of(
        cls, graphical: Graphical, measurements: Sequence[Measurement], rng: np.random.Generator, stopping: Stopping = STEPS
    ) -> Self:
        """Draw a pool from a model of some of the measurements, and weigh its rows until all of them fit."""
        targets = combined(measurements, {name: i for i, name in enumerate(graphical.sizes)})
        groups = tuple(m.columns for m in targets)
        rows = int(np.clip(OVER * graphical.total, FEWEST, min(MOST, CODES // max(len(groups), 1))))
        cells = graphical.draw(rows, rng)
        pool = Pool(cells, graphical.sizes, groups)
        potentials = descended(pool, targets, graphical.total, np.zeros(pool.ends[-1]), stopping)
        return cls(graphical, groups, cells, potentials, pool.beliefs(potentials))

    def project_all(self, many: Sequence[Group]) -> list[Floats]:
        """Expected counts of the cells of each of many groups of columns."""
        projected = []
        for at in range(0, len(many), step := max(1, CODES // len(self.weights))):
            pool = Pool(self.cells, self.graphical.sizes, many[at : at + step])
            projected += pool.arrays(self.graphical.total * pool.group_marginals(self.weights))
        return projected

    def model(self, schema: Schema, groups: Sequence[Group], summary: dict[str, Any]) -> PooledModel:
        """A model whose rows match the expected counts of these groups of columns."""
        pool = Pool({name: values[:1] for name, values in self.cells.items()}, self.graphical.sizes, self.measured)
        potentials = dict(zip(self.measured, pool.arrays(self.potentials), strict=True)) if self.potentials.any() else {}
        expected = {group: counts / self.graphical.total for group, counts in zip(groups, self.project_all(groups), strict=True)}
        return PooledModel(schema, self.graphical, potentials, expected, summary)
