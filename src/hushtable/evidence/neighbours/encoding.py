"""Tables turned into points that can be compared: what the neighbour search works on.

Every point has a *sketch*, smaller than itself. Levels fall into sixteen buckets and a cell is the set of the buckets it may
lie in; a number is an interval of single precision, rounded outwards. The distance of two sketches is never above that of
their points, and a sketch can stand for many points at once: the union of their buckets, the hull of their intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.neighbours.blocks import BUCKETS, Blocks, Sketch
from hushtable.table.arrays import Array, Floats, Integers, Singles
from hushtable.table.cell import Interval
from hushtable.table.columns import NUMBERS, Bounds, Cells, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

APART = np.float32(-4)
"""Where a missing number lies in a sketch, in ranges from the lower bound of its column."""


class Rows(NamedTuple):
    """The cells themselves, as arrays of one row each."""

    codes: NDArray[np.int32]
    """rows x columns of levels; -1 for missing."""
    sets: NDArray[np.uint64]
    """rows x set words: bit sets of levels, where a column of any table is generalized."""
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    """rows x columns of sets: the first set word with a bit in it, and the one after the last."""
    low: Floats
    high: Floats
    """rows x numbers; low = high for a value, NaN for missing."""


@dataclass(frozen=True, eq=False)
class Points:
    """A table encoded for the search. Built by ``Encoding.points``."""

    cells: Rows
    sketch: Sketch

    @property
    def rows(self) -> int:
        """Number of points."""
        return len(self.cells.codes)

    @cached_property
    def blocks(self) -> Blocks:
        """The points put in blocks of near ones."""
        return Blocks.of(self.sketch)

    @cached_property
    def arranged(self) -> Rows:
        """The cells in the order of the blocks: what is compared together lies together."""
        return Rows._make(part[self.blocks.layout.order] for part in self.cells)


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of several tables of one meaning are turned into comparable points."""

    schema: Schema
    coded: tuple[str, ...]
    sets: tuple[str, ...]
    numbers: tuple[str, ...]
    ranges: dict[str, float]
    levels: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, tables: Sequence[Table], columns: Sequence[str] | None = None, *, scale: int = 1) -> Encoding:
        """An encoding that fits all these tables. The first one's schema gives kinds; the first ``scale`` give ranges."""
        first = tables[0].schema
        names = tuple(columns) if columns is not None else comparable(tables)
        numbers = tuple(name for name in names if first[name].kind in NUMBERS)
        levelled = [name for name in names if name not in numbers]
        sets = tuple(name for name in levelled if any(t.schema[name].generalized for t in tables))
        return cls(
            first,
            tuple(name for name in levelled if name not in sets),
            sets,
            numbers,
            {name: _range([table.schema[name] for table in tables[:scale]]) for name in numbers},
            {name: _levels(tables, name) for name in levelled},
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns compared, in the order of the parts of a distance."""
        return self.coded + self.sets + self.numbers

    @property
    def set_starts(self) -> Integers:
        """Where each generalized column's bits begin among the set words, and the end."""
        return np.cumsum([0, *(_words(self.levels[name]) for name in self.sets)])

    @property
    def inverse(self) -> Floats:
        """One over the range of each number."""
        return np.array([1 / self.ranges[name] for name in self.numbers])

    def points(self, table: Table) -> Points:
        """Encode a table."""
        codes = _columns([self._codes(table, name) for name in self.coded], table.rows, np.int32)
        sets = [self._bits(table, name) for name in self.sets]
        spans = [_spans(table.schema[name], table[name]) for name in self.numbers]
        low, high = (_columns([span[end] for span in spans], table.rows, np.float64) for end in (0, 1))
        filled = [np.array(ends) + start for ends, start in zip(map(_filled, sets), self.set_starts, strict=False)]
        begin, end = (_columns([ends[at] for ends in filled], table.rows, np.int32) for at in (0, 1))
        cells = Rows(codes, np.hstack([np.zeros((table.rows, 0), np.uint64), *sets]), begin, end, low, high)
        buckets = [np.uint16(1) << (column % BUCKETS).astype(np.uint16) for column in codes.T] + [_folded(bits) for bits in sets]
        return Points(cells, Sketch(_columns(buckets, table.rows, np.uint16), *self._hulls(low, high)))

    def _codes(self, table: Table, name: str) -> Integers:
        index = {level: code for code, level in enumerate(self.levels[name])}
        own = np.array([index[word] for word in table.words(name)] + [-1], np.int64)
        return own[table[name].astype(np.int64)]

    def _bits(self, table: Table, name: str) -> NDArray[np.uint64]:
        """One bit per level, and a last one for missing."""
        levels = self.levels[name]
        index = {level: code for code, level in enumerate(levels)}
        column = table.schema[name]
        patterns = np.zeros((len(table.words(name)) + 1, _words(levels)), np.uint64)
        for place, members in enumerate([*_members(column, table.words(name)), frozenset()]):
            bits = range(len(levels) + 1) if members is None else [index[m] for m in members] or [len(levels)]
            for bit in bits:
                patterns[place, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
        return patterns[table[name].astype(np.int64)]

    def _hulls(self, low: Floats, high: Floats) -> tuple[Singles, Singles]:
        """Numbers as intervals on the scale of their ranges, never further apart than they are.

        A missing value lies by itself, two ranges below every value; a cell that may be anything covers it too. What lies
        more than two ranges outside the domain is moved there, which brings nothing further apart.
        """
        bases = [self.schema[name].base for name in self.numbers]
        origin = np.array([float(base.low) if isinstance(base, Bounds) else 0.0 for base in bases])
        ends = []
        for x, outwards in ((low, -np.inf), (high, np.inf)):
            scaled = np.clip((x - origin) * self.inverse, -2, 3).astype(np.float32)
            ends.append(np.where(scaled == 0, scaled, np.nextafter(scaled, np.float32(outwards))))
        ends[0][np.isneginf(low) & np.isposinf(high)] = APART
        return np.where(np.isnan(low), APART, ends[0]), np.where(np.isnan(low), APART, ends[1])


def comparable(tables: Sequence[Table]) -> tuple[str, ...]:
    """The columns of the first table that all others have too; keys are never compared."""
    names = [c.name for c in tables[0].schema if c.kind is not Kind.KEY]
    return tuple(name for name in names if all(name in t.schema for t in tables))


def _columns(arrays: Sequence[Array], rows: int, dtype: type) -> Array:
    """These columns side by side, a row in one piece; rows of nothing if there are none."""
    return np.ascontiguousarray(np.stack(arrays, axis=1), dtype) if arrays else np.zeros((rows, 0), dtype)


def _words(levels: Sequence[str]) -> int:
    """64-bit words that a set of these levels and of missing takes."""
    return len(levels) // 64 + 1


def _filled(bits: NDArray[np.uint64]) -> tuple[Integers, Integers]:
    """Where in each row the words with bits in them begin, and where they end."""
    filled = bits != 0
    return filled.argmax(axis=1), bits.shape[1] - filled[:, ::-1].argmax(axis=1)


def _folded(bits: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """The buckets of sets of levels: level i lies in bucket i modulo sixteen, as with single codes."""
    return np.asarray(np.bitwise_or.reduce(np.ascontiguousarray(bits).view(np.uint16), axis=1))


def _range(columns: Sequence[Column]) -> float:
    """The width that the declared or observed domains of some tables cover together."""
    bounds = [column.base for column in columns if isinstance(column.base, Bounds)]
    return float(max(b.high for b in bounds) - min(b.low for b in bounds)) or 1.0 if bounds else 1.0


def _levels(tables: Sequence[Table], name: str) -> tuple[str, ...]:
    """The levels of all tables, the most frequent of the first one in front so that no two of those share a bucket."""
    seen: dict[str, int] = {}
    for table in tables:
        base = table.schema[name].base
        seen |= {level: 0 for level in (base.levels if isinstance(base, Levels) else table.words(name)) if level not in seen}
    if not tables[0].schema[name].generalized:
        codes = tables[0][name]
        words = tables[0].words(name)
        seen |= dict(zip(words, np.bincount(codes[codes >= 0], minlength=len(words)).tolist(), strict=True))
    return tuple(sorted(seen, key=lambda level: -seen[level]))


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
