"""Suffix arrays against slow search: the order, what neighbours share, and the rare runs that a release holds."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hushtable.numerics.suffixes import Suffixes, released_runs


def texts_of(seed: int, count: int, alphabet: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, alphabet, rng.integers(0, 12)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(10))
def test_suffixes_are_sorted_and_share_what_they_say(seed):
    texts = texts_of(seed, 15, 1 + seed % 4)
    suffixes = Suffixes.of(texts)
    joined: list[int] = []
    for number, text in enumerate(texts):
        joined += [*(text + len(texts)).tolist(), number]
    tails = [joined[at:] for at in suffixes.order]
    assert tails == sorted(tails)
    for before, tail, shared in zip(tails[:-1], tails[1:], suffixes.shared[1:], strict=True):
        assert before[:shared] == tail[:shared]
        assert before[shared : shared + 1] != tail[shared : shared + 1]


def slow_runs(texts: list[np.ndarray], released: int, holder: np.ndarray, most: int) -> list[int]:
    """The same by trying every run."""
    people, release = texts[: len(texts) - released], [tuple(text) for text in texts[len(texts) - released :]]

    def within(run, text):
        return any(tuple(text[at : at + len(run)]) == run for at in range(len(text) - len(run) + 1))

    found = []
    for text in people:
        for at in range(len(text)):
            own = [n for n in range(1, len(text) - at + 1) if any(within(tuple(text[at : at + n]), other) for other in release)]
            longest = max(own, default=0)
            who = {int(holder[i]) for i, other in enumerate(people) if within(tuple(text[at : at + longest]), other)}
            found.append(longest if len(who) <= most else 0)
        found.append(0)
    return found


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("seed", range(8))
def test_released_runs_are_the_longest_and_rare(seed, most):
    texts = texts_of(seed, 24, 2 + seed % 3)
    holder = np.random.default_rng(seed).integers(0, 9, 14)
    suffixes = Suffixes.of(texts)
    found = released_runs(suffixes, 10, holder, most)[: suffixes.starts[14]]
    assert found.tolist() == slow_runs(texts, 10, holder, most)


def test_many_texts_and_long_equal_ones_take_seconds():
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 5000, 20) for _ in range(20_000)] + [np.zeros(20_000, np.int64)] * 2 + [np.arange(20_000)] * 2
    released_runs(Suffixes.of(texts[:5]), 1, np.arange(4), 1)
    start = time.process_time()
    suffixes = Suffixes.of(texts)
    found = released_runs(suffixes, 1, np.arange(len(texts) - 1), 5)
    assert time.process_time() - start < 10
    assert found.max() == 20_000
