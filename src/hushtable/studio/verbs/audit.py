"""Attack a release, on the rows it was made from and those that were set aside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hushtable as ht
from hushtable.api.audit_report import AuditReport
from hushtable.api.open_sides import Paths, Sides, open_sides
from hushtable.api.read_sides import training_schema
from hushtable.api.records import ExposedRecord, in_group
from hushtable.display import Progress
from hushtable.engine.compute import Compute
from hushtable.evidence.verdict import Publish
from hushtable.evidence.verdict import publish as decide
from hushtable.studio.questions.people import PAIRS, PEOPLE, pair_line
from hushtable.table.disk import whole_file
from hushtable.table.layout import Layout
from hushtable.table.table import Table


def audit(request: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """As ``hush audit`` does it; it appears whole in the folder, and beside it who is at risk."""
    paths = Paths(Path(request["train"]), Path(request["release"]), Path(request["control"]))
    sides = open_sides(paths, training_schema(Path(request["schema"])), Compute(), Layout(), progress)
    assert sides.control is not None
    report = ht.audit(
        sides.train, sides.release, sides.control, card=sides.card, person=request.get("person"), known=request["known"],
        only=request.get("only", ()),
        gates=request.get("gates", ()), power=request.get("power", False), seed=request.get("seed", 0), progress=progress,
    )  # fmt: skip
    out = Path(request["out"])
    with whole_file(out.with_name(out.name + PEOPLE), private=True) as partial:
        partial.write_text(json.dumps(people(report, sides, request.get("person"))), encoding="utf-8")
    report.save(out)
    decision = decide(report.evidence)
    return {
        "answer": str(decision.answer),
        "tone": str(decision.tone),
        "clear": decision.answer is Publish.NO_OBJECTION,
        "alarms": len(report.alarms),
        "knowing": list(report.knowing),
    }


def people(report: AuditReport, sides: Sides, person: str | None = None) -> dict[str, Any]:
    """The records at risk and, where the rows are in memory, what gives each away, values as their form alone."""
    held, found = sides.train, sides.release
    if isinstance(held, Table):
        held = held.held_by(person)
    groups: list[dict[str, Any]] = []
    if isinstance(held, Table) and isinstance(found, Table):
        lines = [_line(one) for one in ht.records(report, held, found, values=True)]
        worst = () if report.groups is None else report.groups.worst
        alarming = {(g.column, g.level): any(o.alarm for o in worst if (o.column, o.level) == (g.column, g.level)) for g in worst}
        for (column, level), alarm in alarming.items():
            inside = in_group(held, column, level)
            rows = [record.row for record in report.records if inside[record.row - 1]]
            groups.append({"column": column, "level": level, "alarm": alarm, "rows": rows})
    else:
        lines = [record.to_json() | {"pairs": None} for record in report.records]
    return {
        "records": lines,
        "groups": groups,
        "at_risk": [tail.to_json() for tail in report.at_risk],
        "people": (report.people or report.rows).get("train"),
    }


def _line(one: ExposedRecord) -> dict[str, Any]:
    return one.record.to_json() | {"pairs": [pair_line(pair) for pair in one.pairs[:PAIRS]], "more": len(one.pairs[PAIRS:])}
