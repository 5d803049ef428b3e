"""The arithmetic of differential privacy: small, in closed form, and one-way where it has to be.

Currencies: pure epsilon, (epsilon, delta), zCDP rho, Renyi curves, Gaussian mu. A price known in one currency is converted
only in the directions that theorems allow; where it is not known it is infinite, so an error can cost a guarantee but never
grant one. Sources: Bun-Steinke 2016 (zCDP), Mironov 2017 and Canonne-Kamath-Steinke 2020 (conversions), Dong-Roth-Su 2019
(GDP), Balle-Barthe-Gaboardi 2018 (subsampling), Mironov-Talwar-Zhang 2019 (sampled Gaussian), Liu-Talwar 2019 and
Papernot-Steinke 2022 (selection among runs).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from hushtable.table.arrays import Floats

INF = math.inf
_LARGE = 700.0
"""Above this the exponential of an epsilon is no float any more."""
ALPHAS: Floats = np.concatenate([1 + np.arange(1, 100) / 10, np.arange(11.0, 65.0), 2.0 ** np.arange(6.5, 14.1, 0.5)])
"""The orders at which a Renyi curve is kept."""


def _no_curve() -> Floats:
    return np.full(len(ALPHAS), INF)


@dataclass(frozen=True, eq=False)
class Cost:
    """What a mechanism costs, in every currency in which a bound is known, and infinite in the others.

    ``delta`` is a probability of failure paid outright, beside the rest (approximate zCDP, and so on). Every
    currency bounds the same mechanism, so the cheapest may be used.
    """

    epsilon: float = INF
    rho: float = INF
    mu: float = INF
    curve: Floats = field(default_factory=_no_curve)
    delta: float = 0.0


FREE = Cost(0.0, 0.0, 0.0, np.zeros(len(ALPHAS)))
NEVER = Cost(delta=1.0)
"""No privacy at all."""
GEOMETRIC = 3.0
"""The best of a geometric number of runs costs so many times the pure epsilon of one of them (Liu-Talwar 2019).

The score by which the best is chosen must be part of the private run.
"""


def pure(epsilon: float, rho: float | None = None, delta: float = 0.0) -> Cost:
    """The cost of an (epsilon, delta)-DP mechanism; ``rho`` where a better bound than epsilon^2/2 is known."""
    rho = epsilon**2 / 2 if rho is None else rho
    return Cost(epsilon, rho, pure_to_gdp(epsilon), np.minimum(ALPHAS * rho, epsilon), delta)


def zcdp(rho: float, delta: float = 0.0) -> Cost:
    """The cost of a rho-zCDP mechanism."""
    return Cost(rho=rho, curve=ALPHAS * rho, delta=delta)


def gdp(mu: float) -> Cost:
    """The cost of a mu-GDP mechanism (a continuous Gaussian with sensitivity/sigma = mu)."""
    return Cost(rho=mu**2 / 2, mu=mu, curve=ALPHAS * mu**2 / 2)


def pure_to_gdp(epsilon: float) -> float:
    """Pure epsilon implies this mu: -2 Phi^-1(1/(1+e^epsilon))."""
    from scipy.special import ndtri

    return float(-2 * ndtri(1 / (1 + math.exp(epsilon)))) if epsilon < _LARGE else INF


def compose(costs: Iterable[Cost]) -> Cost:
    """Sequential (adaptive) composition: epsilon, delta, rho and curves add; mu adds in squares."""
    t = FREE
    for c in costs:
        t = Cost(t.epsilon + c.epsilon, t.rho + c.rho, math.hypot(t.mu, c.mu), t.curve + c.curve, t.delta + c.delta)
    return t


def group(cost: Cost, size: int) -> Cost:
    """The cost for a person who holds ``size`` rows: g eps, g^2 rho, g mu, and delta grown accordingly."""
    if size == 1:
        return cost
    if cost.delta > 0:
        if cost.epsilon > _LARGE:
            return NEVER
        if size * cost.epsilon > _LARGE:
            growth = math.exp(min((size - 1) * cost.epsilon, _LARGE)) / -math.expm1(-cost.epsilon)
        else:
            growth = math.expm1(size * cost.epsilon) / math.expm1(cost.epsilon) if cost.epsilon > 0 else size
        return Cost(epsilon=size * cost.epsilon, delta=min(1.0, cost.delta * growth))
    rho = size**2 * cost.rho
    return Cost(size * cost.epsilon, rho, size * cost.mu, np.minimum(ALPHAS * rho, size * cost.epsilon))


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The smallest delta at which rho-zCDP gives (epsilon, delta)-DP, by Canonne-Kamath-Steinke's bound."""
    if rho == 0:
        return 0.0
    if not math.isfinite(rho):
        return 1.0
    low, high = 1.0 + 1e-12, (epsilon + 1) / (2 * rho) + 2
    before = 0.0, 0.0
    while (low, high) != before:  # the exponent is convex in alpha: halve on the sign of its derivative, to the last digit
        alpha, before = (low + high) / 2, (low, high)
        if (2 * alpha - 1) * rho - epsilon + math.log1p(-1 / alpha) < 0:
            low = alpha
        else:
            high = alpha
    alpha = (low + high) / 2
    log_delta = (alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)
    return math.exp(min(0.0, log_delta))


@lru_cache(maxsize=1 << 12)
def zcdp_epsilon(rho: float, delta: float) -> float:
    """The smallest epsilon at this delta."""
    if rho == 0:
        return 0.0
    if delta <= 0 or not math.isfinite(rho):
        return INF
    return _smallest(lambda epsilon: zcdp_delta(rho, epsilon) <= delta, rho + 2 * math.sqrt(rho * math.log(1 / delta)) + 1e-9)


@lru_cache(maxsize=1 << 12)
def zcdp_rho(epsilon: float, delta: float) -> float:
    """The largest rho that still gives (epsilon, delta)-DP."""
    return _largest(lambda rho: zcdp_delta(rho, epsilon) <= delta, epsilon + 1)


def gdp_delta(mu: float, epsilon: float) -> float:
    """The exact delta of a Gaussian with sensitivity/sigma = mu at this epsilon."""
    if mu == 0:
        return 0.0
    if not math.isfinite(mu):
        return 1.0
    from scipy.special import log_ndtr, ndtr

    first = float(ndtr(-epsilon / mu + mu / 2))
    second = math.exp(epsilon + float(log_ndtr(-epsilon / mu - mu / 2)))
    return max(0.0, first - second)


def gdp_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon at this delta."""
    if mu == 0:
        return 0.0
    if delta <= 0 or not math.isfinite(mu):
        return INF
    top = mu**2 / 2 + mu * math.sqrt(2 * math.log(2 / delta)) + 1e-9
    return _smallest(lambda epsilon: gdp_delta(mu, epsilon) <= delta, top)


def gdp_mu(epsilon: float, delta: float) -> float:
    """The largest mu that still gives (epsilon, delta)-DP."""
    return _largest(lambda mu: gdp_delta(mu, epsilon) <= delta, epsilon + 10)


def curve_epsilon(curve: Floats, delta: float) -> float:
    """The best epsilon that a Renyi curve gives at this delta."""
    if delta <= 0:
        return INF
    values = curve + np.log1p(-1 / ALPHAS) - (math.log(delta) + np.log(ALPHAS)) / (ALPHAS - 1)
    return max(0.0, float(np.min(values)))


def epsilon_of(cost: Cost, delta: float) -> float:
    """The smallest epsilon that any known currency gives at this delta; infinite if none does."""
    rest = delta - cost.delta
    if rest < 0:
        return INF
    candidates = [cost.epsilon]
    if rest > 0:
        candidates += [zcdp_epsilon(cost.rho, rest), gdp_epsilon(cost.mu, rest), curve_epsilon(cost.curve, rest)]
    return min(candidates)


def amplify(epsilon: float, delta: float, rate: float) -> tuple[float, float]:
    """Privacy of a mechanism run on a secret sample: (ln(1 + q(e^eps - 1)), q delta), exactly.

    Holds for (a) Poisson sampling at rate q under add-remove, (b) m of n without replacement, q = m/n, under
    replace-one, (c) Poisson under replace-one when the base holds under both relations (give the worse epsilon).
    Anything else amplifies nothing, and where one row changes several rows of the sample (a fixed size under add-remove,
    strata, with replacement) it even costs more. Note that q * epsilon would under-state the truth for every q < 1.
    """
    if not 0 < rate <= 1:
        raise ValueError(f"a sampling rate lies in (0, 1], got {rate}")
    if epsilon > _LARGE:
        return float(np.logaddexp(epsilon + math.log(rate), math.log1p(-rate) if rate < 1 else -INF)), rate * delta
    return math.log1p(rate * math.expm1(epsilon)), rate * delta


def before_sampling(epsilon: float, rate: float) -> float:
    """The epsilon a mechanism may spend on a sample so that the whole costs ``epsilon``."""
    return math.log1p(math.expm1(epsilon) / rate) if epsilon < _LARGE else epsilon


@lru_cache(maxsize=256)
def sampled_gaussian_curve(rate: float, multiplier: float, steps: int) -> Floats:
    """Renyi curve of ``steps`` Gaussians on fresh Poisson samples, for add-remove; known at whole orders, infinite between.

    Kept, because a ledger asks for it many times; it cannot be written to.
    """
    curve = _no_curve()
    for i, alpha in enumerate(ALPHAS):
        if alpha == int(alpha):
            curve[i] = sampled_gaussian_renyi(rate, multiplier, steps, int(alpha))
    curve.flags.writeable = False
    return curve


def sampled_gaussian_renyi(rate: float, multiplier: float, steps: int, alpha: int) -> float:
    """The curve at one whole order (Mironov-Talwar-Zhang 2019)."""
    from scipy.special import gammaln

    if rate == 1:
        return steps * alpha / (2 * multiplier**2)
    j = np.arange(alpha + 1, dtype=np.float64)
    choose = gammaln(alpha + 1) - gammaln(j + 1) - gammaln(alpha - j + 1)
    terms = choose + (alpha - j) * math.log1p(-rate) + j * math.log(rate) + (j * j - j) / (2 * multiplier**2)
    largest = float(terms.max())
    return steps * max(0.0, largest + math.log(float(np.exp(terms - largest).sum()))) / (alpha - 1)


def whole_order(epsilon: float, delta: float) -> tuple[int, float]:
    """The whole Renyi order that leaves most for (epsilon, delta)-DP, and the rho whose price at this order is all of it."""
    orders = ALPHAS[(np.round(ALPHAS) == ALPHAS) & (ALPHAS >= 2)]
    left = (epsilon - np.log1p(-1 / orders) + (math.log(delta) + np.log(orders)) / (orders - 1)) / orders
    best = int(np.argmax(left))
    return int(orders[best]), float(left[best])


def mean_of_random(eta: float, gamma: float) -> float:
    """The mean of a negative binomial number of runs truncated to at least one (eta = 1: geometric, 0: logarithmic)."""
    if not (eta > -1 and 0 < gamma < 1):
        raise ValueError(f"a truncated negative binomial has eta > -1 and 0 < gamma < 1, got {eta} and {gamma}")
    if eta == 0:
        return (1 / gamma - 1) / math.log(1 / gamma)
    return eta * (1 - gamma) / (gamma * -math.expm1(eta * math.log(gamma)))


def best_of_random_curve(curve: Floats, eta: float, gamma: float, mean_runs: float) -> Floats:
    """Renyi price of the best of K runs, K truncated negative binomial (Papernot-Steinke 2022, theorem 2).

    ``mean_runs`` is the mean of K, which eta and gamma fix: to give less is refused.
    """
    if not mean_runs >= mean_of_random(eta, gamma) * (1 - 1e-9):
        raise ValueError(f"the mean number of runs is {mean_of_random(eta, gamma):.6g}, not {mean_runs:g}")
    inner = float(np.min((1 - 1 / ALPHAS) * curve + math.log(1 / gamma) / ALPHAS))
    return np.asarray(curve + (1 + eta) * inner + math.log(mean_runs) / (ALPHAS - 1))


def _smallest(holds: Callable[[float], bool], top: float) -> float:
    """The smallest x in [0, top] at which a condition that stays true begins to hold, rounded up."""
    low, high = 0.0, top
    while not holds(high):
        low, high = high, 2 * high
        if high > 1e6:
            return INF
    if holds(0.0):
        return 0.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _largest(holds: Callable[[float], bool], top: float) -> float:
    """The largest x in [0, top] at which a condition that stops holding still holds, rounded down."""
    low, high = 0.0, top
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
