"""The tables at the end of an audit: every finding, the same as a file, and what each metric means."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Sequence

from hushtable.evidence.verdict import LEVEL
from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.report.meanings import family
from hushtable.report.reading import CLOSE, OFF, Reading, Tone
from hushtable.report.words import number, p_value, sentence

FIELDS = (
    "subject", "risk", "name", "scope", "value", "low", "high", "baseline", "better", "n", "p", "p_adjusted", "detectable", "note"
)  # fmt: skip
LONG = 30
"""Beyond so many findings the full table opens on demand."""
FEW = 2
"""So few more are not worth folding away."""
SHAPES = {Tone.ALARM: "■", Tone.WATCH: "◧", Tone.CALM: "□", Tone.OPEN: "–"}
"""Squares: circles, diamonds and triangles tell kinds of evidence."""
RULES = (
    ("Interval", "a range that holds the true number in 95 of 100 repetitions, unless the audit was set otherwise"),
    ("Baseline", "the same number for real rows that the release never saw, or for the real rows: no release needs to beat it"),
    (
        "p (corrected)",
        "how often chance alone would do at least as much if people in the table and outside it were alike to the release, "
        "multiplied up for the number of attacks tried (Holm), so that trying many does not make a false alarm likelier",
    ),
    ("worse than for people outside", f"the corrected p is at most {number(LEVEL)}"),
    ("worse than fresh rows", "for a number without such a test: the whole interval lies on the bad side of the baseline"),
    ("no excess found", "neither of the two: the audit saw no leak, which does not show that there is none"),
    (
        "would have noticed a leak",
        "records of people were planted in the release on purpose; this is the smallest share of it that raised the alarm",
    ),
    (
        "Residual risk",
        "(r − c)/(1 − c), with r the share of people in the table on whom an attack succeeds and c that of people outside it: "
        "of those whom the attack would not have hit anyway, the share it hits because they are in the table",
    ),
    ("no worse than real rows", "the number, or its interval, reaches the baseline"),
    (
        "no interval to judge it by",
        "worse than the baseline, but nobody can say whether by more than chance; a statistic of a test is judged by its p, and "
        f"what lies between 0 and 1 counts as off where it is worse by more than {number(CLOSE)}",
    ),
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
    whole = findings_table(readings, label="All findings")
    if len(readings) > LONG:
        whole = element("details", element("summary", "Show them all"), whole)
    return join(element("p", f"{number(len(readings))} findings. ", link), whole)


def findings_table(readings: Sequence[Reading], *, label: str) -> Html:
    """One row per finding with everything about it; one without a value shows why in its note."""
    heads = ["Finding", "Scope", "Value", "Interval", "Baseline", "p (corrected)", "Direction", "n", "Note"]
    rows: list[list[Child]] = [
        [
            r.name, r.scope or "whole table", _value(r), r.interval(), _baseline(r), p_value(r.p_adjusted) if r.tested else "",
            r.direction, number(r.n), r.note,
        ]
        for r in readings
    ]  # fmt: skip
    return table(heads, rows, label=label, numbers=[2, 3, 4, 5, 7], class_="findings full")


def judged_table(readings: Sequence[Reading], *, label: str) -> Html:
    """One row per finding with its verdict, without what the full table repeats."""
    between = any(r.interval() for r in readings)
    heads = ["Finding and verdict", "Value", *(["Interval"] if between else []), "Baseline", "Note"]
    rows: list[list[Child]] = [
        [judged(r, power=True), _value(r), *([r.interval()] if between else []), _baseline(r), sentence(r.note)] for r in readings
    ]
    return table(heads, rows, label=label, numbers=range(1, 3 + between), class_="findings judged")


def judged(reading: Reading, *, power: bool = False) -> Html:
    """The name of a finding, and under it the verdict."""
    return join(element("span", reading.label), verdict(reading, power=power))


def folded(readings: Sequence[Reading], most: int, label: str, draw: Callable[..., Html]) -> Html:
    """The first so many as a table, the rest as another that opens on demand."""
    first, rest = readings[:most], readings[most:]
    if len(rest) <= FEW:
        return draw(readings, label=label)
    worse = sum(r.surely_worse for r in rest)
    told = f"{number(len(rest))} more{f', {number(worse)} of them beyond chance as well' if worse else ''}"
    more = element("details", element("summary", told), draw(rest, label=f"{label}, the rest"))
    return join(draw(first, label=f"{label}, the worst {len(first)}"), more)


def verdict(reading: Reading, *, power: bool = False) -> Html:
    """A verdict with its shape and its words; on a finding that saw nothing also, if asked, what it would have seen."""
    found = reading.verdict
    words = f"{found.words}; {reading.power}" if power and reading.power and not reading.surely_worse else found.words
    return element("p", element("span", SHAPES[found.tone], aria_hidden="true"), f" {words}", class_=f"verdict {found.tone}")


def as_csv(readings: Sequence[Reading]) -> str:
    """The findings with all digits. A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(FIELDS)
    for reading in readings:
        writer.writerow([_cell(getattr(reading, name)) for name in FIELDS])
    return out.getvalue()


def meanings(readings: Sequence[Reading], rules: Sequence[tuple[str, str]] = ()) -> Html:
    """One line for each metric that occurs, with its direction and range, and how verdicts come about."""
    found = {_kind(r.name): join(f"{meaning_of(r)}. ", element("span", _directed(r), class_="soft")) for r in readings}
    return join(pairs(found.items()) if found else None, element("h3", "How to read them"), pairs([*rules, *RULES]))


def meaning_of(reading: Reading) -> str:
    """What a finding means, in one line without a full stop."""
    return (reading.metric.meaning if reading.metric else "not one of ours: its note says what it means").removesuffix(".")


def _directed(reading: Reading) -> str:
    told = ", ".join(part for part in (reading.direction, reading.reach) if part)
    return f"{told[:1].upper()}{told[1:]}." if told else ""


def _kind(name: str) -> str:
    start = family(name)
    return name if start == name else f"{start} …"


def _value(reading: Reading) -> str:
    return "not computed" if reading.value is None else reading.told(reading.value)


def _baseline(reading: Reading) -> str:
    return "" if reading.baseline is None else reading.told(reading.baseline)


def _cell(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value
