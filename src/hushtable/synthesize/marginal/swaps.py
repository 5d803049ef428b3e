"""Whole rows whose counts are as near as can be to what a distribution expects, in many marginals at once.

Rows drawn one by one miss what is expected of a cell by the root of it. Here rows are exchanged for others of a pool while that
brings the counts of all marginals nearer, which leaves a fraction of that error. It reads nothing but the model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from hushtable.synthesize.marginal.pool import Codes, Pool
from hushtable.table.arrays import Floats, Integers

SWEEPS = 15
"""The most exchanges that are tried for each row."""
FEWEST = 2
"""The fewest, however many rows and marginals there are."""
WORK = 500_000_000
"""About so many cells are looked at in all."""
SETTLED, ROUGHLY, LOOSELY = 0.002, 0.04, 0.24
"""When fewer than this share of the exchanges of a sweep help, it is the last one; and in one of a few or of many parts of a larger
table, where what one part misses others make up."""


def matched(
    pool: Pool, weights: Floats, expected: Floats, rows: int, rng: np.random.Generator, settled: float = SETTLED
) -> Integers:
    """Rows of the pool, drawn by weight and then exchanged, whose counts are near to ``rows`` times the expected shares.

    What is minimized is the sum over the cells of all marginals of (count - expected)^2 / (expected + 1).
    """
    mixed = rng.permutation(len(weights))
    ends = np.cumsum(weights[mixed])
    even = (np.arange(rows) + rng.random()) / rows * ends[-1]
    places: Integers = mixed[np.minimum(np.searchsorted(ends, even), len(weights) - 1)].astype(np.int64)
    residual = pool.group_marginals(np.bincount(places, minlength=len(weights)).astype(np.float64)) - rows * expected
    scale = 1 / (rows * expected + 1)
    drawn = _by_weight(weights)
    changes = np.stack([scale * (1 - 2 * residual), scale * (1 + 2 * residual)], axis=1)
    for _ in range(int(np.clip(WORK // max(pool.codes.shape[1] * rows, 1), FEWEST, SWEEPS))):
        offered = drawn(rng.random(rows))
        if _exchanged(places, offered, pool.codes, pool.ends, residual, scale, changes) < settled * rows:
            break
    return places


def _by_weight(weights: Floats) -> Callable[[Floats], Integers]:
    """What draws a place for each number between 0 and 1; it need not be looked for where all places weigh alike."""
    last = len(weights) - 1
    if (weights == weights[0]).all():
        return lambda even: np.minimum((even * len(weights)).astype(np.int64), last)
    below = np.cumsum(weights)
    return lambda even: np.minimum(np.searchsorted(below, even * below[-1]), last)


@njit(cache=True)
def _exchanged(
    places: Integers, offered: Integers, codes: Codes, ends: Integers, residual: Floats, scale: Floats, changes: Floats
) -> int:
    """Take each offer that makes the loss smaller, in place; how many were taken.

    ``changes`` is what one row less, and one more, in a cell would change: side by side, since reading is what takes time.
    """
    taken = 0
    groups = codes.shape[1]
    for i in range(len(places)):
        old, new = places[i], offered[i]
        change = 0.0
        for g in range(groups):
            a, b = ends[g] + codes[old, g], ends[g] + codes[new, g]
            if a != b:
                change += changes[a, 0] + changes[b, 1]
        if change < 0:
            for g in range(groups):
                for cell, step in ((ends[g] + codes[old, g], -1.0), (ends[g] + codes[new, g], 1.0)):
                    residual[cell] += step
                    changes[cell, 0] = scale[cell] * (1 - 2 * residual[cell])
                    changes[cell, 1] = scale[cell] * (1 + 2 * residual[cell])
            places[i] = new
            taken += 1
    return taken
