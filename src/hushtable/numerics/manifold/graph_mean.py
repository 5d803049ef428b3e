"""The Frechet mean of records on their neighbourhood graph: the record with the least sum of squared geodesic distances.

Exact, with memory linear in the number of records: distances are never held for all pairs. One search from record i gives
its distances d_i. By the triangle inequality d_j(l) >= |d_i(l) - d_i(j)| for every l, so the sum of squares of j is at
least E_i - 2 d_i(j) S_i + N d_i(j)^2, with S_i the sum and E_i the sum of squares of d_i. Records are searched in the
order of their bounds, until no bound is below the best sum so far (Newling and Fleuret 2017 do so for sums of distances).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.numerics.manifold.geodesics import FAR, Paths
from hushtable.numerics.manifold.graph import nearest
from hushtable.table.arrays import Floats

_SLACK = 1e-9
"""Sums and bounds are rounded: a bound must exceed the best sum by this share before a point is passed over."""


@dataclass(frozen=True)
class GraphMean:
    """The point, its sum of squared geodesic distances, and the number of searches it took."""

    node: int
    energy: float
    searches: int


def graph_mean(paths: Paths, weights: NDArray[np.integer] | NDArray[np.floating] | None = None) -> GraphMean:
    """The point with the least sum of squared geodesic distances to all, each as often as its weight says (once if None).

    Of points whose sums differ by rounding only, the one with the least sum as computed, and the first on a tie.
    """
    weigh = np.ones(paths.size) if weights is None else np.asarray(weights, np.float64)
    total = float(weigh.sum())
    if total <= 0 or (weigh < 0).any():
        raise InputError("a mean needs weights that are not negative, and one that is positive", where="graph mean")
    bound, best, node, searches = np.zeros(paths.size), np.inf, -1, 0
    start = int(np.argmax(weigh))
    while True:
        lengths = _from(paths, start)
        searches += 1
        way, energy = float(lengths @ weigh), float(lengths**2 @ weigh)
        if energy < best or (energy == best and start < node):
            best, node = energy, start
        np.maximum(bound, energy - 2 * way * lengths + total * lengths**2, out=bound)
        bound[start] = np.inf
        start = int(np.argmin(bound))
        if bound[start] > best * (1 + _SLACK):
            return GraphMean(node, best, searches)


def graph_distance(paths: Paths, one: int, other: int) -> float:
    """The geodesic distance between two points of the graph: the manifold distance of two graph means."""
    return float(_from(paths, one)[other])


def manifold_distance(paths: Paths, records: Floats, one: Floats, other: Floats) -> float:
    """The geodesic distance of two points that need not be records: each goes straight to its nearest record first."""
    steps, ends = nearest(np.stack([one, other]), records, 1)
    if ends[0, 0] == ends[1, 0]:
        return float(np.sqrt(((one - other) ** 2).sum()))
    return float(steps.sum()) + graph_distance(paths, int(ends[0, 0]), int(ends[1, 0]))


def _from(paths: Paths, start: int) -> Floats:
    lengths = paths.distances(start)
    if (lengths >= FAR).any():
        raise InputError("the graph is not connected: join its components first", where="graph mean")
    return np.asarray(lengths * paths.unit, np.float64)
