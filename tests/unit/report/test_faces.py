"""Console, page, Markdown, notebook, demonstration and JSON name the same attack as the worst, with the same gain."""

from __future__ import annotations

from typing import Any

import pytest

import hushtable as ht
from hushtable.api import demo
from hushtable.api.audit_report import AuditReport
from hushtable.cli import audit, console
from hushtable.evidence.confidence import Gain
from hushtable.evidence.finding import Risk, Subject
from tests.unit.report import samples
from tests.unit.report.documents import Reader


def attack(name: str, p: float, low: float, value: float) -> dict[str, Any]:
    numbers = {"p": p, "p_adjusted": p, "low": 0.5, "high": 0.95, "baseline": 0.0, "n": 1000}
    gain = Gain(value, low, value + 0.1, 0.2)
    return samples.finding(
        name, 0.7, subject=Subject.PRIVACY, risk=Risk.INFERENCE, note=f"somebody does {name}", gain=gain, **numbers
    )  # fmt: skip


@pytest.fixture
def report() -> AuditReport:
    """Chance explains the unlikely attack least; most is surely gained by the large one."""
    findings = [attack("unlikely", 1e-8, 0.05, 0.123), attack("large", 1e-3, 0.2, 0.321)]
    return samples.report(findings, None, rows={"train": 100, "release": 100, "control": 100})


def test_every_face_names_the_same_worst_attack_and_the_same_gain(report: AuditReport) -> None:
    with console.out.capture() as printed:
        audit.show_audit(report, "folder")
    assert "Attribute inference: 20 to 42.1 of 100; worst of 2: large 32.1 (20 to 42.1)" in printed.get()
    assert "attacks hit 20 to 42.1 more of 100 people in the table than of 100 outside it" in printed.get()
    reader = Reader(report.page())
    answers = [e.text for e in reader.all("article") if any(p.has("answers") for p in e.parents)]
    assert "20 to 42.1 of 100" in answers[1]
    worst = (
        "more on people in the table than on people outside it; the worst is “large”: it hits 32.1 more of 100 (interval 20 to "
        "42.1; residual risk 70 %)"
    )
    assert worst in answers[1]
    boxes = [e.text for e in reader.all("article") if any(p.has("risks") for p in e.parents)]
    assert "20 to 42.1 of 100worst of 2 attacks: large" in " ".join(boxes[2].split())
    text = report.markdown()
    assert worst in text
    assert text.index("| large | 32.1 | 20 to 42.1 | 70 % |") < text.index("| unlikely | 12.3 |")
    shown = ht.show(report).html
    assert "32.1 (20 to 42.1)" in shown
    assert "unlikely" not in shown
    assert "attacks gain 20 to 42.1 of 100 people" in repr(report)
    assert demo._gained(report.attacks[Risk.INFERENCE]) == "20 to 42.1 of 100"
    plain = report.to_json()["headline"]
    assert (plain["alarm"], plain["gain"], plain["low"]) == ("large", 0.321, 0.2)
    assert plain["high"] == pytest.approx(0.421)
    assert report.frame()["gain_low"].tolist() == [0.05, 0.2]
