"""Long lists of levels in files of their own beside a schema: a line for each level, under the heading ``level``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

from hushtable.errors import InputError
from hushtable.table.columns import Column, Levels
from hushtable.table.disk import beside, read_text

INLINE = 50
"""The most levels that a schema file holds in the line of their column."""
HEADING = "level"


def read_levels(path: str, folder: Path | None) -> list[str]:
    """The levels of a file, from its first column; further columns, such as labels, are for people to read."""
    text = read_text(beside(folder, path, f"levels {path}"), f"levels {path}")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    levels = [row[0].strip() for row in rows if row]
    levels = levels[1:] if levels[:1] == [HEADING] else levels
    if not levels or not all(levels):
        raise InputError("expected a level in every line" if levels else "holds no levels", where=f"levels {path}")
    return levels


def levels_text(levels: Iterable[str]) -> str:
    """The content of a file of levels."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[HEADING], *([level] for level in levels)])
    return text.getvalue()


def long_levels(columns: Iterable[Column]) -> dict[str, tuple[int, tuple[str, ...]]]:
    """The columns with more levels than a line holds: their place in the schema, and the levels."""
    return {
        column.name: (place, column.base.levels)
        for place, column in enumerate(columns)
        if isinstance(column.base, Levels) and len(column.base.levels) > INLINE
    }


def file_names(names: Iterable[str]) -> dict[str, str]:
    """A file name for each column, made of its letters and digits, no two alike."""
    files: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w-]+", "_", name)[:60] or "column"
        number, stem = 1, plain
        while stem.lower() in taken:
            number += 1
            stem = f"{plain}_{number}"
        taken.add(stem.lower())
        files[name] = f"{stem}.csv"
    return files
