"""The farthest free record in the search structure of MDAV (``boxes``), compiled, without visiting all.

A box bounds the distances of its records from above, but in many dimensions not well: its corners are far out. MDAV asks for
the record farthest from an average that hardly moves, so the distances computed earlier bound the present ones far better. Both
bounds are on the safe side: the answers are those of a full pass, ties going to the smaller row number.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hushtable.anonymize.microaggregate.boxes import LEAF, distances


@njit(cache=True, forceinline=True)
def most(boxes, node, point, modes):  # type: ignore[no-untyped-def]
    """No free record of the node is farther than this."""
    total = 0.0
    for j in range(boxes.low.shape[1]):
        gap = max(point[j] - boxes.low[node, j], boxes.high[node, j] - point[j])
        total += gap * gap
    for j in range(boxes.masks.shape[1]):
        if boxes.many[j] or boxes.masks[node, j] != np.uint64(1) << np.uint64(modes[j] & 63):
            total += boxes.weights[j]
    return total


@njit(cache=True)
def reaches(boxes, point, modes):  # type: ignore[no-untyped-def]
    """For each node the greatest distance of its records from a point."""
    inner = len(boxes.starts) - 2
    reach, out = np.full(len(boxes.counts), -np.inf), np.empty(LEAF)
    for node in range(len(reach) - 1, -1, -1):
        if node < inner:
            reach[node] = max(reach[2 * node + 1], reach[2 * node + 2])
        elif boxes.counts[node]:
            distances(boxes, point, modes, boxes.starts[node - inner], boxes.counts[node], out)
            far = 0.0
            for i in range(boxes.counts[node]):
                far = max(far, out[i])
            reach[node] = np.sqrt(far)
    return reach


@njit(cache=True)
def farthest(boxes, point, modes, still, centre, reach, path):  # type: ignore[no-untyped-def]
    """The place of the free record farthest from a point, with the help of what is known about a centre.

    The centre moves a little from question to question, and ``path`` is the length of its way so far. ``reach`` holds for each
    node the greatest distance of its records from the centre when they were last computed, less the way up to then: since
    then no distance has grown by more than the way (triangle inequality). ``still``: the point is the centre itself.
    """
    inner = len(boxes.starts) - 2
    stack, bounds, out = np.empty(64, np.int64), np.empty(64), np.empty(LEAF)
    lean = point - centre
    best, place, name = -1.0, -1, np.int64(-1)
    if still:
        best = _dive(boxes, point, modes, reach, path, out)
    stack[0], bounds[0], top = 0, np.inf, 1
    while top:
        top -= 1
        node, bound = stack[top], bounds[top]
        if bound < best or (bound == best and place >= 0 and boxes.first[node] > name):
            continue
        if node < inner:
            a, b = 2 * node + 1, 2 * node + 2
            far_a = _farther(boxes, a, point, modes, centre, lean, still, reach, path, best)
            far_b = _farther(boxes, b, point, modes, centre, lean, still, reach, path, best)
            if far_a > far_b:
                a, b, far_a, far_b = b, a, far_b, far_a
            if far_a >= 0:
                stack[top], bounds[top], top = a, far_a, top + 1
            if far_b >= 0:
                stack[top], bounds[top], top = b, far_b, top + 1
            continue
        start, count = boxes.starts[node - inner], boxes.counts[node]
        distances(boxes, point, modes, start, count, out)
        for i in range(count):
            if out[i] > best or (out[i] == best and (place < 0 or boxes.ids[start + i] < name)):
                best, place, name = out[i], start + i, boxes.ids[start + i]
    return place


@njit(cache=True, forceinline=True)
def _farther(boxes, node, point, modes, centre, lean, still, reach, path, best):  # type: ignore[no-untyped-def]
    """The lower of the bounds that memory and box give; -1 if it is below ``best``, or nothing is free.

    From a point x other than the centre c, |y - x|^2 = |x - c|^2 + |y - c|^2 - 2 (x - c)(y - c): memory bounds the second
    term, the box the third.
    """
    if not boxes.counts[node]:
        return -1.0
    # Unlike the box, all this is rounded: a billionth more is on the safe side.
    remembered = (reach[node] + path) * (1 + 1e-9) + path * 1e-9
    remembered *= remembered
    if not still:
        size = remembered
        for j in range(len(lean)):
            most_j = max(lean[j] * (centre[j] - boxes.low[node, j]), lean[j] * (centre[j] - boxes.high[node, j]))
            remembered += lean[j] * lean[j] + 2 * most_j
            size += lean[j] * lean[j] + 2 * abs(most_j)
        for j in range(boxes.masks.shape[1]):
            if boxes.many[j] or boxes.masks[node, j] != np.uint64(1) << np.uint64(modes[j] & 63):
                remembered += boxes.weights[j]
        remembered += 1e-9 * size
    if remembered < best:
        return -1.0
    bound = min(remembered, most(boxes, node, point, modes))
    return bound if bound >= best else -1.0


@njit(cache=True)
def _dive(boxes, point, modes, reach, path, out):  # type: ignore[no-untyped-def]
    """A distance that some free record has, and hardly any exceeds: go where memory says farthest, until it is right."""
    inner = len(boxes.starts) - 2
    best, last = -1.0, -1
    while True:
        node = 0
        while node < inner:
            node = 2 * node + (1 if reach[2 * node + 1] >= reach[2 * node + 2] else 2)
        if node == last:
            return best
        count, last, far = boxes.counts[node], node, -1.0
        if count:
            distances(boxes, point, modes, boxes.starts[node - inner], count, out)
            for i in range(count):
                far = max(far, out[i])
        best = max(best, far)
        reach[node] = np.sqrt(far) - path if count else -np.inf
        while node:
            node = (node - 1) // 2
            reach[node] = max(reach[2 * node + 1], reach[2 * node + 2])
