"""Cells made by hand: what a choice sees, without a table behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hushtable.api.compare.cell import Cell, GuaranteeSummary, MeasureValue, Score, WorstAttack
from hushtable.evidence.confidence import gain, observed
from hushtable.evidence.finding import Better, Finding, Risk, Subject
from hushtable.privacy.guarantee import Assurance


def cell(
    name: str,
    score: float | None = 0.8,
    risk: float | None = 0.02,
    *,
    width: float = 0.002,
    kind: str = "none",
    epsilon: float | None = None,
    k: float | None = None,
    **more: Any,
) -> Cell:
    """One cell; its score has an interval of this half width, its risk an upper bound of 0.01 more than its value."""
    kind = "proven" if epsilon is not None else "verified" if k is not None else kind
    usual: dict[str, Any] = {
        "id": name, "recipe": name.split()[0], "epsilon": epsilon, "runs": 1, "assurance": Assurance(kind),
        "promise": "nothing" if kind == "none" else "something", "guarantee": GuaranteeSummary(epsilon=epsilon, k=k),
        "risk": None if risk is None else WorstAttack(risk - 0.01, 0.0, risk, "an attack"),
        "tests": 10, "score": None if score is None else Score(score, score - width, score + width),
        "rows": 100, "seconds": 1.0, "fits": True,
    }  # fmt: skip
    return Cell(**(usual | more))


def attack(high: float, *, p: float = 1.0, name: str = "linkability") -> Finding:
    return Finding(
        name=name, value=high - 0.01, low=0.0, high=high, better=Better.LOWER, subject=Subject.PRIVACY, n=10, note="",
        risk=Risk.LINKABILITY, p=p, p_adjusted=p,
    )  # fmt: skip


def gaining(hits: int, rows: int, others: int, control: int, *, p: float = 1.0) -> Finding:
    """An attack that succeeds on so many rows of the table, and on so many control rows."""
    gained = gain(observed(hits, rows), observed(others, control))
    attempts = {"attempts": rows, "control_attempts": control}
    return replace(attack(min(1.0, gained.high), p=p), value=max(0.0, gained.value), gain=gained, detail=attempts)


def measured(association: float, rules: float) -> dict[str, MeasureValue]:
    """The two measures that are weighed beside the score."""
    return {
        "association difference": MeasureValue(association, 0.01, "lower"),
        "rules broken": MeasureValue(rules, 0.001, "lower"),
    }


def measure(name: str, value: float, better: Better = Better.LOWER, **more: Any) -> Finding:
    return Finding(name=name, value=value, better=better, subject=Subject.UTILITY, n=10, note="", **more)
