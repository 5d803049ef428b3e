"""The tables at the end of an audit: every finding, the same as a file, and what each metric means."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Sequence

from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.report.reading import CLOSE, OFF, Reading, Tone, Verdict
from hushtable.report.words import number

FIELDS = ("subject", "name", "scope", "value", "low", "high", "baseline", "better", "n", "note")
SHAPES = {Tone.ALARM: "▲", Tone.WATCH: "◆", Tone.CALM: "●", Tone.OPEN: "○"}
RULES = (
    ("Interval", "a range that holds the true number in 95 of 100 repetitions, unless the audit was set otherwise"),
    ("Baseline", "the same number for real rows that the release never saw, or for the real rows: no release needs to beat it"),
    ("worse than fresh rows", "the whole interval lies on the bad side of the baseline"),
    ("no excess found", "the interval reaches the baseline: the audit saw no leak, which does not show that there is none"),
    ("no worse than real rows", "the number, or its interval, reaches the baseline"),
    ("close to real", f"worse than the baseline by at most {number(CLOSE)}"),
    ("noticeably off", f"worse than the baseline by at most {number(OFF)}"),
    ("far from real", f"worse than the baseline by more than {number(OFF)}"),
)
"""The words of this report."""


def every_finding(readings: Sequence[Reading]) -> Html:
    """All findings in the order the audits gave them, also as a file to keep."""
    if not readings:
        return element("p", "There are no findings.")
    encoded = base64.b64encode(as_csv(readings).encode("utf-8-sig", "replace")).decode()
    link = element(
        "a", "Export CSV", class_="button", download="INTERNAL-findings.csv", href=f"data:text/csv;charset=utf-8;base64,{encoded}"
    )
    return join(element("p", f"{number(len(readings))} findings. ", link), findings_table(readings, label="All findings"))


def findings_table(readings: Sequence[Reading], *, label: str) -> Html:
    """One row per finding with everything about it; one without a value shows why in its note."""
    heads = ["Finding", "Scope", "Value", "Interval", "Baseline", "Direction", "n", "Note"]
    rows: list[list[Child]] = [
        [r.name, r.scope or "whole table", _value(r), r.interval(), _baseline(r), r.direction, number(r.n), r.note]
        for r in readings
    ]
    return table(heads, rows, label=label, numbers=[2, 3, 4, 6], class_="findings full")


def judged_table(readings: Sequence[Reading], *, label: str) -> Html:
    """One row per finding with its verdict, without what the full table repeats."""
    between = any(r.interval() for r in readings)
    heads = ["Finding", "Value", *(["Interval"] if between else []), "Baseline", "Verdict", "Note"]
    rows: list[list[Child]] = [
        [r.label, _value(r), *([r.interval()] if between else []), _baseline(r), verdict(r.verdict), r.note] for r in readings
    ]
    return table(heads, rows, label=label, numbers=range(1, 3 + between), class_="findings")


def verdict(found: Verdict) -> Html:
    """A verdict with its shape and its words."""
    return element("p", element("span", SHAPES[found.tone], aria_hidden="true"), f" {found.words}", class_=f"verdict {found.tone}")


def as_csv(readings: Sequence[Reading]) -> str:
    """The findings with all digits. A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(FIELDS)
    for reading in readings:
        writer.writerow([_cell(getattr(reading, name)) for name in FIELDS])
    return out.getvalue()


def meanings(readings: Sequence[Reading]) -> Html:
    """One line for each metric that occurs, and how verdicts come about."""
    found = {r.name: r.metric.meaning if r.metric else "not one of ours: its note says what it means" for r in readings}
    return join(pairs(found.items()) if found else None, element("h3", "How to read them"), pairs(RULES))


def _value(reading: Reading) -> str:
    return "not computed" if reading.value is None else reading.told(reading.value)


def _baseline(reading: Reading) -> str:
    return "" if reading.baseline is None else reading.told(reading.baseline)


def _cell(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value
