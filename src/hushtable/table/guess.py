"""What the drafter sees of a column, and what it makes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hushtable.table import naming
from hushtable.table.arrays import Integers
from hushtable.table.columns import Column, Kind
from hushtable.table.roles import ANSWERS


@dataclass(frozen=True)
class Words:
    """The distinct values of a raw column, missing codes left out, with their counts."""

    name: str
    words: tuple[str, ...]
    counts: Integers
    rows: int
    """Of the whole table."""
    decimal: str = ""
    """The decimal mark, where somebody said which it is."""

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return int(self.counts.sum())

    @property
    def distinct_share(self) -> float:
        """Distinct values to a row."""
        return len(self.words) / max(1, self.present)

    @property
    def answers(self) -> bool:
        """Whether the values say whether there is something, not what."""
        return {word.lower() for word in self.words} <= ANSWERS

    @property
    def numbers(self) -> list[int]:
        """The values of whole numbers, written with or without a point."""
        return [int(word.partition(".")[0]) for word in self.words]

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Whether the name holds a word of the pattern."""
        return naming.matches(self.name, pattern)

    def without(self, words: Sequence[str]) -> Words:
        """The column without these values."""
        gone = frozenset(words)
        keep = [i for i, word in enumerate(self.words) if word not in gone]
        return replace(self, words=tuple(self.words[i] for i in keep), counts=self.counts[keep])


@dataclass(frozen=True)
class Guess:
    """A kind, the reason in a few words, and what else of the column follows."""

    kind: Kind
    reason: str
    facets: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    """What a person should check; each continues 'Column x'."""
    weak: bool = False
    """Whether too few values spoke: columns of like name decide with it."""

    def column(self, name: str) -> Column:
        """The column that is drafted."""
        return Column(name=name, kind=self.kind, **self.facets)
