"""How prices combine: over queries, groups and samples, against exact worlds; broken twins are rejected."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from hushtable.privacy import accountant
from hushtable.privacy.accountant import NEVER, Cost, compose, epsilon_of, gdp, group, pure, zcdp
from tests.unit.privacy.exact import gaussian, hockey, joint, judge, laplace, loss, mixed, renyi


def dearest(costs):
    costs = list(costs)
    return Cost(max(c.epsilon for c in costs), max(c.rho for c in costs), max(c.mu for c in costs))


def adds_mu_plainly(costs):
    costs = list(costs)
    return Cost(sum(c.epsilon for c in costs), sum(c.rho for c in costs), sum(c.mu for c in costs))


@pytest.mark.parametrize(("rule", "holds"), [(compose, True), (dearest, False), (adds_mu_plainly, False)])
def test_sequential_composition_is_exact_for_two_laplaces_and_two_gaussians(rule, holds):
    def check(rule):
        worlds = [joint(laplace(2.0, move, 60), laplace(3.0, move, 60)) for move in (0, 1)]
        assert rule([pure(1 / 2), pure(1 / 3)]).epsilon == pytest.approx(loss(*worlds))
        both = rule([gdp(0.6), gdp(0.8)])
        assert both.mu == pytest.approx(1.0)  # two independent Gaussians are one, at the distance of the vector
        worlds = [joint(gaussian(2.0, move, 60), gaussian(3.0, move, 60)) for move in (0, 1)]
        assert rule([zcdp(1 / 8), zcdp(1 / 18)]).rho == pytest.approx(renyi(*worlds, 3.0) / 3, rel=1e-6)

    judge(check, rule, holds=holds)


def test_mixed_currencies_meet_in_one_that_all_have():
    total = compose([pure(0.3), zcdp(0.1), gdp(0.2)])
    assert total.epsilon == total.mu == math.inf
    assert total.rho == pytest.approx(0.3**2 / 2 + 0.1 + 0.02)
    assert math.isfinite(epsilon_of(total, 1e-6))
    assert epsilon_of(compose([pure(0.1, delta=1e-7), pure(0.2, delta=2e-7)]), 3e-7) == pytest.approx(0.3)
    assert epsilon_of(compose([pure(0.1, delta=1e-7), pure(0.2, delta=2e-7)]), 2e-7) == math.inf
    assert epsilon_of(compose([zcdp(0.1), NEVER]), 1e-6) == math.inf
    assert epsilon_of(compose([]), 0.0) == 0.0


def chain(links: int, epsilon: float, delta: float, least: float = 1e-3) -> list[np.ndarray]:
    """Worlds in a row, each told apart from the next exactly by (epsilon, delta): the worst a chain can be."""
    shares = [least]
    for _ in range(links):
        shares.append(math.exp(epsilon) * shares[-1] + delta)
    assert shares[-1] < 1
    return [np.log([share, 1 - share]) for share in shares]


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        (group, True),
        (lambda cost, size: Cost(epsilon=size * cost.epsilon, delta=size * cost.delta), False),
        (lambda cost, size: Cost(epsilon=size * cost.epsilon, delta=cost.delta), False),
        (lambda cost, size: compose([cost] * size), False),
    ],
)
def test_group_privacy_is_exact_on_a_chain(rule, holds):
    def check(rule):
        for size, epsilon, delta in product((2, 3, 5), (0.1, 0.7), (1e-4, 1e-2)):
            worlds = chain(size, epsilon, delta)
            cost = rule(pure(epsilon, delta=delta), size)
            assert hockey(worlds[0], worlds[-1], cost.epsilon) == pytest.approx(cost.delta, rel=1e-6)
        assert rule(gdp(0.5), 3).mu == pytest.approx(1.5)
        assert rule(zcdp(1 / 8), 3).rho == pytest.approx(renyi(gaussian(2.0, 0, 99), gaussian(2.0, 3, 99), 2.0) / 2, rel=1e-6)
        assert rule(pure(0.5), 3).epsilon == pytest.approx(loss(laplace(2.0), laplace(2.0, 3)))

    judge(check, rule, holds=holds)


def test_groups_lose_what_no_theorem_carries_over():
    assert group(Cost(rho=0.1, delta=1e-6), 2).delta == 1.0
    assert group(pure(400.0, delta=1e-9), 3).delta == 1.0
    assert group(pure(0.3), 1).epsilon == 0.3
    sampled = Cost(curve=accountant.sampled_gaussian_curve(0.1, 1.0, 10))
    assert epsilon_of(group(sampled, 2), 1e-6) == math.inf


def linear(epsilon, delta, rate):
    return rate * epsilon, rate * delta


def free(epsilon, delta, rate):
    return epsilon + math.log(rate), rate * delta


@pytest.mark.parametrize(("rule", "holds"), [(accountant.amplify, True), (linear, False), (free, False)])
def test_poisson_sampling_amplifies_one_laplace_count_exactly_so(rule, holds):
    """Add-remove: the record is in the sample with probability q, so the count comes from one world or the other."""

    def check(rule):
        assert rule(2.0, 0.0, 0.5)[0] == pytest.approx(1.43, abs=5e-3)
        assert rule(10.0, 0.0, 0.1)[0] == pytest.approx(7.70, abs=5e-3)
        for rate, epsilon in product((0.05, 0.5, 0.9), (0.2, 1.0, 4.0)):
            without, within = laplace(1 / epsilon, 0, 50), laplace(1 / epsilon, 1, 50)
            assert rule(epsilon, 0.0, rate)[0] == pytest.approx(loss(mixed(rate, within, without), without))
        for rate, sigma in product((0.1, 0.6), (1.0, 4.0)):
            without, within = gaussian(sigma, 0), gaussian(sigma, 1)
            base = hockey(without, within, 0.5)
            epsilon, delta = rule(0.5, base, rate)
            assert hockey(mixed(rate, within, without), without, epsilon) == pytest.approx(delta, rel=1e-6)

    judge(check, rule, holds=holds)


@pytest.mark.parametrize(("rule", "holds"), [(accountant.amplify, True), (linear, False)])
def test_fixed_size_sampling_amplifies_under_replace_one(rule, holds):
    """m of n rows; one row is exchanged for one in the other cell. The base has the replace-one price of a histogram, 2/b."""

    def check(rule):
        for drawn, rows, scale in ((1, 4, 1.0), (3, 4, 2.0), (2, 10, 0.7)):
            same = joint(laplace(scale, drawn, 25), laplace(scale, 0, 25))
            moved = joint(laplace(scale, drawn - 1, 25), laplace(scale, 1, 25))
            true = loss(mixed(drawn / rows, moved, same), same)
            assert rule(2 / scale, 0.0, drawn / rows)[0] == pytest.approx(true)

    judge(check, rule, holds=holds)


def test_poisson_sampling_under_replace_one_needs_the_base_under_both_relations():
    """The exchanged row is drawn or not, so both worlds are mixtures; the worse base epsilon, amplified, covers them."""
    for rate, scale in product((0.1, 0.5), (0.5, 2.0)):
        none = joint(laplace(scale, 0, 25), laplace(scale, 0, 25))
        left, right = joint(laplace(scale, 1, 25), laplace(scale, 0, 25)), joint(laplace(scale, 0, 25), laplace(scale, 1, 25))
        true = loss(mixed(rate, left, none), mixed(rate, right, none))
        assert true <= accountant.amplify(2 / scale, 0.0, rate)[0]
        assert true > accountant.amplify(1 / scale, 0.0, rate)[0]


def test_sampling_rates_and_large_epsilons():
    for rate in (0.0, -0.1, 1.1):
        with pytest.raises(ValueError, match="rate"):
            accountant.amplify(1.0, 0.0, rate)
    assert accountant.amplify(900.0, 0.0, 0.5)[0] == pytest.approx(900 - math.log(2))
    assert accountant.amplify(0.3, 1e-6, 1.0) == pytest.approx((0.3, 1e-6))
    for epsilon, rate in product((0.1, 1.0, 20.0, 690.0, 900.0), (0.01, 0.5, 1.0)):
        assert accountant.amplify(accountant.before_sampling(epsilon, rate), 0.0, rate)[0] <= epsilon * (1 + 1e-12)
