"""The neighbourhood graph: points linked to the near ones, and the whole connected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hushtable.errors import InputError
from hushtable.table.arrays import Floats, Integers

LINKS = 30_000_000
"""The most links that we are ready to hold."""
CHUNK = 2**22
"""Coordinates compared at once."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Undirected: the links of point i are ``ends[starts[i]:starts[i + 1]]``, ``lengths`` their Euclidean lengths."""

    starts: Integers
    ends: Integers
    lengths: Floats
    bridges: int = 0
    """Links that were added to connect the components."""

    @property
    def size(self) -> int:
        """Number of points."""
        return len(self.starts) - 1


def neighbourhood(points: Floats, neighbours: int, radius: float | None = None) -> Graph:
    """Each of these distinct points linked to its ``neighbours`` nearest, or to all within the radius, both ways.

    Components are then joined by a minimum spanning tree of their shortest Euclidean links (Boruvka), so that every
    distance along the graph is finite. Memory is linear in the number of links.
    """
    n = len(points)
    if n == 1:
        return Graph(np.zeros(2, np.int64), np.empty(0, np.int64), np.empty(0))
    one, other = _within(points, radius) if radius is not None else _k_nearest(points, min(neighbours, n - 1))
    starts, ends = _undirected(one, other, n)
    links = len(ends)
    while True:
        count, labels = connected_components(csr_array((np.ones(len(ends), np.int8), ends, starts), shape=(n, n)), directed=False)
        if count == 1:
            return Graph(starts, ends, _lengths(points, starts, ends), (len(ends) - links) // 2)
        bridges = _shortest_links(points, labels.astype(np.int64))
        old = np.repeat(np.arange(n), np.diff(starts))
        starts, ends = _undirected(np.append(old, bridges[0]), np.append(ends, bridges[1]), n)


def nearest(points: Floats, others: Floats, count: int) -> tuple[Floats, Integers]:
    """For each point the distances and the numbers of the ``count`` nearest of the others."""
    from sklearn.neighbors import NearestNeighbors

    distances, neighbours = NearestNeighbors(n_neighbors=min(count, len(others))).fit(others).kneighbors(points)
    return distances, neighbours.astype(np.int64)


def _k_nearest(points: Floats, count: int) -> tuple[Integers, Integers]:
    from sklearn.neighbors import NearestNeighbors

    neighbours = NearestNeighbors(n_neighbors=count).fit(points).kneighbors(return_distance=False)
    return np.repeat(np.arange(len(points)), count), neighbours.astype(np.int64).ravel()


def _within(points: Floats, radius: float) -> tuple[Integers, Integers]:
    from sklearn.neighbors import NearestNeighbors

    search, n = NearestNeighbors(radius=radius).fit(points), len(points)
    one, other, links = list[Integers](), list[Integers](), 0
    step = max(1, 2**24 // n)
    for start in range(0, n, step):
        neighbours = search.radius_neighbors(points[start : start + step], return_distance=False)
        sizes = np.array([len(f) for f in neighbours])
        links += int(sizes.sum())
        if links > LINKS:
            raise InputError(
                f"the radius {radius:g} links more pairs of records than fit in memory; take a smaller one", where="radius"
            )
        one.append(np.repeat(np.arange(start, start + len(neighbours)), sizes))
        other.append(np.concatenate(neighbours).astype(np.int64))
    return np.concatenate(one), np.concatenate(other)


def _undirected(one: Integers, other: Integers, n: int) -> tuple[Integers, Integers]:
    """Both directions of each link, once, without loops: where each point's links start, and where they end."""
    apart = one != other
    one, other = one[apart], other[apart]
    links = np.unique(np.concatenate([one * n + other, other * n + one]))
    return np.searchsorted(links, np.arange(n + 1) * n).astype(np.int64), links % n


def _lengths(points: Floats, starts: Integers, ends: Integers) -> Floats:
    """From the differences: what a search returns is rounded too coarsely where points are close."""
    begins = np.repeat(np.arange(len(points)), np.diff(starts))
    lengths = np.empty(len(ends))
    step = max(1, CHUNK // points.shape[1])
    for s in range(0, len(ends), step):
        part = slice(s, s + step)
        lengths[part] = np.sqrt(((points[begins[part]] - points[ends[part]]) ** 2).sum(axis=1))
    return lengths


def _shortest_links(points: Floats, labels: Integers) -> tuple[Integers, Integers]:
    """For every component but the largest, the shortest link out of it: by the cut property, links of a spanning tree.

    The others halve at least in number when these are added.
    """
    sizes = np.bincount(labels)
    inside = np.flatnonzero(labels != sizes.argmax())
    # Coordinates that vary most come first, so that most pairs are given up after a few of them.
    ordered = np.ascontiguousarray(points[:, np.argsort(-points.var(axis=0), kind="stable")])
    one, other = _search_links(ordered, labels, inside[np.argsort(sizes[labels[inside]], kind="stable")], len(sizes))
    linked = one >= 0
    return one[linked], other[linked]


@njit(cache=True)
def _search_links(points, labels, inside, count):  # type: ignore[no-untyped-def]
    """All pairs of a point inside and one of another component, each given up once it is longer than the best so far."""
    best = np.full(count, np.inf)
    one, other = np.full(count, -1), np.full(count, -1)
    for i in inside:
        own = labels[i]
        for j in range(len(points)):
            if labels[j] == own:
                continue
            total = 0.0
            for axis in range(points.shape[1]):
                gap = points[i, axis] - points[j, axis]
                total += gap * gap
                if total >= best[own]:
                    break
            if total < best[own]:
                best[own], one[own], other[own] = total, i, j
    return one, other
