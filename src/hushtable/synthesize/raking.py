"""Weights under which drawn rows have given shares, column by column (Deming and Stephan 1940)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable.table.arrays import Floats, Integers

SWEEPS, STEEPEST = 20, 5.0
"""How often weights are raked, and by how much at most at a time."""


def raked(parts: Sequence[tuple[Integers, Floats]], draws: int, rows: int) -> Floats:
    """A weight for each of ``draws`` rows; each part has the cells of the rows and the shares that these are to have.

    No draw is to be worth more than one of ``rows`` that leave; what was never drawn has no weight to give.
    """
    weights = np.ones(draws)
    for _ in range(SWEEPS):
        largest = 0.0
        for cells, wanted in parts:
            have = np.bincount(cells, weights, minlength=len(wanted)) / weights.sum()
            step = np.divide(wanted, have, out=np.ones(len(wanted)), where=have > 0).clip(1 / STEEPEST, STEEPEST)
            weights = weights * step[cells]
            largest = max(largest, float(np.abs(step[have > 0] - 1).max(initial=0.0)))
        # Never nothing: a share of 0 would leave rows that no later column can bring back.
        weights = np.minimum(np.maximum(weights, 1e-12), weights.sum() / rows)
        if largest < 1e-3:
            break
    return weights
