"""Weights that give drawn rows the shares they are to have."""

from __future__ import annotations

import numpy as np

from hushtable.synthesize.raking import raked


def test_weighted_rows_have_the_shares_and_none_is_worth_more_than_one():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 3, 4000)
    two = (one + rng.integers(0, 2, 4000)) % 3
    wanted = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.4, 0.4])
    weights = raked([(one, wanted[0]), (two, wanted[1])], 4000, 1000)
    for cells, shares in zip((one, two), wanted, strict=True):
        assert np.allclose(np.bincount(cells, weights) / weights.sum(), shares, atol=2e-3)
    assert weights.max() <= weights.sum() / 1000 * (1 + 1e-9)
    assert not np.allclose(np.bincount(one) / 4000, wanted[0], atol=0.05), "even weights would not do"


def test_a_cell_that_was_never_drawn_takes_nothing_from_the_others():
    cells = np.array([0, 0, 1, 1])
    weights = raked([(cells, np.array([0.25, 0.5, 0.25]))], 4, 2)
    assert np.isclose(weights[2] / weights[0], 2, rtol=0.02)
