"""Predicates: several conditions at once, and which rows of a table meet them. The arithmetic of singling out.

A condition is a span of places on one column: ``<= v`` reaches from 1 to the place of v, ``= v`` is one place, and ``!= v``
is written with its ends crossed. Rows that meet a condition are found by a packed bitmap. A column of 20,000 different
numbers does not get 20,000 of them: neighbouring conditions share the bitmap of their hull, and only the few rows that pass
every bitmap are checked one by one. The search stops at the second person, because nobody asks for a third.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from hushtable.audits.rank_coding import Bits, Cells, Ints, Places, Sets, Span
from hushtable.evidence.persons import People
from hushtable.table.arrays import Integers

GROUPS = 64
"""Bitmaps for the conditions of one shape (up to, from, within) on one column."""


class Conditions(NamedTuple):
    """A list of conditions. Those of one ``group`` share a bitmap: that of the rows that meet the group's hull."""

    column: Ints
    low: Ints
    high: Ints
    group: Ints
    hull_column: Ints
    hull_low: Ints
    hull_high: Ints


class Rows(NamedTuple):
    """A table made ready for some conditions."""

    low: Ints
    high: Ints
    """rows x columns: the span of each cell; twice the number of its pattern in a column of sets."""
    bitmaps: Bits
    """groups x words."""
    sizes: Integers
    """How many rows are in each bitmap."""
    who: Integers
    """The person of each row."""


@dataclass(frozen=True, eq=False)
class Book:
    """Conditions that the release gives, and the tables made ready for them, each when it is first asked."""

    places: Places
    conditions: Conditions
    order: Mapping[str, Integers]
    """For some tables an order of rows to search them in."""
    people: Mapping[str, People]
    """Who holds the rows of some tables; in others every row counts as a person."""
    _rows: dict[str, Rows] = field(default_factory=dict)

    @classmethod
    def of(
        cls, places: Places, order: Mapping[str, Integers], people: Mapping[str, People], of_cells: Callable[[Cells], Span]
    ) -> Book:
        """The conditions that ``of_cells`` makes of the cells of each column, column by column."""
        lists = [of_cells(cells) for cells in places.cells]
        column = np.repeat(np.arange(len(lists), dtype=np.int32), [len(low) for low, _ in lists])
        low, high = (np.concatenate([ends[i] for ends in lists]).astype(np.int32) for i in (0, 1))
        return cls(places, _grouped(column, low, high, places.top, places.sets), order, people)

    def rows(self, which: str) -> Rows:
        """One table made ready."""
        if which not in self._rows:
            order = self.order.get(which, slice(None))
            low, high = (np.ascontiguousarray(ends[which][order]) for ends in (self.places.low, self.places.high))
            bitmaps = _bitmaps(low, high, self.conditions, self.places.sets)
            who = self.people[which].who[order] if which in self.people else np.arange(len(low))
            self._rows[which] = Rows(low, high, bitmaps, np.bitwise_count(bitmaps).sum(axis=1).astype(np.int64), who)
        return self._rows[which]

    def first_two(self, predicates: Ints, which: str) -> tuple[Integers, Integers]:
        """For each predicate, a row of numbers of conditions, the first row that meets it and the first of another person.

        Where there is none, the number of rows.
        """
        pair = _search(predicates, self.conditions, self.places.sets, self.rows(which))
        return pair[:, 0], pair[:, 1]

    def lone(self, own: Ints, k: int, rounds: int, rng: np.random.Generator) -> tuple[Ints, Integers]:
        """Different predicates of k conditions that only the released row meets from which they were taken, and those rows.

        In each round every released row draws k of its ``own`` conditions (one for each column, -1 for none). There are at
        most so many rounds, and none after the one that brings half as many predicates as there are rows.
        """
        drawn, sources = _lone(own, k, rounds, self.conditions, self.places.sets, self.rows("release"), rng)
        predicates, first = np.unique(drawn, axis=0, return_index=True)
        return predicates, sources[first]


def _grouped(column: Ints, low: Ints, high: Ints, top: Ints, sets: Sets) -> Conditions:
    """Conditions of one shape on one column, in order, cut into runs; each run has the hull of its members."""
    loose, last = sets.width[column] > 0, top[column]
    shape = np.select([loose, low > high, low == high, low == 1, high == last], [4, 0, 1, 2, 3], 1)
    order = np.lexsort((high, low, shape, column))
    where = column[order].astype(np.int64) * 5 + shape[order]
    first = np.flatnonzero(np.diff(where, prepend=-1))
    length = np.diff(np.append(first, len(order)))
    inside = np.arange(len(order)) - np.repeat(first, length)
    runs = np.where(where[first] % 5 == 0, 1, np.minimum(length, GROUPS))
    # The patterns of sets have no order, hence no hull: each has its own bitmap, or all have the one that lets everything pass.
    runs = np.where(where[first] % 5 == 4, np.where(length <= 4 * GROUPS, length, 1), runs)
    run = inside * np.repeat(runs, length) // np.repeat(length, length)
    change = np.flatnonzero((np.diff(where, prepend=-1) != 0) | (np.diff(run, prepend=-1) != 0))
    group = np.empty(len(order), np.int32)
    group[order] = np.repeat(np.arange(len(change)), np.diff(np.append(change, len(order))))
    if not len(order):
        return Conditions(column, low, high, group, column, low, high)
    hull_column, hull_low = column[order][change], np.minimum.reduceat(low[order], change)
    hull_high = np.maximum.reduceat(high[order], change)
    crossed, mixed = shape[order][change] == 0, (shape[order][change] == 4) & (hull_low < hull_high)
    ends = np.append(sets.start[1:], len(sets.bits))[hull_column] - sets.start[hull_column]
    every = ends // np.maximum(sets.width[hull_column], 1) - 1
    hull_low = np.where(crossed, 0, np.where(mixed, every, hull_low)).astype(np.int32)
    hull_high = np.where(crossed, top[hull_column], np.where(mixed, every, hull_high)).astype(np.int32)
    return Conditions(column, low, high, group, hull_column, hull_low, hull_high)


@njit(cache=True, inline="always")
def _meets(row_low, row_high, low, high, width, start, bits):  # type: ignore[no-untyped-def]
    """Whether a cell and a condition can meet."""
    if width > 0:
        for w in range(width):  # noqa: SIM110 - numba
            if bits[start + row_low * width + w] & bits[start + low * width + w]:
                return True
        return False
    if low > high:
        return row_high >= low or (row_low <= high and row_high >= 1)
    return row_low <= high and row_high >= low


@njit(cache=True)
def _bitmaps(low, high, conditions, sets):  # type: ignore[no-untyped-def]
    n, groups = len(low), len(conditions.hull_column)
    bitmaps = np.zeros((groups, (n + 63) // 64), np.uint64)
    for g in range(groups):
        c, first, last = conditions.hull_column[g], conditions.hull_low[g], conditions.hull_high[g]
        width, start = sets.width[c], sets.start[c]
        for i in range(n):
            if _meets(low[i, c], high[i, c], first, last, width, start, sets.bits):
                bitmaps[g, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    return bitmaps


@njit(cache=True, inline="always")
def _lowest(x):  # type: ignore[no-untyped-def]
    """The place of the lowest bit: count the ones below it."""
    x = (x & (~x + np.uint64(1))) - np.uint64(1)
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _first_two(picked, conditions, sets, rows):  # type: ignore[no-untyped-def]
    """The first rows of two persons that meet all picked conditions; the number of rows stands for nobody."""
    n, k = len(rows.low), len(picked)
    # The rarest first: most words are then zero at once. ``picked`` may be reordered, it is a set.
    for a in range(1, k):
        b, moved = a, picked[a]
        size = rows.sizes[conditions.group[moved]]
        while b > 0 and rows.sizes[conditions.group[picked[b - 1]]] > size:
            picked[b] = picked[b - 1]
            b -= 1
        picked[b] = moved
    first = n
    rarest = rows.bitmaps[conditions.group[picked[0]]]
    for w in range(len(rarest)):
        left = rarest[w]
        for a in range(1, k):
            if left == 0:
                break
            left &= rows.bitmaps[conditions.group[picked[a]], w]
        while left != 0:
            i = w * 64 + _lowest(left)
            left &= left - np.uint64(1)
            met = True
            for a in range(k):
                d = picked[a]
                c = conditions.column[d]
                if not _meets(
                    rows.low[i, c], rows.high[i, c], conditions.low[d], conditions.high[d],
                    sets.width[c], sets.start[c], sets.bits,
                ):  # fmt: skip
                    met = False
                    break
            if met:
                if first == n:
                    first = i
                elif rows.who[i] != rows.who[first]:
                    return first, i
    return first, n


@njit(cache=True)
def _search(predicates, conditions, sets, rows):  # type: ignore[no-untyped-def]
    result = np.empty((len(predicates), 2), np.int64)
    picked = np.empty(predicates.shape[1], np.int32)
    for p in range(len(predicates)):
        picked[:] = predicates[p]
        result[p] = _first_two(picked, conditions, sets, rows)
    return result


@njit(cache=True)
def _lone(own, k, rounds, conditions, sets, release, rng):  # type: ignore[no-untyped-def]
    n, columns = own.shape
    lone, sources, count = np.empty((2 * n, k), np.int32), np.empty(2 * n, np.int64), 0
    pool, picked = np.empty(columns, np.int32), np.empty(k, np.int32)
    for again in range(rounds):
        for i in range(n):
            m = 0
            for c in range(columns):
                if own[i, c] >= 0:
                    pool[m] = own[i, c]
                    m += 1
            if m < k or (m == k and again):
                continue
            for a in range(k):
                b = a + int(rng.random() * (m - a))
                pool[a], pool[b] = pool[b], pool[a]
            picked[:] = pool[:k]
            if _first_two(picked, conditions, sets, release)[1] == n:
                lone[count], sources[count] = np.sort(picked), i
                count += 1
        if 2 * count >= n:
            break
    return lone[:count], sources[:count]
