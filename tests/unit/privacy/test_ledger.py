"""The ledger adds up: never less for one look more, per secret sample, and infinite once a look was raw."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.privacy import accountant
from hushtable.privacy.event import (
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    PostProcessing,
    Raw,
    Transform,
    Zcdp,
)
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.unit import Budget
from tests.unit.privacy.exact import laplace, loss, mixed

scales = st.floats(0.3, 200.0)
events = st.one_of(
    st.builds(DiscreteGaussian, scales, st.just(1.0), st.just(1)),
    st.builds(DiscreteGaussian, scales, st.floats(0.0, 5.0)),
    st.builds(DiscreteLaplace, scales, st.floats(0.0, 3.0)),
    st.builds(Exponential, st.floats(0.0, 2.0)),
    st.builds(Approximate, st.floats(0.0, 2.0), st.floats(0.0, 1e-8)),
    st.builds(Zcdp, st.floats(0.0, 1.0)),
    st.just(PostProcessing("p")),
    st.just(Transform("t")),
)
RATES = {0: 1.0, 1: 0.5, 2: 0.01}
entries = st.builds(lambda e, sample: Entry("s", e, "w", sample, RATES[sample]), events, st.sampled_from(sorted(RATES)))


@given(st.lists(entries, max_size=6), entries, st.sampled_from([0.0, 1e-9, 1e-6, 1e-2]))
def test_one_look_more_never_costs_less(before, added, delta):
    ledger = Ledger(before)
    assert ledger.with_entry(added).epsilon(delta) >= ledger.epsilon(delta) * (1 - 1e-12)
    assert ledger.with_entry(added).rho() >= ledger.rho()


@given(st.lists(entries, max_size=5), st.sampled_from([1e-9, 1e-6]))
def test_a_smaller_delta_never_costs_less_and_a_raw_look_costs_everything(before, delta):
    ledger = Ledger(before)
    assert ledger.epsilon(delta / 10) >= ledger.epsilon(delta) * (1 - 1e-12)
    raw = ledger.with_entry(Entry("peek", Raw("reads rows"), "reads rows"))
    assert raw.epsilon(delta) == raw.rho() == math.inf
    assert [e.step for e in raw.culprits] == ["peek"]


def test_the_numerical_accountant_only_ever_lowers():
    for happened in ([DiscreteGaussian(3.0, 1.0, 1)] * 4, [DiscreteLaplace(2.0, 1.0), DiscreteGaussian(3.0, math.sqrt(2), 2)]):
        for rate in (1.0, 0.3):
            ledger = Ledger(Entry("s", e, "w", int(rate < 1), rate) for e in happened)
            assert 0 < ledger.epsilon(1e-6, tight=True) < ledger.epsilon(1e-6)


def test_free_looks_are_free_and_an_empty_ledger_costs_nothing():
    free = Ledger([Entry("s", PostProcessing("p"), "w"), Entry("s", Transform("t"), "w")])
    assert free.epsilon(0.0) == Ledger().epsilon(0.0) == free.rho() == 0.0
    assert not free.paid


def test_rho_is_told_only_where_it_means_the_whole_table():
    assert Ledger([Entry("s", Zcdp(0.1), "w"), Entry("s", Zcdp(0.2), "w")]).rho() == pytest.approx(0.3)
    assert Ledger([Entry("s", Zcdp(0.1), "w", 1, 0.5)]).rho() == math.inf
    assert Ledger([Entry("s", Approximate(0.1, 1e-9), "w")]).rho() == math.inf


def test_looks_at_one_sample_are_added_before_they_are_amplified():
    """Two looks at one secret sample see the same coin; two looks at two samples see two coins."""
    look = DiscreteLaplace(1.0, 1.0)
    one = Ledger([Entry("s", look, "w", 1, 0.5)] * 2).epsilon(0.0)
    two = Ledger([Entry("s", look, "w", 1, 0.5), Entry("s", look, "w", 2, 0.5)]).epsilon(0.0)
    assert one == pytest.approx(accountant.amplify(2.0, 0.0, 0.5)[0])
    assert two == pytest.approx(2 * accountant.amplify(1.0, 0.0, 0.5)[0])
    without, within = laplace(1.0, 0, 60), laplace(1.0, 1, 60)
    assert two == pytest.approx(2 * loss(mixed(0.5, within, without), without))


def test_a_look_at_a_sample_and_one_at_a_sample_of_it_share_the_outer_coins():
    """Under one number the larger rate counts, in whatever order they were written."""
    outer, inner = Entry("s", DiscreteLaplace(1.0, 1.0), "w", 1, 0.5), Entry("s", DiscreteLaplace(1.0, 1.0), "w", 1, 0.25)
    for ledger in (Ledger([outer, inner]), Ledger([inner, outer])):
        assert ledger.epsilon(0.0) == pytest.approx(accountant.amplify(2.0, 0.0, 0.5)[0])
    assert Ledger([inner]).epsilon(0.0) == pytest.approx(accountant.amplify(1.0, 0.0, 0.25)[0])


def test_different_samples_share_delta():
    ledger = Ledger([Entry("s", Zcdp(0.1), "w"), Entry("s", Zcdp(0.2), "w", 1, 0.5)])
    whole = accountant.zcdp_epsilon(0.1, 5e-7)
    sampled = accountant.amplify(accountant.zcdp_epsilon(0.2, 1e-6), 0.0, 0.5)[0]
    assert ledger.epsilon(1e-6) == pytest.approx(whole + sampled)


def test_a_delta_above_the_rate_asks_for_nothing_more():
    """Anything on a sample at rate q is (0, q)-DP: the record is seen with that probability at most."""
    assert Ledger([Entry("s", Zcdp(50.0), "w", 1, 1e-7)]).epsilon(1e-6) == 0.0
    assert Ledger([Entry("s", Zcdp(50.0), "w", 1, 1e-5)]).epsilon(1e-6) > 0.0


def test_a_budget_forgives_the_last_place_only():
    ledger = Ledger([Entry("s", DiscreteLaplace(1.0, 1.0), "w")])
    assert ledger.within(Budget(1.0, 0.0))
    assert not ledger.within(Budget(0.999999, 0.0))


def test_samples_are_numbered_once():
    ledger = Ledger([Entry("s", Zcdp(0.1), "w", 4, 0.5)])
    assert [ledger.new_sample(), ledger.new_sample()] == [5, 6]
    ledger.add(Entry("s", Zcdp(0.1), "w", 9, 0.5))
    assert ledger.new_sample() == 10
    assert [ledger.first_part_of(1, 0.5), ledger.first_part_of(1, 0.5), ledger.first_part_of(1, 0.25)] == [True, False, True]


def test_a_look_with_a_delta_of_its_own_adds_up_with_noise_and_the_sum_is_no_smaller_than_the_truth():
    sigma, own, delta = 40.0, Approximate(0.06, 1e-4), 3e-4
    accesses = Ledger([Entry("a", own, "w"), Entry("b", DiscreteGaussian(sigma, 1.0, 1), "w")])
    alone = Ledger([Entry("b", DiscreteGaussian(sigma, 1.0, 1), "w")])
    composed = accesses.epsilon(delta)
    assert composed <= 0.06 + alone.epsilon(2e-4) + 1e-12
    # The worst pair for such a look, times a Gaussian and the same one shifted.
    rest, odds = 1 - own.delta, math.exp(own.epsilon)
    worst = np.array([[own.delta, rest * odds / (1 + odds), rest / (1 + odds), 0.0]])
    places = np.arange(-600, 602)
    bell = np.exp(-(places**2) / (2 * sigma**2))
    here, there = np.outer(bell / bell.sum(), worst), np.outer(np.roll(bell, 1) / bell.sum(), worst[:, ::-1])

    def true_delta(epsilon: float) -> float:
        return float(np.maximum(here - math.exp(epsilon) * there, 0.0).sum())

    assert true_delta(composed) <= delta
    assert true_delta(0.9 * own.epsilon) > delta
