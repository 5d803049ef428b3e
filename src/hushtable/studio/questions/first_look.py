"""The first rows, masked, and how the file was taken to be written: enough to see whether it was read rightly."""

from __future__ import annotations

from typing import Any

from hushtable.studio.questions.masking import masked
from hushtable.studio.questions.room import Opened, Watcher

ROWS = 10
COLUMNS = 60
"""So many columns are shown; more would be read by nobody."""


def first_look(opened: Opened, *, watch: Watcher) -> dict[str, Any]:
    """Ten masked rows: letters as A and a, digits as 9, everything else as it is."""
    table = opened.table.take(slice(0, ROWS))
    names = table.schema.names[:COLUMNS]
    columns = [[None if v is None else masked(v) for v in table.strings(name)] for name in names]
    return {
        "names": list(names),
        "more": len(table.schema) - len(names),
        "rows": [list(row) for row in zip(*columns, strict=True)],
        "layout": opened.layout.to_json(),
    }
