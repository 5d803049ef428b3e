"""Records encoded in whole numbers: a coordinate for each level of a category, first and second moments of a number.

A function of the record and of the declared domains alone. What is bounded here is what one record can change of any sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np

from hushtable.errors import PlanError
from hushtable.numerics.integers import GRID, Axes, writable
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

STEPS = 1 << 10
"""One, in steps of the grid: finer would only slow the noise down. It is even."""
COUNTED = 64
"""The most values of a whole number that are counted one by one."""
CUTS = 32
"""Ranges into which the domain of any other number is cut where a query needs cells."""


@dataclass(frozen=True)
class Field:
    """How one column is encoded.

    *Counted* (categories, ordinals, whole numbers of few values): one coordinate for each cell of its histogram, STEPS where it
    is the record's own. Any other number: u in [-STEPS, STEPS], twice its place in the domain less one; v = floor(u^2/STEPS) -
    STEPS/2 in [-STEPS/2, STEPS/2]; and, unless it is required, STEPS where it is missing (u = v = 0 then).
    """

    column: Column

    @cached_property
    def counted(self) -> bool:
        """Whether its values are counted one by one."""
        if self.column.kind is Kind.INTEGER and self.column.numeric:
            return self.column.bounds.high - self.column.bounds.low < COUNTED
        return self.column.coded

    @cached_property
    def cells(self) -> int:
        """How many codes there are, one of them for missing unless it is required."""
        if self.counted:
            return histogram_sizes(Schema((self.column,)), (self.column.name,))[0]
        return CUTS + (not self.column.required)

    @property
    def ordered(self) -> bool:
        """Whether its codes, missing aside, have an order."""
        return self.column.kind is not Kind.CATEGORY

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return self.cells if self.counted else 2 + (not self.column.required)

    @property
    def longest(self) -> tuple[float, float]:
        """The length of one record's part: L1, and L2 squared, in units of STEPS. A number: |u| + |v| and u^2 + v^2 at most."""
        return (1.0, 1.0) if self.counted else (1.5, 1.25)

    @property
    def farthest(self) -> tuple[float, float]:
        """How far two records can be apart, likewise. A number: 2 in u and 1 in v at most; a missing one is nearer."""
        if self.counted:
            return (2.0, 2.0) if self.cells > 1 else (0.0, 0.0)
        return (3.0, 5.0)

    def codes(self, table: Table) -> Integers:
        """The cell of each value, missing last."""
        if self.counted:
            return table.cells(self.column.name)
        array = table[self.column.name]
        place = np.minimum(Axes(self.column).places(array) * CUTS // GRID, CUTS - 1)
        return np.where(self.column.is_missing(array), CUTS, place)

    def encode(self, table: Table) -> Integers:
        """Records by coordinates."""
        if self.counted:
            return np.asarray((self.codes(table)[:, None] == np.arange(self.cells)) * STEPS, dtype=np.int64)
        array = table[self.column.name]
        gone = self.column.is_missing(array)
        u = np.where(gone, 0, Axes(self.column).places(array) * (2 * STEPS) // GRID - STEPS)
        v = np.where(gone, 0, u * u // STEPS - STEPS // 2)
        return np.stack([u, v] if self.column.required else [u, v, gone * np.int64(STEPS)], axis=1)

    def values(self, shares: Floats, gone: Mask) -> Array:
        """The numbers at these places (0 to 1) of the domain (not for counted columns)."""
        return Axes(self.column).value(shares, gone)


@dataclass(frozen=True)
class IntegerEncoding:
    """A record as whole numbers: its class, and the coordinates of the other columns one after another."""

    schema: Schema
    target: str
    """The class column; empty if there is none."""
    fields: tuple[Field, ...]
    """The columns other than the class."""

    @classmethod
    def of(cls, schema: Schema, target: str, step: str, *, classed: bool = True) -> Self:
        """The class is the column named, or the first one with the role target whose values can be counted, or nothing."""
        if target and target not in schema:
            raise PlanError(f"{step}: there is no column {target!r} to be the class; the table has {', '.join(schema.names)}")
        odd = [c.name for c in schema if not writable(c)]
        if odd:
            raise PlanError(f"{step}: {', '.join(odd)} has no declared bounds or levels; declare them, or leave the column out")
        if target and not Field(schema[target]).counted:
            raise PlanError(f"{step}: the class {target!r} has too many values to be counted; cut it with a 'bins' step first")
        if not target and classed:
            target = next((n for n in schema.role(Role.TARGET) if Field(schema[n]).counted), "")
        if len(schema) == 1:
            target = ""
        return cls(schema, target, tuple(Field(c) for c in schema if c.name != target))

    @property
    def classes(self) -> int:
        """The number of classes, missing among them unless the class is required."""
        return Field(self.schema[self.target]).cells if self.target else 1

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return sum(f.width for f in self.fields)

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """The coordinates of each field."""
        return _spans([f.width for f in self.fields])

    @cached_property
    def code_spans(self) -> tuple[slice, ...]:
        """The codes of each field, when all codes stand in one row."""
        return _spans([f.cells for f in self.fields])

    @property
    def longest(self) -> tuple[int, int]:
        """L1, and L2 squared, of a record's coordinates at most, in whole steps."""
        return self._bound([f.longest for f in self.fields])

    @property
    def farthest(self) -> tuple[int, int]:
        """L1, and L2 squared, of the difference of two records at most, in whole steps."""
        return self._bound([f.farthest for f in self.fields])

    def labels(self, table: Table) -> Integers:
        """The class of each record."""
        return table.cells(self.target) if self.target else np.zeros(table.rows, np.int64)

    def codes(self, table: Table) -> Integers:
        """Records by fields, each as its place in the row of all codes."""
        starts = [span.start for span in self.code_spans]
        return np.stack([f.codes(table) + start for f, start in zip(self.fields, starts, strict=True)], axis=1)

    def coordinates(self, table: Table) -> Integers:
        """Records by coordinates."""
        return np.concatenate([f.encode(table) for f in self.fields], axis=1)

    def _bound(self, parts: list[tuple[float, float]]) -> tuple[int, int]:
        return math.ceil(sum(p[0] for p in parts) * STEPS), math.ceil(sum(p[1] for p in parts) * STEPS**2)


def _spans(widths: list[int]) -> tuple[slice, ...]:
    ends = np.cumsum([0, *widths]).tolist()
    return tuple(slice(a, b) for a, b in pairwise(ends))
