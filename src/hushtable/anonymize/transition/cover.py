"""Which raw rows a generalized row may have been: those whose values its cells all cover.

Where every value has one cell of its own (global recoding) these are the rows of its class. Where cells overlap (local
recoding) they are the rows of all classes that the cells do not distinguish.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.anonymize.transition.ranges import members, spans
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import CODED, Cells, Column
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class Cover:
    """One column of the raw rows in order, and the runs of it that each value of the released column covers."""

    order: Integers
    """The raw rows sorted by value, missing ones last."""
    places: Integers
    """For each raw row its place in that order."""
    runs: list[Integers]
    """For each released value, pairs (start, stop) of places."""
    codes: Integers
    """For each released row the number of its value."""

    @classmethod
    def of(cls, column: Column, array: Array, raw: Column, rows: Array) -> Cover:
        """Of a released column and its array, and of the raw column and its array."""
        values, codes = np.unique(array, return_inverse=True)
        missing = raw.is_missing(rows)
        numbers = np.where(missing, np.inf, rows.astype(np.float64))
        order = np.argsort(numbers, kind="stable")
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        ordered, present = numbers[order], len(order) - int(missing.sum())
        runs = []
        for low, high in _ranges(column, values):
            ends = np.searchsorted(ordered, low, "left"), np.searchsorted(ordered, high, "right")
            runs.append(np.stack(ends, axis=1) if len(low) else np.array([[present, len(order)]]))
        return cls(order, places, runs, codes)

    @property
    def sizes(self) -> Integers:
        """How many raw rows each released value covers."""
        return np.array([int((pairs[:, 1] - pairs[:, 0]).sum()) for pairs in self.runs])

    def rows(self, value: int) -> Integers:
        """The raw rows that a value covers."""
        return np.concatenate([self.order[start:stop] for start, stop in self.runs[value]])

    def among(self, value: int, rows: Integers) -> Integers:
        """Those of these raw rows that a value covers."""
        places = self.places[rows]
        inside = np.zeros(len(rows), bool)
        for start, stop in self.runs[value]:
            inside |= (places >= start) & (places < stop)
        return rows[inside]


def _ranges(column: Column, values: Array) -> Iterator[tuple[Floats, Floats]]:
    """Each value as closed ranges of numbers or codes; none for missing, and everything (missing rows too) for ``*``."""
    if not isinstance(column.domain, Cells):
        for value, missing in zip(values.astype(np.float64), column.is_missing(values), strict=True):
            yield (np.empty(0), np.empty(0)) if missing else (np.array([value]), np.array([value]))
        return
    coded = column.kind in CODED
    flat, starts, sizes = members(column) if coded else (np.empty(0), np.empty(0), np.empty(0))
    low, high = (np.empty(0), np.empty(0)) if coded else spans(column)
    for code in values.tolist():
        if code < 0:
            yield np.empty(0), np.empty(0)
        elif column.domain.cells[code].anything:
            yield np.array([-np.inf]), np.array([np.inf])
        elif coded:
            under = flat[starts[code] : starts[code] + sizes[code]].astype(np.float64)
            gaps = np.flatnonzero(np.diff(under) > 1)
            yield under[np.append(0, gaps + 1)], under[np.append(gaps, len(under) - 1)]
        else:
            yield low[code : code + 1], high[code : code + 1]


@dataclass(frozen=True, eq=False)
class Pools:
    """For each class of released rows the raw rows that its cells cover, one class after the other."""

    covers: dict[str, Cover]
    classes: Integers
    """The class of each released row."""
    flat: Integers
    starts: Integers
    sizes: Integers

    @classmethod
    def of(cls, released: Table, names: Sequence[str], raw: Table) -> Pools:
        """Classes are equal on these columns. Each column narrows down what those before it left, the sharpest first."""
        covers = {name: Cover.of(released.schema[name], released[name], raw.schema[name], raw[name]) for name in names}
        sharpest = sorted(names, key=lambda name: int(covers[name].sizes[covers[name].codes].sum()))
        classes, _ = released.groups(names)
        _, first = np.unique(classes, return_index=True)
        keys = np.array([covers[name].codes[first] for name in sharpest]).reshape(len(sharpest), len(first))
        pools: list[Integers] = [np.empty(0, np.int64)] * len(first)
        held: list[Integers] = []
        before = np.full(len(sharpest), -1)
        for place in np.lexsort(keys[::-1]):
            key = keys[:, place]
            # Classes that begin alike share what their first columns leave.
            del held[int(np.flatnonzero(key != before)[0]) if len(held) else 0 :]
            for name in sharpest[len(held) :]:
                value = int(key[len(held)])
                held.append(covers[name].among(value, held[-1]) if held else covers[name].rows(value))
            pools[place], before = held[-1], key
        sizes = np.array([len(rows) for rows in pools], np.int64)
        return cls(covers, classes, np.concatenate([np.empty(0, np.int64), *pools]), np.cumsum(sizes) - sizes, sizes)

    @property
    def owner(self) -> Integers:
        """The class of each entry of ``flat``."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def draw(self, rng: np.random.Generator) -> Integers:
        """For each released row a raw row of its class, each as likely; -1 where its cells cover nobody."""
        sizes = self.sizes[self.classes]
        at = self.starts[self.classes] + (rng.random(len(sizes)) * sizes).astype(np.int64)
        return np.append(self.flat, -1)[np.where(sizes > 0, at, -1)]

    def draw_alone(self, name: str, where: Integers, rng: np.random.Generator) -> Integers:
        """For these released rows a raw row that this one column covers; -1 where it covers nobody."""
        cover = self.covers[name]
        drawn = np.full(len(where), -1, np.int64)
        codes = cover.codes[where]
        for value in np.unique(codes).tolist():
            rows, mine = cover.rows(value), np.flatnonzero(codes == value)
            if len(rows):
                drawn[mine] = rows[rng.integers(0, len(rows), len(mine))]
        return drawn
