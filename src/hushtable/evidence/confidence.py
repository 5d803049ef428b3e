"""Intervals and exact tests for rates: Wilson, Clopper-Pearson, the bootstrap, Fisher, Holm, and what is left above a control."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import bdtrc, betaincinv, gammaln, ndtri

from hushtable.table.arrays import Floats, Integers

NORMAL = float(ndtri(0.975))
"""So many standard errors either way are an interval of 95 %."""


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


def binomial_tail(successes: int, trials: int, chance: float = 0.5) -> float:
    """The exact one-sided p-value: how often chance does at least as well. With even chances it is the sign test."""
    return float(bdtrc(successes - 1, trials, chance)) if successes else 1.0


@dataclass(frozen=True)
class Gain(Rate):
    """What an attack achieves on people in the table beyond people outside it: r - c, from -1 to 1, with its interval."""

    outside: float
    """The rate c on people outside: at most 1 - c is left to gain."""


def gain(attack: Rate, control: Rate) -> Gain:
    """The difference of two rates, each with its own, lopsided interval: Newcombe's hybrid score interval on those of Wilson.

    R. G. Newcombe, Statistics in Medicine 17, 1998 (method 10). Rates are observed ones, not the centres of their intervals. A
    rate that is known has no interval, and only the other's errors count.
    """
    value = attack.value - control.value
    low = value - math.hypot(attack.value - attack.low, control.high - control.value)
    high = value + math.hypot(attack.high - attack.value, control.value - control.low)
    return Gain(value, max(-1.0, low), min(1.0, high), control.value)


def observed(successes: float, trials: float, level: float = 0.95) -> Rate:
    """The observed rate in Wilson's interval; where nothing was tried anything may be true."""
    return replace(wilson(successes, trials, level), value=successes / trials if trials else 0.0)


def residual_risk(attack: Rate, control: Rate) -> Rate:
    """What an attack gains over the same attack on people who are not in the table: (r - c)/(1 - c).

    Errors of the two rates are propagated in first order. The interval is cut at 0 and 1, but never to a point: where the
    control does better than the attack it still reaches as far above zero as the errors allow.
    """
    spread_attack, spread_control = attack.high - attack.value, control.high - control.value
    rest = max(1 - control.value, 1e-12)
    value = (attack.value - control.value) / rest
    radius = math.hypot(spread_attack / rest, spread_control * (attack.value - 1) / rest**2)
    return Rate(min(1.0, max(0.0, value)), min(1.0, max(0.0, value - radius)), min(1.0, max(0.0, value) + radius))


def residual_bounds(attack: Rate, control: Rate) -> tuple[float, float]:
    """Bounds of (r - c)/(1 - c) where the two rates rest on different numbers of rows: first-order errors would not cover.

    The method of variance estimates recovery on the ratio (1 - r)/(1 - c) (Donner and Zou, Statistical Methods in
    Medical Research 21, 2012), each rate with its own, lopsided interval.
    """
    one, least, most = 1 - attack.value, 1 - attack.high, 1 - attack.low
    other, low, high = 1 - control.value, 1 - control.high, 1 - control.low
    lower = _recovered(one, least, other, high, -1)
    upper = _recovered(one, most, other, low, 1)
    return min(1.0, max(0.0, 1 - upper)), min(1.0, max(0.0, 1 - lower))


def _recovered(one: float, end: float, other: float, far: float, sign: int) -> float:
    """A bound of one/other, from a bound of the one and the opposite bound of the other."""
    scale = far * (2 * other - far)
    if scale <= 0:
        return math.inf if sign > 0 else 0.0
    product = one * other
    return (product + sign * math.sqrt(max(0.0, product**2 - end * scale * (2 * one - end)))) / scale


def bootstrap(
    statistic: Callable[[Integers], float], n: int, rng: np.random.Generator, *, times: int = 1000, level: float = 0.95
) -> Rate:
    """Percentile bootstrap of a statistic of row numbers."""
    value = statistic(np.arange(n))
    draws = np.array([statistic(rng.integers(0, n, n)) for _ in range(times)])
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Rate(value, float(low), float(high))


def fisher(hits: int, trials: int, others: int, other_trials: int) -> float:
    """Fisher's exact one-sided test: how likely at least so many of all hits fall on the first group, if both are alike."""
    total, group = hits + others, trials
    everyone = trials + other_trials
    first, last = hits, min(total, group)
    if hits <= max(0, total - other_trials):
        return 1.0
    k = np.arange(first, last + 1)
    logs = _log_choose(group, k) + _log_choose(everyone - group, total - k) - _log_choose(everyone, np.array([total]))
    top = float(logs.max())
    return float(min(1.0, math.exp(top) * float(np.exp(logs - top).sum())))


def holm(values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """p-values corrected so that the chance of even one false alarm among them stays as stated, however they depend on one another.

    ``weights``, all alike by default, say how the error is shared out before a value is seen: the larger its weight, the less
    a p-value is raised. What is rejected leaves its share to the rest (S. Holm, Scandinavian Journal of Statistics 6, 1979).
    """
    shares = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    weighed = np.asarray(values) / shares
    order = np.argsort(weighed, kind="stable")
    left = np.cumsum(shares[order][::-1])[::-1]
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(left * weighed[order]))
    return [float(p) for p in adjusted]


def _log_choose(n: int, k: Integers) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
