"""Uniform integers: exactly uniform for every bound, however large; a modulo without rejection is seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from hushtable.privacy.noise import Entropy
from tests.statistical.fit import ACCEPT, REJECT

BOUNDS = [2, 3, 7, 1000, 2**20 + 1, 3 << 60, 2**62 - 1, 2**62, 2**62 + 1, 2**63 + 12345, 2**64, 3 << 70]


def ours(bound: int, count: int) -> np.ndarray:
    return Entropy.seeded(9).below(bound, count)


def modulo(bound: int, count: int) -> np.ndarray:
    """Takes the remainder of every word: small remainders come more often."""
    return Entropy.seeded(9).words(count).astype(object) % bound


def uniformity(draws: np.ndarray, bound: int) -> float:
    cells = min(bound, 96)
    counts = np.bincount([int(draw) * cells // bound for draw in draws], minlength=cells)
    shares = np.diff([-(-bound * cell // cells) for cell in range(cells + 1)]) / bound
    expected = shares.astype(float) * len(draws)
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), cells - 1))


@pytest.mark.parametrize("bound", BOUNDS)
def test_below_is_uniform_on_its_range(bound):
    draws = ours(bound, 20_000)
    assert min(draws) >= 0
    assert max(draws) < bound
    assert uniformity(draws, bound) > ACCEPT


@pytest.mark.parametrize("bound", [3 << 60, 11 << 60])
def test_a_modulo_without_rejection_is_seen(bound):
    assert uniformity(modulo(bound, 20_000), bound) < REJECT
    assert uniformity(ours(bound, 20_000), bound) > ACCEPT


@given(st.one_of(st.integers(1, 2**62), st.integers(2**61, 2**62)))
def test_the_accepted_words_are_a_whole_number_of_rounds(bound):
    """The last word taken and the first one thrown away are those that leave every remainder equally often."""
    rounds = 2**64 // bound
    last = rounds * bound - 1
    words = [last, 0] if last + 1 == 2**64 else [last, last + 1, 2**64 - 1, 0]
    fed = iter(words)
    source = Entropy(words=lambda count: np.array([next(fed) for _ in range(count)], dtype=np.uint64))
    assert source.below(bound, 1)[0] == bound - 1
    assert source.below(bound, 1)[0] == 0
    assert list(fed) == []


@pytest.mark.parametrize("bound", [2**62 + 1, 3 << 70])
def test_large_bounds_throw_the_last_incomplete_round_away_too(bound):
    words = bound.bit_length() // 64 + 2
    fed = iter([2**64 - 1] * words + [5] + [0] * (words - 1))
    source = Entropy(words=lambda count: np.array([next(fed) for _ in range(count)], dtype=np.uint64))
    assert source.below(bound, 1)[0] == 5
    assert list(fed) == []


def test_no_words_are_asked_for_nothing():
    assert len(Entropy().below(7, 0)) == 0
    assert len(Entropy().words(0)) == 0
