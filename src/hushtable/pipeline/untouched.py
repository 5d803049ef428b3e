"""The columns that leave a recipe as they were, and whom they single out: what a promise about other columns must not hide."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.display import listed
from hushtable.pipeline.copies import SHOWN, common_codes, percent
from hushtable.privacy.preserve import Promise
from hushtable.table import lenient
from hushtable.table.roles import unique_share
from hushtable.table.singling import coded_values
from hushtable.table.table import Table

AS_THEY_WERE = 0.9
"""Columns are untouched where so many of the released rows have, in all of them together, the values of a real row of their own."""


@dataclass(frozen=True, kw_only=True)
class Untouched:
    """Columns whose values are published as they are, and how many released rows are alone on them."""

    columns: tuple[str, ...] = ()
    alone: float = 0.0
    """Share of the released rows that no other released row equals in these columns: measured on the release itself."""

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.columns)

    @classmethod
    def of(cls, released: Table, columns: Sequence[str]) -> Untouched:
        """These columns, with the share measured on the release."""
        return cls(columns=tuple(columns), alone=unique_share(released.groups(columns)[0]) if columns else 0.0)

    @classmethod
    def from_json(cls, plain: object) -> Untouched:
        """From a card; nothing where the card does not say."""
        values = lenient.mapping(plain)
        return cls(columns=lenient.texts(values.get("columns")), alone=lenient.finite(values.get("alone")) or 0.0)

    def to_json(self) -> dict[str, Any]:
        """As the card holds it."""
        return {"columns": list(self.columns), "alone": self.alone}

    def sentence(self, promises: Sequence[Promise] = ()) -> str:
        """What a reader must know beside a promise: over which columns it holds, and what leaves unchanged; else empty."""
        if not self.columns:
            return ""
        over = dict.fromkeys(name for promise in promises for name in promise.quasi)
        first = promises[0] if promises else None
        begin = f"{first.letter} = {first.value:g} holds for {listed(list(over), SHOWN)} alone. " if first else ""
        count = len(self.columns)
        # Those that no promise speaks of first: who reads only a few names must read these.
        names = sorted(self.columns, key=lambda name: name in over)
        what = f"{count} column{' leaves' if count == 1 else 's leave'} unchanged: {listed(names, SHOWN)}"
        on = "it" if count == 1 else "them"
        if not self.alone:
            return f"{begin}{what}; on {on} no released row is alone."
        finds = "so whoever knows this of a person finds their row"
        return f"{begin}{what}; on {on} {percent(self.alone)} of the released rows are alone, {finds}."

    @property
    def short(self) -> str:
        """In a few words, for a line that has others."""
        if not self.columns:
            return ""
        words = "1 column" if len(self.columns) == 1 else f"{len(self.columns)} columns"
        return f"{words} unchanged, {percent(self.alone)} of the rows alone on them"


def untouched(table: Table, released: Table, moved: Collection[str] = ()) -> Untouched:
    """The columns of a release that are those of the table, by comparing the two; ``moved`` are known not to be.

    Plain columns are compared before quasi-identifiers, each together with those that were found before it: a column whose values
    went to other rows is not untouched, however its own counts agree.
    """
    names = [name for name in released.schema.names if name in table.schema and name not in moved]
    quasi = set(table.schema.quasi)
    ordered = sorted(names, key=lambda name: name in quasi)
    groups, found = np.zeros(table.rows + released.rows, np.int64), list[str]()
    for name, codes in zip(ordered, common_codes(table, released, ordered), strict=True):
        joint, counts = coded_values(groups * (int(codes.max(initial=0)) + 1) + codes)
        real = np.bincount(joint[: table.rows], minlength=len(counts))
        ours = np.bincount(joint[table.rows :], minlength=len(counts))
        if np.minimum(real, ours).sum() >= AS_THEY_WERE * released.rows:
            groups, found = joint, [*found, name]
    return Untouched.of(released, [name for name in released.schema.names if name in found]) if released.rows else Untouched()
