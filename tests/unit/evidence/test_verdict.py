"""Every rule of judgement by table: what is an alarm, the worst, worse than real rows; what is weak; whether to publish."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hushtable.evidence.condition import Outcome
from hushtable.evidence.finding import Finding, Risk, Subject
from hushtable.evidence.power import Power
from hushtable.evidence.verdict import (
    STRENGTH,
    Evidence,
    Ground,
    Publish,
    Tone,
    alarms,
    binding_assurance,
    by_excess,
    excess,
    is_large,
    is_weak,
    of_risk,
    publish,
    severity,
    surely_worse,
    verdict,
    worst_of,
)
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Promise, Syntactic
from hushtable.privacy.stated import StatedGuarantee

UNIT = [0.0, 1.0]
K = Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=("age", "sex"))


def finding(**numbers: Any) -> Finding:
    return Finding.from_json({"name": "x", "better": "lower", "subject": "utility"} | numbers)


def attack(p: float | None, *, name: str = "attack", risk: Risk | None = Risk.INFERENCE, **numbers: Any) -> Finding:
    plain = {"name": name, "value": 0.03, "low": 0.0, "high": 0.06, "baseline": 0.0, "subject": "privacy", "p": p, "p_adjusted": p}
    return replace(Finding.from_json(plain | numbers), risk=risk)


def gained(value: float, low: float, high: float, outside: float = 0.1) -> dict[str, float]:
    return {"value": value, "low": low, "high": high, "outside": outside}


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"value": 0.17, "low": 0.16, "high": 0.18, "baseline": 0.01, "subject": "privacy"}, "worse than fresh rows"),
        ({"value": 0.02, "low": 0.005, "high": 0.03, "baseline": 0.01, "subject": "privacy"}, "no excess found"),
        ({"value": 0.0, "low": 0.0, "high": 0.0, "baseline": 0.0, "subject": "privacy"}, "no excess found"),
        ({"value": 0.4, "low": 0.3, "high": 0.45, "baseline": 0.5, "subject": "privacy", "better": "higher"}, "worse than fresh"),
        ({"value": 0.1, "low": 0.0, "high": 0.2, "baseline": 0.0, "subject": "privacy", "p_adjusted": 0.05}, "worse than for"),
        ({"value": 0.1, "low": 0.05, "high": 0.2, "baseline": 0.0, "subject": "privacy", "p_adjusted": 0.051}, "no excess found"),
        ({"value": 0.3, "subject": "privacy"}, "no baseline to compare with"),
        ({"value": None, "baseline": 0.1, "subject": "privacy"}, "not computed"),
        ({"value": float("nan"), "baseline": 0.1}, "not computed"),
        ({"span": UNIT, "value": 0.01, "baseline": 0.02}, "no worse than real rows"),
        ({"span": UNIT, "value": 0.04, "baseline": 0.02}, "close to real"),
        ({"span": UNIT, "value": 0.041, "baseline": 0.02}, "noticeably off"),
        ({"span": UNIT, "value": 0.1, "baseline": 0.0}, "noticeably off"),
        ({"span": UNIT, "value": 0.2, "baseline": 0.02}, "far from real"),
        ({"value": 9.0, "baseline": 2.0}, "no interval to judge it by"),
        ({"value": 1.0, "baseline": 2.0}, "no worse than real rows"),
        ({"value": 9.0, "low": 8.0, "high": 9.5, "baseline": 2.0}, "worse than real rows"),
        ({"span": [0.0, None], "value": 30.0, "baseline": 20.0, "detail": {"p": 0.06}}, "no worse than real rows"),
        ({"span": [0.0, None], "value": 40.0, "baseline": 20.0, "detail": {"p": 0.01}}, "worse than real rows"),
        ({"span": UNIT, "value": 0.3, "baseline": 0.2, "detail": {"p": 0.2}}, "no worse than real rows"),
        ({"span": UNIT, "value": 0.3, "baseline": 0.2, "detail": {"p": 0.01}}, "noticeably off"),
        ({"span": [0.0, None], "value": 40.0, "baseline": 50.0, "detail": {"p": 0.01}}, "no worse than real rows"),
        ({"span": UNIT, "value": 0.9, "low": 0.85, "high": 0.96, "baseline": 0.95, "better": "higher"}, "no worse than real rows"),
        ({"span": UNIT, "value": 0.5, "low": 0.45, "high": 0.55, "baseline": 0.95, "better": "higher"}, "far from real"),
        ({"span": UNIT, "value": 0.5, "low": 0.45, "baseline": 0.1, "baseline_bad": 0.46}, "no worse than real rows"),
        ({"span": UNIT, "ideal": 0.5, "value": 0.49, "low": 0.47, "high": 0.51, "baseline": 0.5}, "no worse than real rows"),
        ({"span": UNIT, "ideal": 0.5, "value": 0.7, "low": 0.68, "high": 0.72, "baseline": 0.49}, "far from real"),
        ({"span": UNIT, "ideal": 0.5, "value": 0.42, "low": 0.4, "high": 0.44, "baseline": 0.5}, "closer to these rows than fresh"),
        ({"span": UNIT, "ideal": 0.5, "value": 0.42, "low": 0.4, "high": 0.44, "baseline": 0.43}, "no worse than real rows"),
        ({"span": UNIT, "ideal": 0.5, "value": 0.34, "low": 0.32, "high": 0.36, "baseline": 0.5}, "as close to these rows as near"),
    ],
)  # fmt: skip
def test_verdicts_come_from_the_numbers(numbers: dict[str, Any], words: str) -> None:
    judged = verdict(finding(**numbers))
    assert judged.words.startswith(words)
    assert surely_worse(finding(**numbers)) == words.startswith(("worse", "noticeably", "far", "closer", "as close"))


def test_no_verdict_calls_a_release_safe() -> None:
    judged = verdict(finding(value=0.0, low=0.0, high=0.0, baseline=0.9, subject="privacy"))
    assert "not a proof" in judged.words
    assert judged.tone is Tone.OPEN


def test_an_alarm_is_a_corrected_p_of_at_most_one_in_twenty() -> None:
    findings = [attack(p) for p in (0.05, 0.0501, None, 1e-9)]
    assert alarms(findings) == [findings[0], findings[3]]


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        (attack(1e-3, low=0.2, value=0.3), attack(1e-8, low=0.05, value=0.1)),
        (attack(1e-3, low=0.2, gain=gained(0.3, 0.2, 0.4)), attack(1e-3, low=0.9, gain=gained(0.01, 0.005, 0.02))),
        (attack(0.5, high=0.1, gain=gained(0.01, 0.0, 0.04)), attack(0.2, high=0.9, gain=gained(0.01, 0.0, 0.03))),
        (attack(0.5, high=0.1, n=100), attack(0.2, high=0.9, n=99)),
        (attack(0.04, n=12), attack(0.2, high=0.9, n=1000)),
        (attack(1e-3, low=0.2, value=0.3), attack(1e-3, low=0.1, value=0.5)),
        (attack(1e-3, low=0.2, value=0.5), attack(1e-3, low=0.2, value=0.3)),
        (attack(0.04), attack(0.06, low=0.5, value=0.9)),
        (attack(0.04), attack(1e-9, risk=None, low=0.6, value=0.7)),
        (attack(0.04, risk=None), attack(0.06)),
        (attack(0.9), attack(None, low=0.3)),
    ],
)
def test_the_worst_is_an_alarm_then_what_gains_most(worse: Finding, better: Finding) -> None:
    assert severity(worse) < severity(better)


def test_the_worst_of_a_kind_has_that_kind_and_a_value() -> None:
    findings = [attack(1e-3, name="a"), attack(1e-8, name="b", value=None), attack(1e-9, name="c", risk=Risk.LINKABILITY)]
    assert worst_of(findings, Risk.INFERENCE) is findings[0]
    assert worst_of(findings, Risk.SINGLING_OUT) is None


def test_attacks_of_a_kind_are_ordered_the_worst_first() -> None:
    mild, worst, other, blind = attack(0.5), attack(1e-8), attack(1e-9, risk=Risk.LINKABILITY), attack(1e-9, value=None)
    assert of_risk([mild, other, blind, worst], Risk.INFERENCE) == [worst, mild]


@pytest.mark.parametrize(
    ("each", "together", "least"),
    [
        ([None], None, None),
        ([None, 0.1, 0.05], None, 0.05),
        ([None], 0.02, 0.02),
        ([0.01], 0.02, 0.01),
        ([0.1], 0.02, 0.02),
    ],
)
def test_the_smallest_leak_that_was_noticed(each: list[float | None], together: float | None, least: float | None) -> None:
    findings = [replace(attack(0.5), detectable=share) for share in each]
    assert (
        Evidence(findings=findings, power=Power(shares=(0.01, 0.1), noticed=(0, 1), tests=1, smallest=together)).smallest_leak
        == least
    )
    untested = replace(attack(None), detectable=0.001)
    assert Evidence(findings=[*findings, untested]).smallest_leak == min((s for s in each if s is not None), default=None)


def test_numbers_beside_real_rows_are_ordered_by_how_sure_and_how_far() -> None:
    sure, far, unknown = finding(value=0.2, low=0.15, baseline=0.1), finding(value=0.9, low=0.0, baseline=0.1), finding(value=None)
    assert sorted([unknown, far, sure], key=by_excess) == [sure, far, unknown]
    assert excess(finding(value=0.7, baseline=0.9, better="higher")) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("epsilon", "weak", "large"), [(5.0, False, False), (5.01, True, False), (10.0, True, False), (10.1, True, True)]
)
def test_weak_and_large_epsilons(epsilon: float, weak: bool, large: bool) -> None:
    assert (is_weak(epsilon), is_large(epsilon)) == (weak, large)


def test_a_claim_is_as_strong_as_nothing() -> None:
    assert STRENGTH["proven"] > STRENGTH["verified"] > STRENGTH["claimed"] == STRENGTH["none"]


@pytest.mark.parametrize(
    ("stated", "binds"),
    [
        (None, Assurance.NONE),
        (StatedGuarantee(), Assurance.NONE),
        (StatedGuarantee(assurance=Assurance.PROVEN, epsilon=1.0), Assurance.PROVEN),
        (StatedGuarantee(assurance=Assurance.PROVEN, epsilon=50.0), Assurance.NONE),
        (StatedGuarantee(assurance=Assurance.PROVEN, epsilon=50.0, promises=(K,)), Assurance.VERIFIED),
        (StatedGuarantee(assurance=Assurance.CLAIMED), Assurance.CLAIMED),
        (StatedGuarantee(assurance=Assurance.CLAIMED, promises=(K,)), Assurance.VERIFIED),
        (StatedGuarantee(assurance=Assurance.VERIFIED, promises=(K,)), Assurance.VERIFIED),
    ],
)
def test_what_binds(stated: StatedGuarantee | None, binds: Assurance) -> None:
    assert binding_assurance(stated) is binds


PROVEN = StatedGuarantee(assurance=Assurance.PROVEN, epsilon=1.0)
VERIFIED = StatedGuarantee(assurance=Assurance.VERIFIED, promises=(K,), quasi=("age", "sex"))
QUIET = [attack(0.5, risk=risk) for risk in Risk]


def broken(value: float, **more: Any) -> Finding:
    return finding(name="rules broken", **{"value": value, "low": value - 0.004, "baseline": 0.0, "baseline_bad": 0.003} | more)


COPIES = finding(name="identical match share", value=0.2, low=0.18, high=0.22, baseline=0.01, subject="privacy")
NAMED = finding(name="identifier columns", value=1.0, subject="privacy")
FAILED, HOLDS = Outcome("max_risk<0.05", False, "it is 0.3"), Outcome("alarms<1", True, "none")


@pytest.mark.parametrize(
    ("findings", "more", "answer", "grounds"),
    [
        (QUIET, {"void": ["swapped"], "stated": PROVEN}, Publish.VOID, [Ground.VOID]),
        ([attack(1e-9)], {"void": ["swapped"]}, Publish.VOID, [Ground.VOID]),
        ([], {}, Publish.UNTESTED, []),
        ([COPIES], {"outcomes": [FAILED]}, Publish.UNTESTED, [Ground.FAILED, Ground.SUSPICIOUS]),
        (QUIET, {"outcomes": [FAILED, HOLDS], "stated": PROVEN}, Publish.REFUSE, [Ground.FAILED]),
        ([attack(0.05), *QUIET], {"stated": PROVEN}, Publish.REFUSE, [Ground.ALARM]),
        ([attack(1e-3), attack(1e-9), COPIES], {}, Publish.REFUSE, [Ground.ALARM, Ground.ALARM]),
        (QUIET, {"assumed": ["rows repeat"], "stated": PROVEN}, Publish.EXAMINE, [Ground.HOLDERS]),
        ([*QUIET, NAMED], {"stated": PROVEN}, Publish.EXAMINE, [Ground.IDENTIFIERS]),
        ([*QUIET, COPIES], {"stated": PROVEN}, Publish.EXAMINE, [Ground.SUSPICIOUS]),
        ([*QUIET, attack(0.5, high=0.251)], {"stated": PROVEN}, Publish.EXAMINE, [Ground.WIDE]),
        ([*QUIET, attack(0.5, high=0.25)], {"stated": PROVEN}, Publish.NO_OBJECTION, []),
        ([*QUIET, attack(0.5, high=0.9, gain=gained(0.0, -0.02, 0.02, 0.98))], {"stated": PROVEN}, Publish.NO_OBJECTION, []),
        (QUIET, {"stated": replace(PROVEN, epsilon=7.0)}, Publish.EXAMINE, [Ground.WEAK_EPSILON]),
        (QUIET, {"stated": replace(PROVEN, epsilon=50.0)}, Publish.UNPROMISED, []),
        (QUIET, {"stated": replace(VERIFIED, quasi=("age", "sex", "town"))}, Publish.EXAMINE, [Ground.PARTIAL]),
        (QUIET, {"stated": VERIFIED, "outcomes": [HOLDS]}, Publish.NO_OBJECTION, []),
        (QUIET, {"stated": PROVEN}, Publish.NO_OBJECTION, []),
        (QUIET, {"stated": StatedGuarantee(assurance=Assurance.CLAIMED)}, Publish.UNPROMISED, []),
        (QUIET, {}, Publish.UNPROMISED, []),
        ([*QUIET, broken(0.05)], {"stated": PROVEN}, Publish.EXAMINE, [Ground.FIDELITY]),
        ([*QUIET, broken(0.05, baseline=0.045, baseline_bad=0.06)], {"stated": PROVEN}, Publish.NO_OBJECTION, []),
        ([*QUIET, broken(0.009)], {"stated": PROVEN}, Publish.NO_OBJECTION, []),
        ([*QUIET, broken(0.05)], {}, Publish.EXAMINE, [Ground.FIDELITY]),
        ([attack(0.05), broken(0.05)], {"stated": PROVEN}, Publish.REFUSE, [Ground.ALARM, Ground.FIDELITY]),
        ([broken(0.05)], {}, Publish.UNTESTED, [Ground.FIDELITY]),
    ],
)  # fmt: skip
def test_whether_to_publish(findings: list[Finding], more: dict[str, Any], answer: Publish, grounds: list[Ground]) -> None:
    decision = publish(Evidence(findings=findings, **more))
    assert decision.answer is answer
    assert [reason.ground for reason in decision.reasons] == grounds


def test_evidence_orders_attacks_and_names_what_was_not_tried() -> None:
    evidence = Evidence(findings=[attack(0.5, name="mild"), attack(1e-3, name="bad"), attack(1e-9, name="worst"), COPIES])
    assert [f.name for f in evidence.alarms] == ["worst", "bad"]
    assert evidence.untried == [Risk.SINGLING_OUT, Risk.LINKABILITY]
    assert evidence.coarse is None
    assert Evidence(findings=[attack(0.5, high=0.2)]).coarse is not None
    assert not Evidence(findings=[finding(value=0.1, subject=Subject.UTILITY)]).attacked
