"""Noise against its distribution: the true scale is accepted, 0.7 and 1.3 times it and broken samplers are rejected.

Seeded draws make every verdict the same each time; the tests on the system's entropy fail once in a billion runs.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.privacy import noise
from hushtable.privacy.noise import Entropy, discrete_gaussian, discrete_laplace, gaussian_variance, laplace_scale
from tests.statistical.fit import ACCEPT, REJECT, gaussian_cdf, laplace_cdf, p_value
from tests.unit.privacy.exact import judge

DRAWS = 100_000


def laplace(scale, count=DRAWS, entropy=None):
    return discrete_laplace(laplace_scale(scale), count, entropy or Entropy.seeded(5))


def gaussian(sigma, count=DRAWS, entropy=None):
    return discrete_gaussian(gaussian_variance(sigma), count, entropy or Entropy.seeded(6))


@pytest.mark.parametrize("scale", [0.3, 0.8, 1.0, 4.5, 60.0, 1234.5])
@pytest.mark.parametrize(("wrong", "holds"), [(1.0, True), (0.7, False), (1.3, False)])
def test_discrete_laplace_has_its_scale_and_no_other(scale, wrong, holds):
    result = p_value(laplace(scale * wrong), laplace_cdf(scale), scale)
    assert result > ACCEPT if holds else result < REJECT


def wrapped_laplace(scale, count, entropy):
    """Lets 64-bit products run over, as the sampler did once for scales with a large numerator."""
    draws = discrete_laplace(scale, count, entropy)
    return ((draws.astype(object) * scale.denominator + 2**63) % 2**64 - 2**63) // scale.denominator


@pytest.mark.parametrize(("sampler", "holds"), [(discrete_laplace, True), (wrapped_laplace, False)])
def test_no_product_runs_over_in_discrete_laplace(sampler, holds):
    def check(sampler):
        scale = Fraction(2**61 + 1, 2**16)
        draws = np.asarray(sampler(scale, DRAWS, Entropy.seeded(5)), dtype=np.float64)
        assert p_value(draws, laplace_cdf(float(scale)), float(scale)) > ACCEPT

    judge(check, sampler, holds=holds)


@pytest.mark.parametrize("sigma", [0.4, 0.8, 1.0, 4.5, 60.0, 1234.5])
@pytest.mark.parametrize(("wrong", "holds"), [(1.0, True), (0.7, False), (1.3, False)])
def test_discrete_gaussian_has_its_scale_and_no_other(sigma, wrong, holds):
    drawn = math.sqrt(gaussian_variance(sigma))
    result = p_value(gaussian(sigma * wrong), gaussian_cdf(drawn), sigma)
    assert result > ACCEPT if holds else result < REJECT


@pytest.mark.parametrize(("wrong", "holds"), [(1.0, True), (0.7, False), (1.3, False)])
@pytest.mark.parametrize("sigma", [4e5, 1e9])
def test_wide_noise_takes_the_way_of_whole_python_numbers(sigma, wrong, holds):
    draws = gaussian(sigma * wrong, 6000)
    result = p_value(draws, gaussian_cdf(sigma), sigma)
    assert result > ACCEPT if holds else result < REJECT
    if holds:
        assert abs(draws.mean()) < 6 * sigma / math.sqrt(6000)
        assert draws.std() == pytest.approx(sigma, rel=6 / math.sqrt(12000))


def both_zeros(scale, count=DRAWS):
    """Forgets to throw minus zero away, so that zero comes twice as often."""
    rng = np.random.default_rng(0)
    return (rng.geometric(1 - math.exp(-1 / scale), count) - 1) * rng.choice([-1, 1], count)


def rounded_laplace(scale, count=DRAWS):
    """A float, rounded."""
    return np.round(np.random.default_rng(0).laplace(0, scale, count)).astype(np.int64)


def rounded_normal(sigma, count=DRAWS):
    """A float, rounded."""
    return np.round(np.random.default_rng(0).normal(0, sigma, count)).astype(np.int64)


def cut_off(sigma, count=DRAWS):
    """Bounded noise: what lies beyond four sigma is drawn again."""
    draws = rounded_normal(sigma, count)
    return draws[np.abs(draws) < 1.5 * sigma]


@pytest.mark.parametrize(("sampler", "holds"), [(laplace, True), (both_zeros, False), (rounded_laplace, False)])
def test_broken_laplace_samplers_are_seen(sampler, holds):
    def check(sampler):
        for scale in (0.5, 1.0):
            assert p_value(sampler(scale), laplace_cdf(scale), scale) > REJECT

    judge(check, sampler, holds=holds)


@pytest.mark.parametrize(("sampler", "holds"), [(gaussian, True), (rounded_normal, False), (cut_off, False)])
def test_broken_gaussian_samplers_are_seen(sampler, holds):
    def check(sampler):
        for sigma in (0.5, 1.0):
            assert p_value(sampler(sigma), gaussian_cdf(math.sqrt(gaussian_variance(sigma))), sigma) > REJECT

    judge(check, sampler, holds=holds)


def test_the_system_source_draws_the_same_distribution():
    assert p_value(laplace(2.5, 50_000, noise.SYSTEM), laplace_cdf(2.5), 2.5) > 1e-9
    assert p_value(gaussian(2.5, 50_000, noise.SYSTEM), gaussian_cdf(math.sqrt(gaussian_variance(2.5))), 2.5) > 1e-9


def nearest(scale):
    return Fraction(round(scale * 2**16), 2**16)


@pytest.mark.parametrize(("rule", "holds"), [(laplace_scale, True), (nearest, False)])
def test_scales_are_rounded_up_never_down(rule, holds):
    @given(st.floats(1e-3, 1e9))
    def check(scale):
        assert Fraction(scale) <= rule(scale) <= Fraction(scale) + Fraction(1, 2**16)

    judge(lambda _: check(), rule, holds=holds)


@pytest.mark.parametrize(("rule", "holds"), [(gaussian_variance, True), (lambda s: nearest(s) ** 2, False)])
def test_variances_are_rounded_up_never_down_and_little(rule, holds):
    @given(st.floats(1e-3, 1e9))
    def check(sigma):
        exact = Fraction(sigma) ** 2
        assert exact <= rule(sigma) <= exact * (1 + Fraction(1, 2**10)) + Fraction(1, 2**14)

    judge(lambda _: check(), rule, holds=holds)


def test_a_seed_repeats_the_noise_and_the_system_does_not():
    for draw in (laplace, gaussian):
        np.testing.assert_array_equal(draw(30.0, 500, Entropy.seeded(1)), draw(30.0, 500, Entropy.seeded(1)))
        assert (draw(30.0, 500, Entropy.seeded(1)) != draw(30.0, 500, Entropy.seeded(2))).any()
        assert (draw(30.0, 500, noise.SYSTEM) != draw(30.0, 500, noise.SYSTEM)).any()
    assert noise.SYSTEM.secure
    assert Entropy().secure
    assert not Entropy.seeded(1).secure


def test_impossible_scales_are_refused():
    for scale in (Fraction(0), Fraction(-1), Fraction(1 << 50)):
        with pytest.raises(ValueError, match="scale"):
            discrete_laplace(scale, 3)
    for variance in (Fraction(0), Fraction(-2)):
        with pytest.raises(ValueError, match="variance"):
            discrete_gaussian(variance, 3)
    assert len(discrete_laplace(Fraction(2), 0)) == len(discrete_gaussian(Fraction(2), 0)) == 0
