"""The kind of a column that nobody declared: noisy counts of the shapes of its texts, and a public rule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from hushtable.privacy.query import Ladder
from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import EXACT, MISSING_INTEGER, Bounds, Column, Kind
from hushtable.table.defaults import DATE, NUMBER
from hushtable.table.naming import CODE, matches
from hushtable.table.schema import Schema
from hushtable.table.table import Table

FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y")
_SLASHES = FORMATS.index("%d/%m/%Y"), FORMATS.index("%m/%d/%Y")
EVER = (-62_135_596_800, 253_402_300_799)
"""The first and the last second that a date can be."""
OTHER, WHOLE, NUMBERS = range(3)
_DATES = 3
"""The shape of a date in the first format; those of the others follow, and then that of a date in either form with slashes."""
SHAPES = _DATES + len(FORMATS) + 1
MOST = 0.9
"""The share of the values that must have the shape of numbers, or of dates, for the column to hold them."""
FRACTIONS = 0.01
"""The share of numbers with a fraction from which on they are not whole numbers."""
DROWNED = 20
"""Standard deviations of the noise that the values of a column must outnumber."""


@dataclass(frozen=True)
class Shapes:
    """How many values of a column of texts have each shape, and how many are missing. No domain takes part."""

    additive: ClassVar[bool] = True
    column: str
    columns: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The one column, whose domain takes no part."""
        return (self.column,)

    def answer(self, table: Table) -> Integers:
        """One count for each shape, missing last."""
        shapes = np.array([*(shape(text) for text in table.schema[self.column].levels), SHAPES])
        return np.bincount(shapes[table[self.column].astype(np.int64)], minlength=SHAPES + 1)

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A record has one shape, as it lies in one range of a ladder."""
        return Ladder(self.column, ()).sensitivity(schema, relation)


def shape(text: str) -> int:
    """The shape of one text, a function of it alone: whole number, number, date of some format, or other."""
    if NUMBER.fullmatch(text):
        value = float(text)
        if not abs(value) < 2**53:
            return OTHER
        return WHOLE if value.is_integer() else NUMBERS
    read = [place for place, form in enumerate(FORMATS) if _day(text, form) is not None]
    if len(read) == 2:
        return SHAPES - 1
    return _DATES + read[0] if read else OTHER


def voted(name: str, counts: Floats, deviation: float) -> tuple[Kind, str | None] | None:
    """The kind, and the format of a date, that noisy counts of shapes speak for; None where the noise drowns them."""
    seen = counts[:SHAPES]
    present = float(seen.sum())
    if present < DROWNED * deviation:
        return None
    dates = seen[_DATES:-1].copy()
    dates[list(_SLASHES)] += seen[-1]
    if seen[WHOLE] + seen[NUMBERS] > MOST * present and not matches(name, CODE):
        return (Kind.REAL if seen[NUMBERS] > max(FRACTIONS * present, 4 * deviation) else Kind.INTEGER), None
    if seen[_DATES:].sum() > MOST * present:
        return Kind.DATE, FORMATS[int(dates.argmax())]
    return Kind.CATEGORY, None


@dataclass(frozen=True, eq=False)
class Kinds:
    """Columns of texts read as the kinds that were learnt."""

    before: Schema = field(default_factory=lambda: Schema(()))
    learnt: dict[str, tuple[Kind, str | None]] = field(default_factory=dict)
    """The kind of each, and the format of its dates."""
    stability: int = 1

    @cached_property
    def schema(self) -> Schema:
        """With ranges so wide that every value lies inside, whatever the rows hold."""
        return self.before.with_columns(*(_cast(self.before[name], kind) for name, (kind, _) in self.learnt.items()))

    def apply(self, table: Table) -> Table:
        """Each text by itself; one that is no value of its column's kind becomes missing."""
        return table.with_columns(*(_recast(table.schema[n], table[n], *kind) for n, kind in self.learnt.items()))


def _cast(column: Column, kind: Kind) -> Column:
    """The column of texts as one of this kind."""
    if kind is Kind.CATEGORY:
        return column
    widest = EVER if kind is Kind.DATE else (-EXACT, EXACT)
    return replace(column, kind=kind, domain=Bounds(*widest, observed=True))


def _recast(column: Column, array: Array, kind: Kind, form: str | None) -> tuple[Column, Array]:
    if kind is Kind.CATEGORY:
        return column, array
    values = np.array([*(_value(text, kind, form) for text in column.levels), np.nan])[array.astype(np.int64)]
    if kind is not Kind.REAL:
        values = np.where(np.isnan(values), MISSING_INTEGER, values).astype(np.int64)
    return _cast(column, kind), values


def decimals_for(bounds: Bounds) -> int:
    """About four digits of the range."""
    span = bounds.high - bounds.low
    return int(np.clip(3 - np.floor(np.log10(span)), 0, 6)) if span > 0 else 0


def _value(text: str, kind: Kind, form: str | None) -> float:
    if kind is Kind.DATE:
        day = _day(text, form or FORMATS[0])
        return np.nan if day is None else day
    if shape(text) not in (WHOLE, NUMBERS):
        return np.nan
    return float(text) if kind is Kind.REAL else float(np.round(float(text)))


def _day(text: str, form: str) -> float | None:
    if not DATE.fullmatch(text):
        return None
    try:
        return Column(name="", kind=Kind.DATE, format=form).number(text)
    except ValueError:
        return None
