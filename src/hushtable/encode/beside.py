"""Columns that a coder writes in another form: as several, the further ones beside the first, and taken together again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hushtable.errors import PlanError
from hushtable.pipeline.step import chosen
from hushtable.table.arrays import Array
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def numbers(schema: Schema, columns: tuple[str, ...], step: str) -> tuple[str, ...]:
    """The columns that are named, or every number and date; PlanError for one that is neither."""
    every = tuple(column.name for column in schema if column.numeric)
    return chosen(schema, columns, every, step, "a number or a date", lambda column: column.numeric) if columns else every


def rewritten(column: Column, kind: Kind, domain: Levels | Bounds) -> Column:
    """The column in another form: what was declared of how its values are written no longer applies."""
    return replace(column, kind=kind, domain=domain, missing=(), hierarchy=None, decimals=None, format=None, determined_by=None)


def beside(schema: Schema, new: Mapping[str, Sequence[Column]], step: str) -> Schema:
    """The schema with each of these columns replaced by several; PlanError where one of their names is taken."""
    columns = [column for old in schema for column in new.get(old.name, (old,))]
    names = [column.name for column in columns]
    if taken := sorted({name for name in names if names.count(name) > 1}):
        raise PlanError(f"{step}: the table has a column {', '.join(taken)} already; give that column another name")
    return replace(schema, columns=tuple(columns))


def without(table: Table, extra: Iterable[str], back: Sequence[tuple[Column, Array]]) -> Table:
    """The table without the further columns, and with those that came back in the place of the first ones."""
    gone = set(extra)
    return table.with_columns(*back).select([name for name in table.schema.names if name not in gone])
