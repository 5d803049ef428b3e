"""The search structure of MDAV, compiled: a tree of bounding boxes that finds the nearest free records without visiting all.

Records lie in small leaves of neighbours. Every node of the tree knows the box around its free records, and boxes shrink as
records are taken. A node is visited only if its box says that it may hold a nearer record than the best ones known. The
bounds are sums of the same terms in the same order as the distances, and rounding is monotone, so no record is passed over
wrongly: the answers are those of a full pass, ties going to the smaller row number.

Compiled callers in other files are cached by their own file alone: after a change here or in ``farthest``, delete the ``*.nbi`` in
``__pycache__``, or the old code runs on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.table.arrays import Floats, Integers, Mask

LEAF = 80
"""The most records in a leaf."""


class Boxes(NamedTuple):
    """Free records in leaves, and the tree above them: node i has the children 2i + 1 and 2i + 2."""

    numbers: Floats
    """Columns x places."""
    codes: NDArray[np.int32]
    weights: Floats
    many: Mask
    """Columns of codes with more than 64 levels: they share the bits of a mask."""
    ids: Integers
    """The row number of the record in each place."""
    starts: Integers
    """The first place of each leaf, and the end."""
    counts: Integers
    """Free records of each node; those of a leaf come first in it."""
    first: Integers
    """The smallest row number in each node."""
    low: Floats
    high: Floats
    sums: Floats
    masks: NDArray[np.uint64]
    """For each node and column of codes a bit set of the codes present."""


def grow(numbers: Floats, codes: NDArray[np.int32], weights: Floats, ids: Integers) -> Boxes:
    """The tree over these records (columns x records), whose row numbers are ``ids``."""
    n = numbers.shape[1]
    depth = max(0, int(np.ceil(np.log2(max(n, 1) / LEAF))))
    starts = np.arange(2**depth + 1) * n // 2**depth
    levels = max((int(row.max(initial=0)) + 1 for row in codes), default=1)
    order = _order(np.ascontiguousarray(numbers), np.ascontiguousarray(codes), weights, levels, depth)
    nodes, p, q = 2 ** (depth + 1) - 1, len(numbers), len(codes)
    many = np.array([row.max(initial=0) >= 64 for row in codes], dtype=np.bool_)
    boxes = Boxes(
        np.ascontiguousarray(numbers[:, order]), np.ascontiguousarray(codes[:, order]), weights, many, ids[order], starts,
        np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros((nodes, p)), np.zeros((nodes, p)),
        np.zeros((nodes, p)), np.zeros((nodes, q), np.uint64),
    )  # fmt: skip
    _fill(boxes)
    return boxes


@njit(cache=True, nogil=True)
def _order(numbers, codes, weights, levels, depth):  # type: ignore[no-untyped-def]
    """An order of the records in which neighbours lie together: halved again and again where they spread most."""
    p, n = numbers.shape
    order, keys, tally = np.arange(n), np.empty(n), np.zeros(levels, np.int64)
    for level in range(depth):
        for t in range(2**level):
            low, middle, high = (n * t) >> level, (n * (2 * t + 1)) >> (level + 1), (n * (t + 1)) >> level
            best, widest = 0, -1.0
            for j in range(p + len(codes)):
                spread = 0.0
                if j < p:
                    mean = 0.0
                    for i in range(low, high):
                        gap = numbers[j, order[i]] - mean
                        mean += gap / (i - low + 1)
                        spread += gap * (numbers[j, order[i]] - mean)
                    spread *= 4 / (high - low)
                else:
                    for i in range(low, high):
                        tally[codes[j - p, order[i]]] += 1
                    for i in range(low, high):
                        spread += weights[j - p] * (1 - tally[codes[j - p, order[i]]] / (high - low)) / (high - low)
                    for i in range(low, high):
                        tally[codes[j - p, order[i]]] = 0
                if spread > widest:
                    best, widest = j, spread
            for i in range(low, high):
                keys[i] = numbers[best, order[i]] if best < p else codes[best - p, order[i]]
            _halve(keys, order, low, middle, high)
    return order


@njit(cache=True)
def _halve(keys, order, low, middle, high):  # type: ignore[no-untyped-def]
    """Bring the smallest keys before the middle (quickselect)."""
    high -= 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i, j = i + 1, j - 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(cache=True, nogil=True)
def _fill(boxes):  # type: ignore[no-untyped-def]
    leaves = len(boxes.starts) - 1
    for leaf in range(leaves):
        boxes.counts[leaves - 1 + leaf] = boxes.starts[leaf + 1] - boxes.starts[leaf]
        _fit(boxes, leaf)
    for node in range(leaves - 2, -1, -1):
        _join(boxes, node)


@njit(cache=True)
def _fit(boxes, leaf):  # type: ignore[no-untyped-def]
    """Draw the box of a leaf around its free records."""
    node = len(boxes.starts) - 2 + leaf
    start, count = boxes.starts[leaf], boxes.counts[node]
    smallest = np.iinfo(np.int64).max
    for i in range(start, start + count):
        smallest = min(smallest, boxes.ids[i])
    boxes.first[node] = smallest
    for j in range(boxes.numbers.shape[0]):
        low, high, total = np.inf, -np.inf, 0.0
        for i in range(start, start + count):
            value = boxes.numbers[j, i]
            low, high, total = min(low, value), max(high, value), total + value
        boxes.low[node, j], boxes.high[node, j], boxes.sums[node, j] = low, high, total
    for j in range(boxes.codes.shape[0]):
        mask = np.uint64(0)
        for i in range(start, start + count):
            mask |= np.uint64(1) << np.uint64(boxes.codes[j, i] & 63)
        boxes.masks[node, j] = mask


@njit(cache=True)
def _join(boxes, node):  # type: ignore[no-untyped-def]
    """Draw the box of a node around those of its children."""
    a, b = 2 * node + 1, 2 * node + 2
    boxes.counts[node] = boxes.counts[a] + boxes.counts[b]
    boxes.first[node] = min(boxes.first[a], boxes.first[b])
    for j in range(boxes.low.shape[1]):
        boxes.low[node, j] = min(boxes.low[a, j], boxes.low[b, j])
        boxes.high[node, j] = max(boxes.high[a, j], boxes.high[b, j])
        boxes.sums[node, j] = boxes.sums[a, j] + boxes.sums[b, j]
    for j in range(boxes.masks.shape[1]):
        boxes.masks[node, j] = boxes.masks[a, j] | boxes.masks[b, j]


@njit(cache=True, forceinline=True)
def least(boxes, node, point, modes):  # type: ignore[no-untyped-def]
    """No free record of the node is nearer than this."""
    total = 0.0
    for j in range(boxes.low.shape[1]):
        gap = max(boxes.low[node, j] - point[j], point[j] - boxes.high[node, j], 0.0)
        total += gap * gap
    for j in range(boxes.masks.shape[1]):
        if not boxes.masks[node, j] & (np.uint64(1) << np.uint64(modes[j] & 63)):
            total += boxes.weights[j]
    return total


@njit(cache=True, forceinline=True)
def distances(boxes, point, modes, start, size, out):  # type: ignore[no-untyped-def]
    """From a point to ``size`` records in a row."""
    for i in range(size):
        out[i] = 0.0
    for j in range(boxes.numbers.shape[0]):
        for i in range(size):
            gap = boxes.numbers[j, start + i] - point[j]
            out[i] += gap * gap
    for j in range(boxes.codes.shape[0]):
        for i in range(size):
            out[i] += boxes.weights[j] if boxes.codes[j, start + i] != modes[j] else 0.0


@njit(cache=True)
def nearest(boxes, point, modes, k, limit, places, near):  # type: ignore[no-untyped-def]
    """The places of the k free records nearest to a point, sorted by (distance, row number); how many there are.

    Records farther than ``limit`` do not count.
    """
    inner = len(boxes.starts) - 2
    stack, bounds, out = np.empty(64, np.int64), np.empty(64), np.empty(LEAF)
    filled, worst, name = 0, limit, np.iinfo(np.int64).max
    stack[0], bounds[0], top = 0, 0.0, 1
    while top:
        top -= 1
        node, bound = stack[top], bounds[top]
        if bound > worst or (bound == worst and boxes.first[node] > name):
            continue
        if node < inner:
            a, b = 2 * node + 1, 2 * node + 2
            near_a = least(boxes, a, point, modes) if boxes.counts[a] else np.inf
            near_b = least(boxes, b, point, modes) if boxes.counts[b] else np.inf
            if near_a < near_b:
                a, b, near_a, near_b = b, a, near_b, near_a
            if near_a <= worst and boxes.counts[a]:
                stack[top], bounds[top], top = a, near_a, top + 1
            if near_b <= worst and boxes.counts[b]:
                stack[top], bounds[top], top = b, near_b, top + 1
            continue
        start, count = boxes.starts[node - inner], boxes.counts[node]
        distances(boxes, point, modes, start, count, out)
        for i in range(count):
            d, own = out[i], boxes.ids[start + i]
            if d > worst or (d == worst and own > name):
                continue
            at = filled if filled < k else k - 1
            filled = min(filled + 1, k)
            while at > 0 and (near[at - 1] > d or (near[at - 1] == d and boxes.ids[places[at - 1]] > own)):
                near[at], places[at] = near[at - 1], places[at - 1]
                at -= 1
            near[at], places[at] = d, start + i
            if filled == k:
                worst, name = near[k - 1], boxes.ids[places[k - 1]]
    return filled


@njit(cache=True)
def take(boxes, places):  # type: ignore[no-untyped-def]
    """The records in these places (which are sorted here) are no longer free: behind the free ones they go, and boxes shrink."""
    leaves = len(boxes.starts) - 1
    for t in range(1, len(places)):
        i = t
        while i and places[i - 1] > places[i]:
            places[i - 1], places[i] = places[i], places[i - 1]
            i -= 1
    # From behind, so that no record moves before its turn.
    for t in range(len(places) - 1, -1, -1):
        i = places[t]
        leaf = i * leaves // len(boxes.ids)
        while boxes.starts[leaf + 1] <= i:
            leaf += 1
        boxes.counts[leaves - 1 + leaf] -= 1
        last = boxes.starts[leaf] + boxes.counts[leaves - 1 + leaf]
        boxes.ids[i], boxes.ids[last] = boxes.ids[last], boxes.ids[i]
        for j in range(boxes.numbers.shape[0]):
            boxes.numbers[j, i], boxes.numbers[j, last] = boxes.numbers[j, last], boxes.numbers[j, i]
        for j in range(boxes.codes.shape[0]):
            boxes.codes[j, i], boxes.codes[j, last] = boxes.codes[j, last], boxes.codes[j, i]
        if t == 0 or places[t - 1] < boxes.starts[leaf]:
            _fit(boxes, leaf)
            node = leaves - 1 + leaf
            while node:
                node = (node - 1) // 2
                _join(boxes, node)


@njit(cache=True)
def copy_record(boxes, place, point, modes):  # type: ignore[no-untyped-def]
    """Copy the record in a place."""
    for j in range(len(point)):
        point[j] = boxes.numbers[j, place]
    for j in range(len(modes)):
        modes[j] = boxes.codes[j, place]
