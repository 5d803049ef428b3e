"""Look at the start of a file before it is read: how it is written, and whether its first line is a person's."""

from __future__ import annotations

from pathlib import Path

from hushtable.table import first_read
from hushtable.table.first_read import FirstRead
from hushtable.table.layout import Layout


def peek(path: str | Path, layout: Layout | None = None) -> FirstRead:
    """The first read of a file: its layout, the names of its columns, and a few rows masked (``Aaaa 99``).

    What ``layout`` says is taken for granted, and the rest is guessed from the first lines; ``read`` and ``draft`` take the layout
    that was found, or a corrected one.
    """
    return first_read.peek(path, layout)
