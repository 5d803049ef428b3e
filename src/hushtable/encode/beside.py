"""Columns that a coder writes as several, the further ones beside the first, and takes together again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hushtable.errors import PlanError
from hushtable.table.arrays import Array
from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table


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
