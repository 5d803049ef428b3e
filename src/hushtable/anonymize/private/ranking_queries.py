"""What individual ranking asks: the sorted values of one column in blocks, and how pairs of columns rise together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numba import njit

from hushtable.anonymize.private.integers import GRID, Axes, Integers, block_starts
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.privacy.unit import Relation
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True)
class RankSums:
    """Sums over blocks of k of the values of one column, sorted; in integers, missing ones at the upper end.

    *What one record can change.* Replace one value x by x' > x. Then no order statistic falls, and together they rise by
    x' - x, because they have the sums of the values. A block sum is a sum of order statistics at fixed places, so all
    block sums rise, and together by x' - x: the L1 change of the whole list is |x - x'| <= GRID, whatever the number of
    blocks and the size of the last. L2 is no larger than L1. (Of the means, which are divided by k or more: width/k.)
    Each value is rounded to the grid first, so this is exact. Sanchez, Domingo-Ferrer, Martinez and Soria-Comas 2016.

    It covers the sorted list alone. Which row has which rank is not in it, and must not be put back.
    """

    column: str
    k: int
    rows: int
    """The number of rows, which is public."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def answer(self, table: Table) -> Integers:
        """The sums from the lowest block to the highest."""
        _require_rows(table, self.rows)
        axes, array = Axes(table.schema[self.column]), table[self.column]
        places = np.where(axes.column.is_missing(array), GRID, axes.places(array))
        return np.add.reduceat(np.sort(places), block_starts(self.rows, self.k))

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """The width of the grid; only for one record replaced by another."""
        _require_replaced(relation)
        return float(GRID), float(GRID), 0


@dataclass(frozen=True)
class Concordance:
    """For each pair of columns, the pairs of rows that they order alike less those that they order oppositely.

    Equal and missing values are ordered neither way. Divided by the number of pairs of rows it is Kendall's tau-a.
    Replacing a record touches the n - 1 pairs of rows that it is in, each by 2 at most: 2 (n - 1) for a pair of columns
    (4/n for tau-a), and for p pairs of columns L1 = 2 (n - 1) p, L2 = 2 (n - 1) sqrt(p). (Tau-b has no such bound: it
    divides by a number of ties that a record changes too.)
    """

    columns: tuple[str, ...]
    rows: int
    """The number of rows, which is public."""

    def answer(self, table: Table) -> Integers:
        """In the order of ``itertools.combinations``."""
        _require_rows(table, self.rows)
        there = {name: ~table.missing(name) for name in self.columns}
        ranks = {name: np.unique(table[name], return_inverse=True)[1].astype(np.int64) for name in self.columns}
        pairs = ((one, two, there[one] & there[two]) for one, two in combinations(self.columns, 2))
        return np.array([concordance(ranks[one][both], ranks[two][both]) for one, two, both in pairs], np.int64)

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above; only for one record replaced by another."""
        _require_replaced(relation)
        pairs = len(self.columns) * (len(self.columns) - 1) // 2
        each = 2.0 * max(self.rows - 1, 0)
        return each * pairs, each * math.sqrt(pairs), 0


def concordance(one: Integers, two: Integers) -> int:
    """Concordant less discordant pairs of rows, from ranks: n log n, by counting inversions."""
    order = np.lexsort((two, one))
    opposite = int(_inversions(two[order]))
    n = len(one)
    both = one * (int(two.max(initial=0)) + 1) + two
    unequal = n * (n - 1) // 2 - _ties(one) - _ties(two) + _ties(both)
    return unequal - 2 * opposite


def _ties(ranks: Integers) -> int:
    counts = np.unique(ranks, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


@njit(cache=True)
def _inversions(values):  # type: ignore[no-untyped-def]
    """Pairs of places whose values stand in falling order, by merging runs."""
    n = len(values)
    held, count, width = np.empty_like(values), 0, 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for place in range(low, high):
                if j >= high or (i < middle and values[i] <= values[j]):
                    held[place] = values[i]
                    i += 1
                else:
                    held[place] = values[j]
                    j += 1
                    count += middle - i
        values, held = held, values
        width *= 2
    return count


def _require_rows(table: Table, rows: int) -> None:
    if table.rows != rows:
        raise InputError(f"a question for {rows} rows was asked of another number of rows", where="ranking")


def _require_replaced(relation: Relation) -> None:
    if relation is not Relation.REPLACE_ONE:
        raise GuaranteeRefused("ranking: the number of rows must be public; ask for --relation replace_one")
