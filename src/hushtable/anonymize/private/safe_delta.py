"""The exact price of safe k-anonymization: sample, map by a fixed map, release the cells that still hold k records.

Li, Qardaji and Su, "On sampling, anonymization, and differential privacy" (2012), bound it by d(k, beta, epsilon). Here it is
computed. Add or remove one record: only the cell it is mapped to changes, from N - 1 to N records, because the coins of
the others and the map do not depend on it. Of that cell the release shows j, the number of sampled records, if j >= k, and
nothing otherwise. Let P be its law with N records and Q with N - 1, so that P(j) = Bin(N, beta)(j) for j >= k.

*One way*, P against Q. Nothing is shown less often under P than under Q, so that outcome adds nothing. For j >= k,
P(j)/Q(j) = N (1 - beta)/(N - j) grows with j and passes e^epsilon where j > gamma N, gamma = 1 - (1 - beta) e^-epsilon.
With j0 = max(k, floor(gamma N) + 1) the hockey-stick is P[j >= j0] - e^epsilon Q[j >= j0], and because the last of the N
coins is independent of the others, P[j >= j0] = Q[j >= j0] + beta Q(j0 - 1):

    delta_N = beta Bin(N-1, beta)(j0 - 1) - (e^epsilon - 1) P[Bin(N-1, beta) >= j0].

*The other way*, Q against P: Q(j)/P(j) = (N - j)/(N (1 - beta)) <= 1/(1 - beta), and nothing is shown with P-probability
F_N(k-1) = (1 - beta) F_(N-1)(k-1) + beta F_(N-1)(k-2) >= (1 - beta) F_(N-1)(k-1). So every ratio is at most 1/(1 - beta), and
the hockey-stick is zero if e^epsilon >= 1/(1 - beta): that is the condition epsilon >= -ln(1 - beta). (Below it, large cells
lose.)

delta* is the largest delta_N over N >= k (below k nothing is shown in either world). The scan over N ends where it may:
delta_N <= P[Bin(N, beta) > gamma N] <= exp(-N KL(gamma, beta)) by Chernoff, which falls in N.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.stats import binom

from hushtable.errors import GuaranteeRefused

ROUNDING = 1 + 1e-6
"""More than all rounding in the sums: what is paid is never less than what is due."""
RATES = 32
"""How many sampling rates are tried."""
HIGHEST = 0.9
"""No higher rate is tried: k grows without end as the rate goes to 1."""
MOST = 1 << 20
"""The largest k that is tried."""
SCAN = 1 << 24
"""The most records that are scanned."""


def largest_rate(epsilon: float) -> float:
    """The largest sampling rate that the theorem allows: 1 - e^-epsilon."""
    return -math.expm1(-epsilon)


@lru_cache(maxsize=4096)
def exact_delta(k: int, beta: float, epsilon: float) -> float:
    """delta*(k, beta, epsilon), rounded up. GuaranteeRefused where epsilon < -ln(1 - beta)."""
    if not 0 < beta <= largest_rate(epsilon) * (1 + 1e-15):
        raise GuaranteeRefused(
            f"safe k-anonymization at epsilon {epsilon:.4g} samples at most {largest_rate(epsilon):.4g} of the rows, not {beta:g}: "
            "beyond that the absence of a record shows"
        )
    gamma = 1 - (1 - beta) * math.exp(-epsilon)
    exponent = gamma * math.log(gamma / beta) - (1 - gamma) * epsilon
    best, first, length = 0.0, k, 256
    while True:
        records = np.arange(first, first + length)
        # delta_N for each number of records N
        shown = np.maximum(k, np.floor(gamma * records).astype(np.int64) + 1)
        last, above = binom.pmf(shown - 1, records - 1, beta), binom.sf(shown - 1, records - 1, beta)
        best = max(best, float(np.max(beta * last - math.expm1(epsilon) * above)))
        first, length = first + length, min(2 * length, 1 << 16)
        if math.exp(-first * exponent) <= best:
            return best * ROUNDING
        if first > SCAN:
            raise GuaranteeRefused(f"what a sample of {beta:g} costs at epsilon {epsilon:.4g} takes too long to compute")


@lru_cache(maxsize=4096)
def least_k(beta: float, epsilon: float, delta: float) -> int:
    """The smallest k, at least 2, that costs no more than delta (delta* falls in k); GuaranteeRefused if there is none."""
    if not delta > 0:
        raise GuaranteeRefused("safe k-anonymization needs a delta above zero: a full cell can always be a matter of luck")
    low, high = 1, 2
    while exact_delta(high, beta, epsilon) > delta:
        low, high = high, 2 * high
        if high > MOST:
            raise GuaranteeRefused(f"no k up to {MOST:,} keeps epsilon {epsilon:.4g} and delta {delta:.3g} at a rate of {beta:g}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exact_delta(middle, beta, epsilon) <= delta else (middle, high)
    return high


def rates(epsilon: float) -> tuple[float, ...]:
    """The sampling rates that are tried: even parts of the largest one, rounded down to what coins of 32 bits can do."""
    parts = (math.floor(min(largest_rate(epsilon), HIGHEST) * i / RATES * 2.0**32) / 2.0**32 for i in range(1, RATES + 1))
    return tuple(beta for beta in parts if beta > 0)


@lru_cache(maxsize=256)
def design(epsilon: float, delta: float, k: int = 0, beta: float = 0.0) -> tuple[int, float]:
    """(k, beta) for a price of (epsilon, delta); what is given (not 0) stays, and is refused where it costs more.

    Of what is open, the choice with the smallest k/beta: that is how many records a cell needs to survive on average.
    """
    if not delta > 0:
        raise GuaranteeRefused("safe k-anonymization needs a delta above zero: give one, or leave it to be chosen")
    if k and beta:
        price = exact_delta(k, beta, epsilon)
        if price > delta:
            raise GuaranteeRefused(
                f"k = {k} on a sample of {beta:g} costs delta {price:.3g} at epsilon {epsilon:.4g}, and {delta:.3g} is left; "
                f"k = {least_k(beta, epsilon, delta)} would do"
            )
        return k, beta
    if beta:
        return least_k(beta, epsilon, delta), beta
    if k:
        fitting = [rate for rate in rates(epsilon) if exact_delta(k, rate, epsilon) <= delta]
        if not fitting:
            raise GuaranteeRefused(f"k = {k} is too small for epsilon {epsilon:.4g} and delta {delta:.3g} at any sampling rate")
        return k, max(fitting)
    pairs = [(least_k(rate, epsilon, delta), rate) for rate in rates(epsilon)]
    return min(pairs, key=lambda pair: pair[0] / pair[1])
