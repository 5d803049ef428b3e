"""A rule that all rows of a table follow, though by chance many would not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from hushtable.table.arrays import Integers, Mask
from hushtable.table.broken import breaks_any
from hushtable.table.rules import Comparison, Zero
from hushtable.table.table import Table

NAMED = 4
"""So many levels of a long set are shown to a reader."""


class Kind(StrEnum):
    """What a rule is about."""

    PAIR = "impossible combination"
    TOGETHER = "missing together"
    DEPENDENCE = "follows from another column"
    ORDER = "order of two columns"


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """One rule of the training rows."""

    kind: Kind
    expected: float
    """How many rows of the training table would break it if its columns had nothing to do with one another."""
    zeros: tuple[Zero, ...] = field(repr=False)
    """The same in the form that ``zeros`` of a schema takes."""

    @property
    @abstractmethod
    def text(self) -> str:
        """What never happens, or what always holds, for a reader."""

    @abstractmethod
    def broken(self, table: Table) -> Mask:
        """The rows that break it; a generalized row only if it does so whatever its cells stand for."""


@dataclass(frozen=True, kw_only=True)
class Never(Rule):
    """Combinations that no row has."""

    words: str = ""
    """What the rule says, if its combinations do not say it well by themselves."""

    @property
    def text(self) -> str:
        """The combination, or what several of them mean together."""
        return self.words or " or ".join(" and ".join(map(_short, zero.tests)) for zero in self.zeros)

    def broken(self, table: Table) -> Mask:
        """The rows that have one of the combinations."""
        return breaks_any(table, self.zeros)


@dataclass(frozen=True, kw_only=True)
class Follows(Rule):
    """A column whose value follows from another's: each value of the one always comes with the same value of the other."""

    source: str
    column: str
    values: tuple[tuple[str | None, str | None], ...] = field(repr=False)
    """The texts that go together, None for missing; values that few rows have are not among them."""

    @property
    def text(self) -> str:
        """Which column follows from which."""
        return f"{self.column} does not follow from {self.source}"

    def broken(self, table: Table) -> Mask:
        """The rows whose value is another than the one that follows; none where either column is generalized."""
        if table.schema[self.source].generalized or table.schema[self.column].generalized:
            return breaks_any(table, self.zeros)
        due, (given, names) = dict(self.values), _coded(table, self.source)
        found, others = _coded(table, self.column)
        number = {name: code for code, name in enumerate(others)}
        wanted = np.array([number.get(due[name], -1) if name in due else -2 for name in names], np.int64)[given]
        return np.asarray((wanted != -2) & (wanted != found), np.bool_)


def _short(test: Comparison) -> str:
    """A condition, of a long set of levels only the first."""
    if len(test.values) <= NAMED + 2:
        return str(test)
    return f"{str(replace(test, values=test.values[:NAMED]))[:-1]} and {len(test.values) - NAMED} more}}"


def _coded(table: Table, name: str) -> tuple[Integers, list[str | None]]:
    """A code for each row, and the text that each code stands for, None for missing."""
    _, firsts, codes = np.unique(table[name], return_index=True, return_inverse=True)
    return codes.astype(np.int64), table.take(firsts).strings(name).tolist()
