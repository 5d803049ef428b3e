"""What one run of a trial gave: the guarantee of its release, and every finding without its detail. No released row is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hushtable.api.compare.cell import GuaranteeSummary
from hushtable.evidence.confidence import Gain
from hushtable.evidence.finding import Better, Finding, Risk, Subject
from hushtable.evidence.verdict import ATTEMPTS, STRENGTH
from hushtable.privacy.guarantee import Assurance, Statement

SAVED = (
    *("audit", "name", "scope", "value", "low", "high", "gain", "baseline", "better", "subject", "risk"),
    *("n", "note", "p", "p_adjusted", "detail"),
)
"""What is saved of a finding."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One release of one trial, attacked and measured; or why there is none."""

    seconds: float
    failed: str = ""
    """Why there is no release; empty if there is one."""
    again: bool = False
    """Whether it failed in a way that may go well another time: it is not saved."""
    rows: int = 0
    assurance: Assurance = Assurance.NONE
    statements: tuple[Statement, ...] = ()
    guarantee: GuaranteeSummary = field(default_factory=GuaranteeSummary)
    void: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def strictness(self) -> tuple[float, ...]:
        """How strict its guarantee is: larger is stricter. With noisy queries the runs of one trial may differ a little."""
        return STRENGTH[self.assurance], -(self.guarantee.epsilon or 0.0), self.guarantee.k or 0.0

    def to_json(self) -> dict[str, Any]:
        """As the folder of a comparison holds it."""
        if self.failed:
            return {"failed": self.failed, "seconds": self.seconds}
        return {
            "failed": "",
            "seconds": self.seconds,
            "rows": self.rows,
            "assurance": str(self.assurance),
            "promise": "; ".join(map(str, self.statements)) or "nothing",
            "statements": [{"text": one.text, "evidence": str(one.evidence)} for one in self.statements],
            "guarantee": self.guarantee.to_json(),
            "void": list(self.void),
            "notes": list(self.notes),
            "gaps": list(self.gaps),
            "findings": [{key: value for key, value in one.to_json().items() if key in SAVED} for one in self.findings],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Observation:
        """Read it back."""
        if given["failed"]:
            return cls(seconds=given["seconds"], failed=given["failed"])
        return cls(
            seconds=given["seconds"],
            rows=given["rows"],
            assurance=Assurance(given["assurance"]),
            statements=tuple(Statement(one["text"], Assurance(one["evidence"])) for one in given["statements"]),
            guarantee=GuaranteeSummary.from_json(given["guarantee"]),
            void=tuple(given["void"]),
            notes=tuple(given["notes"]),
            gaps=tuple(given["gaps"]),
            findings=tuple(map(_finding, given["findings"])),
        )


def without_detail(finding: Finding) -> Finding:
    """The finding with what is saved of it: neither whom it hit, nor what a plot needs, but on how many attempts it rests."""
    detail = {key: value for key, value in finding.detail.items() if key in ATTEMPTS}
    return Finding(**{key: getattr(finding, key) for key in SAVED if key != "detail"}, detail=detail)


def _finding(given: Mapping[str, Any]) -> Finding:
    typed = {
        "better": Better(given["better"]),
        "subject": Subject(given["subject"]),
        "risk": Risk(given["risk"]) if given["risk"] else None,
        "gain": Gain(**given["gain"]) if given.get("gain") else None,
    }
    return Finding(**{**given, **typed})
