"""Which marginals are measured together, and how many equal parts of the budget each gets."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from hushtable.synthesize.histogram_cells import MEAN
from hushtable.synthesize.marginal.dense import POWER, Noise, dense, shared


def gain(chosen, errors, expected, weights, sigma) -> float:
    """By how much measuring these makes the sum of all errors smaller, cell by cell."""
    whole = sum(expected[i].size ** POWER for i in chosen)
    total = 0.0
    for i in chosen:
        deviation = sigma * math.sqrt(whole / expected[i].size ** POWER)
        total += weights[i] * (errors[i] - sum(min(max(c, 0.0), MEAN * deviation) for c in expected[i].ravel().tolist()))
    return total


def chosen_of(errors, expected, sigma, candidates=None, weights=None):
    candidates = candidates or [(f"a{i}", f"b{i}") for i in range(len(errors))]
    weights = np.ones(len(errors)) if weights is None else np.asarray(weights, float)
    return dense(candidates, np.asarray(errors, float), expected, weights, sigma)


def test_what_noise_leaves_is_the_smaller_one_of_noise_and_count_in_each_cell():
    expected = np.array([[0.0, 3.0], [-2.0, 50.0]])
    for sigma in (0.1, 2.0, 30.0, 1e6):
        assert Noise(expected).left(sigma) == pytest.approx(sum(min(max(c, 0), MEAN * sigma) for c in expected.ravel()))


def test_obvious_choices():
    flat = [np.full(10, 100.0)] * 3
    assert chosen_of([500, 400, 300], flat, 1.0) == [0, 1, 2]
    assert chosen_of([300, 500, 400], flat, 1.0) == [1, 2, 0], "the largest error first"
    assert chosen_of([500, 1, 0], flat, 1.0) == [0]
    assert chosen_of([5, 4, -3], flat, 1.0) == [], "all of it is less than the noise would leave"
    assert chosen_of([500, 400, 300], flat, 1e3) == [], "the noise drowns every cell"
    assert chosen_of([], [], 1.0) == []


def test_a_marginal_inside_a_chosen_one_is_not_measured_and_gives_way_to_a_larger_one():
    names = [("a", "b"), ("a", "b", "y"), ("c", "d")]
    expected = [np.full((4, 4), 50.0), np.full((4, 4, 2), 25.0), np.full((4, 4), 50.0)]
    assert chosen_of([300, 800, 200], expected, 0.5, names) == [1, 2]
    assert chosen_of([800, 805, 200], expected, 0.5, names)[0] in (0, 1)
    assert not {0, 1} <= set(chosen_of([800, 805, 200], expected, 0.5, names))


def test_the_weight_of_a_marginal_counts():
    flat = [np.full(10, 100.0)] * 2
    sigma = 45.0
    assert chosen_of([480, 480], flat, sigma, weights=[1, 8]) == [1]


@pytest.mark.parametrize("seed", range(12))
def test_the_greedy_choice_is_nearly_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    expected = [rng.gamma(0.5, 100, int(rng.integers(4, 60))) for _ in range(8)]
    errors = rng.gamma(1.0, 300, 8)
    weights, sigma = np.ones(8), float(rng.choice([1.0, 5.0, 20.0]))
    best = max(gain(c, errors, expected, weights, sigma) for k in range(9) for c in combinations(range(8), k))
    assert gain(chosen_of(errors, expected, sigma), errors, expected, weights, sigma) >= 0.97 * best


@pytest.mark.parametrize("seed", range(30))
def test_parts_add_up_at_least_one_each_and_more_cells_never_get_fewer(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 60))
    cells = np.sort(np.rint(rng.lognormal(4, 2, count)).astype(int) + 1)
    parts = count + int(rng.integers(0, 300))
    whole = shared(cells.tolist(), parts)
    assert whole.sum() == parts
    assert whole.min() >= 1
    assert (np.diff(whole) >= -1).all()
    by_cells = {size: whole[cells == size] for size in cells.tolist()}
    assert all(np.ptp(numbers) <= 1 for numbers in by_cells.values()), "as equal as whole parts can be"


def test_parts_grow_with_the_power_of_the_cells():
    assert shared([8, 1000], 104).tolist() == [4, 100]
    assert shared([7, 7, 7], 4).tolist() in ([2, 1, 1], [1, 2, 1], [1, 1, 2])
    assert shared([1, 10**6], 2).tolist() == [1, 1]
    assert shared([5], 9).tolist() == [9]
