"""The numerical accountant against exact worlds, finer grids and known values; broken twins are rejected."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from hushtable.privacy import pld
from hushtable.privacy.accountant import epsilon_of, gdp_delta, gdp_epsilon
from hushtable.privacy.event import DiscreteGaussian, Exponential, Gaussian, SampledGaussian
from tests.unit.privacy.exact import epsilon_at, gaussian, hockey, joint, judge

pytestmark = pytest.mark.skipif(not pld.available(), reason="needs the extra dp")


def blurred(event):
    return pld.gaussian_mu(event)


def plain(event):
    """As if integer noise were continuous."""
    return event.sensitivity / event.sigma


@pytest.mark.parametrize(("mu_of", "holds"), [(blurred, True), (plain, False)])
def test_a_continuous_gaussian_dominates_integer_noise_in_every_direction(mu_of, holds):
    def check(mu_of):
        for sigma, shift in product((10.0, 14.3), ((1,), (7,), (1, 1), (3, 1), (0, 4))):
            reach = int(9 * sigma)
            worlds = [gaussian(sigma, 0, reach), gaussian(sigma, shift[0], reach)]
            for move in shift[1:]:
                worlds = [joint(worlds[0], gaussian(sigma, 0, reach)), joint(worlds[1], gaussian(sigma, move, reach))]
            mu = mu_of(DiscreteGaussian(sigma, math.hypot(*shift)))
            for epsilon in np.linspace(0.0, 4 * mu, 13):
                assert hockey(worlds[0], worlds[1], epsilon) <= gdp_delta(mu, epsilon) + 1e-13

    judge(check, mu_of, holds=holds)


def test_integer_noise_costs_hardly_more_than_the_gaussian_and_no_less_than_exactly():
    for sigma, delta in ((100.0, 1e-6), (101.0, 1e-5), (1e7, 1e-6)):
        numerical = pld.epsilon([DiscreteGaussian(sigma, 1.0, 1)], delta)
        assert gdp_epsilon(1 / sigma, delta) <= numerical * (1 + 1e-6) <= gdp_epsilon(1 / sigma, delta) * 1.002
    reach = 1000
    exact = epsilon_at(gaussian(100.0, 0, reach), gaussian(100.0, 1, reach), 1e-5)
    assert exact <= pld.epsilon([DiscreteGaussian(100.0, 1.0, 1)], 1e-5) <= exact * 1.002


def test_many_gaussians_are_one():
    events = [DiscreteGaussian(300.0, 3.0), DiscreteGaussian(200.0, 2**0.5, 2), Gaussian(50.0, 1.0)]
    mu = math.hypot(*map(pld.gaussian_mu, events))
    assert pld.epsilon(events, 1e-6) == pytest.approx(gdp_epsilon(mu, 1e-6), rel=1e-4)
    assert pld.epsilon(events, 1e-6) == pld.epsilon(events[::-1], 1e-6)


@pytest.mark.parametrize("size", [0.1, 1.0, 8.0])
def test_a_finer_grid_finds_hardly_less(size, monkeypatch):
    """At every epsilon the grid is as fine as it has to be, for choices and for both kinds of noise."""
    events = [DiscreteGaussian(30 / size, 1.0, 1)] * 5 + [Exponential(0.1 * size)] * 6 + [DiscreteGaussian(900 / size, 9.0)]
    found = pld.epsilon(events, 1e-6)
    monkeypatch.setattr(pld, "FINE", pld.FINE / 16)
    pld._composed.cache_clear()
    finer = pld.epsilon(events, 1e-6)
    pld._composed.cache_clear()
    assert finer * (1 - 1e-7) <= found <= finer * 1.001


def test_samples_cost_less_than_their_renyi_curve_says_and_no_less_than_on_a_finer_grid(monkeypatch):
    """DP-SGD with rate 0.1 and 300 steps at (1, 1e-5): a multiplier of 6.59 in place of 7.15."""
    event = SampledGaussian(6.59, 0.1, 300)
    found, curve = pld.epsilon([event], 1e-5), epsilon_of(event.cost(), 1e-5)
    assert found == pytest.approx(1.0, abs=2e-3)
    assert curve > 1.08
    assert epsilon_of(SampledGaussian(7.15, 0.1, 300).cost(), 1e-5) == pytest.approx(1.0, abs=2e-3)
    assert pld.epsilon([SampledGaussian(6.59 / 1.05, 0.1, 300)], 1e-5) > 1.04
    monkeypatch.setattr(pld, "_step", lambda mu, counted: 2e-5)
    pld._composed.cache_clear()
    finer = pld.epsilon([event], 1e-5)
    pld._composed.cache_clear()
    assert finer * (1 - 1e-6) <= found <= finer * 1.002
    whole = SampledGaussian(20.0, 1.0, 9)
    assert pld.epsilon([whole], 1e-5) == pytest.approx(gdp_epsilon(3 / 20, 1e-5), rel=1e-3)
