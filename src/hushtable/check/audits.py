"""What is asked of an audit."""

from __future__ import annotations

import json
import math

import numpy as np

from hushtable.check.tables import awkward, example
from hushtable.check.verdict import Checks
from hushtable.errors import HushError
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Subject


def audit_checks(kind: type[Audit]) -> Checks:
    """The checks for this class."""
    audit = kind()
    train, control = example(120, 0), example(100, 1)
    fresh = Case(train, example(120, 2), control)
    unpleasant = awkward()
    cases = {name: Case(train, unpleasant[name], control) for name in ("everything missing", "every row the same", "one column")}
    other = unpleasant["other column names"]
    cases["other column names"] = Case(other.take(np.arange(40)), other.take(np.arange(40, 80)), other.take(np.arange(80, 120)))
    checks: Checks = [
        ("finds something on an ordinary case", lambda: _findings(audit, fresh)),
        ("gives the same findings for the same seed", lambda: _same_findings(audit, fresh)),
    ]
    return checks + [
        (f"works on, or clearly refuses: {name}", lambda case=case: _copes(audit, case)) for name, case in cases.items()
    ]


def _findings(audit: Audit, case: Case) -> str:
    found = audit.run(case, np.random.default_rng(0))
    if not isinstance(found, list) or not found or not all(isinstance(f, Finding) for f in found):
        return "run must return a list of at least one Finding; where there is nothing to say, one with value None and a note"
    told = [why for finding in found if (why := _wrong(finding))]
    names = [(f.name, f.scope) for f in found]
    twice = {name for name in names if names.count(name) > 1}
    told += [f"{name} {scope}".strip() + " stands twice" for name, scope in sorted(twice)]
    return "; ".join(told[:3])


def _wrong(finding: Finding) -> str:
    numbers = {key: getattr(finding, key) for key in ("value", "low", "high", "baseline")}
    odd = [f"{k} = {v!r}" for k, v in numbers.items() if v is not None and not (isinstance(v, (int, float)) and math.isfinite(v))]
    if odd:
        return f"{finding.name}: {', '.join(odd)} is no finite number; where there is none, use None and say why in the note"
    if not isinstance(finding.name, str) or not finding.name or not isinstance(finding.note, str) or not finding.note:
        return f"{finding.name!r}: a finding needs a name and a note"
    if not isinstance(finding.n, int) or not isinstance(finding.better, Better) or not isinstance(finding.subject, Subject):
        return f"{finding.name}: n must be an int, better a Better and subject a Subject"
    value, low, high = finding.value, finding.low, finding.high
    if value is not None and not (value if low is None else low) <= value <= (value if high is None else high):
        return f"{finding.name}: the value {value:g} lies outside its own interval [{low}, {high}]"
    json.dumps(finding.to_json())
    return ""


def _same_findings(audit: Audit, case: Case) -> str:
    one, two = (json.dumps([f.to_json() for f in audit.run(case, np.random.default_rng(0))]) for _ in range(2))
    return "" if one == two else "two runs with one seed differ"


def _copes(audit: Audit, case: Case) -> str:
    try:
        return _findings(audit, case)
    except HushError:
        return ""
