"""A table cut into the fields of an autoregressive network: in which order, and into which cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hushtable.encode.coarse import Nested
from hushtable.synthesize.neural.cellwise import fields_of
from hushtable.table.arrays import Integers
from hushtable.table.columns import Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


class Cut(NamedTuple):
    """The columns of a table in the order in which they are drawn, and its rows in their fields."""

    schema: Schema
    """With the ends of cells as bounds, where bounds were read off the rows."""
    nested: list[Nested]
    codes: Integers
    """rows x fields"""
    counts: tuple[Integers, ...]
    """Rows by cell of each field; for a part of a column, rows by cell of the field before it and cell."""
    ordered: tuple[int, ...]
    """Fields whose cells lie in order, missing last."""

    @classmethod
    def of(cls, table: Table, first: Sequence[str], least: int, bins: int, parts: int) -> Cut:
        """Columns in at most ``bins`` cells, of at most ``parts`` parts each where they are numbers."""
        nested = [Nested.of(table.schema[name], table[name], least, bins, parts) for name in drawing_order(table.schema, first)]
        schema = table.schema.with_columns(*(cells.grid.hidden() for cells in nested))
        counts: list[Integers] = []
        ordered: list[int] = []
        for cells in nested:
            if cells.column.numeric or cells.column.kind is Kind.ORDINAL:
                ordered.append(len(counts))
            counts += [cells.masses.sum(axis=1), cells.masses][: cells.fields]
        own = [cells.under(schema[cells.column.name]) for cells in nested]
        return cls(schema, own, fields_of(nested, table), tuple(counts), tuple(ordered))


def drawing_order(schema: Schema, first: Sequence[str]) -> tuple[str, ...]:
    """These columns, then the target, secrets, and the others; what a coder wrote beside a column (``NAME:1``) follows it."""
    groups: dict[str, list[str]] = {}
    for name in schema.names:
        groups.setdefault(_owner(schema, name), []).append(name)
    roles = [name for role in (Role.TARGET, Role.SECRET) for name in groups if schema[name].role is role]
    leading = dict.fromkeys((*(_owner(schema, name) for name in first), *roles, *groups))
    return tuple(name for owner in leading for name in groups[owner])


def _owner(schema: Schema, name: str) -> str:
    """The column that this one was written beside, or itself."""
    while (before := name.rpartition(":")[0]) in schema:
        name = before
    return name
