"""V-MDAV, compiled: groups of variable size, which grow where records lie close together.

Solanas and Martinez-Balleste, "V-MDAV: a multivariate microaggregation with variable group size", COMPSTAT 2006: around the
record farthest from the centre of the table a group of k is formed; then, up to 2k - 1 members, the free record nearest to
any member joins if it is nearer to the group than ``gamma`` times its distance to the nearest other free record. Records
that are left over in the end, fewer than k, join the group whose centre is nearest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from hushtable.anonymize.microaggregate.boxes import LEAF, copy_record, grow, nearest, take
from hushtable.anonymize.microaggregate.space import Space
from hushtable.table.arrays import Integers

SLICE = 1000
"""Groups between two reports of progress."""


def partition(space: Space, k: int, gamma: float, report: Callable[[float], None] = lambda share: None) -> Integers:
    """The group of each record: every group has at least ``k`` members. Needs at least ``k`` records."""
    numbers, codes, weights = np.ascontiguousarray(space.numbers), np.ascontiguousarray(space.codes), space.weights
    n = space.rows
    # The published algorithm finds the centre once, so the order of the starting records is known from the outset.
    whole = space.centres(np.zeros(n, np.int64))
    order = np.lexsort((np.arange(n), -space.distances(whole)))
    labels, at, label = np.full(n, -1, np.int64), 0, 0
    free = np.arange(n)
    while len(free) >= k:
        boxes = grow(numbers[:, free], codes[:, free], weights, free)
        enough = max(k, len(free) // 2 if len(free) > 4 * LEAF else 0)
        while boxes.counts[0] >= enough:
            at, label = _groups(boxes, numbers, codes, k, gamma, enough, order, at, labels, label)
            report(1 - boxes.counts[0] / n)
        free = np.flatnonzero(labels < 0)
    if len(free):
        # For each free record the group whose centre is nearest, the earlier on a tie.
        placed = np.flatnonzero(labels >= 0)
        centres = space.take(placed).centres(labels[placed])
        labels[free] = np.array([int(centres.distances(space.take(np.array([i]))).argmin()) for i in free])
    return labels


@njit(cache=True, nogil=True)
def _groups(boxes, numbers, codes, k, gamma, enough, order, at, labels, label):  # type: ignore[no-untyped-def]
    """Form groups until fewer than ``enough`` records are free, or for a slice; the place in the order, and the next label."""
    p, q, most = numbers.shape[0], codes.shape[0], 2 * k - 1
    members, marks = np.empty((most, p)), np.empty((most, q), codes.dtype)
    point, modes = np.empty(p), np.empty(q, codes.dtype)
    places, near = np.empty(k, np.int64), np.empty(k)
    for _ in range(SLICE):
        if boxes.counts[0] < enough:
            break
        while labels[order[at]] >= 0:
            at += 1
        start = order[at]
        for j in range(p):
            point[j] = numbers[j, start]
        for j in range(q):
            modes[j] = codes[j, start]
        nearest(boxes, point, modes, k, np.inf, places, near)
        for m in range(k):
            copy_record(boxes, places[m], members[m], marks[m])
            labels[boxes.ids[places[m]]] = label
        take(boxes, places)
        if gamma > 0:
            _extend(boxes, members, marks, k, gamma, labels, label)
        label += 1
    return at, label


@njit(cache=True)
def _extend(boxes, members, marks, size, gamma, labels, label):  # type: ignore[no-untyped-def]
    """Let the nearest free records join while they are nearer to the group than to one another."""
    place, near = np.empty(2, np.int64), np.empty(2)
    # For each member a lower bound of its distance to the free records, and the record that has it, if one is known.
    bound, spot, who = np.zeros(len(members)), np.full(len(members), -1, np.int64), np.full(len(members), -1, np.int64)
    while size < len(members) and boxes.counts[0]:
        d_in, chosen, name = np.inf, -1, np.int64(-1)
        for m in range(size):
            if bound[m] > d_in:
                continue
            if spot[m] < 0 or labels[who[m]] >= 0 or boxes.ids[spot[m]] != who[m]:
                near_one = nearest(boxes, members[m], marks[m], 1, d_in, place, near)
                bound[m], spot[m] = d_in, -1
                if near_one:
                    bound[m], spot[m], who[m] = near[0], place[0], boxes.ids[place[0]]
            if spot[m] >= 0 and (bound[m] < d_in or (bound[m] == d_in and who[m] < name)):
                d_in, chosen, name = bound[m], spot[m], who[m]
        copy_record(boxes, chosen, members[size], marks[size])
        # The record itself is one of the two, or both are as near as itself.
        others = nearest(boxes, members[size], marks[size], 2, np.inf, place, near)
        if others == 2 and not np.sqrt(d_in) < gamma * np.sqrt(near[1]):
            return
        labels[name] = label
        place[0] = chosen
        take(boxes, place[:1])
        size += 1
