"""The encoding of ClustMix: records as vectors in the unit cube, by their declared domains, and rows from (noisy) vectors.

No proof fails here: it is a function of the record and of the declared domains. The certified twin, ``clustmix-certified``, has
``mixture.integer_encoding`` in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np

from hushtable.errors import PlanError
from hushtable.numerics.integers import GRID, Axes, axes_of
from hushtable.numerics.simplex import on_simplex
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


class Draw(StrEnum):
    """How the level of a category, or a missing value, comes out of a vector."""

    SHARES = "shares"
    """Drawn: the coordinates of a category are taken for the shares of its levels."""
    MODE = "mode"
    """The level whose coordinate is the largest."""


class Layout(StrEnum):
    """How a category becomes coordinates."""

    ONEHOT = "onehot"
    """One coordinate for each level (one alone where there are only two)."""
    CODES = "codes"
    """One coordinate: the number of the level, as if levels had an order."""


@dataclass(frozen=True)
class Encoding:
    """A record as a vector in [0, 1]^D and a class. A function of the record and of the declared domains alone.

    Numbers, dates and ordinals are their place in the domain, beside a coordinate that says whether they are missing unless
    the column is required; categories are as the layout says, missing being one more level. The class column is kept apart:
    its code, missing last; without one there is a single class.
    """

    schema: Schema
    target: str
    layout: Layout
    axes: tuple[Axes, ...]
    """Of the columns other than the class."""

    @classmethod
    def of(cls, schema: Schema, target: str = "", layout: Layout = Layout.ONEHOT, step: str = "mixture") -> Self:
        """For a schema; the class is the column named, or the first category with the role target, or nothing."""
        if target and target not in schema:
            raise PlanError(f"{step}: there is no column {target!r} to be the class; the table has {', '.join(schema.names)}")
        if target and not _class_like(schema, target):
            raise PlanError(
                f"{step}: the class {target!r} is not a category or an ordinal; put the step bins before, or name another"
            )
        target = target or next((name for name in schema.role(Role.TARGET) if _class_like(schema, name)), "")
        names = [name for name in schema.names if name != target]
        if not names:
            raise PlanError(f"{step}: there is no column beside the class {target!r}")
        return cls(schema, target, layout, axes_of(schema, names))

    @property
    def classes(self) -> int:
        """How many classes there can be, missing among them unless the class is required."""
        if not self.target:
            return 1
        column = self.schema[self.target]
        return len(column.levels) + (not column.required)

    @property
    def dimension(self) -> int:
        """D."""
        return sum(self.width(axis) for axis in self.axes)

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """The coordinates of each column other than the class."""
        ends = np.cumsum([0, *(self.width(axis) for axis in self.axes)])
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))

    def width(self, axis: Axes) -> int:
        """How many coordinates a column has."""
        return 1 if self.coded(axis) else axis.width

    def coded(self, axis: Axes) -> bool:
        """Whether the column is a category written as one number."""
        return self.layout is Layout.CODES and not axis.ordered

    def vectors(self, table: Table) -> tuple[Floats, Integers]:
        """Records by coordinates, and their classes."""
        parts = [self._encode(axis, table[axis.column.name]) for axis in self.axes]
        return np.concatenate(parts, axis=1), self.labels(table)

    def labels(self, table: Table) -> Integers:
        """The class of each record."""
        if not self.target:
            return np.zeros(table.rows, np.int64)
        codes = table[self.target]
        return np.where(codes < 0, len(self.schema[self.target].levels), codes).astype(np.int64)

    def table(self, vectors: Floats, labels: Integers, rng: np.random.Generator, draw: Draw = Draw.SHARES) -> Table:
        """Rows: numbers clipped into their domain, levels and missing values as ``draw`` says."""
        arrays: dict[str, Array] = {
            axis.column.name: self._decode(axis, vectors[:, span], rng, draw)
            for axis, span in zip(self.axes, self.spans, strict=True)
        }
        if self.target:
            column = self.schema[self.target]
            arrays[self.target] = np.where(labels == len(column.levels), -1, labels).astype(column.dtype)
        return Table(self.schema, {name: arrays[name] for name in self.schema.names})

    def shares(self, axis: Axes, part: Floats) -> Floats:
        """For coordinates of a one-hot category: the shares of its options that lie nearest, none negative, adding to one."""
        if axis.width < axis.options:
            part = np.concatenate([part, 1 - part.sum(axis=1, keepdims=True)], axis=1)
        return on_simplex(part)

    def _encode(self, axis: Axes, array: Array) -> Floats:
        if self.coded(axis):
            return (axis.codes(array) / max(axis.options - 1, 1))[:, None].astype(np.float64)
        return axis.encode(array) / GRID

    def _decode(self, axis: Axes, part: Floats, rng: np.random.Generator, draw: Draw) -> Array:
        if self.coded(axis):
            level = np.clip(np.round(part[:, 0] * max(axis.options - 1, 1)), 0, axis.options - 1).astype(np.int64)
        elif draw is Draw.MODE:
            return axis.decode(part)
        elif axis.ordered:
            absent = np.zeros(len(part)) if axis.column.required else np.clip(part[:, 1], 0.0, 1.0)
            gone = rng.random(len(part)) < absent
            return axis.value(np.clip((part[:, 0] - absent / 2) / np.maximum(1 - absent, 1e-9), 0.0, 1.0), gone)
        else:
            heights = np.cumsum(self.shares(axis, part), axis=1)
            level = np.minimum((rng.random(len(part))[:, None] * heights[:, -1:] >= heights).sum(axis=1), axis.options - 1)
        return np.where(level == len(axis.column.levels), -1, level).astype(np.int32)


def _class_like(schema: Schema, name: str) -> bool:
    return schema[name].coded and not schema[name].generalized
