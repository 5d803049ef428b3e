"""Mondrian's cuts, compiled: boxes of ranks, cut at medians until no cut is allowed.

LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity" (ICDE 2006). The widths of all dimensions are measured
anew in every box. Ties go to the earlier column, so with strict cuts the boxes are a function of the rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.anonymize.recoding.mondrian_rule import Rule, allowed, first_at_least, runs
from hushtable.table.arrays import Floats, Integers

TIE = 1e-6
"""The weight of the distance between values where common ancestors are equally wide."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Where the records lie, and which cuts between them are better than others."""

    ranks: NDArray[np.int32]
    """Records x columns: the coordinates."""
    places: Floats
    """Columns x ranks: where a rank lies in its domain, from 0 to 1."""
    groups: NDArray[np.int32]
    """Columns x levels x ranks: the node of the hierarchy above a rank, -1 above a missing value."""
    shares: Floats
    """The same: the share of the domain under that node."""
    weights: Integers
    """How many rows each record stands for: rows that are alike are cut as one. Persons who hold several, and cuts through equal
    records, need a record for each row."""


def cut(grid: Grid, k: int, rule: Rule, *, strict: bool) -> tuple[Integers, Integers]:
    """An order of the records in which every class lies together, and where its classes start (with the end).

    The widest column is cut first: the one whose lowest common ancestor covers most of the domain, then the one whose values
    lie farthest apart. It is cut where the highest nodes part (so missing values come apart from present ones), and there next
    to the median, below it if that leaves k persons on both sides. Where no cut between values is allowed, and cuts need not be
    strict, one goes through the records at the median. The whole table must keep the rule itself.
    """
    order, starts = _boxes(grid.ranks, grid.weights, grid.places, grid.groups, grid.shares, k, strict, rule.tested)
    return order, starts


@njit(cache=True)
def _boxes(ranks, weights, places, groups, shares, k, strict, tested):  # type: ignore[no-untyped-def]
    n, m = ranks.shape
    order, buffer = np.arange(n), np.empty(n, np.int64)
    persons = tested[1][0]
    seen = np.full(persons.max() + 1 if len(persons) else 0, -1)
    # Every end of an open box, the nearest one on top: the box at work reaches from the last start to the first of them.
    starts, ends = np.zeros(n + 1, np.int64), np.empty(n + 1, np.int64)
    ends[0] = n
    classes, open_ = 0, 1
    low, high, widths = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m)
    while open_:
        rows = order[starts[classes] : ends[open_ - 1]]
        size = 0
        if _rows(weights, rows) >= 2 * k:
            _extent(ranks, rows, low, high)
            for torn in range(1 if strict else 2):
                for j in range(m):
                    widths[j] = _width(places[j], groups[j], shares[j], low[j], high[j])
                j = _widest(widths)
                while size == 0 and j >= 0:
                    size = _split(ranks, weights, rows, j, low[j], high[j], groups[j], k, torn, tested, seen, buffer)
                    widths[j] = -1.0
                    j = _widest(widths)
        if size:
            for i in range(len(rows)):
                rows[i] = buffer[i]
            ends[open_] = starts[classes] + size
            open_ += 1
        else:
            classes += 1
            open_ -= 1
            starts[classes] = ends[open_]
    return order, starts[: classes + 1]


@njit(cache=True)
def _rows(weights, records):  # type: ignore[no-untyped-def]
    total = 0
    for i in records:
        total += weights[i]
    return total


@njit(cache=True)
def _widest(widths):  # type: ignore[no-untyped-def]
    """The first of the widest columns; -1 if none can be cut."""
    best = -1
    for j in range(len(widths)):
        if widths[j] >= 0 and (best < 0 or widths[j] > widths[best]):
            best = j
    return best


@njit(cache=True)
def _extent(ranks, rows, low, high):  # type: ignore[no-untyped-def]
    m = ranks.shape[1]
    for j in range(m):
        low[j] = high[j] = ranks[rows[0], j]
    for i in rows:
        for j in range(m):
            rank = np.int64(ranks[i, j])
            low[j] = min(low[j], rank)
            high[j] = max(high[j], rank)


@njit(cache=True)
def _width(places, groups, shares, low, high):  # type: ignore[no-untyped-def]
    if low == high:
        return -1.0
    level = _join(groups, low, high)
    # Missing and present values together are written as * whatever they are: nothing is wider.
    share = shares[level, low] if level < len(groups) else 2.0
    return share + TIE * (places[high] - places[low])


@njit(cache=True)
def _join(groups, one, other):  # type: ignore[no-untyped-def]
    """The lowest level on which two ranks lie under one node."""
    for level in range(len(groups)):
        if groups[level, one] == groups[level, other]:
            return level
    return len(groups)


@njit(cache=True)
def _split(ranks, weights, rows, j, low, high, groups, k, torn, tested, seen, buffer):  # type: ignore[no-untyped-def]
    """The size of the lower side of the first allowed cut of a column, its rows first in the buffer; 0 if there is none.

    Between two values or, ``torn``, through the records at the median, so that both sides have the same size.
    """
    line = np.empty(len(rows), np.int64)
    own = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        line[i] = ranks[rows[i], j]
        own[i] = weights[rows[i]]
    values, sizes = _counted(line, own, low, high) if high - low < 4 * len(rows) else runs(line, own)
    ends = sizes.cumsum()
    if torn:
        half = len(rows) // 2
        median = first_at_least(ends, half + 1, 0, len(ends))
        size = _divide(rows, line, values[median], half - (ends[median] - sizes[median]), buffer)
        enough = min(_people(buffer[:size], tested, seen), _people(buffer[size : len(rows)], tested, seen)) >= k
        return size if enough and _fits(size, len(rows), tested, buffer) else 0
    below, above = _sides(rows, line, values, ends, tested[1][0], seen)
    score = 2 * len(groups) + 2
    while score >= 0:
        best, score = _boundary(values, ends, below, above, groups, k, score)
        if best >= 0:
            size = _divide(rows, line, values[best] + 1, 0, buffer)
            if _fits(size, len(rows), tested, buffer):
                return size
    return 0


@njit(cache=True)
def _sides(rows, line, values, ends, persons, seen):  # type: ignore[no-untyped-def]
    """For each cut behind a value, how many persons stand below it and how many above; one may stand on both sides."""
    if not len(persons):
        return ends, ends[-1] - ends
    below, above = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
    place = np.searchsorted(values, line)
    for i in rows:
        seen[persons[i]] = -1
    for i in np.argsort(place, kind="mergesort"):
        below[place[i]] += seen[persons[rows[i]]] < 0
        seen[persons[rows[i]]] = place[i]
    # By now everybody is seen at their last value: they stand above every cut before it.
    for i in rows:
        if seen[persons[i]] >= 0:
            above[seen[persons[i]]] += 1
            seen[persons[i]] = -1
    return below.cumsum(), above.sum() - above.cumsum()


@njit(cache=True)
def _people(rows, tested, seen):  # type: ignore[no-untyped-def]
    """How many persons hold these records."""
    persons = tested[1][0]
    if not len(persons):
        return len(rows)
    count = 0
    for i in rows:
        seen[persons[i]] = -1
    for i in rows:
        count += seen[persons[i]] < 0
        seen[persons[i]] = 0
    return count


@njit(cache=True)
def _boundary(values, ends, below, above, groups, k, limit):  # type: ignore[no-untyped-def]
    """The best cut with a score below the limit: by the height at which its sides part, below the middle first, then near it."""
    n = ends[-1]
    best, score, near = -1, -1, n
    for i in range(len(values) - 1):
        if below[i] < k or above[i] < k:
            continue
        own = 2 * _join(groups, values[i], values[i + 1]) + (2 * ends[i] <= n)
        gap = abs(2 * ends[i] - n)
        if own < limit and (own > score or (own == score and gap < near)):
            best, score, near = i, own, gap
    return best, score


@njit(cache=True)
def _divide(rows, line, limit, extra, buffer):  # type: ignore[no-untyped-def]
    """Rows below the limit, with so many of those at it, to the front of the buffer in their order; how many they are."""
    left, given = 0, 0
    for turn in range(2):
        given = 0
        for i in range(len(rows)):
            at = line[i] == limit and given < extra
            given += at
            if (line[i] < limit or at) == (turn == 0):
                buffer[left] = rows[i]
                left += 1
        if turn == 0:
            size = left
    return size


@njit(cache=True)
def _counted(line, weights, low, high):  # type: ignore[no-untyped-def]
    """The different values of a line, rising, and how many rows have each."""
    counts = np.zeros(high - low + 1, np.int64)
    for i in range(len(line)):
        counts[line[i] - low] += weights[i]
    values, sizes, last = np.empty(len(counts), np.int64), np.empty(len(counts), np.int64), 0
    for i in range(len(counts)):
        if counts[i]:
            values[last], sizes[last] = i + low, counts[i]
            last += 1
    return values[:last], sizes[:last]


@njit(cache=True)
def _fits(size, n, tested, buffer):  # type: ignore[no-untyped-def]
    return len(tested[0][1]) == 0 or (allowed(buffer[:size], tested) and allowed(buffer[size:n], tested))
