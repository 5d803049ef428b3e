"""Tables coded by rank: every cell a span of places among the values of its column, or a set of levels as bits.

The place of a number is its rank among all numbers that occur, from 2 on; 1 and the last place are the two infinities. The
place of a level is its code, from 1 on. 0 is missing, and ``*`` spans everything, missing included. Two cells can meet if
their spans, or their sets, have something in common: the rule of ``evidence.neighbours``, from whose points this is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable.table.arrays import Floats, Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

Ints = NDArray[np.int32]
Bits = NDArray[np.uint64]
Span = tuple[NDArray[np.integer], NDArray[np.integer]]


class Sets(NamedTuple):
    """The bit patterns of columns that hold sets of levels."""

    start: Integers
    width: Integers
    """64-bit words of each pattern of a column; 0 for a column of spans."""
    bits: Bits


@dataclass(frozen=True, eq=False)
class Cells:
    """The different cells that one column of the release holds."""

    low: Ints
    high: Ints
    of_row: Integers
    """For each released row its cell."""
    counts: Integers
    """How many released rows have each."""
    top: int
    anything: Mask
    """Which of them are ``*``: no condition."""
    missing: Mask
    outside: Span
    """What is not in each cell, as a condition."""
    above: Mask | None
    """For plain numbers: which lie above the median of the release. None in other columns."""


@dataclass(frozen=True, eq=False)
class Places:
    """Train, control and release as places, and the cells that the release holds."""

    names: tuple[str, ...]
    low: dict[str, Ints]
    high: dict[str, Ints]
    """rows x columns: the ends of each cell; in a column of sets both are twice the number of its pattern."""
    top: Ints
    """The last place of each column; 0 for a column of sets."""
    sets: Sets
    cells: tuple[Cells, ...]

    @classmethod
    def of(cls, case: Case) -> Places:
        """The three tables of a case, over the columns that are compared."""
        columns = [_column(case, name) for name in case.columns]
        low, high = (
            {which: np.stack([c.spans[which][end] for c in columns], axis=1).astype(np.int32) for which in case.tables}
            for end in (0, 1)
        )
        start = np.cumsum([0, *(c.bits.size for c in columns)])[:-1]
        sets = Sets(start, np.array([c.bits.shape[1] for c in columns]), np.concatenate([c.bits.ravel() for c in columns]))
        cells = tuple(_cells(case, name, column) for name, column in zip(case.columns, columns, strict=True))
        return cls(case.columns, low, high, np.array([c.top for c in columns], np.int32), sets, cells)


class _Column(NamedTuple):
    spans: dict[str, Span]
    """For each table the ends of its cells."""
    top: int
    bits: Bits = np.zeros((0, 0), np.uint64)
    values: Floats = np.zeros(0)
    """The numbers at the places 1, 2, ..."""


def _column(case: Case, name: str) -> _Column:
    encoding, rows = case.encoding(), {which: case.points(which).cells for which in case.tables}
    if name in encoding.numbers:
        at = encoding.numbers.index(name)
        return _numbers({which: (own.low[:, at], own.high[:, at]) for which, own in rows.items()})
    if name in encoding.sets:
        start, end = encoding.set_starts[encoding.sets.index(name) :][:2]
        return _patterns({which: own.sets[:, start:end] for which, own in rows.items()}, len(encoding.levels[name]))
    codes = {which: own.codes[:, encoding.coded.index(name)] + 1 for which, own in rows.items()}
    return _Column({which: (own, own) for which, own in codes.items()}, len(encoding.levels[name]))


def _numbers(ends: dict[str, tuple[Floats, Floats]]) -> _Column:
    seen = np.concatenate([end for pair in ends.values() for end in pair])
    values = np.unique(np.concatenate([seen[~np.isnan(seen)], [-np.inf, np.inf]]))
    spans = {}
    for which, (low, high) in ends.items():
        first, last = np.searchsorted(values, low) + 1, np.searchsorted(values, high) + 1
        missing, anything = np.isnan(low), np.isneginf(low) & np.isposinf(high)
        spans[which] = np.where(missing | anything, 0, first), np.where(missing, 0, last)
    return _Column(spans, len(values), values=values)


def _patterns(bits: dict[str, Bits], levels: int) -> _Column:
    """Each pattern followed by that of all other levels, so that 2p + 1 is what is not in cell 2p; at the end, all bits."""
    patterns, codes = np.unique(np.concatenate(list(bits.values())), axis=0, return_inverse=True)
    parts = np.split(2 * codes.ravel(), np.cumsum([len(own) for own in bits.values()])[:-1])
    every = np.zeros((1, patterns.shape[1]), np.uint64)
    for bit in range(levels):
        every[0, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    both = np.stack([patterns, every & ~patterns], axis=1).reshape(-1, patterns.shape[1])
    return _Column({which: (own, own) for which, own in zip(bits, parts, strict=True)}, 0, np.concatenate([both, ~(every & 0)]))


def _cells(case: Case, name: str, column: _Column) -> Cells:
    ends = np.stack(column.spans["release"], axis=1).astype(np.int64)
    base = int(ends.max()) + 1
    keys, of_row, counts = np.unique(ends[:, 0] * base + ends[:, 1], return_inverse=True, return_counts=True)
    low, high = (part.astype(np.int32) for part in np.divmod(keys, base))
    above = None
    if len(column.bits):
        levels, own = len(case.encoding().levels[name]), column.bits[low]
        size, absent = np.bitwise_count(own).sum(axis=1), own[:, levels // 64] >> np.uint64(levels % 64) & np.uint64(1) == 1
        anything, missing, outside = absent & (size == levels + 1), absent & (size == 1), (low + 1, low + 1)
    else:
        anything, missing, outside = (low == 0) & (high == column.top), high == 0, (high + 1, low - 1)
        if case.release.schema[name].numeric:
            numbers = case.release.floats(name)
            present = numbers[~np.isnan(numbers)]
            above = ~missing & (column.values[low - 1] > (np.median(present) if len(present) else np.inf))
    return Cells(low, high, of_row.ravel(), counts, column.top, anything, missing, outside, above)
