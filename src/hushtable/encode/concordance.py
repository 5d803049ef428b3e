"""How pairs of columns rise together, in whole numbers: Kendall's tau-a before it is divided."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numba import njit

from hushtable.encode.integers import Integers, require_replaced, require_rows
from hushtable.privacy.unit import Relation
from hushtable.table.schema import Schema
from hushtable.table.table import Table


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
        require_rows("kendall", table, self.rows)
        there = {name: ~table.missing(name) for name in self.columns}
        ranks = {name: np.unique(table[name], return_inverse=True)[1].astype(np.int64) for name in self.columns}
        pairs = ((one, two, there[one] & there[two]) for one, two in combinations(self.columns, 2))
        return np.array([concordance(ranks[one][both], ranks[two][both]) for one, two, both in pairs], np.int64)

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above; only for one record replaced by another."""
        require_replaced("kendall", relation)
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
