"""Projection onto the simplex: noisy shares become shares again."""

from __future__ import annotations

import numpy as np

from hushtable.table.arrays import Floats


def on_simplex(weights: Floats, total: float = 1.0) -> Floats:
    """The nearest weights, along the last axis, that are not negative and have this sum (Duchi et al. 2008)."""
    ordered = np.sort(weights, axis=-1)[..., ::-1]
    excess = (np.cumsum(ordered, axis=-1) - total) / np.arange(1, weights.shape[-1] + 1)
    last = (ordered > excess).sum(-1, keepdims=True) - 1
    return np.maximum(weights - np.take_along_axis(excess, last, -1), 0.0)
