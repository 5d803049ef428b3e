"""The one nearest-neighbour search for mixed tables that all audits share.

Gower-type distance: the mean over columns of |a - b| / range for numbers and 0 or 1 for everything else, so it lies
between 0 and 1. Missing equals missing, and is as far as can be from any value. Generalized cells are sets: an interval
is as far away as the gap to it, a set of levels that shares a level is at distance 0, and ``*`` is at distance 0 from
everything, missing values included.

The search is exhaustive and exact. Eight categories are compared at once as the bytes of one machine word; their number
of differences is a lower bound that abandons most pairs at once, and the numbers are added only while the sum can still
beat the k-th best. Sums are whole numbers (multiples of 2^-40), so that equal distances are equal and not nearly so, and
ties go to the smaller index. Rows are shared out over the cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.table.cell import Interval
from hushtable.table.columns import NUMBERS, Array, Bounds, Cells, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

Floats = NDArray[np.float64]
WORD = 8
"""Columns packed into one 64-bit word."""
ONE = 1 << 40
"""The distance of two different categories, in the whole numbers that distances are summed in."""


@dataclass(frozen=True, eq=False)
class Points:
    """A table encoded for the search. Built by ``Encoding.points``."""

    words: NDArray[np.uint64]
    """rows x words: eight one-byte codes each."""
    wide: NDArray[np.int32]
    """rows x columns: codes of columns with more than 254 levels."""
    low: Floats
    high: Floats
    """rows x numbers; low = high for a value, NaN for missing."""
    sets: NDArray[np.uint64]
    """rows x set words: bit sets of levels, where a column of either table is generalized."""

    @property
    def rows(self) -> int:
        """Number of points."""
        return len(self.words)


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of several tables of one meaning are turned into comparable points."""

    schema: Schema
    packed: tuple[str, ...]
    wide: tuple[str, ...]
    numbers: tuple[str, ...]
    sets: tuple[str, ...]
    ranges: dict[str, float]
    levels: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, tables: Sequence[Table], columns: Sequence[str] | None = None) -> Encoding:
        """An encoding that fits all these tables; the first one's schema tells kinds and ranges."""
        first = tables[0].schema
        names = tuple(columns) if columns is not None else comparable(tables)
        packed, wide, numbers, sets = [], [], [], []
        ranges: dict[str, float] = {}
        levels: dict[str, tuple[str, ...]] = {}
        for name in names:
            column = first[name]
            if column.kind in NUMBERS:
                numbers.append(name)
                ranges[name] = _range(tables, name)
                continue
            levels[name] = _levels(tables, name)
            if any(t.schema[name].generalized for t in tables):
                sets.append(name)
            elif len(levels[name]) <= 254:
                packed.append(name)
            else:
                wide.append(name)
        return cls(first, tuple(packed), tuple(wide), tuple(numbers), tuple(sets), ranges, levels)

    @property
    def width(self) -> int:
        """Number of columns compared."""
        return len(self.packed) + len(self.wide) + len(self.numbers) + len(self.sets)

    def points(self, table: Table) -> Points:
        """Encode a table."""
        rows = table.rows
        # Zero bytes of unused places agree everywhere; codes start at 1 so that missing (0) is a value of its own.
        codes = np.zeros((rows, -(-len(self.packed) // WORD) * WORD), np.uint8)
        for place, name in enumerate(self.packed):
            codes[:, place] = self._codes(table, name) + 1
        wide = np.empty((rows, len(self.wide)), np.int32)
        for place, name in enumerate(self.wide):
            wide[:, place] = self._codes(table, name)
        low, high = np.empty((rows, len(self.numbers))), np.empty((rows, len(self.numbers)))
        for place, name in enumerate(self.numbers):
            low[:, place], high[:, place] = _spans(table.schema[name], table[name])
        sets = [self._bits(table, name) for name in self.sets]
        joined = np.hstack(sets) if sets else np.zeros((rows, 0), np.uint64)
        return Points(
            codes.view(np.uint64) if codes.size else np.zeros((rows, 0), np.uint64), wide, low, high, np.ascontiguousarray(joined)
        )

    def set_starts(self) -> NDArray[np.int64]:
        """Where each generalized column's bits begin among the set words, and the end."""
        return np.cumsum([0, *(-(-(len(self.levels[name]) + 1) // 64) for name in self.sets)])

    def _codes(self, table: Table, name: str) -> NDArray[np.int64]:
        index = {level: code for code, level in enumerate(self.levels[name])}
        own = np.array([index[word] for word in table.words(name)] + [-1], np.int64)
        return own[table[name].astype(np.int64)]

    def _bits(self, table: Table, name: str) -> NDArray[np.uint64]:
        """One bit per level, and a last one for missing."""
        levels = self.levels[name]
        index = {level: code for code, level in enumerate(levels)}
        words = -(-(len(levels) + 1) // 64)
        column = table.schema[name]
        patterns = np.zeros((len(table.words(name)) + 1, words), np.uint64)
        for place, members in enumerate([*_members(column, table.words(name)), frozenset()]):
            bits = range(len(levels) + 1) if members is None else [index[m] for m in members] or [len(levels)]
            for bit in bits:
                patterns[place, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
        return patterns[table[name].astype(np.int64)]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For each query row its k nearest rows: positions and distances, nearest first."""

    index: NDArray[np.int64]
    distance: Floats


def nearest(
    queries: Table,
    targets: Table,
    k: int = 1,
    *,
    encoding: Encoding | None = None,
    skip_self: bool = False,
    columns: Sequence[str] | None = None,
) -> Neighbours:
    """The k nearest rows of ``targets`` to each row of ``queries``; with ``skip_self`` row i never finds row i."""
    encoding = encoding or Encoding.of([queries, targets], columns)
    return search(encoding.points(queries), encoding.points(targets), encoding, k, skip_self=skip_self)


def search(queries: Points, targets: Points, encoding: Encoding, k: int, *, skip_self: bool = False) -> Neighbours:
    """``nearest`` on encoded tables."""
    if k < 1 or targets.rows - skip_self < k:
        raise InputError(f"{k} neighbours were asked for among {targets.rows - skip_self} rows", where="neighbours")
    index, distance = _search(
        queries.words, queries.wide, queries.low, queries.high, queries.sets,
        targets.words, targets.wide, targets.low, targets.high, targets.sets,
        encoding.set_starts(), np.array([1 / encoding.ranges[name] for name in encoding.numbers]), k, skip_self,
    )  # fmt: skip
    return Neighbours(index, distance / ONE / max(encoding.width, 1))


def comparable(tables: Sequence[Table]) -> tuple[str, ...]:
    """The columns of the first table that all others have too; keys are never compared."""
    names = [c.name for c in tables[0].schema if c.kind is not Kind.KEY]
    return tuple(name for name in names if all(name in t.schema for t in tables))


def _range(tables: Sequence[Table], name: str) -> float:
    """The width of the declared or observed domain of the first table: the scale must not drift with the release."""
    base = tables[0].schema[name].base
    width = float(base.high - base.low) if isinstance(base, Bounds) else 0.0
    return width or 1.0


def _levels(tables: Sequence[Table], name: str) -> tuple[str, ...]:
    seen: dict[str, None] = {}
    for table in tables:
        column = table.schema[name]
        base = column.base
        seen |= dict.fromkeys(base.levels if isinstance(base, Levels) else table.words(name))
    return tuple(seen)


def _members(column: Column, words: NDArray[np.object_]) -> list[frozenset[str] | None]:
    if isinstance(column.domain, Cells):
        return [cell.span if not isinstance(cell.span, Interval) else None for cell in column.domain.cells]
    return [frozenset({str(word)}) for word in words]


def _spans(column: Column, array: Array) -> tuple[Floats, Floats]:
    if not isinstance(column.domain, Cells):
        values = column.floats(array)
        return values, values
    low = np.array([c.span.low if isinstance(c.span, Interval) else -np.inf for c in column.domain.cells] + [np.nan])
    high = np.array([c.span.high if isinstance(c.span, Interval) else np.inf for c in column.domain.cells] + [np.nan])
    codes = array.astype(np.int64)
    return low[codes], high[codes]


@njit(cache=True, inline="always")
def _differing_bytes(a, b):  # type: ignore[no-untyped-def]
    """How many of the eight bytes differ: carry every byte's bits into its top bit, then add the top bits up."""
    x = a ^ b
    seven = np.uint64(0x7F7F7F7F7F7F7F7F)
    top = (((x & seven) + seven) | x) & ~seven
    return np.int64((top >> np.uint64(7)) * np.uint64(0x0101010101010101) >> np.uint64(56))


@njit(cache=True, inline="always")
def _gap(low_a, high_a, low_b, high_b, inverse):  # type: ignore[no-untyped-def]
    """Distance of two intervals, at most ONE; a missing value is a NaN, and only an unbounded cell covers it."""
    if low_a != low_a:
        return 0 if low_b != low_b or (low_b == -np.inf and high_b == np.inf) else ONE
    if low_b != low_b:
        return 0 if low_a == -np.inf and high_a == np.inf else ONE
    return np.int64(min(1.0, max(low_a - high_b, low_b - high_a, 0.0) * inverse) * ONE + 0.5)


@njit(cache=True, parallel=True)
def _search(words, wide, low, high, sets, t_words, t_wide, t_low, t_high, t_sets, starts, inverse, k, skip_self):  # type: ignore[no-untyped-def]
    n, m = len(words), len(t_words)
    index, distance = np.empty((n, k), np.int64), np.empty((n, k), np.int64)
    for i in prange(n):
        found, worst = 0, np.int64(1) << 62
        names, best = index[i], distance[i]
        for j in range(m):
            if skip_self and i == j:
                continue
            unlike = 0
            for w in range(words.shape[1]):
                unlike += _differing_bytes(words[i, w], t_words[j, w])
            d = unlike * ONE
            if d >= worst:
                continue
            for c in range(wide.shape[1]):
                if wide[i, c] != t_wide[j, c]:
                    d += ONE
            for c in range(len(starts) - 1):
                meet = False
                for w in range(starts[c], starts[c + 1]):
                    if sets[i, w] & t_sets[j, w]:
                        meet = True
                        break
                if not meet:
                    d += ONE
            for c in range(low.shape[1]):
                if d >= worst:
                    break
                d += _gap(low[i, c], high[i, c], t_low[j, c], t_high[j, c], inverse[c])
            # Equal distances: an earlier row is already there, and stays.
            if d >= worst:
                continue
            at = k - 1 if found == k else found
            found = min(found + 1, k)
            while at > 0 and best[at - 1] > d:
                best[at], names[at] = best[at - 1], names[at - 1]
                at -= 1
            best[at], names[at] = d, j
            if found == k:
                worst = best[k - 1]
    return index, distance
