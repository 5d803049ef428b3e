"""What an audit says: its verdict with what would remove each alarm, its attacks, and what the release is good for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hushtable.api.audit_report import AuditReport
from hushtable.api.report import read_audit
from hushtable.evidence.finding import Finding
from hushtable.evidence.measure import Page
from hushtable.evidence.verdict import LITTLE, by_distance, furthest, is_alarm, little_left, of_risk, surely_worse, verdict
from hushtable.report import attacks as of_attacks
from hushtable.report import findings as show
from hushtable.report import promise, utility
from hushtable.report.audit import counted
from hushtable.report.charts import associations, intervals
from hushtable.report.decision import Answer, answers
from hushtable.report.words import p_value, sentence, share
from hushtable.studio.questions.room import Opened, Watcher

DRAWN = 8
"""So many attacks of a kind are drawn."""
MOST = 200
"""So many lines of a measure are shown; the whole report has all."""
TABS = (Page.MARGINS, Page.ASSOCIATIONS, Page.DOWNSTREAM, Page.QUERIES)
"""Columns, pairs, models, queries."""


def report_of(opened: Opened, audit: str) -> AuditReport:
    """A saved audit; the one that was read last is kept, until its file changes."""
    file = Path(audit) / "audit.json"
    key = (audit, file.stat().st_mtime_ns) if file.is_file() else (audit, 0)
    cache = opened.cache.get("audit")
    if cache is None or cache[0] != key:
        cache = opened.cache["audit"] = key, read_audit(audit)
    report: AuditReport = cache[1]
    return report


def judgement(opened: Opened, *, watch: Watcher, audit: str) -> dict[str, Any]:
    """The answer to "should it be published?", its reasons, what would remove each alarm, and the other three answers."""
    report = report_of(opened, audit)
    evidence = report.evidence
    *others, last = answers(evidence)
    return {
        "answer": _answer(last) | {"reasons": list(last.reasons)},
        "others": [_answer(one) for one in others],
        "causes": [
            {
                "why": sentence(cause.why), "remedy": sentence(cause.remedy), "columns": list(cause.columns),
                "alarms": list(cause.alarms),
            }
            for cause in evidence.advised
        ],
        "gates": [
            {"expression": gate.expression, "holds": gate.holds, "reason": sentence(gate.reason)} for gate in evidence.outcomes
        ],
        "counted": [f"{count} {what}" for count, what in counted(report)],
        "cautions": [sentence(text) for text in (report.sampled, *report.assumed, report.run.untried) if text],
    }  # fmt: skip


def attacks(opened: Opened, *, watch: Watcher, audit: str, known: str) -> dict[str, Any]:
    """The attacks of each kind that such an attacker can run, the worst first; those that succeed on nearly everybody apart.

    ``known`` is what the attacker holds, as ``Finding.known`` has it; empty for whatever the only attacker of this audit held.
    """
    report = report_of(opened, audit)
    ours = [f for f in report.findings if not known or f.known in ("", known)]
    kinds = []
    for risk, (title, law) in of_attacks.RISKS.items():
        found = of_risk(ours, risk)
        own, general = ([f for f in found if little_left(f) is apart] for apart in (False, True))
        kinds.append(
            {
                "title": title, "law": law, "worse": sum(map(surely_worse, found)), "tried": len(found),
                "chart": str(intervals.gains(own[:DRAWN], "; ".join(map(intervals.gain_in_words, own[:DRAWN])))) if own else "",
                "own": list(map(_attack, own)), "general": list(map(_attack, general)),
                "alarming": any(is_alarm(f.p_adjusted) for f in general),
                "uncomputed": sum(f.risk is risk and f.value is None for f in ours),
            }
        )  # fmt: skip
    return {"kinds": kinds, "known": list(report.run.known), "untried": report.run.untried, "nearly": LITTLE}


def use(opened: Opened, *, watch: Watcher, audit: str) -> list[dict[str, Any]]:
    """What the release is good for: columns, pairs, models and queries, each number beside that of fresh rows, the worst first."""
    report = report_of(opened, audit)
    pages = []
    for page in TABS:
        known = utility.of_page(report.findings, page)
        whole = sorted((f for f in known if not f.scope), key=by_distance)
        by_scope: dict[str, list[Finding]] = {}
        for finding in known:
            if finding.scope:
                by_scope.setdefault(finding.scope, []).append(finding)
        parts = sorted((furthest(some) for some in by_scope.values()), key=by_distance)
        kind = utility.PAGES[page]
        drawn = [str(drawing) for f in whole if page is Page.ASSOCIATIONS and (drawing := associations.maps(f))]
        pages.append(
            {
                "anchor": kind.anchor, "lead": kind.lead, "scope": kind.scope, "whole": _measures(whole), "parts": _measures(parts),
                "more": max(0, len(parts) - MOST), "drawn": drawn,
            }
        )  # fmt: skip
    return pages


def _answer(answer: Answer) -> dict[str, Any]:
    shapes = {str(tone): shape for tone, shape in (*show.SHAPES.items(), *promise.SHAPES.items())}
    own = {name: str(getattr(answer, name)) for name in ("question", "figure", "text", "tone", "mark")}
    return own | {"shape": shapes.get(str(answer.tone), "")}


def _judged(finding: Finding) -> dict[str, Any]:
    judged = verdict(finding)
    return {
        "label": finding.label,
        "verdict": show.verdict_words(finding),
        "tone": str(judged.tone),
        "shape": show.SHAPES[judged.tone],
    }


def _attack(finding: Finding) -> dict[str, Any]:
    gain = finding.gain
    return _judged(finding) | {
        "inside": "" if gain is None else share(gain.value + gain.outside),
        "outside": "" if gain is None else share(gain.outside),
        "gain": show.gained(finding),
        "between": show.gained_between(finding),
        "p": p_value(finding.p_adjusted),
        "note": sentence(finding.note),
    }


def _measures(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [
        _judged(finding)
        | {
            "name": finding.name, "of": finding.scope, "value": show.value(finding), "between": show.interval(finding),
            "fresh": show.baseline(finding), "direction": show.direction_and_reach(finding),
            "meaning": sentence(show.meaning_of(finding) or finding.note),
        }
        for finding in findings[:MOST]
    ]  # fmt: skip
