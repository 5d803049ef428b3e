"""The Poincare ball of curvature -1: distance, logarithm, exponential, nearest centre and Frechet mean, in any dimension.

A tangent vector is written in an orthonormal frame of its base, so that its Euclidean length is the geodesic length:
``|log(m, x)| = distance(m, x)``. The frame is the one that the translation of the base from the origin carries along.

**Which distance.** The ball of curvature -1 has d = arcosh(1 + 2s) = 2 arsinh(sqrt s), s = |x-y|^2 / ((1-|x|^2)(1-|y|^2))
(Nickel and Kiela 2017); half of it is the distance of curvature -4. Both have the same Frechet means, clusters and
silhouettes. The form (1/2) arcosh(1 + s) that is sometimes printed is neither, and no metric: with d as above it is
(1/2) arcosh(cosh^2(d/2)), which grows like d/sqrt 8 near zero and like d/2 far away. It bends upwards, so the
triangle inequality fails along every geodesic. It orders pairs of points as d does; ``printed`` is here to compare with.

Everything is computed from differences: with g = 1-|m|^2, h = 1-|x|^2 and e = x-m, the translate of x by -m is
(g e - |e|^2 m) / (|e|^2 + g h). No difference of large numbers is left, so points near the boundary keep their digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from hushtable.table.arrays import Floats, Integers

LIMIT = 1 - 1e-12
"""Points stay within this Euclidean norm: beyond it 1 - |x|^2 has no digits left."""
FURTHEST = 2 * math.atanh(LIMIT)
"""The geodesic distance of such a point from the origin."""


def distance(one: Floats, other: Floats) -> Floats:
    """The geodesic distance, over the last axis."""
    squared = ((one - other) ** 2).sum(-1)
    return np.asarray(2 * np.arcsinh(np.sqrt(squared / (_gap(one) * _gap(other)))))


def printed(one: Floats, other: Floats) -> Floats:
    """(1/2) arcosh(1 + s), as printed in some texts. Not a metric: the triangle inequality fails (see above)."""
    half = np.sqrt(((one - other) ** 2).sum(-1) / (_gap(one) * _gap(other)) / 2)
    # arcosh(1 + s) = 2 arsinh(sqrt(s/2)), which keeps its digits for near points.
    return np.asarray(np.arcsinh(half))


def log(base: Floats, points: Floats) -> Floats:
    """Tangent vectors at the base (one point, or one for each) that lead to the points."""
    base, points = np.broadcast_arrays(np.atleast_2d(base), np.atleast_2d(points))
    vectors: Floats = _logs(np.ascontiguousarray(base), np.ascontiguousarray(points))
    return vectors


def exp(base: Floats, vectors: Floats) -> Floats:
    """Where the geodesics lead that leave the base with these tangent vectors."""
    base, vectors = np.atleast_2d(base), np.atleast_2d(vectors)
    length = np.sqrt((vectors**2).sum(1, keepdims=True))
    # tanh(r/2)/r, which is 1/2 at zero.
    ratio = np.where(length > 1e-8, np.tanh(length / 2) / np.maximum(length, 1e-8), 0.5)
    # The sum of gyrovectors a and b, from e = a + b and the gaps, which is where its digits are near the boundary.
    total = base + ratio * vectors
    squared, gap = (total**2).sum(1, keepdims=True), _gap(base)[:, None]
    rest = gap / np.cosh(np.minimum(length, FURTHEST) / 2) ** 2
    return inside((squared * base + gap * total) / (squared + rest))


def inside(points: Floats) -> Floats:
    """The points, those too near the boundary pulled back along their ray."""
    norm = np.sqrt((points**2).sum(-1, keepdims=True))
    return np.asarray(points * np.minimum(1.0, LIMIT / np.maximum(norm, LIMIT)))


def clipped(vectors: Floats, reach: float) -> Floats:
    """The vectors, shortened to this length where they are longer."""
    norm = np.sqrt((vectors**2).sum(-1, keepdims=True))
    return np.asarray(vectors * (reach / np.maximum(norm, reach)))


def nearest(points: Floats, centres: Floats) -> tuple[Integers, Floats]:
    """For each point the number of its nearest centre (the first on a tie) and the distance to it. Linear memory."""
    labels, far = _nearest(np.ascontiguousarray(points), np.ascontiguousarray(centres))
    return labels, far


@dataclass(frozen=True)
class Mean:
    """A Frechet mean, how far it can be from the true one, and the steps it took."""

    point: Floats
    error: float
    """An upper bound on the geodesic distance to the true mean (but for rounding)."""
    steps: int


def mean(points: Floats, *, tolerance: float = 1e-9, steps: int = 2000) -> Mean:
    """The point with the least sum of squared distances. It is unique: the ball is a Hadamard manifold (Karcher 1977)."""
    points = np.ascontiguousarray(points, np.float64)
    if not len(points):
        raise ValueError("nothing has no mean")
    start = exp(np.zeros(points.shape[1]), log(np.zeros(points.shape[1]), points).mean(0))
    centres, error, taken = means(points, np.zeros(len(points), np.int64), start, tolerance=tolerance, steps=steps)
    return Mean(centres[0], float(error[0]), taken)


def means(
    points: Floats, labels: Integers, centres: Floats, *, tolerance: float = 1e-9, steps: int = 2000
) -> tuple[Floats, Floats, int]:
    """The Frechet mean of each group, by gradient descent from ``centres``; an empty group keeps its centre.

    Half the mean squared distance has, along every geodesic, a second derivative between 1 and the mean of d coth d. So
    a step of 1/L, where L bounds that mean on the whole step, always descends; and by strong convexity the true mean is
    no further than the length of the gradient, which is when to stop.
    """
    points, centres = np.ascontiguousarray(points), np.array(centres, np.float64)
    error = np.full(len(centres), np.inf)
    for taken in range(steps + 1):
        pull, bend, _, sizes = _pull(points, labels, centres)
        size = np.maximum(sizes, 1)
        gradient = pull / size[:, None]
        error = np.sqrt((gradient**2).sum(1))
        if (error <= tolerance).all() or taken == steps:
            break
        # d coth d grows by less than what is added to d, and the step is no longer than the gradient.
        centres = exp(centres, gradient / np.maximum(bend / size + error, 1.0)[:, None])
    return centres, error, taken


def inertia(points: Floats, labels: Integers, centres: Floats) -> Floats:
    """The sum of squared distances of each group to its centre."""
    squares: Floats = _pull(np.ascontiguousarray(points), labels, np.ascontiguousarray(centres))[2]
    return squares


def _gap(points: Floats) -> Floats:
    norm = np.sqrt((points**2).sum(-1))
    return np.asarray((1 - norm) * (1 + norm))


@njit(cache=True)
def _gap_of(point: Floats) -> float:
    """1 - |x|^2, from the norm: near the boundary the square would lose half of the digits."""
    squared = 0.0
    for k in range(len(point)):
        squared += point[k] * point[k]
    norm = math.sqrt(squared)
    return (1.0 - norm) * (1.0 + norm)


@njit(cache=True)
def _log_into(base: Floats, base_gap: float, point: Floats, out: Floats) -> float:
    """Write the tangent vector at the base that leads to the point; its length is returned.

    One record at a time and in a fixed order, so that a record's vector cannot depend on the other rows, not even in its
    last bit: sums of such vectors change by one vector when one record does.
    """
    squared = 0.0
    for k in range(len(base)):
        step = point[k] - base[k]
        squared += step * step
    both = base_gap * _gap_of(point)
    length = 2.0 * math.asinh(math.sqrt(squared / both))
    # |w| = sqrt(|e|^2 / D) with D = |e|^2 + g h; the vector is w stretched from |w| to the length.
    whole = squared + both
    ratio = 2.0 if squared == 0.0 else length / math.sqrt(squared / whole)
    for k in range(len(base)):
        out[k] = ratio * (base_gap * (point[k] - base[k]) - squared * base[k]) / whole
    return length


@njit(cache=True)
def _nearest_to(point: Floats, centres: Floats, gaps: Floats) -> tuple[int, float]:
    """The number of the nearest centre, the first on a tie, and |x-v|^2 / (1-|v|^2), which orders them."""
    best, least = 0, np.inf
    for j in range(len(centres)):
        squared = 0.0
        for k in range(len(point)):
            step = point[k] - centres[j, k]
            squared += step * step
        if squared / gaps[j] < least:
            best, least = j, squared / gaps[j]
    return best, least


@njit(cache=True)
def gaps_of(points: Floats) -> Floats:
    """1 - |x|^2 of each point."""
    gaps = np.empty(len(points))
    for i in range(len(points)):
        gaps[i] = _gap_of(points[i])
    return gaps


@njit(cache=True)
def _logs(bases: Floats, points: Floats) -> Floats:
    out = np.empty_like(points)
    for i in range(len(points)):
        _log_into(bases[i], _gap_of(bases[i]), points[i], out[i])
    return out


@njit(cache=True)
def _nearest(points: Floats, centres: Floats) -> tuple[Integers, Floats]:
    gaps = gaps_of(centres)
    labels, far = np.empty(len(points), np.int64), np.empty(len(points))
    for i in range(len(points)):
        labels[i], least = _nearest_to(points[i], centres, gaps)
        far[i] = 2.0 * math.asinh(math.sqrt(least / _gap_of(points[i])))
    return labels, far


@njit(cache=True)
def _pull(points: Floats, labels: Integers, centres: Floats) -> tuple[Floats, Floats, Floats, Integers]:
    """For each group the sum of the tangent vectors at its centre, of d coth d, and of d^2; and its size."""
    groups, dimension = centres.shape
    gaps = gaps_of(centres)
    pull, vector = np.zeros((groups, dimension)), np.empty(dimension)
    bend, squares, sizes = np.zeros(groups), np.zeros(groups), np.zeros(groups, np.int64)
    for i in range(len(points)):
        j = labels[i]
        length = _log_into(centres[j], gaps[j], points[i], vector)
        for k in range(dimension):
            pull[j, k] += vector[k]
        bend[j] += 1.0 if length < 1e-6 else length / math.tanh(length)
        squares[j] += length * length
        sizes[j] += 1
    return pull, bend, squares, sizes


@njit(cache=True)
def cell_sums(points: Floats, centres: Floats, bases: Floats, scale: float, steps: int, weight: int) -> Integers:
    """For each centre, ``weight`` times its points and the sum of their tangent vectors at its base, in whole numbers.

    Vectors are multiplied by ``scale``, shortened so that after rounding they are no longer than ``steps``, and rounded.
    """
    groups, dimension = centres.shape
    gaps, base_gaps = gaps_of(centres), gaps_of(bases)
    out = np.zeros((groups, dimension + 1), np.int64)
    vector, whole = np.empty(dimension), np.empty(dimension, np.int64)
    longest = steps - math.sqrt(dimension) / 2 - 1
    for i in range(len(points)):
        j, _ = _nearest_to(points[i], centres, gaps)
        length = _log_into(bases[j], base_gaps[j], points[i], vector) * scale
        factor = scale if length <= longest else scale * (longest / length)
        squared = 0
        for k in range(dimension):
            whole[k] = np.int64(math.floor(vector[k] * factor + 0.5))
            squared += whole[k] * whole[k]
        out[j, 0] += weight
        if squared <= steps * steps:  # always, by the choice of ``longest``; if not, the record counts without a vector
            for k in range(dimension):
                out[j, 1 + k] += whole[k]
    return out
