"""Intervals: published vectors, exact coverage, and what a collapsed interval would hide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest, fisher_exact, norm

from hushtable.evidence.confidence import (
    Rate,
    binomial_tail,
    bootstrap,
    clopper_pearson,
    fisher,
    gain,
    holm,
    observed,
    residual_risk,
    wilson,
)

# n, successes, control successes -> attack rate, radius, risk, low, high (computed with an independent implementation)
VECTORS = [
    (500, 239, 91, 0.4781677355, 0.0436167751, 0.3601667899, 0.3004817169, 0.4198518629),
    (1000, 228, 0, 0.2290408783, 0.0259741054, 0.2275629132, 0.2014969185, 0.2536289079),
    (1000, 904, 800, 0.9024539896, 0.0182891103, 0.5150536069, 0.4062712739, 0.6238359400),
    (500, 0, 0, 0.0038121702, 0.0038121702, 0.0, 0.0, 0.0054118538),
    (500, 500, 0, 0.9961878298, 0.0038121702, 0.9961732415, 0.9923464550, 1.0),
    (500, 500, 500, 0.9961878298, 0.0038121702, 0.0, 0.0, 1.0),
    (500, 124, 98, 0.2499213338, 0.0377571255, 0.0643690658, 0.0022241430, 0.1265139885),
]


@pytest.mark.parametrize(("n", "s", "c", "rate", "radius", "risk", "low", "high"), VECTORS)
def test_rates_and_risks_match_the_published_form(n, s, c, rate, radius, risk, low, high):
    attack, control = wilson(s, n), wilson(c, n)
    assert attack.value == pytest.approx(rate, abs=1e-9)
    assert attack.high - attack.value == pytest.approx(radius, abs=1e-9)
    result = residual_risk(attack, control)
    assert (result.value, result.low, result.high) == pytest.approx((risk, low, high), abs=1e-9)


def test_an_interval_never_collapses_to_nothing():
    result = residual_risk(wilson(40, 2000), wilson(60, 2000))
    assert result.value == 0.0
    assert result.low == 0.0
    assert result.high > 0.005


@pytest.mark.parametrize(("s", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 2000)])
def test_clopper_pearson_equals_the_beta_quantiles(s, n):
    result = clopper_pearson(s, n)
    low = 0.0 if s == 0 else beta.ppf(0.025, s, n - s + 1)
    high = 1.0 if s == n else beta.ppf(0.975, s + 1, n - s)
    assert (result.low, result.high) == pytest.approx((low, high))


def coverage(interval, p: float, n: int) -> float:
    """The exact probability that the interval holds p."""
    s = np.arange(n + 1)
    held = np.array([(r := interval(int(k), n)).low <= p <= r.high for k in s])
    return float((binom.pmf(s, n, p) * held).sum())


@pytest.mark.parametrize("p", [0.001, 0.02, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("n", [20, 200])
def test_clopper_pearson_covers_at_least_as_often_as_it_says(p, n):
    assert coverage(clopper_pearson, p, n) >= 0.95


def test_a_normal_interval_would_not_cover():
    def normal(s: int, n: int) -> Rate:
        radius = 1.96 * np.sqrt(s / n * (1 - s / n) / n)
        return Rate(s / n, s / n - radius, s / n + radius)

    assert coverage(normal, 0.001, 200) < 0.5


def test_wilson_covers_on_average():
    points = np.linspace(0.01, 0.99, 50)
    mean = np.mean([coverage(wilson, p, 100) for p in points])
    assert 0.94 < mean < 0.965


def test_no_trials_tell_nothing():
    assert wilson(0, 0) == Rate(0.5, 0.0, 1.0)
    assert clopper_pearson(0, 0) == Rate(0.5, 0.0, 1.0)


def test_bootstrap_covers_the_mean_and_a_broken_one_does_not():
    rng = np.random.default_rng(0)

    def covers(shrink: float) -> float:
        hits = 0
        for _ in range(120):
            sample = rng.exponential(size=60)
            result = bootstrap(lambda rows, s=sample: float(s[rows].mean()), 60, rng, times=200)
            middle = (result.low + result.high) / 2
            hits += middle - shrink * (middle - result.low) <= 1.0 <= middle + shrink * (result.high - middle)
        return hits / 120

    assert covers(1.0) > 0.85
    assert covers(0.3) < 0.6


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_fisher_equals_the_reference(hits, misses, others, other_misses):
    expected = fisher_exact([[hits, misses], [others, other_misses]], alternative="greater")[1]
    assert fisher(hits, hits + misses, others, others + other_misses) == pytest.approx(expected, rel=1e-9)


def test_fisher_reaches_far_into_the_tail():
    assert fisher(204, 10_000, 5, 10_000) == pytest.approx(1.4574630693e-54, rel=1e-6)


def test_fisher_alarms_no_more_often_than_stated_and_a_z_test_would():
    """Exact size over all outcomes at small rates; the normal test, its broken twin, exceeds the level."""
    n, m, p, level = 400, 100, 0.01, 0.01
    chance = lambda size: binom.pmf(np.arange(size + 1), size, p)  # noqa: E731
    weight = np.outer(chance(n)[:30], chance(m)[:15])
    exact = np.array([[fisher(a, n, b, m) <= level for b in range(15)] for a in range(30)])

    spread = lambda a, b: np.sqrt((a + b) / (n + m) * (1 / n + 1 / m)) or 1.0  # noqa: E731
    rough = np.array([[norm.sf((b / m - a / n) / spread(a, b)) <= level for b in range(15)] for a in range(30)])
    swapped = np.array([[fisher(b, m, a, n) <= level for b in range(15)] for a in range(30)])
    assert (weight * exact).sum() <= level
    assert (weight * swapped).sum() <= level
    assert (weight * rough).sum() > level


def test_holm_equals_its_definition():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_holm_keeps_the_chance_of_one_false_alarm_and_no_correction_does_not():
    rng = np.random.default_rng(0)
    draws = rng.random((2000, 20))
    assert np.mean([min(holm(list(p))) <= 0.05 for p in draws]) < 0.065
    assert np.mean(draws.min(axis=1) <= 0.05) > 0.5


@pytest.mark.parametrize(("successes", "trials", "chance"), [(0, 0, 0.5), (0, 9, 0.5), (1, 9, 0.5), (9, 9, 0.5), (7, 10, 0.2)])
def test_the_binomial_tail_is_the_exact_one_sided_test(successes, trials, chance):
    expected = binomtest(successes, trials, chance, alternative="greater").pvalue if trials else 1.0
    assert binomial_tail(successes, trials, chance) == pytest.approx(expected, rel=1e-12)


# Newcombe 1998, table II, method 10: successes and trials of either side -> interval of the difference.
NEWCOMBE = [
    (56, 70, 48, 80, 0.0524, 0.3339),
    (9, 10, 3, 10, 0.1705, 0.8090),
    (6, 7, 2, 7, 0.0582, 0.8062),
    (5, 56, 0, 29, -0.0381, 0.1926),
    (0, 10, 0, 20, -0.1611, 0.2775),
    (10, 10, 0, 20, 0.6791, 1.0),
    (10, 10, 0, 10, 0.6075, 1.0),
]


@pytest.mark.parametrize(("hits", "n", "others", "m", "low", "high"), NEWCOMBE)
def test_gains_have_the_intervals_of_newcombe(hits, n, others, m, low, high):
    result = gain(observed(hits, n), observed(others, m))
    assert (result.value, result.outside) == pytest.approx((hits / n - others / m, others / m))
    assert (result.low, result.high) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("p", "q"), [(0.02, 0.01), (0.3, 0.3), (0.98, 0.983), (0.5, 0.1)])
@pytest.mark.parametrize(("n", "m"), [(400, 100), (200, 200)])
def test_gains_cover_and_a_narrower_interval_would_not(p, q, n, m):
    hits, others = np.arange(n + 1), np.arange(m + 1)
    chance = np.outer(binom.pmf(hits, n, p), binom.pmf(others, m, q))
    rates = [[observed(int(s), rows) for s in range(rows + 1)] for rows in (n, m)]
    likely = np.argwhere(chance > 1e-9)

    def covered(shrunk: float) -> float:
        held = 0.0
        for i, j in likely:
            one = gain(rates[0][i], rates[1][j])
            ends = one.value - shrunk * (one.value - one.low), one.value + shrunk * (one.high - one.value)
            held += chance[i, j] * (ends[0] <= p - q <= ends[1])
        return held

    assert covered(1.0) >= 0.935
    assert covered(0.7) < 0.9
