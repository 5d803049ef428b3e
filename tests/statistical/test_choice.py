"""The exponential mechanism: its law is the stated one, and not that of 0.7 or 1.3 times the rate."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from hushtable.privacy import choice
from hushtable.privacy.choice import _accepted, exponential, rational
from hushtable.privacy.noise import Entropy
from tests.statistical.fit import ACCEPT, REJECT

SCORES = np.array([0, 3, 5, 5, 1, 4])


def test_the_law_is_the_stated_one_and_no_other():
    entropy = Entropy.seeded(3)
    draws = np.concatenate([_accepted(SCORES, Fraction(1, 2), entropy) for _ in range(500)])
    counts = np.bincount(draws, minlength=len(SCORES))
    for factor in (1.0, 0.7, 1.3):
        weights = np.exp(0.5 * factor * SCORES)
        expected = weights / weights.sum() * len(draws)
        p = float(chi2.sf(((counts - expected) ** 2 / expected).sum(), len(SCORES) - 1))
        assert p > ACCEPT if factor == 1.0 else p < REJECT


def test_the_choice_is_the_first_one_accepted():
    chosen = [exponential(SCORES, Fraction(1, 2), Entropy.seeded(seed)) for seed in range(20)]
    assert chosen == [_accepted(SCORES, Fraction(1, 2), Entropy.seeded(seed))[0] for seed in range(20)]


def test_scores_far_behind_and_beyond_64_bits_are_drawn_too():
    entropy = Entropy.seeded(1)
    assert exponential(np.array([0, 10**15, 10**15 - 1]), Fraction(3 * 10**6, 7), entropy) == 1
    assert exponential(np.array([-(2**61), 0]), Fraction(1, 3), entropy) == 1
    assert exponential(np.array([5]), Fraction(0), entropy) == 0
    with pytest.raises(ValueError, match="candidates"):
        exponential(np.empty(0, np.int64), Fraction(1), entropy)


def test_an_epsilon_is_never_rounded_up():
    for epsilon in (0.1, 0.3, 1 / 3, math.pi, 1e-7):
        assert 0 <= Fraction(epsilon) - rational(epsilon) < Fraction(1, choice.GRID)
