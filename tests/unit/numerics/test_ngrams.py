"""Kneser-Ney models: chances add up, counts are those of a slow reference, and any text has a chance."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hushtable.numerics.ngrams import DISCOUNT, Ngrams


def texts_of(seed: int, count: int = 30, alphabet: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, alphabet, rng.integers(0, 9)) for _ in range(count)]


def slow(texts: list[np.ndarray], alphabet: int, order: int, history: tuple[int, ...], token: int) -> float:
    """The chance of one number after others, by the formula."""
    begin, end = alphabet + 1, alphabet
    grams: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(order + 1)]
    for text in texts:
        padded = [begin] * (order - 1) + text.tolist() + [end]
        for at in range(order - 1, len(padded)):
            grams[order][tuple(padded[at - order + 1 : at + 1])] += 1
    for length in range(order - 1, 0, -1):
        for gram in grams[length + 1]:
            grams[length][gram[1:]] += 1
    chance = 1 / (alphabet + 1)
    for length in range(1, order + 1):
        context = history[len(history) - length + 1 :]
        following = {gram[-1]: n for gram, n in grams[length].items() if gram[:-1] == context}
        total = sum(following.values())
        if total:
            chance = (max(following.get(token, 0) - DISCOUNT, 0) + DISCOUNT * len(following) * chance) / total
    return chance


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_bits_of_a_text_are_those_of_the_formula(order):
    texts, new = texts_of(0), texts_of(1, count=12)
    model = Ngrams.fit(texts, 5, order)
    for text, bits in zip(new, model.bits(new), strict=True):
        padded = [6] * (order - 1) + text.tolist() + [5]
        chances = [slow(texts, 5, order, tuple(padded[:at]), padded[at]) for at in range(order - 1, len(padded))]
        assert bits == pytest.approx(-np.log2(chances).sum())


def test_the_chances_of_all_that_may_follow_add_up_to_one():
    texts = texts_of(2)
    for history in ((6, 6), (6, 1), (1, 2), (4, 4)):
        assert sum(slow(texts, 5, 3, history, token) for token in range(6)) == pytest.approx(1)
    # All texts of length at most one, and what is left for longer ones.
    model = Ngrams.fit(texts, 5, 3)
    short = 2.0 ** -model.bits([np.array([], np.int64), *(np.array([a]) for a in range(5))])
    assert 0 < short.sum() < 1


def test_what_was_seen_is_likelier_and_nothing_is_impossible():
    text = np.arange(20)
    model = Ngrams.fit([text] * 3, 100, 3)
    seen, other, unseen = model.bits([text, text[::-1].copy(), np.full(20, 99)])
    assert seen < 40 < other
    assert np.isfinite(unseen)


def test_no_text_and_empty_texts_have_a_model():
    empty = np.array([], np.int64)
    for texts in ([], [empty], [empty, empty]):
        bits = Ngrams.fit(texts, 3, 3).bits([empty, np.array([0, 1, 2])])
        assert np.isfinite(bits).all()
    assert len(Ngrams.fit([empty], 3, 3).bits([])) == 0
