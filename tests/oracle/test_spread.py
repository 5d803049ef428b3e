"""l and t by persons against every way to let each person stand with one of their values."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from hushtable.privacy.spread import Secret, heads

ABSENT = 3


def crowd(seed: int) -> tuple[list[set[int]], Secret]:
    """A class of a few persons, each with a few values of three, or none."""
    rng = np.random.default_rng(seed)
    sets = [set(rng.choice(4, rng.integers(1, 4), p=[0.5, 0.2, 0.2, 0.1]).tolist()) for _ in range(rng.integers(2, 6))]
    rows = [(who, value) for who, values in enumerate(sets) for value in values for _ in range(rng.integers(1, 4))]
    persons, ranks = np.array(rows).T
    return sets, Secret(ranks, 4, ABSENT, persons)


def entropy(counts: list[int]) -> float:
    return math.exp(-sum(c / sum(counts) * math.log(c / sum(counts)) for c in counts))


def recursive(counts: list[int], c: float) -> int:
    falling = sorted(counts, reverse=True)
    return sum(falling[0] < c * sum(falling[at:]) for at in range(len(falling)))


@pytest.mark.parametrize("seed", range(60))
def test_l_is_never_more_than_any_choice_of_one_value_for_each_person_has(seed):
    sets, secret = crowd(seed)
    by_rows, by_persons = secret.spreads(np.zeros(len(secret.ranks), np.int64))
    known = [values - {ABSENT} for values in sets if values - {ABSENT}]
    choices = [list(Counter(choice).values()) for choice in itertools.product(*known)] if known else []
    for choice in choices:
        assert by_persons.distinct()[0] <= len(choice)
        assert by_persons.entropy()[0] <= entropy(choice) + 1e-12
        for c in (0.5, 1.0, 2.0, 3.0):
            assert by_persons.recursive(c)[0] <= recursive(choice, c)
    assert by_persons.distinct()[0] <= by_rows.distinct()[0]
    if all(len(values) == 1 for values in known) and known:
        assert by_persons.distinct()[0] == len(choices[0])
        assert by_persons.entropy()[0] == pytest.approx(entropy(choices[0]))
    # A value that all of them hold is known of all of them, however many others there are.
    if known and set.intersection(*known):
        assert by_persons.distinct()[0] == 1


def test_counting_each_value_of_a_person_would_promise_too_much():
    """The twin: three persons with the same two values have two values each once counted, and nothing is left to guess."""
    secret = Secret(np.tile([0, 1], 3), 4, ABSENT, np.repeat(np.arange(3), 2))
    by_rows, by_persons = secret.spreads(np.zeros(6, np.int64))
    assert (by_rows.distinct()[0], by_persons.distinct()[0]) == (2, 1)
    assert by_rows.entropy()[0] == pytest.approx(2)
    assert by_persons.entropy()[0] == pytest.approx(1)


def test_merging_classes_of_the_same_persons_may_give_them_a_value_in_common():
    """Why l by persons does not survive a merge: each holds the other's value in the other class."""
    secret = Secret(np.array([0, 1, 1, 0]), 2, -1, np.array([0, 1, 0, 1]))
    assert secret.spreads(np.array([0, 0, 1, 1]))[1].distinct().tolist() == [2, 2]
    assert secret.spreads(np.zeros(4, np.int64))[1].distinct().tolist() == [1]


@pytest.mark.parametrize("seed", range(20))
def test_t_counts_each_value_once_for_each_person_who_holds_it(seed):
    rng = np.random.default_rng(seed)
    groups, ranks, persons = rng.integers(0, 3, 40), rng.integers(0, 4, 40), rng.integers(0, 9, 40)
    groups = np.unique(groups, return_inverse=True)[1]
    spread = Secret(ranks, 4, -1, persons).spreads(groups)[1]
    whole = Counter(value for _, value in set(zip(persons, ranks, strict=True)))
    for group, result in enumerate(spread.distances(ordered=False)):
        own = Counter(value for g, _, value in set(zip(groups, persons, ranks, strict=True)) if g == group)
        far = sum(abs(own[v] / own.total() - whole[v] / whole.total()) for v in range(4)) / 2
        assert result == pytest.approx(far)


@pytest.mark.parametrize("seed", range(10))
def test_heads_are_distinct_persons(seed):
    rng = np.random.default_rng(seed)
    groups, persons = rng.integers(0, 5, 30), rng.integers(-3, 9, 30) * 10**17
    assert heads(groups, persons, 7).tolist() == [len(set(persons[groups == g].tolist())) for g in range(7)]
