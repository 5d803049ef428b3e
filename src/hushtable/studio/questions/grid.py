"""The columns as the grid shows them: what the schema says of each, and examples without a value."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.columns import CODED, FREE, Bounds, Column, Levels
from hushtable.table.first_read import masked
from hushtable.table.guess import Words
from hushtable.table.kinds import stand_ins
from hushtable.table.table import Table

EXAMPLES = 3
LOOKED_AT = 200


def grid(opened: Opened, *, watch: Watcher, names: list[str]) -> dict[str, Any]:
    """One entry for each of these columns."""
    table = opened.table
    first = table.take(slice(0, LOOKED_AT))
    marked = sum(column.observed for column in table.schema)
    codes = {"codes": list(table.schema.missing), "observed": table.schema.drafted}
    return {
        "rows": table.rows, "columns": [_entry(table, first, table.schema[name]) for name in names], "marked": marked,
        "missing": codes, "declared_by": table.schema.declared_by,
    }  # fmt: skip


def details(opened: Opened, *, watch: Watcher, column: str) -> dict[str, Any]:
    """One column with its domain as it was declared; what was read off the rows is counted and not shown."""
    table, own = opened.table, opened.table.schema[column]
    entry = _entry(table, table.take(slice(0, LOOKED_AT)), own)
    declared = not own.observed
    levels = list(own.base.levels) if declared and isinstance(own.base, Levels) else []
    numbers = own.kind not in CODED | FREE
    return entry | {"levels": levels, "coded": own.kind in CODED, "numbers": numbers, "own_missing": list(own.missing)}


def _entry(table: Table, first: Table, column: Column) -> dict[str, Any]:
    shapes = dict.fromkeys(masked(value) for value in first.strings(column.name) if value is not None)
    return {
        "name": column.name,
        "kind": str(column.kind),
        "role": str(column.role),
        "domain": _domain(column),
        "observed": column.observed,
        "undeclared": bool(column.undeclared),
        "missing": list(column.missing),
        "without": float(table.missing(column.name).mean()) if table.rows else 0.0,
        "examples": list(shapes)[:EXAMPLES],
        "offer": list(_offer(table, column)),
    }


def _offer(table: Table, column: Column) -> tuple[str, ...]:
    """The words of a category that would be numbers without them."""
    if column.kind not in CODED or column.generalized or not isinstance(column.base, Levels):
        return ()
    array = table[column.name]
    counts = np.bincount(array[array >= 0], minlength=len(column.levels))
    return stand_ins(Words(column.name, column.levels, counts, table.rows))


def _domain(column: Column) -> dict[str, Any]:
    """How large the domain is. What was read off the rows might be somebody's value, and is only counted."""
    if isinstance(column.base, Levels):
        return {"levels": len(column.base.levels)}
    if isinstance(column.base, Bounds):
        if column.observed:
            return {"range": None}
        return {"range": [column.write(column.base.low), column.write(column.base.high)]}
    return {}
