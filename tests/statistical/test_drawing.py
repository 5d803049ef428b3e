"""Rows drawn from a graphical model: every count is right on average, and closer to it than independent draws would be."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

from hushtable.synthesize.marginal.drawing import shared_out
from hushtable.synthesize.marginal.graphical import Graphical
from tests.statistical.fit import ACCEPT, REJECT

SIZES = {"a": 3, "b": 4, "c": 2, "d": 5}


@pytest.fixture(scope="module")
def model() -> Graphical:
    rng = np.random.default_rng(0)
    groups = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    return Graphical(SIZES, {g: rng.normal(0, 1, [SIZES[n] for n in g]) for g in groups}, 1000.0)


def fits(expected: np.ndarray, counts: np.ndarray) -> float:
    """The chance of counts at least so far off, were the rows independent draws; closer ones only make it larger."""
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), expected.size - 1))


def pair_counts(drawn: dict[str, np.ndarray], pair: tuple[str, str]) -> np.ndarray:
    counts = np.zeros([SIZES[n] for n in pair])
    np.add.at(counts, tuple(drawn[n] for n in pair), 1)
    return counts


def test_pairs_of_drawn_rows_are_as_often_as_projected(model):
    drawn = model.draw(40_000, np.random.default_rng(1))
    for pair in combinations(SIZES, 2):
        assert fits(model.project(pair) * 40, pair_counts(drawn, pair)) > ACCEPT


def test_rows_that_lost_their_order_are_rejected(model):
    """The broken twin: every column is right, but its cells were handed out without regard to the others."""
    rng = np.random.default_rng(2)
    drawn = {name: rng.permutation(cells) for name, cells in model.draw(40_000, rng).items()}
    worst = min(fits(model.project(pair) * 40, pair_counts(drawn, pair)) for pair in combinations(SIZES, 2))
    assert worst < REJECT


def averages(share, draws: int = 2000) -> float:
    """How far the average number of rows in each cell is off, as a chi-square chance, for groups of 1, 2 and 5 rows."""
    rng = np.random.default_rng(3)
    table = np.array([[0.5, 0.3, 0.2, 0.0], [0.1, 0.0, 0.1, 0.8], [0.25, 0.25, 0.25, 0.25]])
    key = np.array([0, 1, 1, 2, 2, 2, 2, 2])
    counts = np.zeros(table.shape)
    for _ in range(draws):
        np.add.at(counts, (key, share(table, key, rng)), 1)
    expected = table * np.bincount(key)[:, None] * draws
    assert (counts[expected == 0] == 0).all()
    some = expected > 0
    return float(chi2.sf(((counts[some] - expected[some]) ** 2 / expected[some]).sum(), some.sum() - 3))


def test_rounding_is_right_on_average_and_its_rows_are_in_random_order():
    assert averages(shared_out) > ACCEPT
    table, key = np.array([[0.5, 0.5]]), np.zeros(4, np.int64)
    rng = np.random.default_rng(4)
    drawn = np.array([shared_out(table, key, rng) for _ in range(2000)])
    assert (drawn.sum(axis=1) == 2).all()
    first = np.bincount(drawn[:, 0] * 2 + drawn[:, 1], minlength=4)
    assert fits(np.array([1, 2, 2, 1]) / 6 * 2000, first) > ACCEPT


def test_rounding_to_the_nearest_is_rejected():
    """The broken twin: without a random shift small shares never get a row."""

    class Still:
        def __init__(self, rng):
            self.permutation = rng.permutation

        def random(self, shape):
            return np.full(shape, 0.5)

    assert averages(lambda table, key, rng: shared_out(table, key, Still(rng)), 500) < REJECT
