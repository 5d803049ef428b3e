"""The first screen: four answers, and a rule that never calls a release safe."""

from __future__ import annotations

from typing import Any

import pytest

from hushtable.api.audit_report import AuditReport
from hushtable.evidence.condition import Outcome
from hushtable.evidence.finding import Better, Finding, Subject
from hushtable.evidence.power import Power
from hushtable.evidence.verdict import Evidence, advice
from hushtable.privacy.stated import StatedGuarantee
from hushtable.report.audit import audit_page
from hushtable.report.causes import what_to_do
from hushtable.report.decision import answers, published
from tests.unit.report import samples
from tests.unit.report.documents import Reader

ROWS = {"train": 1000, "release": 900, "control": 500}
RISKS = ("singling out", "linkability", "inference")
FAILED = Outcome("max_risk<0.05", False, "the largest upper bound is 0.3")


def attack(p: float, risk: str = "inference", value: float = 0.03, **more: Any) -> dict[str, Any]:
    numbers = {"low": 0.0, "high": 0.06, "baseline": 0.0, "p": p, "p_adjusted": p} | more
    return samples.finding(f"{risk} attack", value, subject=Subject.PRIVACY, risk=risk, note="somebody guesses", **numbers)


def model(value: float = 0.87, baseline: float = 0.93, by: str = "") -> dict[str, Any]:
    name = "train on release, test on real: AUC"
    numbers = {"low": value - 0.01, "high": value + 0.01, "baseline": baseline, "better": Better.HIGHER}
    return samples.finding(name, value, scope=f"income{by}", detail={"target": "income"}, **numbers)


def evidence(*findings: dict[str, Any], card: dict[str, Any] | None = None, **more: Any) -> Evidence:
    stated = None if card is None else StatedGuarantee.from_json(card["guarantee"])
    return Evidence(findings=[Finding.from_json(f) for f in findings], stated=stated, **more)


QUIET = tuple(attack(0.5, risk) for risk in RISKS)


def test_four_questions_each_with_a_number_and_a_sentence() -> None:
    result = evidence(*QUIET, attack(1e-6, value=0.12, low=0.1, high=0.14), model(), card=samples.card(samples.VERIFIED))
    screen = answers(result)
    assert [a.figure for a in screen] == ["k = 10", "10 to 14 of 100", "−0.06 AUC", "Do not publish it as it is"]
    assert [a.tone for a in screen] == ["verified", "alarm", "watch", "alarm"]
    assert "1 of 4 attacks gains more" in screen[1].text
    assert "interval 10 to 14 %" in screen[1].text
    assert "an AUC of 0.87 (interval 0.86 to 0.88); one that learnt from the real rows has 0.93" in screen[2].text
    assert all(a.text.endswith(".") for a in screen)


def test_without_an_alarm_the_number_is_the_largest_upper_bound() -> None:
    _, gained, *_ = answers(evidence(*QUIET, attack(0.9, high=0.2, value=0.001)))
    assert gained.figure == "≤ 20 of 100"
    assert gained.tone == "open"


@pytest.mark.parametrize(
    ("found", "figure", "tone", "reason"),
    [
        (
            evidence(*QUIET, void=["control rows stand in the release"]),
            "Not decided: the audit is void",
            "alarm",
            "Control rows stand",
        ),
        (evidence(attack(1e-9), void=["x"]), "Not decided: the audit is void", "alarm", "X."),
        (evidence(model()), "Not decided: no attack was tested", "open", "hush audit"),
        (
            evidence(*QUIET, outcomes=[FAILED]),
            "Do not publish it as it is",
            "alarm",
            "max_risk<0.05 fails: The largest upper bound is 0.3.",
        ),
        (
            evidence(attack(0.01, known="all"), attack(0.5, known="quasi", scope="x"), card=samples.card(samples.VERIFIED)),
            "Do not publish it as it is",
            "alarm",
            "only the quasi-identifiers gains nothing beyond chance; somebody who already holds all other columns",
        ),
        (
            evidence(attack(0.01, known="quasi")),
            "Do not publish it as it is",
            "alarm",
            "knows only the quasi-identifiers of a person",
        ),
        (evidence(attack(0.9, known="quasi")), "No leak found, but no guarantee either", "watch", "--known"),
        (
            evidence(*QUIET, card=samples.card(samples.PROVEN)),
            "No reason found to withhold it",
            "calm",
            "a theorem about the recipe",
        ),
        (evidence(*QUIET, card=samples.card(samples.VERIFIED)), "No reason found to withhold it", "calm", "measured on this table"),
        (evidence(*QUIET, card=samples.card(samples.NONE)), "No leak found, but no guarantee either", "watch", "not tried may"),
        (evidence(*QUIET, card=samples.card(samples.CLAIMED)), "No leak found, but no guarantee either", "watch", "gap in its"),
        (evidence(*QUIET), "No leak found, but no guarantee either", "watch", "was not tested (hush audit --power tests it)"),
        (
            evidence(*QUIET, power=Power(shares=(0.01,), noticed=(1,), tests=1, smallest=0.01)),
            "No leak found, but no guarantee either",
            "watch",
            "is 1 % of",
        ),
        (evidence(*QUIET[1:]), "No leak found, but no guarantee either", "watch", "Not attacked: singling out."),
        (
            evidence(*QUIET[:2], attack(0.5, high=0.2)),
            "No leak found, but no guarantee either",
            "watch",
            "hits up to 20 more of 100 people in the table than of 100 outside it",
        ),
        (
            evidence(*QUIET, model(0.6), card=samples.card(samples.PROVEN)),
            "No reason found to withhold it",
            "calm",
            "worth publishing is another question",
        ),
    ],
)
def test_the_rule(found: Evidence, figure: str, tone: str, reason: str) -> None:
    answer = published(found)
    assert (answer.figure, answer.tone) == (figure, tone)
    assert any(reason in line for line in answer.reasons), answer.reasons


def test_a_file_without_causes_is_advised_by_its_promise_and_never_a_larger_k() -> None:
    advised = {
        name: " ".join(what_to_do(evidence(attack(0.01), card=samples.card(guarantee))))
        for name, guarantee in (("proven", samples.PROVEN), ("verified", samples.VERIFIED), ("none", samples.NONE))
    }
    assert "smaller epsilon" in advised["proven"]
    assert "privacy budget" in advised["verified"]
    assert "privacy budget" in advised["none"]
    assert not any("larger k" in text for text in advised.values())
    assert what_to_do(evidence(*QUIET)) == []


def test_causes_stand_under_the_verdict() -> None:
    plain = {
        "kind": "untouched columns", "columns": ["<wage>", "job"], "share": 0.97, "alarms": ["near matches"], "known": ["all"],
        "remedies": [{"action": "make quasi", "columns": ["<wage>"]}, {"action": "drop", "columns": ["<wage>", "job"]},
                     {"action": "?"}],
    }  # fmt: skip
    report = AuditReport.from_json({"findings": [attack(0.01)], "rows": ROWS, "causes": [plain, {"kind": "of a later version"}]})
    line = (
        "the release carries <wage> and job of each person as they were, in 97 % of its rows (1 alarm; an attacker needs all "
        "columns): declare 1 of them a quasi-identifier, so that the recipe changes what is plain, or leave them out"
    )
    assert [cause.text for cause in report.causes] == [line, "the cause is not known: "]
    assert report.to_json()["causes"][0] == plain | {"text": line, "remedies": plain["remedies"][:2]}
    (told,) = Reader(report.page()).all("div", "causes")
    assert "What to do" in told.text
    assert "<wage>" in told.text
    assert "What to do:" in report.markdown()
    assert len(advice([report.causes[0]] * 5)) == 3


def test_a_number_without_a_test_asks_for_a_closer_look() -> None:
    copies = samples.finding("identical match share", 0.2, low=0.18, high=0.22, baseline=0.01, subject=Subject.PRIVACY)
    answer = published(evidence(*QUIET, copies, card=samples.card(samples.PROVEN)))
    assert answer.figure == "Examine it further first"
    assert "identical match share is worse than for fresh real rows" in answer.text


def test_an_epsilon_that_protects_nobody_promises_nothing() -> None:
    card = samples.card(samples.PROVEN)
    card["guarantee"] |= {"epsilon": 50.0}
    answer = published(evidence(*QUIET, card=card))
    assert answer.figure == "No leak found, but no guarantee either"
    assert any("protects hardly anybody" in line for line in answer.reasons)


def turned(card: dict[str, Any], **guarantee: Any) -> dict[str, Any]:
    return card | {"guarantee": card["guarantee"] | guarantee}


def test_a_weak_promise_a_partial_one_and_a_bound_that_says_nothing_ask_for_a_closer_look() -> None:
    weak = turned(samples.card(samples.PROVEN), epsilon=7.0)
    verified = samples.card(samples.VERIFIED)
    alone = [p | {"quasi": p["quasi"][:1]} for p in verified["guarantee"]["promises"]]
    quasi = verified["guarantee"]["promises"][0]["quasi"]
    partial = turned(verified, promises=alone, criteria={"k": 1, "quasi": quasi})
    whole = turned(verified, criteria={"k": 10, "quasi": quasi})
    asked = {
        "promises little": evidence(*QUIET, card=weak),
        "covers only some": evidence(*QUIET, card=partial),
        "up to 90 more of 100 people": evidence(*QUIET, attack(0.5, high=0.9), card=whole),
    }
    for why, result in asked.items():
        answer = published(result)
        assert (answer.figure, answer.tone) == ("Examine it further first", "watch")
        assert why in answer.text
    assert len(quasi) > 1
    assert published(evidence(*QUIET, card=whole)).figure == "No reason found to withhold it"


def test_what_is_verified_beside_a_claim_counts() -> None:
    both = turned(samples.card(samples.VERIFIED), assurance="claimed", claims=[{"statement": "epsilon 1", "gaps": ["a gap"]}])
    assert "its guarantee is verified" in published(evidence(*QUIET, card=both)).text.lower()


def test_a_failed_gate_is_told_where_nothing_was_tested() -> None:
    assert any("max_risk<0.05 fails" in reason for reason in published(evidence(model(), outcomes=[FAILED])).reasons)


def test_columns_and_targets_that_are_gone_are_part_of_the_cost() -> None:
    lost = samples.finding("columns missing", 0.3, baseline=0.0)
    unknown = samples.finding("train on release, test on real", None, note="the release has no column income", better=Better.HIGHER)
    near = samples.finding("mean TVD", 0.01, baseline=0.01)
    answer = answers(evidence(lost, unknown, near))[2]
    assert "30 % of the columns are not in it" in answer.text
    assert "No model was tested: The release has no column income." in answer.text
    assert answer.tone == "watch"
    assert "nobody can predict it" in answers(evidence(model(0.5, 0.52)))[2].text


def test_no_answer_calls_a_release_safe() -> None:
    for card in (samples.PROVEN, samples.VERIFIED, samples.CLAIMED, samples.NONE):
        text = " ".join(f"{a.figure} {a.text} {' '.join(a.reasons)}" for a in answers(evidence(*QUIET, card=samples.card(card))))
        assert "proof of safety" in text
        assert "safe" not in text.replace("not a proof of safety", "")


def test_the_cost_without_a_target_is_how_far_the_tables_lie_apart() -> None:
    answer = answers(evidence(samples.finding("mean TVD", 0.2, baseline=0.01), samples.finding("TVD", 0.9, scope="age")))[2]
    assert (answer.figure, answer.tone) == ("0.2", "alarm")
    assert "for fresh real rows it is 0.01" in answer.text
    assert answers(evidence(*QUIET))[2].figure == "not known"


def test_the_main_model_decides_not_the_best_of_many() -> None:
    answer = answers(evidence(model(0.95, by=", by a tree"), model(0.8)))[2]
    assert answer.figure == "−0.13 AUC"


def test_the_answers_lead_to_sections_that_are_there() -> None:
    for card in (samples.card(samples.PROVEN), None):
        for findings in ([*QUIET, model()], [attack(0.001)], [model()], samples.audit()):
            reader = Reader(audit_page(samples.report(findings, card, rows=ROWS)))
            ids = {e.attributes.get("id") for e in reader.elements}
            links = [e.attributes["href"] for e in reader.all("a") if any(p.has("answers") for p in e.parents)]
            assert {(link or "")[1:] for link in links} <= ids


def test_a_report_on_utility_alone_has_no_page_of_attacks_and_says_what_it_was_tested_on() -> None:
    findings = [model(), samples.finding("mean TVD", 0.1, baseline=0.01)]
    reader = Reader(
        audit_page(samples.report(findings, None, rows=ROWS, records=[], made={"hushtable": "1", "seed": 0, "halved": True}))
    )
    ids = [e.attributes["id"] for e in reader.all("section")]
    assert ids == ["summary", "figures", "margins", "downstream", "words", "all"]
    assert reader.all("title")[0].text.startswith("INTERNAL utility")
    assert "tested on rows that the release was made from" in reader.text
    assert "No attack was run" in reader.text


def test_rows_that_cannot_be_are_named_as_a_question_of_use() -> None:
    detail = {"worst": "age < 15 and income is not missing", "worst share": 0.21}
    broken = samples.finding("rules broken", 0.27, low=0.25, high=0.29, baseline=0.001, detail=detail)
    answer = published(evidence(*QUIET, broken, card=samples.card(samples.VERIFIED)))
    assert answer.figure == "Examine it further first"
    assert "27 % of the released rows break rules that the real rows follow" in answer.text
    (line,) = [reason for reason in answer.reasons if "not privacy" in reason]
    assert "“age < 15 and income is not missing”, in 21 %" in line
    assert "0.1 % of fresh real rows" in line
