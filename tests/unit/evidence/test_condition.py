"""The gate judges upper bounds, and does not open for what is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hushtable.errors import InputError
from hushtable.evidence.condition import Gate
from hushtable.evidence.finding import Better, Finding, Risk, Subject, uncomputed
from hushtable.evidence.verdict import alarms


def finding(name="linkability", high=0.04, risk=Risk.LINKABILITY, p=None):
    return Finding(
        name=name, value=0.0, low=0.0, high=high, baseline=0.0, better=Better.LOWER, subject=Subject.PRIVACY, n=10, note="x",
        risk=risk, p=p, p_adjusted=p,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("max_risk<0.05", True),
        ("max_risk < 0.03", False),
        ("max_risk<=0.04", True),
        ("linkability<0.03", False),
        ("inference<0.01", True),
    ],
)
def test_the_upper_bound_decides_though_the_value_is_zero(text, holds):
    found = [finding(), finding("inference", 0.005, Risk.INFERENCE)]
    assert Gate.parse(text).judge(found).holds is holds


def test_what_is_not_known_does_not_pass():
    outcome = Gate.parse("max_risk<0.9").judge([uncomputed("linkability", 3, "why", risk=Risk.LINKABILITY)])
    assert not outcome.holds
    assert "not known" in outcome.reason


def test_the_worst_is_named_and_what_could_not_be_computed_is_counted():
    reason = Gate.parse("max_risk<0.05").judge([finding(), uncomputed("inference", 3, "why", risk=Risk.INFERENCE)]).reason
    assert "0.04 (linkability)" in reason
    assert "1 could not" in reason


def test_a_limit_that_only_the_upper_bound_misses_is_said_to_be_so():
    vague = Gate.parse("max_risk<0.03").judge([finding()])
    assert not vague.holds
    assert "what was measured is 0.00, but with so few people up to 0.04 cannot be excluded" in vague.reason
    sure = Gate.parse("max_risk<0.03").judge([finding(), replace(finding(), value=0.035)])
    assert not sure.holds
    assert "excluded" not in sure.reason
    assert "excluded" not in Gate.parse("max_risk<0.05").judge([finding()]).reason


def test_alarms_are_counted():
    found = [finding(p=0.04), finding(p=0.06), finding()]
    assert len(alarms(found)) == 1
    assert not Gate.parse("alarms<1").judge(found).holds
    assert Gate.parse("alarms<=1").judge(found).holds


@pytest.mark.parametrize(
    "text", ["max_risk", "max_risk>0.05", "max_risk<x", "<0.05", "max_risk<-1", "max_risk<nan", "max_risk<0.0.5"]
)
def test_nonsense_is_refused(text):
    with pytest.raises(InputError, match="max_risk<0"):
        Gate.parse(text)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match=r"max_risk, alarms, singling_out, .*linkability"):
        Gate.parse("nonsense<0.5").judge([finding()])
