"""Rows exchanged until their counts are as expected."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hushtable.synthesize.marginal import swaps
from hushtable.synthesize.marginal.pool import Pool
from hushtable.synthesize.marginal.swaps import matched

SIZES = {"a": 4, "b": 3, "c": 5, "d": 2}


def pool_of(rows: int, seed: int = 0) -> tuple[Pool, np.ndarray]:
    """All pairs of a pool of rows, and weights for it."""
    rng = np.random.default_rng(seed)
    pool = Pool({name: rng.integers(0, size, rows) for name, size in SIZES.items()}, SIZES, list(combinations(SIZES, 2)))
    return pool, pool.beliefs(rng.normal(0, 0.5, pool.ends[-1]))


def loss(pool: Pool, places: np.ndarray, expected: np.ndarray) -> float:
    """What is minimized, counted anew."""
    counts = pool.group_marginals(np.bincount(places, minlength=len(pool.codes)).astype(float))
    return float(((counts - len(places) * expected) ** 2 / (len(places) * expected + 1)).sum())


@pytest.mark.parametrize("rows", [1, 2, 50, 1000])
def test_counts_end_nearer_than_those_of_a_systematic_draw(rows, monkeypatch):
    pool, weights = pool_of(3000)
    expected = pool.group_marginals(weights)
    exchanged = matched(pool, weights, expected, rows, np.random.default_rng(1))
    monkeypatch.setattr(swaps, "_exchanged", lambda *arguments: 0)
    drawn = matched(pool, weights, expected, rows, np.random.default_rng(1))
    assert len(drawn) == len(exchanged) == rows
    assert loss(pool, exchanged, expected) <= loss(pool, drawn, expected)
    if rows >= 50:
        assert loss(pool, exchanged, expected) < 0.2 * loss(pool, drawn, expected)


def test_the_residuals_that_are_kept_are_those_of_a_recount_and_every_exchange_helps():
    pool, weights = pool_of(800)
    rng = np.random.default_rng(3)
    expected = pool.group_marginals(weights)
    places = rng.integers(0, 800, 200)
    before = loss(pool, places, expected)

    def residual() -> np.ndarray:
        return pool.group_marginals(np.bincount(places, minlength=800).astype(float)) - 200 * expected

    kept = residual()
    scale = 1 / (200 * expected + 1)

    def changes() -> np.ndarray:
        return np.stack([scale * (1 - 2 * kept), scale * (1 + 2 * kept)], axis=1)

    held = changes()
    for sweep in range(5):
        taken = swaps._exchanged(places, rng.integers(0, 800, 200), pool.codes, pool.ends, kept, scale, held)
        np.testing.assert_allclose(kept, residual(), atol=1e-9)
        np.testing.assert_allclose(held, changes(), atol=1e-9)
        after = loss(pool, places, expected)
        assert after < before if taken else after == before
        assert taken or sweep
        before = after


def test_a_row_of_weight_zero_is_never_drawn():
    pool, weights = pool_of(400)
    weights[np.random.default_rng(4).random(400) < 0.7] = 0.0
    weights[[0, -1]] = 0.0
    # What is expected would rather have the others, too.
    expected = pool.group_marginals(np.full(400, 1 / 400))
    for seed in range(20):
        assert (weights[matched(pool, weights, expected, 300, np.random.default_rng(seed))] > 0).all()


def test_a_row_may_be_taken_as_often_as_its_weight_says():
    pool = Pool({"a": np.array([0, 1])}, {"a": 2}, [("a",)])
    places = matched(pool, np.array([0.9, 0.1]), np.array([0.9, 0.1]), 100, np.random.default_rng(0))
    assert np.bincount(places).tolist() == [90, 10]


def test_without_marginals_rows_are_drawn_by_weight():
    pool = Pool({"a": np.arange(4)}, {"a": 4}, [])
    places = matched(pool, np.array([4.0, 0.0, 2.0, 2.0]), np.empty(0), 80, np.random.default_rng(0))
    assert len(places) == 80
    assert 1 not in places
