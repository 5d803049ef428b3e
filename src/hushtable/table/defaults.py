"""Fixed public defaults for what nobody declared: how a table is read by somebody who knows its header and none of its rows.

A drafter decides from all rows together, so one row more can make a column of numbers one of words, or add five decimals to every
value. Here each cell is read by itself: what becomes of it depends on its own text and on nobody else's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import GuaranteeRefused
from hushtable.table.arrays import Array
from hushtable.table.columns import DAY, FREE, MISSING_INTEGER, Column, Facet, Kind, Levels, Role
from hushtable.table.naming import held_back
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?:[ T].*)?", re.ASCII)
_ZONED = re.compile(r"\d{4}-\d{1,2}-\d{1,2}[ T]\d[\d:.]* ?(?:Z|[-+]\d{2}:?\d{2}(?::?\d{2})?)", re.ASCII)
_WEEK = re.compile(r"\d{4}-?W\d{2}(?:-?\d)?", re.ASCII)
_NAMED = re.compile(r"\d{1,2}[\s-]*[A-Za-z]{3,9}[\s-]*\d{2,4}|[A-Za-z]{3,9}\s+\d{1,2},\s+\d{4}", re.ASCII)
_NAMED_DAYS = ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d%b%Y", "%d-%b-%y")
MOST = 5_000_000
"""The most different texts of a column whose kind nobody declared."""
WORDS = (
    "where nobody declared more, fixed defaults: a column named like an identifier or a remark is left out, dates are read to the "
    "day, numbers have about four digits of their range, and an empty cell, '?', 'NA' and their like mean a missing value"
)


@overload
def with_defaults(rows: Table, key: str | None = None) -> Table: ...
@overload
def with_defaults(rows: Rows, key: str | None = None) -> Rows: ...
def with_defaults(rows: Rows, key: str | None = None) -> Rows:
    """The rows with every facet that was read off them, but for domains, put back to its default.

    A column of a kind that nobody declared becomes a category of texts, whose kind is learnt with a budget. ``key`` names the
    column that identifies persons, which is never released. The marks stay: they say what is still to be learnt.
    """
    if not rows.schema.undeclared and not rows.schema.drafted:
        return rows
    _refuse_lost_texts(rows.schema)
    if not isinstance(rows, Table) and any(column.kind in FREE and _wanted(column, key) for column in rows.schema):
        # Of free text and keys there are no codes on disk to put in the place of others.
        rows = rows.whole("a key or text that nobody declared")
    return rows.encoded(_Defaults.of(rows, key))


def _wanted(column: Column, key: str | None) -> bool:
    """Whether a column is needed once it has its default role."""
    return column.name == key or (Facet.KIND in column.drafted and not held_back(column.name))


@dataclass(frozen=True, eq=False)
class _Defaults:
    """What each cell becomes, from itself alone."""

    schema: Schema
    texts: Mapping[str, tuple[Array, NDArray[np.int32]]]
    """For a column whose kind was drafted: its different values, rising, and the code of the text of each."""

    @classmethod
    def of(cls, rows: Rows, key: str | None) -> Self:
        """For these rows: of a column whose kind was drafted, which texts there are."""
        columns, texts = list[Column](), dict[str, tuple[Array, NDArray[np.int32]]]()
        for column in rows.schema:
            role = column.role
            if Facet.ROLE in column.drafted:
                role = Role.IDENTIFIER if held_back(column.name) or column.name == key else Role.PLAIN
            if Facet.KIND in column.drafted and (column.kind not in FREE or isinstance(rows, Table)):
                levels, values, codes = _texts(rows, column.name)
                texts[column.name] = values, codes
                domain = Levels(levels, observed=True)
                columns.append(Column(name=column.name, kind=Kind.CATEGORY, role=role, domain=domain, drafted=column.drafted))
            elif column.drafted:
                columns.append(_plain(column, role))
        schema = rows.schema.with_columns(*columns)
        return cls(replace(schema, missing=() if schema.drafted else schema.missing, notes=()), texts)

    def apply(self, table: Table) -> Table:
        """Each cell by itself."""
        arrays = dict(table.arrays)
        for name, (values, codes) in self.texts.items():
            absent = table.missing(name)
            places = np.searchsorted(values, table[name]) if len(values) else np.zeros(table.rows, np.int64)
            held = codes[np.minimum(places, len(codes) - 1)] if len(codes) else np.full(table.rows, -1, np.int32)
            arrays[name] = np.where(absent, -1, held).astype(np.int32)
        for column in table.schema:
            if Facet.FORMAT in column.drafted and column.kind is Kind.DATE and column.name not in self.texts:
                array = arrays[column.name]
                arrays[column.name] = np.where(column.is_missing(array), MISSING_INTEGER, array // DAY * DAY)
        free = {name: words for name, words in table.texts.items() if self.schema[name].kind in FREE}
        return Table(self.schema, arrays, free, persons=table.persons)


def lost_texts(schema: Schema) -> tuple[str, ...]:
    """The columns whose cells cannot be read by themselves any more, so that no budget can learn them.

    A missing code or a number format that was read off the rows has changed what the cells of everybody mean, and the texts that
    they had are gone.
    """
    return tuple(
        column.name
        for column in schema
        if (Facet.MISSING in column.drafted and column.missing)
        or (column.drafted & {Facet.KIND, Facet.FORMAT} and column.format is not None and column.kind in (Kind.INTEGER, Kind.REAL))
    )


def _refuse_lost_texts(schema: Schema) -> None:
    if lost := lost_texts(schema):
        raise GuaranteeRefused(
            f"the missing codes or number formats of {', '.join(lost)} were read off the rows, and decide what every cell means: "
            "declare them ('hush schema SCHEMA --declare --only kind,missing,format'), or take them out of the schema"
        )


def _plain(column: Column, role: Role) -> Column:
    """The column without what was drafted of it."""
    drafted = column.drafted
    return replace(
        column, role=role,
        missing=() if Facet.MISSING in drafted else column.missing,
        required=column.required and Facet.REQUIRED not in drafted,
        hierarchy=None if Facet.HIERARCHY in drafted else column.hierarchy,
        decimals=None if Facet.DECIMALS in drafted else column.decimals,
        format=None if Facet.FORMAT in drafted else column.format,
        determined_by=None if Facet.DETERMINED in drafted else column.determined_by,
    )  # fmt: skip


def _texts(rows: Rows, name: str) -> tuple[tuple[str, ...], Array, NDArray[np.int32]]:
    """Each value of a column as its own text, whatever kind was drafted for it: all texts, the values, and the code of each."""
    table = rows.distinct([name], MOST).table
    there = ~table.missing(name)
    values, first = np.unique(table[name][there], return_index=True)
    plain = [plain_text(text) for text in table.strings(name)[there][first].tolist()]
    levels, codes = np.unique(plain, return_inverse=True) if plain else (np.empty(0, str), np.empty(0, np.int64))
    return tuple(levels.tolist()) or ("missing",), values, codes.astype(np.int32)


def plain_text(text: str) -> str:
    """A number by its value, a day (in UTC, if it knows its zone) without its time and in full digits, anything else as it is.

    The same for a cell that was read as a number or a date and for one that was read as a word.
    """
    text = text.strip()
    if NUMBER.fullmatch(text) and math.isfinite(value := float(text)):
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if _ZONED.fullmatch(text) and (moment := _moment(text)) is not None:
        return moment.astimezone(UTC).date().isoformat()
    if _WEEK.fullmatch(text) and (moment := _moment(text)) is not None:
        return moment.date().isoformat()
    if _NAMED.fullmatch(text):
        return _named_day(text)
    if match := DATE.fullmatch(text):
        first, between, second, third = match.groups()
        return between.join(part.zfill(2) for part in (first, second, third))
    return text


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace(" ", "T", 1).replace(" ", ""))
    except ValueError:
        return None


def _named_day(text: str) -> str:
    """A day with the name of its month, as every column of such days writes it."""
    for form in _NAMED_DAYS:
        try:
            day = datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return day.strftime(form.replace("%Y", f"{day.year:04d}"))
    return text
