"""Locally linear embedding: each point stays the same weighted mean of its neighbours, which are near along the graph.

Roweis and Saul 2000, with neighbours by geodesic distance as Garg and Torra 2023 have it. Above ``EXACT`` points some of them
are embedded, and all others are placed as the same weighted means of their nearest ones (Saul and Roweis 2003), as is a
point that was not there; memory stays linear in the points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, null_space
from scipy.sparse import csc_array, csr_array, eye_array

from hushtable.numerics.manifold.geodesics import Paths
from hushtable.numerics.manifold.graph import Graph, nearest, neighbourhood
from hushtable.numerics.manifold.isomap import oriented
from hushtable.table.arrays import Floats, Integers

EXACT = 4_000
"""Up to so many distinct points all of them are embedded together."""
RIDGE = 1e-3
"""Added to the local covariances, relative to their trace, as is usual where there are more neighbours than dimensions."""
CHUNK = 2**24
"""Differences of coordinates held at once."""


@dataclass(frozen=True, eq=False)
class Lle:
    """The points that were embedded, and where."""

    points: Floats
    coordinates: Floats
    neighbours: int

    @classmethod
    def of(
        cls, points: Floats, graph: Graph, neighbours: int, radius: float | None, dimensions: int, rng: np.random.Generator
    ) -> tuple[Lle, Floats]:
        """Fitted to distinct points; and their coordinates."""
        n = len(points)
        if n <= EXACT:
            coordinates = _embedded(points, graph, neighbours, dimensions, rng)
            return cls(points, coordinates, neighbours), coordinates
        picked = np.sort(rng.choice(n, EXACT, replace=False))
        some = points[picked]
        fitted = cls(some, _embedded(some, neighbourhood(some, neighbours, radius), neighbours, dimensions, rng), neighbours)
        coordinates = fitted.extend(points)
        coordinates[picked] = fitted.coordinates
        return fitted, coordinates

    def extend(self, points: Floats) -> Floats:
        """Coordinates of other points: weighted means of their nearest neighbours among the fitted ones."""
        _, near = nearest(points, self.points, self.neighbours)
        return np.asarray(np.einsum("nk,nkd->nd", _weights(points, self.points, near), self.coordinates[near]))


def _embedded(points: Floats, graph: Graph, neighbours: int, dimensions: int, rng: np.random.Generator) -> Floats:
    """The coordinates that the reconstruction weights fit best, centred and of unit variance."""
    n = len(points)
    count = min(dimensions, n - 1)
    coordinates = np.zeros((n, dimensions))
    if count:
        near = Paths.of(graph).nearest(min(neighbours, n - 1))
        starts = np.arange(0, near.size + 1, near.shape[1])
        rest = eye_array(n, format="csr") - csr_array((_weights(points, points, near).ravel(), near.ravel(), starts), shape=(n, n))
        coordinates[:, :count] = _lowest(rest.T @ rest, count, rng) * np.sqrt(n)
    return coordinates


def _weights(points: Floats, others: Floats, near: Integers) -> Floats:
    """For each point the weights, summing to one, with which its neighbours reconstruct it best."""
    n, k = near.shape
    weights = np.empty((n, k))
    step = max(1, CHUNK // (k * points.shape[1]))
    for start in range(0, n, step):
        part = slice(start, start + step)
        gaps = others[near[part]] - points[part, None, :]
        gram = gaps @ gaps.transpose(0, 2, 1)
        trace = np.trace(gram, axis1=1, axis2=2)
        gram += (RIDGE * np.where(trace > 0, trace, 1.0))[:, None, None] * np.eye(k)
        solved = np.linalg.solve(gram, np.ones((len(gram), k, 1)))[:, :, 0]
        weights[part] = solved / solved.sum(axis=1, keepdims=True)
    return weights


def _lowest(cost: csc_array, count: int, rng: np.random.Generator) -> Floats:
    """The eigenvectors of the lowest costs, orthogonal to the constant one."""
    from scipy.sparse.linalg import eigsh

    n = cost.shape[0]
    if n <= 500 or count + 1 >= n:
        values, vectors = eigh(cost.toarray(), subset_by_index=[0, count])
    else:
        # A little below zero, where the matrix can be inverted.
        values, vectors = eigsh(cost.tocsc(), count + 1, sigma=-1e-9 * cost.trace() / n, which="LM", v0=rng.random(n))
    # The constant costs nothing; where the graph nearly falls apart other vectors do so too, and may be mixed with it.
    basis = null_space(vectors.sum(axis=0)[None, :], rcond=1e-9)[:, :count]
    _, turn = eigh(basis.T @ (values[:, None] * basis))
    return oriented(vectors @ basis @ turn)
