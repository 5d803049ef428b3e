"""From levels to a written table: one level per column (global recoding), or levels of its own for each class (local).

Local recoding begins with the best node. The rows that it suppresses are searched again by themselves, and so on until
none is left (iterative local recoding, Prasser et al. 2020). Then every class is refined: the part of it that agrees on a
finer cell, and is large enough by itself, is written so, as long as what is left of the class still holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hushtable.anonymize.lattice.demands import Judge
from hushtable.anonymize.lattice.losses import LossName, Priced, make
from hushtable.anonymize.lattice.nodes import Classes, Ladder, Lattice, Node
from hushtable.anonymize.lattice.search import Goal, Search
from hushtable.anonymize.tuplewise import Written, rewritten
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.cell import Cell, either
from hushtable.table.columns import MISSING_CODE, Column
from hushtable.table.rows import Rows, Tuples

Levels = NDArray[np.int16]
ABSORB = 200
"""So many tuples of stars are put into other classes one by one."""


@dataclass(frozen=True, eq=False)
class Recoding:
    """For each attribute and tuple its level; which tuples are suppressed, and whether they stay as ``*``."""

    lattice: Lattice
    levels: Levels
    gone: Mask
    starred: bool = False

    @classmethod
    def everywhere(cls, lattice: Lattice, node: Node) -> Recoding:
        """One level for each column."""
        return cls(
            lattice, np.repeat(np.array(node, np.int16)[:, None], len(lattice.counts), 1), np.zeros(len(lattice.counts), bool)
        )

    @property
    def classes(self) -> Classes:
        """Tuples that are written alike."""
        ladders = self.lattice.ladders
        codes = [_codes(a, row) for a, row in zip(ladders, self.levels, strict=True)]
        return self.lattice.group(codes, [sum(a.sizes) for a in ladders])

    def staying(self, classes: Classes) -> Mask:
        """Which of the classes are not suppressed."""
        stays = np.ones(len(classes.sizes), bool)
        stays[classes.of[self.gone]] = False
        return stays

    def settled(self, judge: Judge, k: int, *, star: bool) -> Recoding:
        """With the classes that do not hold suppressed."""
        classes = self.classes
        judgement = judge.keep(classes, k)
        return replace(self, gone=~judgement.classes[classes.of], starred=star and judgement.starred)

    @property
    def suppressed(self) -> int:
        """Rows that are left out, or have become ``*`` in every column while others have not."""
        stars = self.stars
        out = self.gone if stars.all() else self.gone | stars
        return int(self.lattice.counts[out].sum())

    @property
    def stars(self) -> Mask:
        """The tuples that stay as nothing but ``*``."""
        return np.asarray((self.levels == np.array(self.lattice.top)[:, None]).all(0) & ~self.gone)

    def released(self, rows: Rows) -> Rows:
        """The rows that the lattice is of, with the columns written so; suppressed rows are ``*`` or left out."""
        lattice, starred = self.lattice, self.gone & self.starred
        columns = [
            _write(ladder, np.where(starred, ladder.top, levels), lattice.tuples[ladder.column.name])
            for ladder, levels in zip(lattice.ladders, self.levels, strict=True)
        ]
        changed = [written for written in columns if written is not None]
        return rewritten(rows, Tuples(lattice.tuples, lattice.counts), changed, self.gone & ~starred)


def _codes(ladder: Ladder, levels: Levels) -> NDArray[np.int32]:
    """The cell of each tuple at its own level, numbered over all levels."""
    starts = np.cumsum([0, *ladder.sizes[:-1]])
    codes = np.empty(len(levels), np.int32)
    for level in np.unique(levels):
        inside = levels == level
        codes[inside] = starts[level] + ladder.cells[level][ladder.own[inside]]
    return codes


def _write(ladder: Ladder, levels: Levels, array: Array) -> Written | None:
    """The released column, and its code for each tuple; none where no value was generalized."""
    column = ladder.column
    used = np.unique(levels)
    if used.tolist() == [0]:
        return None
    cells: dict[str, Cell] = {}
    parts = []
    for level in used:
        inside = levels == level
        known, codes = _values(column, array[inside]) if level == 0 else _level(ladder, level, array[inside])
        for cell in known:
            cells[cell.text] = either(cells.get(cell.text, cell), cell)
        parts.append((inside, known, codes))
    place = {text: code for code, text in enumerate(cells)}
    written = np.empty(len(array), np.int32)
    for inside, known, codes in parts:
        written[inside] = np.array([*(place[cell.text] for cell in known), MISSING_CODE], np.int32)[codes]
    return column.generalize(tuple(cells.values())), written


def _level(ladder: Ladder, level: int, array: Array) -> tuple[tuple[Cell, ...], NDArray[np.int32]]:
    """All cells of a level, for it is public, and those of these values."""
    rung = ladder.levels[level - 1]
    return rung.cells, rung.index(ladder.column, array)


def _values(column: Column, array: Array) -> tuple[tuple[Cell, ...], NDArray[np.int32]]:
    """Values as cells of one value each."""
    missing = column.is_missing(array)
    values, codes = np.unique(array[~missing], return_inverse=True)
    places = np.full(len(array), MISSING_CODE, np.int32)
    places[~missing] = codes
    return tuple(column.value_cell(value) for value in values), places


def locally(
    lattice: Lattice, judge: Judge, loss: LossName, weights: tuple[float, ...], node: Node, k: int,
    *, seconds: float, report: Callable[[float], None],
) -> Recoding:  # fmt: skip
    """Local recoding that begins with a node."""
    end = time.monotonic() + seconds
    levels = Recoding.everywhere(lattice, node).levels
    classes = lattice.classes(node)
    open_ = ~judge.keep(classes, k).classes[classes.of]
    while lattice.persons(np.where(open_, 0, -1), 1)[0] >= k and time.monotonic() < end:
        part = lattice.part(open_)
        again = replace(judge, lattice=part)
        goal = Goal(k, 1.0, rest=k)
        solution = Search(part, again, make(loss, part, weights), [goal]).run(seconds=max(end - time.monotonic(), 0.0))[0]
        if solution.node is None:
            break
        classes = part.classes(solution.node)
        hold = again.keep(classes, k).classes[classes.of]
        members = np.flatnonzero(open_)
        levels[:, members[hold]] = np.array(solution.node, np.int16)[:, None]
        open_[members[hold]] = False
        report(1 - int(lattice.counts[open_].sum()) / lattice.rows)
    levels[:, open_] = np.array(lattice.top, np.int16)[:, None]
    prices = Priced.of(lattice, LossName.GEOMETRIC, weights)
    recoding = Recoding(lattice, _refined(lattice, judge, levels, open_, k, prices), open_)
    joined = _absorbed(recoding, judge, k, prices)
    return recoding if joined is None else replace(recoding, levels=_refined(lattice, judge, joined, open_, k, prices))


def _refined(lattice: Lattice, judge: Judge, levels: Levels, gone: Mask, k: int, prices: Priced) -> Levels:
    """Finer levels for parts of classes, where they and what they leave behind hold; the best attribute of each class first."""
    levels = levels.copy()
    while True:
        classes = Recoding(lattice, levels, gone).classes
        best = np.zeros(len(classes.sizes))
        picked = np.full(len(classes.sizes), -1)
        moves: list[Mask] = []
        for a, ladder in enumerate(lattice.ladders):
            finer = np.maximum(levels[a] - 1, 0)
            movable = (levels[a] > 0) & ~gone
            moving = _parts(judge, classes, _codes(ladder, finer), sum(ladder.sizes), movable, k)
            saved = prices.weights[a] * (prices.added(a, finer) - prices.added(a, levels[a])) * moving
            gain = np.bincount(classes.of, saved, minlength=len(best))
            picked[gain > best + 1e-15] = a
            best = np.maximum(best, gain)
            moves.append(moving)
        if not (picked >= 0).any():
            return levels
        for a, moving in enumerate(moves):
            levels[a] -= (moving & (picked[classes.of] == a)).astype(np.int16)


def _parts(judge: Judge, classes: Classes, codes: NDArray[np.int32], size: int, movable: Mask, k: int) -> Mask:
    """The tuples of each class that can be written finer: whole parts that hold, and what is left of the class holds too."""
    lattice = judge.lattice
    parts = lattice.group([classes.of, codes], [len(classes.sizes), size])
    owner = np.empty(len(parts.sizes), np.int64)
    owner[parts.of] = classes.of
    fit = judge.keep(parts, k).classes
    fit &= np.bincount(parts.of, ~movable, minlength=len(fit)) == 0
    left = lattice.persons(np.where(fit[parts.of], -1, classes.of), len(classes.sizes))
    # Where too few would be left, the smallest part stays with them.
    short = (left > 0) & (left < k)
    order = np.lexsort((parts.sizes, owner))
    candidates = order[fit[order] & short[owner[order]]]
    _, first = np.unique(owner[candidates], return_index=True)
    fit[candidates[first]] = False
    moving = fit[parts.of]
    if judge.demands:
        rest = lattice.group([classes.of, moving.astype(np.int32)], [len(classes.sizes), 2])
        holds = judge.keep(rest, k).classes[rest.of]
        broken = np.bincount(classes.of, ~holds, minlength=len(classes.sizes)) > 0
        moving &= ~broken[classes.of]
    return moving


def _absorbed(recoding: Recoding, judge: Judge, k: int, prices: Priced) -> Levels | None:
    """The rows that are nothing but ``*`` put into classes of others, each where it costs least; None if that cannot be done.

    A class that takes a row in is written coarser, as far as the two have something in common.
    """
    lattice, levels = recoding.lattice, recoding.levels.copy()
    alone = np.flatnonzero(recoding.stars)
    if not 0 < len(alone) <= ABSORB or len(alone) == int((~recoding.gone).sum()):
        return None
    for tuple_ in alone.tolist():
        classes = Recoding(lattice, levels, recoding.gone).classes
        first = np.empty(len(classes.sizes), np.int64)
        first[classes.of[::-1]] = np.arange(len(classes.of))[::-1]
        common = np.array([_common(a, row[first], first, tuple_) for a, row in zip(lattice.ladders, levels, strict=True)])
        cost = _costs(prices, classes, levels, common, first)
        cost[recoding.gone[first] | (common == np.array(lattice.top)[:, None]).all(0)] = np.inf
        best = int(cost.argmin())
        if not np.isfinite(cost[best]):
            return None
        members = (classes.of == best) & ~recoding.gone
        members[tuple_] = True
        levels[:, members] = common[:, [best]]
    classes = Recoding(lattice, levels, recoding.gone).classes
    fails = ~judge.keep(classes, k).classes[classes.of] & ~recoding.gone
    return None if fails.any() else levels


def _common(ladder: Ladder, levels: Levels, first: Integers, tuple_: int) -> Levels:
    """For each class, the lowest level from its own on at which a tuple has the same cell."""
    lowest = np.full(len(levels), ladder.top, np.int16)
    for level in range(ladder.top - 1, -1, -1):
        cells = ladder.cells[level]
        same = (cells[ladder.own[first]] == cells[ladder.own[tuple_]]) & (levels <= level)
        lowest[same] = level
    return lowest


def _costs(prices: Priced, classes: Classes, levels: Levels, common: Levels, first: Integers) -> Floats:
    """For each class, what its rows lose if it is written at these levels."""
    cost = np.zeros(len(first))
    for a, (weight, own, wide) in enumerate(zip(prices.weights, levels, common, strict=True)):
        lost = prices.added(a, own) - prices.added(a, wide[classes.of])
        cost += weight * np.bincount(classes.of, lost, minlength=len(first))
    return cost
