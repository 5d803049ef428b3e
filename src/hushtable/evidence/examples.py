"""Some released texts with the columns beside them, to be read by eye; none that a person wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.similarity import held
from hushtable.table.columns import CODED, Role
from hushtable.table.words import text_columns, words

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

SHOWN = 10
"""So many released rows."""
LETTERS = 300
"""So many letters of each text."""
BESIDE = 4
"""So many columns of levels beside it."""

Example = dict[str, str | None]
"""By column what a released row holds, levels before texts."""


def released_examples(case: Case) -> tuple[Example, ...]:
    """Released rows with a text, evenly over the release; a text that is one of training or control people is never among them."""
    columns = text_columns(case.release.schema)
    if not columns:
        return ()
    schema = case.release.schema
    private = {
        tuple(words(text))
        for table in (case.train, case.control)
        for column in text_columns(table.schema)
        for text in table.strings(column.name)
        if text is not None
    }
    texts = {column.name: case.release.strings(column.name) for column in columns}
    shown = np.zeros(case.release.rows, bool)
    for own in texts.values():
        shown |= held(own)
    for own in texts.values():
        shown &= np.array([text is None or not words(text) or tuple(words(text)) not in private for text in own])
    rows = np.flatnonzero(shown)
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, SHOWN).astype(int))] if len(rows) else rows
    levels = [column for column in schema if column.kind in CODED and column.role is not Role.IDENTIFIER]
    beside = sorted(levels, key=lambda column: column.role not in (Role.TARGET, Role.SECRET))[:BESIDE]
    picked = case.release.take(rows)
    written = {column.name: picked.strings(column.name) for column in (*beside, *columns)}
    return tuple({name: _cut(own[at]) for name, own in written.items()} for at in range(len(rows)))


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= LETTERS else f"{text[:LETTERS]}…"
