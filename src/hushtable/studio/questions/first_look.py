"""How a file seems to be written, and its first rows masked: enough to see whether it was read rightly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushtable.studio.questions.room import LIVE, Opened, Watcher
from hushtable.table import first_read
from hushtable.table.layout import Layout

COLUMNS = 60
"""So many columns are shown; more would be read by nobody."""


def first_look(opened: Opened, *, watch: Watcher) -> dict[str, Any]:
    """Ten masked rows of the open table: letters as A and a, digits as 9."""
    names = list(opened.names)
    return _shown(first_read.peek(opened.path, opened.layout), names) | {"live": min(LIVE, opened.table.rows)}


def peek(opened: Opened | None, *, watch: Watcher, path: str, layout: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a file that is not open, and perhaps cannot be read; InputError where not even its start can."""
    return _shown(first_read.peek(Path(path), Layout.of(**layout)), None)


def _shown(found: first_read.FirstRead, names: list[str] | None) -> dict[str, Any]:
    """The names of the table itself where it was read: what looks like somebody's record is masked in them too."""
    plain = found.to_json()
    heads = plain["names"] if names is None or found.questioned else names
    rows = [[cell or None for cell in row[:COLUMNS]] for row in plain["rows"]]
    return plain | {"names": heads[:COLUMNS], "more": max(0, len(heads) - COLUMNS), "rows": rows}
