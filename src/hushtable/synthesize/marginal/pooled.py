"""A graphical model with more marginals than its junction tree has room for, and rows drawn to match all of them."""

from __future__ import annotations

import math
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
from hushtable.synthesize.marginal.swaps import LOOSELY, ROUGHLY, SETTLED, matched
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

OVER, MANY = 3, 2
"""So many rows are drawn from the graphical model for each that is wanted; and for each of a part of a larger table."""
PARTS = 4
"""From so many parts on, what one misses the others make up."""
FEW, FEWEST, MOST = 20_000, 100_000, 300_000
"""The fewest rows that are drawn to choose a few from, and the fewest and the most rows of a pool."""
WORTH = 0.1
"""The weights of a pool are worth at least this share of the rows of the table."""
ENOUGH = 200
"""Rows with some values given are drawn from the pool if those that have them are worth so many."""
CODES = 60_000_000
"""The most cells of a pool: rows times marginals."""
STEPS = Stopping(steps=300)
ROUGH = Stopping(steps=60, tolerance=1e-3)
"""While marginals are still being chosen."""


@dataclass(frozen=True, eq=False)
class PooledModel:
    """Rows of a graphical model, weighted so that they fit more marginals than its junction tree has room for.

    Everything in it follows from noisy answers, public knowledge and fresh randomness; it holds no row of the table.
    """

    schema: Schema
    graphical: Graphical
    pool: Mapping[str, Integers]
    """The cells of each column of the rows that were weighted; none where the graphical model alone says everything."""
    weights: Floats
    """Of these rows, all together 1."""
    expected: Mapping[Group, Floats]
    """The shares of the cells of the marginals that drawn rows are to match."""
    summary: dict[str, Any] = field(default_factory=dict)
    """For the public card."""

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return max(2, round(self.graphical.total))

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default the (noisy) total; ``given`` fixes columns, and the others follow as the model says."""
        rows = self.size if n is None else n
        fixed = given_cells(self.schema, given)
        batch = max(1000, (len(self.weights) or min(MOST, CODES // max(len(self.expected), 1))) // OVER)
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
        cells, weights = self._weighted(rows, rng, fixed)
        pool = Pool(cells, self.graphical.sizes, list(self.expected))
        if fixed:
            # What holds for all rows does not hold for those with some values given: there the pool itself says what to expect.
            shares = pool.group_marginals(weights)
        else:
            shares = np.concatenate([np.empty(0), *(array.ravel() for array in self.expected.values())])
        places = matched(pool, weights, shares, rows, rng, self._settled(rows))
        return {name: values[places] for name, values in cells.items()}

    def _weighted(self, rows: int, rng: np.random.Generator, fixed: Mapping[str, int]) -> tuple[Mapping[str, Integers], Floats]:
        """Rows to draw from, and their weights: those of the pool, if it has enough with the fixed cells, else fresh ones."""
        if self.pool:
            held = np.all([self.pool[name] == cell for name, cell in fixed.items()] or [np.ones(len(self.weights), bool)], axis=0)
            weights = self.weights[held]
            if not fixed or weights.sum() ** 2 >= ENOUGH * (weights**2).sum() > 0:
                return {name: values[held] for name, values in self.pool.items()}, weights / weights.sum()
        cells = self.graphical.draw(max((MANY if self._of_many(rows) else OVER) * rows, min(FEW, 100 * rows)), rng, fixed or None)
        count = len(next(iter(cells.values())))
        return cells, np.full(count, 1 / count)

    def _settled(self, rows: int) -> float:
        """When to stop exchanging rows: the more parts there are, the more of what one misses the others make up."""
        return min(LOOSELY, ROUGHLY * math.sqrt(self.size / (PARTS * rows))) if self._of_many(rows) else SETTLED

    def _of_many(self, rows: int) -> bool:
        """Whether so many rows are one of several large parts of a table."""
        return FEW <= rows <= self.size / PARTS

    def result(self) -> dict[str, Any]:
        """What was chosen and measured."""
        return self.summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The graphical model, the pool, what to match, and the summary."""
        values, arrays = self.graphical.parts()
        pool = {f"pool {name}": cells.astype(np.int32) for name, cells in self.pool.items()}
        expected = {f"expected {i}": array for i, array in enumerate(self.expected.values())}
        more = {"pool": list(self.pool), "expected": [list(columns) for columns in self.expected], "summary": self.summary}
        schema = self.schema.portable().dump()
        return {"schema": schema, "graphical": values, **more}, {**arrays, **pool, **expected, "weights of the pool": self.weights}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        expected = {tuple(c): arrays[f"expected {i}"].astype(np.float64) for i, c in enumerate(values["expected"])}
        pool = {name: arrays[f"pool {name}"].astype(np.int64) for name in values["pool"]}
        graphical, weights = Graphical.from_parts(values["graphical"], arrays), arrays["weights of the pool"].astype(np.float64)
        return cls(Schema.parse(values["schema"]), graphical, pool, weights, expected, values["summary"])


@dataclass(frozen=True, eq=False)
class Fit:
    """Measurements fitted by a graphical model and weights of rows drawn from it."""

    graphical: Graphical
    cells: Mapping[str, Integers]
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
        return cls(graphical, cells, tempered(pool.beliefs(potentials), WORTH * min(graphical.total, rows / OVER)))

    def project_all(self, many: Sequence[Group]) -> list[Floats]:
        """Expected counts of the cells of each of many groups of columns."""
        projected = []
        for at in range(0, len(many), step := max(1, CODES // len(self.weights))):
            pool = Pool(self.cells, self.graphical.sizes, many[at : at + step])
            projected += pool.arrays(self.graphical.total * pool.group_marginals(self.weights))
        return projected

    def model(self, schema: Schema, groups: Sequence[Group], summary: dict[str, Any]) -> PooledModel:
        """A model whose rows match the expected counts of these groups of columns."""
        expected = {group: counts / self.graphical.total for group, counts in zip(groups, self.project_all(groups), strict=True)}
        return PooledModel(schema, self.graphical, self.cells, self.weights, expected, summary)
