"""Which of the different tuples of some columns each row holds, so that what is decided of a tuple reaches its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.table.arrays import Array, Integers
from hushtable.table.rows import Tuples
from hushtable.table.table import Table

ROOM = 1 << 62
"""So many different keys fit into 64 bits."""
WIDE = 1 << 22
"""Whole numbers in a range up to this are looked up in an array."""


class Index:
    """The place of each row's tuple among the tuples that there are. Exact: keys are packed, and never a digest."""

    def __init__(self, tuples: Tuples) -> None:
        """Of all columns of the tuples."""
        table = tuples.table
        self.names = table.schema.names
        self._columns = tuple((name, _Digits.of(table[name])) for name in self.names)
        self._stages: list[tuple[int, _Numbers]] = []
        keys, room = np.zeros(table.rows, np.int64), 1
        for place, (name, digits) in enumerate(self._columns):
            if room * digits.base >= ROOM:
                keys, room = self._numbered(place, keys), table.rows
            keys, room = keys * digits.base + digits.of_rows(table[name]), room * digits.base
        numbers = self._numbered(len(self.names), keys)
        self._tuple = np.empty(table.rows, np.int64)
        self._tuple[numbers] = np.arange(table.rows)

    def of(self, rows: Table) -> Integers:
        """For each row the place of its tuple; InputError where it is none of them: the rows are no longer what they were."""
        keys, stages = np.zeros(rows.rows, np.int64), dict(self._stages)
        for place, (name, digits) in enumerate(self._columns):
            if place in stages:
                keys = stages[place].of(keys)
            keys = keys * digits.base + digits.of_rows(rows[name])
        return np.asarray(self._tuple[stages[len(self.names)].of(keys)], np.int64)

    def _numbered(self, place: int, keys: Integers) -> Integers:
        """Number the keys so far, so that the next columns find room beside them."""
        numbers = _Numbers(keys)
        self._stages.append((place, numbers))
        return numbers.of(keys)


@dataclass(frozen=True, eq=False)
class _Digits:
    """The values of a column as small numbers."""

    values: Array
    """The different ones, rising; NaN last."""
    place: NDArray[np.int32] | None
    """For whole numbers in a small range, where each stands among them (-1 where it does not)."""

    @classmethod
    def of(cls, array: Array) -> _Digits:
        values = np.unique(array)
        place = None
        if len(values) and values.dtype.kind in "iub" and int(values[-1]) - int(values[0]) < WIDE:
            place = np.full(int(values[-1]) - int(values[0]) + 1, -1, np.int32)
            place[values.astype(np.int64) - int(values[0])] = np.arange(len(values), dtype=np.int32)
        return cls(values, place)

    @property
    def base(self) -> int:
        return max(len(self.values), 1)

    def of_rows(self, array: Array) -> Array:
        if not len(array):
            return np.empty(0, np.int64)
        if not len(self.values):
            raise _changed()
        if self.place is not None:
            low = int(self.values[0])
            if int(array.min()) < low or int(array.max()) >= low + len(self.place):
                raise _changed()
            found: Array = self.place[array - low]
            if (found < 0).any():
                raise _changed()
            return found
        places: Array = np.minimum(np.searchsorted(self.values, array), len(self.values) - 1)
        there = self.values[places]
        if not ((there == array) | ((there != there) & (array != array))).all():
            raise _changed()
        return places


class _Numbers:
    """Different keys numbered in order of appearance."""

    def __init__(self, keys: Integers) -> None:
        self.slots, self.owner = _numbering(keys)

    def of(self, keys: Integers) -> Integers:
        found: Integers = _found(keys, self.slots, self.owner)
        if len(found) and found.min() < 0:
            raise _changed()
        return found


def _changed() -> InputError:
    return InputError(
        "the rows are no longer those that were read before: keep the source as it is while it is read", where="table"
    )


@njit(cache=True)
def _slot(key, size):  # type: ignore[no-untyped-def]
    """Fibonacci hashing; the middle bits depend on all the low ones."""
    return ((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & np.uint64(size - 1)


@njit(cache=True)
def _numbering(keys):  # type: ignore[no-untyped-def]
    """Open addressing: the slots, each with the number of its key, and the keys by number."""
    n = len(keys)
    size = 1
    while size < 2 * n + 1:
        size *= 2
    slots, owner = np.full(size, -1, np.int32), np.empty(n, np.int64)
    count = 0
    for i in range(n):
        at = _slot(keys[i], size)
        while slots[at] >= 0 and owner[slots[at]] != keys[i]:
            at = (at + np.uint64(1)) & np.uint64(size - 1)
        if slots[at] < 0:
            slots[at], owner[count] = count, keys[i]
            count += 1
    return slots, owner[:count].copy()


@njit(cache=True)
def _found(keys, slots, owner):  # type: ignore[no-untyped-def]
    """The number of each key, -1 where it has none."""
    numbers = np.full(len(keys), -1, np.int64)
    for i in range(len(keys)):
        at = _slot(keys[i], len(slots))
        while slots[at] >= 0:
            if owner[slots[at]] == keys[i]:
                numbers[i] = slots[at]
                break
            at = (at + np.uint64(1)) & np.uint64(len(slots) - 1)
    return numbers
