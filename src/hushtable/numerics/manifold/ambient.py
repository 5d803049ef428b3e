"""Rows of a mixed table as points of a Euclidean space, and back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import Column, Kind
from hushtable.table.table import Table

LIMIT = 2**28
"""The most coordinates, over all rows, that we are ready to hold."""


class Scale(StrEnum):
    """The unit in which differences of a column are measured."""

    STANDARD = "standard"
    NONE = "none"


@dataclass(frozen=True, eq=False)
class Number:
    """A number, a date or an ordinal: its distance from the mean, and a second coordinate where values are missing.

    A missing value sits at the mean, at the distance ``gap`` from all present ones.
    """

    column: Column
    mean: float
    spread: float
    gap: float

    @classmethod
    def of(cls, column: Column, array: Array, scale: Scale) -> Number:
        """Measured on a column."""
        missing = column.is_missing(array)
        present = array[~missing].astype(np.float64)
        spread = float(present.std()) if len(present) and scale is Scale.STANDARD else 1.0
        mean = float(present.mean()) if len(present) else 0.0
        return cls(column, mean, spread, float(np.sqrt(unlike(missing.astype(np.int64)))) if missing.any() else 0.0)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return 2 if self.gap > 0 else 1

    def points(self, array: Array) -> Floats:
        """Values to coordinates."""
        missing = self.column.is_missing(array)
        centred = np.where(missing, 0.0, array.astype(np.float64) - self.mean)
        # A constant column says nothing; what a later row differs by has no unit.
        place = centred / self.spread if self.spread > 0 else np.zeros(len(array))
        return np.column_stack([place, self.gap * missing]) if self.gap > 0 else place[:, None]

    def values(self, points: Floats) -> Array:
        """Coordinates to values, on the grid and inside the domain."""
        values = points[:, 0] * self.spread + self.mean
        gone = points[:, 1] > self.gap / 2 if self.gap > 0 else np.zeros(len(points), bool)
        if self.column.coded:
            codes = np.clip(np.round(values), 0, len(self.column.levels) - 1)
            return np.where(gone, -1, codes).astype(np.int32)
        return self.column.from_floats(np.where(gone, np.nan, values))


@dataclass(frozen=True, eq=False)
class Category:
    """A category: an axis for each level that was seen (missing is one), and one for all others, so that any two differ alike."""

    column: Column
    seen: Integers
    side: float

    @classmethod
    def of(cls, column: Column, array: Array, scale: Scale) -> Category:
        """Measured on a column."""
        seen, codes = np.unique(array, return_inverse=True)
        return cls(column, seen.astype(np.int64), float(np.sqrt(unlike(codes) / 2)))

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.seen) + 1

    def points(self, array: Array) -> Floats:
        """Levels to coordinates."""
        place = np.searchsorted(self.seen, array)
        known = self.seen[np.minimum(place, len(self.seen) - 1)] == array
        points = np.zeros((len(array), self.width))
        points[np.arange(len(array)), np.where(known, place, len(self.seen))] = self.side
        return points

    def values(self, points: Floats) -> Array:
        """The level whose axis is longest."""
        return np.asarray(self.seen[points[:, : len(self.seen)].argmax(axis=1)], np.int32)


@dataclass(frozen=True, eq=False)
class Ambient:
    """The space that a table's columns span: what microaggregation calls near is near in it.

    With ``Scale.STANDARD`` two random records differ by 2, squared, in each column on average; with ``Scale.NONE`` numbers
    stay in their own unit, for columns that share one.
    """

    axes: tuple[Number | Category, ...]

    @classmethod
    def of(cls, table: Table, columns: tuple[str, ...], scale: Scale) -> Ambient:
        """Measured on the rows of a table."""
        axes: list[Number | Category] = []
        for name in columns:
            column = table.schema[name]
            axes.append((Category if column.kind is Kind.CATEGORY else Number).of(column, table[name], scale))
        width = sum(axis.width for axis in axes)
        if width * table.rows > LIMIT:
            widest = max(axes, key=lambda axis: axis.width)
            reason = f"has {widest.width} axes: {table.rows:,} rows in {width:,} axes are more than fit in memory. Leave it out"
            raise InputError(reason, where=f"column {widest.column.name}")
        return cls(tuple(axes))

    def points(self, table: Table) -> Floats:
        """The rows as points, one below the other."""
        return np.hstack([axis.points(table[axis.column.name]) for axis in self.axes])

    def values(self, points: Floats) -> dict[str, Array]:
        """The columns at these points: on the grid, inside the domain, the level whose axis is longest."""
        ends = np.cumsum([axis.width for axis in self.axes])
        parts = np.split(points, ends[:-1], axis=1)
        return {axis.column.name: axis.values(part) for axis, part in zip(self.axes, parts, strict=True)}


def digests(points: Floats) -> list[bytes]:
    """A name for each point, the same for the same coordinates."""
    # Adding zero turns minus zero into zero, which is the same place.
    return [blake2b(row, digest_size=16).digest() for row in np.ascontiguousarray(points + 0.0)]


def distinct(names: list[bytes]) -> tuple[Integers, Integers]:
    """The first row of each distinct point, and for each row the number of its point."""
    known: dict[bytes, int] = {}
    point_of = np.array([known.setdefault(name, len(known)) for name in names], np.int64)
    return np.unique(point_of, return_index=True)[1].astype(np.int64), point_of


def unlike(codes: NDArray[np.integer]) -> float:
    """The squared distance of two unlike codes that makes two random ones differ by 2 on average."""
    shares = np.bincount(codes) / len(codes)
    apart = float(1 - (shares**2).sum())
    return 2 / apart if apart > 0 else 0.0
