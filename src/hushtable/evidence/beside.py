"""A training row beside the released row that gives it away: in which columns the two agree, and how."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from hushtable.evidence.links import NEAR
from hushtable.table.cell import Interval
from hushtable.table.columns import Cells
from hushtable.table.table import Table


class Agreement(StrEnum):
    """How a released cell stands to the value of a person."""

    SAME = "same"
    """It is the same value; a missing value is one like any other."""
    NEAR = "near"
    """It is a number within a hundredth of the range of theirs."""
    COVERS = "covers"
    """It is an interval or a set that holds theirs."""
    HIDDEN = "hidden"
    """It says nothing (``*``)."""
    OTHER = "other"
    """It is another value, or a set that does not hold theirs."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One column of the two rows."""

    column: str
    agreement: Agreement
    ours: str | None = None
    """What the training row holds, if that was asked for; None where it is missing."""
    theirs: str | None = None
    """What the released row holds, if that was asked for."""

    @property
    def agrees(self) -> bool:
        """Whether the released row helps to recognize the person by this column."""
        return self.agreement in (Agreement.SAME, Agreement.NEAR, Agreement.COVERS)


def beside(train: Table, release: Table, row: int, released: int, *, values: bool = False) -> tuple[Side, ...]:
    """The columns that both tables have, in the order of the training table; rows are counted from 0."""
    names = [name for name in train.schema.released if name in release.schema]
    ours, theirs = train.take(np.array([row])), release.take(np.array([released]))
    sides = []
    for name in names:
        texts = (ours.strings(name)[0], theirs.strings(name)[0]) if values else (None, None)
        agreement = _agreement(train, ours, theirs, name)
        sides.append(Side(column=name, agreement=agreement, ours=texts[0], theirs=texts[1]))
    return tuple(sides)


def _agreement(train: Table, ours: Table, theirs: Table, name: str) -> Agreement:
    column, gone = train.schema[name], bool(ours.missing(name)[0])
    domain = theirs.schema[name].domain
    if isinstance(domain, Cells) and not theirs.missing(name)[0]:
        cell = domain.cells[int(theirs[name][0])]
        if cell.anything:
            return Agreement.HIDDEN
        value: Any = None if gone else ours.floats(name)[0] if column.numeric else ours.strings(name)[0]
        if value is None or value not in (cell.span or ()):
            return Agreement.OTHER
        single = cell.span.low == cell.span.high if isinstance(cell.span, Interval) else len(cell.span or ()) == 1
        return Agreement.SAME if single else Agreement.COVERS
    if gone or theirs.missing(name)[0]:
        return Agreement.SAME if gone == bool(theirs.missing(name)[0]) else Agreement.OTHER
    if not column.numeric or not theirs.schema[name].numeric:
        return Agreement.SAME if ours.strings(name)[0] == theirs.strings(name)[0] else Agreement.OTHER
    distance = abs(float(ours.floats(name)[0]) - float(theirs.floats(name)[0]))
    if distance == 0:
        return Agreement.SAME
    whole = train.floats(name)
    return Agreement.NEAR if distance <= NEAR * float(np.nanmax(whole) - np.nanmin(whole)) else Agreement.OTHER
