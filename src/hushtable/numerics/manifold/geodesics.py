"""Shortest paths along a neighbourhood graph, one source at a time: no matrix of distances is held for a whole table.

Dijkstra's algorithm, compiled. Lengths are whole numbers of a unit of about 2^-40 of the diameter: an entry of the heap is
then one machine word (distance, point), sums of squares are exact in any order, so that running sums never drift and two
threads agree with one, and equal distances are equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from hushtable.numerics.manifold.graph import Graph
from hushtable.table.arrays import Floats, Integers

FAR = 2**62
"""The distance of a point that was not reached."""
SHARED = 100_000
"""Points reached above which work is shared out over the cores: below, they would wait for one another."""
PARTS = 8
"""Shares that sources are dealt out in; fixed, so that sums of floats do not depend on the machine."""


@dataclass(frozen=True, eq=False)
class Paths:
    """A connected graph with lengths in whole units."""

    starts: Integers
    ends: Integers
    lengths: Integers
    unit: float
    diameter: int
    """No two points are farther apart."""

    @classmethod
    def of(cls, graph: Graph) -> Paths:
        """No link is shorter than one unit, so that distinct points are apart."""
        bits = min(40, 61 - graph.size.bit_length())
        # Paths between any two points are no longer than twice the longest of the shortest ones from one of them.
        rough = cls(graph.starts, graph.ends, _whole(graph.lengths, float(graph.lengths.sum()) or 1.0, bits), 1.0, 0)
        widest = float(graph.lengths.sum()) * float(rough.distances(0).max() + graph.size) / 2.0**bits
        lengths = _whole(graph.lengths, 2 * widest or 1.0, bits)
        exact = cls(graph.starts, graph.ends, lengths, (2 * widest or 1.0) / 2.0**bits, 0)
        return cls(graph.starts, graph.ends, lengths, exact.unit, 2 * int(exact.distances(0).max()))

    @property
    def size(self) -> int:
        """Number of points."""
        return len(self.starts) - 1

    def distances(self, source: int) -> Integers:
        """From one point to all others, in units."""
        return self.reach(source, np.zeros(self.size, np.int64), 1)[0]

    def reach(self, source: int, weights: Integers, wanted: int) -> tuple[Integers, Integers]:
        """Distances from a point, only so far as the points reached weigh ``wanted`` (with all that are as far as the last).

        What lies farther is at the distance ``FAR``. Also the points that were reached, nearest first.
        """
        keys, order, heap = _room(self.size, len(self.ends))
        settled = _from(self.starts, self.ends, self.lengths, source, weights, wanted, keys, order, heap)
        return keys, order[:settled]

    def matrix(self, points: Integers) -> Floats:
        """Between these points, all pairs, in the unit of the space."""
        distances = np.empty((len(points), len(points)))
        _rows(self.starts, self.ends, self.lengths, points, distances)
        distances *= self.unit
        return distances

    def nearest(self, count: int) -> Integers:
        """For each point the ``count`` nearest others, nearest first."""
        neighbours = np.empty((self.size, count), np.int64)
        _closest(self.starts, self.ends, self.lengths, neighbours)
        return neighbours

    def combine(self, sources: Integers, slopes: Floats, near: Integers, steps: Floats) -> Floats:
        """Sums over the sources of their slopes (sources x d) times the squared distance, for points off the graph.

        Such a point is reached through that of its neighbours ``near``, which are ``steps`` away, that makes the path shortest.
        """
        sums = np.zeros((PARTS, len(near), slopes.shape[1]))
        _combine(self.starts, self.ends, self.lengths, self.unit, sources, slopes, near, steps, sums)
        total: Floats = sums.sum(axis=0)
        return total

    def coarse(self, records: int) -> int:
        """How many bits of a distance are left out so that the squares of as many of them can be added exactly."""
        return max(0, (self.diameter + 1).bit_length() - math.floor((62 - records.bit_length()) / 2))

    def add_squares(self, sources: Integers, weights: Integers, coarse: int, totals: Integers) -> None:
        """Add to each point's total the weighted squares of its distances from the sources."""
        parts = min(PARTS, len(sources)) if len(sources) * self.size > SHARED else 1
        sums = np.zeros((parts, self.size), np.int64)
        add = _shared_squares if parts > 1 else _squares
        add(self.starts, self.ends, self.lengths, sources, weights, coarse, sums if parts > 1 else sums[0])
        totals += sums.sum(axis=0)

    def medoids(self, point_of: Integers, groups: Integers) -> Integers:
        """Of each group the record with the least sum of squared distances to the others, the first on a tie."""
        order = np.argsort(groups, kind="stable").astype(np.int64)
        bounds = np.searchsorted(groups[order], np.arange(int(groups.max()) + 2)).astype(np.int64)
        coarse = self.coarse(int(np.diff(bounds).max()))
        medoids: Integers = _medoids(self.starts, self.ends, self.lengths, point_of, order, bounds, coarse)
        return medoids


def _whole(lengths: Floats, longest: float, bits: int) -> Integers:
    return np.maximum(np.round(lengths * (2.0**bits / longest)), 1).astype(np.int64)


@njit(cache=True)
def _pop(heap, size):  # type: ignore[no-untyped-def]
    """Take the top off a heap with four branches; ``size`` is what is left."""
    top, item, at = heap[0], heap[size], 0
    while True:
        first = 4 * at + 1
        if first >= size:
            break
        below, least = first, heap[first]
        for branch in range(first + 1, min(first + 4, size)):
            if heap[branch] < least:
                below, least = branch, heap[branch]
        if least >= item:
            break
        heap[at] = least
        at = below
    heap[at] = item
    return top


@njit(cache=True)
def _push(heap, size, item):  # type: ignore[no-untyped-def]
    """Add an item to a heap that holds ``size`` of them."""
    at = size
    while at > 0:
        above = (at - 1) >> 2
        if heap[above] <= item:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = item


@njit(cache=True)
def _room(points, links):  # type: ignore[no-untyped-def]
    """Distances, the order in which points are reached, and the heap of one search."""
    return np.empty(points, np.int64), np.empty(points, np.int64), np.empty(links + 1, np.int64)


@njit(cache=True)
def _from(starts, ends, lengths, source, weights, wanted, keys, order, heap):  # type: ignore[no-untyped-def]
    """Dijkstra from a source until the points reached weigh ``wanted``: fills distances and order, returns how many."""
    bits = 1
    while (len(starts) - 2) >> bits:
        bits += 1
    mask = (1 << bits) - 1
    keys[:] = FAR
    keys[source], heap[0] = 0, source
    size, settled, weight, last = 1, 0, 0, 0
    while size > 0:
        far = heap[0] >> bits
        if weight >= wanted and far > last:
            break
        size -= 1
        node = _pop(heap, size) & mask
        if far > keys[node]:
            continue  # reached before on a shorter way
        last = far
        order[settled] = node
        settled += 1
        weight += weights[node]
        for e in range(starts[node], starts[node + 1]):
            through = far + lengths[e]
            if through < keys[ends[e]]:
                keys[ends[e]] = through
                _push(heap, size, (through << bits) | ends[e])
                size += 1
    for i in range(size):
        if keys[heap[i] & mask] > last:
            keys[heap[i] & mask] = FAR
    return settled


@njit(cache=True)
def _to_all(starts, ends, lengths, source, room):  # type: ignore[no-untyped-def]
    """The distances of all points from a source: nothing weighs anything, so the search has no end before."""
    keys, order, heap = room
    _from(starts, ends, lengths, source, np.zeros(len(keys), np.int64), 1, keys, order, heap)
    return keys


@njit(cache=True, parallel=True)
def _rows(starts, ends, lengths, points, distances):  # type: ignore[no-untyped-def]
    """Fill the rows of a matrix of distances."""
    n = len(starts) - 1
    for part in prange(PARTS):
        room = _room(n, len(ends))
        for i in range(part, len(points), PARTS):
            keys = _to_all(starts, ends, lengths, points[i], room)
            for j in range(len(points)):
                distances[i, j] = keys[points[j]]


@njit(cache=True, parallel=True)
def _closest(starts, ends, lengths, neighbours):  # type: ignore[no-untyped-def]
    """The points reached first from each point, without itself."""
    n, count = len(starts) - 1, neighbours.shape[1]
    for part in prange(PARTS):
        keys, order, heap = _room(n, len(ends))
        ones = np.ones(n, np.int64)
        for i in range(part, n, PARTS):
            _from(starts, ends, lengths, i, ones, count + 1, keys, order, heap)
            neighbours[i] = order[1 : count + 1]


@njit(cache=True, parallel=True)
def _combine(starts, ends, lengths, unit, sources, slopes, near, steps, sums):  # type: ignore[no-untyped-def]
    """For each source in turn: squared distances of all points off the graph, times its slopes."""
    n = len(starts) - 1
    for part in prange(PARTS):
        room = _room(n, len(ends))
        for s in range(part, len(sources), PARTS):
            keys = _to_all(starts, ends, lengths, sources[s], room)
            for i in range(len(near)):
                least = np.inf
                for j in range(near.shape[1]):
                    least = min(least, keys[near[i, j]] * unit + steps[i, j])
                for axis in range(slopes.shape[1]):
                    sums[part, i, axis] += slopes[s, axis] * least * least


@njit(cache=True)
def _squares(starts, ends, lengths, sources, weights, coarse, sums):  # type: ignore[no-untyped-def]
    """Weighted squares of the distances from the sources."""
    n = len(starts) - 1
    room = _room(n, len(ends))
    for s in range(len(sources)):
        keys = _to_all(starts, ends, lengths, sources[s], room)
        for i in range(n):
            far = keys[i] >> coarse
            sums[i] += weights[s] * far * far


@njit(cache=True, parallel=True)
def _shared_squares(starts, ends, lengths, sources, weights, coarse, sums):  # type: ignore[no-untyped-def]
    """The same, shared out over the cores."""
    for part in prange(len(sums)):
        _squares(starts, ends, lengths, sources[part :: len(sums)], weights[part :: len(sums)], coarse, sums[part])


@njit(cache=True)
def _medoids(starts, ends, lengths, point_of, order, bounds, coarse):  # type: ignore[no-untyped-def]
    """A medoid for each group, from paths that go only as far as its members."""
    n = len(starts) - 1
    keys, settled, heap = _room(n, len(ends))
    marks = np.zeros(n, np.int64)
    medoids = np.empty(len(bounds) - 1, np.int64)
    for g in range(len(medoids)):
        members = order[bounds[g] : bounds[g + 1]]
        for i in members:
            marks[point_of[i]] += 1
        least = -1
        for i in members:
            _from(starts, ends, lengths, point_of[i], marks, len(members), keys, settled, heap)
            total = 0
            for j in members:
                far = keys[point_of[j]] >> coarse
                total += far * far
            if least < 0 or total < least:
                least, medoids[g] = total, i
        for i in members:
            marks[point_of[i]] = 0
    return medoids
