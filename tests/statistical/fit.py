"""Goodness of fit for integer noise: chi-square over cells that each expect at least twenty draws."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2

Cdf = Callable[[np.ndarray], np.ndarray]

ACCEPT, REJECT = 1e-6, 1e-12
"""A right sampler stays above the one, a wrong one below the other; what lies between fails both."""


def laplace_cdf(scale: float) -> Cdf:
    """P(X <= x) of the discrete Laplace distribution, in closed form."""
    norm = 1 + math.exp(-1 / scale)

    def cdf(x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, np.float64)
        return np.where(x < 0, np.exp(np.minimum(x, 0) / scale) / norm, 1 - np.exp(-(np.maximum(x, 0) + 1) / scale) / norm)

    return cdf


def gaussian_cdf(sigma: float) -> Cdf:
    """P(X <= x) of the discrete Gaussian: summed, or for wide noise the normal one (they differ by less than e^-19 sigma^2)."""
    if sigma > 3000:
        return lambda x: ndtr((np.asarray(x, np.float64) + 0.5) / sigma)
    reach = int(15 * sigma) + 15
    grid = np.arange(-reach, reach + 1)
    weights = np.exp(-(grid**2) / (2 * sigma**2))
    running = np.cumsum(weights) / weights.sum()
    return lambda x: running[np.clip(np.asarray(x, np.int64) + reach, 0, 2 * reach)]


def p_value(draws: np.ndarray, cdf: Cdf, scale: float) -> float:
    """The chi-square p-value of draws against a distribution of about this scale."""
    edges = np.unique(np.floor(np.linspace(-6, 6, 61) * max(scale, 0.5)))
    shares = np.diff(np.concatenate([[0.0], cdf(edges), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(shares))
    expected, observed = merged(shares * len(draws), counts)
    assert len(expected) > 1, "too few draws to judge"
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


def two_sample(one: np.ndarray, two: np.ndarray, scale: float) -> float:
    """The chi-square p-value that two samples of one size come from the same distribution."""
    assert len(one) == len(two)
    edges = np.unique(np.floor(np.linspace(-6, 6, 61) * max(scale, 0.5)))
    counts = [np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1) for draws in (one, two)]
    expected, first = merged((counts[0] + counts[1]) / 2, counts[0])
    second = 2 * expected - first
    return float(chi2.sf(((first - second) ** 2 / (first + second)).sum(), len(expected) - 1))


def merged(expected: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring cells put together until each expects at least twenty."""
    groups, group, held = [], 0, 0.0
    for value in expected:
        groups.append(group)
        held += value
        if held >= 20:
            group, held = group + 1, 0.0
    ids = np.minimum(groups, max(group - 1, 0))
    return np.bincount(ids, expected), np.bincount(ids, observed)
