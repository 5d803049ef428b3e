"""Isomap: coordinates whose Euclidean distances are those along the graph, as nearly as possible.

Tenenbaum, de Silva and Langford 2000: classical scaling of the distances between all points. Above ``EXACT`` points classical
scaling of some landmarks, and all others by their distances to these (de Silva and Tenenbaum 2004), which is also how a
point that was not there finds its place; memory stays linear in the points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.numerics.manifold.geodesics import Paths
from hushtable.numerics.manifold.graph import nearest
from hushtable.table.arrays import Floats, Integers

EXACT = 4_000
"""Up to so many distinct points all of them are landmarks."""
LANDMARKS = 1_000
"""Else so many are drawn."""


@dataclass(frozen=True, eq=False)
class Isomap:
    """The landmarks, and the linear map from squared distances to coordinates."""

    points: Floats
    paths: Paths
    neighbours: int
    landmarks: Integers
    slopes: Floats
    """landmarks x d."""
    origin: Floats

    @classmethod
    def of(
        cls, points: Floats, paths: Paths, weights: Integers, neighbours: int, dimensions: int, rng: np.random.Generator
    ) -> tuple[Isomap, Floats]:
        """Fitted to distinct points, each of which ``weights`` records lie at; and their coordinates."""
        n = len(points)
        landmarks = np.arange(n) if n <= EXACT else np.sort(rng.choice(n, LANDMARKS, replace=False))
        masses = weights[landmarks].astype(np.float64) if n <= EXACT else np.ones(len(landmarks))
        squares = paths.matrix(landmarks)
        np.square(squares, out=squares)
        means = squares @ masses / masses.sum()
        values, vectors = _scaling(squares, means, masses, min(dimensions, len(landmarks)), rng)
        roots, positive = np.sqrt(np.maximum(values, 0)), values > 1e-12 * max(values.max(), 0)
        slopes = np.zeros((len(landmarks), dimensions))
        slopes[:, : len(roots)][:, positive] = -0.5 * np.sqrt(masses)[:, None] * vectors[:, positive] / roots[positive]
        fitted = cls(points, paths, neighbours, landmarks, slopes, means @ slopes)
        if n > EXACT:
            return fitted, fitted._placed(np.arange(n)[:, None], np.zeros((n, 1)))
        coordinates = np.zeros((n, dimensions))
        coordinates[:, : len(roots)][:, positive] = vectors[:, positive] * roots[positive] / np.sqrt(masses)[:, None]
        return fitted, coordinates

    def extend(self, points: Floats) -> Floats:
        """Coordinates of other points: paths to them go through their nearest neighbours among the fitted ones."""
        steps, near = nearest(points, self.points, self.neighbours)
        return self._placed(near, steps)

    def _placed(self, near: Integers, steps: Floats) -> Floats:
        return self.paths.combine(self.landmarks, self.slopes, near, steps) - self.origin


def _scaling(squares: Floats, means: Floats, masses: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The leading eigenvalues and vectors of the doubly centred squares, each point counted ``masses`` times.

    ``squares`` is overwritten: there is room for one such matrix.
    """
    from scipy.sparse.linalg import eigsh

    squares -= means[:, None]
    squares -= (means - means @ masses / masses.sum())[None, :]
    roots = np.sqrt(masses)
    squares *= roots[:, None]
    squares *= -0.5 * roots[None, :]
    if len(squares) <= 500 or count >= len(squares):
        values, vectors = np.linalg.eigh(squares)
    else:
        values, vectors = eigsh(squares, count, which="LA", v0=rng.random(len(squares)))
    order = np.argsort(-values)[:count]
    return values[order], oriented(vectors[:, order])


def oriented(vectors: Floats) -> Floats:
    """The same axes, each pointing to where it reaches farthest."""
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)
