"""Bounds of a mechanism audit against closed forms, published examples and mechanisms whose parameters are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, norm

from hushtable.audits.mechanism import bounds


@pytest.mark.parametrize(("hits", "runs", "tail"), [(0, 100, 0.025), (7, 60, 0.01), (59, 60, 0.025), (60, 60, 0.025)])
def test_the_limit_is_clopper_and_pearsons(hits, runs, tail):
    wanted = 1.0 if hits == runs else beta.ppf(1 - tail, hits + 1, runs - hits)
    assert bounds.upper(hits, runs, tail) == pytest.approx(wanted)


@pytest.mark.parametrize(("runs", "most"), [(100, 3.28), (200, 3.98), (500, 4.91), (1000, 5.60), (2000, 6.29), (5000, 7.21)])
def test_the_most_that_two_worlds_can_show(runs, most):
    assert bounds.ceiling(runs) == pytest.approx(most, abs=6e-3)


@pytest.mark.parametrize("tail", [0.025, 0.025 / 6, 0.3])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.01])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0, 6.0])
def test_the_runs_that_are_needed_are_the_fewest_that_could_show_it(epsilon, delta, tail):
    runs = bounds.needed(epsilon, delta, tail)
    assert bounds.ceiling(runs, delta, tail) > epsilon
    assert runs == 1 or bounds.ceiling(runs - 1, delta, tail) <= epsilon
    assert bounds.needed(50.0, delta, tail) is None


@pytest.mark.parametrize(("guesses", "most"), [(50, 2.78), (100, 3.49), (500, 5.11), (1000, 5.81)])
def test_the_most_that_one_run_can_show(guesses, most):
    assert bounds.one_run_epsilon(guesses, guesses, guesses, 0.0) == pytest.approx(most, abs=6e-3)


@pytest.mark.parametrize(("guesses", "right", "bound"), [(200, 180, 1.80), (1000, 600, 0.30)])
def test_one_run_examples(guesses, right, bound):
    assert bounds.one_run_epsilon(1000, guesses, right, 0.0) == pytest.approx(bound, abs=6e-3)


def test_one_run_sees_nothing_in_half_right():
    assert bounds.one_run_epsilon(1000, 200, 100, 1e-6) == 0.0


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-4])
def test_the_p_value_is_the_formula_summed_term_by_term(delta):
    m, r, v, epsilon = 300, 40, 33, 0.8
    right = math.exp(epsilon) / (1 + math.exp(epsilon))
    chances = [binom.pmf(k, r, right) for k in range(r + 1)]
    most = max(sum(chances[max(0, v - i) : v]) / i for i in range(1, v + 1))
    assert bounds.p_value(m, r, v, epsilon, delta) == pytest.approx(min(1.0, sum(chances[v:]) + 2 * m * delta * most))


def test_a_delta_makes_the_bound_smaller():
    without, little, much = (bounds.one_run_epsilon(1000, 200, 180, delta) for delta in (0.0, 1e-6, 1e-4))
    assert without >= little > much > 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_randomized_response_has_exactly_its_epsilon_and_less_than_the_rho_of_any_pure_mechanism(epsilon):
    wrong = 1 / (1 + math.exp(epsilon))
    assert bounds.epsilon_bound(wrong, wrong, 0.0) == pytest.approx(epsilon)
    assert bounds.rho_bound(wrong, wrong) <= epsilon**2 / 2
    # Its divergence of an order near 1 is known in closed form.
    assert bounds.rho_bound(wrong, wrong) >= (1 - 2 * wrong) * epsilon / 1.01


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.5, 2.0, 4.0])
def test_a_gaussian_shows_its_mu_and_never_more_than_its_rho(mu, threshold):
    false, missed = norm.sf(threshold), norm.cdf(threshold - mu)
    assert bounds.mu_bound(false, missed) == pytest.approx(mu)
    assert bounds.rho_bound(false, missed) <= mu**2 / 2 * (1 + 1e-9)
    assert bounds.gaussian_mu(mu**2 / 2) == pytest.approx(mu)


def test_rho_is_shown_well_where_it_matters():
    """At the best threshold a coin keeps 2/pi of the divergence of a small Gaussian, so twice the noise is in reach."""
    assert bounds.rho_bound(norm.sf(0.15), norm.cdf(-0.15)) == pytest.approx(2 / math.pi * 0.045, rel=0.05)


rates = st.floats(0.001, 0.999)


@given(rates, rates, st.floats(0.0, 0.01))
def test_no_bound_is_negative_and_chance_shows_nothing(false, missed, delta):
    assert bounds.epsilon_bound(false, missed, delta) >= 0
    assert bounds.rho_bound(false, missed) >= 0
    assert bounds.epsilon_bound(false, 1 - false, delta) <= 1e-9
    assert bounds.rho_bound(false, 1 - false) <= 1e-9


@given(rates, rates, st.floats(0.0, 0.5))
def test_worse_limits_never_give_a_better_bound(false, missed, more):
    """This is what lets upper limits stand for rates."""
    worse = min(0.999, false + more)
    for bound in (
        lambda a: bounds.epsilon_bound(a, missed, 0.0),
        lambda a: bounds.rho_bound(a, missed),
        lambda a: bounds.mu_bound(a, missed),
    ):
        if worse + missed < 1:
            assert bound(worse) <= bound(false) + 1e-9


def test_arrays_are_bounded_like_numbers():
    false, missed = np.array([0.1, 0.2, 0.9]), np.array([0.3, 0.01, 0.9])
    for bound in (bounds.rho_bound, bounds.mu_bound):
        assert bound(false, missed).tolist() == pytest.approx([float(bound(a, b)) for a, b in zip(false, missed, strict=True)])
