"""Columns cut into cells, and the conditions on them that a rule may be made of: a level, a range, zero, missing or not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hushtable.measures.bins import above
from hushtable.measures.safe_histogram import FEW, coarse_cuts, on_coarse_grid
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import Column, Kind
from hushtable.table.rules import Comparison, Sign
from hushtable.table.table import Table

FINE = 120
"""Numbers of at most so many different values are cut at every one of them."""
BINS = 40
"""Other numbers are cut at about so many quantiles, on a coarse grid, and at zero."""
LEVELS = 100
"""The levels that most rows hold, at most so many; no rule names another."""
SPIKE = 0.01
"""Zero is a condition of its own where this share of the rows has it."""


@dataclass(frozen=True, eq=False)
class Axis:
    """One column: the cell of every row, and conditions as sets of cells."""

    column: Column
    codes: Integers
    """The cell of each row; the last cell is for what no condition names, the one before for missing values."""
    atoms: Mask
    """For each condition (row) and cell (column), whether the cell meets it."""
    conditions: tuple[Comparison, ...]
    level: Mask
    """Which conditions are one level of a category: several of them may stand together in a rule."""
    border: Integers
    """For a range, the cell right beyond its limit; -1 for other conditions."""
    safe: Mask
    """Whether the limit of a range may be shown whoever lies beyond it."""
    edges: Floats = field(default_factory=lambda: np.empty(0))
    """For numbers: the least value of each cell but the first."""

    @property
    def name(self) -> str:
        """Of the column."""
        return self.column.name

    @property
    def cells(self) -> int:
        """How many there are."""
        return int(self.atoms.shape[1])

    def sums(self, counts: Floats) -> Floats:
        """What each condition holds of what each cell holds."""
        return self.atoms.astype(np.float64) @ counts


def axis(table: Table, name: str, *, missing: bool) -> Axis:
    """A column of the training rows; ``missing`` says whether conditions ask whether a value is there at all."""
    column = table.schema[name]
    if column.numeric:
        return _numbers(table, column, missing=missing)
    return _levels(table, column, missing=missing)


def _levels(table: Table, column: Column, *, missing: bool) -> Axis:
    """Levels, of an ordinal also those below and above one."""
    codes, words = table[column.name].astype(np.int64), table.words(column.name)
    held = np.bincount(codes[codes >= 0], minlength=len(words))
    named = np.sort(np.argsort(-held, kind="stable")[:LEVELS])
    named = named[held[named] >= FEW]
    place = np.full(len(words) + 1, len(named) + 1)
    place[named] = np.arange(len(named))
    place[-1] = len(named)
    size = len(named) + 2
    texts = [str(words[code]) for code in named]
    build = _Builder(column.name, size, missing=missing)
    for cell, text in enumerate(texts):
        build.add(Comparison(column.name, Sign.EQUAL, (text,)), [cell], level=True)
    # Where some levels are not among the cells a range could not be distinguished from its cells.
    if column.kind is Kind.ORDINAL and len(named) == len(words):
        for cell in range(1, len(named) - 1):
            build.add(Comparison(column.name, Sign.BELOW, (texts[cell],)), range(cell), border=cell)
            build.add(Comparison(column.name, Sign.ABOVE, (texts[cell],)), range(cell + 1, len(named)), border=cell)
    return build.axis(column, place[codes])


def _numbers(table: Table, column: Column, *, missing: bool) -> Axis:
    """Ranges below and from a limit on, and zero."""
    values = table.floats(column.name)
    present = np.sort(values[~np.isnan(values)])
    distinct = np.unique(present)
    zero = float((present == 0).mean()) if len(present) else 0.0
    fine = len(distinct) <= FINE
    if fine:
        edges = distinct[1:]
    else:
        spikes = np.array([0.0]) if zero >= SPIKE and column.kind is not Kind.DATE else np.empty(0)
        edges = np.unique(np.concatenate([coarse_cuts(column, present, BINS), spikes, above(column, spikes)]))
        edges = edges[(edges > distinct[0]) & (edges <= distinct[-1])]
    safe = np.ones(len(edges), bool) if not fine else on_coarse_grid(column, edges, present)
    size = len(edges) + 3
    build = _Builder(column.name, size, missing=missing)
    for i, edge in enumerate(edges):
        if edge == above(column, np.zeros(1))[0] or (fine and distinct[i] == 0):
            # "above 0", not "from the next number above 0 on", which may be somebody's.
            safe[i] = True
            low, high = (Sign.EQUAL if i == 0 and distinct[0] == 0 else Sign.AT_MOST, "0"), (Sign.ABOVE, "0")
        else:
            low, high = (Sign.BELOW, _text(column, edge)), (Sign.AT_LEAST, _text(column, edge))
        build.add(Comparison(column.name, low[0], (low[1],)), range(i + 1), border=i + 1, safe=bool(safe[i]))
        build.add(Comparison(column.name, high[0], (high[1],)), range(i + 1, len(edges) + 1), border=i, safe=bool(safe[i]))
    cells = np.searchsorted(edges, values, side="right")
    if zero >= SPIKE:
        lone = np.unique(cells[values == 0])
        if len(lone) == 1 and lone[0] and (values[cells == lone[0]] == 0).all():
            build.add(Comparison(column.name, Sign.EQUAL, ("0",)), lone.tolist())
    return build.axis(column, np.where(np.isnan(values), len(edges) + 1, cells), edges)


def _text(column: Column, value: float) -> str:
    return f"{value:.12g}" if column.kind is Kind.REAL and column.decimals is None else column.write(value)


class _Builder:
    """Collects conditions; the last two cells are for missing values and for what is not named."""

    def __init__(self, name: str, size: int, *, missing: bool) -> None:
        self.size = size
        self.rows: list[Mask] = []
        self.conditions: list[Comparison] = []
        self.level: list[bool] = []
        self.border: list[int] = []
        self.safe: list[bool] = []
        if missing:
            self.add(Comparison(name, Sign.MISSING), [size - 2])
            self.add(Comparison(name, Sign.PRESENT), [*range(size - 2), size - 1])

    def add(
        self, condition: Comparison, cells: list[int] | range, *, level: bool = False, border: int = -1, safe: bool = True
    ) -> None:
        """A condition that these cells meet."""
        row = np.zeros(self.size, np.bool_)
        row[list(cells)] = True
        self.rows.append(row)
        self.conditions.append(condition)
        self.level.append(level)
        self.border.append(border)
        self.safe.append(safe)

    def axis(self, column: Column, codes: Integers, edges: Floats | None = None) -> Axis:
        """All of them."""
        atoms = np.array(self.rows, np.bool_).reshape(len(self.rows), self.size)
        return Axis(
            column, codes, atoms, tuple(self.conditions), np.array(self.level, bool), np.array(self.border, np.int64),
            np.array(self.safe, bool), np.empty(0) if edges is None else edges,
        )  # fmt: skip
