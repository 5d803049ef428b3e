"""Fixed public defaults for what nobody declared: how a table is read by somebody who knows its header and none of its rows.

A drafter decides from all rows together, so one row more can make a column of numbers one of words, or add five decimals to every
value. Here each cell is read by itself: what becomes of it depends on its own text and on nobody else's.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from hushtable.errors import GuaranteeRefused
from hushtable.table.arrays import Array
from hushtable.table.columns import DAY, FREE, MISSING_INTEGER, Column, Facet, Kind, Levels, Role
from hushtable.table.naming import held_back
from hushtable.table.table import Table

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?:[ T].*)?", re.ASCII)
_ZONED = re.compile(r"\d{4}-\d{1,2}-\d{1,2}[ T]\d[\d:.]* ?(?:Z|[-+]\d{2}:?\d{2}(?::?\d{2})?)", re.ASCII)
_WEEK = re.compile(r"\d{4}-?W\d{2}(?:-?\d)?", re.ASCII)
_NAMED = re.compile(r"\d{1,2}[\s-]*[A-Za-z]{3,9}[\s-]*\d{2,4}|[A-Za-z]{3,9}\s+\d{1,2},\s+\d{4}", re.ASCII)
_NAMED_DAYS = ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d%b%Y", "%d-%b-%y")
WORDS = (
    "where nobody declared more, fixed defaults: a column named like an identifier or a remark is left out, dates are read to the "
    "day, numbers have about four digits of their range, and an empty cell, '?', 'NA' and their like mean a missing value"
)


def with_defaults(table: Table, key: str | None = None) -> Table:
    """The table with every facet that was read off the rows, but for domains, put back to its default.

    A column of a kind that nobody declared becomes a category of texts, whose kind is learnt with a budget. ``key`` names the
    column that identifies persons, which is never released. The marks stay: they say what is still to be learnt.
    """
    if not table.schema.undeclared and not table.schema.drafted:
        return table
    _refuse_lost_texts(table)
    read = [_read(table, column, key) for column in table.schema if column.drafted]
    schema = table.schema.with_columns(*(column for column, _ in read))
    schema = replace(schema, missing=() if schema.drafted else schema.missing, notes=())
    texts = {name: words for name, words in table.texts.items() if schema[name].kind in FREE}
    arrays = {**table.arrays, **{column.name: array for column, array in read}}
    return Table(schema, arrays, texts, persons=table.persons)


def _refuse_lost_texts(table: Table) -> None:
    """Refuse columns whose cells cannot be read by themselves any more.

    A missing code or a number format that was read off the rows has changed what the cells of everybody mean, and the texts that
    they had are gone.
    """
    lost = [
        column.name
        for column in table.schema
        if (Facet.MISSING in column.drafted and column.missing)
        or (column.drafted & {Facet.KIND, Facet.FORMAT} and column.format is not None and column.kind in (Kind.INTEGER, Kind.REAL))
    ]
    if lost:
        raise GuaranteeRefused(
            f"the missing codes or number formats of {', '.join(lost)} were read off the rows, and decide what every cell means: "
            "declare them ('hush schema SCHEMA --declare --only kind,missing,format'), or take them out of the schema"
        )


def _read(table: Table, column: Column, key: str | None) -> tuple[Column, Array]:
    array, drafted = table[column.name], column.drafted
    role = column.role
    if Facet.ROLE in drafted:
        role = Role.IDENTIFIER if held_back(column.name) or column.name == key else Role.PLAIN
    if Facet.KIND in drafted:
        levels, codes = _texts(table, column)
        plain = Column(name=column.name, kind=Kind.CATEGORY, role=role, domain=Levels(levels, observed=True), drafted=drafted)
        return plain, codes
    if Facet.FORMAT in drafted and column.kind is Kind.DATE:
        array = np.where(column.is_missing(array), MISSING_INTEGER, array // DAY * DAY)
    return replace(
        column, role=role,
        missing=() if Facet.MISSING in drafted else column.missing,
        required=column.required and Facet.REQUIRED not in drafted,
        hierarchy=None if Facet.HIERARCHY in drafted else column.hierarchy,
        decimals=None if Facet.DECIMALS in drafted else column.decimals,
        format=None if Facet.FORMAT in drafted else column.format,
        determined_by=None if Facet.DETERMINED in drafted else column.determined_by,
    ), array  # fmt: skip


def _texts(table: Table, column: Column) -> tuple[tuple[str, ...], Array]:
    """Each cell as its own text, whatever the kind that was drafted for its column."""
    words = table.strings(column.name)
    absent = table.missing(column.name)
    distinct, codes = np.unique(np.where(absent, "", words).astype(str), return_inverse=True)
    plain, places = np.unique([plain_text(text) for text in distinct.tolist()], return_inverse=True)
    codes = np.where(absent, -1, places[codes]).astype(np.int32)
    used = np.unique(codes[codes >= 0])
    place = np.full(len(plain) + 1, -1, np.int32)
    place[used] = np.arange(len(used))
    return tuple(plain[used].tolist()) or ("missing",), place[codes]


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
