"""Numbers and dates as the digits that they are written with, from the first to the last: categories of ten levels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from hushtable.encode.beside import beside, rewritten, without
from hushtable.pipeline.publish import DIGITS
from hushtable.pipeline.step import Arrays, Coder, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Floats
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SIGNS = ("-", "+")


@dataclass(frozen=True, kw_only=True)
class Digits(Coder):
    """Write a number as zero-padded digits on the grid of its column, and a date as those of its days (or seconds) since 1970.

    The first digit, or the sign where numbers may be negative, stands under the column's own name, the others under ``NAME:1``,
    ``NAME:2`` and so on (Solatorio and Dupriez 2023 write numbers so). It follows from the bounds of the columns alone: no row is
    read, and one row stays one row (stability 1). A missing value has no first digit. Digits that are read back to a number beyond
    the bounds give the nearest bound. Numbers without declared decimals are written with about six digits of their range.
    """

    digits: int = 10
    """The most digits of a number; longer ones are rounded to so many."""
    columns: tuple[str, ...] = ()
    """The columns to write so; when empty, every number and date."""

    def __post_init__(self) -> None:
        """Whole numbers of up to 15 digits are exact."""
        check_knobs(self, digits=(1 <= self.digits <= 15, "must be 1 to 15"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no numbers."""
        return Plan(schema=self._code(schema).schema, stability=1)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Written:
        """Nothing is learnt: ``rng`` is not used, and no row is read."""
        return self._code(vault.schema)

    def _code(self, schema: Schema) -> Written:
        columns = tuple(column.name for column in schema if column.numeric)
        if self.columns:
            columns = chosen(schema, self.columns, columns, "digits", "a number or a date", lambda column: column.numeric)
        return Written(schema, columns, self.digits)


@dataclass(frozen=True)
class Form:
    """How the numbers of a column are written."""

    column: Column
    step: float
    signed: bool
    digits: int
    first: int
    """The greatest first digit."""

    @classmethod
    def of(cls, column: Column, most: int) -> Self:
        """On the grid of the column, or a coarser one where it takes more than ``most`` digits."""
        low, high = float(column.bounds.low), float(column.bounds.high)
        # Whole numbers that no float holds are refused here, not after a model was trained.
        column.from_floats(np.array([low, high]))
        step = column.step
        if step is None:
            step = 10.0 ** (math.floor(math.log10(high - low)) - DIGITS + 1) if high > low else 10.0**-DIGITS
        # A little more, as 0.3 / 0.1 is less than 3.
        largest = max(abs(low), abs(high)) * (1 + 1e-12)
        while largest / step >= 10**most:
            step *= 10
        text = str(math.floor(largest / step))
        return cls(column, step, low < 0, len(text), int(text[0]))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Of the sign, if there is one, and of the digits."""
        column = self.column
        levels = [tuple(str(digit) for digit in range(self.first + 1)), *[tuple("0123456789")] * (self.digits - 1)]
        levels = [SIGNS, *levels] if self.signed else levels
        # Of a number that is to be predicted, the first digit is.
        role = Role.PLAIN if column.role is Role.TARGET else column.role
        first = rewritten(column, Kind.CATEGORY, Levels(levels[0], column.observed))
        further = (
            Column(
                name=f"{column.name}:{place}", kind=Kind.CATEGORY, role=role, domain=Levels(each, column.observed), required=True
            )
            for place, each in enumerate(levels[1:], 1)
        )
        return (first, *further)

    def write(self, values: Floats) -> dict[str, Array]:
        """The digits of each number; those of a missing one are 0, and the first is missing."""
        missing = np.isnan(values)
        whole = np.round(np.where(missing, 0.0, values) / self.step).astype(np.int64)
        rest = np.minimum(np.abs(whole), (self.first + 1) * 10 ** (self.digits - 1) - 1)
        places = [(rest // 10**power % 10).astype(np.int32) for power in reversed(range(self.digits))]
        if self.signed:
            places = [(whole >= 0).astype(np.int32), *places]
        places[0] = np.where(missing, -1, places[0]).astype(np.int32)
        return {column.name: codes for column, codes in zip(self.columns, places, strict=True)}

    def read(self, table: Table) -> Array:
        """The numbers of these digits; one that was not released counts as 0."""
        first = table[self.column.name]
        whole = np.zeros(table.rows, np.int64)
        for column in self.columns[1:] if self.signed else self.columns:
            whole = whole * 10 + (table[column.name].clip(0) if column.name in table.schema else 0)
        if self.signed:
            whole = np.where(first == 0, -whole, whole)
        return self.column.from_floats(np.where(first < 0, np.nan, whole * self.step))


@dataclass(frozen=True, eq=False)
class Written:
    """The coder: which columns are written with digits."""

    original: Schema
    columns: tuple[str, ...]
    most: int
    stability: int = 1

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """Of each of these columns."""
        return tuple(Form.of(self.original[name], self.most) for name in self.columns)

    @cached_property
    def schema(self) -> Schema:
        """With the digits in place of these columns."""
        return beside(self.original, {form.column.name: form.columns for form in self.forms}, "digits")

    @property
    def further(self) -> dict[str, tuple[str, ...]]:
        """The columns of each one's further digits: a number is fixed where all of its digits are."""
        return {form.column.name: tuple(column.name for column in form.columns[1:]) for form in self.forms}

    def apply(self, table: Table) -> Table:
        """Numbers to digits."""
        arrays = dict(table.arrays)
        for form in self.forms:
            arrays |= form.write(table.floats(form.column.name))
        return Table(self.schema, {name: arrays[name] for name in self.schema.names}, table.texts, persons=table.persons)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """Digits to numbers, on the column's grid and inside its bounds; ``rng`` is not used."""
        there = [form for form in self.forms if form.column.name in table.schema]
        extra = [column.name for form in self.forms for column in form.columns[1:]]
        return without(table, extra, [(form.column, form.read(table)) for form in there])

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The original columns, and which are written so."""
        return {"schema": self.original.portable().dump(), "columns": list(self.columns), "digits": self.most}, {}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        return cls(Schema.parse(values["schema"]), tuple(values["columns"]), values["digits"])
