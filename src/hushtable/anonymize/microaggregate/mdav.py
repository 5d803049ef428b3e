"""MDAV, maximum distance to the average vector, compiled: the partition and nothing else.

Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation" (2005), exactly as
published, with the second group formed from what the first one left. Ties go to the smaller row number, so the
partition is a function of the rows alone. The published algorithm passes over all free records four times for every two
groups; here a tree of boxes answers the same questions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.anonymize.microaggregate.boxes import LEAF, copy_record, grow, nearest, take
from hushtable.anonymize.microaggregate.farthest import farthest, reaches
from hushtable.table.arrays import Floats, Integers

SLICE = 1000
"""Rounds between two reports of progress."""


def partition(
    numbers: Floats,
    codes: NDArray[np.int32],
    weights: Floats,
    k: int,
    report: Callable[[float], None] = lambda share: None,
) -> Integers:
    """The group of each record: every group has at least ``k`` members and at most 2k - 1.

    ``numbers`` (columns x records) enter by squared difference, ``codes`` (columns x records) by their weight where
    they differ. The average vector holds means and modes. Needs at least ``k`` records.
    """
    n = numbers.shape[1]
    labels, label = np.full(n, -1, np.int64), 0
    levels = max((int(row.max()) + 1 for row in codes), default=1)
    tallies = np.array([np.bincount(row, minlength=levels) for row in codes], np.int64).reshape(len(codes), levels)
    free = np.arange(n)
    while len(free) >= 2 * k:
        boxes = grow(numbers[:, free], codes[:, free], weights, free)
        # When half of the records have their groups, the boxes are drawn anew around the others.
        enough = max(2 * k, len(free) // 2 if len(free) > 4 * LEAF else 0)
        while boxes.counts[0] >= enough:
            label = _rounds(boxes, k, enough, tallies, labels, label)
            report(1 - boxes.counts[0] / n)
        free = np.flatnonzero(labels < 0)
    labels[free] = label
    return labels


@njit(cache=True, nogil=True)
def _rounds(boxes, k, enough, tallies, labels, label):  # type: ignore[no-untyped-def]
    """Form groups, two in a round, until fewer than ``enough`` records are free, or for a slice; the next label."""
    p, q = len(boxes.numbers), len(boxes.codes)
    centre, middle = np.zeros(p), np.zeros(q, boxes.codes.dtype)
    point, modes = np.zeros(p), np.zeros(q, boxes.codes.dtype)
    places, near = np.empty(k, np.int64), np.empty(k)
    _average(boxes, tallies, centre, middle)
    reach, path = reaches(boxes, centre, middle), 0.0
    for _ in range(SLICE):
        free = boxes.counts[0]
        if free < enough:
            break
        path += _average(boxes, tallies, centre, middle)
        r = farthest(boxes, centre, middle, True, centre, reach, path)
        for side in range(2 if free >= 3 * k else 1):
            if side:
                # The second group grows around the record farthest from the first one's, among those still free.
                r = farthest(boxes, point, modes, False, centre, reach, path)
            copy_record(boxes, r, point, modes)
            nearest(boxes, point, modes, k, np.inf, places, near)
            for i in range(k):
                labels[boxes.ids[places[i]]] = label
                for j in range(q):
                    tallies[j, boxes.codes[j, places[i]]] -= 1
            take(boxes, places)
            label += 1
    return label


@njit(cache=True)
def _average(boxes, tallies, centre, middle):  # type: ignore[no-untyped-def]
    """Move the centre to the means and modes of the free records; how far it went."""
    moved = 0.0
    for j in range(len(centre)):
        mean = boxes.sums[0, j] / boxes.counts[0]
        moved += (mean - centre[j]) ** 2
        centre[j] = mean
    for j in range(len(middle)):
        mode = 0
        for level in range(1, tallies.shape[1]):
            mode = level if tallies[j, level] > tallies[j, mode] else mode
        moved += boxes.weights[j] if mode != middle[j] else 0.0
        middle[j] = mode
    return np.sqrt(moved)
