"""Which levels of generalization safe k-anonymization may choose from, and how good each choice is for these rows.

The candidates and what they lose are public: they are read off the hierarchies. Only ``scores`` reads rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.errors import PlanError
from hushtable.table.arrays import Array, Integers
from hushtable.table.columns import Bounds, Column, Levels
from hushtable.table.hierarchy import FileTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.trees import Level, build, uncovered

LIMIT = 20_000
"""The most candidates."""
WEIGHTS = 1 << 16
"""The precision of a candidate, 1 - loss, is counted in whole parts of this, rounded down."""
COUNTABLE = 1_000_000
"""Whether a file covers every value of a number's domain is checked for at most so many values."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """A column, its levels (0 is the value itself, the last one ``*``), and those that may be chosen."""

    column: Column
    levels: tuple[Level, ...]
    open: tuple[int, ...]
    """The levels that may be chosen."""

    @property
    def top(self) -> int:
        """The number of the level ``*``."""
        return len(self.levels)

    def loss(self, level: int) -> float:
        """The share of the domain that a value drawn evenly from it is hidden among: 0 for the value itself, 1 for ``*``."""
        return 0.0 if level == 0 else float((self.levels[level - 1].shares ** 2).sum())

    def cells(self, level: int, array: Array) -> Array:
        """Each value at this level."""
        return array if level == 0 else self.levels[level - 1].index(self.column, array)

    def at(self, level: int) -> Column:
        """The column as it is released at this level: with all cells of the level, whether a row is in them or not."""
        return self.column if level == 0 else self.column.generalize(self.levels[level - 1].cells)

    def thinned(self, count: int) -> Ladder:
        """With at most so many levels below ``*``: the finest, and others evenly spread above it."""
        below = [level for level in self.open if level < self.top]
        spread = below if len(below) <= count else [below[i * len(below) // count] for i in range(count)]
        return Ladder(self.column, self.levels, (*spread, *(level for level in self.open if level == self.top)))


@dataclass(frozen=True, eq=False)
class Candidates:
    """The choices of one level per column: all of them where they are few enough, else a public part.

    The part: of each column as many levels, evenly spread, as leave no more than ``LIMIT`` choices; where even two below
    ``*`` are too many, those two, and only as many columns below ``*`` at a time as fit.
    """

    ladders: tuple[Ladder, ...]
    most: int
    """The most columns below ``*`` among those that have the choice."""

    @classmethod
    def of(cls, schema: Schema, fixed: Mapping[str, str]) -> Candidates:
        """From the hierarchies; ``fixed`` are the levels that were chosen in public. PlanError names every fault."""
        faults = [f"there is no column {name!r}" for name in fixed if name not in schema]
        ladders = []
        for column in schema:
            if why := _unfit(column):
                faults.append(f"{column.name} {why}")
                continue
            levels = build(column)
            try:
                ladders.append(Ladder(column, levels, _open(column, len(levels), fixed.get(column.name, ""))))
            except ValueError as error:
                faults.append(str(error))
        if faults:
            raise PlanError(f"safe: {'; '.join(faults)}")
        for count in range(max((ladder.top for ladder in ladders), default=0), 1, -1):
            thin = tuple(ladder.thinned(count) for ladder in ladders)
            if math.prod(len(ladder.open) for ladder in thin) <= LIMIT:
                return cls(thin, len(thin))
        thin = tuple(ladder.thinned(2) for ladder in ladders)
        return cls(thin, max(most for most in range(len(thin) + 1) if _count(thin, most) <= LIMIT))

    @property
    def count(self) -> int:
        """How many candidates there are."""
        return _count(self.ladders, self.most)

    @cached_property
    def nodes(self) -> NDArray[np.int16]:
        """The candidates in lexicographic order, a level for each column."""
        return np.array(list(_nodes(self.ladders, self.most)), np.int16).reshape(-1, len(self.ladders))

    @cached_property
    def precision(self) -> Integers:
        """The precision of each candidate, 1 - loss on average over the columns, in parts of ``WEIGHTS``."""
        loss = np.zeros(len(self.nodes))
        for j, ladder in enumerate(self.ladders):
            losses = np.array([ladder.loss(level) for level in range(ladder.top + 1)])
            loss += losses[self.nodes[:, j]]
        loss /= len(self.ladders)
        return np.floor((1 - np.clip(loss, 0, 1)) * WEIGHTS).astype(np.int64)

    def scores(self, table: Table, least: int) -> Integers:
        """For each candidate u = (1 - loss) sum over the cells c of max(0, n_c - least + 1), in parts of ``WEIGHTS``.

        One row more is one more in one cell, so u never falls and grows by 1 - loss <= 1. (The number of rows in cells of
        at least ``least`` rows, which comes to mind first, can grow by ``least``.)
        """
        codes = [
            {level: _numbered(ladder.cells(level, table[ladder.column.name]), least) for level in ladder.open if level < ladder.top}
            for ladder in self.ladders
        ]
        whole = np.arange(table.rows), np.zeros(table.rows, np.int64), np.array([table.rows])
        states = [whole] + [whole] * len(self.ladders)
        scores = np.zeros(len(self.nodes), np.int64)
        before = np.full(len(self.ladders), -1)
        for place, node in enumerate(self.nodes):
            # Neighbours in lexicographic order agree on their first columns; the classes of those are reused.
            for j in range(int(np.flatnonzero(node != before)[0]), len(node)):
                state = states[j]
                numbered = codes[j].get(int(node[j]))
                states[j + 1] = state if numbered is None else _refined(*state, *numbered, least)
            before = node
            sizes = states[-1][2]
            scores[place] = np.maximum(sizes - least + 1, 0).sum()
        return scores * self.precision


def _unfit(column: Column) -> str:
    """Why a column cannot be mapped by a map that is fixed without reading the rows; empty if it can."""
    if not column.valued:
        return f"is {'generalized' if column.generalized else column.kind}, and has no hierarchy over a domain of values"
    if not isinstance(column.hierarchy, FileTree):
        return ""
    domain = column.domain
    if isinstance(domain, Levels):
        values: Sequence[str] = domain.levels
    elif isinstance(domain, Bounds) and column.step and (domain.high - domain.low) / column.step < COUNTABLE:
        values = [column.write(domain.low + i * column.step) for i in range(round((domain.high - domain.low) / column.step) + 1)]
    else:
        return "has a hierarchy file, which cannot list every number of its domain: use intervals"
    lacking = uncovered(column, values)
    return f"has a hierarchy with no line for {', '.join(map(repr, lacking[:3]))}, which its domain allows" if lacking else ""


def _open(column: Column, top: int, given: str) -> tuple[int, ...]:
    if not given:
        return tuple(range(top + 1))
    if given == "*":
        return (top,)
    level = int(given) if given.isdecimal() else -1
    if not 0 <= level <= top:
        raise ValueError(f"{column.name} has the levels 0 to {top} (or *), not {given!r}")
    return (level,)


def _free(ladder: Ladder) -> bool:
    """Whether it may be at ``*`` and may be below."""
    return len(ladder.open) > 1 and ladder.top in ladder.open


def _count(ladders: Sequence[Ladder], most: int) -> int:
    """How many candidates have at most so many free columns below ``*``."""
    ways = [1] + [0] * most
    for ladder in ladders:
        if _free(ladder):
            below = len(ladder.open) - 1
            ways = [ways[i] + (below * ways[i - 1] if i else 0) for i in range(most + 1)]
        else:
            ways = [way * len(ladder.open) for way in ways]
    return sum(ways)


def _nodes(ladders: Sequence[Ladder], most: int) -> Iterator[tuple[int, ...]]:
    if not ladders:
        yield ()
        return
    first, rest = ladders[0], ladders[1:]
    for level in first.open:
        left = most - 1 if _free(first) and level < first.top else most
        if left >= 0:
            for node in _nodes(rest, left):
                yield (level, *node)


def _numbered(cells: Array, least: int) -> tuple[Integers, int]:
    """The cells that hold enough rows numbered from 0, -1 for the others, and how many there are."""
    _, codes, counts = np.unique(cells, return_inverse=True, return_counts=True)
    full = counts >= least
    numbers = np.where(full, np.cumsum(full) - 1, -1)
    return numbers[codes].astype(np.int64), int(full.sum())


@njit(cache=True)
def _refined(rows, groups, sizes, codes, count, least):  # type: ignore[no-untyped-def]
    """Classes split by one more column. Those below ``least`` rows are left out: splitting on will not help them."""
    counts = np.zeros(len(sizes) * count, np.int64)
    for i in range(len(rows)):
        code = codes[rows[i]]
        if code >= 0:
            counts[groups[i] * count + code] += 1
    names = np.full(len(counts), -1, np.int64)
    full = 0
    for cell in range(len(counts)):
        if counts[cell] >= least:
            names[cell] = full
            counts[full] = counts[cell]
            full += 1
    full_rows, full_groups, size = np.empty_like(rows), np.empty_like(groups), 0
    for i in range(len(rows)):
        code = codes[rows[i]]
        if code >= 0 and names[groups[i] * count + code] >= 0:
            full_rows[size], full_groups[size] = rows[i], names[groups[i] * count + code]
            size += 1
    return full_rows[:size].copy(), full_groups[:size].copy(), counts[:full].copy()
