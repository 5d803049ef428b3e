"""Weighted rows as a distribution: its marginals, and the fit of more of them than a junction tree has room for."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import minimize

from hushtable.synthesize.marginal.estimate import Stopping, descended, estimate
from hushtable.synthesize.marginal.measurement import Measurement
from hushtable.synthesize.marginal.pool import Pool, tempered

EXACT = Stopping(20_000, 1e-10, 0.0)


def grid(sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Every combination once, the first column varying slowest."""
    return dict(zip(sizes, np.array(list(product(*(range(size) for size in sizes.values())))).T, strict=True))


def counted(joint: np.ndarray, names: list[str], columns: tuple[str, ...]) -> np.ndarray:
    """The marginal of columns that are in the order of the names."""
    return joint.sum(axis=tuple(i for i, name in enumerate(names) if name not in columns))


def test_codes_weights_and_marginals_are_what_a_loop_over_rows_says():
    rng = np.random.default_rng(0)
    sizes = {"a": 3, "b": 5, "c": 2}
    cells = {name: rng.integers(0, size, 40) for name, size in sizes.items()}
    groups = [("b", "a"), ("c",), ("a", "b", "c")]
    pool = Pool(cells, sizes, groups)
    potentials = rng.normal(size=pool.ends[-1])
    arrays = pool.arrays(potentials)
    assert [array.shape for array in arrays] == [(5, 3), (2,), (3, 5, 2)]
    scores = []
    for row in range(40):
        places = [tuple(int(cells[name][row]) for name in group) for group in groups]
        assert [np.unravel_index(code, array.shape) for code, array in zip(pool.codes[row], arrays, strict=True)] == places
        scores.append(sum(array[place] for array, place in zip(arrays, places, strict=True)))
    weights = pool.beliefs(potentials)
    np.testing.assert_allclose(weights, np.exp(scores) / np.exp(scores).sum())
    for group, marginal in zip(groups, pool.arrays(pool.group_marginals(weights)), strict=True):
        expected = np.zeros(marginal.shape)
        np.add.at(expected, tuple(cells[name] for name in group), weights)
        np.testing.assert_allclose(marginal, expected, atol=1e-15)


def test_large_potentials_do_not_overflow():
    pool = Pool({"a": np.array([0, 1])}, {"a": 2}, [("a",)])
    np.testing.assert_allclose(pool.beliefs(np.array([1e5, -1e5])), [1.0, 0.0])


@pytest.mark.parametrize("names", ["abc", "abcdef"])
def test_on_all_combinations_the_fit_of_all_pairs_is_that_of_the_largest_entropy(names):
    """All pairs hang together, so a junction tree of them is the whole domain; here it is small enough to be compared."""
    rng = np.random.default_rng(1)
    sizes = dict.fromkeys(names, 2) | {"a": 3}
    cells, shape = grid(sizes), tuple(sizes.values())
    truth = 1000 * rng.dirichlet(np.full(np.prod(shape), 0.5)).reshape(shape)
    pairs = list(combinations(names, 2))
    targets = [Measurement(pair, counted(truth, list(names), pair), 5.0) for pair in pairs]
    pool = Pool(cells, sizes, pairs)
    weights = pool.beliefs(descended(pool, targets, 1000.0, np.zeros(pool.ends[-1]), EXACT))
    for target, found in zip(targets, pool.arrays(1000 * pool.group_marginals(weights)), strict=True):
        np.testing.assert_allclose(found, target.counts, atol=0.05)
    tree = estimate(sizes, targets, total=1000.0, stopping=EXACT).project(tuple(names))
    np.testing.assert_allclose(1000 * weights.reshape(shape), tree, atol=0.1)
    np.testing.assert_allclose(1000 * weights, entropic(pool, targets), atol=0.2)
    # Pairs alone do not say what all columns together are: the truth itself is another fit, of less entropy.
    assert np.abs(1000 * weights - truth.ravel()).sum() > 50


def entropic(pool: Pool, targets: list[Measurement]) -> np.ndarray:
    """The counts of largest entropy with these marginals, by the dual problem and another optimizer."""
    shares = np.concatenate([target.counts.ravel() / 1000 for target in targets])

    def dual(theta: np.ndarray) -> tuple[float, np.ndarray]:
        scores = np.array([sum(theta[end + code] for end, code in zip(pool.ends, row, strict=False)) for row in pool.codes])
        weights = np.exp(scores - scores.max())
        return float(np.log(weights.sum()) + scores.max() - theta @ shares), pool.group_marginals(weights / weights.sum()) - shares

    best = minimize(
        dual, np.zeros(len(shares)), jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9}
    )
    return 1000 * pool.beliefs(best.x)


def test_a_drawn_pool_holds_a_triangle_that_a_chain_of_pairs_misses():
    """``b`` and ``c`` are mostly equal, whatever ``a`` is: the two pairs with ``a`` do not show it."""
    rng = np.random.default_rng(2)
    sizes = {"a": 2, "b": 2, "c": 2}
    truth = np.array([[[230, 20], [30, 220]], [[210, 40], [10, 240]]], float)
    targets = [Measurement(pair, counted(truth, list("abc"), pair), 2.0) for pair in combinations("abc", 2)]
    chain = estimate(sizes, targets[:2], total=1000.0)
    cells = chain.draw(5000, rng)
    pool = Pool(cells, sizes, [target.columns for target in targets])
    flat, fitted = np.full(5000, 1 / 5000), pool.beliefs(descended(pool, targets, 1000.0, np.zeros(12), EXACT))
    before, after = (np.abs(1000 * pool.arrays(pool.group_marginals(w))[2] - targets[2].counts).sum() for w in (flat, fitted))
    assert before > 150
    assert after < 1


def test_tempered_weights_are_worth_enough_rows_and_others_stay():
    even = np.full(100, 0.01)
    assert np.allclose(tempered(even, 50), even)
    steep = np.exp(-np.arange(100.0))
    steep /= steep.sum()
    assert 1 / (steep**2).sum() < 3
    flatter = tempered(steep, 40)
    assert 40 <= 1 / (flatter**2).sum() < 45, "no flatter than it takes"
    assert (np.diff(flatter) < 0).all(), "in the same order"
    assert flatter.sum() == pytest.approx(1)
