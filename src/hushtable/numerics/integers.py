"""Records as vectors of whole numbers on a public grid, and a total order of them that is the same for all tables.

Noise that is proven is integer noise on integer sums, so each record is first written in integers: a function of the record and
the declared domain alone, with values that lie in [0, GRID] whatever the rounding did. What one record can change is
then exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.errors import PlanError
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

GRID = 1 << 16
"""The whole width of a domain, in steps. It is even, so that a missing number has its place in the middle."""
CURVE = 60
"""The most columns that the curve runs through; the others only break ties."""
BITS = 10
"""The most bits of a column on the curve."""


@dataclass(frozen=True)
class Axes:
    """How one column is written in integers.

    A number, a date or a code of an ordinal is one coordinate, the place in its domain; unless the column is required a
    second one says whether it is missing (the first is then in the middle). A category has one coordinate for each level
    and for missing, GRID where it is the record's own; where there are only two, one coordinate says it all.
    """

    column: Column

    @property
    def ordered(self) -> bool:
        """Whether it is a place in an order."""
        return self.column.kind is not Kind.CATEGORY

    @property
    def options(self) -> int:
        """For a category: the levels, and missing unless it is required."""
        levels = len(self.column.levels)
        return levels if self.column.required else levels + 1

    @property
    def width(self) -> int:
        """The number of coordinates."""
        if self.ordered:
            return 1 if self.column.required else 2
        return self.options if self.options > 2 else self.options - 1

    @property
    def change(self) -> tuple[float, float]:
        """How far two values can be apart: L1, and L2 squared, in units of GRID.

        Numbers: 1 and 1; with a missing one, which is half the width and one flag away, 3/2 and 5/4. A category of
        several levels moves GRID from one coordinate to another: 2 and 2; of two levels, 1 and 1.
        """
        if self.ordered:
            return (1.0, 1.0) if self.column.required else (1.5, 1.25)
        return (2.0, 2.0) if self.options > 2 else (self.options - 1.0, self.options - 1.0)

    def places(self, array: Array) -> Integers:
        """The place in the domain, from 0 to GRID; missing in the middle (``ordered`` only)."""
        low, high = self._ends()
        missing = self.column.is_missing(array)
        values = np.where(missing, low, array.astype(np.float64))
        shares = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
        # No rounding, and no width that is no number, may lead out of [0, GRID]: what one record changes rests on it.
        return np.where(missing, GRID // 2, np.clip(np.nan_to_num(np.round(shares * GRID)), 0, GRID)).astype(np.int64)

    def codes(self, array: Array) -> Integers:
        """The option of each value, missing last (categories only)."""
        return np.where(self.column.is_missing(array), len(self.column.levels), array).astype(np.int64)

    def encode(self, array: Array) -> Integers:
        """Records by coordinates."""
        if not self.ordered:
            hot = (self.codes(array)[:, None] == np.arange(self.width)) * GRID
            return np.asarray(hot, dtype=np.int64)
        if self.column.required:
            return self.places(array)[:, None]
        return np.stack([self.places(array), self.column.is_missing(array) * np.int64(GRID)], axis=1)

    def decode(self, means: Floats) -> Array:
        """The values that averages of coordinates (in units of GRID) stand for: the nearest place, the likeliest option."""
        if not self.ordered:
            if self.width < self.options:
                means = np.concatenate([means, 1 - means.sum(axis=1, keepdims=True)], axis=1)
            best = means.argmax(axis=1)
            return np.where(best == len(self.column.levels), -1, best).astype(np.int32)
        absent = np.zeros(len(means)) if self.column.required else np.clip(means[:, 1], 0.0, 1.0)
        gone = absent > 0.5
        present = np.clip((means[:, 0] - absent / 2) / np.where(gone, 1.0, 1 - absent), 0.0, 1.0)
        return self.value(present, gone)

    def value(self, shares: Floats, missing: Mask) -> Array:
        """The value at a place (0 to 1) of the domain (``ordered`` only)."""
        low, high = self._ends()
        values = low + shares * (high - low)
        if self.column.kind is Kind.ORDINAL:
            return np.where(missing, -1, np.round(values)).astype(np.int32)
        return self.column.from_floats(np.where(missing, np.nan, values))

    def _ends(self) -> tuple[float, float]:
        domain = self.column.domain
        return (domain.low, domain.high) if isinstance(domain, Bounds) else (0.0, len(self.column.levels) - 1.0)


def writable(column: Column) -> bool:
    """Whether a column can be written in integers: it has levels, or bounds a finite width apart."""
    if isinstance(column.domain, Bounds):
        return math.isfinite(column.domain.high - column.domain.low)
    return column.valued


def axes_of(schema: Schema, columns: Sequence[str]) -> tuple[Axes, ...]:
    """For these columns; PlanError names those that cannot be written in integers."""
    odd = [name for name in columns if not writable(schema[name])]
    if odd:
        raise PlanError(f"{', '.join(odd)} has no declared bounds or levels to be written in whole numbers with")
    return tuple(Axes(schema[name]) for name in columns)


def in_order(table: Table, axes: Sequence[Axes]) -> Integers:
    """The rows in a public total order of the records as integers: along a Hilbert curve, ties by the integers themselves.

    Two rows that tie in all of it are the same integers, so any sum over consecutive rows is a function of the set of
    records alone.
    """
    exact = [a.places(table[a.column.name]) if a.ordered else a.codes(table[a.column.name]) for a in axes]
    flags = [a.column.is_missing(table[a.column.name]) for a in axes if a.ordered and not a.column.required]
    on_curve = list(zip(axes, exact, strict=True))[:CURVE]
    bits = max(1, min(BITS, CURVE // len(on_curve)))
    most = (1 << bits) - 1
    corners = [(e * most // (GRID if a.ordered else max(a.options - 1, 1))).astype(np.int64) for a, e in on_curve]
    return np.lexsort((*flags, *exact[::-1], *hilbert(corners, bits)[::-1]))


def hilbert(axes: Sequence[Integers], bits: int) -> list[Integers]:
    """The position of points along the Hilbert curve, as one digit of base 2^(number of axes) for each bit, highest first.

    Skilling, "Programming the Hilbert curve" (2004), on whole arrays.
    """
    x = [np.array(axis, dtype=np.int64) for axis in axes]
    d = len(x)
    for bit in range(bits - 1, 0, -1):
        low = (1 << bit) - 1
        for i in range(d):
            swap = np.where(x[i] >> bit & 1, 0, (x[0] ^ x[i]) & low)
            x[0] = np.where(x[i] >> bit & 1, x[0] ^ low, x[0] ^ swap)
            x[i] = x[i] ^ swap if i else x[0]
    for i in range(1, d):
        x[i] = x[i] ^ x[i - 1]
    turned = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        turned ^= np.where(x[d - 1] >> bit & 1, (1 << bit) - 1, 0)
    x = [axis ^ turned for axis in x]
    return [sum((x[i] >> bit & 1) << (d - 1 - i) for i in range(d)) + np.zeros_like(x[0]) for bit in range(bits - 1, -1, -1)]


def block_starts(rows: int, k: int) -> Integers:
    """Where blocks of k rows begin; what is left over joins the last one."""
    return np.arange(max(rows // k, 1)) * k


def block_sizes(rows: int, k: int) -> Integers:
    """How many rows each block has: k, the last one up to 2k - 1."""
    return np.diff(np.append(block_starts(rows, k), rows))
