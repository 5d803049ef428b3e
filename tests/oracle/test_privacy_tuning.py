"""The price of keeping the best of many runs, against the exact distribution of the best; broken twins are rejected."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.privacy import accountant
from hushtable.privacy.accountant import ALPHAS
from tests.unit.privacy.exact import gaussian, judge, loss, renyi


def generating(z: np.ndarray, eta: float, gamma: float) -> np.ndarray:
    """E[z^K] for the truncated negative binomial number of runs K."""
    if eta == 0:
        return np.log1p(-(1 - gamma) * z) / math.log(gamma)
    return ((1 - (1 - gamma) * z) ** -eta - 1) / (gamma**-eta - 1)


def best_of(world: np.ndarray, eta: float, gamma: float) -> np.ndarray:
    """Log-probabilities of the best of K runs; the outcomes of a run are given best first.

    All of K runs fall below an outcome with probability E[F^K], so the distribution of the best is exact.
    """
    below = np.clip(1 - np.concatenate([[0.0], np.cumsum(np.exp(world))]), 0, 1)
    below[-1] = 0.0
    reached = generating(below, eta, gamma)
    return np.log(reached[:-1] - reached[1:])


def worst_runs(epsilon: float, top: float, middle: float) -> tuple[np.ndarray, np.ndarray]:
    """A rare middle outcome becomes likelier as the top one, which would hide it, becomes rarer: what tuning amplifies most."""
    worlds = []
    for half in (epsilon / 2, -epsilon / 2):
        a, b = top * math.exp(-half), middle * math.exp(half)
        worlds.append(np.log([a, b, 1 - a - b]))
    return worlds[0], worlds[1]


@pytest.mark.parametrize(("times", "holds"), [(accountant.GEOMETRIC, True), (1.0, False), (2.0, False), (5.0, False)])
def test_best_of_a_geometric_number_of_runs_costs_what_the_exact_best_shows(times, holds):
    def check(times):
        for epsilon in (0.2, 1.0):
            base = worst_runs(epsilon, 1e-2, 1e-7)
            assert loss(*base) == pytest.approx(epsilon, rel=1e-6)
            true = loss(*(best_of(world, 1.0, 1e-6) for world in base))
            assert true <= times * epsilon * (1 + 1e-6)
            assert true >= 0.98 * times * epsilon

    judge(check, times, holds=holds)


def only_the_base(curve, eta, gamma, mean_runs):
    return curve


def forgets_the_second_order(curve, eta, gamma, mean_runs):
    return curve + math.log(mean_runs) / (ALPHAS - 1)


def forgets_the_one(curve, eta, gamma, mean_runs):
    whole = accountant.best_of_random_curve(curve, eta, gamma, mean_runs)
    rest = forgets_the_second_order(curve, eta, gamma, mean_runs)
    return rest + (whole - rest) * eta / (1 + eta)


@pytest.mark.parametrize(
    ("price", "holds"),
    [
        (accountant.best_of_random_curve, True),
        (only_the_base, False),
        (forgets_the_second_order, False),
        (forgets_the_one, False),
    ],
)
def test_renyi_price_of_the_best_run_is_above_the_exact_one(price, holds):
    bases = [worst_runs(1.0, 1e-2, 1e-4), (gaussian(3.0, 0, 12), gaussian(3.0, 1, 12)), (gaussian(1.0, 0, 6), gaussian(1.0, 1, 6))]

    def check(price):
        for eta, gamma in ((1.0, 1e-2), (0.0, 1e-2), (1.0, 1e-4)):
            for base in bases:
                worlds = [world - np.logaddexp.reduce(world) for world in base]
                curve = np.array([renyi(*worlds, alpha) for alpha in ALPHAS])
                bound = price(curve, eta, gamma, accountant.mean_of_random(eta, gamma))
                best = [best_of(world, eta, gamma) for world in worlds]
                assert all(renyi(*best, alpha) <= limit + 1e-9 for alpha, limit in zip(ALPHAS, bound, strict=True))

    judge(check, price, holds=holds)


@pytest.mark.parametrize(("eta", "gamma"), [(0.0, 0.1), (1.0, 0.25), (2.5, 0.3), (-0.5, 0.2)])
def test_mean_number_of_runs_is_the_slope_of_its_generating_function(eta, gamma):
    step = 1e-6
    slope = (generating(np.array([1.0]), eta, gamma) - generating(np.array([1.0 - step]), eta, gamma))[0] / step
    assert accountant.mean_of_random(eta, gamma) == pytest.approx(slope, rel=1e-4)


def test_impossible_stopping_rules_are_refused():
    """A negative price would pay for other queries, and a mean below the real one would understate."""
    for eta, gamma in ((-1.0, 0.1), (1.0, 0.0), (1.0, 1.0), (math.nan, 0.1)):
        with pytest.raises(ValueError, match="gamma"):
            accountant.best_of_random_curve(ALPHAS, eta, gamma, 10.0)
    with pytest.raises(ValueError, match="mean"):
        accountant.best_of_random_curve(ALPHAS, 1.0, 0.1, 2.0)
