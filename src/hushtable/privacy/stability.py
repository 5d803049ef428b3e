"""The threshold of a stability histogram: which values exist, published without giving away the one that a single person has.

Only cells that hold a row get noise, and only those whose noisy count reaches a threshold are published (Korolova, Kenthapadi,
Mishra and Ntoulas 2009; Bun, Nissim and Stemmer 2016). Two neighbours differ in (a) the counts of cells that both have, which is
the Gaussian mechanism, and (b) cells that only one of them has. In (b) nothing is seen unless such a cell reaches the
threshold. Call that failure; without it, the outputs are those of (a) alone. So the whole is delta-approximate
rho-zCDP, with delta the largest probability of failure in either table, and rho the price of (a).
"""

from __future__ import annotations

import math
from functools import lru_cache

MANY = 256
"""A unit with more rows is not tried in every way."""


def tail(sigma: float, at: int) -> float:
    """At least the probability that discrete Gaussian noise with this sigma is ``at`` or more.

    The weights exp(-x^2/2 sigma^2) fall from 0 on, so those beyond ``at`` sum to at most the integral from ``at``; and all of
    them sum to at least sqrt(2 pi) sigma, by Poisson's summation formula, whose other terms are positive.
    """
    if at <= 0:
        return 1.0
    z = at / sigma
    first = math.exp(-z * z / 2) / max(math.sqrt(2 * math.pi) * sigma, 1.0)
    # A part in 10^9 more than computed, which covers the rounding of exp, of erfc, and of sigma itself.
    return min(1.0, (first + math.erfc(z / math.sqrt(2)) / 2) * (1 + 1e-9))


@lru_cache(maxsize=256)
def failure(sigma: float, threshold: int, rows: int) -> float:
    """At least the probability that some cell that only one unit's rows are in reaches the threshold.

    The unit's rows lie in new cells of c_1, c_2, ... rows, at most ``rows`` in all, and a cell of c rows is published if its noise
    is at least ``threshold`` - c. The worst way to spread them is found by trying all; where they are too many for that, each
    is counted as if it lay in a cell with all the others.
    """
    if rows > MANY:
        return min(1.0, rows * tail(sigma, threshold - rows))
    alone = [0.0] + [tail(sigma, threshold - c) for c in range(1, rows + 1)]
    worst = [0.0]
    for held in range(1, rows + 1):
        worst.append(max(alone[c] + worst[held - c] for c in range(1, held + 1)))
    return min(1.0, worst[rows])


def threshold(sigma: float, delta: float, rows: int = 1) -> int:
    """The least threshold at which a unit of so many rows gives its own cells away with probability at most ``delta``."""
    if not 0 < delta < 1:
        raise ValueError(f"a threshold needs a delta between 0 and 1, got {delta}")
    low, high = rows, rows + 1
    while failure(sigma, high, rows) > delta:
        low, high = high, rows + 2 * (high - rows)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if failure(sigma, middle, rows) > delta else (low, middle)
    return high
