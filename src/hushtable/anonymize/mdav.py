"""MDAV, maximum distance to the average vector, compiled: the partition and nothing else.

Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation" (2005), exactly as
published, with the second group formed from what the first one left. Ties go to the smaller row number, so the
partition is a function of the rows alone.

The published algorithm passes over all free records four times for every two groups. Here the records lie in small
blocks of neighbours, each with a bounding box, and a block is visited only if its box says that it may hold a nearer
(or a farther) record than the best one known. The bounds are sums of the same terms in the same order as the
distances, and rounding is monotone, so no record is passed over wrongly: the result is that of the full passes.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

BLOCK = 192
"""The most records in a block."""
RENEW = 64
"""Rounds after which the running sums are added up afresh, against drift."""


def partition(numbers: NDArray[np.float64], codes: NDArray[np.int32], weights: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """The group of each record: every group has at least ``k`` members and at most 2k - 1.

    ``numbers`` (columns x records) enter by squared difference, ``codes`` (columns x records) by their weight where
    they differ. The average vector holds means and modes. Needs at least ``k`` records.
    """
    numbers, codes = np.array(numbers, order="C"), np.array(codes, order="C")
    labels = np.empty(numbers.shape[1], np.int64)
    ids = np.arange(numbers.shape[1])
    label = 0
    while True:
        order, starts = _blocks(numbers, codes, weights)
        ids, numbers, codes = ids[order], numbers[:, order], codes[:, order]
        counts, label = _rounds(numbers, codes, weights, k, ids, starts, labels, label)
        kept = np.concatenate([np.arange(s, s + c) for s, c in zip(starts, counts, strict=False)])
        if len(kept) < 2 * k:
            labels[ids[kept]] = label
            return labels
        # Half of the records have found their groups: draw the blocks anew around the others.
        ids, numbers, codes = ids[kept], np.ascontiguousarray(numbers[:, kept]), np.ascontiguousarray(codes[:, kept])


@njit(cache=True)
def _blocks(numbers, codes, weights):  # type: ignore[no-untyped-def]
    """An order of the records in which neighbours lie together, and where its blocks start (with the end)."""
    p, n = numbers.shape
    order = np.arange(n)
    starts = [0]
    stack = [(0, n)]
    while stack:
        low, high = stack.pop()
        if high - low <= BLOCK:
            starts.append(high)
            continue
        part = order[low:high].copy()
        best, widest = 0, -1.0
        for j in range(p + codes.shape[0]):
            if j < p:
                values = numbers[j][part]
                spread = values.std() * 2
            else:
                line = codes[j - p][part]
                shares = np.bincount(line) / len(line)
                spread = np.sqrt(max(0.0, weights[j - p] * (1 - (shares * shares).sum())))
            if spread > widest:
                best, widest = j, spread
        keys = numbers[best][part] if best < p else codes[best - p][part].astype(np.float64)
        order[low:high] = part[np.argsort(keys, kind="mergesort")]
        middle = (low + high) // 2
        stack.append((middle, high))
        stack.append((low, middle))
    return order, np.array(starts)


@njit(cache=True)
def _boxes(numbers, codes, starts, low, high, masks):  # type: ignore[no-untyped-def]
    """Bounds of the numbers of each block, and a bit set of its codes (codes above 63 share bits)."""
    for b in range(len(starts) - 1):
        for j in range(numbers.shape[0]):
            line = numbers[j, starts[b] : starts[b + 1]]
            low[b, j], high[b, j] = line.min(), line.max()
        for j in range(codes.shape[0]):
            mask = np.uint64(0)
            for i in range(starts[b], starts[b + 1]):
                mask |= np.uint64(1) << np.uint64(codes[j, i] & 63)
            masks[b, j] = mask


@njit(cache=True)
def _least(b, low, high, masks, weights, centre, modes):  # type: ignore[no-untyped-def]
    """No record of the block is nearer than this."""
    total = 0.0
    for j in range(low.shape[1]):
        gap = max(low[b, j] - centre[j], centre[j] - high[b, j], 0.0)
        total += gap * gap
    for j in range(masks.shape[1]):
        if not masks[b, j] & (np.uint64(1) << np.uint64(modes[j] & 63)):
            total += weights[j]
    return total


@njit(cache=True)
def _most(b, low, high, masks, weights, centre, modes, many):  # type: ignore[no-untyped-def]
    """No record of the block is farther than this."""
    total = 0.0
    for j in range(low.shape[1]):
        gap = max(centre[j] - low[b, j], high[b, j] - centre[j])
        total += gap * gap
    for j in range(masks.shape[1]):
        if many[j] or masks[b, j] != np.uint64(1) << np.uint64(modes[j] & 63):
            total += weights[j]
    return total


@njit(cache=True)
def _distances(numbers, codes, weights, centre, modes, start, stop, out):  # type: ignore[no-untyped-def]
    size = stop - start
    out[:size] = 0.0
    for j in range(numbers.shape[0]):
        line, value = numbers[j, start:stop], centre[j]
        for i in range(size):
            gap = line[i] - value
            out[i] += gap * gap
    for j in range(codes.shape[0]):
        marks, code, weight = codes[j, start:stop], modes[j], weights[j]
        for i in range(size):
            out[i] += weight if marks[i] != code else 0.0


@njit(cache=True)
def _farthest(numbers, codes, weights, ids, starts, counts, low, high, masks, many, centre, modes, bounds, out):  # type: ignore[no-untyped-def]
    """The position of the free record farthest from a point, the smaller row number on a tie."""
    first, top = -1, -1.0
    for b in range(len(counts)):
        bounds[b] = _most(b, low, high, masks, weights, centre, modes, many) if counts[b] else -1.0
        if bounds[b] > top:
            first, top = b, bounds[b]
    best, place = -1.0, -1
    for t in range(-1, len(counts)):
        b = first if t < 0 else t
        if (t == first and t >= 0) or bounds[b] < best or counts[b] == 0:
            continue
        start = starts[b]
        _distances(numbers, codes, weights, centre, modes, start, start + counts[b], out)
        for i in range(counts[b]):
            if out[i] > best or (out[i] == best and ids[start + i] < ids[place]):
                best, place = out[i], start + i
    return place


@njit(cache=True)
def _nearest(numbers, codes, weights, ids, starts, counts, low, high, masks, centre, modes, home, k, places, near, out):  # type: ignore[no-untyped-def]
    """The positions of the k free records nearest to a point, sorted by (distance, row number); begins in block ``home``."""
    found, worst = 0, np.inf
    blocks = len(counts)
    for step in range(2 * blocks + 1):
        # home, home + 1, home - 1, home + 2, ...: blocks close in order are close in space
        b = home + (step + 1) // 2 if step % 2 else home - step // 2
        if b < 0 or b >= blocks or counts[b] == 0:
            continue
        if found == k and _least(b, low, high, masks, weights, centre, modes) > worst:
            continue
        start = starts[b]
        _distances(numbers, codes, weights, centre, modes, start, start + counts[b], out)
        for i in range(counts[b]):
            d = out[i]
            if d > worst:
                continue
            name = ids[start + i]
            if found == k:
                if d == worst and name > ids[places[k - 1]]:
                    continue
                at = k - 1
            else:
                at = found
                found += 1
            while at > 0 and (near[at - 1] > d or (near[at - 1] == d and ids[places[at - 1]] > name)):
                near[at], places[at] = near[at - 1], places[at - 1]
                at -= 1
            near[at], places[at] = d, start + i
            if found == k:
                worst = near[k - 1]


@njit(cache=True)
def _assign(numbers, codes, ids, starts, counts, k, places, label, labels, sums, tallies):  # type: ignore[no-untyped-def]
    """Give the k places a label and close the gaps they leave in their blocks."""
    order = np.sort(places[:k])
    for t in range(k - 1, -1, -1):
        i = order[t]
        b = np.searchsorted(starts, i, side="right") - 1
        labels[ids[i]] = label
        for j in range(numbers.shape[0]):
            sums[j] -= numbers[j, i]
        for j in range(codes.shape[0]):
            tallies[j, codes[j, i]] -= 1
        counts[b] -= 1
        last = starts[b] + counts[b]
        ids[i], ids[last] = ids[last], ids[i]
        for j in range(numbers.shape[0]):
            numbers[j, i], numbers[j, last] = numbers[j, last], numbers[j, i]
        for j in range(codes.shape[0]):
            codes[j, i], codes[j, last] = codes[j, last], codes[j, i]


@njit(cache=True)
def _average(numbers, codes, starts, counts, live, renew, sums, tallies, centre, modes):  # type: ignore[no-untyped-def]
    if renew:
        sums[:] = 0.0
        for b in range(len(counts)):
            for j in range(numbers.shape[0]):
                sums[j] += numbers[j, starts[b] : starts[b] + counts[b]].sum()
    for j in range(numbers.shape[0]):
        centre[j] = sums[j] / live
    for j in range(codes.shape[0]):
        best = 0
        for level in range(1, tallies.shape[1]):
            if tallies[j, level] > tallies[j, best]:
                best = level
        modes[j] = best


@njit(cache=True)
def _rounds(numbers, codes, weights, k, ids, starts, labels, label):  # type: ignore[no-untyped-def]
    """Form groups until half of the records are placed (or all that can be); what is left of each block."""
    p, n = numbers.shape
    q, blocks = codes.shape[0], len(starts) - 1
    levels, many = 1, np.zeros(q, np.bool_)
    for j in range(q):
        top = codes[j].max() + 1
        levels, many[j] = max(levels, top), top > 64
    low, high, masks = np.empty((blocks, p)), np.empty((blocks, p)), np.empty((blocks, q), np.uint64)
    _boxes(numbers, codes, starts, low, high, masks)
    sums, tallies = np.zeros(p), np.zeros((q, levels), np.int64)
    for j in range(q):
        for i in range(n):
            tallies[j, codes[j, i]] += 1
    counts = np.diff(starts)
    places, near = np.empty(k, np.int64), np.empty(k)
    centre, modes = np.empty(p), np.zeros(q, codes.dtype)
    bounds, out = np.empty(blocks), np.empty(max(BLOCK, 1))
    live, rounds = n, 0
    while live >= 2 * k and (2 * live >= n or n < 4 * BLOCK):
        _average(numbers, codes, starts, counts, live, rounds % RENEW == 0, sums, tallies, centre, modes)
        rounds += 1
        r = _farthest(numbers, codes, weights, ids, starts, counts, low, high, masks, many, centre, modes, bounds, out)
        both = live >= 3 * k
        for side in range(2 if both else 1):
            for j in range(p):
                centre[j] = numbers[j, r]
            for j in range(q):
                modes[j] = codes[j, r]
            home = np.searchsorted(starts, r, side="right") - 1
            _nearest(numbers, codes, weights, ids, starts, counts, low, high, masks, centre, modes, home, k, places, near, out)
            _assign(numbers, codes, ids, starts, counts, k, places, label, labels, sums, tallies)
            live -= k
            label += 1
            # The second group grows around the record farthest from the first one's, among those still free.
            if side == 0 and both:
                r = _farthest(numbers, codes, weights, ids, starts, counts, low, high, masks, many, centre, modes, bounds, out)
    return counts, label
