"""Mondrian's cuts, compiled: boxes of ranks, cut at medians until no cut is allowed.

LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity" (ICDE 2006). The widths of all dimensions are measured
anew in every box. Ties go to the earlier column, so with strict cuts the boxes are a function of the rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.anonymize.secrets import Diversity
from hushtable.privacy.spread import heads

SLACK = 1e-10
"""Rounding that a test of l or t forgives; ten times less than the measurement of the release does."""

TIE = 1e-6
"""The weight of the distance between values where common ancestors are equally wide."""


@dataclass(frozen=True, eq=False)
class Rule:
    """What both sides of a cut must keep of the secrets; with no secrets, nothing."""

    secrets: NDArray[np.int64]
    """One line per secret column: each record's rank among its values."""
    ordered: NDArray[np.bool_]
    """For each of them, whether t counts how far a value moves."""
    absent: NDArray[np.int64]
    """For each of them, the rank of a missing value, -1 where there is none."""
    diversity: Diversity = Diversity.DISTINCT
    l: float = 0.0  # noqa: E741
    c: float = 0.0
    t: float = 1.0
    persons: NDArray[np.int64] | None = None
    """The person who holds each record, numbered from 0; none where every record is a person of its own."""

    @cached_property
    def tested(self) -> tuple[tuple[Any, ...], ...]:
        """The rule as compiled code takes it: by records and, where they are known, by persons as well."""
        everybody = np.empty(0, np.int64)
        return (self._tested(everybody), self._tested(everybody if self.persons is None else self.persons))

    def _tested(self, persons: NDArray[np.int64]) -> tuple[Any, ...]:
        """With the table's own shares of every value, padded to one length."""
        width = int(self.secrets.max(initial=0)) + 1
        counts = self.secrets.max(axis=1, initial=0).astype(np.int64) + 1
        whole = np.zeros((len(self.secrets), width))
        for shares, line in zip(whole, self.secrets, strict=True):
            held = heads(line, persons if len(persons) else None, width)
            shares += held / held.sum()
        mass = np.cumsum(whole, axis=1)
        prefix = np.concatenate([np.zeros((len(mass), 1)), np.cumsum(mass, axis=1)], axis=1)
        kind = list(Diversity).index(self.diversity)
        return (
            persons,
            self.secrets,
            self.ordered,
            self.absent,
            counts,
            whole,
            mass,
            prefix,
            kind,
            float(self.l),
            float(self.c),
            float(self.t),
        )

    def holds(self) -> bool:
        """Whether all records together keep it."""
        return bool(_allowed(np.arange(self.secrets.shape[1]), self.tested))


@dataclass(frozen=True, eq=False)
class Grid:
    """Where the records lie, and which cuts between them are better than others."""

    ranks: NDArray[np.int32]
    """Records x columns: the coordinates."""
    places: NDArray[np.float64]
    """Columns x ranks: where a rank lies in its domain, from 0 to 1."""
    groups: NDArray[np.int32]
    """Columns x levels x ranks: the node of the hierarchy above a rank, -1 above a missing value."""
    shares: NDArray[np.float64]
    """The same: the share of the domain under that node."""


def cut(grid: Grid, k: int, rule: Rule, *, strict: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """An order of the records in which every class lies together, and where its classes start (with the end).

    The widest column is cut first: the one whose lowest common ancestor covers most of the domain, then the one whose values
    lie farthest apart. It is cut where the highest nodes part (so missing values come apart from present ones), and there next
    to the median, below it if that leaves k persons on both sides. Where no cut between values is allowed, and cuts need not be
    strict, one goes through the records at the median. The whole table must keep the rule itself.
    """
    found: tuple[NDArray[np.int64], NDArray[np.int64]] = _boxes(
        grid.ranks, grid.places, grid.groups, grid.shares, k, strict, rule.tested
    )
    return found


@njit(cache=True)
def _boxes(ranks, places, groups, shares, k, strict, tested):  # type: ignore[no-untyped-def]
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
        if len(rows) >= 2 * k:
            _extent(ranks, rows, low, high)
            for torn in range(1 if strict else 2):
                for j in range(m):
                    widths[j] = _width(places[j], groups[j], shares[j], low[j], high[j])
                j = _widest(widths)
                while size == 0 and j >= 0:
                    size = _split(ranks, rows, j, low[j], high[j], groups[j], k, torn, tested, seen, buffer)
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
def _split(ranks, rows, j, low, high, groups, k, torn, tested, seen, buffer):  # type: ignore[no-untyped-def]
    """The size of the lower side of the first allowed cut of a column, its rows first in the buffer; 0 if there is none.

    Between two values or, ``torn``, through the records at the median, so that both sides have the same size.
    """
    line = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        line[i] = ranks[rows[i], j]
    values, sizes = _counted(line, low, high) if high - low < 4 * len(rows) else _runs(line.copy())
    ends = sizes.cumsum()
    if torn:
        half = len(rows) // 2
        median = _first(ends, half + 1, 0, len(ends))
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
    found = 0
    for i in rows:
        seen[persons[i]] = -1
    for i in rows:
        found += seen[persons[i]] < 0
        seen[persons[i]] = 0
    return found


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
def _counted(line, low, high):  # type: ignore[no-untyped-def]
    """The different values of a line, rising, and how often each stands there."""
    counts = np.zeros(high - low + 1, np.int64)
    for value in line:
        counts[value - low] += 1
    values, sizes, last = np.empty(len(counts), np.int64), np.empty(len(counts), np.int64), 0
    for i in range(len(counts)):
        if counts[i]:
            values[last], sizes[last] = i + low, counts[i]
            last += 1
    return values[:last], sizes[:last]


@njit(cache=True)
def _runs(line):  # type: ignore[no-untyped-def]
    """The same by sorting, where few of many values stand in the line."""
    line.sort()
    values, sizes = np.empty(len(line), np.int64), np.zeros(len(line), np.int64)
    last = -1
    for i in range(len(line)):
        if i == 0 or line[i] != line[i - 1]:
            last += 1
            values[last] = line[i]
        sizes[last] += 1
    return values[: last + 1], sizes[: last + 1]


@njit(cache=True)
def _first(rising, value, begin, end):  # type: ignore[no-untyped-def]
    """The first place from begin to end that holds the value or more; the end if none does."""
    while begin < end:
        middle = (begin + end) // 2
        if rising[middle] < value:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(cache=True)
def _fits(size, n, tested, buffer):  # type: ignore[no-untyped-def]
    return len(tested[0][1]) == 0 or (_allowed(buffer[:size], tested) and _allowed(buffer[size:n], tested))


@njit(cache=True)
def _allowed(rows, tested):  # type: ignore[no-untyped-def]
    """Whether these records keep l and t in every secret, by records and by persons."""
    return _keeps(rows, tested[0]) and (not len(tested[1][0]) or _keeps(rows, tested[1]))


@njit(cache=True)
def _keeps(rows, tested):  # type: ignore[no-untyped-def]
    persons, secrets, ordered, absent, counts, whole, mass, prefix, kind, least, c, t = tested
    for s in range(len(secrets)):
        line, n = _held(rows, secrets[s], persons, absent[s])
        values, sizes = _runs(line)
        if least > 0:
            # A missing value, which has the last rank, is no value that hides another.
            told = len(sizes) - (values[-1] == absent[s])
            sizes_of_l = _concentrated(sizes[:told], n)
            if not _diverse(sizes_of_l, sizes_of_l.sum(), kind, least, c):
                return False
        if t < 1:
            if ordered[s]:
                far = _moved(values, sizes, len(line), mass[s], prefix[s], counts[s])
            else:
                far = 1.0
                for i in range(len(values)):
                    share = whole[s, values[i]]
                    far += abs(sizes[i] / len(line) - share) - share
                far /= 2
            if far > t + SLACK:
                return False
    return True


@njit(cache=True)
def _held(rows, ranks, persons, absent):  # type: ignore[no-untyped-def]
    """The values of these records, each once for a person who holds it; and how many records, or persons, have one at all."""
    line, n = np.empty(len(rows), np.int64), 0
    if not len(persons):
        for i in range(len(rows)):
            line[i] = ranks[rows[i]]
            n += line[i] != absent
        return line, n
    width = np.int64(ranks.max() + 1)
    for i in range(len(rows)):
        line[i] = persons[rows[i]] * width + ranks[rows[i]]
    line.sort()
    found, last = 0, np.int64(-1)
    for i in range(len(line)):
        if i and line[i] == line[i - 1]:
            continue
        person, value = line[i] // width, line[i] % width
        if value != absent and person != last:
            n += 1
            last = person
        line[found] = line[i]
        found += 1
    return line[:found] % width, n


@njit(cache=True)
def _concentrated(sizes, n):  # type: ignore[no-untyped-def]
    """The sizes from the largest down until they add up to n: where people hold several values, each stands with one of them."""
    falling = np.sort(sizes)[::-1]
    left, last = n, 0
    while last < len(falling) and left > 0:
        falling[last] = min(falling[last], left)
        left -= falling[last]
        last += 1
    return falling[:last]


@njit(cache=True)
def _diverse(sizes, n, kind, least, c):  # type: ignore[no-untyped-def]
    if len(sizes) < least - SLACK or kind == 0:
        return len(sizes) >= least
    if kind == 1:
        entropy = 0.0
        for size in sizes:
            entropy -= size / n * np.log(size / n)
        return np.exp(entropy) >= least - SLACK
    rising = sizes.copy()
    rising.sort()
    tail = 0
    for i in range(len(rising) - int(least) + 1):
        tail += rising[i]
    return rising[-1] < c * tail


@njit(cache=True)
def _moved(values, sizes, n, mass, prefix, count):  # type: ignore[no-untyped-def]
    """The ordered distance: between two values of a class its share is level, and the table's passes it at one place."""
    if count < 2:
        return 0.0
    total, level, begin = 0.0, 0.0, 0
    for i in range(len(values) + 1):
        end = values[i] if i < len(values) else count
        split = _first(mass, level, begin, end)
        total += level * (split - begin) - (prefix[split] - prefix[begin])
        total += (prefix[end] - prefix[split]) - level * (end - split)
        if i < len(values):
            level += sizes[i] / n
        begin = end
    return total / (count - 1)
