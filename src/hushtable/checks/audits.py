"""What is asked of an audit."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np

from hushtable.checks.tables import awkward, example
from hushtable.checks.verdict import Checks
from hushtable.errors import HushError
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Subject, Trace
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.table import Table


def audit_checks(kind: type[Audit]) -> Checks:
    """The checks for this class."""
    audit = kind()
    train, control = example(120, 0), example(100, 1)
    fresh = Case(train, example(120, 2), control)
    checks: Checks = [
        ("finds something on an ordinary case", lambda: _findings(audit, fresh)),
        ("gives the same findings for the same seed", lambda: _same_findings(audit, fresh)),
        ("leaves no trace of whom it hit in what is saved", lambda: _unsaved(audit, fresh)),
        ("attacks a person once, however many rows they hold", lambda: _findings(audit, _several(train, control))),
    ]
    cases = _unpleasant(train, control)
    return checks + [
        (f"works on, or clearly refuses: {name}", lambda case=case: _copes(audit, case)) for name, case in cases.items()
    ]


def _unpleasant(train: Table, control: Table) -> dict[str, Case]:
    tables = awkward()
    cases = {name: Case(train, tables[name], control) for name in ("everything missing", "every row the same", "one column")}
    other = tables["other column names"]
    cases["other column names"] = Case(other.take(np.arange(40)), other.take(np.arange(40, 80)), other.take(np.arange(80, 120)))
    cases["a release that is the training table"] = Case(train, train, control)
    cases["a control of two rows"] = Case(train, example(120, 2), control.take(np.arange(2)))
    cases["a release of two rows"] = Case(train, tables["two rows"], control)
    cases["training rows that are all the same"] = Case(tables["every row the same"], example(120, 2), control)
    cases["a generalized release"] = Case(train, _generalized(example(120, 2)), control)
    return cases


def _several(train: Table, control: Table) -> Case:
    """Fifty people on either side, of whom each holds one row, or two."""
    ours, others = (table.take(np.arange(75)) for table in (train, control))
    persons = np.arange(75) % 50
    return Case(replace(ours, persons=persons), example(120, 2), replace(others, persons=persons))


def _generalized(table: Table) -> Table:
    """Ages in ranges, towns hidden."""
    age, town = table.schema["age"], table.schema["town"]
    spans = tuple(age.interval_cell(Interval(low, low + 19)) for low in range(0, 100, 20))
    return table.with_columns(
        (age.generalize(spans), (table["age"] // 20).astype(np.int32)),
        (town.generalize((ANYTHING,)), np.zeros(table.rows, np.int32)),
    )


def _findings(audit: Audit, case: Case) -> str:
    findings = audit.run(case, np.random.default_rng(0))
    if not isinstance(findings, list) or not findings or not all(isinstance(f, Finding) for f in findings):
        return "run must return a list of at least one Finding; where there is nothing to say, one with value None and a note"
    faults = [why for finding in findings if (why := _wrong(finding, case))]
    if any(f.subject is not audit.subject for f in findings):
        faults.append(
            f"a finding is not about {audit.subject}: a measure of utility is a Utility, and what attacks is another audit"
        )
    names = [(f.name, f.scope) for f in findings]
    twice = {name for name in names if names.count(name) > 1}
    faults += [f"{name} {scope}".strip() + " stands twice" for name, scope in sorted(twice)]
    return "; ".join(faults[:3])


def _wrong(finding: Finding, case: Case) -> str:
    numbers = {key: getattr(finding, key) for key in ("value", "low", "high", "baseline", "p")}
    odd = [f"{k} = {v!r}" for k, v in numbers.items() if v is not None and not (isinstance(v, (int, float)) and math.isfinite(v))]
    if odd:
        return f"{finding.name}: {', '.join(odd)} is no finite number; where there is none, use None and say why in the note"
    if not isinstance(finding.name, str) or not finding.name or not isinstance(finding.note, str) or not finding.note:
        return f"{finding.name!r}: a finding needs a name and a note"
    if not isinstance(finding.n, int) or not isinstance(finding.better, Better) or not isinstance(finding.subject, Subject):
        return f"{finding.name}: n must be an int, better a Better and subject a Subject"
    value, low, high = finding.value, finding.low, finding.high
    if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
        return f"{finding.name}: the value {value:g} lies outside its own interval [{low}, {high}]"
    if (
        finding.risk is not None
        and value is not None
        and not (0 <= value <= 1 and low is not None and high is not None and low < high)
    ):
        return f"{finding.name}: a risk lies between 0 and 1, in an interval that is no point, got {value} [{low}, {high}]"
    if finding.p is not None and not 0 <= finding.p <= 1:
        return f"{finding.name}: p = {finding.p!r} is no probability"
    if not 0 <= finding.reserved < 1:
        return f"{finding.name}: reserved = {finding.reserved!r} is no part of the error; most of it belongs to all tests"
    json.dumps(finding.to_json())
    return "" if finding.trace is None else _wrong_trace(finding, finding.trace, case)


def _wrong_trace(finding: Finding, trace: Trace, case: Case) -> str:
    for hits, persons, rows in (
        (trace.train, trace.persons, case.train.rows),
        (trace.control, trace.control_persons, case.control.rows),
    ):
        if (
            hits.dtype != np.bool_
            or len(hits) != len(persons)
            or (len(persons) and not -1 <= persons.min() <= persons.max() < rows)
        ):
            return f"{finding.name}: its trace names rows that are not there"
    people = case.people("train")
    if trace.one_by_one and len(np.unique(people.who[trace.persons])) < len(trace.persons):
        return f"{finding.name}: it attacks a person once for each row they hold, and its test takes that for independent"
    released = trace.released
    if released is not None and len(released) and not (len(released) == len(trace.train) and released.max() < case.release.rows):
        return f"{finding.name}: its trace names released rows that are not there"
    return ""


def _same_findings(audit: Audit, case: Case) -> str:
    """In a case of its own each time: what one run computed must not change the next."""
    cases = [Case(case.train, case.release, case.control) for _ in range(2)]
    one, two = (json.dumps([f.to_json() for f in audit.run(own, np.random.default_rng(0))]) for own in cases)
    return "" if one == two else "two runs with one seed differ"


def _unsaved(audit: Audit, case: Case) -> str:
    """No list in a saved finding has an entry for each row."""
    sizes = {table.rows for table in case.tables.values()}
    for finding in audit.run(case, np.random.default_rng(0)):
        lists = [key for key, value in finding.to_json()["detail"].items() if isinstance(value, list) and len(value) in sizes]
        if lists:
            return f"{finding.name}: detail {', '.join(lists)} has an entry for each row; a saved finding describes nobody"
    return ""


def _copes(audit: Audit, case: Case) -> str:
    try:
        return _findings(audit, case)
    except HushError:
        return ""
