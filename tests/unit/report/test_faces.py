"""Console, page, Markdown and notebook name the same attack as the worst, and the demonstration shows its number."""

from __future__ import annotations

from typing import Any

import pytest

import hushtable as ht
from hushtable.api import demo
from hushtable.api.audit_report import AuditReport
from hushtable.cli import audit, console
from hushtable.evidence.finding import Risk, Subject
from tests.unit.report import samples
from tests.unit.report.documents import Reader


def attack(name: str, p: float, low: float, value: float) -> dict[str, Any]:
    numbers = {"p": p, "p_adjusted": p, "low": low, "high": 0.6, "baseline": 0.0}
    return samples.finding(name, value, subject=Subject.PRIVACY, risk=Risk.INFERENCE, note=f"somebody does {name}", **numbers)


@pytest.fixture
def report() -> AuditReport:
    """Chance explains the unlikely attack least; more is surely gained by the large one."""
    findings = [attack("large", 1e-3, 0.2, 0.321), attack("unlikely", 1e-8, 0.05, 0.123)]
    return samples.report(findings, None, rows={"train": 100, "release": 100, "control": 100})


def test_every_face_names_the_same_worst_attack(report: AuditReport) -> None:
    with console.out.capture() as printed:
        audit.show_audit(report, "folder")
    assert "Attribute inference, the worst of 2: unlikely" in printed.get()
    reader = Reader(report.page())
    answers = [e.text for e in reader.all("article") if any(p.has("answers") for p in e.parents)]
    assert "the worst is “unlikely”" in answers[1]
    boxes = [e.text for e in reader.all("article") if any(p.has("risks") for p in e.parents)]
    assert "worst of 2 attacks: unlikely" in boxes[2]
    text = report.markdown()
    assert "the worst is “unlikely”" in text
    assert text.index("| unlikely |") < text.index("| large |")
    shown = ht.show(report).html
    assert "unlikely" in shown
    assert "large" not in shown
    assert demo._risk(demo.worst_of(report.findings, Risk.INFERENCE)) == "0.123"
