"""Vectorized draws from tables of weights, one row per person; each takes its generator as an argument."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hushtable.table.arrays import Floats, Integers, Mask


def pick(rng: np.random.Generator, weights: Floats) -> Integers:
    """One code per row, in proportion to the weights of that row."""
    ends = np.cumsum(weights, axis=1)
    passed: Mask = rng.random(len(weights))[:, None] * ends[:, -1:] >= ends[:, :-1]
    return np.asarray(passed.sum(axis=1), np.int64)


def pick_alike(rng: np.random.Generator, weights: ArrayLike, rows: int) -> Integers:
    """One code per row, all rows with the same weights."""
    ends = np.cumsum(np.asarray(weights, np.float64))
    return scale(rng.random(rows) * ends[-1], ends[:-1])


def by_age(age: Floats, knots: ArrayLike, values: ArrayLike) -> Floats:
    """Values that change linearly between the ages at the knots; a matrix of values gives one column for each of its columns."""
    table, ages = np.asarray(values, np.float64), np.asarray(knots, np.float64)
    if table.ndim == 1:
        return np.interp(age, ages, table)
    return np.stack([np.interp(age, ages, column) for column in table.T], axis=1)


def yes(rng: np.random.Generator, chance: Floats) -> Mask:
    """True in each row with its own chance."""
    return rng.random(len(chance)) < chance


def odds(logit: Floats) -> Floats:
    """The chance that belongs to a log-odds."""
    return 1.0 / (1.0 + np.exp(-logit))


def counts(rng: np.random.Generator, mean: Floats, spread: float) -> Integers:
    """Overdispersed counts (gamma-mixed Poisson): the smaller ``spread``, the longer the tail."""
    return rng.poisson(mean * rng.gamma(spread, 1.0 / spread, len(mean)))


def scale(latent: Floats, cuts: ArrayLike) -> Integers:
    """The step of an ordered scale on which a latent value lies."""
    return np.searchsorted(np.asarray(cuts, np.float64), latent, side="right").astype(np.int64)
