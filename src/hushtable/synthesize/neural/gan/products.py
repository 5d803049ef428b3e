"""Sums of products of columns: what correlations need beside each column's own counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hushtable.privacy.unit import Relation
from hushtable.synthesize.histogram_cells import sizes_of
from hushtable.synthesize.neural.gan.start import Start
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

GRID = 32
"""Cells are whole parts of this, from -1 for the first of a column to 1 for its last."""


def places(size: int) -> Integers:
    """Where the cells of a column lie, in parts of ``GRID``."""
    return np.round(GRID * np.linspace(-1, 1, size)).astype(np.int64) if size > 1 else np.zeros(1, np.int64)


@dataclass(frozen=True)
class Products:
    """For each pair of columns the sum over the rows of the product of their places.

    A place is at most ``GRID`` = G in size, so a record changes each of the m pairs' sums by at most G^2: m G^2 in L1 and
    sqrt(m) G^2 in L2; twice that if it is replaced.
    """

    columns: tuple[str, ...]

    def answer(self, table: Table) -> Integers:
        """The pairs in order, (0, 1), (0, 2), ..., (1, 2), ..."""
        sizes = sizes_of(table.schema)
        rows = np.stack([places(sizes[name])[table.cells(name)] for name in self.columns], axis=1)
        return np.asarray((rows.T @ rows)[np.triu_indices(len(self.columns), 1)])

    def largest(self, schema: Schema, rows: int) -> int:
        """All rows at an end."""
        return rows * GRID**2

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """The largest product, for every pair."""
        pairs = len(self.columns) * (len(self.columns) - 1) // 2
        times = GRID**2 * (1 if relation is Relation.ADD_REMOVE else 2)
        return float(pairs * times), math.sqrt(pairs) * times, 0


def correlations(start: Start, noisy: Integers) -> Floats:
    """Pearson's correlations of the places, from noisy sums of products and the tables."""
    cells = start.draw(20_000, np.random.default_rng(0))
    rows = np.stack([places(size)[column] for size, column in zip(start.sizes, cells.T, strict=True)], axis=1)
    means, deviations = rows.mean(0), rows.std(0)
    matrix = np.eye(rows.shape[1])
    upper = np.triu_indices(rows.shape[1], 1)
    scale = np.outer(deviations, deviations)[upper]
    covariances = noisy / start.network.total - np.outer(means, means)[upper]
    matrix[upper] = np.clip(np.divide(covariances, scale, out=np.zeros(len(scale)), where=scale > 0.01), -1, 1)
    return np.maximum(matrix, matrix.T) + np.minimum(matrix, matrix.T) - np.diag(np.diag(matrix))
