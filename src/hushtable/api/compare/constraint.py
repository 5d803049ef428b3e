"""Constraints: what a release must keep to be chosen. Not knowing is not keeping."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.evidence.condition import Gate
from hushtable.evidence.finding import Better, Finding, Risk, Subject
from hushtable.evidence.metrics import FAMILIES, METRICS
from hushtable.evidence.verdict import STRENGTH
from hushtable.measures.catalogue import MEASURES

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}
DEFAULT = ("alarms<1",)
"""What is asked for unless alarms are constrained by name: none. That the audit is valid is always asked for."""
_FORM = re.compile(r"\s*([\w ./:+-]+?)\s*(<=|>=|<|>|=)\s*([\w.+-]+)\s*")
_OWN = {"epsilon": ("<", "<="), "k": (">", ">="), "score": (">", ">=")}
_NO_K = "no k over all quasi-identifiers is verified on the release"


@dataclass(frozen=True)
class Constraint:
    """A condition such as ``max_risk<0.05``, ``epsilon<=2``, ``k>=10``, ``score>=0.8`` or ``promise=proven``.

    Risks are judged by the upper bounds of every run and attack (see ``Gate``), the score and other measures of which more is
    better by their lower bounds. ``epsilon`` is the proven one, infinite where nothing is proven; ``k`` is the one verified
    on the release itself over all its quasi-identifiers. ``promise=verified`` is kept by a proof too.
    """

    expression: str
    name: str
    sign: str
    limit: str

    @classmethod
    def parse(cls, text: str) -> Constraint:
        """Read ``name sign number``; a name that no measure, attack or promise has is refused before anything is run."""
        match = _FORM.fullmatch(text)
        if not match:
            raise InputError(f"expected something like max_risk<0.05, k>=10 or promise=proven, got {text!r}", where="--constraint")
        name, sign, limit = _joined(match.group(1)), match.group(2), match.group(3)
        one = cls(f"{name}{sign}{limit}", name, sign, limit)
        if reason := one._wrong():
            raise InputError(f"{text.strip()}: {reason}", where="--constraint")
        return one

    def _wrong(self) -> str:
        if self.name == "promise":
            fine = self.sign == "=" and self.limit in ("proven", "verified")
            return "" if fine else "expected promise=proven or promise=verified"
        try:
            number = float(self.limit)
        except ValueError:
            return f"{self.limit!r} is not a number"
        if not abs(number) < float("inf") or self.sign == "=":
            return "expected <, <=, > or >= and a finite number"
        if self.sign not in _OWN.get(self.name, SIGNS):
            return f"{self.name} is bounded by {' or '.join(_OWN[self.name])}"
        if not _known(self.name):
            known = ", ".join(["max_risk", "alarms", *map(_joined, Risk), *_OWN, "promise", *map(_joined, MEASURES)])
            return f"there is no {self.name!r}; there are {known}"
        better = _better(self.name)
        if better is not None and (better is Better.LOWER) is not (self.sign in ("<", "<=")):
            return f"of {self.name} {better} is better: bound it from {'above' if better is Better.LOWER else 'below'}"
        return ""

    @property
    def told(self) -> str:
        """In words."""
        orders = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least", "=": ""}
        bound = f"{orders[self.sign]} {self.limit}".strip()
        words = {
            "promise": f"what it promises must be {self.limit}" + (", or proven" if self.limit == "verified" else ""),
            "epsilon": f"differential privacy must be proven with an epsilon of {bound}",
            "k": f"k-anonymity over all quasi-identifiers must be verified on the release with a k of {bound}",
            "score": f"the score must be {bound} (lower bound)",
            "alarms": f"{'no attack' if self.name == 'alarms' and not self._keeps(1) else f'{bound} attacks'} may raise an alarm",
            "max_risk": f"every attack must gain {bound} (upper bound)",
        }
        if self.name in map(_joined, Risk):
            return f"every attack by {self.name.replace('_', ' ')} must gain {bound} (upper bound)"
        end = "upper" if self.sign in ("<", "<=") else "lower"
        return words.get(self.name, f"{self.name.replace('_', ' ')} must be {bound} ({end} bound)")

    def miss(self, cell: Mapping[str, Any], runs: Sequence[Sequence[Finding]]) -> str:
        """Why a cell does not keep it; empty if it does."""
        why = self._own(cell) if self.name in (*_OWN, "promise") else self._found(runs)
        return f"{self.name}: {why}" if why else ""

    def _own(self, cell: Mapping[str, Any]) -> str:
        if self.name == "promise":
            kind = cell["assurance"]
            return "" if STRENGTH[kind] >= STRENGTH[self.limit] else f"what it promises is not {self.limit} (evidence: {kind})"
        if self.name == "score":
            score = cell["score"]
            if score is None:
                return "it has no score"
            return "" if self._keeps(score["low"]) else f"lower bound {score['low']:.3g}"
        held = cell["guarantee"][self.name]
        if held is None:
            return "nothing is proven, so it is infinite" if self.name == "epsilon" else _NO_K
        return "" if self._keeps(held) else f"it is {held:.4g}"

    def _found(self, runs: Sequence[Sequence[Finding]]) -> str:
        """Of all runs, so that one lucky run does not pass."""
        for run in runs or [()]:
            why = self._above(run) if self.sign in ("<", "<=") else self._below(run)
            if why:
                return why
        return ""

    def _above(self, run: Sequence[Finding]) -> str:
        try:
            gate = Gate(self.expression, self.name, self.sign, float(self.limit))
            outcome = gate.judge([_bounded(finding) for finding in run])
        except InputError:
            return "it was not measured"
        return "" if outcome.holds else outcome.reason

    def _below(self, run: Sequence[Finding]) -> str:
        found = [f for f in run if _joined(f.name) == self.name]
        ends = [(end, f) for f in found if (end := f.value if f.low is None else f.low) is not None]
        if not ends:
            return "it was not measured"
        least, where = min(ends, key=lambda pair: pair[0])
        return "" if self._keeps(least) else f"lower bound {least:.3g} ({where.label})"

    def _keeps(self, value: float) -> bool:
        return bool(SIGNS[self.sign](value, float(self.limit)))


def parsed(texts: Sequence[str]) -> list[Constraint]:
    """All constraints, or all faults at once. No alarm is asked for too, unless alarms are constrained by name."""
    found, faults = [], list[Fault]()
    for text in texts:
        try:
            found.append(Constraint.parse(text))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    if not any(one.name == "alarms" for one in found):
        found += map(Constraint.parse, DEFAULT)
    return list({one.expression: one for one in found}.values())


def _known(name: str) -> bool:
    """Whether something that a comparison measures may have this name."""
    names = {"max_risk", "alarms", *_OWN, *map(_joined, Risk), *map(_joined, METRICS), *map(_joined, MEASURES)}
    return name in names or any(name.startswith(_joined(start)) for start in FAMILIES)


def _better(name: str) -> Better | None:
    """Which way is good for what has this name; None where that depends."""
    if name in ("max_risk", "alarms", *map(_joined, Risk)):
        return Better.LOWER
    return next((measure.better for measure in MEASURES.values() if _joined(measure.name) == name), None)


def _bounded(finding: Finding) -> Finding:
    """A measure without an interval is a plain fact about this release, and bounds itself."""
    return finding if finding.high is not None or finding.subject is Subject.PRIVACY else replace(finding, high=finding.value)


def _joined(name: str) -> str:
    """A name as one word."""
    return str(name).replace("-", "_").replace(" ", "_").lower()
