"""The different tuples of some columns and how many rows hold each, by hashing: in the memory that the tuples alone take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.engine.packing import Cells, Packing
from hushtable.errors import InputError
from hushtable.table.arrays import Array, Integers
from hushtable.table.rows import Tuples
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ROOM = 1 << 62
"""What one word of a key may count to."""


@dataclass
class Tally:
    """Counts of keys of a few words each, by open addressing; it grows, and refuses to beyond a limit."""

    width: int
    limit: int
    slots: NDArray[np.int32] = field(default_factory=lambda: np.full(1 << 12, -1, np.int32))
    keys: Integers = field(init=False)
    counts: Integers = field(init=False)
    held: int = 0

    def __post_init__(self) -> None:
        """Room for a few."""
        self.keys = np.empty((1 << 11, self.width), np.int64)
        self.counts = np.zeros(1 << 11, np.int64)

    def add(self, keys: Integers, counts: Integers) -> bool:
        """Count rows of keys; false where there are more different ones than the limit."""
        at = 0
        while True:
            at, self.held = _tally(keys, counts, at, self.slots, self.keys, self.counts, self.held)
            if self.held > self.limit:
                return False
            if at == len(keys):
                return True
            self._grow()

    def _grow(self) -> None:
        self.keys = np.concatenate([self.keys, np.empty_like(self.keys)])
        self.counts = np.concatenate([self.counts, np.zeros_like(self.counts)])
        self.slots = np.full(4 * len(self.counts), -1, np.int32)
        _place(self.slots, self.keys, self.held)


def tuples(batches: Iterable[Cells], schema: Schema, limit: int) -> Tuples:
    """The different tuples of all columns of a schema, in order of their codes as they are in memory, and their counts."""
    return spelt(*tallied(batches, schema, limit), schema)


def width(schema: Schema) -> int:
    """The words of a key."""
    return max(len(_words([Packing(column) for column in schema])), 1)


def tallied(batches: Iterable[Cells], schema: Schema, limit: int) -> tuple[Integers, Integers]:
    """The keys of the different tuples, in words of 64 bits, and their counts; InputError where there are more than ``limit``."""
    words = _words([Packing(column) for column in schema])
    tally = Tally(max(len(words), 1), limit)
    for batch in batches:
        keys = np.zeros((len(batch[schema.names[0]]), tally.width), np.int64)
        for word, members in enumerate(words):
            for packing, base in members:
                digits = _digits(packing, batch[packing.column.name])
                keys[:, word] = digits if base == 0 else keys[:, word] * base + digits
        if not tally.add(keys, np.ones(len(keys), np.int64)):
            raise too_many(limit, schema)
    return tally.keys[: tally.held], tally.counts[: tally.held]


def too_many(limit: int, schema: Schema) -> InputError:
    """More different tuples than may be held."""
    return InputError(f"there are more than {limit:,} different tuples of {', '.join(schema.names)}", where="table")


def spelt(keys: Integers, counts: Integers, schema: Schema) -> Tuples:
    """The tuples that these keys stand for, in order of their codes."""
    arrays = dict[str, Array]()
    for word, members in enumerate(_words([Packing(column) for column in schema])):
        rest = keys[:, word]
        for packing, base in reversed(members):
            own = rest if base == 0 else rest % base
            rest = rest if base == 0 else rest // base
            arrays[packing.column.name] = _values(packing, own)
    table = Table(schema, arrays)
    order = np.lexsort([table[name] for name in reversed(schema.names)])
    return Tuples(table.take(order), counts[order])


def _words(packings: Sequence[Packing]) -> list[list[tuple[Packing, int]]]:
    """The columns of each word of a key, each with its number of digits; 0 where a column takes a word for itself."""
    words, room = list[list[tuple[Packing, int]]](), ROOM
    for packing in packings:
        base = 0 if packing.cells is None else packing.cells + 1
        if base == 0 or room * base >= ROOM:
            words.append([])
            room = ROOM if base == 0 else 1
        room *= max(base, 1)
        words[-1].append((packing, base))
    return words


def _digits(packing: Packing, stored: Array) -> Integers:
    """Whole numbers that are equal exactly where the values are; all NaN are one value, and so are both zeros."""
    if stored.dtype.kind != "f":
        return stored.astype(np.int64)
    return np.where(np.isnan(stored), np.nan, stored + 0.0).view(np.int64)


def _values(packing: Packing, digits: Integers) -> Array:
    stored = digits.view(np.float64) if packing.dtype.kind == "f" else digits.astype(packing.dtype)
    return packing.unpack(np.ascontiguousarray(stored))


@njit(cache=True, nogil=True)
def slot_of(key, mask):  # type: ignore[no-untyped-def]
    """Where a key of a few words is looked for first."""
    mixed = np.uint64(0)
    for word in key:
        mixed = (mixed ^ np.uint64(word)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed & mask


@njit(cache=True, nogil=True)
def _tally(keys, counts, start, slots, owners, totals, held):  # type: ignore[no-untyped-def]
    """Count from row ``start`` on, until all are counted or there is no room; where it stopped, and how many keys are held."""
    mask = np.uint64(len(slots) - 1)
    for row in range(start, len(keys)):
        key = keys[row]
        at = slot_of(key, mask)
        while True:
            owner = slots[at]
            if owner < 0:
                if held == len(totals):
                    return row, held
                slots[at] = held
                owners[held] = key
                totals[held] = counts[row]
                held += 1
                break
            same = True
            for word in range(len(key)):
                if owners[owner, word] != key[word]:
                    same = False
                    break
            if same:
                totals[owner] += counts[row]
                break
            at = (at + np.uint64(1)) & mask
    return len(keys), held


@njit(cache=True, nogil=True)
def _place(slots, owners, held):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(slots) - 1)
    for owner in range(held):
        at = slot_of(owners[owner], mask)
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = owner
