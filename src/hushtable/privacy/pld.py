"""Numerical accounting by privacy loss distributions, where it is tighter than a closed form.

This file alone knows ``dp-accounting`` (the extra ``dp``); without it, or for events it cannot place, the closed forms
stand. Its answers are upper bounds: discretization is rounded against us.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Event, Exponential, Gaussian, SampledGaussian

FINE = 1e-3
"""The step of the losses beside the root of twice rho, which is how far the losses of all events together spread."""
BLUR = 4.0
"""The variance by which integer Gaussian noise is taken to be narrower where it is treated as continuous."""
NARROW, WIDE = 10.0, 100.0
"""Integer noise from ``NARROW`` on may be treated as continuous, and from ``WIDE`` on is."""


def available() -> bool:
    """Whether the library is installed."""
    return find_spec("dp_accounting") is not None


def epsilon(events: Iterable[Event], delta: float) -> float:
    """Epsilon at this delta; infinite if an event cannot be placed or the library is absent."""
    events = [e for e in events if e.cost().rho > 0 or e.cost().delta > 0]
    if delta <= 0 or not available():
        return math.inf
    # All Gaussians together are one, at the distance of the vector (Dong, Roth and Su 2019).
    mus, counted = list[float](), dict[Event, int]()
    # In an order of their own, so that a plan and the ledger of its run are one question, worked out once.
    for e in sorted(events, key=repr):
        if mu := gaussian_mu(e):
            mus.append(mu)
        elif times := _multiplicity(e):
            counted[e] = counted.get(e, 0) + times
        else:
            return math.inf
    return _composed(math.hypot(*mus), tuple(counted.items()), delta)


@lru_cache(maxsize=256)
def _composed(mu: float, counted: tuple[tuple[Event, int], ...], delta: float) -> float:
    """Kept, because a card asks for the same number several times."""
    from dp_accounting.pld import privacy_loss_distribution as library

    step = _step(mu, counted)
    total = library.from_gaussian_mechanism(1 / mu, value_discretization_interval=step) if mu else library.identity(step)
    for e, times in counted:
        one = _distribution(library, e, step)
        total = total.compose(one.self_compose(times) if times > 1 else one)
    return float(total.get_epsilon_for_delta(delta))


def _step(mu: float, counted: tuple[tuple[Event, int], ...]) -> float:
    """A grid of the losses as fine as the price of all events asks for: at a small epsilon a fixed one would count for too much."""
    rho = mu**2 / 2 + sum(e.cost().rho * times / _multiplicity(e) for e, times in counted)
    if not math.isfinite(rho):
        return 1e-4
    return FINE * 2.0 ** min(round(math.log2(2 * rho) / 2), 3) if rho else FINE


def gaussian_mu(e: Event) -> float:
    """The mu of a continuous Gaussian that dominates the event; 0 if there is none that is near.

    Integer Gaussian noise of variance v on a vector of integers is what comes out if continuous noise of variance v - ``BLUR`` is
    added, and each number y is then rounded at random to an integer m with probability g(y - m)/S(y), where g is the density of a
    Gaussian of variance ``BLUR`` and S(y) the sum of g(y - m) over all m. (Rounding follows a whole shift of y, so neighbours stay
    neighbours.) By Poisson summation S(y) is 1 up to 2 exp(-2 pi^2 BLUR) < 2e-34, and so is the sum that normalizes the integer
    noise: the probabilities agree up to a factor of 1 + 1e-33 for each number that changes, of which there are at most the squared
    L2 change. That is far below the rounding of a float. So mu = L2 change / sqrt(v - BLUR), whatever its direction.
    """
    if isinstance(e, Gaussian):
        mu = e.sensitivity / e.sigma
    elif isinstance(e, DiscreteGaussian) and e.sigma >= (WIDE if e.ones else NARROW):
        mu = e.sensitivity / math.sqrt(e.sigma**2 - BLUR)
    else:
        return 0.0
    return mu if mu < 10 else 0.0


def _multiplicity(e: Event) -> int:
    """How many one-dimensional mechanisms dominate the event; 0 if we know none.

    A discrete Gaussian vector is dominated coordinate by coordinate only when we know that each changes by at most 1.
    The library keeps every step of the loss, so very large losses are left to the closed forms.
    """
    if isinstance(e, DiscreteGaussian):
        return e.ones if e.sigma >= 0.5 else 0
    if isinstance(e, SampledGaussian):
        return e.steps if e.multiplier > 0.1 else 0
    return 1 if isinstance(e, (Exponential, DiscreteLaplace)) and e.cost().epsilon < 50 else 0


def _distribution(library: Any, e: Event, step: float) -> Any:
    if isinstance(e, DiscreteGaussian):
        return library.from_discrete_gaussian_mechanism(e.sigma, value_discretization_interval=step, use_connect_dots=True)
    if isinstance(e, SampledGaussian):
        # One record more, or one less: the library keeps both directions apart, and takes the worse in the end.
        return library.from_gaussian_mechanism(e.multiplier, value_discretization_interval=step, sampling_prob=e.rate)
    if isinstance(e, Exponential):
        return _bounded_range(library, e.epsilon, step)
    # Any pure mechanism is dominated by randomized response with its epsilon.
    pure = library.common.DifferentialPrivacyParameters(e.cost().epsilon, 0.0)
    return library.from_privacy_parameters(pure, value_discretization_interval=step)


def _bounded_range(library: Any, epsilon: float, step: float) -> Any:
    """The exponential mechanism: the logarithms of its odds span at most epsilon, which is less than pure epsilon allows.

    Of all such mechanisms, those with loss t or t - epsilon are the worst (Dong, Durfee and Rogers 2020). Their delta at e is
    (E - e^t)(1 - e^(e - t))/(E - 1) with E = e^epsilon, and largest at t = (epsilon + e)/2: (sqrt E - sqrt e^e)^2/(E - 1). The
    largest of all is a privacy profile again, so one pair of distributions dominates them all, and such pairs compose
    (Zhu, Dong and Wang 2022).
    """
    from dp_accounting.pld import pld_pmf

    ends = math.ceil(epsilon / step)
    rounded = np.arange(-ends, ends + 1)
    losses = np.clip(rounded * step, -epsilon, epsilon)
    # Factors of (E - 1) are taken out of both: nothing is lost to rounding for a small epsilon.
    deltas = np.expm1((epsilon - losses) / 2) ** 2 * np.exp(losses) / np.expm1(epsilon)
    outside = rounded * step < -epsilon
    deltas[outside] = -np.expm1(rounded[outside] * step)
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots(step, rounded, deltas)
    return library.PrivacyLossDistribution(pmf)
