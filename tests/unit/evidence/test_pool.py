"""People pooled: who is alone with a value, how few can raise an alarm, and how the error is shared out."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.evidence import harness
from hushtable.evidence.confidence import fisher, holm
from hushtable.evidence.finding import Better, Finding, Subject
from hushtable.evidence.persons import People
from hushtable.evidence.pool import Pool, fewest, standing


def pool(ours: list[int] | int, others: list[int] | int) -> Pool:
    sides = [People(s) if isinstance(s, int) else People(len(s), np.array(s)) for s in (ours, others)]
    everybody = np.concatenate([sides[0].who, sides[0].count + sides[1].who])
    return Pool(People(len(everybody), None if isinstance(ours, int) else everybody), *sides)


def test_alone_is_who_shares_a_value_with_no_other_person():
    assert pool(3, 2).alone(np.array([0, 1, 1, 2, 0])).tolist() == [False, False, False, True, False]
    # The second person has a value twice, and shares it with nobody.
    assert pool([0, 1, 1], [0, 1]).alone(np.array([0, 1, 1, 2, 0])).tolist() == [False, True, True, True, False]


def test_attempts_are_counted_by_person_and_traced_to_their_first_rows():
    both = pool([0, 1, 1, 2], [0, 0, 1])
    tried, hit = np.array([True, True, False, True, True]), np.array([False, True, False, True, False])
    assert both.counts(tried, hit) == (1, 2, 1, 2)
    trace = both.trace(tried, hit, np.array([-1, 7, -1, 8, -1]))
    assert (trace.train.tolist(), trace.control.tolist()) == ([False, True], [True, False])
    assert (trace.persons.tolist(), trace.control_persons.tolist()) == ([0, 1], [0, 2])
    assert trace.released.tolist() == [-1, 7]


def test_the_first_released_row_with_a_value_stands_for_it():
    assert standing(np.array([0, 1, 5]), np.array([1, 3, 1, 0])).tolist() == [3, 0, -1]


@pytest.mark.parametrize(("n", "m", "few"), [(400, 400, 5), (400, 800, 4), (400, 100, 15), (3, 3, 4)])
def test_the_fewest_that_can_alarm(n, m, few):
    assert fewest(n, m, 0.035) == few
    assert fisher(few - 1, n, 0, m) > 0.035


def test_weighted_holm_equals_its_definition():
    """The least p over weight first, against all weights; what is rejected leaves its weight to the rest."""
    assert holm([0.03, 0.001, 0.2], [0.7, 0.1, 0.2]) == pytest.approx([0.9 * 0.03 / 0.7, 0.01, 0.2])
    assert holm([0.01, 0.04, 0.03], [2, 2, 2]) == pytest.approx(holm([0.01, 0.04, 0.03]))
    assert holm([]) == []


def test_weighted_holm_keeps_the_error_and_weights_chosen_afterwards_do_not():
    """20,000 audits of ten independent true nulls. The broken twin gives the weight to whichever test came out lowest."""
    draws = np.random.default_rng(0).random((20_000, 10))
    weights = [0.7, *[0.3 / 9] * 9]
    honest = np.mean([min(holm(p, weights)) <= 0.05 for p in draws])
    eager = np.mean([min(holm(sorted(p), weights)) <= 0.05 for p in draws])
    assert 0.04 < honest < 0.055
    assert eager > 0.2


def test_what_is_reserved_is_kept_for_the_test_that_asked():
    def finding(p: float | None, reserved: float = 0.0) -> Finding:
        return Finding(
            name="x", value=0.0, better=Better.LOWER, subject=Subject.PRIVACY, n=1, note="x", p=p, reserved=reserved
        )  # fmt: skip

    many = [finding(0.9) for _ in range(80)]
    alone, crowd = (harness.corrected([finding(0.031, 0.7), finding(None), *rest])[0] for rest in ([], many))
    assert alone.p_adjusted == pytest.approx(0.031)
    assert crowd.p_adjusted == pytest.approx(0.031 / 0.7)
    # However much is asked for, something is left.
    greedy = harness.corrected([finding(0.9, 0.9), finding(0.9, 0.9), finding(0.001)])
    assert greedy[2].p_adjusted == pytest.approx(0.001 * 1.9 / 0.1)
