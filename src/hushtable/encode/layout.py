"""A table as a network takes it: for each column a span of numbers, levels one by one and numbers scaled into [-1, 1].

A missing value is one more level. A number that may be missing has its value and two levels beside it, present and missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from hushtable.encode.modes import PLACE
from hushtable.errors import PlanError
from hushtable.table.arrays import Array, Floats, Integers, Mask, Singles
from hushtable.table.columns import FREE, Bounds, Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def require_drawable(schema: Schema, step: str) -> None:
    """PlanError for columns of free text, which no network here can draw."""
    if free := [column.name for column in schema if column.kind in FREE]:
        raise PlanError(f"{step}: {', '.join(free)} is text, which a network cannot draw")


@dataclass(frozen=True)
class Span:
    """The numbers that stand for one column: first its value, if it is a number, then its levels, if it has any."""

    column: Column
    start: int
    levels: int
    """A missing value is the last; 0 for a number that is never missing."""
    missing: bool
    """Whether there is a level for missing values."""
    low: float = 0.0
    high: float = 0.0

    @property
    def width(self) -> int:
        """How many there are."""
        return self.levels + self.column.numeric

    @property
    def end(self) -> int:
        """Where the next span starts."""
        return self.start + self.width

    @property
    def choice(self) -> slice:
        """Where its levels are; empty for a number that is never missing."""
        return slice(self.end - self.levels, self.end)


@dataclass(frozen=True, eq=False)
class Rows:
    """A table in a layout, before its levels are spread out: 500,000 rows of a thousand levels would not fit otherwise."""

    codes: Integers
    """rows x spans: the level, 0 where a span has none."""
    values: Singles
    """rows x numbers, in [-1, 1]; 0 where missing."""


@dataclass(frozen=True)
class Layout:
    """The spans of a schema, one after another."""

    schema: Schema
    spans: tuple[Span, ...]

    @classmethod
    def declared(cls, schema: Schema) -> Self:
        """By the schema alone: what a column may hold, whether or not a row holds it. Numbers without bounds are refused."""
        unbounded = [column.name for column in schema if column.numeric and not isinstance(column.domain, Bounds)]
        if unbounded:
            raise PlanError(f"numbers without declared bounds cannot be scaled: {', '.join(unbounded)}")
        return cls._of(schema, [_ends(column) for column in schema], [not column.required for column in schema])

    @classmethod
    def of(cls, table: Table) -> Self:
        """As the rows need it: no place for missing values where there are none, and bounds of the rows where none are declared."""
        ends = [_ends(column, table) for column in table.schema]
        return cls._of(table.schema, ends, [bool(table.missing(name).any()) for name in table.schema.names])

    @classmethod
    def _of(cls, schema: Schema, ends: Sequence[tuple[float, float]], missing: Sequence[bool]) -> Self:
        spans, start = [], 0
        for column, (low, high), gaps in zip(schema, ends, missing, strict=True):
            levels = 2 * gaps if column.numeric else len(column.levels) + gaps
            spans.append(Span(column, start, levels, gaps, low, high))
            start = spans[-1].end
        return cls(schema, tuple(spans))

    @property
    def width(self) -> int:
        """Numbers a row."""
        return self.spans[-1].end

    @cached_property
    def numbers(self) -> Integers:
        """Where the values of numbers are."""
        return np.array([span.start for span in self.spans if span.column.numeric], np.int64)

    def encode(self, table: Table) -> Rows:
        """The levels and values of the rows."""
        codes = np.zeros((table.rows, len(self.spans)), np.int64)
        values = []
        for place, span in enumerate(self.spans):
            array, missing = table[span.column.name], table.missing(span.column.name)
            if span.column.numeric:
                scaled = (span.column.floats(array) - span.low) / ((span.high - span.low) or 1.0) * 2 - 1
                values.append(np.where(missing, 0.0, scaled).astype(np.float32))
                codes[:, place] = missing if span.levels else 0
            else:
                codes[:, place] = np.where(missing, span.levels - 1, array)
        return Rows(codes, np.stack(values, axis=1) if values else np.zeros((table.rows, 0), np.float32))

    def decode(self, rows: Rows) -> Table:
        """The table of these levels and values; values beyond an end are put there."""
        arrays, number = {}, 0
        for place, span in enumerate(self.spans):
            codes = rows.codes[:, place]
            if span.column.numeric:
                value: Floats = rows.values[:, number].astype(np.float64)
                value = span.low + (np.clip(value, -1, 1) + 1) / 2 * (span.high - span.low)
                arrays[span.column.name] = span.column.from_floats(np.where(codes == 1, np.nan, value) if span.levels else value)
                number += 1
            else:
                missing = (codes == span.levels - 1) & span.missing
                arrays[span.column.name] = np.where(missing, -1, codes).astype(span.column.dtype)
        return Table(self.schema, arrays)

    def governing(self, place: int) -> int | None:
        """The span whose level decides whether a number may be other than 0: whether it is missing, or its mode."""
        if self.spans[place].levels:
            return place
        name, _, kind = self.spans[place].column.name.rpartition(":")
        return self.schema.names.index(name) if kind == PLACE and name in self.schema else None

    def varying(self, rows: Rows) -> dict[int, tuple[int, Mask]]:
        """For numbers that a level decides, the span of that level, and under which of its levels some row has another than 0."""
        found = {}
        for number, place in enumerate(place for place, span in enumerate(self.spans) if span.column.numeric):
            if (above := self.governing(place)) is not None:
                other = np.bincount(rows.codes[:, above], rows.values[:, number] != 0, minlength=self.spans[above].levels)
                found[number] = (above, other > 0)
        return found

    def row(self, fixed: Mapping[str, Array]) -> Rows:
        """One row that has these values; what it has in the other columns means nothing."""
        blank = Rows(np.zeros((1, len(self.spans)), np.int64), np.zeros((1, len(self.numbers)), np.float32))
        return self.encode(Table(self.schema, {**self.decode(blank).arrays, **fixed}))

    def parts(self) -> dict[str, Any]:
        """Plain values, from which ``from_parts`` rebuilds it."""
        ends, missing = [[span.low, span.high] for span in self.spans], [span.missing for span in self.spans]
        return {"schema": self.schema.portable().dump(), "ends": ends, "missing": missing}

    @classmethod
    def from_parts(cls, values: dict[str, Any]) -> Self:
        """Rebuild it."""
        return cls._of(Schema.parse(values["schema"]), values["ends"], values["missing"])


@dataclass(frozen=True, eq=False)
class Openings:
    """Where a number follows from a level: 0 if it is missing, and in a mode without width. There it is not learnt, nor drawn."""

    governed: dict[int, tuple[int, Singles]]
    """For some numbers the span whose level decides, and 1 for each level under which the number varies, else 0."""

    @classmethod
    def found(cls, layout: Layout, rows: Rows) -> Self:
        """Of a number that may be missing, its own span; of a place in a mode, that of the mode."""
        return cls({number: (above, varies.astype(np.float32)) for number, (above, varies) in layout.varying(rows).items()})

    def of(self, rows: Rows) -> Singles:
        """For each row, 1 where a number varies."""
        varies = np.ones_like(rows.values)
        for number, (above, levels) in self.governed.items():
            varies[:, number] = levels[rows.codes[:, above]]
        return varies

    def parts(self) -> dict[str, Any]:
        """Plain values, from which ``from_parts`` rebuilds it."""
        return {str(number): [above, levels.astype(int).tolist()] for number, (above, levels) in self.governed.items()}

    @classmethod
    def from_parts(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild it."""
        return cls({int(number): (int(above), np.array(levels, np.float32)) for number, (above, levels) in values.items()})


def _ends(column: Column, table: Table | None = None) -> tuple[float, float]:
    """The declared bounds of a number, or else those of the rows."""
    if isinstance(column.domain, Bounds):
        return float(column.domain.low), float(column.domain.high)
    if table is None or not column.numeric:
        return 0.0, 0.0
    values = table.floats(column.name)
    present = values[~np.isnan(values)]
    return (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
