"""Every rule by which findings are judged: what is an alarm, which attack is the worst."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.evidence.finding import Finding, Risk

LEVEL = 0.05
"""An alarm is a finding whose corrected p-value is at most this: one false alarm in twenty audits that should have none."""


def alarms(findings: Sequence[Finding], level: float = LEVEL) -> list[Finding]:
    """Findings that chance does not explain, corrected for how many were tested."""
    return [f for f in findings if f.p_adjusted is not None and f.p_adjusted <= level]


def worst_of(findings: Sequence[Finding], risk: Risk) -> Finding | None:
    """The attack of this kind that chance explains least; of those the one with the largest sure risk. None if none has a value."""
    known = [f for f in findings if f.risk is risk and f.value is not None]
    return min(known, key=_severity, default=None)


def _severity(finding: Finding) -> tuple[float, float, float]:
    p = 1.0 if finding.p_adjusted is None else finding.p_adjusted
    return p, -(finding.low or 0.0), -(finding.value or 0.0)
