"""Intervals for rates: Wilson, Clopper-Pearson, the bootstrap, and the risk that is left once a control is subtracted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri


@dataclass(frozen=True)
class Rate:
    """An estimate with its interval."""

    value: float
    low: float
    high: float


def wilson(successes: float, trials: float, level: float = 0.95) -> Rate:
    """Wilson's score interval; the value is its centre, which is not quite successes/trials."""
    if trials <= 0:
        return Rate(0.5, 0.0, 1.0)
    z = float(ndtri((1 + level) / 2))
    centre = (successes + z * z / 2) / (trials + z * z)
    radius = z / (trials + z * z) * math.sqrt(max(0.0, successes * (trials - successes) / trials) + z * z / 4)
    return Rate(centre, max(0.0, centre - radius), min(1.0, centre + radius))


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> Rate:
    """The exact interval: it covers at least as often as it says, at any sample size."""
    if trials <= 0:
        return Rate(0.5, 0.0, 1.0)
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return Rate(successes / trials, low, high)


def residual_risk(attack: Rate, control: Rate) -> Rate:
    """What an attack gains over the same attack on people who are not in the table: (r - c)/(1 - c).

    Errors of the two rates are propagated in first order. The interval is cut at 0 and 1, but never to a point: where the
    control does better than the attack it still reaches up to what the errors allow.
    """
    spread_attack, spread_control = attack.high - attack.value, control.high - control.value
    rest = max(1 - control.value, 1e-12)
    value = (attack.value - control.value) / rest
    radius = math.hypot(spread_attack / rest, spread_control * (attack.value - 1) / rest**2)
    low, high = value - radius, value + radius
    if high <= 0:
        # The whole interval lies below zero: no excess seen, and radius is how much could have hidden.
        high = min(1.0, radius)
    return Rate(min(1.0, max(0.0, value)), min(1.0, max(0.0, low)), min(1.0, max(0.0, high)))


def bootstrap(
    statistic: Callable[[NDArray[np.int64]], float], n: int, rng: np.random.Generator, *, times: int = 1000, level: float = 0.95
) -> Rate:
    """Percentile bootstrap of a statistic of row numbers."""
    value = statistic(np.arange(n))
    draws = np.array([statistic(rng.integers(0, n, n)) for _ in range(times)])
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Rate(value, float(low), float(high))
