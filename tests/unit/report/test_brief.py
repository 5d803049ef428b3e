"""The console: at most 25 lines of 80 letters, the verdict first and whole, at most three digits, and where the rest is."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from hushtable.api.audit_report import AuditReport
from hushtable.cli import audit, console
from hushtable.evidence.confidence import Gain
from hushtable.evidence.finding import Better, Risk, Subject
from hushtable.report.brief import MOST, WIDTH
from tests.unit.report import samples

LONG = "an attacker who holds " + ", ".join(f"column_{i}" for i in range(30)) + " guesses it"


def attack(at: int, p: float, **more: Any) -> dict[str, Any]:
    gain = Gain(0.123456, 0.1 - at / 1000, 0.2123456, 0.95 if at % 3 else 0.1)
    numbers = {"low": 0.123456, "high": 0.98765, "p": p, "p_adjusted": p, "baseline": 0.0, "n": 1000, "gain": gain} | more
    return samples.finding(
        f"attack {at}", 0.123456, subject=Subject.PRIVACY, risk=list(Risk)[at % 3], note=LONG, scope="income", **numbers
    )  # fmt: skip


def crowded(p: float = 1e-9, **more: Any) -> AuditReport:
    findings = [
        *(attack(at, p) for at in range(90)),
        *(attack(at, 0.9, n=12) for at in range(90, 100)),
        *(samples.finding(f"unknown {at}", None, subject=Subject.PRIVACY, risk=Risk.INFERENCE, note=LONG) for at in range(9)),
        *(
            samples.finding("identifier columns", 1.0, subject=Subject.PRIVACY, note=f"column {at} identifies people")
            for at in range(5)
        ),
        samples.finding("coverage", 0.5, subject=Subject.PRIVACY, better=Better.HIGHER, note=LONG),
        *samples.audit(),
    ]
    gates = [{"expression": f"gate_{at}<0.05", "holds": at % 2 == 0, "told": LONG} for at in range(12)]
    power = {"shares": [0.01, 0.1], "audit": 0.0123456, "tests": 4, "noticed": [1, 3], "parts": {"half a row": 0.1, "a cell": None}}
    rest = {"gates": gates, "assumed": [LONG] * 6, "power": power} | more
    return samples.report(findings, samples.card(), rows={"train": 1000, "release": 1000, "control": 500}, **rest)


def printed(report: AuditReport, folder: str = "folder") -> list[str]:
    with console.out.capture() as captured:
        audit.show_audit(report, folder)
    return captured.get().splitlines()


def height(lines: list[str]) -> int:
    return sum(max(1, math.ceil(len(line) / WIDTH)) for line in lines)


@pytest.mark.parametrize("folder", ["audit", "/".join(["a folder with a long name"] * 8)])
@pytest.mark.parametrize("report", [crowded(), crowded(0.9), crowded(void=[LONG]), samples.report([], None, rows={})])
def test_at_most_25_lines_the_verdict_first_and_where_the_rest_is(report: AuditReport, folder: str) -> None:
    lines = printed(report, folder)
    assert height(lines) <= MOST == 25
    assert lines[0].startswith(("Do not publish", "This audit is void", "Not decided"))
    assert f"{folder}/audit.html" in lines[-1]
    assert "do not publish it" in lines[-1]


def test_a_crowd_still_says_what_counts() -> None:
    lines = printed(crowded())
    assert lines[0].startswith(
        "Do not publish it as it is: 90 of 100 tests raise an alarm; attacks hit 10 to 25 more of 100 people"
    )
    assert lines[0].endswith("outside it.")
    text = "\n".join(lines)
    for start in (
        "Promised, proven: ",
        "To do: ",
        "Caution: ",
        "And 9 more: cautions",
        "Condition fails: gate_1<0.05",
        "And 9 more: conditions",
    ):
        assert f"\n{start}" in text
    for start in ("Singling out", "Linkability", "Attribute inference"):
        assert re.search(rf"^{start}: [\d.]+ to 2[\d.]+ of 100; worst of \d+: attack \d+", text, re.MULTILINE)
    for start in (
        "mean TVD: 0.05",
        "association difference: 0.3",
        "train on release, test on real: AUC, income: 0.7",
        "Too few attempts to say: ",
    ):
        assert f"\n{start}" in text


def test_no_number_has_more_than_three_digits() -> None:
    numbers = re.findall(r"\d+\.\d+", "\n".join(printed(crowded())))
    assert numbers
    assert all(len(one.replace(".", "").lstrip("0")) <= 3 for one in numbers), numbers


def test_without_an_attack_other_numbers_about_privacy_are_told() -> None:
    alone = samples.finding("alone", 0.25, subject=Subject.PRIVACY, baseline=0.5, note="a quarter of the rows are alone")
    rows = {"train": 1000, "release": 1000, "control": 500}
    assert "A quarter of the rows are alone." in " ".join(printed(samples.report([alone], None, rows=rows)))
    assert "are alone" not in " ".join(printed(samples.report([alone, attack(0, 0.9)], None, rows=rows)))
    many = printed(samples.report([alone] * 40, None, rows=rows))
    assert height(many) <= MOST
    assert any(line.startswith("And 37 more") for line in many)
