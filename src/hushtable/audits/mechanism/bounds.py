"""Lower bounds of a privacy parameter from guesses, with a stated confidence; none assumes a mechanism but ``mu_bound``.

Two worlds: a guesser says "the canary is in" or "it is out"; (epsilon, delta)-DP allows no guesser both few false positives
and few false negatives (Kairouz, Oh and Viswanath 2015), and neither does rho-zCDP, by the data processing inequality of the
Renyi divergence (Bun and Steinke 2016). One run: Steinke, Nasr and Jagielski, Privacy auditing with one (1) training run, 2023.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv, expit, ndtri

from hushtable.table.arrays import Floats, Integers

TAIL = 0.025
"""The probability with which each of the two Clopper-Pearson limits may lie below the true rate."""
ALPHAS: Floats = np.concatenate([1 + 10.0 ** np.arange(-3, 0.01, 0.25), np.arange(3.0, 33.0, 2.0), 2.0 ** np.arange(6, 11)])
"""The orders at which a Renyi divergence is computed; fewer only make the bound weaker."""


def upper(hits: int | Integers, runs: int, tail: float = TAIL) -> Floats:
    """Clopper-Pearson's upper limit of a rate, from one tail."""
    hits = np.asarray(hits, np.float64)
    below = betaincinv(hits + 1, np.maximum(runs - hits, 1e-300), 1 - tail)
    return np.where(hits >= runs, 1.0, below)


def epsilon_bound(false: float | Floats, missed: float | Floats, delta: float) -> Floats:
    """The least epsilon that allows false positives and false negatives at or below these rates; never below zero."""
    false, missed = np.asarray(false, np.float64), np.asarray(missed, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.log(np.maximum(1 - delta - missed, 1e-300) / false)
        other = np.log(np.maximum(1 - delta - false, 1e-300) / missed)
    return np.maximum(np.maximum(one, other), 0.0)


def mu_bound(false: float | Floats, missed: float | Floats) -> Floats:
    """The least mu of a Gaussian mechanism that allows these rates: a bound only where the mechanism is a Gaussian one."""
    return np.maximum(ndtri(1 - np.asarray(false, np.float64)) - ndtri(np.asarray(missed, np.float64)), 0.0)


def rho_bound(false: float | Floats, missed: float | Floats) -> Floats:
    """The least rho of zCDP that allows these rates.

    rho-zCDP bounds the Renyi divergence of every order alpha between the two worlds by rho alpha, and a guess is
    post-processing: so rho is at least D_alpha(Bernoulli(true) || Bernoulli(false))/alpha, in both directions. Where the
    guesser is better than chance the divergence grows with the true and falls with the false rate, so limits may stand
    for rates.
    """
    q, p = np.asarray(false, np.float64)[..., None], 1 - np.asarray(missed, np.float64)[..., None]
    worst = np.maximum(_renyi(p, q, ALPHAS), _renyi(q, p, ALPHAS)) / ALPHAS
    return np.where((p > q)[..., 0], np.max(worst, axis=-1, initial=0.0), 0.0)


def _renyi(p: Floats, q: Floats, alpha: Floats) -> Floats:
    """Between two coins, for orders above 1; where it would be infinite by rounding only, a large number."""
    p, q = np.clip(p, 1e-12, 1 - 1e-12), np.clip(q, 1e-12, 1 - 1e-12)
    heads = alpha * np.log(p) + (1 - alpha) * np.log(q)
    tails = alpha * np.log1p(-p) + (1 - alpha) * np.log1p(-q)
    return np.logaddexp(heads, tails) / (alpha - 1)


def ceiling(runs: int, delta: float = 0.0, tail: float = TAIL) -> float:
    """The largest epsilon that so many evaluated runs in each world can show: every guess is right."""
    limit = float(upper(0, runs, tail))
    return float(epsilon_bound(limit, limit, delta))


def needed(epsilon: float, delta: float = 0.0, tail: float = TAIL) -> int | None:
    """The least number of evaluated runs in each world whose ceiling lies above epsilon; None where none does, by size.

    Where every guess is right, the upper limit of both rates is 1 - tail^(1/runs), and it must be below
    (1 - delta)/(1 + e^epsilon).
    """
    limit = (1 - delta) * float(expit(-epsilon))
    if limit < 1e-9:
        return None
    runs = max(1, math.floor(math.log(tail) / math.log1p(-limit)))
    while ceiling(runs, delta, tail) <= epsilon:
        runs += 1
    return runs


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """How likely so many of the guesses about independent coin flips are right, at most, under (epsilon, delta)-DP.

    P[B >= v] + 2 m delta max_i P[v - i <= B < v]/i, where B is binomial with ``guesses`` trials of e^epsilon/(1 + e^epsilon).
    """
    if right <= 0:
        return 1.0
    chance = float(expit(epsilon))
    tail = float(bdtrc(right - 1, guesses, chance))
    if delta == 0:
        return min(1.0, tail)
    i = np.arange(1, right + 1)
    fewer = np.where(i < right, bdtr(np.maximum(right - i - 1, 0), guesses, chance), 0.0)
    return min(1.0, tail + 2 * canaries * delta * float(np.max((bdtr(right - 1, guesses, chance) - fewer) / i)))


def one_run_epsilon(canaries: int, guesses: int, right: int, delta: float, level: float = 0.05) -> float:
    """The largest epsilon that the guesses of one run refute at this level: a lower bound of the true one."""
    return _largest(lambda epsilon: p_value(canaries, guesses, right, epsilon, delta) <= level)


def _largest(refuted: Callable[[float], bool]) -> float:
    if not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while refuted(high) and high < 64:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def gaussian_mu(rho: float) -> float:
    """The mu of the Gaussian mechanism that is rho-zCDP."""
    return math.sqrt(2 * rho)
