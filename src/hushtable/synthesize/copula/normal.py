"""Two columns as cut from a pair of correlated normal variables: their expected statistics, and the latent correlation.

What is measured on cells (Kendall's tau-a, the correlation of scores) is less than for the latent normal variables, because
equal cells are ties. Given the margins, the expected value is a rising function of the correlation, so it can be inverted. All of
it works on released values, hence is post-processing and free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from hushtable.synthesize.copula.margins import FAR, Margin
from hushtable.table.arrays import Floats, Integers

LIMIT = 0.999
"""The strongest correlation considered."""
STEPS = 32
"""Intervals between -LIMIT and LIMIT, evenly in the arc sine."""
TERMS = 200
"""Of the series for the product of scores."""
PIECES = 48
"""The most pieces of a margin that are distinguished here; of more, neighbours are merged, whose order matters very little."""


class Ties(StrEnum):
    """How correlations are estimated from cells, many of which are equal."""

    CORRECTED = "corrected"
    """The correlation that explains what was measured, given the margins."""
    PUBLISHED = "published"
    """As if no values were equal."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of a margin that have a share, neighbours merged where they are many; an interval of the normal line each."""

    cuts: Floats
    """The ends of the intervals, lowest first; a last one, after those of the values, is that of missing."""
    present: int
    """How many are values."""
    scores: Floats
    """The mean of a standard normal number on each of them."""
    groups: Integers
    """For each cell of the margin its piece (the next one, if it has no share), ``present`` for missing."""

    @classmethod
    def of(cls, margin: Margin, missing: bool, most: int = PIECES) -> Pieces:
        """Of a margin; ``missing`` says whether its last cell is that of missing values."""
        last = margin.cells - missing
        ends, widths = margin.ends, np.diff(margin.ends)[:last]
        held = np.flatnonzero(widths > 0)
        if not len(held):
            return cls(np.array([-FAR, FAR]), 0, np.empty(0), np.zeros(margin.cells, np.int64))
        merged = _grouped(widths[held], most)
        groups = np.minimum(np.searchsorted(held, np.arange(margin.cells)), len(held) - 1)
        by_rank = merged[groups]
        by_rank[last:] = merged[-1] + 1
        starts = held[np.flatnonzero(np.diff(merged, prepend=-1))]
        reach = ends[np.append(starts, last)]
        gone = [1.0] if missing and ends[last] < 1 else []
        shares = np.bincount(merged, widths[held])
        scores = np.bincount(merged, widths[held] * margin.scores[margin.order][held]) / shares
        cuts = np.clip(ndtri(np.concatenate([reach, gone])), -FAR, FAR)
        return cls(cuts, len(shares), scores, by_rank[margin.ranks])

    @property
    def spread(self) -> float:
        """The root of the mean square of the scores, a missing value being 0; 0 where it is negligible."""
        square = float(np.diff(ndtr(self.cuts))[: self.present] @ self.scores**2)
        return math.sqrt(square) if square > 1e-9 else 0.0

    @cached_property
    def hermite(self) -> Floats:
        """E[score(Z) h_k(Z)] for k from 0 on: h_k is the k-th Hermite polynomial over sqrt(k!), whose integrals are known."""
        cuts = self.cuts[: self.present + 1]
        density = np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
        coefficients = [self.scores @ np.diff(ndtr(cuts))]
        before, now = np.zeros_like(cuts), density
        for k in range(1, TERMS):
            coefficients.append(-(self.scores @ np.diff(now)) / np.sqrt(k))
            before, now = now, (cuts * now - np.sqrt(k - 1) * before) / np.sqrt(k)
        return np.array(coefficients)


def _grouped(shares: Floats, most: int) -> Integers:
    """The group of each piece: each its own, or ``most`` groups of about the same share."""
    if len(shares) <= most:
        return np.arange(len(shares))
    middles = np.cumsum(shares) - shares / 2
    return np.unique(np.floor(middles / shares.sum() * most), return_inverse=True)[1].astype(np.int64)


Expected = Callable[[Pieces, Pieces], Floats]
"""What is to be expected of two columns, at each correlation of the grid."""


@cache
def _nodes() -> tuple[Floats, Floats, Floats]:
    """Angles of the grid; angles between them at which the integrand is taken; the weight of each of the latter."""
    grid = np.linspace(-np.arcsin(LIMIT), np.arcsin(LIMIT), STEPS + 1)
    half, middle = np.diff(grid) / 2, (grid[1:] + grid[:-1]) / 2
    return grid, (middle[:, None] + half[:, None] * np.array([-1, 1]) / np.sqrt(3)).ravel(), np.repeat(half, 2)


def correlations() -> Floats:
    """The grid of correlations, rising."""
    return np.asarray(np.sin(_nodes()[0]))


def joint(one: Floats, two: Floats) -> Floats:
    """P(X < a, Y < b) for all cuts a and b, at each correlation of the grid.

    Its derivative by the correlation is the bivariate density (Plackett 1954); in the arc sine of the correlation that is
    exp(-(a^2 + b^2 - 2ab sin t)/(2 cos^2 t))/(2 pi), integrated here by two Gauss points in each interval.
    """
    grid, angles, weights = _nodes()
    a, b = one[:, None], two[None, :]
    exponent = (a**2 + b**2) - 2 * a * b * np.sin(angles)[:, None, None]
    density = np.exp(-exponent / (2 * np.cos(angles) ** 2)[:, None, None]) * (weights / (2 * np.pi))[:, None, None]
    climbed = np.cumsum(density.reshape(len(grid) - 1, 2, len(one), len(two)).sum(1), axis=0)
    climbed = np.concatenate([np.zeros((1, len(one), len(two))), climbed])
    return np.asarray(ndtr(a) * ndtr(b) + climbed - climbed[STEPS // 2])


def expected_tau(one: Pieces, two: Pieces) -> Floats:
    """Kendall's tau-a of the cells at each correlation of the grid; pairs with a missing value are ordered neither way."""
    below = joint(one.cuts, two.cuts)
    m, k = one.present, two.present
    cell = np.diff(np.diff(below, axis=1), axis=2)[:, :m, :k]
    # What lies below in both, less what lies below in one and above in the other (and is a value).
    lower = below[:, :m, :k] - below[:, :1, :k] - below[:, :m, :1] + below[:, :1, :1]
    upper = (below[:, :m, k : k + 1] - below[:, :m, 1 : k + 1]) - (below[:, :1, k : k + 1] - below[:, :1, 1 : k + 1])
    return np.asarray(2 * (cell * (lower - upper)).sum((1, 2)))


def expected_product(one: Pieces, two: Pieces) -> Floats:
    """The mean product of the scores of the cells at each correlation of the grid; a missing value counts as 0.

    Mehler's formula: for normal numbers with correlation r it is the sum of r^k a_k b_k, of the coefficients in the normalized
    Hermite polynomials.
    """
    return np.asarray(_powers() @ (one.hermite * two.hermite))


@cache
def _powers() -> Floats:
    return correlations()[:, None] ** np.arange(TERMS)


def inverted(values: Floats, wanted: float) -> float:
    """The correlation at which a rising function has the wanted value; the nearest one if it has it nowhere."""
    rising = np.maximum.accumulate(values)
    if rising[-1] - rising[0] < 1e-9 or abs(wanted - rising[STEPS // 2]) < 1e-15:
        return 0.0
    # Where the function is flat the weakest correlation is as good as any.
    strict = rising + 1e-12 * np.arange(-(STEPS // 2), STEPS // 2 + 1)
    return float(np.interp(wanted, strict, correlations()))


def steepness(values: Floats, correlation: float) -> float:
    """The slope of a rising function at a correlation."""
    slopes = np.gradient(np.maximum.accumulate(values), correlations())
    return float(np.interp(correlation, correlations(), slopes))


def latent_correlations(
    pieces: Sequence[Pieces], measured: Floats, expected: Expected, noise: Floats | float
) -> tuple[Floats, Floats]:
    """For each pair of columns the correlation at which what was measured is what is expected, and its standard error.

    The error is that of what was measured, ``noise``, over the slope: very small where columns determine one another.
    """
    values, errors = np.zeros(len(measured)), np.ones(len(measured))
    noises = np.broadcast_to(noise, len(measured))
    for number, (one, two) in enumerate(combinations(pieces, 2)):
        curve = expected(one, two)
        values[number] = inverted(curve, float(measured[number]))
        errors[number] = min(1.0, noises[number] / max(steepness(curve, values[number]), 1e-6))
    return values, errors
