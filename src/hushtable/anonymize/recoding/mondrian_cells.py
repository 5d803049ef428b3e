"""The columns of Mondrian: values as ranks that can be cut, and the cells that are written for a class of records."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from hushtable.anonymize.recoding.mondrian_cuts import Grid
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.cell import ANY_TEXT, ANYTHING, Cell, Interval, either
from hushtable.table.columns import EXACT, FREE, MISSING_CODE, Bounds, Column, Kind
from hushtable.table.table import Table
from hushtable.table.trees import Level, build, leaf_share

Ranks = NDArray[np.int32]
Choice = tuple[Cell | None, float]
"""A cell, or none for a missing value, and the share of the domain that it covers."""


class Written(StrEnum):
    """What is written for the values of a class."""

    RANGES = "ranges"
    SETS = "sets"
    ANCESTOR = "ancestor"


@dataclass(frozen=True, eq=False)
class Recoded:
    """A generalized column: the code of each class, and the loss over all records."""

    column: Column
    codes: NDArray[np.int32]
    loss: float
    """0 where single values are written, 1 where nothing but ``*`` is (Iyengar 2002)."""


@dataclass(frozen=True, eq=False)
class Axis:
    """A column as ranks: numbers by size, levels in the order of the hierarchy's leaves, a missing value after all others."""

    column: Column
    values: Array
    """What each rank stands for: numbers, or codes of levels."""
    ranks: Ranks

    @classmethod
    def of(cls, table: Table, name: str) -> Axis:
        """The column of a table."""
        column, array = table.schema[name], table[name]
        if column.coded:
            # All levels, in an order in which those under one node of the hierarchy stand together.
            codes = np.arange(len(column.levels), dtype=np.int32)
            groups = [level.index(column, codes) for level in build(column) if not level.top]
            values = codes[np.lexsort((codes, *groups))]
            place = np.empty(len(values) + 1, np.int32)
            place[np.append(values, MISSING_CODE)] = np.arange(len(values) + 1, dtype=np.int32)
            return cls(column, values, place[array])
        present = ~column.is_missing(array)
        values, own = np.unique(array[present], return_inverse=True)
        ranks = np.full(len(array), len(values), np.int32)
        ranks[present] = own
        return cls(column, values, ranks)

    @property
    def blank(self) -> int:
        """The rank of a missing value."""
        return len(self.values)

    @property
    def places(self) -> Floats:
        """Where each rank lies in the domain, from 0 to 1; a missing value is farther from all others than they can be."""
        if self.column.coded:
            inside = np.arange(len(self.values)) / max(len(self.values) - 1, 1)
        else:
            low, high = self.column.bounds.low, self.column.bounds.high
            inside = (self.values.astype(np.float64) - low) / ((high - low) or 1.0)
        return np.append(inside, 2.0)

    @cached_property
    def point(self) -> float:
        """The share of the domain that one value is."""
        return leaf_share(self.column)

    def nodes(self, written: Written) -> list[tuple[Ranks, Floats]]:
        """For each level of what can be written: the node above each rank, and the share of the domain under it."""
        levels = self.levels if written is Written.ANCESTOR else self.levels[-1:]
        nodes = []
        for level in levels:
            group = np.zeros(self.blank, np.int32) if level.top else level.index(self.column, self.values)
            # Where no ancestor is written, the distance between the values alone says how wide a class is.
            share = level.shares[group] if written is Written.ANCESTOR else np.zeros(self.blank)
            nodes.append((np.append(group, np.int32(-1)), np.append(share, 0.0)))
        return nodes

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels of the hierarchy."""
        return build(self.column)

    def write(self, order: Integers, starts: Integers, sizes: Integers, written: Written) -> Recoded:
        """What is written for each class of so many rows; a class begins at its start in this order of the records."""
        ordered = self.ranks[order]
        low, high = np.minimum.reduceat(ordered, starts[:-1]), np.maximum.reduceat(ordered, starts[:-1])
        present = high < self.blank
        if written is Written.ANCESTOR:
            choices, picked = self._ancestors(low[present], high[present])
        elif written is Written.SETS and self.column.coded:
            choices, picked = self._sets(ordered, np.diff(starts), present)
        else:
            choices, picked = self._ranges(low[present], high[present])
        # A class that misses the value altogether says so; one that mixes missing and present values can only say *.
        choice = np.where(low == self.blank, len(choices), len(choices) + 1)
        choice[present] = picked
        codes, shares, cells = lettered([*choices, (None, self.point), (ANYTHING, 1.0)], np.unique(choice))
        lost = np.maximum(shares[choice] - self.point, 0.0) / (1 - self.point) if self.point < 1 else np.zeros(len(choice))
        return Recoded(self.column.generalize(cells), codes[choice], float(np.average(lost, weights=sizes)))

    def _ranges(self, low: Ranks, high: Ranks) -> tuple[list[Choice], Integers]:
        """Everything between the least and the greatest value; of levels, in the order of the leaves."""
        pairs, picked = np.unique(low.astype(np.int64) * self.blank + high, return_inverse=True)
        return [self._range(int(pair) // self.blank, int(pair) % self.blank) for pair in pairs], picked

    def _range(self, low: int, high: int) -> Choice:
        if low == high:
            return self.column.value_cell(self.values[low]), self.point
        if self.column.coded:
            return self._set(range(low, high + 1))
        ends = float(self.values[low]), float(self.values[high])
        bounds = self.column.bounds
        width = bounds.high - bounds.low + (self.column.step or 0.0)
        share = (ends[1] - ends[0]) / width + self.point if width else self.point
        return self.column.interval_cell(Interval(*ends)), min(share, 1.0)

    def _sets(self, ordered: Ranks, sizes: Integers, present: Mask) -> tuple[list[Choice], Integers]:
        """The levels that stand in the class, and no other."""
        inside = np.repeat(present, sizes)
        classes = np.repeat(np.cumsum(present) - 1, sizes)[inside]
        pairs = np.unique(classes * self.blank + ordered[inside])
        members = np.split(pairs % max(self.blank, 1), np.flatnonzero(np.diff(pairs // max(self.blank, 1))) + 1)
        index: dict[bytes, int] = {}
        picked = np.array([index.setdefault(ranks.tobytes(), len(index)) for ranks in members if len(ranks)], np.int64)
        return [self._set(np.frombuffer(key, pairs.dtype).tolist()) for key in index], picked

    def _set(self, ranks: Iterable[int]) -> Choice:
        levels = frozenset(self.column.levels[self.values[rank]] for rank in ranks)
        return self.column.set_cell(levels), len(levels) * self.point

    def _ancestors(self, low: Ranks, high: Ranks) -> tuple[list[Choice], Integers]:
        """The lowest node of the hierarchy above all values; a node's leaves lie together, so the outermost two decide."""
        ends = [*accumulate((len(level.cells) for level in self.levels), initial=self.blank)]
        node = np.where(low == high, low, -1).astype(np.int64)
        for (group, _), first in zip(self.nodes(Written.ANCESTOR), ends, strict=False):
            joined = (node < 0) & (group[low] == group[high])
            node[joined] = first + group[low[joined]]
        nodes, picked = np.unique(node, return_inverse=True)
        return [self._node(int(n), ends) for n in nodes], picked

    def _node(self, node: int, ends: list[int]) -> Choice:
        if node < self.blank:
            return self._range(node, node)
        depth = bisect_right(ends, node) - 1
        level, code = self.levels[depth], node - ends[depth]
        return level.cells[code], float(level.shares[code])


def grid(axes: list[Axis], weights: Integers, written: Written) -> Grid:
    """The columns of records that stand for so many rows side by side, padded to one number of levels and of ranks."""
    nodes = [axis.nodes(written) for axis in axes]
    shape = len(axes), max(map(len, nodes)), max(axis.blank for axis in axes) + 1
    places, groups, shares = np.zeros((shape[0], shape[2])), np.zeros(shape, np.int32), np.zeros(shape)
    for j, (axis, levels) in enumerate(zip(axes, nodes, strict=True)):
        places[j, : axis.blank + 1] = axis.places
        for depth in range(shape[1]):
            groups[j, depth, : axis.blank + 1], shares[j, depth, : axis.blank + 1] = levels[min(depth, len(levels) - 1)]
    return Grid(np.stack([axis.ranks for axis in axes], axis=1), places, groups, shares, weights)


def has_cells(column: Column) -> bool:
    """Whether its values can be written as cells: no text, no key, no whole numbers that a cell cannot hold exactly."""
    if column.kind is Kind.INTEGER and isinstance(column.base, Bounds):
        return max(-column.base.low, column.base.high) <= EXACT
    return column.kind not in FREE


def lettered(choices: list[Choice], used: Integers) -> tuple[NDArray[np.int32], Floats, tuple[Cell, ...]]:
    """The code and the share of each choice, and the cells: one for each text, wide enough for all that is written so."""
    cells: dict[str, Cell] = {}
    for place in used:
        cell, _ = choices[place]
        if cell is not None:
            cells[cell.text] = ANYTHING if cell.text == ANY_TEXT else either(cells.get(cell.text, cell), cell)
    index = {text: code for code, text in enumerate(cells)}
    codes = [MISSING_CODE if cell is None else index.get(cell.text, MISSING_CODE) for cell, _ in choices]
    return np.array(codes, np.int32), np.array([share for _, share in choices]), tuple(cells.values())
