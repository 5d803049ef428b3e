"""The compiled part of the neighbour search: bounds for 64 rows at once, then exact distances for the rows that the bounds leave.

What is in the names: ``query`` and ``target`` are cells, ``sketch`` is that of the queries, ``layout``, ``rows``, ``boxes`` and
``tops`` are the blocks of the targets and groups of them, ``starts`` and ``inverse`` those of the encoding.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from hushtable.evidence.neighbours.blocks import BUCKETS, GROUP

ONE = 1 << 40
"""The distance of two different levels, in the whole numbers that distances are summed in."""
FAR = 1 << 62
"""Beyond every distance and every row number."""
CHUNK = 256
"""Queries handed to a core at once."""

# The position of a single bit from the top six bits of its product with a de Bruijn sequence.
_SEQUENCE = 0x03F79D71B4CB0A89
_POSITION = np.zeros(64, np.int64)
_POSITION[[(_SEQUENCE << bit & (1 << 64) - 1) >> 58 for bit in range(64)]] = np.arange(64)


@njit(cache=True)
def _lowest(bits):  # type: ignore[no-untyped-def]
    """Which is the lowest bit that is set."""
    return _POSITION[(bits & ~bits + np.uint64(1)) * np.uint64(_SEQUENCE) >> np.uint64(58)]


@njit(cache=True)
def _gap(low_a, high_a, low_b, high_b, inverse):  # type: ignore[no-untyped-def]
    """Distance of two intervals, at most ONE; a missing value is a NaN, and only an unbounded cell covers it."""
    if low_a != low_a:
        return 0 if low_b != low_b or (low_b == -np.inf and high_b == np.inf) else ONE
    if low_b != low_b:
        return 0 if low_a == -np.inf and high_a == np.inf else ONE
    return np.int64(min(1.0, max(low_a - high_b, low_b - high_a, 0.0) * inverse) * ONE + 0.5)


@njit(cache=True)
def _distance(query, i, target, j, starts, inverse, parts):  # type: ignore[no-untyped-def]
    """The distance of two rows; ``parts`` are those of the columns."""
    levels, sets, total = query.codes.shape[1], len(starts) - 1, np.int64(0)
    for c in range(levels):
        part = ONE if query.codes[i, c] != target.codes[j, c] else 0
        parts[c] = part
        total += part
    for c in range(sets):
        part = ONE
        # A value is one word of many: only where both have bits is there anything to meet.
        for w in range(max(query.begin[i, c], target.begin[j, c]), min(query.end[i, c], target.end[j, c])):
            if query.sets[i, w] & target.sets[j, w]:
                part = 0
                break
        parts[levels + c] = part
        total += part
    for c in range(query.low.shape[1]):
        part = _gap(query.low[i, c], query.high[i, c], target.low[j, c], target.high[j, c], inverse[c])
        parts[levels + sets + c] = part
        total += part
    return total


@njit(cache=True)
def _differing(masks, g, places, ends):  # type: ignore[no-untyped-def]
    """For each member of a group how many columns of levels differ: the binary digits of the counts, 64 of them in a word.

    From 64 on the counts begin again, and the first word is set.
    """
    d64 = d32 = d16 = d8 = d4 = d2 = d1 = np.uint64(0)
    for c in range(len(ends) - 1):
        meet = np.uint64(0)
        for at in range(ends[c], ends[c + 1]):
            meet |= masks[g, places[at]]
        carry = ~meet
        d1, carry = d1 ^ carry, d1 & carry
        d2, carry = d2 ^ carry, d2 & carry
        d4, carry = d4 ^ carry, d4 & carry
        d8, carry = d8 ^ carry, d8 & carry
        d16, carry = d16 ^ carry, d16 & carry
        d32, carry = d32 ^ carry, d32 & carry
        d64 |= carry
    return d64, d32, d16, d8, d4, d2, d1


@njit(cache=True)
def _above(digits, limit):  # type: ignore[no-untyped-def]
    """The members whose count is above a limit."""
    above, equal, bit = np.uint64(0), ~np.uint64(0), 64
    for digit in digits:
        if limit & bit:
            equal &= digit
        else:
            above |= equal & digit
            equal &= ~digit
        bit >>= 1
    return above


@njit(cache=True)
def _bounds(groups, g, members, places, ends, low, high, i, worst, without, others, most, bounds):  # type: ignore[no-untyped-def]
    """The members of a group that may be near enough, as bits; their distances are at least ``bounds``.

    A row with one column unknown is as near as the sum of the others, hence at least all but the largest part.
    """
    numbers = groups.low.shape[1]
    alive = ~np.uint64(0) >> np.uint64(GROUP - members)
    digits = _differing(groups.masks, g, places, ends)
    limit = worst // ONE + without
    if limit < 2 * GROUP:
        alive &= ~_above(digits, limit)
    if alive == 0:
        return alive
    nil, one = np.float32(0), np.float32(1)
    for j in range(GROUP):
        others[j] = most[j] = nil
    for c in range(numbers):
        a, b = low[i, c], high[i, c]
        for j in range(GROUP):
            apart = min(max(a - groups.high[g, c, j], groups.low[g, c, j] - b, nil), one)
            # Never a difference of two sums: it would have no digits left.
            others[j] += min(apart, most[j])
            most[j] = max(apart, most[j])
    # What the sums may have gained by rounding, here and in the distances themselves.
    shrink, rounding = ONE * (1 - (numbers + 2) * 2.0**-23), numbers
    rest = alive
    while rest:
        j = _lowest(rest)
        rest &= rest - np.uint64(1)
        unlike = np.int64(0)
        for digit in digits:
            unlike = 2 * unlike + np.int64(digit >> np.uint64(j) & np.uint64(1))
        spared = without and unlike == 0
        unlike -= without and unlike > 0
        apart = np.float64(others[j]) + (0.0 if spared else most[j])
        bounds[j] = unlike * ONE + max(np.int64(apart * shrink) - rounding, 0)
    return alive


@njit(cache=True)
def _boxes(tops, boxes, count, places, ends, low, high, i, worst, without, others, most, upper, bounds, found, nearness):  # type: ignore[no-untyped-def]
    """Fill in the blocks that may be near enough, in order, and their bounds; how many there are, and which of them is nearest."""
    held, nearest_at, nearest_bound = 0, -1, FAR
    for top in range(len(tops.masks)):
        members = min(GROUP, len(boxes.masks) - top * GROUP)
        near = _bounds(tops, top, members, places, ends, low, high, i, worst, without, others, most, upper)
        while near:
            at = _lowest(near)
            near &= near - np.uint64(1)
            if upper[at] > worst:
                continue
            g = top * GROUP + at
            alive = _bounds(
                boxes, g, min(GROUP, count - g * GROUP), places, ends, low, high, i, worst, without, others, most, bounds
            )
            while alive:
                j = _lowest(alive)
                alive &= alive - np.uint64(1)
                if bounds[j] > worst:
                    continue
                found[held], nearness[held] = g * GROUP + j, bounds[j]
                if bounds[j] < nearest_bound:
                    nearest_at, nearest_bound = held, bounds[j]
                held += 1
    return held, nearest_at


@njit(cache=True)
def _hopeful(boxes, b, places, ends, low, high, i, best, parts):  # type: ignore[no-untyped-def]
    """Whether a block may hold the nearest row without some column: of its bound each column's own part is taken away.

    A query far from everything in one column is near to many rows without it, and to few without another.
    """
    g, at, levelled, numbers = b // GROUP, b % GROUP, len(ends) - 1, low.shape[1]
    total = np.int64(0)
    for c in range(levelled):
        meet = np.uint64(0)
        for place in places[ends[c] : ends[c + 1]]:
            meet |= boxes.masks[g, place]
        parts[c] = 0 if meet >> np.uint64(at) & np.uint64(1) else ONE
        total += parts[c]
    for c in range(numbers):
        apart = min(max(low[i, c] - boxes.high[g, c, at], boxes.low[g, c, at] - high[i, c], np.float32(0)), np.float32(1))
        # One rounding of single precision, and one of the distance itself.
        parts[levelled + c] = max(np.int64(np.float64(apart) * (1 - 2.0**-23) * ONE) - 1, 0)
        total += parts[levelled + c]
    hope = False
    for c in range(levelled + numbers):
        hope |= total - parts[c] <= best[c]
    return hope


@njit(cache=True)
def _note(best, names, total, parts, name, without):  # type: ignore[no-untyped-def]
    """Keep a row where it is nearer than what is there, once; distance and row number that the next one has to beat."""
    if without:
        worst, latest = np.int64(-1), np.int64(-1)
        for c in range(len(best)):
            rest = total - parts[c]
            if rest < best[c] or (rest == best[c] and name < names[c]):
                best[c], names[c] = rest, name
            if best[c] > worst or (best[c] == worst and names[c] > latest):
                worst, latest = best[c], names[c]
        return worst, latest
    k = len(best)
    at = k
    while at > 0 and (total < best[at - 1] or (total == best[at - 1] and name < names[at - 1])):
        at -= 1
    if at < k and (at == 0 or names[at - 1] != name):
        for later in range(k - 1, at, -1):
            best[later], names[later] = best[later - 1], names[later - 1]
        best[at], names[at] = total, name
    return best[k - 1], names[k - 1]


@njit(cache=True)
def _chunk(queries, query, sketch, target, layout, rows, boxes, tops, starts, inverse, skip_self, without, carry, index, distance):  # type: ignore[no-untyped-def]
    """The neighbours of some queries, one after the other; with ``carry`` only rows that are nearer than those that are there."""
    count, width = len(layout.first), sketch.buckets.shape[1] + sketch.low.shape[1]
    others, most = np.empty(GROUP, np.float32), np.empty(GROUP, np.float32)
    bounds, upper = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    found, nearness = np.empty(count, np.int64), np.empty(count, np.int64)
    places, ends = np.empty(sketch.buckets.shape[1] * BUCKETS, np.int64), np.zeros(sketch.buckets.shape[1] + 1, np.int64)
    parts = np.empty(width, np.int64)
    before = -1
    for i in queries:
        _places(sketch.buckets, i, places, ends)
        best, names = distance[i], index[i]
        if carry:
            worst, latest = _farthest(best, names)
        else:
            worst, latest = width * ONE + 1, FAR
            best[:], names[:] = worst, latest
        for slot in range(len(names) if before >= 0 else 0):
            name = index[before, slot]
            if 0 <= name < FAR and not (skip_self and name == i):
                total = _distance(query, i, target, layout.place[name], starts, inverse, parts)
                worst, latest = _note(best, names, total, parts, name, without)
        before = i
        held, nearest_at = _boxes(
            tops,
            boxes,
            count,
            places,
            ends,
            sketch.low,
            sketch.high,
            i,
            worst,
            without,
            others,
            most,
            upper,
            bounds,
            found,
            nearness,
        )
        for step in range(-1 if held else 0, held):
            at = nearest_at if step < 0 else step
            b = found[at]
            if step == nearest_at or nearness[at] > worst or (nearness[at] == worst and layout.first[b] > latest):
                continue
            if without and not _hopeful(boxes, b, places, ends, sketch.low, sketch.high, i, best, parts):
                continue
            start = layout.starts[b]
            members = layout.starts[b + 1] - start
            alive = _bounds(rows, b, members, places, ends, sketch.low, sketch.high, i, worst, without, others, most, bounds)
            while alive:
                j = _lowest(alive)
                alive &= alive - np.uint64(1)
                name = layout.order[start + j]
                if bounds[j] > worst or (bounds[j] == worst and name > latest) or (skip_self and name == i):
                    continue
                total = _distance(query, i, target, start + j, starts, inverse, parts)
                worst, latest = _note(best, names, total, parts, name, without)


@njit(cache=True)
def _farthest(best, names):  # type: ignore[no-untyped-def]
    """Distance and row number that the next row has to beat."""
    worst, latest = np.int64(-1), np.int64(-FAR)
    for c in range(len(best)):
        if best[c] > worst or (best[c] == worst and names[c] > latest):
            worst, latest = best[c], names[c]
    return worst, latest


@njit(cache=True)
def _places(buckets, i, places, ends):  # type: ignore[no-untyped-def]
    """Where the masks of the buckets of a row lie, column by column."""
    end = 0
    for c in range(buckets.shape[1]):
        for bucket in range(BUCKETS):
            if buckets[i, c] >> np.uint16(bucket) & 1:
                places[end] = c * BUCKETS + bucket
                end += 1
        ends[c + 1] = end


@njit(cache=True, parallel=True)
def scan(order, query, sketch, target, layout, rows, boxes, tops, starts, inverse, skip_self, without, carry, index, distance):  # type: ignore[no-untyped-def]
    """Fill in the neighbours of all queries, taken in the order given; ``without`` each column in turn, or the nearest k.

    With ``carry`` rows of other targets are there already, under negative numbers: of rows at one distance they come first.
    """
    for chunk in prange(-(-len(order) // CHUNK)):
        some = order[chunk * CHUNK : (chunk + 1) * CHUNK]
        _chunk(some, query, sketch, target, layout, rows, boxes, tops, starts, inverse, skip_self, without, carry, index, distance)
