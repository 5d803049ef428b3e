"""The lattice: one level of generalization for each quasi-identifier, and the classes that a node makes.

Rows that agree on everything are one *tuple* with a count, so a node is judged on the distinct tuples alone. Where people hold
several rows, it is recorded who holds which tuple.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.anonymize.tuplewise import different
from hushtable.errors import Fault, InputError
from hushtable.privacy.spread import ranks
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import MISSING_CODE, Column
from hushtable.table.rows import Rows, Tuples
from hushtable.table.table import Table, identities
from hushtable.table.trees import Level, build, leaf_share
from hushtable.table.tuples import Index

Node = tuple[int, ...]
ROOM = 1 << 62
"""So many different keys fit into 64 bits."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """One quasi-identifier: its value (level 0) and the levels above it. What depends on the value alone is held once for each."""

    column: Column
    levels: tuple[Level, ...]
    own: NDArray[np.int32]
    """The place of each tuple's value among the different ones."""
    cells: tuple[NDArray[np.int32], ...]
    """For each level, 0 included, the cell of each value; a missing value is a cell of its own until the top."""
    sizes: tuple[int, ...]
    """How many cells each level has."""
    shares: tuple[Floats, ...]
    """For each level the share of the domain under the cell of each value."""
    leaf: float
    """The share of one value."""

    def codes(self, level: int) -> NDArray[np.int32]:
        """The cell of each tuple on a level."""
        return self.cells[level][self.own]

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
    def of(cls, tuples: Integers, persons: Integers) -> Holders:
        """From the tuple and the person of each row."""
        alike = identities([persons, tuples], len(tuples))
        first = np.empty(int(alike.max(initial=-1)) + 1, np.int64)
        first[alike] = np.arange(len(alike))
        return cls(tuples[first], persons[first])

    def part(self, members: Mask) -> Holders:
        """Of some of the tuples, numbered anew."""
        here = members[self.tuples]
        return Holders((np.cumsum(members) - 1)[self.tuples[here]], self.persons[here])

    def count(self, of: NDArray[np.int32] | Integers, classes: int) -> Integers:
        """How many persons hold a tuple of each class; a tuple of class -1 counts nowhere."""
        counts: Integers = _held(of, self.tuples, self.persons, classes)
        return counts


@dataclass(frozen=True, eq=False)
class Lattice:
    """The tuples of a table on its quasi-identifiers (and secrets), and every way to generalize them level by level."""

    ladders: tuple[Ladder, ...]
    tuples: Table
    """One row for each tuple, in lexicographic order."""
    counts: Integers
    """Rows of each tuple."""
    secrets: dict[str, Integers] = field(default_factory=dict)
    """For each secret column, the rank of its value in each tuple (missing last)."""
    absent: dict[str, int] = field(default_factory=dict)
    """For each secret column the rank of missing values, -1 if it has none."""
    holders: Holders | None = None
    """Which persons hold each tuple; none where every row is a person of its own."""

    @classmethod
    def of(cls, rows: Rows, columns: Sequence[str], secrets: Sequence[str] = ()) -> Lattice:
        """Of rows wherever they are; InputError lists every value that a hierarchy does not cover, and refuses too many tuples."""
        levels = {name: build(rows.schema[name]) for name in columns}
        tuples = different(rows, [*columns, *secrets])
        _require_covered(rows, tuples, levels)
        table = tuples.table
        ladders = tuple(_ladder(table, name, levels[name]) for name in columns)
        ranked = {name: ranks(table, name) for name in secrets}
        own = {name: values for name, (values, _, _) in ranked.items()}
        absent = {name: gone for name, (_, _, gone) in ranked.items()}
        holders = None
        if isinstance(rows, Table) and rows.persons is not None:
            holders = Holders.of(Index(tuples).of(rows), rows.persons)
        return cls(ladders, table, tuples.counts, own, absent, holders)

    @cached_property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.counts.sum())

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
            keys = _keys(self.own, self._cells, self.starts[self.lines(node)], np.array(sizes, np.int64))
            return self._classes(*_hashed(keys, self.counts))
        return self.group([ladder.codes(level) for ladder, level in zip(self.ladders, node, strict=True)], sizes)

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
    def own(self) -> NDArray[np.int32]:
        """For each attribute the place of each tuple's value."""
        return np.array([ladder.own for ladder in self.ladders], np.int32)

    @cached_property
    def starts(self) -> Integers:
        """Where each level of each attribute begins, where what is held of their values stands one after the other."""
        return np.cumsum([0, *(len(cells) for ladder in self.ladders for cells in ladder.cells)])[:-1]

    @cached_property
    def _cells(self) -> NDArray[np.int32]:
        return np.concatenate([cells for ladder in self.ladders for cells in ladder.cells])

    def part(self, members: Mask) -> Lattice:
        """The lattice of some of the tuples, on the same levels and ranks."""
        ladders = tuple(replace(ladder, own=ladder.own[members]) for ladder in self.ladders)
        secrets = {name: own[members] for name, own in self.secrets.items()}
        holders = None if self.holders is None else self.holders.part(members)
        return Lattice(ladders, self.tuples.take(members), self.counts[members], secrets, self.absent, holders)


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
def _keys(own, cells, starts, sizes):  # type: ignore[no-untyped-def]
    """The cells of each tuple on one level of each attribute as one number."""
    keys = np.zeros(own.shape[1], np.int64)
    for j in range(len(starts)):
        if sizes[j] > 1:
            for i in range(len(keys)):
                keys[i] = keys[i] * sizes[j] + cells[starts[j] + own[j, i]]
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


def _ladder(table: Table, name: str, levels: tuple[Level, ...]) -> Ladder:
    column = table.schema[name]
    values, own = np.unique(table[name], return_inverse=True)
    leaf = leaf_share(column)
    cells, sizes, shares = [np.arange(len(values), dtype=np.int32)], [max(len(values), 1)], [np.full(len(values), leaf)]
    for level in levels:
        above = level.index(column, values)
        missing = above == MISSING_CODE
        cells.append(np.where(missing, len(level.cells), above).astype(np.int32))
        # A missing value is a cell of its own until everything becomes ``*``.
        sizes.append(len(level.cells) if level.top else len(level.cells) + 1)
        shares.append(np.where(missing, leaf, np.append(level.shares, 0.0)[cells[-1]]))
    return Ladder(column, levels, own.astype(np.int32), tuple(cells), tuple(sizes), tuple(shares), leaf)


def _require_covered(rows: Rows, tuples: Tuples, levels: dict[str, tuple[Level, ...]]) -> None:
    faults = []
    for name, ladder in levels.items():
        points = next((level.points for level in ladder if not level.edges), None)
        strange = _uncovered(tuples.table, name, points)
        if strange.any():
            places, words = _examples(rows, name, points)
            shown = words if rows.schema[name].shows_values else ()
            faults.append(
                Fault(f"hierarchy of {name}", "has no line for some values", int(tuples.counts[strange].sum()), places, shown)
            )
    if faults:
        raise InputError(faults)


def _uncovered(table: Table, name: str, points: Floats | None) -> Mask:
    """The rows whose value the lines of a hierarchy do not have."""
    if points is None:
        return np.zeros(table.rows, bool)
    return np.asarray(~table.missing(name) & ~np.isin(table[name].astype(np.float64), points), bool)


def _examples(rows: Rows, name: str, points: Floats | None) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The numbers of the first rows whose value is not covered, and the first different values of such rows."""
    places, words, before = list[int](), dict[str, None](), 0
    for batch in rows.batches(columns=[name]):
        strange = _uncovered(batch, name, points)
        places += (np.flatnonzero(strange)[:3] + before + 1).tolist()
        words |= dict.fromkeys(batch.strings(name)[strange].tolist())
        before += batch.rows
        if len(words) >= 3:
            break
    return tuple(places[:3]), tuple(words)[:3]
