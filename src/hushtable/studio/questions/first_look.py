"""The first look at a file: how it seems to be written, and its first rows masked, before all of it is read and after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.first_read import peek
from hushtable.table.layout import Layout

COLUMNS = 60
"""So many columns are shown; more would be read by nobody."""


def first_look(opened: Opened | None, *, watch: Watcher, path: str, layout: Mapping[str, Any]) -> dict[str, Any]:
    """What ``hush peek`` says of a file; ``needed`` is the layout to read it with: what was said, and what must be said besides."""
    given = Layout.of(**layout)
    found = peek(Path(path), given)
    plain = found.to_json()
    needed = {}
    if found.form != "parquet":
        seen = found.layout
        # What the reader finds by itself is not said: the commands that repeat it stay short.
        encoding = "" if seen.encoding in ("utf-8", "utf-16") and not given.encoding else seen.encoding
        needed = {**given.to_json(), "encoding": encoding, "index": seen.index}
    shown = slice(0, COLUMNS)
    return plain | {
        "names": plain["names"][shown],
        "rows": [row[shown] for row in plain["rows"]],
        "more": max(0, len(plain["names"]) - COLUMNS),
        "needed": needed,
    }
