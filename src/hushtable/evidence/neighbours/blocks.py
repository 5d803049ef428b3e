"""Rows arranged so that a search can skip most of them: blocks of near rows, each with a sketch that stands for all of it.

The arrangement is that of a k-d tree (Bentley 1975): rows are divided again and again on the column that sets the two
parts furthest apart, until they fit into a block. The blocks, groups of them and the rows of a block have the same form, groups of
64 sketches turned sideways: one 64-bit mask for each column and bucket, and 64 intervals in one piece for each number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.table.arrays import Array, Integers, Singles

BUCKETS = 16
"""Classes that the levels of a column fall into, as bits of a sketch."""
GROUP = 64
"""Sketches compared at once, as bits of a machine word."""


class Sketch(NamedTuple):
    """For each row what its cells may be, roughly."""

    buckets: NDArray[np.uint16]
    """rows x columns of levels: a set of buckets."""
    low: Singles
    high: Singles
    """rows x numbers, on the scale of their ranges."""


class Groups(NamedTuple):
    """Sketches, 64 to a group."""

    masks: NDArray[np.uint64]
    """groups x (columns x buckets): the members that may lie in that bucket."""
    low: Singles
    high: Singles
    """groups x numbers x members."""


class Layout(NamedTuple):
    """Where the rows are."""

    order: Integers
    """The rows, near ones together."""
    place: Integers
    """Where in that order each row is."""
    starts: Integers
    """Where in that order each block begins, and the end."""
    first: Integers
    """The smallest row number of each block."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """An arrangement of rows."""

    layout: Layout
    rows: Groups
    """A group for each block."""
    boxes: Groups
    """The blocks themselves, 64 to a group."""
    tops: Groups
    """The groups of blocks, 64 to a group."""

    @classmethod
    def of(cls, sketch: Sketch) -> Blocks:
        """Arrange the rows of a sketch; memory is linear in their number."""
        order, begins = _arranged(sketch)
        starts = np.append(np.flatnonzero(begins), len(order))
        arranged = Sketch(sketch.buckets[order], sketch.low[order], sketch.high[order])
        boxes, ends = _around(arranged, starts), _ends(len(starts) - 1)
        tops = _around(boxes, ends)
        layout = Layout(order, np.argsort(order), starts, np.minimum.reduceat(order, starts[:-1]))
        return cls(layout, _grouped(arranged, starts), _grouped(boxes, ends), _grouped(tops, _ends(len(ends) - 1)))


def _ends(members: int) -> Integers:
    """Where each group of so many members begins, and the end."""
    return np.append(np.arange(0, members, GROUP), members)


def _around(sketch: Sketch, starts: Integers) -> Sketch:
    """A line for each part, which stands for all of its lines."""
    return Sketch(
        _merged(np.bitwise_or, sketch.buckets, starts[:-1]),
        _merged(np.minimum, sketch.low, starts[:-1]),
        _merged(np.maximum, sketch.high, starts[:-1]),
    )


def _merged(merge: np.ufunc, part: Array, starts: Integers) -> Array:
    """One line for each block: that of its rows merged."""
    return np.asarray(merge.reduceat(part, starts, axis=0)) if part.size else np.zeros((len(starts), 0), part.dtype)


@njit(cache=True)
def _key(buckets):  # type: ignore[no-untyped-def]
    """A number below 16 for a set of buckets, another one for each single bucket (a de Bruijn sequence)."""
    return (np.int64(buckets) * 0x09AF & 0xFFFF) >> 12


@njit(cache=True)
def _halves(counts, rows):  # type: ignore[no-untyped-def]
    """The keys to part from the others, as bits: the largest that fit into half of the rows, or the one that does not."""
    chosen, size = 0, 0
    while True:
        largest = -1
        for key in range(BUCKETS):
            fits = size == 0 or size + counts[key] <= rows // 2
            if counts[key] and not chosen >> key & 1 and fits and (largest < 0 or counts[key] > counts[largest]):
                largest = key
        if largest < 0:
            return chosen, size
        chosen, size = chosen | 1 << largest, size + counts[largest]


@njit(cache=True)
def _cut(sketch, order, start, end):  # type: ignore[no-untyped-def]
    """The column to divide these rows on, and where: levels first, then numbers; none if they are all alike.

    What a division is worth is how far apart it sets two rows of them, on average.
    """
    rows, levelled = end - start, sketch.buckets.shape[1]
    most, column, keys, middle = 0.0, -1, 0, 0.0
    for c in range(levelled):
        counts = np.zeros(BUCKETS, np.int64)
        for at in range(start, end):
            counts[_key(sketch.buckets[order[at], c])] += 1
        chosen, size = _halves(counts, rows)
        worth = 2 * (size / rows) * (1 - size / rows)
        if worth > most:
            most, column, keys = worth, c, chosen
    for c in range(sketch.low.shape[1]):
        mean, deviation = 0.0, 0.0
        for at in range(start, end):
            mean += sketch.low[order[at], c]
        mean /= rows
        for at in range(start, end):
            deviation += abs(sketch.low[order[at], c] - mean)
        # Boxes grow towards one another: half of the distance of the two means is left of it.
        if deviation / rows / 2 > most:
            most, column, middle = deviation / rows / 2, levelled + c, mean
    return column, keys, middle


@njit(cache=True)
def _arranged(sketch):  # type: ignore[no-untyped-def]
    """An order of the rows, and for each place of it whether a block starts there."""
    n = len(sketch.buckets)
    order, aside, starts = np.arange(n), np.empty(n, np.int64), np.zeros(n, np.bool_)
    # The smaller part is divided first, so that never more than one for each binary digit of n waits.
    waiting, ends = np.zeros(65, np.int64), np.zeros(65, np.int64)
    ends[0], top = n, 1
    while top:
        top -= 1
        start, end = waiting[top], ends[top]
        column, keys, middle = -1, 0, 0.0
        if end - start > GROUP:
            column, keys, middle = _cut(sketch, order, start, end)
        if column < 0:
            for at in range(start, end, GROUP):
                starts[at] = True
            continue
        cut = _divided(sketch, order, aside, start, end, column, keys, middle)
        parts = ((cut, end), (start, cut)) if end - cut > cut - start else ((start, cut), (cut, end))
        for part in parts:
            waiting[top], ends[top] = part
            top += 1
    return order, starts


@njit(cache=True)
def _divided(sketch, order, aside, start, end, column, keys, middle):  # type: ignore[no-untyped-def]
    """Put the rows of one side of a cut in front, both in the order they were in; where the others begin."""
    left, right, levelled = start, 0, sketch.buckets.shape[1]
    for at in range(start, end):
        row = order[at]
        if column < levelled:
            inside = keys >> _key(sketch.buckets[row, column]) & 1 == 1
        else:
            inside = sketch.low[row, column - levelled] <= middle
        if inside:
            order[left] = row
            left += 1
        else:
            aside[right] = row
            right += 1
    for at in range(right):
        order[left + at] = aside[at]
    return left


@njit(cache=True)
def _grouped(sketch, starts):  # type: ignore[no-untyped-def]
    """Sketches turned sideways."""
    groups, levelled, numbers = len(starts) - 1, sketch.buckets.shape[1], sketch.low.shape[1]
    masks = np.zeros((groups, levelled * BUCKETS), np.uint64)
    low, high = np.zeros((groups, numbers, GROUP), np.float32), np.zeros((groups, numbers, GROUP), np.float32)
    for g in range(groups):
        for row in range(starts[g], starts[g + 1]):
            member = row - starts[g]
            for c in range(levelled):
                for bucket in range(BUCKETS):
                    if sketch.buckets[row, c] >> np.uint16(bucket) & 1:
                        masks[g, c * BUCKETS + bucket] |= np.uint64(1) << np.uint64(member)
            for c in range(numbers):
                low[g, c, member], high[g, c, member] = sketch.low[row, c], sketch.high[row, c]
    return Groups(masks, low, high)
