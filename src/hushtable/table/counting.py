"""Many joint histograms in one pass over the rows, block by block, compiled."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import overload

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.table.arrays import Array, Integers
from hushtable.table.rows import Columns

Blocks = Iterable[Mapping[str, Array]]
"""Some rows at a time: for each column the cell of each row."""
BLOCK = 1 << 14
"""Rows whose cells are looked at together: so many of 15 columns lie in the nearest memory of a core."""
HELD = 1 << 26
"""The most cells that are counted in one pass: half a GB of them."""
SHARED = 1 << 22
"""The most cells that each of several workers counts for itself."""
NEAR = 1 << 12
"""Cells of a histogram that lie in the nearest memory of a core."""
MOST = 300
"""So many pairs are looked through for what may be counted together: with more it takes longer than it spares on a small table."""
KEPT = 1 << 29
"""Bytes of counts that are kept for the next question of the same rows."""


class Counts(Sequence[Integers]):
    """Histograms, each in as few bytes as its counts need until it is asked for."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        """In the order in which they were asked for."""
        self.arrays = arrays

    def __len__(self) -> int:
        """How many."""
        return len(self.arrays)

    @overload
    def __getitem__(self, place: int) -> Integers: ...
    @overload
    def __getitem__(self, place: slice) -> Counts: ...
    def __getitem__(self, place: int | slice) -> Integers | Counts:
        """One of them, or some."""
        return Counts(self.arrays[place]) if isinstance(place, slice) else self.arrays[place].astype(np.int64)


class Kept:
    """What was counted of some rows: the counts belong to the rows, and whoever asks again need not count again."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.held: dict[Columns, Array] = {}
        self.room = KEPT

    def histograms(self, sets: Sequence[Columns], sizes: Mapping[str, int], count: Callable[[Pass], Integers]) -> Counts:
        """The histograms of these sets; ``count`` makes a pass over the rows."""
        found = dict[Columns, Array]()
        for columns in dict.fromkeys(sets):
            if columns not in self.held and (around := self._around(columns)):
                found[columns] = smallest(summed({around: self.held[around].astype(np.int64)}, columns))
        fresh = [columns for columns in dict.fromkeys(sets) if columns not in self.held and columns not in found]
        for group in passes(fresh, sizes):
            own = Pass(joined(maximal(group, sizes), sizes), sizes)
            tops = own.parted(count(own))
            found |= {columns: smallest(summed(tops, columns)) for columns in group}
        result = Counts([self.held[columns] if columns in self.held else found[columns] for columns in sets])
        for columns, counts in found.items():
            if counts.nbytes <= self.room:
                self.held[columns] = counts
                self.room -= counts.nbytes
        return result

    def _around(self, columns: Columns) -> Columns | None:
        """The smallest of the held sets that has all of these columns."""
        around = [held for held in self.held if set(columns) <= set(held)]
        return min(around, key=lambda held: self.held[held].size, default=None)


def smallest(counts: Integers) -> Array:
    """Counts in as few bytes as the largest needs."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def counted(blocks: Blocks, sizes: Mapping[str, int], sets: Sequence[Columns], workers: int = 1) -> dict[Columns, Integers]:
    """The histograms of these sets over all blocks, which give for each column the cell of each row; shared marginals once.

    Only sets that are part of no other are counted; the others are sums of those.
    """
    own = Pass(joined(maximal(sets, sizes), sizes), sizes)
    found = own.parted(own.over(blocks, workers))
    return {columns: summed(found, columns) for columns in dict.fromkeys(sets)}


def passes(sets: Sequence[Columns], sizes: Mapping[str, int]) -> Iterator[list[Columns]]:
    """The sets in groups that are counted together, within ``HELD``: each with all that are part of its own."""
    tops = maximal(sets, sizes)
    home = {columns: next(top for top in tops if set(columns) <= set(top)) for columns in sets}
    group, cells = list[Columns](), 0
    for top in tops:
        own = math.prod(sizes[name] for name in top)
        if group and cells + own > HELD:
            yield group
            group, cells = [], 0
        group += [columns for columns in dict.fromkeys(sets) if home[columns] == top]
        cells += own
    if group:
        yield group


def maximal(sets: Sequence[Columns], sizes: Mapping[str, int]) -> list[Columns]:
    """The sets that are part of no other, large ones first."""
    tops: list[Columns] = []
    for columns in sorted(dict.fromkeys(sets), key=lambda own: -len(set(own))):
        if not any(set(columns) <= set(top) for top in tops):
            tops.append(columns)
    return tops


def joined(tops: Sequence[Columns], sizes: Mapping[str, int]) -> list[Columns]:
    """Sets that hold these: three small columns together, whose cells lie near, take the place of their pairs.

    A row is then counted once and not three times. Whole numbers that are summed down are the same.
    """
    pairs = [columns for columns in tops if len(columns) == 2 and sizes[columns[0]] * sizes[columns[1]] <= NEAR]
    if len(pairs) > MOST:
        return list(tops)
    joining = {frozenset(columns) for columns in pairs}
    waiting = set(joining)
    beside = dict[str, set[str]]()
    for one, two in pairs:
        beside.setdefault(one, set()).add(two)
        beside.setdefault(two, set()).add(one)
    triples = [
        (one, two, three)
        for one, two in pairs
        for three in sorted(beside[one] | beside[two])
        if three not in (one, two) and sizes[one] * sizes[two] * sizes[three] <= NEAR
    ]
    found = list[Columns]()
    # Those that spare most first: three pairs at once, then what is left of two.
    for fewest in (3, 2):
        for one, two, three in triples:
            inside = waiting & {frozenset((one, two)), frozenset((one, three)), frozenset((two, three))}
            if len(inside) >= fewest:
                found.append((one, two, three))
                waiting -= inside
    spared = joining - waiting
    return [*found, *(columns for columns in tops if frozenset(columns) not in spared)]


def summed(found: Mapping[Columns, Integers], columns: Columns) -> Integers:
    """The histogram of some columns from one that holds them all, its axes in their order."""
    if columns in found:
        return found[columns]
    top = min((top for top in found if set(columns) <= set(top)), key=lambda top: found[top].size)
    left = [name for name in top if name in columns]
    counts = found[top].sum(axis=tuple(place for place, name in enumerate(top) if name not in columns))
    return np.ascontiguousarray(counts.transpose([left.index(name) for name in columns]))


@dataclass
class Pass:
    """The plan of one pass: for each set which columns, with which strides, and where its cells lie among all."""

    sets: Sequence[Columns]
    sizes: Mapping[str, int]

    def __post_init__(self) -> None:
        self.names = tuple(dict.fromkeys(name for columns in self.sets for name in columns))
        place = {name: number for number, name in enumerate(self.names)}
        members, strides, starts, cells = list[int](), list[int](), [0], [0]
        for columns in self.sets:
            stride = 1
            own = list[tuple[int, int]]()
            for name in reversed(columns):
                own.append((place[name], stride))
                stride *= self.sizes[name]
            members += [number for number, _ in own]
            strides += [step for _, step in own]
            starts.append(len(members))
            cells.append(cells[-1] + stride)
        self.members, self.strides = np.array(members, np.int64), np.array(strides, np.int64)
        self.starts, self.cells = np.array(starts, np.int64), np.array(cells, np.int64)

    def over(self, blocks: Blocks, workers: int = 1) -> Integers:
        """The counts of all sets, one behind the other."""
        cells = int(self.cells[-1])
        if workers > 1 and cells <= SHARED:
            return self._side_by_side(blocks, workers)
        counts = np.zeros(cells, np.int64)
        for block in blocks:
            self._add(block, counts)
        return counts

    def parted(self, counts: Integers) -> dict[Columns, Integers]:
        """The counts of each set, of those of all."""
        shapes = [tuple(self.sizes[name] for name in columns) for columns in self.sets]
        ends = self.cells.tolist()
        return {
            columns: counts[ends[i] : ends[i + 1]].reshape(shape)
            for i, (columns, shape) in enumerate(zip(self.sets, shapes, strict=True))
        }

    def _side_by_side(self, blocks: Blocks, workers: int) -> Integers:
        """Counts of several blocks at a time; whole numbers are the same in any order of adding."""
        free = [np.zeros(int(self.cells[-1]), np.int64) for _ in range(workers)]
        counts = list(free)

        def add(block: Mapping[str, Array]) -> None:
            own = free.pop()
            self._add(block, own)
            free.append(own)

        with ThreadPoolExecutor(workers) as pool:
            waiting = deque[Future[None]]()
            for block in blocks:
                if len(waiting) == 2 * workers:
                    waiting.popleft().result()
                waiting.append(pool.submit(add, block))
            for future in waiting:
                future.result()
        return np.asarray(np.sum(counts, axis=0, dtype=np.int64))

    def _add(self, block: Mapping[str, Array], counts: Integers) -> None:
        buffer = np.empty((max(len(self.names), 1), BLOCK), np.int32)
        rows = len(next(iter(block.values())))
        for start in range(0, rows, BLOCK):
            length = min(BLOCK, rows - start)
            for number, name in enumerate(self.names):
                buffer[number, :length] = block[name][start : start + length]
            _count(buffer, length, self.members, self.strides, self.starts, self.cells, counts)


@njit(cache=True, nogil=True)
def _count(
    cells: NDArray[np.int32], length: int, members: Integers, strides: Integers, starts: Integers, ends: Integers, counts: Integers
) -> None:
    for own in range(len(starts) - 1):
        first, wide, base = starts[own], starts[own + 1] - starts[own], ends[own]
        if wide == 1:
            a = cells[members[first]]
            for row in range(length):
                counts[base + a[row]] += 1
        elif wide == 2:
            a, b, over_b = cells[members[first]], cells[members[first + 1]], strides[first + 1]
            for row in range(length):
                counts[base + a[row] + over_b * b[row]] += 1
        elif wide == 3:
            a, b, c = cells[members[first]], cells[members[first + 1]], cells[members[first + 2]]
            over_b, over_c = strides[first + 1], strides[first + 2]
            for row in range(length):
                counts[base + a[row] + over_b * b[row] + over_c * c[row]] += 1
        else:
            for row in range(length):
                place = base
                for member in range(first, first + wide):
                    place += strides[member] * cells[members[member], row]
                counts[place] += 1
