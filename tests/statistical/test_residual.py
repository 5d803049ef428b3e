"""Intervals of the residual risk where the two tables differ in size: they cover, and first-order errors would not."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.confidence import residual_risk, wilson
from hushtable.evidence.finding import Risk, Trace

RUNS = 1500


def result_of(hits: int, rows: int, others: int, control: int):
    sides = [np.arange(n) < h for h, n in ((hits, rows), (others, control))]
    trace = Trace(*sides, np.arange(rows), np.arange(control))
    return judge(trace, Scenario(name="x", risk=Risk.INFERENCE, knows="knows", does="guesses"), naive=None)


@pytest.mark.parametrize(
    ("rows", "control", "rate", "risk"), [(1000, 100, 0.95, 0.0), (2000, 300, 0.3, 0.1), (1000, 200, 0.02, 0.2)]
)
def test_the_bounds_cover_where_the_control_is_small(rows, control, rate, risk):
    rng = np.random.default_rng(3)
    missed = np.zeros(2)
    for hits, others in zip(rng.binomial(rows, rate + risk * (1 - rate), RUNS), rng.binomial(control, rate, RUNS), strict=True):
        finding = result_of(int(hits), rows, int(others), control)
        assert finding.low <= finding.value <= finding.high
        missed += finding.low > risk + 1e-12, finding.high < risk - 1e-12
    assert (missed / RUNS < 0.05).all(), missed / RUNS  # 2.5 % on each side, nominally


def test_first_order_errors_would_not_cover():
    rng = np.random.default_rng(3)
    rows, control, rate = 1000, 100, 0.95
    pairs = zip(rng.binomial(rows, rate, RUNS), rng.binomial(control, rate, RUNS), strict=True)
    assert np.mean([residual_risk(wilson(int(a), rows), wilson(int(b), control)).low > 0 for a, b in pairs]) > 0.1


def test_the_upper_bound_never_collapses_however_much_better_the_control_does():
    highs = [residual_risk(wilson(40, 2000), wilson(c, 2000)).high for c in range(40, 120)]
    assert min(highs) > 0.005
    assert result_of(0, 300, 2, 50).high > 0.01
