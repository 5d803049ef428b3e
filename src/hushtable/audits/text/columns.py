"""The texts that attacks compare, and what is said where there are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.finding import Finding, Risk, uncomputed
from hushtable.evidence.similarity import held
from hushtable.table.arrays import Integers

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

NAMES = {"train": "training", "release": "released", "control": "control"}
Texts = tuple[Integers, list[str]]
"""Rows, and the text of each."""


def people_with_text(case: Case, name: str) -> dict[str, Texts]:
    """For each table the rows whose text has a word, and these texts."""

    def read(which: str) -> Texts:
        texts = case.tables[which].strings(name)
        rows = np.flatnonzero(held(texts))
        return rows, [str(text) for text in texts[rows]]

    return case.once(("texts", name), lambda: {which: read(which) for which in NAMES})


def no_text(name: str, case: Case) -> Finding:
    """The finding where no column of free text is in all three tables."""
    note = "no column of free text is in the training rows, in the release and in the control"
    return uncomputed(f"membership by {name}", case.train.rows, note, risk=Risk.SINGLING_OUT)


def unread(name: str, column: str, sides: Mapping[str, Texts]) -> Finding:
    """The finding where one of the tables has no text with a word."""
    empty = next(which for which, (rows, _) in sides.items() if not len(rows))
    note = f"no {NAMES[empty]} row has a {column} with a word in it"
    return uncomputed(f"membership by {name}", len(sides["train"][0]), note, scope=column, risk=Risk.SINGLING_OUT)
