"""One judge for all attacks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.evidence import harness
from hushtable.evidence.attack import Attack, Scenario, Strike, Way, judge, of_hundred
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher, residual_risk, wilson
from hushtable.evidence.finding import Risk, Trace, uncomputed


def trace(train: list[bool], control: list[bool]) -> Trace:
    return Trace(np.array(train), np.array(control), np.arange(len(train)), np.arange(len(control)))


def test_the_risk_is_what_is_left_above_the_control():
    result = judge(
        trace([True] * 30 + [False] * 70, [True] * 20 + [False] * 80),
        Scenario(name="x", risk=Risk.LINKABILITY, knows="knows all", does="finds"),
        naive=0.1,
    )
    expected = residual_risk(wilson(30, 100), wilson(20, 100))
    assert (result.value, result.low, result.high) == (expected.value, expected.low, expected.high)
    assert result.p == fisher(30, 100, 20, 100)
    assert "30 of 100 people in the table, against 20 of 100 who are not in it (10 of 100 by blind guessing)" in result.note


@pytest.mark.parametrize(("ours", "n", "others", "m"), [(60, 60, 40, 40), (0, 60, 0, 4000), (6, 60, 400, 4000)])
def test_where_both_rates_are_the_same_the_sizes_of_the_tables_make_no_risk(ours, n, others, m):
    """Wilson's centre alone would: it leans towards one half, the more the fewer rows there are."""
    sides = [[True] * hits + [False] * (rows - hits) for hits, rows in ((ours, n), (others, m))]
    result = judge(trace(*sides), Scenario(name="x", risk=Risk.LINKABILITY, knows="knows", does="finds"), naive=None)
    assert result.value == pytest.approx(0.0, abs=1e-12)
    assert result.low <= result.value < result.high
    assert residual_risk(wilson(ours, n), wilson(others, m)).value > 0.003


def test_an_attack_that_does_not_beat_blind_guessing_is_never_called_safe():
    scenario = Scenario(name="x", risk=Risk.INFERENCE, knows="knows a", does="guesses b")
    assert "shows neither risk nor safety" in scenario.sentence(0.2, 0.1, 0.3)
    assert "blind guessing:" not in scenario.sentence(0.4, 0.1, 0.3)


def test_small_shares_are_counted_in_people():
    assert of_hundred(0.00012) == "0.012 of 100"
    assert of_hundred(0.00001) == "fewer than 0.01 of 100"
    assert of_hundred(0.0) == "0 of 100"


@dataclass(frozen=True, kw_only=True)
class Everybody(Attack):
    def ways(self, case, rng):
        hit = {"train": np.ones(case.train.rows, bool), "control": np.zeros(case.control.rows, bool)}
        yield Way("all", Risk.INFERENCE, "knows all", "finds", lambda which: Strike(hit[which]), 0.0)
        yield uncomputed("none", 0, "there is no way")


def test_an_attack_writes_only_its_guess(small):
    case = Case(small.take(np.arange(40)), small.take(np.arange(40, 80)), small.take(np.arange(80, 120)))
    first, second = harness.run(case, {"everybody": Everybody()})
    assert first.value > 0.9
    assert first.p_adjusted == pytest.approx(first.p)
    assert "trace" not in first.to_json()
    assert second.p_adjusted is None
