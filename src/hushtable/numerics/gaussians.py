"""Mixtures of Gaussians on a line, by variational Bayes: how many there are follows from the data (Bishop 2006, section 10.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import digamma

from hushtable.table.arrays import Floats

SPARSE = 1e-3
"""The Dirichlet parameter of the weights: far below 1, so that a Gaussian that explains little loses its weight."""
FAINT = 1e-2
"""How many values the prior of a mean counts for: a mode of few values far out stays where they are."""
ROUNDS = 500
NARROW = 1e-3
"""No standard deviation is below this part of that of all values."""
STILL = 1e-4
"""No mean moves by more than this part of the standard deviation: it has converged."""


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Weights, means and standard deviations, by rising mean."""

    weights: Floats
    means: Floats
    deviations: Floats

    @classmethod
    def fitted(cls, values: Floats, counts: Floats, most: int, light: float, narrow: float) -> Self:
        """At most ``most`` on rising values with counts; those of less than ``light`` of the weight are left out.

        No standard deviation is below ``narrow``.
        """
        total = counts.sum()
        mean = counts @ values / total
        # Scaled before it is squared: the largest floats have no square.
        most_off = float(np.abs(values - mean).max())
        spread = most_off * float(np.sqrt(counts @ ((values - mean) / (most_off or 1.0)) ** 2 / total))
        if spread <= narrow:
            return cls(np.ones(1), np.array([mean]), np.array([max(spread, narrow)]))
        centred, prior = (values - mean) / spread, 1 / most**2
        shares = _segments(centred, counts, most)
        means = np.zeros(shares.shape[1])
        for _ in range(ROUNDS):
            held = counts @ shares + 1e-12
            here = (counts * centred) @ shares / held
            within = (counts * centred**2) @ shares / held - here**2
            before, strength, freedom = means, FAINT + held, 1 + held
            means = held * here / strength
            variances = (prior + held * within.clip(0) + FAINT * held / strength * here**2) / freedom
            # The expected log density of a value under each, and the expected log weight.
            log = digamma(SPARSE + held) + 0.5 * (digamma(freedom / 2) - np.log(freedom / 2) - np.log(variances) - 1 / strength)
            log = log - 0.5 * (centred[:, None] - means) ** 2 / variances
            shares = np.exp(log - log.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            heavy = held > light * total
            if np.abs(means - before)[heavy].max(initial=0.0) < STILL:
                break
        weights = counts @ shares / total
        kept = np.flatnonzero((weights > light) | (weights == weights.max()))
        kept = kept[np.argsort(means[kept], kind="stable")]
        deviations = np.maximum(np.sqrt(variances[kept]).clip(NARROW) * spread, narrow)
        return cls(weights[kept] / weights[kept].sum(), means[kept] * spread + mean, deviations)


def _segments(values: Floats, counts: Floats, most: int) -> Floats:
    """To begin with, every value belongs to the nearest of ``most`` centres, which start at quantiles and move twice (k-means)."""
    below = np.cumsum(counts) - counts / 2
    places = np.searchsorted(below, counts.sum() * (np.arange(most) + 0.5) / most).clip(0, len(values) - 1)
    centres = np.unique(values[places])
    for _ in range(3):
        nearest = np.searchsorted((centres[1:] + centres[:-1]) / 2, values)
        held = np.bincount(nearest, counts, len(centres))
        centres = np.where(held > 0, np.bincount(nearest, counts * values, len(centres)) / np.maximum(held, 1e-12), centres)
    return np.eye(len(centres))[nearest]
