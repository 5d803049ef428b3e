"""How much of the distances between records is left when they are embedded or moved."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.evidence.confidence import Rate

Floats = NDArray[np.float64]
PAIRS = 1_000_000
"""Up to so many pairs of records all are compared, else so many are drawn."""
NORMAL = 1.959963984540054


def k_stress(original: Floats, moved: Floats, rng: np.random.Generator, *, scaled: bool = False) -> Rate:
    """K-Stress, sqrt(sum (d - delta)^2 / sum d^2) over pairs of records: 0 if every distance is kept.

    ``original`` and ``moved`` hold the same records in the same order, a row each, so a release can be compared only before
    its rows are shuffled. ``scaled`` takes the best common factor of the new distances, for embeddings whose unit means nothing
    (with it the stress is at most 1). With all pairs the interval is the value itself; else 95 %, from the pairs drawn.
    Kargupta et al. 2005; Garg and Torra 2023 misprint it, Garg 2025 (equation 3.1) has it right.
    """
    original, moved = np.asarray(original, np.float64), np.asarray(moved, np.float64)
    n = len(original)
    if original.ndim != 2 or moved.ndim != 2 or len(moved) != n or n < 2:
        raise InputError(
            f"expected two matrices with the same two or more rows, got {original.shape} and {moved.shape}", where="k_stress"
        )
    if not (np.isfinite(original).all() and np.isfinite(moved).all()):
        raise InputError("coordinates must be finite numbers", where="k_stress")
    drawn = n * (n - 1) // 2 > PAIRS
    one, other = _pairs(n, rng) if drawn else np.triu_indices(n, 1)
    before, after = _lengths(original, one, other), _lengths(moved, one, other)
    if scaled:
        square = float(after @ after)
        after = after * (float(before @ after) / square if square > 0 else 0.0)
    lost, whole = (before - after) ** 2, before**2
    if not whole.any():
        raise InputError("all records are equal: there is no distance to keep", where="k_stress")
    return _root(lost, whole, interval=drawn)


def _pairs(n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of different records, each as likely as any other."""
    one = rng.integers(0, n, PAIRS)
    return one, (one + rng.integers(1, n, PAIRS)) % n


def _lengths(points: Floats, one: NDArray[np.int64], other: NDArray[np.int64]) -> Floats:
    lengths = np.empty(len(one))
    step = max(1, 2**22 // max(1, points.shape[1]))
    for start in range(0, len(one), step):
        part = slice(start, start + step)
        lengths[part] = np.sqrt(((points[one[part]] - points[other[part]]) ** 2).sum(axis=1))
    return lengths


def _root(lost: Floats, whole: Floats, *, interval: bool) -> Rate:
    """The square root of a ratio of means, with the error of the ratio in first order."""
    ratio = float(lost.sum() / whole.sum())
    if not interval:
        return Rate(math.sqrt(ratio), math.sqrt(ratio), math.sqrt(ratio))
    error = NORMAL * float((lost - ratio * whole).std()) / (math.sqrt(len(lost)) * float(whole.mean()))
    return Rate(math.sqrt(ratio), math.sqrt(max(0.0, ratio - error)), math.sqrt(ratio + error))
