"""Constraints: read before anything is run, judged by the bound that speaks against the release."""

from __future__ import annotations

import pytest

from hushtable.api.compare.constraint import Constraint, parsed
from hushtable.errors import InputError
from hushtable.evidence.finding import Better
from tests.unit.api.compare.cells import attack, cell, measure


def miss(text: str, told=None, *runs) -> str:
    return Constraint.parse(text).miss(told or cell("a"), [list(run) for run in runs])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("max_risk", "expected something like"),
        ("max_risk<lots", "not a number"),
        ("max_risk<nan", "finite"),
        ("max_risk=0.1", "finite number"),
        ("max_risk>0.1", "lower is better: bound it from above"),
        ("epsilon>=1", "epsilon is bounded by < or <="),
        ("k<=5", "k is bounded by > or >="),
        ("promise=certain", "promise=proven or promise=verified"),
        ("happiness<1", "there is no 'happiness'; there are max_risk, alarms"),
        ("train on release, test on real: AUC<0.9", "expected something like"),
        ("mean TVD>=0.1", "bound it from above"),
    ],
)
def test_what_cannot_be_judged_is_refused_at_once(text, match):
    with pytest.raises(InputError, match=match):
        Constraint.parse(text)


def test_all_faults_are_told_at_once_and_no_alarm_is_asked_for_when_nothing_is():
    with pytest.raises(InputError) as refused:
        parsed(["happiness<1", "k<=5"])
    assert len(refused.value.faults) == 2
    assert [one.expression for one in parsed([])] == ["alarms<1"]
    assert [one.expression for one in parsed(["k >= 5", "k>=5"])] == ["k>=5", "alarms<1"]
    assert [one.expression for one in parsed(["k>=5", "alarms<=2"])] == ["k>=5", "alarms<=2"]


def test_a_risk_is_judged_by_the_upper_bound_of_the_worst_run():
    assert miss("max_risk<0.05", None, [attack(0.04)], [attack(0.03)]) == ""
    assert "0.06" in miss("max_risk<0.05", None, [attack(0.04)], [attack(0.06)])
    assert miss("max_risk<=0.05", None, [attack(0.05)]) == ""
    assert miss("max_risk<0.05", None, [attack(0.05)])
    assert "not known to hold" in miss("max_risk<0.05", None, [measure("mean TVD", 0.01)])
    assert "0.04" in miss("linkability<0.03", None, [attack(0.04)])
    assert "not known" in miss("singling out<0.03", None, [attack(0.01)])


@pytest.mark.parametrize("text", ["max_risk<0.9", "alarms<1", "linkability<0.9", "mean TVD<0.9", "association levels kept>=0.1"])
def test_what_was_neither_attacked_nor_measured_keeps_nothing(text):
    assert miss(text) != ""
    assert miss(text, None, []) != ""
    assert (
        miss(text, None, [attack(0.01), measure("mean TVD", 0.1), measure("association levels kept", 0.5, Better.HIGHER)], []) != ""
    )


def test_alarms_are_counted_in_each_run():
    assert miss("alarms<1", None, [attack(0.5, p=0.5)]) == ""
    assert "1 findings" in miss("alarms<1", None, [attack(0.5, p=0.5)], [attack(0.5, p=0.01)])


def test_promises_are_not_what_was_asked_for_but_what_is_known():
    proven, verified = cell("a", epsilon=1.0), cell("b", k=10.0)
    assert miss("epsilon<=1", proven) == miss("k>=10", verified) == miss("promise=proven", proven) == ""
    assert miss("promise=verified", proven) == miss("promise=verified", verified) == ""
    assert "infinite" in miss("epsilon<=100", verified)
    assert "no k over all quasi-identifiers is verified" in miss("k>=2", proven)
    assert "it is 1" in miss("epsilon<1", proven)
    assert miss("promise=proven", verified)
    assert miss("promise=verified", cell("c", kind="claimed"))


def test_a_score_and_measures_of_which_more_is_better_are_judged_by_their_lower_bounds():
    assert miss("score>=0.79", cell("a", 0.8, width=0.005)) == ""
    assert "0.75" in miss("score>=0.79", cell("a", 0.8, width=0.05))
    assert "no score" in miss("score>=0", cell("a", None))
    kept = measure("association levels kept", 0.9, Better.HIGHER, low=0.7, high=0.95)
    assert miss("association levels kept>=0.7", None, [kept]) == ""
    assert "0.7" in miss("association levels kept>=0.8", None, [kept])
    assert "not measured" in miss("association levels kept>=0.1", None, [])


def test_a_measure_without_an_interval_is_a_fact_about_the_release():
    assert miss("mean TVD<0.1", None, [measure("mean TVD", 0.05)]) == ""
    assert miss("mean TVD<0.1", None, [measure("mean TVD", 0.2)])
    assert "not measured" in miss("mean TVD<0.1", None, [attack(0.01)])


def test_each_is_told_in_words():
    told = {one.expression: one.told for one in parsed(["max_risk<0.05", "epsilon<=2", "promise=verified", "singling out<0.1"])}
    assert told["max_risk<0.05"] == "every attack must gain less than 0.05 (upper bound)"
    assert told["epsilon<=2"] == "differential privacy must be proven with an epsilon of at most 2"
    assert (
        Constraint.parse("k>=5").told
        == "k-anonymity over all quasi-identifiers must be verified on the release with a k of at least 5"
    )
    assert told["promise=verified"] == "what it promises must be verified, or proven"
    assert Constraint.parse("alarms<=0").told == told["alarms<1"] == "no attack may raise an alarm"
    assert Constraint.parse("alarms<3").told == "less than 3 attacks may raise an alarm"
    assert told["singling_out<0.1"].startswith("every attack by singling out")
