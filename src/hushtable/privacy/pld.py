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

from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Event, Exponential, Gaussian


def available() -> bool:
    """Whether the library is installed."""
    return find_spec("dp_accounting") is not None


def epsilon(events: Iterable[Event], delta: float) -> float:
    """Epsilon at this delta; infinite if an event cannot be placed or the library is absent."""
    events = [e for e in events if e.cost().rho > 0 or e.cost().delta > 0]
    if delta <= 0 or not available() or any(_multiplicity(e) == 0 for e in events):
        return math.inf
    counted: dict[Event, int] = {}
    for e in events:
        counted[e] = counted.get(e, 0) + _multiplicity(e)
    return _composed(tuple(counted.items()), delta)


@lru_cache(maxsize=64)
def _composed(counted: tuple[tuple[Event, int], ...], delta: float) -> float:
    """Kept, because a card asks for the same number several times and it takes a second."""
    from dp_accounting.pld import privacy_loss_distribution as library

    total: Any = None
    for e, times in counted:
        one = _distribution(library, e)
        many = one.self_compose(times) if times > 1 else one
        total = many if total is None else total.compose(many)
    return 0.0 if total is None else float(total.get_epsilon_for_delta(delta))


def _multiplicity(e: Event) -> int:
    """How many one-dimensional mechanisms dominate the event; 0 if we know none.

    A discrete Gaussian vector is dominated coordinate by coordinate only when we know that each changes by at most 1.
    The library keeps every integer of the noise and every step of the loss, so very wide noise and very large losses are
    left to the closed forms.
    """
    if isinstance(e, DiscreteGaussian):
        return e.ones if 0.5 <= e.sigma <= 1e5 else 0
    if isinstance(e, Gaussian):
        return 1 if e.sensitivity < 10 * e.sigma else 0
    return 1 if isinstance(e, (Exponential, DiscreteLaplace)) and e.cost().epsilon < 50 else 0


def _distribution(library: Any, e: Event) -> Any:
    if isinstance(e, DiscreteGaussian):
        return library.from_discrete_gaussian_mechanism(e.sigma, value_discretization_interval=1e-4)
    if isinstance(e, Gaussian):
        return library.from_gaussian_mechanism(e.sigma / e.sensitivity, value_discretization_interval=1e-4)
    if isinstance(e, Exponential):
        return _bounded_range(library, e.epsilon)
    # Any pure mechanism is dominated by randomized response with its epsilon.
    return library.from_privacy_parameters(
        library.common.DifferentialPrivacyParameters(e.cost().epsilon, 0.0), value_discretization_interval=1e-4
    )


def _bounded_range(library: Any, epsilon: float) -> Any:
    """The exponential mechanism: the logarithms of its odds span at most epsilon, which is less than pure epsilon allows.

    Of all such mechanisms, those with loss t or t - epsilon are the worst (Dong, Durfee and Rogers 2020). Their delta at e is
    (E - e^t)(1 - e^(e - t))/(E - 1) with E = e^epsilon, and largest at t = (epsilon + e)/2: (sqrt E - sqrt e^e)^2/(E - 1). The
    largest of all is a privacy profile again, so one pair of distributions dominates them all, and such pairs compose
    (Zhu, Dong and Wang 2022).
    """
    from dp_accounting.pld import pld_pmf

    step = 1e-4
    ends = math.ceil(epsilon / step)
    rounded = np.arange(-ends, ends + 1)
    losses = np.clip(rounded * step, -epsilon, epsilon)
    # Factors of (E - 1) are taken out of both: nothing is lost to rounding for a small epsilon.
    deltas = np.expm1((epsilon - losses) / 2) ** 2 * np.exp(losses) / np.expm1(epsilon)
    outside = rounded * step < -epsilon
    deltas[outside] = -np.expm1(rounded[outside] * step)
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots(step, rounded, deltas)
    return library.PrivacyLossDistribution(pmf)
