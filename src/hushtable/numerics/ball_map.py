"""The public map of a table into the Poincare ball, and back. It is fixed by the schema alone: no row is read.

A number, a date or an ordinal is stretched from its declared bounds to [-1, 1]; unless it is required it has a second
coordinate, 1 where it is missing (the first is then 0). A category is a corner of a regular simplex around zero, with
a corner for missing unless it is required. So every column has Euclidean norm at most 1; all are divided by the root of
their number and multiplied by ``radius`` < 1. A record lies within ``radius`` of the origin, which is the middle of
every domain, and within the geodesic distance 2 artanh(radius).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.errors import PlanError
from hushtable.table.arrays import Array, Floats, Mask
from hushtable.table.columns import EXACT, Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True)
class Block:
    """The coordinates of one column, each column's norm at most 1."""

    column: Column
    start: int

    @property
    def ordered(self) -> bool:
        """Whether it is a number on a line, not a corner of a simplex."""
        return self.column.numeric or (self.column.kind is Kind.ORDINAL and not self.column.generalized)

    @property
    def size(self) -> int:
        """How many coordinates."""
        present = 1 if self.ordered else len(self.column.levels)
        return present if self.column.required else present + 1

    @property
    def stop(self) -> int:
        """Where the next block starts."""
        return self.start + self.size

    def encode(self, array: Array) -> Floats:
        """One row of coordinates for each value; each is computed from its own value alone, by correctly rounded operations."""
        missing = self.column.is_missing(array)
        out = np.zeros((len(array), self.size))
        if self.ordered:
            out[:, 0] = np.where(missing, 0.0, self._stretched(array))
            if not self.column.required:
                out[:, 1] = missing
            return out
        out[np.arange(len(array)), np.where(missing, self.size - 1, array)] = 1.0
        return (out - 1 / self.size) * self.corner

    def shares(self, points: Floats) -> Floats:
        """For each point the weights of the levels (missing last), or of present and missing; they may be off the simplex."""
        if not self.ordered:
            return points / self.corner + 1 / self.size
        gone = points[:, 1] if self.size == 2 else np.zeros(len(points))
        return np.stack([1 - gone, gone], 1)

    def numbers(self, points: Floats, gone: Floats) -> Floats:
        """The number each point stands for, where ``gone`` is its share of missing values."""
        low, half = self._ends()
        middle = np.clip(points[:, 0] / np.maximum(1 - gone, 0.05), -1, 1)
        return low + half * (middle + 1)

    def array(self, numbers: Floats, missing: Mask) -> Array:
        """Numbers as the column's array: on its grid and inside its bounds."""
        if self.column.numeric:
            return self.column.from_floats(np.where(missing, np.nan, numbers))
        codes = np.clip(np.rint(numbers), 0, len(self.column.levels) - 1)
        return np.where(missing, -1, codes).astype(np.int32)

    def _stretched(self, array: Array) -> Floats:
        low, half = self._ends()
        values = array.astype(np.float64) / 2 - low / 2
        return np.clip(values / (half / 2) - 1, -1, 1) if half > 0 else np.zeros(len(array))

    def _ends(self) -> tuple[float, float]:
        """The lower bound and half the width, halved first: the width itself may be no float."""
        if not self.column.numeric:
            return 0.0, (len(self.column.levels) - 1) / 2
        bounds = self.column.bounds
        return float(bounds.low), float(bounds.high) / 2 - float(bounds.low) / 2

    @property
    def corner(self) -> float:
        """Stretches a centred unit vector to norm 1; one level alone lies at zero."""
        return math.sqrt(self.size / (self.size - 1)) if self.size > 1 else 1.0


@dataclass(frozen=True)
class BallMap:
    """The map for one schema."""

    schema: Schema
    radius: float = 0.5

    def __post_init__(self) -> None:
        """Refuse, by name, columns without a middle."""
        odd = [c.name for c in self.schema if not _has_place(c)]
        if odd or not len(self.schema):
            what = "a category, an ordinal, or a number or date with bounds within 2^53"
            raise PlanError(f"the ball has no place for {', '.join(odd) or 'a table without columns'}: it takes {what}")

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """One for each column, in order."""
        blocks: list[Block] = []
        for column in self.schema:
            blocks.append(Block(column, blocks[-1].stop if blocks else 0))
        return tuple(blocks)

    @property
    def dimension(self) -> int:
        """Of the ball."""
        return self.blocks[-1].stop

    @property
    def reach(self) -> float:
        """The geodesic distance from the origin that no record exceeds."""
        return 2 * math.atanh(self.radius)

    @property
    def unit(self) -> float:
        """The length in the ball of a step of 1 in one column's coordinates."""
        return self.radius / math.sqrt(len(self.blocks))

    def points(self, table: Table) -> Floats:
        """Each row as a point of the ball."""
        return self.unit * np.hstack([block.encode(table[block.column.name]) for block in self.blocks])

    def part(self, block: Block, points: Floats) -> Floats:
        """The coordinates of one column, in its own units."""
        return points[:, block.start : block.stop] / self.unit


def mappable(columns: Iterable[Column]) -> tuple[str, ...]:
    """The columns that the map can take."""
    return tuple(column.name for column in columns if _has_place(column))


def _has_place(column: Column) -> bool:
    if column.numeric:
        bounded = isinstance(column.domain, Bounds) and math.isfinite(column.domain.low) and math.isfinite(column.domain.high)
        return bounded and (column.kind is Kind.REAL or max(-column.bounds.low, column.bounds.high) <= EXACT)
    return column.coded and column.domain is not None and len(column.levels) > 0
