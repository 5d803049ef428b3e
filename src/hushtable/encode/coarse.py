"""Columns as at most so many coarse cells, with the fine cells inside drawn back by their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from hushtable.encode.cells import Grid
from hushtable.pipeline.step import Arrays, Coder, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.cell import Interval
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "counts the values of the rows, to find the cells that they lie in"
REDRAWN = 100
"""How often a value is drawn again that would be read into another cell."""


@dataclass(frozen=True, kw_only=True)
class Coarse(Coder):
    """Numbers and dates as at most so many cells, frequent values (40 hours a week, a gain of 0) as cells of their own.

    Undoing draws a finer cell by how many rows it held, and a value on the column's grid inside it; a number that fewer than
    ``least`` rows share returns by chance only. A category of more levels than that is cut into groups of neighbouring levels, the
    frequent ones apart, and a level is drawn back by its count. One row stays one row (stability 1), but cells and counts are read
    off the rows, which makes every later epsilon infinite.
    """

    bins: int = 64
    """The most cells of a column, with one for missing values."""
    least: int = 5
    """A number that fewer rows share is replaced by a draw from a range that holds at least so many rows."""
    columns: tuple[str, ...] = ()
    """The columns to cut; when empty, every number and date, and categories of so many levels."""

    def __post_init__(self) -> None:
        """At least two cells, at least one row."""
        check_knobs(self, bins=(self.bins >= 2, "must be at least 2"), least=(self.least >= 1, "must be at least 1"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses text and keys. The cells are not known before the rows are read: those shown here stand for them."""
        guess = [self._guess(schema[name]) for name in self._columns(schema)]
        return Plan(schema=schema.with_columns(*guess), events=(Raw(_WHY),), stability=1)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Coarsened:
        """Find the cells."""
        table = vault.open(Raw(_WHY), _WHY)
        names = self._columns(table.schema)
        return Coarsened.of(table.schema, {name: self._cells(table.schema[name], table[name]) for name in names})

    def _cells(self, column: Column, array: Array) -> Nested:
        cells = Nested.of(column, array, self.least, self.bins, 1)
        if not isinstance(column.domain, Bounds):
            return cells
        # What is drawn back must lie in the column's domain.
        low, high = (
            np.clip(ends, *column.floats(np.array([column.domain.low, column.domain.high])))
            for ends in (cells.grid.low, cells.grid.high)
        )
        return replace(cells, grid=replace(cells.grid, low=low, high=high))

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        wide = tuple(column.name for column in schema if column.numeric or (column.coded and len(column.levels) >= self.bins))
        if not self.columns:
            return wide
        what = "a number, a date or a category"
        return chosen(schema, self.columns, wide, "coarse", what, lambda column: column.numeric or column.coded)

    def _guess(self, column: Column) -> Column:
        return _coarse_column(column, tuple(f"cell {place}" for place in range(1, self.bins)))


@dataclass(frozen=True, eq=False)
class Coarsened:
    """The fitted coder."""

    original: Schema
    schema: Schema
    nested: dict[str, Nested] = field(repr=False)
    stability: int = 1

    @classmethod
    def of(cls, schema: Schema, nested: dict[str, Nested]) -> Self:
        """These cells of these columns."""
        return cls(schema, schema.with_columns(*(_coarse_column(c.column, c.names()) for c in nested.values())), nested)

    def apply(self, table: Table) -> Table:
        """Values to cells."""
        coded = []
        for name, cells in self.nested.items():
            codes, _ = cells.codes(table[name])
            coded.append((self.schema[name], np.where(codes == cells.coarse - 1, -1, codes).astype(np.int32)))
        return table.with_columns(*coded)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """Cells to values."""
        drawn = []
        for name, cells in self.nested.items():
            if name in table.schema:  # a core may release some of the columns only
                codes = np.where(table[name] < 0, cells.coarse - 1, table[name]).astype(np.int64)
                drawn.append((self.original[name], _inside(cells, codes, rng)))
        return table.with_columns(*drawn)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The original columns, and the cells of those that were cut with their counts."""
        arrays: Arrays = {}
        for place, cells in enumerate(self.nested.values()):
            arrays |= {f"{place}/{name}": array for name, array in cells.arrays().items()}
        return {"schema": self.original.portable().dump(), "columns": list(self.nested)}, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema, nested = Schema.parse(values["schema"]), {}
        for place, name in enumerate(values["columns"]):
            own = {key.removeprefix(f"{place}/"): array for key, array in arrays.items() if key.startswith(f"{place}/")}
            nested[name] = Nested.from_arrays(schema[name], own)
        return cls.of(schema, nested)


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
        """At most ``most`` coarse cells, with missing, of at most ``parts`` parts each; for a category every level is a part."""
        grid = Grid.of(column, array, least)
        counts = np.bincount(grid.encode(array), minlength=grid.count)
        last = grid.count - 1
        first = np.append(_runs(counts[:last], most - 1), last)
        inside = [
            start + _runs(counts[start:end], parts if column.numeric else end - start) for start, end in pairwise(first.tolist())
        ]
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

    def decode(self, coarse: Integers, part: Integers | None, rng: np.random.Generator) -> Array:
        """A value from each part, or from the whole of each coarse cell: a cell by the counts, and a value of the cell."""
        starts, group = (self.first, coarse) if part is None else (self.second, self._leading[coarse] + part)
        first, after = starts[group], np.append(starts[1:], len(self.counts))[group]
        running = np.append(0, np.cumsum(self.counts))
        low, high = running[first], running[after]
        cells = np.searchsorted(running, low + np.floor(rng.random(len(group)) * (high - low)), side="right") - 1
        # Nothing was counted where a condition names what no row held.
        return self.grid.decode(np.where(high > low, cells, first), rng)

    def shares(self, array: Array) -> Floats:
        """For each value, its share of the draws from its part; 0 for one that is never drawn."""
        cells = self.grid.encode(array)
        rows = np.add.reduceat(self.counts, self.second)[np.searchsorted(self.second, cells, side="right") - 1]
        return self.counts[cells] * self.grid.shares(array, cells) / np.maximum(rows, 1)

    def names(self) -> tuple[str, ...]:
        """What each coarse cell holds, in words, missing left out; numbered where two would have the same."""
        texts = []
        for start, end in pairwise(self.first.tolist()):
            if self.column.numeric:
                low, high = float(self.grid.low[start:end].min()), float(self.grid.high[start:end].max())
                texts.append(self.column.interval_cell(Interval(low, high, False, False)).text)
            else:
                levels = self.column.levels
                texts.append(levels[start] if end == start + 1 else f"{levels[start]} to {levels[end - 1]}")
        return tuple(texts) if len(set(texts)) == len(texts) else tuple(f"{at}: {text}" for at, text in enumerate(texts, 1))

    @property
    def values(self) -> float:
        """How many values the column has."""
        return self.grid.values

    @property
    def pieces(self) -> int:
        """How many parts of cells there are in all."""
        return len(self.second)

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


def _inside(cells: Nested, codes: Integers, rng: np.random.Generator) -> Array:
    """A value from each coarse cell, drawn again where it is a frequent value, or an end, that counts as another cell."""
    array = cells.decode(codes, None, rng)
    for _ in range(REDRAWN):
        odd = np.flatnonzero(cells.codes(array)[0] != codes)
        if not len(odd):
            break
        array[odd] = cells.decode(codes[odd], None, rng)
    return array


def _coarse_column(column: Column, levels: tuple[str, ...]) -> Column:
    """The column of coarse cells, as public as the values are; in order, if they are."""
    kind = Kind.CATEGORY if column.kind is Kind.CATEGORY else Kind.ORDINAL
    domain = Levels(levels, observed=True)
    return replace(column, kind=kind, domain=domain, hierarchy=None, decimals=None, format=None)
