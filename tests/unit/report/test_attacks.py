"""Attacks on the page: what decides, the three risks, records and groups without values, and pages that stay readable."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from hushtable.evidence.confidence import Gain
from hushtable.evidence.finding import Finding, Subject
from hushtable.evidence.verdict import verdict
from hushtable.report.attacks import RISKS
from hushtable.report.audit import audit_page
from hushtable.report.charts import intervals, roc
from hushtable.report.charts.distances import curves
from hushtable.report.decision import attacked, published
from hushtable.report.findings import sensitivity
from tests.unit.report import samples
from tests.unit.report.documents import Reader, number

ROWS = {"train": 1000, "release": 900, "control": 500}
ROC = {"fpr": [0.0, 0.001, 0.01, 0.1, 1.0], "tpr": [0.02, 0.03, 0.05, 0.2, 1.0]}
CURVE = {"thresholds": [0.0, 0.1, 0.3], "train": [0.1, 0.2, 0.9], "control": [0.0, 0.2, 0.9]}
POWER = {"shares": [0.01, 0.1], "audit": 0.01, "tests": 4, "noticed": [1, 3]}
NOTHING = "no excess found (not a proof of safety)"
FAILED = {"expression": "max_risk<0.05", "holds": False, "told": "the largest upper bound is 0.3"}


def attack(name: str, value: float | None = 0.1, p: float | None = 1e-6, risk: str = "inference", **more: Any) -> dict[str, Any]:
    numbers = {"low": value and value / 2, "high": value and min(1.0, value * 2), "baseline": 0.0, "p": p, "p_adjusted": p}
    told = {"note": f"an attacker who knows x does {name}", "subject": Subject.PRIVACY, "risk": risk}
    return samples.finding(name, value, **(told | numbers | more))


def record(row: int = 7, weak: bool = False, **more: Any) -> dict[str, Any]:
    hit = {"name": "copies", "scope": "", "share": 0.9, "weak": weak, "released": 12, "told": "age, sex"} | more
    return {"row": row, "risk": 0.0 if weak else 0.9, "weak": weak, "attacks": [hit]}


GROUP = {
    "name": "guess", "scope": "income", "column": "sex", "level": "f", "attacked": 200, "control_attacked": 90, "rate": 0.3,
    "control_rate": 0.1, "value": 0.22, "low": 0.1, "high": 0.3, "whole": 0.05, "p": 1e-8, "p_adjusted": 1e-6,
}  # fmt: skip


def page(findings: list[dict[str, Any]], **more: Any) -> Reader:
    return Reader(audit_page(samples.report(findings, None, rows=ROWS, **more)))


def inside(reader: Reader, section: str, name: str, class_: str = "") -> list[str]:
    return [" ".join(e.text.split()) for e in reader.all(name, class_) if any(p.attributes.get("id") == section for p in e.parents)]


@pytest.mark.parametrize(
    ("numbers", "planted", "words", "power", "tone"),
    [
        ({"p_adjusted": 0.05}, None, "worse than for people outside", "", "alarm"),
        ({"p_adjusted": 0.051, "low": 0.05}, None, NOTHING, "", "open"),
        ({"p_adjusted": 1.0, "detectable": 0.02}, 0.1, NOTHING, "would have noticed a leak of 2 %", "open"),
        ({"p_adjusted": 1.0}, 0.1, NOTHING, "would have missed even a leak of 10 %", "open"),
        ({"low": 0.05}, 0.1, "worse than fresh rows", "", "alarm"),
    ],
)  # fmt: skip
def test_a_corrected_test_decides_where_there_is_one(numbers, planted, words, power, tone) -> None:
    base = {"name": "x", "value": 0.1, "low": 0.0, "high": 0.2, "baseline": 0.0, "better": "lower", "subject": "privacy"}
    finding = Finding.from_json(base | numbers)
    assert (verdict(finding).words, sensitivity(finding, planted), verdict(finding).tone) == (words, power, tone)


def test_the_first_sentence_decides_and_names_the_worst() -> None:
    found = [attack("mild", 0.2, low=0.01), attack("bad", 0.1, low=0.09), attack("none", 0.5, p=0.3)]
    told = inside(page(found), "summary", "p", "explained")[1]
    assert told.startswith("2 of 3 attacks gain more on people in the table than on people outside it; the worst is “bad")
    reasons = [line for line in inside(page(found), "summary", "li") if "An attacker who knows" in line]
    assert reasons[0] == "bad: An attacker who knows x does bad.", "by what is surely gained"
    assert "2 of 3 attacks gain" not in " ".join(inside(page(found), "figures", "p")), "the decision is told once"


def test_without_alarm_the_reasons_say_what_would_have_been_noticed() -> None:
    quiet = [attack("a", p=0.4), attack("b", p=1.0)]
    told = "This is not a proof of safety: "
    assert f"{told}how small a leak this audit would have noticed was not tested (hush audit --power tests it)." in inside(
        page(quiet), "summary", "li"
    )
    least = "the smallest leak that this audit would have noticed is 1 % of the released rows, copied whole."
    assert f"{told}{least}" in inside(page(quiet, power=POWER), "summary", "li")
    blind = POWER | {"audit": None, "noticed": [0, 0]}
    assert "not even the largest leak" in " ".join(inside(page(quiet, power=blind), "summary", "li"))
    assert page(quiet, power=blind).text.count("would have missed even a leak of 10 %") == 1, "in the one box with an attack"
    assert "1 of 4" in inside(page(quiet, power=POWER), "power", "td")


def test_the_three_risks_have_a_box_each_with_the_surest_attack() -> None:
    found = [attack("a", 0.3, low=0.1), attack("b", 0.2, low=0.15), attack("c", 0.9, p=0.5, risk="linkability")]
    boxes = inside(page(found), "figures", "article")[:3]
    assert boxes[0].startswith("Singling out–no attack of this kind was run")
    assert "≤ 100 of 100" in boxes[1]
    assert "no excess found" in boxes[1]
    assert "15 to 60 of 100worst of 2 attacks: b: it succeeds on 20 %" in boxes[2]
    assert "(interval 15 to 40 %)" in boxes[2]
    assert "An attacker who knows x does b." in boxes[2]
    failed = inside(page([attack("a", None, risk="singling out", note="one column")]), "figures", "article")[0]
    assert "could be computed" in failed


def test_the_gate_stands_on_the_first_screen() -> None:
    reader = page([attack("a")], gates=[FAILED, FAILED | {"expression": "alarms<1", "holds": True}])
    told = inside(reader, "summary", "strong", "badge")
    assert told[-2:] == ["■ Condition fails", "□ Condition holds"]
    assert inside(reader, "summary", "code") == ["max_risk<0.05", "alarms<1"]


def test_of_many_attacks_the_worst_are_drawn_and_the_rest_is_folded() -> None:
    found = [attack(f"a{i}", 0.5 - i / 100, low=0.4 - i / 200, p=0.01) for i in range(60)]
    reader = page(found)
    assert inside(reader, "inference", "summary")[1:] == ["48 more, 48 of them beyond chance as well"]
    assert len([e for e in reader.all("circle") if any(p.attributes.get("id") == "inference" for p in e.parents)]) == 12
    folded = [e for e in reader.all("tr") if sum(p.name == "details" for p in e.parents) == 2]
    assert len([e for e in folded if any(p.attributes.get("id") == "inference" for p in e.parents)]) == 49
    assert not inside(page(found[:14]), "inference", "summary")[1:], "two more are not worth folding"


def test_what_could_not_be_computed_has_its_reason() -> None:
    reader = page([attack("a"), attack("b", None, p=None, note="one class only")])
    assert inside(reader, "uncomputed", "td") == ["b", "whole table", "One class only."]
    assert "uncomputed" not in [e.attributes.get("id") for e in page([attack("a")]).elements]


def test_measured_properties_are_not_drawn_on_the_scale_of_risks() -> None:
    reader = page([attack("a"), samples.finding("k", 5.0, subject=Subject.PRIVACY)])
    assert inside(reader, "properties", "td") == ["k", "5", "A note on k."]
    assert not inside(reader, "indicators", "td")


def test_records_are_told_by_number_and_weak_ones_folded() -> None:
    chance = [{"above": 0.5, "people": 118, "chance": 64.5}]
    reader = page([attack("a")], records=[record(), record(9, weak=True)], at_risk=chance)
    rows = inside(reader, "records", "td")
    assert rows[:4] == ["7", "90 %", "1", "copies, released row 12: age, sex"]
    assert rows[4:] == ["9", "0 %", "1", "copies, released row 12: age, sex (perhaps chance)"]
    assert inside(reader, "records", "summary")[1:] == ["1 hit by attacks that chance may explain"]
    assert (
        "Of 1,000 people in the table, 118 have a risk above 50 % (the same attacks would hit 64 of as many people outside)."
        in reader.text
    )
    assert "no record is known to be at risk" in page([attack("a")], records=[]).text
    assert "records" not in [e.attributes.get("id") for e in page([samples.finding("mean TVD", 0.1)]).elements]


def test_a_record_tells_one_hit_of_each_kind_and_counts_the_rest() -> None:
    hits = [record(name=n, scope=s)["attacks"][0] for n, s in (("b", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("d", "5"))]
    reader = page([attack("a")], records=[record() | {"attacks": hits}])
    told = inside(reader, "records", "li")
    assert [t.split(", released")[0] for t in told] == ["b, 1", "a, 2", "c, 4", "and 2 more"]


def test_groups_are_listed_with_both_rates() -> None:
    found = {"worst": [GROUP, GROUP | {"p_adjusted": 0.7}], "tested": 40, "alarms": 1, "left_out": 3}
    reader = page([attack("a")], groups=found)
    cells = inside(reader, "groups", "td")
    assert cells[:4] == ["sex: f■ worse than for people outside", "guess, income", "30 % of 200", "10 % of 90"]
    assert cells[4:9] == ["20", "10.1 to 28.1", "22 %", "5 %", "10⁻⁶"]
    assert cells[9] == "sex: f– no excess found"
    assert "1 of 40 such pairs gains more" in reader.text
    assert not inside(reader, "groups", "summary")[1:]
    assert inside(page([attack("a")], groups=found | {"alarms": 0}), "groups", "summary")[1:] == ["The 2 that come nearest"]
    assert "3 groups with too few people" in reader.text
    assert "groups" not in [e.attributes.get("id") for e in page([attack("a")], groups={}).elements]


def test_membership_curves_are_stairs_in_log_scale() -> None:
    curve = roc.Curve.of(Finding.from_json({"name": "x", "detail": {"roc": ROC}}))
    assert curve is not None
    assert [curve.at(m) for m in (0.0, 0.001, 0.005, 0.01, 1.0)] == [0.02, 0.03, 0.03, 0.05, 1.0]
    drawn = Reader(roc.draw([curve]))
    marks = [number(e, "x1") for e in drawn.all("line", "threshold")]
    low = 10**-3.5
    assert marks == pytest.approx(
        [roc.LEFT + (roc.RIGHT - roc.LEFT) * (1 - math.log10(m) / math.log10(low)) for m in roc.MARKS], abs=0.01
    )
    path = drawn.one("path").attributes["d"] or ""
    start = roc.BOTTOM - (roc.BOTTOM - roc.TOP) * (1 - math.log10(0.02) / math.log10(low))
    assert path.startswith(f"M{roc.LEFT:g} {start:.1f}"), "what is recognized without a false accusation is at the left edge"
    assert path.endswith(f"V{roc.TOP:.1f}H{roc.RIGHT:g}")


def test_the_curves_of_all_findings_share_a_figure_and_a_table() -> None:
    found = [attack(f"a{i}", risk="singling out", detail={"roc": ROC | {"tpr": [i / 100, 0.1, 0.2, 0.5, 1.0]}}) for i in range(9)]
    reader = page([*found, attack("odd", detail={"roc": {"fpr": [0.1], "tpr": []}}), attack("text", detail={"roc": "?"})])
    assert len(reader.all("path", "roc")) == roc.DRAWN
    assert len(inside(reader, "membership", "tr")) == 10
    assert "The 6 worst of 9 are drawn." in reader.text
    assert "membership" not in [e.attributes.get("id") for e in page([attack("a")]).elements]


def test_threshold_curves_and_histograms_of_people() -> None:
    bands = {
        f"{side}_{end}": [x * f for x in CURVE[side]] for side in ("train", "control") for end, f in (("low", 0.9), ("high", 1.1))
    }
    histogram = {"edges": [0.0, 1.0, 2.0], "train": [0.7, 0.3], "control": [0.4, 0.6]}
    reader = page([attack("rec", detail=CURVE | bands), attack("near", detail=histogram)])
    text = " ".join(inside(reader, "distances", "figcaption"))
    assert "Widest gap at 0: 10 % in the table, 0 % outside it." in text
    assert len(reader.all("path", "band")) == 2
    assert "distance 0 to 1: people in the table 70 %, people outside it 40 %" in reader.text
    bare = page([attack("rec", detail=CURVE)])
    assert not bare.all("path", "band")
    for broken in ({"control": [0.0]}, {"thresholds": [0.3, 0.1, 0.2]}, {"thresholds": "x"}, {"train": [[1.0]] * 3}):
        assert "distances" not in [e.attributes.get("id") for e in page([attack("rec", detail=CURVE | broken)]).elements]


def test_a_threshold_curve_rises_with_its_numbers() -> None:
    drawn = Reader(curves([0.0, 1.0, 2.0], [0.0, 0.5, 1.0], [0.0, 0.25, 1.0], [None, None], "two curves of three points"))
    ours, others = ([float(p.split()[1]) for p in (e.attributes["d"] or "")[1:].split("L")] for e in drawn.all("path"))
    assert ours[0] - ours[1] == pytest.approx(2 * (others[0] - others[1]), abs=0.3)
    assert ours[2] == others[2]


def test_seventy_findings_stay_small_and_balanced() -> None:
    found = [attack(f"attack {i}", 0.1, risk=list(RISKS)[i % 3], scope=f"column {i}") for i in range(70)]
    groups = {"worst": [GROUP] * 20, "tested": 900, "alarms": 40, "left_out": 3}
    whole = audit_page(
        samples.report(
            found, None, rows=ROWS, records=[record(i) for i in range(1, 21)], groups=groups, power=POWER, gates=[FAILED]
        )
    )
    assert Reader(whole).all("section")
    assert len(whole.encode()) < 200_000


def gained(value: float, low: float, high: float, outside: float = 0.1) -> dict[str, Any]:
    return {"gain": Gain(value, low, high, outside), "n": 1000}


def test_attacks_with_little_left_to_gain_stand_apart_and_still_raise_alarms() -> None:
    own = attack("own", **gained(0.02, 0.01, 0.03))
    calm, alarm = (attack(f"general {p}", p=p, **gained(0.01, 0.0, 0.02, 0.95)) for p in (0.9, 1e-6))
    reader = page([own, calm])
    # The first one folds the section, and the others what is in it.
    assert inside(reader, "inference", "summary")[1:] == ["Little left to gain: 1 attack"]
    assert len([e for e in reader.all("circle") if any(p.attributes.get("id") == "inference" for p in e.parents)]) == 1
    assert "no excess found (not a proof of safety); little left to gain" in reader.text
    loud = page([own, calm, alarm])
    assert len(inside(loud, "inference", "summary")) == 1
    assert "Little left to gain: 2 attacks" in inside(loud, "inference", "h3")
    assert "2 of 3 attacks gain more" in inside(loud, "summary", "article")[1]


def test_gains_are_drawn_from_0_to_100_on_every_page_and_what_is_below_is_marked() -> None:
    small, large = attack("small", **gained(-0.01, -0.03, 0.01)), attack("large", **gained(0.8, 0.7, 0.9))
    drawings = [Reader(str(intervals.gains([Finding.from_json(one)], "gains"))) for one in (small, large)]
    ticks = [[e.text for e in drawing.all("text") if e.has("small")] for drawing in drawings]
    assert ticks[0] == ticks[1] == ["0", "25", "50", "75", "100"]
    places = [float(drawing.all("circle")[0].attributes["cx"]) for drawing in drawings]
    assert places == [intervals.ARROW, pytest.approx(intervals.ARROW + 0.8 * (intervals.RIGHT - intervals.ARROW))]
    assert [len(drawing.all("path")) for drawing in drawings] == [1, 0]


def test_what_a_proof_allows_stands_beside_what_was_measured() -> None:
    quiet = attack("a", p=0.9, **gained(0.0, -0.01, 0.01))
    proven = samples.report([quiet], samples.card(), rows=ROWS).evidence
    answer = attacked(proven)
    assert answer.figure == "≤ 2 of 100"
    assert re.search(r"The proof allows any attack whatever at most [\d.]+ more of 100 than if they were not in it\.$", answer.text)
    assert "proof" not in attacked(samples.report([quiet], samples.card(samples.VERIFIED), rows=ROWS).evidence).text


def test_attacks_on_too_few_are_named_and_not_in_the_bound() -> None:
    few = attack("few", p=0.9, **(gained(0.2, -0.1, 0.5) | {"n": 12}))
    found = samples.report([attack("many", p=0.9, **gained(0.0, -0.01, 0.01)), few], None, rows=ROWS).evidence
    assert attacked(found).figure == "≤ 2 of 100"
    line = next(line for line in published(found).reasons if line.startswith("Too few to say"))
    assert "1 attack with fewer than 100 attempts: “few” (12 attempts, up to 50 of 100)" in line
