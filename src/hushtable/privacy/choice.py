"""The exponential mechanism, exactly: a choice among candidates in which no floating-point number takes part.

McSherry and Talwar 2007. Sums of exponentials of floats give probabilities that are a little off, and which ones leaks
(Ilvento 2020). Here a candidate is drawn evenly and kept with probability exp(-rate (best - score)), decided by integer
coins alone, until one is kept: that is the stated law, whatever the scores.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hushtable.privacy.noise import SYSTEM, Entropy, exp_minus
from hushtable.table.arrays import Integers

BATCH = 4096
"""The most candidates tried at once."""
GRID = 1 << 20
"""An epsilon is rounded down to a multiple of 1/GRID."""


def exponential(scores: Integers, rate: Fraction, entropy: Entropy = SYSTEM) -> int:
    """The place of one score, drawn with probability proportional to exp(rate * score).

    Where one record changes every score by at most 1, a rate of epsilon/2 makes the choice epsilon-DP; where a record
    more never lowers a score and raises none by more than 1, a rate of epsilon does.
    """
    if not len(scores) or rate < 0:
        raise ValueError("a choice needs candidates, and a rate that is not negative")
    accepted = _accepted(scores, rate, entropy)
    while not len(accepted):
        accepted = _accepted(scores, rate, entropy)
    return int(accepted[0])


def _accepted(scores: Integers, rate: Fraction, entropy: Entropy) -> Integers:
    """Independent draws from the stated law: those of a batch of even ones that are kept, maybe none."""
    top, bottom = rate.numerator, rate.denominator
    behind = int(scores.max()) - scores
    wide = int(behind.max()) * top >= 1 << 62
    drawn = entropy.below(len(scores), min(BATCH, 64 + 4 * len(scores)))
    exponents = behind[drawn].astype(object) if wide else behind[drawn]
    return np.asarray(drawn[exp_minus(exponents * top, bottom, entropy)], dtype=np.int64)


def rational(epsilon: float) -> Fraction:
    """An epsilon as a fraction, never above it."""
    return Fraction(int(Fraction(epsilon) * GRID), GRID)
