"""Columns as at most so many coarse cells, with the fine cells inside drawn back by their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hushtable.encode.cells import Grid
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import Column


@dataclass(frozen=True, eq=False)
class Nested:
    """The cells of a column in neighbouring groups, coarse cells, and inside each of them in smaller groups, its parts.

    A cell that many rows hold is a coarse cell of its own, and missing always is, the last. Which cell of a part a value lies in
    depends on nothing but how many rows each holds.
    """

    grid: Grid
    counts: Integers
    """Rows in each cell."""
    first: Integers
    """The cells at which coarse cells begin."""
    second: Integers
    """The cells at which parts begin."""

    @classmethod
    def of(cls, column: Column, array: Array, least: int, most: int, parts: int) -> Self:
        """At most ``most`` coarse cells, and missing, of at most ``parts`` parts each; for a category every level is a part."""
        grid = Grid.of(column, array, least)
        counts = np.bincount(grid.encode(array), minlength=grid.count)
        last = grid.count - 1
        first = np.append(_runs(counts[:last], most), last)
        inside = [start + _runs(counts[start:end], parts if column.numeric else end - start) for start, end in _pairs(first, last)]
        return cls(grid, counts, first, np.concatenate([*inside, [last]]))

    @property
    def column(self) -> Column:
        """What it divides."""
        return self.grid.column

    @property
    def coarse(self) -> int:
        """How many coarse cells there are, missing included."""
        return len(self.first)

    @property
    def inner(self) -> int:
        """The most parts of a coarse cell."""
        return int(np.diff(np.append(self._leading, len(self.second))).max())

    @property
    def fields(self) -> int:
        """How many codes say where a value lies: the coarse cell, and the part where any cell has more than one."""
        return 1 + (self.inner > 1)

    @property
    def masses(self) -> Integers:
        """Rows by coarse cell and part."""
        rows = np.zeros((self.coarse, self.inner), np.int64)
        inside = np.searchsorted(self.first, self.second, side="right") - 1
        rows[inside, np.arange(len(self.second)) - self._leading[inside]] = np.add.reduceat(self.counts, self.second)
        return rows

    def codes(self, array: Array) -> tuple[Integers, Integers]:
        """The coarse cell of each value, and the part."""
        cells = self.grid.encode(array)
        coarse = np.searchsorted(self.first, cells, side="right") - 1
        return coarse, np.searchsorted(self.second, cells, side="right") - 1 - self._leading[coarse]

    def decode(self, coarse: Integers, part: Integers, rng: np.random.Generator) -> Array:
        """A value from each part: a cell by the counts, and a value of the cell."""
        group = self._leading[coarse] + part
        ends = np.append(self.second[1:], len(self.counts))
        running = np.append(0, np.cumsum(self.counts))
        low, high = running[self.second[group]], running[ends[group]]
        cells = np.searchsorted(running, low + np.floor(rng.random(len(group)) * (high - low)), side="right") - 1
        # Nothing was counted where a condition names what no row held.
        return self.grid.decode(np.where(high > low, cells, self.second[group]), rng)

    def shares(self, array: Array) -> Floats:
        """For each value, its share of the draws from its part; 0 for one that is never drawn."""
        cells = self.grid.encode(array)
        rows = np.add.reduceat(self.counts, self.second)[np.searchsorted(self.second, cells, side="right") - 1]
        return self.counts[cells] * self.grid.shares(array, cells) / np.maximum(rows, 1)

    def under(self, column: Column) -> Nested:
        """The same cells of a column that is described otherwise."""
        return replace(self, grid=replace(self.grid, column=column))

    def arrays(self) -> dict[str, Array]:
        """What ``from_arrays`` rebuilds it from, given the column."""
        own = {"low": self.grid.low, "high": self.grid.high}
        return own | {"counts": self.counts, "first": self.first, "second": self.second}

    @classmethod
    def from_arrays(cls, column: Column, arrays: Mapping[str, Array]) -> Self:
        """Rebuild it."""
        return cls(Grid(column, arrays["low"], arrays["high"]), arrays["counts"], arrays["first"], arrays["second"])

    @property
    def _leading(self) -> Integers:
        """The number of each coarse cell's first part, among all parts."""
        return np.searchsorted(self.second, self.first)


def _runs(counts: Integers, most: int) -> Integers:
    """Where at most ``most`` runs of cells begin, the fullest of which, of several cells, is as little full as can be."""
    if len(counts) <= most:
        return np.arange(len(counts))
    running = np.append(0, np.cumsum(counts))
    low, high = 0, int(running[-1])
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if len(_filled(running, middle, most)) <= most else (middle + 1, high)
    return np.array(_filled(running, low, most))


def _filled(running: Integers, full: int, most: int) -> list[int]:
    """Runs of at most ``full`` rows, or of one cell that holds more; no more than one run too many."""
    starts, last = [0], len(running) - 1
    while len(starts) <= most:
        start = max(starts[-1] + 1, int(np.searchsorted(running, running[starts[-1]] + full, side="right")) - 1)
        if start >= last:
            break
        starts.append(start)
    return starts


def _pairs(starts: Integers, last: int) -> list[tuple[int, int]]:
    return list(zip(starts[:-1].tolist(), [*starts[1:-1].tolist(), last], strict=True))
