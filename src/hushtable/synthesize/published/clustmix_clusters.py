"""The clusters of ClustMix, of at least l records each: a size-constrained Gaussian mixture, and k-means with the same constraint.

The published proof takes these clusters as fixed, and one record can re-form all of them. The certified twin, the step
``clustmix-certified``, forms its groups by private choices or by a public order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from hushtable.table.arrays import Floats, Integers

ROUNDS = 30
"""After so many rounds a mixture that still changes counts as not converged."""
_LEAST = 1e-6
"""The least variance of a cluster, as a share of the variance of all records, below which a mixture counts as degenerate."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which cluster each record is in, and whether it is one of the mixture or of k-means."""

    labels: Integers
    mixture: bool
    cost: float
    """Minus the log-likelihood of a mixture (but for a constant), or the sum of squares of k-means."""


def constrained_mixture(points: Floats, count: int, least: int, rng: np.random.Generator, starts: int = 1) -> Clusters:
    """``count`` clusters of at least ``least`` records each: the most likely assignment to isotropic Gaussians.

    Expectation and maximization in turn, each expectation being the best assignment that keeps the sizes: a prior on sizes
    that is zero below ``least`` and flat above (Jitta and Klami 2018). A mixture with a cluster that has no width, or one that
    has not settled after ``ROUNDS``, gives way to k-means with the same constraint (Bradley, Bennett and Demiriz 2000). Of
    several starts the likeliest mixture is kept, or else the k-means with the least sum of squares.
    """
    if count < 1 or len(points) < count * least:
        raise ValueError(f"{len(points)} records make no {count} clusters of at least {least}")
    if count == 1:
        return Clusters(np.zeros(len(points), np.int64), True, 0.0)
    tries = []
    for _ in range(starts):
        labels = assign(_squares(points, _spread_out(points, count, rng)), least)
        mixture = _mixture(points, labels, count, least)
        tries.append(mixture if mixture is not None else constrained_means(points, labels, count, least))
    return min(tries, key=lambda clusters: (not clusters.mixture, clusters.cost))


def _mixture(points: Floats, labels: Integers, count: int, least: int) -> Clusters | None:
    dimension = points.shape[1]
    floor = _LEAST * float(points.var(axis=0).mean())
    for _ in range(ROUNDS):
        centres = means(points, labels, count)
        squares = _squares(points, centres)
        own = np.bincount(labels, squares[np.arange(len(labels)), labels], count)
        variances = own / (dimension * np.bincount(labels, minlength=count))
        if variances.min() <= floor:
            return None
        unlikely = squares / (2 * variances) + dimension / 2 * np.log(variances)
        new = assign(unlikely, least)
        if np.array_equal(new, labels):
            return Clusters(labels, True, float(unlikely[np.arange(len(labels)), labels].sum()))
        labels = new
    return None


def constrained_means(points: Floats, labels: Integers, count: int, least: int) -> Clusters:
    """k-means from an assignment on: each round cannot raise the sum of squares, and at most ``ROUNDS`` are made."""
    for _ in range(ROUNDS):
        squares = _squares(points, means(points, labels, count))
        new = assign(squares, least)
        if np.array_equal(new, labels):
            break
        labels = new
    return Clusters(labels, False, float(squares[np.arange(len(labels)), labels].sum()))


def means(points: Floats, labels: Integers, count: int) -> Floats:
    """The mean of each cluster; none may be empty."""
    sizes = np.bincount(labels, minlength=count)
    sums = np.add.reduceat(points[np.argsort(labels, kind="stable")], np.cumsum(sizes) - sizes, axis=0)
    return np.asarray(sums / sizes[:, None])


def nearest_constrained(points: Floats, centres: Floats, least: int) -> Integers:
    """The assignment to given centres, each with at least ``least`` records, whose sum of squared distances is the least."""
    return assign(_squares(points, centres), least)


def _squares(points: Floats, centres: Floats) -> Floats:
    squares = (points**2).sum(axis=1)[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(squares, 0.0))


def _spread_out(points: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Records far from one another to begin with (k-means++); any record where all lie on the ones taken."""
    taken = [int(rng.integers(len(points)))]
    far = ((points - points[taken[0]]) ** 2).sum(axis=1)
    while len(taken) < count:
        heights = np.cumsum(far)
        place = int(np.searchsorted(heights, rng.random() * heights[-1], side="right"))
        taken.append(min(place, len(points) - 1))
        far = np.minimum(far, ((points - points[taken[-1]]) ** 2).sum(axis=1))
    return points[taken]


def assign(costs: Floats, least: int) -> Integers:
    """The cluster of each record, by the least sum of costs (records by clusters) with ``least`` records in each or more. Exact.

    A minimum-cost flow by successive shortest paths: each record starts in its cheapest cluster, and a cluster short of
    records gets one along the cheapest chain of moves that begins in a cluster with records to spare. An optimal flow stays
    optimal under cheapest chains, so the last assignment is the best one.
    """
    return np.asarray(_assign(np.ascontiguousarray(costs, dtype=np.float64), int(least)))


@njit(cache=True)
def _assign(costs: Floats, least: int) -> Integers:
    rows, count = costs.shape
    # Chains that differ by rounding alone must not be taken for cheaper ones: they could go round in circles.
    slack = 1e-12 * max(np.abs(costs).max(), 1e-300)
    labels = np.empty(rows, np.int64)
    sizes = np.zeros(count, np.int64)
    for i in range(rows):
        best = 0
        for k in range(1, count):
            if costs[i, k] < costs[i, best]:
                best = k
        labels[i] = best
        sizes[best] += 1
    step = np.full((count, count), np.inf)
    mover = np.full((count, count), -1, np.int64)
    head = np.full(count, -1, np.int64)
    after = np.full(rows, -1, np.int64)
    before = np.full(rows, -1, np.int64)
    for i in range(rows - 1, -1, -1):
        k = labels[i]
        after[i] = head[k]
        if head[k] >= 0:
            before[head[k]] = i
        head[k] = i
    for k in range(count):
        _cheapest(costs, head, after, step, mover, k)
    far = np.empty(count)
    via = np.empty(count, np.int64)
    done = np.empty(count, np.bool_)
    for short in range(count):
        while sizes[short] < least:
            # Moves cost less than nothing only along chains that a cheaper assignment would have taken: Bellman and Ford.
            for k in range(count):
                far[k] = 0.0 if sizes[k] > least else np.inf
                via[k] = -1
            changed = True
            turns = 0
            while changed and turns < count:
                changed = False
                turns += 1
                for a in range(count):
                    if far[a] == np.inf:
                        continue
                    for b in range(count):
                        if far[a] + step[a, b] < far[b] - slack:
                            far[b] = far[a] + step[a, b]
                            via[b] = a
                            changed = True
            for k in range(count):
                done[k] = False
            b = short
            while via[b] >= 0 and not done[b]:
                done[b] = True
                a = via[b]
                i = mover[a, b]
                if before[i] >= 0:
                    after[before[i]] = after[i]
                else:
                    head[a] = after[i]
                if after[i] >= 0:
                    before[after[i]] = before[i]
                after[i] = head[b]
                before[i] = -1
                if head[b] >= 0:
                    before[head[b]] = i
                head[b] = i
                labels[i] = b
                b = a
            sizes[short] += 1
            sizes[b] -= 1
            done[b] = True
            for k in range(count):
                if done[k]:
                    _cheapest(costs, head, after, step, mover, k)
    return labels


@njit(cache=True)
def _cheapest(costs: Floats, head: Integers, after: Integers, step: Floats, mover: Integers, a: int) -> None:
    """For a cluster, what moving one record from it to each other cluster costs at least, and which record that is."""
    count = costs.shape[1]
    for b in range(count):
        step[a, b] = np.inf
    i = head[a]
    while i >= 0:
        own = costs[i, a]
        for b in range(count):
            if b != a and (costs[i, b] - own < step[a, b] or (costs[i, b] - own == step[a, b] and i < mover[a, b])):
                step[a, b] = costs[i, b] - own
                mover[a, b] = i
        i = after[i]
