"""The gate: what must hold for a release to pass, judged by upper bounds, so that not knowing is not passing."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hushtable.errors import InputError
from hushtable.evidence.finding import Finding, Risk
from hushtable.evidence.verdict import alarms
from hushtable.table import lenient

OPERATORS = {"<": operator.lt, "<=": operator.le}
_FORM = re.compile(r"\s*([\w ./:-]+?)\s*(<=|<)\s*([0-9.eE+-]+)\s*")


@dataclass(frozen=True)
class Gate:
    """A condition such as ``max_risk<0.05``: the upper bound of every risk must lie below.

    The left side is ``max_risk`` (all attacks), one of the Article 29 risks (``singling_out``, ``linkability``,
    ``inference``), the name of a finding with underscores for spaces, or ``alarms`` (their number). Each bound lies above the
    truth in about 97.5 of 100 audits (fewer where there are only some dozen control rows), and the gate opens only if all
    lie below: how many attacks there are does not help a risk beyond the limit to pass.
    """

    expression: str
    name: str
    sign: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> Gate:
        """Read ``name<number``."""
        match = _FORM.fullmatch(text)
        try:
            limit = float(match.group(3)) if match else float("nan")
        except ValueError:
            match = None
        if not match or not limit >= 0:
            raise InputError(f"expected something like max_risk<0.05, got {text!r}", where="--gate")
        return cls(text.strip(), _joined(match.group(1)), match.group(2), limit)

    def judge(self, findings: Sequence[Finding]) -> Outcome:
        """Whether it holds for these findings."""
        if self.name == "alarms":
            if not any(f.p is not None for f in findings):
                return Outcome(self.expression, False, "nothing was tested, so it is not known to hold")
            count = len(alarms(findings))
            return self._outcome(count, f"{count} findings raise an alarm")
        chosen = self._chosen(findings)
        known = [f for f in chosen if f.high is not None]
        if not known:
            return Outcome(self.expression, False, "no finding with an upper bound answers to it, so it is not known to hold")
        worst = max(known, key=lambda f: f.high or 0.0)
        blind = sum(f.value is None for f in chosen)
        rest = f"; {blind} could not be computed" if blind else ""
        high = worst.high or 0.0
        if not self._keeps(high) and all(f.value is not None and self._keeps(f.value) for f in known):
            rest += (
                f"; what was measured is {worst.value:.2f}, but with so few people up to {high:.2f} cannot be excluded, and more "
                "control rows would narrow it"
            )
        return self._outcome(high, f"the largest upper bound of {len(known)} is {high:.3g} ({worst.label}){rest}")

    def _chosen(self, findings: Sequence[Finding]) -> list[Finding]:
        if self.name == "max_risk":
            return [f for f in findings if f.risk is not None]
        risks = {_joined(risk): risk for risk in Risk}
        if self.name in risks:
            return [f for f in findings if f.risk is risks[self.name]]
        found = [f for f in findings if _joined(f.name) == self.name]
        if not found:
            names = sorted({_joined(f.name) for f in findings if f.high is not None})
            known = ", ".join(["max_risk", "alarms", *risks, *names])
            raise InputError(f"there is no {self.name!r} in this audit; there are {known}", where="--gate")
        return found

    def _keeps(self, value: float) -> bool:
        return bool(OPERATORS[self.sign](value, self.limit))

    def _outcome(self, worst: float, reason: str) -> Outcome:
        return Outcome(self.expression, self._keeps(worst), reason)


@dataclass(frozen=True)
class Outcome:
    """What a gate decided, and by which number."""

    expression: str
    holds: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        return {"expression": self.expression, "holds": self.holds, "told": self.reason}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Outcome:
        """Read it back; what is missing is empty, and does not hold."""
        return cls(lenient.text(plain.get("expression")), bool(plain.get("holds")), lenient.text(plain.get("told")))


def _joined(name: str) -> str:
    """A name as one word."""
    return name.replace("-", "_").replace(" ", "_").lower()


def refused(gate: Gate, reasons: Sequence[str]) -> Outcome:
    """What a gate decides where the audit itself does not count."""
    return Outcome(gate.expression, False, f"the audit is void: {reasons[0]}")
