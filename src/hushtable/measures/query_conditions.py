"""Counting queries: conditions on one to three columns, drawn around real rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import CODED, Column, Kind
from hushtable.table.table import Table

FEW_VALUES = 20
"""Whole numbers of at most so many values are asked for by value, like levels."""
SELECTIVITIES = (0.0005, 0.5)
"""A range query aims at a share of rows between these, even on the scale of logarithms, as if columns were independent."""


@dataclass(frozen=True)
class Among:
    """The value is one of these levels, or, where that is asked, missing."""

    name: str
    levels: frozenset[str]
    missing: bool = False


@dataclass(frozen=True)
class Between:
    """The number lies between two ends, both included."""

    name: str
    low: float
    high: float


Condition = Among | Between
Question = tuple[Condition, ...]
"""Conditions that must all hold, each on a column of its own."""


def by_value(table: Table, columns: Sequence[str]) -> list[str]:
    """The columns that are asked for by value: levels, and whole numbers of few values."""

    def few(name: str) -> bool:
        return table.schema[name].kind is Kind.INTEGER and len(np.unique(table[name])) <= FEW_VALUES

    return [name for name in columns if table.schema[name].kind in CODED or few(name)]


def by_range(table: Table, columns: Sequence[str]) -> list[str]:
    """The columns whose values have an order, and at least one of them."""
    return [n for n in columns if table.schema[n].kind is not Kind.CATEGORY and not bool(table.missing(n).all())]


def counting(table: Table, columns: Sequence[str], most: int, times: int, rng: np.random.Generator) -> list[Question]:
    """Questions for the values of a row drawn by lot, in one to ``most`` columns drawn by lot.

    To every third condition on levels others are added to the row's own, up to half of all. A question is thus as rare as
    what people are: no question is empty, and few are about nearly nobody.
    """
    questions = []
    for row, names in _lots(table, columns, most, times, rng):
        questions.append(tuple(_value(table, name, row, rng) for name in names))
    return questions


def ranges(table: Table, columns: Sequence[str], most: int, times: int, rng: np.random.Generator) -> list[Question]:
    """Questions for ranges around a row drawn by lot, in one to ``most`` columns drawn by lot; ends are values of rows.

    Ends drawn independently would almost all give wide ranges of one column and empty ones of three. So a selectivity is
    drawn first, and each of d columns takes its d-th root of the rows, in the order of that column, around the row. A column
    in which the row has no value is not asked for; where it has none at all, another row is taken for the first column.
    """
    orders = {name: _Order.of(table, name) for name in columns}
    least, largest = (math.log(share) for share in SELECTIVITIES)
    aims = rng.uniform(least, largest, times)
    places = rng.random((times, most, 2))
    questions: list[Question] = []
    for (row, names), aim, lots in zip(_lots(table, columns, most, times, rng), aims.tolist(), places.tolist(), strict=True):
        present = [name for name in names if not orders[name].missing[row]]
        if not present:
            present = names[:1]
            row = int(rng.choice(np.flatnonzero(~orders[names[0]].missing)))
        share = math.exp(aim / len(present))
        questions.append(tuple(orders[name].around(row, share, lot) for name, lot in zip(present, lots, strict=False)))
    return questions


def _lots(table: Table, columns: Sequence[str], most: int, times: int, rng: np.random.Generator) -> Iterator[tuple[int, list[str]]]:
    """Rows, and one to ``most`` columns of each, by lot."""
    rows, sizes = rng.integers(table.rows, size=times), rng.integers(1, min(most, len(columns)) + 1, size=times)
    orders = rng.random((times, len(columns))).argsort(axis=1)
    for row, size, order in zip(rows.tolist(), sizes.tolist(), orders, strict=True):
        yield row, [columns[i] for i in order[:size].tolist()]


def _value(table: Table, name: str, row: int, rng: np.random.Generator) -> Condition:
    column, value = table.schema[name], table[name][row]
    if bool(column.is_missing(table[name][row : row + 1])[0]):
        return Among(name, frozenset(), missing=True)
    if column.numeric:
        return Between(name, float(value), float(value))
    levels = column.levels
    own, half = int(value), (len(levels) + 1) // 2
    if half < 2 or rng.random() < 2 / 3:
        return Among(name, frozenset([levels[own]]))
    others = rng.permutation(len(levels))[: int(rng.integers(1, half)) + 1].tolist()
    more = [levels[i] for i in others if i != own][: len(others) - 1]
    return Among(name, frozenset([levels[own], *more]))


@dataclass(frozen=True, eq=False)
class _Order:
    """The values of a column in order: numbers, or places of levels."""

    column: Column
    missing: Mask
    ordered: Floats
    """The values that are present, sorted."""
    first: Integers
    """For each row the first place of its value among them."""
    last: Integers
    """And the place after the last one."""

    @classmethod
    def of(cls, table: Table, name: str) -> _Order:
        missing, values = table.missing(name), table[name].astype(np.float64)
        ordered = np.sort(values[~missing])
        first, last = np.searchsorted(ordered, values, side="left"), np.searchsorted(ordered, values, side="right")
        return cls(table.schema[name], missing, ordered, first, last)

    def around(self, row: int, share: float, lot: Sequence[float]) -> Condition:
        """A range of about this share of the rows, somewhere in which this row lies; ``lot`` is two numbers from 0 to 1."""
        first, last = int(self.first[row]), int(self.last[row])
        size = max(1, round(share * len(self.ordered)))
        start = first + int(lot[0] * (last - first)) - int(lot[1] * size)
        start = min(max(start, 0), len(self.ordered) - size)
        low, high = float(self.ordered[start]), float(self.ordered[start + size - 1])
        if self.column.numeric:
            return Between(self.column.name, low, high)
        return Among(self.column.name, frozenset(self.column.levels[int(low) : int(high) + 1]))
