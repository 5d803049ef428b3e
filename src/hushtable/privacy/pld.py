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

from hushtable.privacy import accountant
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Event, Exponential, Gaussian, SampledGaussian
from hushtable.table.arrays import Floats

FINE = 1e-3
"""The step of the losses beside the root of twice rho, which is how far the losses of all events together spread."""
BLUR = 4.0
"""The variance by which integer Gaussian noise is taken to be narrower where it is treated as continuous."""
NARROW, WIDE = 10.0, 100.0
"""Integer noise from ``NARROW`` on may be treated as continuous, and from ``WIDE`` on is."""

PARTS, WIDEST = 8, 0.1
"""The epsilon of a choice is cut into so many parts, up to four times as many where they would be wider than that."""
TOGETHER = 64
"""So many equal choices are accounted for together; more are blocks of so many, which compose."""


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
        if isinstance(e, Exponential) and times % TOGETHER:
            total = total.compose(_choices(library, e.epsilon, times % TOGETHER, step))
        many = times // TOGETHER if isinstance(e, Exponential) else times
        if many:
            one = _distribution(library, e, step)
            total = total.compose(one.self_compose(many) if many > 1 else one)
    return float(total.get_epsilon_for_delta(delta))


def _step(mu: float, counted: tuple[tuple[Event, int], ...]) -> float:
    """A grid of the losses as fine as the price of all events asks for: at a small epsilon a fixed one would count for too much."""
    rho = mu**2 / 2 + sum(_spread(e) * times / _multiplicity(e) for e, times in counted)
    return FINE * 2.0 ** min(round(math.log2(2 * rho) / 2), 3) if rho else FINE


def _spread(e: Event) -> float:
    """The rho of an event, or about that of sums of samples, which have none."""
    return (
        accountant.sampled_gaussian_renyi(e.rate, e.multiplier, e.steps, 2) / 2 if isinstance(e, SampledGaussian) else e.cost().rho
    )


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
        # A record more, or a record less: the library keeps both directions apart, and takes the worse in the end.
        return library.from_gaussian_mechanism(e.multiplier, value_discretization_interval=step, sampling_prob=e.rate)
    if isinstance(e, Exponential):
        return _choices(library, e.epsilon, TOGETHER, step)
    # Any pure mechanism is dominated by randomized response with its epsilon.
    pure = library.common.DifferentialPrivacyParameters(e.cost().epsilon, 0.0)
    return library.from_privacy_parameters(pure, value_discretization_interval=step)


def _choices(library: Any, epsilon: float, times: int, step: float) -> Any:
    """So many choices by the exponential mechanism, each in view of those before."""
    from dp_accounting.pld import pld_pmf

    places, profile = choice_profile(epsilon, times)
    h, ends = places[-1] - places[-2], math.ceil(times * epsilon / step)
    rounded = np.arange(-ends, ends + 1)
    along = (rounded * step - places[0]) / h
    piece = np.clip(along.astype(np.int64), 0, len(places) - 2)
    # Between its places the profile lies below the chord in the exponential of the loss.
    share = np.expm1((along - piece) * h) / math.expm1(h)
    deltas = profile[piece] + share * (profile[piece + 1] - profile[piece])
    outside = np.abs(rounded) * step >= places[-1]
    deltas[outside] = np.maximum(-np.expm1(rounded[outside] * step), 0.0)
    # A profile falls; where rounding lets it rise, the larger value before it is an upper bound still.
    deltas = np.maximum.accumulate(deltas[::-1])[::-1]
    return library.PrivacyLossDistribution(pld_pmf.create_pmf_pessimistic_connect_dots(step, rounded, deltas))


@lru_cache(maxsize=64)
def choice_profile(epsilon: float, times: int) -> tuple[Floats, Floats]:
    """The largest delta of so many choices of this epsilon, at losses from -times epsilon to times epsilon.

    The logarithms of the odds of a choice span at most epsilon. Of all such mechanisms those with loss t or t - epsilon are the
    worst, for some t, since what comes after is convex in the exponential of the loss (Dong, Durfee and Rogers 2020); the loss is t
    with probability (E - e^t)/(E - 1), E = e^epsilon. Which t it is may depend on the choices before. So if V is the profile of the
    choices that follow, it is sup over t of P[t] V(e - t) + P[t - epsilon] V(e - t + epsilon) with this one. V is kept at multiples
    of h and taken between them as the chord in the exponential of e, which is above it. There the supremum is that of A + B u + C/u
    with u = e^-t, at an end of the piece or where its derivative vanishes. Together with other mechanisms, in whatever order, the
    choices compose as one mechanism of this profile (Vadhan and Zhang 2023: concurrent composition of interactive mechanisms).
    """
    parts = min(max(PARTS, math.ceil(epsilon / WIDEST)), 4 * PARTS)
    h, most, last = epsilon / parts, math.exp(epsilon), times * parts
    places: Floats = h * np.arange(-last, last + 1.0)
    profile = np.maximum(-np.expm1(places), 0.0)
    low, high = -np.expm1(h * np.arange(-last - parts, -last)), np.zeros(parts)
    near = np.exp(-h * np.arange(parts))[:, None]
    far = near * math.exp(-h)
    # For each piece of t the places of e - t at its two ends; those of e - t + epsilon lie so many parts further on.
    at = parts + np.arange(len(places)) - np.arange(parts)[:, None]
    for _ in range(times):
        padded = np.concatenate([low, profile, high])
        ends = padded[at], padded[at - 1], padded[at + parts], padded[at + parts - 1]
        first, second = (ends[0] - ends[1]) / (near - far), (ends[2] - ends[3]) / (near - far)
        a, c = ends[0] - first * near, ends[2] - second * near
        rest, rising, falling = most * a - first + second - c, most * first - second, c - a
        with np.errstate(invalid="ignore", divide="ignore"):
            top = np.where((rising < 0) & (falling < 0), np.sqrt(falling / rising), near)
        values = [rest + rising * u + falling / u for u in (near, far, np.clip(top, far, near))]
        profile = np.asarray(np.clip(np.max(values, axis=(0, 1)) / math.expm1(epsilon), profile, 1.0), dtype=np.float64)
    return places, profile
