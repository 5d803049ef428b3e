"""The lattice: one level of generalization for each quasi-identifier, and the classes that a node makes.

Rows that agree on everything are one *tuple* with a count, so a node is judged on the distinct tuples alone. Where people hold
several rows, it is recorded who holds which tuple.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.errors import Fault, InputError
from hushtable.privacy.spread import ranks
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import MISSING_CODE, Column
from hushtable.table.table import Table
from hushtable.table.trees import Level, build, leaf_share

Node = tuple[int, ...]
ROOM = 1 << 62
"""So many different keys fit into 64 bits."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """One quasi-identifier: its value (level 0) and the levels above it, for every tuple."""

    column: Column
    levels: tuple[Level, ...]
    codes: tuple[NDArray[np.int32], ...]
    """For each level, 0 included, the cell of each tuple; a missing value is a cell of its own until the top."""
    sizes: tuple[int, ...]
    """How many cells each level has."""
    shares: tuple[Floats, ...]
    """For each level the share of the domain under the cell of each tuple."""
    leaf: float
    """The share of one value."""

    @property
    def top(self) -> int:
        """The highest level."""
        return len(self.levels)


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of one node: the class of each tuple, and how many rows and persons each class has."""

    of: NDArray[np.int32]
    sizes: Integers
    persons: Integers


@dataclass(frozen=True, eq=False)
class Holders:
    """Who holds which tuple: each pair once, the pairs of a person together."""

    tuples: Integers
    persons: Integers

    @classmethod
    def of(cls, row: Integers, persons: Integers) -> Holders:
        """From the tuple and the person of each row."""
        pairs = np.unique(np.stack([persons, row]), axis=1)
        return cls(pairs[1], pairs[0])

    def count(self, of: NDArray[np.int32] | Integers, classes: int) -> Integers:
        """How many persons hold a tuple of each class; a tuple of class -1 counts nowhere."""
        counts: Integers = _held(of, self.tuples, self.persons, classes)
        return counts


@dataclass(frozen=True, eq=False)
class Lattice:
    """The tuples of a table on its quasi-identifiers (and secrets), and every way to generalize them level by level."""

    table: Table
    ladders: tuple[Ladder, ...]
    counts: Integers
    """Rows of each tuple."""
    row: Integers
    """The tuple of each row."""
    secrets: dict[str, Integers] = field(default_factory=dict)
    """For each secret column, the rank of its value in each tuple (missing last)."""
    absent: dict[str, int] = field(default_factory=dict)
    """For each secret column the rank of missing values, -1 if it has none."""
    holders: Holders | None = None
    """Which persons hold each tuple; none where every row is a person of its own."""

    @classmethod
    def of(cls, table: Table, columns: Sequence[str], secrets: Sequence[str] = ()) -> Lattice:
        """From a table; InputError lists every value that a hierarchy does not cover."""
        levels = {name: build(table.schema[name]) for name in columns}
        _require_covered(table, levels)
        row, count = table.groups([*columns, *secrets])
        first = np.empty(count, np.int64)
        first[row[::-1]] = np.arange(table.rows)[::-1]
        ladders = tuple(_ladder(table, name, levels[name], first) for name in columns)
        counts = np.bincount(row, minlength=count)
        ranked = {name: ranks(table, name) for name in secrets}
        own = {name: values[first] for name, (values, _, _) in ranked.items()}
        absent = {name: gone for name, (_, _, gone) in ranked.items()}
        return cls(table, ladders, counts, row, own, absent, _holders(table, row))

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return self.table.rows

    @property
    def bottom(self) -> Node:
        """Every value as it is."""
        return (0,) * len(self.ladders)

    @property
    def top(self) -> Node:
        """Every value ``*``."""
        return tuple(ladder.top for ladder in self.ladders)

    @property
    def nodes(self) -> int:
        """How many ways there are."""
        return math.prod(ladder.top + 1 for ladder in self.ladders)

    def classes(self, node: Node) -> Classes:
        """Group the tuples by the cells of a node."""
        sizes = [ladder.sizes[level] for ladder, level in zip(self.ladders, node, strict=True)]
        if math.prod(sizes) < ROOM:
            lines = self.lines(node)
            return self._classes(*_hashed(_keys(self._codes, lines, np.array(sizes, np.int64)), self.counts))
        return self.group([ladder.codes[level] for ladder, level in zip(self.ladders, node, strict=True)], sizes)

    def group(self, parts: Sequence[NDArray[np.int32] | Integers], sizes: Sequence[int]) -> Classes:
        """Classes of equal codes. The codes are packed into as few 64-bit keys as hold them, exactly."""
        keys = np.zeros(len(self.counts), np.int64)
        room = 1
        for part, size in zip(parts, sizes, strict=True):
            if size == 1:
                continue
            if room > ROOM // size:
                # Number the groups so far, so that the next code finds room beside them.
                keys, room = _hashed(keys, self.counts)[0].astype(np.int64), len(self.counts)
            keys = keys * size + part
            room *= size
        return self._classes(*_hashed(keys, self.counts))

    def persons(self, of: NDArray[np.int32] | Integers, classes: int) -> Integers:
        """How many persons each class of tuples has: its rows, where every row is a person of its own; -1 counts nowhere."""
        if self.holders is not None:
            return self.holders.count(of, classes)
        inside = of >= 0
        return np.bincount(of[inside], self.counts[inside], minlength=classes).astype(np.int64)

    def _classes(self, of: NDArray[np.int32], sizes: Integers) -> Classes:
        return Classes(of, sizes, sizes if self.holders is None else self.holders.count(of, len(sizes)))

    def lines(self, node: Node) -> Integers:
        """For each attribute the place of its level among the levels of all attributes."""
        return self._starts + np.array(node, np.int64)

    @cached_property
    def _starts(self) -> Integers:
        return np.cumsum([0, *(ladder.top + 1 for ladder in self.ladders[:-1])])

    @cached_property
    def _codes(self) -> NDArray[np.int32]:
        return np.array([codes for ladder in self.ladders for codes in ladder.codes], np.int32)

    def part(self, rows: Mask) -> Lattice:
        """The lattice of some of the rows, on the same levels and ranks."""
        tuples, row = np.unique(self.row[rows], return_inverse=True)
        ladders = tuple(
            Ladder(a.column, a.levels, tuple(c[tuples] for c in a.codes), a.sizes, tuple(s[tuples] for s in a.shares), a.leaf)
            for a in self.ladders
        )
        secrets = {name: ranks[tuples] for name, ranks in self.secrets.items()}
        table = self.table.take(rows)
        return Lattice(table, ladders, np.bincount(row), row, secrets, self.absent, _holders(table, row))


def _holders(table: Table, row: Integers) -> Holders | None:
    return None if table.persons is None else Holders.of(row, table.persons)


@njit(cache=True)
def _held(of, tuples, persons, classes):  # type: ignore[no-untyped-def]
    """How many persons hold a tuple of each class; a person's pairs stand together, so it is enough to remember the last person."""
    counts, last = np.zeros(classes, np.int64), np.full(classes, -1, np.int64)
    for i in range(len(tuples)):
        at = of[tuples[i]]
        # The place where a person's pairs begin stands for the person.
        if i == 0 or persons[i] != persons[i - 1]:
            begin = i
        if at >= 0 and last[at] != begin:
            last[at] = begin
            counts[at] += 1
    return counts


@njit(cache=True)
def _keys(codes, lines, sizes):  # type: ignore[no-untyped-def]
    """The codes on these lines of each tuple as one number."""
    keys = np.zeros(codes.shape[1], np.int64)
    for j in range(len(lines)):
        if sizes[j] > 1:
            for i in range(len(keys)):
                keys[i] = keys[i] * sizes[j] + codes[lines[j], i]
    return keys


@njit(cache=True)
def _hashed(keys, counts):  # type: ignore[no-untyped-def]
    """A number for each distinct key in order of appearance, and the rows it has: open addressing, no sorting."""
    n = len(keys)
    size = 1
    while size < 2 * n:
        size *= 2
    slots = np.full(size, -1, np.int32)
    shift, mask = np.uint64(20), np.uint64(size - 1)
    owner = np.empty(n, np.int64)
    ids = np.empty(n, np.int32)
    totals = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        key = keys[i]
        # Fibonacci hashing; the middle bits depend on all the low ones.
        at = ((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift) & mask
        while True:
            held = slots[at]
            if held < 0:
                slots[at] = count
                owner[count], totals[count], ids[i] = key, counts[i], count
                count += 1
                break
            if owner[held] == key:
                totals[held] += counts[i]
                ids[i] = held
                break
            at = (at + np.uint64(1)) & mask
    return ids, totals[:count].copy()


def _ladder(table: Table, name: str, levels: tuple[Level, ...], first: Integers) -> Ladder:
    column, array = table.schema[name], table[name]
    leaf = leaf_share(column)
    _, own = np.unique(array, return_inverse=True)
    codes, sizes, shares = [own[first].astype(np.int32)], [int(own.max(initial=0)) + 1], [np.full(len(first), leaf)]
    for level in levels:
        cells = level.index(column, array[first])
        missing = cells == MISSING_CODE
        codes.append(np.where(missing, len(level.cells), cells).astype(np.int32))
        # A missing value is a cell of its own until everything becomes ``*``.
        sizes.append(len(level.cells) if level.top else len(level.cells) + 1)
        shares.append(np.where(missing, leaf, np.append(level.shares, 0.0)[codes[-1]]))
    return Ladder(column, levels, tuple(codes), tuple(sizes), tuple(shares), leaf)


def _require_covered(table: Table, levels: dict[str, tuple[Level, ...]]) -> None:
    faults = []
    for name, ladder in levels.items():
        column, array = table.schema[name], table[name]
        points = [level.points for level in ladder if not level.edges]
        strange = ~column.is_missing(array) & ~np.isin(array.astype(np.float64), points[0]) if points else np.zeros(0, bool)
        if strange.any():
            rows = tuple(int(r) + 1 for r in np.flatnonzero(strange)[:3])
            shown = tuple(dict.fromkeys(table.strings(name)[strange].tolist()))[:3] if column.shows_values else ()
            faults.append(Fault(f"hierarchy of {name}", "has no line for some values", int(strange.sum()), rows, shown))
    if faults:
        raise InputError(faults)
