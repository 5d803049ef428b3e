"""How a secret spreads over classes, counted by rows and, where people hold several rows, by persons as well.

*By rows* is what an outsider sees who does not know which rows belong together. *By persons* is what holds of a person in the
class, and there a secret is a set of values: a person holds every value that stands in one of their rows of the class. Then:

- **t** compares the shares of values with each value counted once for each person who holds it.
- **l** lets each person stand with one of their values, whichever makes the class most alike. With n persons and n_v holders of
  value v, the counts are taken from the largest n_v down until they add up to n. No choice of one value for each person is more
  concentrated (its largest d counts never add up to more), so distinct values, entropy and recursive diversity of these counts are
  lower bounds. Where all hold the same value among others, l is 1: it is known of everybody.

Where every person has one row the two are the same. A class keeps l or t only if it does by both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.table.arrays import Floats, Integers
from hushtable.table.cell import Cell, Interval
from hushtable.table.columns import Cells, Column, Levels
from hushtable.table.table import Table


def holdings(groups: Integers, persons: Integers) -> tuple[Integers, Integers]:
    """For each person in each group: the group, and how many of its rows the person holds."""
    order = np.lexsort((persons, groups))
    owner, held = groups[order], persons[order]
    first = np.flatnonzero((np.diff(owner, prepend=-1) != 0) | (np.diff(held, prepend=-1) != 0))
    return owner[first], np.diff(np.append(first, len(order)))


def heads(groups: Integers, persons: Integers | None, count: int = 0) -> Integers:
    """How many persons each group has (of at least ``count`` groups): its rows, where every row is a person of its own."""
    return np.bincount(groups if persons is None else holdings(groups, persons)[0], minlength=count)


def weighted(groups: Integers, weights: Integers | None, count: int = 0) -> Integers:
    """How many rows each group has (of at least ``count`` groups), where a row stands for so many."""
    return np.bincount(groups, weights, minlength=count).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Secret:
    """A secret column: the rank of each row's value, and which persons hold the rows."""

    ranks: Integers
    count: int
    """How many ranks there are."""
    absent: int
    """The rank that stands for a missing value, -1 if there is none."""
    persons: Integers | None = None
    weights: Integers | None = None
    """How many rows each row stands for, where rows that are alike are held once; then every row is a person of its own."""

    @classmethod
    def of(cls, table: Table, name: str, weights: Integers | None = None) -> Secret:
        """The column of a table, with the table's persons."""
        return cls(*ranks(table, name), table.persons, weights)

    def spreads(self, groups: Integers, rows: Integers | None = None) -> tuple[Spread, ...]:
        """In these groups of all rows, or of some: by rows and, where persons are known, by persons."""
        own = self.ranks if rows is None else self.ranks[rows]
        cells, place, counts = np.unique(groups * self.count + own, return_inverse=True, return_counts=True)
        if self.weights is not None:
            counts = weighted(place, self.weights if rows is None else self.weights[rows])
        owner, values = cells // self.count, cells % self.count
        spreads = [Spread(owner, values, counts, self._wholes[0], self.absent)]
        if self.persons is not None:
            persons = self.persons if rows is None else self.persons[rows]
            known = own != self.absent
            holders = heads(groups[known], persons[known], int(groups.max(initial=-1)) + 1)
            spreads.append(Spread(owner, values, heads(place, persons), self._wholes[1], self.absent, holders))
        return tuple(spreads)

    @cached_property
    def _wholes(self) -> tuple[Floats, Floats]:
        """The share of each value in the whole table, by rows and by persons."""
        if self.weights is not None:
            rows = persons = weighted(self.ranks, self.weights, self.count)
        else:
            rows, persons = (heads(self.ranks, by, self.count) for by in (None, self.persons))
        return rows / max(int(rows.sum()), 1), persons / max(int(persons.sum()), 1)


@dataclass(frozen=True, eq=False)
class Spread:
    """The values of a secret in each class, sparse, sorted by class and then by value; no class is empty."""

    groups: Integers
    values: Integers
    """Ranks of the values, where they have an order."""
    counts: Integers
    """The rows that have the value, or the persons who hold it."""
    whole: Floats
    """The share of each value in the whole table."""
    absent: int = -1
    """The rank that stands for a missing value; it counts in t, but not in l."""
    holders: Integers | None = None
    """The persons of each class who hold a value that is not missing, where persons are counted."""

    @cached_property
    def totals(self) -> Integers:
        """All counts of each class."""
        return np.bincount(self.groups, self.counts).astype(np.int64)

    @cached_property
    def _present(self) -> tuple[Integers, Integers]:
        """Class and count of the values that are no missing ones (not to answer hides nothing), falling within a class.

        With several values to a person, from the largest down until every person has one: see above.
        """
        present = self.values != self.absent
        groups, counts = self.groups[present], self.counts[present]
        order = np.lexsort((-counts, groups))
        groups, counts = groups[order], counts[order]
        if self.holders is None:
            return groups, counts
        counts = np.clip(self.holders[groups] - _before(groups, counts), 0, counts)
        return groups[counts > 0], counts[counts > 0]

    def distinct(self) -> Integers:
        """How many different values each class has."""
        return np.bincount(self._present[0], minlength=len(self.totals))

    def entropy(self) -> Floats:
        """Exp of the entropy of each class: equal frequencies of l values give l; 0 where there is no value."""
        groups, counts = self._present
        shares = counts / np.bincount(groups, counts, minlength=len(self.totals))[groups]
        diversity = np.exp(np.bincount(groups, -shares * np.log(shares), minlength=len(self.totals)))
        return np.where(self.distinct() > 0, diversity, 0.0)

    def recursive(self, c: float) -> Integers:
        """For each class the largest l with r_1 < c (r_l + r_(l+1) + ...), its counts in falling order; 0 if there is none."""
        groups, counts = self._present
        most = np.zeros(len(self.totals))
        most[groups[::-1]] = counts[::-1]
        tails = np.bincount(groups, counts, minlength=len(self.totals))[groups] - _before(groups, counts)
        return np.bincount(groups, most[groups] < c * tails, minlength=len(self.totals)).astype(np.int64)

    def distances(self, *, ordered: bool) -> Floats:
        """The earth mover's distance of each class from the whole table."""
        if len(self.whole) < 2:
            return np.zeros(len(self.totals))
        shares = self.counts / self.totals[self.groups]
        if ordered:
            return _ordered_distances(self.groups, self.values, shares, np.cumsum(self.whole)) / (len(self.whole) - 1)
        # Values absent from a class contribute their share of the whole table: one less what is present.
        whole = self.whole[self.values]
        return np.asarray((1 + np.bincount(self.groups, np.abs(shares - whole) - whole)) / 2, dtype=np.float64)


def _before(groups: Integers, counts: Integers) -> Integers:
    """The sum of the counts that stand before each one in its class; the classes lie together."""
    first = np.diff(groups, prepend=-1) != 0
    before = np.cumsum(counts) - counts
    return np.asarray(before - before[first][np.cumsum(first) - 1], dtype=np.int64)


def _ordered_distances(groups: Integers, values: Integers, shares: Floats, cumulative: Floats) -> Floats:
    """For each class the sum over all ranks of |its cumulative share - the table's|, without visiting every rank.

    Between two values of a class its cumulative share c is constant, and the table's grows past c at one place, so
    two differences of prefix sums give the whole stretch.
    """
    count = len(cumulative)
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    running = np.cumsum(shares)
    own = running - (running - shares)[starts][groups]
    following = np.append(values[1:], count)
    following[np.append(starts[1:], len(values)) - 1] = count
    begin = np.concatenate([values, np.zeros(len(starts), np.int64)])
    end = np.concatenate([following, values[starts]])
    level = np.concatenate([own, np.zeros(len(starts))])
    which = np.concatenate([groups, np.arange(len(starts))])
    prefix = np.concatenate([[0.0], np.cumsum(cumulative)])
    split = np.clip(np.searchsorted(cumulative, level), begin, end)
    below = level * (split - begin) - (prefix[split] - prefix[begin])
    above = (prefix[end] - prefix[split]) - level * (end - split)
    return np.asarray(np.bincount(which, below + above), dtype=np.float64)


def ranks(table: Table, name: str) -> tuple[Integers, int, int]:
    """Each row's value as a rank, cells by their middle, missing last; how many ranks there are, and that of missing (or -1)."""
    column = table.schema[name]
    values, codes = np.unique(table[name], return_inverse=True)
    missing = column.is_missing(values)
    keys = np.where(missing, np.inf, values.astype(np.float64))
    if isinstance(column.domain, Cells):
        middles = [_middle(cell, column) for cell in column.domain.cells] + [np.inf]
        keys = np.array([middles[int(v)] for v in values])
    order = np.argsort(keys, kind="stable")
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values))
    return rank[codes], len(values), len(values) - 1 if missing.any() else -1


def _middle(cell: Cell, column: Column) -> float:
    if isinstance(cell.span, Interval):
        return (max(cell.span.low, -1e300) + min(cell.span.high, 1e300)) / 2
    if cell.span is None or not isinstance(column.base, Levels):
        return 0.0
    index = column.base.index
    return float(np.mean([index[level] for level in cell.span]))
