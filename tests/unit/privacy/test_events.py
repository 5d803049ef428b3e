"""Events are values: they price themselves, survive JSON, and refuse parameters that would earn what was not paid for."""

from __future__ import annotations

import json
import math

import pytest

from hushtable.privacy import accountant, event
from hushtable.privacy.event import (
    Approximate,
    BestOfRuns,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    Gaussian,
    PostProcessing,
    Raw,
    SampledGaussian,
    StabilityHistogram,
    Transform,
    Zcdp,
)
from hushtable.privacy.ledger import Entry, Ledger

EVENTS = [
    Raw("looks"),
    PostProcessing("reads a release"),
    Transform("sampling"),
    DiscreteGaussian(2.5, math.sqrt(2), 2),
    DiscreteLaplace(3.25, 2.0),
    Gaussian(1.5, 1.0),
    Exponential(0.5),
    Approximate(0.5, 1e-9),
    Zcdp(0.125),
    SampledGaussian(1.1, 0.01, 100),
    StabilityHistogram(2.5, 1.0, 14, 2),
    BestOfRuns(0.01, 0.0, 0.1),
]


@pytest.mark.parametrize("happened", EVENTS, ids=lambda e: type(e).__name__)
def test_an_entry_survives_json(happened):
    for why in ("counts of age", getattr(happened, "why", "another reason")):
        entry = Entry("margins", happened, why, 3, 0.25)
        assert Entry.from_json(json.loads(json.dumps(entry.to_json()))) == entry


def test_every_kind_of_event_is_covered_above():
    assert {type(e) for e in EVENTS} == set(Event.__subclasses__())


@pytest.mark.parametrize("mapping", [{"event": "Miracle"}, {"event": ""}, {"sigma": 1.0}, {"event": "Event"}])
def test_an_unknown_event_is_refused_and_never_free(mapping):
    with pytest.raises(ValueError, match="unknown privacy event"):
        event.from_json(mapping)


def test_an_event_with_unknown_parameters_is_refused():
    with pytest.raises(TypeError):
        event.from_json({"event": "Zcdp", "rho": 0.1, "discount": 0.5})
    with pytest.raises(KeyError):
        Entry.from_json({"event": "Zcdp", "rho": 0.1, "step": "s", "why": "w", "sample": 0})


def test_an_event_that_does_not_say_its_price_costs_everything():
    class Novel(Event):
        """A kind that forgot its cost."""

    assert not event.private(Novel())
    ledger = Ledger([Entry("s", Zcdp(0.1), "w"), Entry("new", Novel(), "w")])
    assert ledger.epsilon(1e-6) == math.inf
    assert [e.step for e in ledger.culprits] == ["new"]


BAD = [
    lambda bad: Zcdp(bad),
    lambda bad: Exponential(bad),
    lambda bad: Approximate(bad, 0.0),
    lambda bad: Approximate(1.0, bad),
    lambda bad: DiscreteGaussian(bad, 1.0),
    lambda bad: DiscreteGaussian(1.0, bad),
    lambda bad: DiscreteLaplace(bad, 1.0),
    lambda bad: DiscreteLaplace(1.0, bad),
    lambda bad: Gaussian(bad, 1.0),
    lambda bad: Gaussian(1.0, bad),
    lambda bad: SampledGaussian(bad, 0.1, 10),
    lambda bad: SampledGaussian(1.0, bad, 10),
    lambda bad: SampledGaussian(1.0, 0.1, bad),
    lambda bad: Entry("s", Zcdp(0.1), "w", 1, bad),
]


@pytest.mark.parametrize("bad", [-1.0, -1e-300, math.nan])
@pytest.mark.parametrize("make", BAD)
def test_a_negative_or_undefined_price_is_refused(make, bad):
    """A look with a negative price would pay for others: 1 and -0.9 rho make a tenth."""
    with pytest.raises(ValueError, match=r"out of range|lies in"):
        make(bad)


@pytest.mark.parametrize(
    "make",
    [
        lambda: DiscreteGaussian(0.0, 1.0),
        lambda: DiscreteLaplace(math.inf, 1.0),
        lambda: Approximate(1.0, 1.5),
        lambda: SampledGaussian(1.0, 1.5, 10),
        lambda: SampledGaussian(1.0, 0.5, 0),
        lambda: Entry("s", Zcdp(0.1), "w", 1, 0.0),
        lambda: Entry("s", Zcdp(0.1), "w", 1, 1.5),
    ],
)
def test_impossible_parameters_are_refused(make):
    with pytest.raises(ValueError, match=r"out of range|lies in"):
        make()


def test_ones_cannot_say_less_than_the_sensitivity():
    """The numerical accountant believes ``ones``: a vector that moves by 10 is not one count that moves by 1."""
    with pytest.raises(ValueError, match="ones"):
        DiscreteGaussian(5.0, 10.0, 1)
    assert DiscreteGaussian(5.0, math.sqrt(2), 2).ones == 2
    assert DiscreteGaussian(5.0, 10.0).ones == 0


def test_what_counts_as_paid():
    assert [type(e).__name__ for e in EVENTS if not event.private(e)] == ["Raw"]
    assert [type(e).__name__ for e in EVENTS if not event.paid(e)] == ["Raw", "PostProcessing", "Transform"]
    assert not event.private(Approximate(1.0, 1.0))
    assert not event.private(Approximate(math.inf, 0.0))
    assert not event.private(Zcdp(math.inf))


def test_an_event_tells_its_numbers():
    assert str(DiscreteGaussian(2.5, 1.0, 1)) == "DiscreteGaussian(sigma=2.5, sensitivity=1, ones=1)"


@pytest.mark.parametrize("sigma", [0.5, 2.0, 30.0])
def test_the_curve_of_continuous_noise_is_the_divergence_of_two_gaussians(sigma):
    """Renyi divergence of order alpha between N(0, sigma^2) and N(1, sigma^2): alpha / (2 sigma^2)."""
    assert Gaussian(sigma, 1.0).cost().curve == pytest.approx(accountant.ALPHAS / (2 * sigma**2))
