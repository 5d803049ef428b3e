"""The headline: what the worst attack gains, never below what the audit can tell from nothing, and without attacks on too few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.evidence.confidence import Gain, gain, observed
from hushtable.evidence.finding import Better, Finding, Risk, Subject
from hushtable.evidence.verdict import FEWEST, Evidence, attempts, headline, is_few, little_left, resolution


def attack(name: str, hits: int, n: int, others: int, m: int, p: float = 1.0) -> Finding:
    return Finding(
        name=name, value=0.1, low=0.0, high=0.9, better=Better.LOWER, subject=Subject.PRIVACY, n=n, note="", risk=Risk.INFERENCE,
        p=p, p_adjusted=p, gain=gain(observed(hits, n), observed(others, m)),
        detail={"hits": hits, "attempts": n, "control_hits": others, "control_attempts": m},
    )  # fmt: skip


def test_without_an_alarm_it_is_the_largest_upper_bound_of_the_gain():
    wide, narrow = attack("wide", 520, 1000, 450, 1000), attack("narrow", 10, 1000, 10, 1000)
    head = headline([narrow, wide])
    assert head is not None
    assert (head.low, head.alarm, head.widest) == (0.0, None, wide)
    assert head.high == wide.gain.high > head.resolution
    assert head.resolved


def test_with_an_alarm_something_is_sure():
    leak, quiet = attack("leak", 60, 1000, 10, 1000, p=1e-6), attack("quiet", 500, 1000, 500, 1000)
    head = headline([quiet, leak])
    assert head is not None
    assert head.alarm is leak
    assert head.low == leak.gain.low > 0.03
    assert head.high >= head.bound == max(leak.gain.high, quiet.gain.high)


def test_success_on_nearly_everybody_does_not_set_it():
    # 98.0 of 100 inside and 98.3 outside: the residual risk reaches 44.6 %, the gain 1.3 of 100.
    degenerate = attack("degenerate", 980, 1000, 983, 1000)
    assert little_left(degenerate)
    assert not little_left(attack("other", 899, 1000, 899, 1000))
    head = headline([degenerate])
    assert head is not None
    assert head.high < 0.03


def test_too_few_attempts_are_listed_and_do_not_set_it():
    small, large = attack("small", 5, 12, 0, 12), attack("large", 500, 1000, 500, 1000)
    head = headline([small, large])
    assert head is not None
    assert head.widest is large
    assert head.few == (small,)
    assert head.high < 0.1 < small.gain.high
    assert head.to_json()["too_few"] == ["small"]


def test_an_alarm_on_few_is_an_alarm_and_few_are_better_than_nobody():
    raised, large = attack("small", 12, 12, 0, 12, p=0.01), attack("large", 500, 1000, 500, 1000)
    head = headline([raised, large])
    assert head is not None
    assert head.alarm is raised
    assert head.few == ()
    alone = attack("small", 5, 12, 0, 12)
    assert headline([alone]).widest is alone
    assert headline([replace(alone, value=None)]) is None


def test_attempts_are_those_of_the_smaller_side_and_independent_ones():
    one = attack("one", 5, 1000, 5, FEWEST)
    assert attempts(one) == FEWEST
    assert not is_few(one)
    assert is_few(replace(one, detail=one.detail | {"control_attempts": FEWEST - 1}))
    assert is_few(replace(one, detail=one.detail | {"independent": FEWEST - 0.5}))
    assert attempts(replace(one, detail={}, n=7)) == 7


def test_a_finding_without_a_gain_counts_by_its_risk():
    old = replace(attack("old", 0, 1000, 0, 1000), gain=None, high=0.3)
    assert headline([old]).high == 0.3


@pytest.mark.parametrize("count", [1, 20, 80])
def test_where_nothing_leaks_the_largest_bound_lies_below_the_resolution_in_95_of_100_audits(count):
    rng = np.random.default_rng(5)
    rates = np.linspace(0.02, 0.6, count)
    below = halved = 0
    for _ in range(150):
        gains = [
            gain(observed(int(a), 800), observed(int(b), 400))
            for a, b in zip(rng.binomial(800, rates), rng.binomial(400, rates), strict=True)
        ]
        largest, least = max(one.high for one in gains), resolution(gains)
        below += largest <= least
        # The twin that takes the errors for half as large.
        halved += largest <= resolution(
            [Gain(g.value, g.value - (g.value - g.low) / 2, g.value + (g.high - g.value) / 2, g.outside) for g in gains]
        )
    assert below >= 0.92 * 150
    assert halved < 0.9 * 150


def test_releases_that_leak_nothing_read_alike():
    """The largest upper bound alone moves by a third of itself from one harmless release to the next."""
    rng = np.random.default_rng(1)
    rates = np.linspace(0.05, 0.6, 60)
    read = []
    for _ in range(20):
        found = [
            attack("x", int(a), 8000, int(b), 2000)
            for a, b in zip(rng.binomial(8000, rates), rng.binomial(2000, rates), strict=True)
        ]
        read.append(headline(found))
    highs, bounds = [head.high for head in read], [head.bound for head in read]
    assert np.ptp(highs) < 0.5 * np.ptp(bounds)
    assert all(head.high >= head.bound for head in read)


def test_the_evidence_has_it_and_says_where_it_is_coarse():
    assert Evidence(findings=[attack("x", 50, 100, 50, 100)]).coarse is not None
    assert Evidence(findings=[attack("x", 500, 10_000, 500, 10_000)]).coarse is None
    assert Evidence(findings=[]).headline is None
