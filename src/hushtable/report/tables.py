"""Tables of findings: judged, measured, column by column, all of them as a file; and what the numbers mean."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import astuple

from hushtable.evidence.finding import Finding
from hushtable.evidence.metrics import family
from hushtable.evidence.verdict import CLOSE, FEWEST, LEVEL, LITTLE, OFF, QUIET, surely_worse
from hushtable.report import findings as show
from hushtable.report.charts import intervals
from hushtable.report.html import Cell, Child, Html, element, join, pairs, table
from hushtable.report.words import firsts, number, sentence, share

FIELDS = (
    "subject", "risk", "name", "scope", "value", "low", "high", "baseline", "better", "n", "p", "p_adjusted", "detectable", "note",
    "gain", "gain_low", "gain_high", "outside",
)  # fmt: skip
FEW = 2
"""So few more are not worth folding away."""
DRAWN = 12
"""So many indicators are drawn and listed; the others are folded away."""
LINES = 20
"""So many findings in one dot plot."""
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
        "More hit of 100",
        "100 (r − c), with r the share of people in the table on whom an attack succeeds and c that of people outside it, in "
        "percentage points: of 100 people in the table so many more are hit than of 100 outside it. Its interval is Newcombe’s",
    ),
    (
        "The largest gain",
        "the largest of the upper bounds of all attacks. Each bound lies above the truth in about 97.5 of 100 audits, and so does "
        "the largest above what the worst attack truly gains, however many were tried. It is never read as less than what an audit "
        f"of this size reads in {share(QUIET)} of all cases where nothing leaks: below that it would be luck",
    ),
    (
        "too few attempts to say",
        f"the attack rests on fewer than {FEWEST} independent attempts on a side; it is not in the largest gain",
    ),
    (
        "little left to gain",
        f"the attack succeeds on at least {share(LITTLE)} of the people outside the table: that is what the release says about "
        "everybody, not about those in it. An alarm is an alarm nevertheless",
    ),
    (
        "What the proof allows",
        "with differential privacy no attack at all, tried or not, succeeds on a share of people larger by more than "
        "(e^ε − 1 + 2δ)/(e^ε + 1) than if their rows were not in the table; what was measured stands beside it, never in it",
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


def every_finding(findings: Sequence[Finding]) -> Html:
    """All findings with all digits as a file to store: each stands once on the page, in the part that it belongs to."""
    if not findings:
        return element("p", "There are no findings.")
    encoded = base64.b64encode(as_csv(findings).encode("utf-8-sig", "replace")).decode()
    link = element(
        "a", "Export CSV", class_="button", download="INTERNAL-findings.csv", href=f"data:text/csv;charset=utf-8;base64,{encoded}"
    )
    return element("p", f"All {number(len(findings))} findings, with all their digits, as one table: ", link)


def judged_table(findings: Sequence[Finding], *, label: str, planted: float | None = None) -> Html:
    """One row per finding with its verdict, without what the full table repeats."""
    between = any(show.interval(f) for f in findings)
    heads = ["Finding and verdict", "Value", *(["Interval"] if between else []), "Baseline", "Note"]
    rows: list[list[Child]] = [
        [
            show.judged(f, planted), show.value(f), *([show.interval(f)] if between else []), show.baseline(f), sentence(f.note),
        ]
        for f in findings
    ]  # fmt: skip
    return table(heads, rows, label=label, numbers=range(1, 4 if between else 3), class_="findings judged")


def folded(findings: Sequence[Finding], most: int, label: str, draw: Callable[..., Html]) -> Html:
    """The first so many as a table, the rest as another that opens on demand."""
    first, rest = findings[:most], findings[most:]
    if len(rest) <= FEW:
        return draw(findings, label=label)
    worse = sum(map(surely_worse, rest))
    title = f"{number(len(rest))} more{f', {number(worse)} of them beyond chance as well' if worse else ''}"
    more = element("details", element("summary", title), draw(rest, label=f"{label}, the rest"))
    return join(draw(first, label=f"{label}, the worst {len(first)}"), more)


def indicators(findings: Sequence[Finding], planted: float | None) -> Html:
    """Numbers beside those of real rows, as dots and as a table; the worst first."""

    def draw(some: Sequence[Finding], *, label: str) -> Html:
        return judged_table(some, label=label, planted=planted)

    lead = "Numbers about the release as a whole, beside the same number for real rows that it never saw. Worst first."
    return join(element("p", lead), dots(findings[:DRAWN]), folded(findings, DRAWN, "Indicators", draw))


def properties(findings: Sequence[Finding]) -> Html:
    """What was measured without anything to compare it with."""
    rows: list[list[Child]] = [[f.label, show.value(f), sentence(f.note)] for f in findings]
    lead = (
        "Measured on the release as it is written; there is no baseline to compare them with, and they judge nothing by themselves."
    )
    heads = ["Finding", "Value", "Note"]
    return join(element("p", lead), table(heads, rows, label="Measured properties", numbers=[1], class_="findings"))


def uncomputed(findings: Sequence[Finding]) -> Html:
    """What has no value, and why."""
    rows: list[list[Child]] = [[f.name, f.scope or "whole table", sentence(f.note)] for f in findings]
    lead = "These findings have no number. Not knowing is not the same as finding nothing."
    return join(
        element("p", lead), table(["Finding", "Scope", "Reason"], rows, label="What could not be computed", class_="findings")
    )


def others(findings: Sequence[Finding]) -> Html:
    """Findings of audits that this report does not know."""
    return join(dots(findings), judged_table(findings, label="Other findings"))


def dots(findings: Sequence[Finding]) -> Html | None:
    """Values with intervals and baselines: shares on common scales, other numbers each on its own."""
    known = [f for f in findings if f.value is not None]
    shares = [f for f in known if all(0 <= x <= 1 for x in show.numbers(f))]
    alone = [f for f in known if not all(0 <= x <= 1 for x in show.numbers(f))]
    groups = [shares[i : i + LINES] for i in range(0, len(shares), LINES)] + [[f] for f in alone[:LINES]]
    if not groups:
        return None
    caption = "Dot: value. Line: interval. Upright tick: baseline, the same number for real rows the release never saw."
    drawings = [intervals.dots(group, "; ".join(map(intervals.in_words, group))) for group in groups]
    return element("figure", drawings, element("figcaption", caption), class_="plot")


def measured_table(findings: Sequence[Finding], parts: Sequence[Finding], *, label: str) -> Html:
    """One row per measure of the whole table: what it means, where it can lie, and what it is here.

    ``parts`` are those among which the worst column, pair or group of a mean is found.
    """
    between = any(show.interval(f) for f in findings)
    heads = ["Measure and verdict", "Value", *(["Interval"] if between else []), "Baseline", "Range", "What it means"]
    rows: list[list[Child | Cell]] = [
        [
            join(show.judged(f), _soft(show.worst(f, parts))), Cell(show.value(f), f.value),
            *([show.interval(f)] if between else []), Cell(show.baseline(f), f.baseline),
            "; ".join(part for part in (show.reach(f), show.direction(f)) if part), _meaning(f),
        ]
        for f in findings
    ]  # fmt: skip
    return table(heads, rows, label=label, numbers=range(1, 4 if between else 3), class_="findings judged measured")


def by_scope(findings: Sequence[Finding], *, label: str, scope: str) -> Html:
    """One row per column, pair, model or group; a measure in each column, its baseline beside it. One measure alone is judged."""
    names = list(dict.fromkeys(f.name for f in findings))
    if len(names) == 1:
        return _one_measure(findings, label=label, scope=scope)
    scopes = list(dict.fromkeys(f.scope for f in findings))
    cells = {(f.scope, f.name): f for f in findings}
    rows: list[list[Child | Cell]] = [[one, *(_cell(cells.get((one, name))) for name in names)] for one in scopes]
    heads = [scope, *(_head(name, names) for name in names)]
    return table(heads, rows, label=label, numbers=range(1, len(heads)), class_="pivot")


def directions(findings: Sequence[Finding]) -> str:
    """Which way is good for each of the measures, where they lie, and what the second number is, for a line above their table."""
    lines = [f"{f.name} ({show.direction_and_reach(f, '; ')})" for f in firsts(findings, lambda f: f.name)]
    base = " The small number is the baseline." if any(f.baseline is not None for f in findings) else ""
    return f"{'; '.join(lines)}.{base}"


def as_csv(findings: Sequence[Finding]) -> str:
    """The findings with all digits. A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(FIELDS)
    for finding in findings:
        gains = (None,) * 4 if finding.gain is None else astuple(finding.gain)
        writer.writerow([*(_exported(getattr(finding, name)) for name in FIELDS[: -len(gains)]), *map(_exported, gains)])
    return out.getvalue()


def meanings(findings: Sequence[Finding], rules: Sequence[tuple[str, str]] = ()) -> Html:
    """One line for each metric that occurs, with its direction and range, and how verdicts come about."""
    lines = {
        _kind(f.name): join(f"{meaning_or_note(f)}. ", element("span", sentence(show.direction_and_reach(f)), class_="soft"))
        for f in findings
    }
    return join(pairs(lines.items()) if lines else None, element("h3", "How to read them"), pairs([*rules, *RULES]))


def meaning_or_note(finding: Finding) -> str:
    """What a finding means, in one line without a full stop."""
    return show.meaning_of(finding) or "a metric of another package: its note says what it means"


def _one_measure(findings: Sequence[Finding], *, label: str, scope: str) -> Html:
    between = any(show.interval(f) for f in findings)
    heads = [f"{scope} and verdict", "Value", *(["Interval"] if between else []), "Baseline", "Note"]
    rows: list[list[Child | Cell]] = [
        [
            join(element("span", f.scope), show.verdict_line(f)), Cell(show.value(f), f.value),
            *([show.interval(f)] if between else []), Cell(show.baseline(f), f.baseline), sentence(f.note),
        ]
        for f in findings
    ]  # fmt: skip
    return table(heads, rows, label=label, numbers=range(1, 4 if between else 3), class_="findings judged")


def _cell(finding: Finding | None) -> Cell:
    if finding is None or finding.value is None:
        return Cell(element("span", "–", title=finding.note if finding else None), None)
    base = element("small", f" {show.baseline(finding)}") if finding.baseline is not None else None
    return Cell(join(element("span", show.value(finding)), base), finding.value)


def _head(name: str, names: Sequence[str]) -> str:
    """A name without what all of them begin with."""
    starts = {other.rpartition(": ")[0] for other in names}
    return name.rpartition(": ")[2] if len(starts) == 1 else name


def _soft(text: str) -> Html | None:
    return element("p", text, class_="soft") if text else None


def _meaning(finding: Finding) -> Html:
    meaning = show.meaning_of(finding)
    return join(
        element("p", sentence(meaning)) if meaning else None,
        element("p", sentence(finding.note), class_="soft") if finding.note else None,
    )


def _kind(name: str) -> str:
    start = family(name)
    return name if start == name else f"{start} …"


def _exported(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value
