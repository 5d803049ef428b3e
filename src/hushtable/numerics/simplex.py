"""Projection onto the simplex: noisy shares become shares again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable.table.arrays import Floats
from hushtable.table.columns import Column

ABSENT = 3.0
"""Up to so many standard deviations of its noise a count of missing values is noise: there are none to speak of."""


def on_simplex(weights: Floats, total: float = 1.0) -> Floats:
    """The nearest weights, along the last axis, that are not negative and have this sum (Duchi et al. 2008)."""
    ordered = np.sort(weights, axis=-1)[..., ::-1]
    excess = (np.cumsum(ordered, axis=-1) - total) / np.arange(1, weights.shape[-1] + 1)
    last = (ordered > excess).sum(-1, keepdims=True) - 1
    return np.maximum(weights - np.take_along_axis(excess, last, -1), 0.0)


def without_missing(column: Column, missing: float, sigma: float) -> bool:
    """Whether a column has no missing values to speak of: noise (``sigma``) alone explains the noisy number of them."""
    return not column.required and missing <= ABSENT * sigma


def present(column: Column, counts: NDArray[np.number], sigma: float) -> Floats:
    """Noisy counts of the cells of one column, that of missing values far below zero where noise (``sigma``) alone explains it.

    Then no projection onto what adds up to a number of rows gives it any: a column without missing values gets none by noise.
    """
    numbers: Floats = np.array(counts, np.float64)
    if without_missing(column, float(numbers[-1]), sigma):
        numbers[-1] = -1e15
    return numbers
