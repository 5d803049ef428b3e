"""From one currency to another: against exact worlds, brute-force optima and dp-accounting; broken twins are rejected."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr, ndtr, ndtri

from hushtable.privacy import accountant
from hushtable.privacy.accountant import ALPHAS, Cost, gdp, pure, zcdp
from tests.unit.privacy.exact import epsilon_at, gaussian, hockey, judge, renyi, response

library = pytest.importorskip("dp_accounting", reason="dp-accounting (the extra 'dp') is not installed")
DELTAS = (1e-3, 1e-6, 1e-10)


@pytest.mark.parametrize(
    ("convert", "holds"),
    [(lambda e: pure(e).rho, True), (lambda e: e**2 / 4, False), (lambda e: e**2 / 8, False), (lambda e: e**2, False)],
)
def test_pure_epsilon_to_rho_bounds_randomized_response(convert, holds):
    def check(convert):
        for epsilon, alpha in product((0.05, 0.5, 2.0), (1.01, 1.5, 4.0, 30.0)):
            assert renyi(*response(epsilon), alpha) <= alpha * convert(epsilon) * (1 + 1e-9)
        assert renyi(*response(0.05), 1.01) >= 0.95 * 1.01 * convert(0.05)

    judge(check, convert, holds=holds)


@pytest.mark.parametrize(
    ("curve", "holds"),
    [
        (lambda e: pure(e).curve, True),
        (lambda e: pure(e).curve / 2, False),
        (lambda e: np.minimum(ALPHAS * e**2 / 2, e / 2), False),
        (lambda e: ALPHAS * e**2 / 2, False),
    ],
)
def test_renyi_curve_of_a_pure_price_hugs_randomized_response(curve, holds):
    def check(curve):
        for epsilon in (0.05, 1.0, 4.0):
            true = np.array([renyi(*response(epsilon), alpha) for alpha in ALPHAS])
            assert (true <= curve(epsilon) * (1 + 1e-9)).all()
            assert curve(epsilon)[-1] == pytest.approx(true[-1], rel=1e-3)

    judge(check, curve, holds=holds)


@pytest.mark.parametrize(
    ("convert", "holds"),
    [
        (lambda e: pure(e).mu, True),
        (lambda e: float(-ndtri(1 / (1 + math.exp(e)))), False),
        (lambda e: e, False),
        (lambda e: math.sqrt(2 * pure(e).rho) / 2, False),
    ],
)
def test_pure_epsilon_to_mu_is_the_smallest_that_dominates(convert, holds):
    """The trade-off curve of an epsilon-DP mechanism lies above that of the Gaussian, and touches it in its middle."""

    def check(convert):
        for epsilon in (0.1, 1.0, 4.0):
            false_alarms = np.linspace(1e-6, 1 - 1e-6, 2001)
            missed = np.maximum.reduce(
                [np.zeros(2001), 1 - math.exp(epsilon) * false_alarms, math.exp(-epsilon) * (1 - false_alarms)]
            )
            dominated = ndtr(-ndtri(false_alarms) - convert(epsilon))
            assert (dominated <= missed + 1e-12).all()
            middle = 1 / (1 + math.exp(epsilon))
            assert ndtr(-ndtri(middle) - convert(epsilon)) == pytest.approx(middle, rel=1e-6)

    judge(check, convert, holds=holds)


@pytest.mark.parametrize(
    ("convert", "holds"),
    [
        (accountant.gdp_delta, True),
        (lambda mu, e: float(ndtr(-e / mu + mu / 2)), False),
        (lambda mu, e: float(ndtr(-e / mu) - math.exp(e + log_ndtr(-e / mu - mu))), False),
    ],
)
def test_mu_to_delta_equals_the_integral(convert, holds):
    def check(convert):
        for mu, epsilon in product((0.2, 1.0, 3.0), (0.0, 0.7, 3.0)):
            at = epsilon / mu + mu / 2  # where the two densities are in this ratio
            density = lambda x, m: math.exp(-((x - m) ** 2) / 2) / math.sqrt(2 * math.pi)  # noqa: E731
            true, _ = quad(lambda x: density(x, mu) - math.exp(epsilon) * density(x, 0), at, at + 40, epsabs=1e-14, limit=200)  # noqa: B023
            assert convert(mu, epsilon) == pytest.approx(true, rel=1e-6, abs=1e-12)

    judge(check, convert, holds=holds)


def test_mu_to_epsilon_and_back():
    for epsilon, delta in product((0.1, 1.0, 5.0), DELTAS):
        assert accountant.gdp_epsilon(accountant.gdp_mu(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-6)
        assert gdp(0.7).rho == pytest.approx(0.245)


def log_delta(rho: float, epsilon: float, alpha: float) -> float:
    return (alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)


@pytest.mark.parametrize(
    ("convert", "holds"),
    [
        (accountant.zcdp_delta, True),
        (lambda rho, e: math.exp(min(0.0, -((e - rho) ** 2) / (4 * rho))), False),
        (lambda rho, e: accountant.zcdp_delta(rho / 2, e), False),
    ],
)
def test_rho_to_delta_is_the_numeric_optimum(convert, holds):
    def check(convert):
        for rho, epsilon in product((0.01, 0.3, 2.0), (0.5, 2.0, 8.0)):
            best = minimize_scalar(
                lambda t: log_delta(rho, epsilon, 1 + math.exp(t)),  # noqa: B023
                bounds=(-8, 12),
                method="bounded",
                options={"xatol": 1e-12},
            )
            assert convert(rho, epsilon) == pytest.approx(math.exp(min(0.0, best.fun)), rel=1e-6)

    judge(check, convert, holds=holds)


@pytest.mark.parametrize(
    ("convert", "holds"),
    [
        (accountant.zcdp_epsilon, True),
        (lambda rho, d: rho + 2 * math.sqrt(rho * math.log(1 / d)), False),
        (lambda rho, d: accountant.gdp_epsilon(math.sqrt(2 * rho), d), False),
    ],
)
def test_rho_to_epsilon_equals_dp_accounting(convert, holds):
    """The simple bound is above it (valid and loose); taking rho for a mu is below it (not allowed)."""
    orders = np.concatenate([np.linspace(1.01, 20, 2000), np.geomspace(20, 5000, 20000)])

    def check(convert):
        for rho, delta in product((0.01, 0.2, 3.0), DELTAS):
            theirs, _ = library.rdp.compute_epsilon(orders, orders * rho, delta)
            assert convert(rho, delta) == pytest.approx(theirs, rel=1e-4)
            assert convert(rho, delta) <= rho + 2 * math.sqrt(rho * math.log(1 / delta))

    judge(check, convert, holds=holds)


def test_rho_is_never_turned_into_mu():
    assert zcdp(0.5).mu == math.inf
    assert zcdp(0.5).epsilon == math.inf


@pytest.mark.parametrize(
    ("convert", "holds"),
    [
        (accountant.curve_epsilon, True),
        (lambda curve, d: float(np.min(curve - (math.log(d) + np.log(ALPHAS)) / (ALPHAS - 1))), False),
        (lambda curve, d: float(np.min(curve + np.log1p(-1 / ALPHAS))), False),
    ],
)
def test_renyi_curve_to_epsilon_equals_dp_accounting(convert, holds):
    def check(convert):
        for curve, delta in product((ALPHAS * 0.1, np.minimum(ALPHAS * 0.5, 2.0), ALPHAS * 4), DELTAS):
            theirs, _ = library.rdp.compute_epsilon(ALPHAS, curve, delta)
            assert convert(curve, delta) == pytest.approx(theirs, rel=1e-9)

    judge(check, convert, holds=holds)


def test_every_conversion_is_above_the_truth_of_a_discrete_gaussian():
    """The exact epsilon of one noisy count is a floor under all the closed forms."""
    for sigma, delta in product((0.8, 2.0, 9.0), DELTAS):
        p, q = gaussian(sigma), gaussian(sigma, 1)
        true = epsilon_at(p, q, delta)
        rho = 1 / (2 * sigma**2)
        exact = np.array([renyi(p, q, alpha) if alpha < 60 else np.inf for alpha in ALPHAS])
        assert accountant.zcdp_epsilon(rho, delta) >= true
        assert accountant.curve_epsilon(exact, delta) >= true - 1e-9
        assert hockey(p, q, accountant.zcdp_epsilon(rho, delta)) <= delta


@pytest.mark.parametrize(
    ("curve", "holds"),
    [
        (accountant.sampled_gaussian_curve, True),
        (lambda q, s, t: accountant.sampled_gaussian_curve(q, s, 1) * math.sqrt(t), False),
        (lambda q, s, t: q**2 * accountant.sampled_gaussian_curve(1.0, s, t), False),
        (lambda q, s, t: q * accountant.sampled_gaussian_curve(1.0, s, t), False),
    ],
)
def test_sampled_gaussian_equals_dp_accounting_and_the_closed_form(curve, holds):
    whole = [float(alpha) for alpha in ALPHAS if alpha == int(alpha)]

    def check(curve):
        for rate, sigma, steps in ((0.01, 1.0, 1000), (0.1, 2.0, 50), (0.5, 0.8, 3)):
            theirs = library.rdp.RdpAccountant(orders=whole)
            theirs.compose(library.PoissonSampledDpEvent(rate, library.GaussianDpEvent(sigma)), steps)
            for delta in DELTAS:
                assert accountant.curve_epsilon(curve(rate, sigma, steps), delta) == pytest.approx(
                    theirs.get_epsilon(delta), rel=1e-6
                )
        ours = curve(1.0, 1.5, 7)
        known = np.isfinite(ours)
        assert known.sum() == len(whole)
        np.testing.assert_allclose(ours[known], 7 * ALPHAS[known] / (2 * 1.5**2))

    judge(check, curve, holds=holds)


def test_sampled_gaussian_equals_the_integral_over_the_mixture():
    rate, sigma, alpha = 0.2, 1.3, 5
    ratio = lambda x: 1 - rate + rate * math.exp((2 * x - 1) / (2 * sigma**2))  # noqa: E731
    weight = lambda x: math.exp(-(x**2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))  # noqa: E731
    moment, _ = quad(lambda x: weight(x) * ratio(x) ** alpha, -30, 60, limit=400)
    ours = accountant.sampled_gaussian_curve(rate, sigma, 1)[list(ALPHAS).index(alpha)]
    assert ours == pytest.approx(math.log(moment) / (alpha - 1), rel=1e-7)


def test_the_central_limit_formula_is_below_the_truth():
    """mu = q sqrt(T (e^(1/s^2) - 1)) is an estimate: here it promises less than an accountant's lower bound allows."""
    rate, sigma, steps, delta = 0.01, 0.6, 100, 1e-8
    limit = accountant.gdp_epsilon(rate * math.sqrt(steps * (math.exp(sigma**-2) - 1)), delta)
    exact = library.pld.PLDAccountant(value_discretization_interval=1e-3)
    exact.compose(library.PoissonSampledDpEvent(rate, library.GaussianDpEvent(sigma)), steps)
    assert limit < 0.9 * exact.get_epsilon(delta)
    assert accountant.curve_epsilon(accountant.sampled_gaussian_curve(rate, sigma, steps), delta) >= exact.get_epsilon(delta)


def test_extreme_prices_stay_on_the_safe_side():
    assert pure(800.0).mu == math.inf
    assert accountant.zcdp_epsilon(0.5, 0.0) == accountant.gdp_epsilon(0.5, 0.0) == math.inf
    assert accountant.zcdp_epsilon(math.inf, 1e-6) == accountant.gdp_epsilon(math.inf, 1e-6) == math.inf
    assert accountant.curve_epsilon(ALPHAS, 0.0) == math.inf
    assert accountant.epsilon_of(Cost(epsilon=1.0, delta=1e-5), 1e-6) == math.inf
    assert accountant.epsilon_of(accountant.NEVER, 0.5) == math.inf
    assert accountant.zcdp_rho(1000.0, 1e-6) > 0
    assert (accountant.sampled_gaussian_curve(1e-9, 300.0, 10) >= 0).all()
