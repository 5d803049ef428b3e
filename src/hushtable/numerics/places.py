"""The domain of a number as numbered places: grid points, or equal parts where there is no grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Column, Kind
from hushtable.table.rows import Rows
from hushtable.table.table import Table

FINE = 1 << 24
"""The equal parts that the range of a real number without a grid is divided into."""


COUNTED = 1 << 22
"""The most whole numbers of a domain that are counted one by one."""


def points(column: Column) -> int:
    """How many places a value can have."""
    bounds = column.bounds
    if column.step is None:
        return FINE if bounds.high > bounds.low else 1
    return round((bounds.high - bounds.low) / column.step) + 1


def edges_of(column: Column, places: Integers) -> Floats:
    """Where places begin, as numbers of the column; on a grid that is halfway between grid points."""
    bounds = column.bounds
    if column.step is not None:
        return np.asarray(bounds.low + column.step * (places - 0.5), np.float64)
    width = bounds.high - bounds.low if bounds.high > bounds.low else 1.0
    return np.asarray(bounds.low + width * (places / points(column)), np.float64)


def places_of(table: Table, name: str) -> Integers:
    """The place of each value that is not missing."""
    column, values = table.schema[name], table.floats(name)
    low, last = column.bounds.low, points(column)
    step = column.step if column.step is not None else (column.bounds.high - low) / last or 1.0
    half = 0.5 if column.step is not None else 0.0
    places = np.floor((values[~np.isnan(values)] - low) / step + half)
    return np.clip(places, 0, last - 1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class PlaceCounts:
    """How many values of a column lie in each of some ranges of places."""

    additive: ClassVar[bool] = True
    column: str
    edges: Integers
    """Where the ranges begin, rising; the last one has no end."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def answer(self, table: Table) -> Integers:
        """One count for each; what lies before the first is in none."""
        ranges = np.searchsorted(self.edges, places_of(table, self.column), side="right")
        return np.bincount(ranges, minlength=len(self.edges) + 1)[1:]


@dataclass(frozen=True, eq=False)
class Below:
    """How many values of a column lie at places below given ones. Rows out of memory are read once for each call."""

    rows: Rows
    column: str

    def __call__(self, places: Integers) -> Integers:
        """For each place; missing values lie nowhere."""
        if isinstance(self.rows, Table):
            return np.searchsorted(self._sorted, places).astype(np.int64)
        if grid_counts(self.rows.schema[self.column]):
            return np.asarray(self._cumulative[places])
        edges, back = np.unique(places, return_inverse=True)
        at_least = np.cumsum(self.rows.fold(PlaceCounts(self.column, np.append(0, edges)))[::-1])[::-1]
        return np.asarray((at_least[0] - at_least[1:])[back].reshape(places.shape), np.int64)

    @cached_property
    def _sorted(self) -> Integers:
        assert isinstance(self.rows, Table)
        return np.sort(places_of(self.rows, self.column))

    @cached_property
    def _cumulative(self) -> Integers:
        counts = self.rows.histograms([(self.column,)])[0][: points(self.rows.schema[self.column])]
        return np.append(0, np.cumsum(counts))


def grid_counts(column: Column) -> bool:
    """Whether one histogram of a column says how its values lie: whole numbers, not too many."""
    return column.kind is Kind.INTEGER and column.numeric and points(column) <= COUNTED
