"""The smallest sets of columns that single out a share of the people, by search over all columns given.

A person is singled out by a set of columns where nobody else has the values that one of their rows has in these columns. More
columns never single out fewer people, and no set singles out more people than its columns have combinations of values: by the
two, small sizes are searched completely. Beyond them the best sets of each size are extended (a beam search), which finds sets
that are small, and need not be the smallest. Work is counted, not timed, so the same table always has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np

from hushtable.table.arrays import Array, Integers, Mask
from hushtable.table.table import Table

SHARES = (0.01, 0.05, 0.2, 0.5)
"""The shares of the people for which the smallest sets are searched."""
WORK = 20_000_000
"""So many values are read in a search before it goes on with one set of each size alone."""
STEP = 5_000
"""One step of a search costs as much as so many values, however few it reads."""
BEAM = 6
"""So many sets of each size are extended."""
SHOWN = 3
"""So many sets of the smallest size are given."""
LARGEST = 24
"""No larger set is searched: who knows more columns knows the row."""


@dataclass(frozen=True)
class SinglingSet:
    """Columns, and the share of the people that they single out together."""

    columns: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Singling:
    """The smallest sets of columns that single out at least so many of the people."""

    share: float
    """The share of the people that was asked for."""
    sets: tuple[SinglingSet, ...]
    """Sets of one size, those that single out most first; empty where no set does."""
    proven: bool
    """Whether no smaller set (or, without sets, none at all) singles out so many; else a smaller one may have been missed."""

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        sets = [{"columns": list(one.columns), "share": one.share} for one in self.sets]
        return {"share": self.share, "sets": sets, "proven": self.proven}


@dataclass(frozen=True)
class Part:
    """The people whom a set of columns singles out, and the other rows in their groups."""

    columns: tuple[int, ...]
    rows: Integers
    ids: Integers
    groups: int
    singled: int
    """How many people, where every row is a person of its own."""
    people: Mask | None
    """Which people, where some hold several rows."""


class Columns:
    """The coded columns of a table, and the people who hold its rows."""

    def __init__(self, table: Table, names: Iterable[str]) -> None:
        self.names = tuple(names)
        coded = [coded_values(table[name]) for name in self.names]
        self.sizes = [len(counts) for _, counts in coded]
        self.codes = [codes for codes, _ in coded]
        self.persons = None if table.persons is None else np.unique(table.persons, return_inverse=True)[1].astype(np.int64)
        self.people = table.rows if self.persons is None else int(self.persons.max(initial=-1)) + 1
        self.work = 0
        rows = np.arange(table.rows, dtype=np.int64)
        nobody = None if self.persons is None else np.zeros(self.people, bool)
        self.whole = Part((), rows, np.zeros(table.rows, np.int64), 1, 0, nobody)

    def among(self, names: Iterable[str]) -> Columns:
        """Some of the columns, of the same people."""
        own = copy(self)
        own.names = tuple(names)
        places = [self.names.index(name) for name in own.names]
        own.sizes, own.codes, own.work = [self.sizes[i] for i in places], [self.codes[i] for i in places], 0
        return own

    def keys(self, part: Part, column: int) -> Integers:
        """For each row of a part, its group after one column more."""
        self.work += len(part.rows) + STEP
        return part.ids * self.sizes[column] + self.codes[column][part.rows]

    def measure(self, part: Part, column: int) -> tuple[int, int]:
        """How many people are singled out after one column more, and into how many groups the others fall."""
        keys = self.keys(part, column)
        if part.people is not None:
            ids, counts = _dense(keys, part.groups * self.sizes[column])
            single, people = self._of_one(part, ids, len(counts))
            return int(people.sum()), int((~single).sum())
        if part.groups * self.sizes[column] <= 8 * len(keys):
            counts = np.bincount(keys)
            alone, groups = int((counts == 1).sum()), int((counts > 0).sum())
        else:
            keys.sort()
            first = np.concatenate(([True], keys[1:] != keys[:-1], [True]))
            alone, groups = int((first[1:] & first[:-1]).sum()), int(first.sum()) - 1
        return part.singled + alone, groups - alone

    def extend(self, part: Part, column: int) -> Part:
        """The part after one column more."""
        return self._split(part, column, self.keys(part, column))

    def of(self, columns: Iterable[int]) -> Part:
        """The part of a set of columns."""
        part = self.whole
        for column in columns:
            part = self.extend(part, column)
        return part

    def share(self, names: Iterable[str]) -> float:
        """The share of the people whom these columns single out."""
        return self.of(self.names.index(name) for name in names).singled / max(1, self.people)

    def _split(self, part: Part, column: int, keys: Integers) -> Part:
        ids, counts = _dense(keys, part.groups * self.sizes[column])
        people: Mask | None = None
        if part.people is None:
            alone = counts == 1
            singled = part.singled + int(alone.sum())
        else:
            alone, people = self._of_one(part, ids, len(counts))
            singled = int(people.sum())
        left = ~alone[ids]
        place = np.cumsum(~alone) - 1
        return Part((*part.columns, column), part.rows[left], place[ids[left]], int((~alone).sum()), singled, people)

    def _of_one(self, part: Part, ids: Integers, groups: int) -> tuple[Mask, Mask]:
        """Which groups one person alone holds, and which people are singled out once these are known."""
        assert self.persons is not None
        assert part.people is not None
        holders, some = self.persons[part.rows], np.empty(groups, np.int64)
        some[ids] = holders
        alone, people = np.ones(groups, bool), part.people.copy()
        alone[ids[some[ids] != holders]] = False
        people[some[alone]] = True
        return alone, people


def coded_values(array: Array) -> tuple[Integers, Integers]:
    """For each row the place of its value among all that occur, and how often each occurs; missing is a value like any other."""
    if array.dtype.kind == "i" and len(array):
        low, high = int(array.min()), int(array.max())
        # A missing integer is the smallest there is, and as far from the others as can be.
        if high - low <= 4 * len(array):
            return _dense(array.astype(np.int64) - low, high - low + 1)
    _, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    return codes.astype(np.int64), counts


def _dense(keys: Integers, span: int) -> tuple[Integers, Integers]:
    """The keys, all below the span, numbered without gaps, and how often each occurs."""
    if span > 8 * len(keys):
        _, ids, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return ids, counts
    counts = np.bincount(keys, minlength=1)
    taken = counts > 0
    return (np.cumsum(taken) - 1)[keys], counts[taken]


def smallest(columns: Columns, shares: Sequence[float] = SHARES, work: int | None = None) -> tuple[Singling, ...]:
    """For each share, the smallest sets of columns that single out at least so many people; ``work`` in place of ``WORK``."""
    people, order = columns.people, range(len(columns.names))
    most = columns.of(order).singled
    open_shares = [share for share in shares if most > 0 and share * people <= most]
    found: dict[float, Singling] = {share: Singling(share, (), proven=True) for share in shares if share not in open_shares}
    best: Mapping[tuple[int, ...], tuple[int, int]] = {(): (0, 1)}
    # Of sizes up to this one every set that could single out enough was measured.
    complete, limit = 0, columns.work + (WORK if work is None else work)
    for size in range(1, min(LARGEST, len(columns.names)) + 1):
        if not open_shares:
            break
        hopeful = _hopeful(columns, size, min(open_shares) * people) if complete == size - 1 else None
        if hopeful is not None and len(hopeful) * (people + STEP) <= limit - columns.work:
            measured, complete = _all_of(columns, hopeful), size
        else:
            measured = _extended(columns, best, 1 if columns.work > limit else BEAM)
        for share in list(open_shares):
            reached = sorted((c for c in measured if measured[c][0] >= share * people), key=lambda c: (-measured[c][0], c))
            if reached:
                sets = tuple(SinglingSet(tuple(columns.names[i] for i in c), measured[c][0] / people) for c in reached[:SHOWN])
                found[share] = Singling(share, sets, proven=complete >= size - 1)
                open_shares.remove(share)
        # Where no set of this size can single out enough, larger ones still begin with one of it.
        best = measured or _extended(columns, best, 1)
    return tuple(found.get(share, Singling(share, (), proven=False)) for share in shares)


def _hopeful(columns: Columns, size: int, people: float) -> list[tuple[int, ...]] | None:
    """All sets of a size that have as many combinations of values as there are people to single out; None if they are too many."""
    if comb(len(columns.names), size) > 20_000:
        return None
    sets = combinations(range(len(columns.names)), size)
    return [c for c in sets if size == 1 or prod(columns.sizes[i] for i in c) >= people]


def _all_of(columns: Columns, sets: Iterable[tuple[int, ...]]) -> dict[tuple[int, ...], tuple[int, int]]:
    """How many people each of the sets singles out; sets that begin alike are taken together."""
    measured, start = {}, columns.whole
    for one in sets:
        if one[:-1] != start.columns:
            start = columns.of(one[:-1])
        measured[one] = columns.measure(start, one[-1])
    return measured


def _extended(
    columns: Columns, best: Mapping[tuple[int, ...], tuple[int, int]], beam: int
) -> dict[tuple[int, ...], tuple[int, int]]:
    """The best sets of a size with every column that they lack."""
    measured: dict[tuple[int, ...], tuple[int, int]] = {}
    for one in sorted(best, key=lambda c: (-best[c][0], -best[c][1], c))[:beam]:
        start = columns.of(one)
        for column in range(len(columns.names)):
            extended = tuple(sorted({*one, column}))
            if column not in one and extended not in measured:
                measured[extended] = columns.measure(start, column)
    return measured
