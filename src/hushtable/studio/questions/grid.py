"""The columns as the grid shows them: what the schema says of each, and examples without a value."""

from __future__ import annotations

from typing import Any

from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.columns import Bounds, Column, Levels
from hushtable.table.first_read import masked

EXAMPLES = 3
LOOKED_AT = 200


def grid(opened: Opened, *, watch: Watcher) -> dict[str, Any]:
    """One entry for each column of the schema, in order."""
    reasons = {} if opened.draft is None else {line.column.name: line for line in opened.draft.lines}
    table = opened.table
    first = table.take(slice(0, LOOKED_AT))
    columns = []
    for column in table.schema:
        line = reasons.get(column.name)
        shapes = dict.fromkeys(masked(value) for value in first.strings(column.name) if value is not None)
        columns.append(
            {
                "name": column.name,
                "kind": str(column.kind),
                "role": str(column.role),
                "domain": _domain(column),
                "observed": column.observed,
                "missing": [*column.missing, *table.schema.missing],
                "without": float(table.missing(column.name).mean()) if table.rows else 0.0,
                "examples": list(shapes)[:EXAMPLES],
                "kind_reason": "" if line is None else line.kind_reason,
                "role_reason": "" if line is None else line.role_reason,
            }
        )
    return {"rows": table.rows, "columns": columns, "notes": list(table.schema.notes)}


def _domain(column: Column) -> dict[str, Any]:
    """How large the domain is. What was read off the rows might be somebody's value, and is only counted."""
    if isinstance(column.base, Levels):
        return {"levels": len(column.base.levels)}
    if isinstance(column.base, Bounds):
        if column.observed:
            return {"range": None}
        return {"range": [column.write(column.base.low), column.write(column.base.high)]}
    return {}
