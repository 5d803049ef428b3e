"""Conditions: read before anything is run, judged by the bound that speaks against the release, and not kept by what is unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hushtable.errors import InputError
from hushtable.evidence.condition import Condition, Names, Promised, parse_conditions, refused
from hushtable.evidence.confidence import Gain
from hushtable.evidence.finding import Better, Finding, Risk, Subject, uncomputed
from hushtable.evidence.verdict import alarms
from hushtable.privacy.guarantee import Assurance

NAMES = Names(
    better={"mean_tvd": Better.LOWER, "levels_kept": Better.HIGHER, "coverage": None}, families=("membership_by",), score=True
)
NOTHING = Promised(Assurance.NONE)


def finding(name="linkability", high=0.04, risk=Risk.LINKABILITY, p=None):
    return Finding(
        name=name, value=0.0, low=0.0, high=high, baseline=0.0, better=Better.LOWER, subject=Subject.PRIVACY, n=10, note="x",
        risk=risk, p=p, p_adjusted=p,
    )  # fmt: skip


def measure(name, value, better=Better.LOWER, **more):
    return Finding(name=name, value=value, better=better, subject=Subject.UTILITY, n=10, note="", **more)


def over(text, *runs, promised=NOTHING, score=None):
    return Condition.parse(text, "--constraint", NAMES).judge_runs([list(run) for run in runs], promised, score)


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
    findings = [finding(), finding("inference", 0.005, Risk.INFERENCE)]
    assert Condition.parse(text).judge(findings).holds is holds


def test_what_is_not_known_does_not_pass():
    outcome = Condition.parse("max_risk<0.9").judge([uncomputed("linkability", 3, "why", risk=Risk.LINKABILITY)])
    assert not outcome.holds
    assert outcome.unknown
    assert "not known" in outcome.reason
    assert Condition.parse("alarms<9").judge([finding()]).unknown


def test_the_worst_is_named_and_what_could_not_be_computed_is_counted():
    worst, harmless = finding(), finding("harmless", 0.01)
    outcome = Condition.parse("max_risk<0.05").judge([harmless, worst, uncomputed("inference", 3, "why", risk=Risk.INFERENCE)])
    assert outcome.finding is worst
    assert "0.04 (linkability)" in outcome.reason
    assert "1 could not" in outcome.reason


def test_a_limit_that_only_the_upper_bound_misses_is_marked():
    vague = Condition.parse("max_risk<0.03").judge([finding()])
    assert (vague.holds, vague.blind, vague.unknown) == (False, True, False)
    assert "what was measured is 0, but with so few people up to 0.04 cannot be excluded" in vague.reason
    sure = Condition.parse("max_risk<0.03").judge([finding(), replace(finding(), value=0.035)])
    assert (sure.holds, sure.blind) == (False, False)
    assert "excluded" not in sure.reason
    retained = Condition.parse("max_risk<0.05").judge([finding()])
    assert (retained.holds, retained.blind) == (True, False)
    assert "excluded" not in retained.reason


def test_alarms_are_counted():
    findings = [finding(p=0.04), finding(p=0.06), finding()]
    assert len(alarms(findings)) == 1
    outcome = Condition.parse("alarms<1").judge(findings)
    assert not outcome.holds
    assert outcome.finding is findings[0]
    assert outcome.reason == "1 of 2 tests raise an alarm"
    assert Condition.parse("alarms<=1").judge(findings).holds


def test_an_outcome_is_saved_with_its_words_alone():
    outcome = Condition.parse("max_risk < 0.05").judge([finding()])
    assert outcome.to_json() == {
        "expression": "max_risk<0.05",
        "holds": True,
        "told": "the largest upper bound is 0.04 (linkability), of 1 measured",
    }
    void = refused(Condition.parse("max_risk<0.05"), ["the control was seen", "and more"])
    assert (void.holds, void.unknown, void.reason) == (False, True, "the audit is void: the control was seen")


REFUSED = [
    ("max_risk", "expected something like max_gain<0.05"),
    ("<0.05", "expected something like max_gain<0.05"),
    ("train on release, test on real: AUC<0.9", "expected something like"),
    ("max_risk<lots", "'lots' is not a number"),
    ("max_risk<0.0.5", "not a number"),
    ("max_risk<nan", "finite"),
    ("max_risk<inf", "finite"),
    ("max_risk=0.1", "finite number"),
    ("max_risk>0.1", "lower is better: bound it from above"),
    ("alarms>1", "bound it from above"),
    ("max_risk<-1", "max_risk is never below 0"),
    ("epsilon>=1", "epsilon is bounded by < or <="),
    ("k<=5", "k is bounded by > or >="),
    ("promise=certain", "promise=proven or promise=verified"),
    ("promise>=proven", "promise=proven or promise=verified"),
]


@pytest.mark.parametrize("where", ["--gate", "--constraint"])
@pytest.mark.parametrize(("text", "match"), REFUSED)
def test_what_cannot_be_judged_is_refused_at_once_by_one_grammar(text, match, where):
    with pytest.raises(InputError, match=match) as error:
        Condition.parse(text, where, NAMES)
    assert error.value.faults[0].where == where


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (
            "happiness<1",
            "there is no 'happiness'; there are max_gain, .*alarms, epsilon, k, score, promise, mean_tvd, levels_kept",
        ),
        ("mean TVD>=0.1", "bound it from above"),
        ("levels kept<0.1", "bound it from below"),
    ],
)
def test_with_a_catalogue_a_name_or_a_direction_that_is_wrong_is_refused_at_once(text, match):
    with pytest.raises(InputError, match=match):
        Condition.parse(text, "--constraint", NAMES)
    assert Condition.parse("membership by density<0.1", "--constraint", NAMES).name == "membership_by_density"


def test_all_faults_are_reported_at_once():
    with pytest.raises(InputError) as error:
        parse_conditions(["happiness<1", "max_risk<0.1", "k<=5"], "--constraint", NAMES)
    assert len(error.value.faults) == 2


def test_one_audit_lists_its_metrics_where_a_name_is_unknown_and_has_no_score():
    with pytest.raises(InputError, match=r"max_gain, max_risk, singling_out, .*linkability"):
        Condition.parse("nonsense<0.5").judge([finding()])
    with pytest.raises(InputError, match="of own_risk lower is better"):
        Condition.parse("own risk>0.5").judge([finding("own risk", risk=None)])
    with pytest.raises(InputError, match="one audit has no score"):
        Condition.parse("score>=0.5")


def test_promises_are_not_what_was_asked_for_but_what_is_known():
    proven, verified = Promised(Assurance.PROVEN, epsilon=1.0), Promised(Assurance.VERIFIED, k=10.0)
    for text, promised in (("epsilon<=1", proven), ("k>=10", verified), ("promise=proven", proven)):
        assert over(text, promised=promised).holds
        assert Condition.parse(text).judge([], promised).holds
    assert over("promise=verified", promised=proven).holds
    assert over("promise=verified", promised=verified).holds
    assert "infinite" in over("epsilon<=100", promised=verified).reason
    assert "no k over all quasi-identifiers is verified" in over("k>=2", promised=proven).reason
    assert "it is 1" in over("epsilon<1", promised=proven).reason
    assert not over("promise=proven", promised=verified).holds
    assert not over("promise=verified", promised=Promised(Assurance.CLAIMED)).holds
    without_card = Condition.parse("k>=2").judge([finding()])
    assert (without_card.holds, without_card.unknown) == (False, True)


def test_one_lucky_run_does_not_pass():
    good, bad = finding(high=0.04), finding(high=0.06)
    assert over("max_risk<0.05", [good], [good]).holds
    assert over("max_risk<0.05", [good], [bad]).finding is bad
    assert not over("alarms<1", [finding(p=0.5)], [finding(p=0.01)]).holds


@pytest.mark.parametrize("text", ["max_risk<0.9", "alarms<1", "linkability<0.9", "mean TVD<0.9", "levels kept>=0.1"])
def test_what_was_neither_attacked_nor_measured_keeps_nothing(text):
    everything = [finding(high=0.01, p=1.0), measure("mean TVD", 0.1), measure("levels kept", 0.5, Better.HIGHER)]
    assert over(text, everything).holds
    for runs in ((), ([],), (everything, [])):
        outcome = over(text, *runs)
        assert (outcome.holds, outcome.unknown) == (False, True)


def test_a_score_and_measures_of_which_more_is_better_are_judged_by_their_lower_bounds():
    assert over("score>=0.79", score=0.795).holds
    assert "0.75" in over("score>=0.79", score=0.75).reason
    assert over("score>=0", score=None).unknown
    measured = measure("levels kept", 0.9, Better.HIGHER, low=0.7, high=0.95)
    assert over("levels kept>=0.7", [measured]).holds
    assert "0.7" in over("levels kept>=0.8", [measured]).reason


def test_a_measure_without_an_interval_is_a_fact_about_the_release():
    for judged in (
        over("mean TVD<0.1", [measure("mean TVD", 0.05)]),
        Condition.parse("mean TVD<0.1").judge([measure("mean TVD", 0.05)]),
    ):
        assert judged.holds
    assert not over("mean TVD<0.1", [measure("mean TVD", 0.2)]).holds
    assert over("mean TVD<0.1", [finding()]).unknown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_risk<0.05", "every attack must have a residual risk of less than 0.05 (upper bound of (r - c)/(1 - c))"),
        ("epsilon<=2", "differential privacy must be proven with an epsilon of at most 2"),
        ("k>=5", "k-anonymity over all quasi-identifiers must be verified on the release with a k of at least 5"),
        ("promise=verified", "what it promises must be verified, or proven"),
        ("alarms<=0", "no attack may raise an alarm"),
        ("alarms<1", "no attack may raise an alarm"),
        ("alarms<3", "fewer than 3 attacks may raise an alarm"),
        (
            "singling out<0.1",
            "every attack by singling out must have a residual risk of less than 0.1 (upper bound of (r - c)/(1 - c))",
        ),
        ("mean TVD<0.1", "mean tvd must be less than 0.1 (upper bound)"),
    ],
)
def test_each_has_words(text, words):
    assert Condition.parse(text, "--constraint", NAMES).description == words


def test_a_gain_is_bounded_apart_from_the_residual_risk():
    # 98.0 of 100 inside and 98.3 outside: little is left to gain, and a share of that little is hardly known.
    degenerate = replace(finding(high=0.446), gain=Gain(-0.003, -0.02, 0.012, 0.983))
    assert over("max_gain<0.02", [degenerate]).holds
    assert not over("max_gain<0.01", [degenerate]).holds
    assert not over("max_risk<0.4", [degenerate]).holds
    assert over("linkability_gain<0.02", [degenerate]).holds
    assert over("inference_gain<0.02", [degenerate]).unknown
    assert over("max_gain<0.02", [finding(high=0.01)]).unknown
    # It holds by its bound; that such an audit may read more where nothing leaks is said.
    assert "this one was lucky" in over("max_gain<0.02", [degenerate]).reason
    assert "lucky" not in over("max_gain<0.1", [degenerate]).reason
