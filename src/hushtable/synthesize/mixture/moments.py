"""Noisy first and second moments of numbers, in whole numbers (Analyze Gauss, Dwork, Talwar, Thakurta and Zhang 2014).

A building block for steps of one's own: no step here asks it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.errors import PlanError
from hushtable.numerics.integers import GRID, Axes, axes_of
from hushtable.privacy.unit import Relation
from hushtable.synthesize.mixture.sums import BATCH, root_up
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

STEPS = 1 << 8
"""Half the width of a domain in steps: products of two of them are summed."""


@dataclass(frozen=True)
class Moments:
    """R^2 times the number of records, R times the sum of x, and the sum of x x^T (its upper triangle).

    x are the places of some columns in their domains, counted from the middle: whole numbers in [-STEPS, STEPS], 0 if missing.
    Where |x|_2 is above the reach R, x is shortened to it and each coordinate cut towards zero, which lengthens nothing.

    *What one record can change.* With |x|_2 <= R the triangle has the squared length sum_i x_i^4 + sum_{i<j} x_i^2 x_j^2 <= R^4,
    and the sum of its absolute values is (|x|_1^2 + |x|_2^2)/2 <= (D + 1) R^2 / 2.

    - One record more or less: L2 sqrt(3) R^2 (R^2 for each of the three parts), L1 (1 + sqrt(D) + (D + 1)/2) R^2.
    - One replaced by another: the count stays, |x - y| <= 2R, and |xx^T - yy^T|_F^2 = |x|^4 + |y|^4 - 2 (x y)^2 <= 2 R^4; so L2
      sqrt(6) R^2, L1 (2 sqrt(D) + D + 1) R^2.
    """

    columns: tuple[str, ...]
    reach: int
    """R, in steps."""

    def __post_init__(self) -> None:
        """At least one column, and a reach."""
        if not self.columns or self.reach < 1:
            raise PlanError("moments need columns, and a reach of at least one step")

    @property
    def size(self) -> int:
        """D."""
        return len(self.columns)

    @cached_property
    def triangle(self) -> tuple[Integers, Integers]:
        """Rows and columns of the upper triangle."""
        return np.triu_indices(self.size)

    def answer(self, table: Table) -> Integers:
        """The count, the sums, the triangle."""
        axes = self._axes(table.schema)
        first, second = np.zeros(self.size, np.int64), np.zeros((self.size, self.size), np.int64)
        for part in table.batches(BATCH):
            x = self._vectors(axes, part)
            first, second = first + x.sum(axis=0), second + x.T @ x
        return np.concatenate([[self.reach**2 * table.rows], self.reach * first, second[self.triangle]])

    def largest(self, schema: Schema, rows: int) -> int:
        """All records as long as they may be."""
        return rows * self.reach**2

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As above; rounded up."""
        self._axes(schema)
        square, root = self.reach**2, math.sqrt(self.size)
        if relation is Relation.ADD_REMOVE:
            return math.ceil((1 + root + (self.size + 1) / 2) * square), root_up(3 * square**2), 0
        return math.ceil((2 * root + self.size + 1) * square), root_up(6 * square**2), 0

    def read(self, answer: Integers) -> tuple[float, Floats, Floats]:
        """Of an answer with noise: the number of records, the mean and the covariance of the places (domains are [0, 1]).

        The covariance is the nearest one without negative eigenvalues.
        """
        rows = max(float(answer[0]) / self.reach**2, 1.0)
        mean = answer[1 : 1 + self.size] / self.reach / rows
        second = np.zeros((self.size, self.size))
        second[self.triangle] = answer[1 + self.size :] / rows
        second = np.triu(second) + np.triu(second, 1).T
        covariance = nearest(second - np.outer(mean, mean))
        return rows, np.clip(mean / STEPS, -1, 1) / 2 + 0.5, covariance / (2 * STEPS) ** 2

    def _axes(self, schema: Schema) -> tuple[Axes, ...]:
        axes = axes_of(schema, self.columns)
        odd = [a.column.name for a in axes if not a.ordered]
        if odd:
            raise PlanError(f"moments: {', '.join(odd)} has no order; leave it out")
        return axes

    def _vectors(self, axes: tuple[Axes, ...], table: Table) -> Integers:
        places = np.stack([a.places(table[a.column.name]) for a in axes], axis=1)
        return clipped(places * (2 * STEPS) // GRID - STEPS, self.reach)


def clipped(vectors: Integers, reach: int) -> Integers:
    """Whole numbers no longer than the reach: what is longer is shortened, then cut towards zero, which lengthens nothing."""
    squares = (vectors * vectors).sum(axis=1)
    long = squares > reach * reach
    short = reach / np.sqrt(np.maximum(squares, 1).astype(np.float64)) * (1 - 1e-9)
    return np.where(long[:, None], np.trunc(vectors * short[:, None]).astype(np.int64), vectors)


def nearest(matrix: Floats) -> Floats:
    """The nearest symmetric matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T, dtype=np.float64)
