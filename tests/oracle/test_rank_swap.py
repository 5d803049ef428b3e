"""Rank swapping: the tree of counts finds exactly the partners that reading through the window would."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.anonymize.masking.swap import partners


def textbook(shares: np.ndarray, window: int) -> np.ndarray:
    """Whoever is free takes the one at its share of those that are free in the window after it."""
    partner = np.arange(len(shares))
    for i, share in enumerate(shares):
        free = [j for j in range(i + 1, min(i + window, len(shares) - 1) + 1) if partner[j] == j]
        if partner[i] == i and free:
            j = free[int(share * len(free))]
            partner[i], partner[j] = j, i
    return partner


@pytest.mark.parametrize("seed", range(40))
def test_partners_equal_the_textbook(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    shares, window = rng.random(n), int(rng.integers(1, n + 20))
    np.testing.assert_array_equal(partners(shares, window), textbook(shares, window))
