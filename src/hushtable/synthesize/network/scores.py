"""The scores of PrivBayes: how much a column depends on a set of parents, in whole numbers, and their sensitivity.

Zhang, Cormode, Procopiuc, Srivastava and Xiao 2017 (PrivBayes) choose parents by mutual information I, by R (how far the
joint table is from the product of its margins) or, where every column has two values, by F (how near it is to one in which
the parents decide the child). All three are for one record replaced by another: the number of rows n is public.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.privacy.rows import other_rows, require_replaced
from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

Pair = tuple[str, tuple[str, ...]]
"""A child and its parents."""

GRID = 1 << 30
"""Mutual information is counted in steps of 1/GRID nats."""


def binary(schema: Schema, pair: Pair) -> bool:
    """Whether the child, or the parents together, have only two cells."""
    child, parents = pair
    return min(histogram_sizes(schema, (child,))[0], math.prod(histogram_sizes(schema, parents))) <= 2


@dataclass(frozen=True)
class _PairScores:
    """Scores of some pairs on a table with a public number of rows."""

    pairs: tuple[Pair, ...]
    rows: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is a child or a parent."""
        return tuple(dict.fromkeys(name for child, parents in self.pairs for name in (child, *parents)))

    @property
    def counted(self) -> tuple[tuple[str, ...], ...]:
        """The child and its parents, of every pair."""
        return tuple((child, *parents) for child, parents in self.pairs)

    def finish(self, counts: Sequence[Integers]) -> Integers:
        """One score per pair."""
        if any(int(own.sum()) != self.rows for own in counts[:1]):
            raise other_rows("privbayes", self.rows)
        return np.array([self._score(own.reshape(len(own), -1)) for own in counts], np.int64)

    def answer(self, table: Table) -> Integers:
        """One score per pair."""
        return self.finish(table.histograms(self.counted))

    def _score(self, joint: Integers) -> int:
        raise NotImplementedError

    def largest(self, schema: Schema, rows: int) -> int:
        """The largest score, by size; the number of rows is public."""
        raise NotImplementedError

    def change(self, schema: Schema, relation: Relation) -> int:
        """The most by which replacing one record changes a score."""
        raise NotImplementedError


class Information(_PairScores):
    """Mutual information of child and parents, in nats, rounded to 1/GRID.

    *What one record can change.* Replacing one of n records changes I by at most (1/n) ln n + ((n-1)/n) ln(n/(n-1)) if the
    child or the parents together have two cells, else by (2/n) ln((n+1)/2) + ((n-1)/n) ln((n+1)/(n-1)) (the
    paper's bounds, here in nats on both sides). Rounding two values adds one step of the grid; the floating-point error of a value
    is below half a step, which adds another: the sums have fewer than 2^40 terms c ln c of the same sign, at most n ln n
    together, are added pairwise and divided by n, so the error is below 200 2^-53 ln n < 2^-40. It is I itself: divided
    by the entropies ("normalised") it would change by up to 1, whatever n is.
    """

    def _score(self, joint: Integers) -> int:
        return round(information(joint) * GRID)

    def largest(self, schema: Schema, rows: int) -> int:
        """A mutual information is at most the logarithm of the rows."""
        return GRID * max(self.rows, 1).bit_length()

    def change(self, schema: Schema, relation: Relation) -> int:
        """As derived above, rounded up, plus two steps."""
        require_replaced("privbayes", relation)
        most = max(information_change(self.rows, binary=binary(schema, pair)) for pair in self.pairs)
        return math.ceil(most * GRID * (1 + 1e-12)) + 2


def information(joint: Integers) -> float:
    """The mutual information of rows and columns of a table of counts, in nats."""
    n = int(joint.sum())
    if n == 0:
        return 0.0
    sides = _c_ln_c(joint.sum(0)) + _c_ln_c(joint.sum(1))
    return (_c_ln_c(joint) - sides) / n + math.log(n)


def _c_ln_c(counts: Integers) -> float:
    present = counts[counts > 1].astype(np.float64)
    return float((present * np.log(present)).sum())


def information_change(rows: int, *, binary: bool) -> float:
    """The most that replacing one of so many records changes mutual information by, in nats."""
    n = rows
    if n < 2:
        return 0.0
    if binary:
        return math.log(n) / n + (n - 1) / n * math.log(n / (n - 1))
    return 2 / n * math.log((n + 1) / 2) + (n - 1) / n * math.log((n + 1) / (n - 1))


class Departure(_PairScores):
    """R: half the L1 distance of the joint shares from the product of the margins' shares, in units of 1/(2 n^2).

    In these units it is the sum of |n c(x, p) - c(x) c(p)|, whole numbers throughout.
    *What one record can change.* At most 3/n + 2/n^2 (the paper's bound), so 6 n + 4 units. To see it: replacing (x, p)
    by (y, q) moves two entries of n c by n each; the margins change by d and e with |d|1, |e|1 <= 2, so their products by
    |c(x) e + d c(p) + d e|, summed over all cells at most 2 n + 2 n + 4.
    """

    def _score(self, joint: Integers) -> int:
        n = int(joint.sum())
        return int(np.abs(n * joint - joint.sum(1)[:, None] * joint.sum(0)[None, :]).sum())

    def largest(self, schema: Schema, rows: int) -> int:
        """All products on one side."""
        return 2 * self.rows * self.rows

    def change(self, schema: Schema, relation: Relation) -> int:
        """Exactly as derived, in units of 1/(2 n^2)."""
        require_replaced("privbayes", relation)
        return 6 * self.rows + 4


class Decision(_PairScores):
    """F: minus the least distance of the joint table to one of greatest mutual information, for a child of two values.

    Such a table gives each cell of the parents to one value of the child, and each value of the child half of the rows. In
    units of 1/(2 n) the score is -min over such gifts of (n - 2 K0)+ + (n - 2 K1)+, with K0, K1 the rows that agree.
    *What one record can change.* At most 1/n (the paper's bound): K0 and K1 together lose one and win one, so 2 units.
    Computed by a dynamic programme over the parents' cells: for each K0 the largest K1.
    """

    def _score(self, joint: Integers) -> int:
        n = int(joint.sum())
        best = np.full(n + 1, -1, np.int64)
        best[0] = 0
        for zero, one in joint.T.tolist():
            to_one = np.where(best >= 0, best + one, -1)
            to_zero = np.full(n + 1, -1, np.int64)
            to_zero[zero:] = best[: n + 1 - zero]
            best = np.maximum(to_one, to_zero)
        reached = np.flatnonzero(best >= 0)
        lost = np.maximum(n - 2 * reached, 0) + np.maximum(n - 2 * best[reached], 0)
        return -int(lost.min())

    def largest(self, schema: Schema, rows: int) -> int:
        """No row agrees."""
        return 2 * self.rows

    def change(self, schema: Schema, relation: Relation) -> int:
        """Two units of 1/(2 n)."""
        require_replaced("privbayes", relation)
        return 2
