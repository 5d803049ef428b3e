"""Whether a release hands out real rows: how many of its rows are a row of the table, value by value.

In a table of three yes/no columns every row equals some real row, and that gives nobody away. So what counts is the share of the
released rows that equal a row which *nobody else has*. Where a recipe hands on rows one by one, each of these is somebody's. A
generator may hit such a row by chance: a fresh row from the same population equals one that occurs once among n with the
probability of twice the number of rows that occur exactly twice, over n (I. J. Good, The population frequencies of species,
Biometrika 1953, after Turing). Only what goes beyond that, by more than chance explains, counts for it.

All of this is read off the raw rows: it is for whoever holds them, and is done for no release that is paid for by a budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.display import listed
from hushtable.table import lenient
from hushtable.table.arrays import Integers
from hushtable.table.columns import Column
from hushtable.table.singling import coded_values
from hushtable.table.table import Table

MOST_COPIES = 0.05
"""The largest share of released rows that may be real rows which nobody else has."""
SHOWN = 6
"""So many columns are named in a sentence; the others are counted."""
ERRORS = 2.0
"""By so many standard errors a generator must repeat more of them than chance does before that counts."""


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Real rows among the released ones, compared on all released columns."""

    rows: int
    """How many rows were released."""
    equal: float
    """Share of the released rows that equal a real row."""
    alone: float
    """Share of the released rows that equal a real row which nobody else has; of rows that were handed on, those without twins."""
    chance: float
    """Share that a fresh sample of the same population would have of the latter; 0 where rows are handed on one by one."""
    error: float
    """The standard error of the difference between the two; 0 where rows are handed on one by one."""
    generated: bool = False
    """Whether a model drew the rows, whatever became of them after it."""

    @property
    def excess(self) -> float:
        """What is beyond chance, at the least, of the released rows that equal a real row which nobody else has."""
        return max(0.0, self.alone - self.chance - ERRORS * self.error)

    @property
    def too_many(self) -> bool:
        """Whether a release with so many is refused unless somebody gives a reason."""
        return self.excess > MOST_COPIES

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Copies:
        """As a card has them, which does not say what chance would give."""
        equal, alone = (lenient.finite(plain.get(name)) or 0.0 for name in ("equal", "alone"))
        return cls(rows=lenient.whole(plain.get("rows")) or 0, equal=equal, alone=alone, chance=0.0, error=0.0)

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the rows."""
        return {"rows": self.rows, "equal": self.equal, "alone": self.alone, "chance": self.chance, "excess": self.excess}

    def words(self) -> str:
        """How many of the released rows are real ones."""
        chance = f" (chance alone would give {percent(self.chance)})" if self.chance else ""
        equal = "of the released rows equal, in every column, the row of a real person that nobody else has"
        return f"{percent(self.alone)} {equal}{chance}"

    def refusal(self, untouched: Sequence[str]) -> str:
        """Why so many are refused: the cause, and what would change it."""
        if self.generated:
            cause = (
                "The model repeats rows that it was fitted on: take one that remembers less (larger leaves, fewer columns), or a "
                "private recipe with an epsilon"
            )
        else:
            unchanged = f"Columns that leave unchanged: {listed(untouched, SHOWN)}. " if untouched else ""
            cause = (
                f"{unchanged}Give those that others may know the role quasi in the schema ('hush profile' shows which of them "
                "single people out), leave columns out, or take a recipe that synthesizes (aim with an epsilon, sequential)"
            )
        return (
            f"{self.words()}; more than {percent(MOST_COPIES)} is refused, and nothing is released. {cause}; or say why rows of "
            'real people may be published, which then stands on the card: --allow-copies "reason" (allow_copies in Python).'
        )


def percent(share: float) -> str:
    """A share in percent, never rounded to none or all."""
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    return f"{100 * share:.3g} %"


def copies(table: Table, released: Table, *, generated: bool) -> Copies:
    """Compare a release with the rows it was made of; ``generated`` where a model drew its rows."""
    names = list(released.schema.names)
    # Where a column was made anew, as coordinates are, no row is one of the table.
    if not released.rows or not table.rows or not all(name in table.schema for name in names):
        return Copies(rows=released.rows, equal=0.0, alone=0.0, chance=0.0, error=0.0, generated=generated)
    groups = np.zeros(table.rows + released.rows, np.int64)
    for codes in common_codes(table, released, names):
        groups, _ = coded_values(groups * (int(codes.max(initial=0)) + 1) + codes)
    real, ours = groups[: table.rows], groups[table.rows :]
    holders = _holders(real, table.persons, int(groups.max()) + 1)
    somebodys = holders[ours] == 1
    chance = error = 0.0
    if not generated:
        # A row that was handed on with more twins than the person holds (the middle of a group that stands for all of them) shows
        # nobody's.
        somebodys &= (np.bincount(ours, minlength=len(holders)) <= np.bincount(real, minlength=len(holders)))[ours]
    alone = float(somebodys.mean())
    if generated:
        twice = int((holders == 2).sum())
        chance = 2 * twice / table.rows
        error = math.sqrt(alone * (1 - alone) / released.rows + 4 * twice / table.rows**2)
    equal = float((holders[ours] > 0).mean())
    return Copies(rows=released.rows, equal=equal, alone=alone, chance=chance, error=error, generated=generated)


def common_codes(table: Table, released: Table, names: list[str]) -> Iterator[Integers]:
    """For each column, a code for the rows of the table and then of the release, equal exactly where what is written is equal."""
    for name in names:
        one, other = table.schema[name], released.schema[name]
        if one.numeric and other.numeric:
            yield coded_values(np.concatenate([table[name], released[name]]))[0]
        elif one.numeric:
            yield _numbers_and_cells(one, table, released)
        else:
            words = {word: code for code, word in enumerate(table.words(name))}
            seen = released.words(name) if not other.numeric else np.array([], object)
            place = np.array([*(words.setdefault(word, len(words)) for word in seen), -1], np.int64)
            ours = place[released[name].astype(np.int64)] if not other.numeric else np.full(released.rows, len(words), np.int64)
            yield np.concatenate([table[name].astype(np.int64), ours]) + 1


def _numbers_and_cells(column: Column, table: Table, released: Table) -> Integers:
    """Numbers beside generalized cells, some of which are one number."""
    codes, _ = coded_values(table[column.name])
    values = np.unique(table[column.name])
    missing = np.flatnonzero(column.is_missing(values))
    cells = []
    for number, text in enumerate(released.words(column.name)):
        try:
            value = column.number(str(text))
        except (ValueError, OverflowError):
            value = math.nan
        place = int(np.searchsorted(values, value)) if not math.isnan(value) else len(values)
        cells.append(place if place < len(values) and values[place] == value else len(values) + number)
    nothing = int(missing[0]) if len(missing) else len(values) + len(cells)
    return np.concatenate([codes, np.array([*cells, nothing], np.int64)[released[column.name].astype(np.int64)]])


def _holders(groups: Integers, persons: Integers | None, count: int) -> Integers:
    """By how many people each group is held."""
    if persons is None:
        return np.bincount(groups, minlength=count)
    pairs = np.unique(np.stack([groups, persons]), axis=1)
    return np.bincount(pairs[0], minlength=count)
