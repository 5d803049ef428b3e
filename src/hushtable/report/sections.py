"""The sections of an audit that compare numbers with those of real rows, or tell what has no such comparison."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.report.charts import intervals
from hushtable.report.everything import folded, judged_table
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.reading import Reading
from hushtable.report.words import sentence

DRAWN = 12
"""So many indicators are drawn and listed; the others are folded away."""
LINES = 20
"""So many findings in one dot plot."""


def indicators(readings: Sequence[Reading]) -> Html:
    """Numbers beside those of real rows, as dots and as a table; the worst first."""
    lead = "Numbers about the release as a whole, beside the same number for real rows that it never saw. Worst first."
    return join(element("p", lead), dots(readings[:DRAWN]), folded(readings, DRAWN, "Indicators", judged_table))


def properties(readings: Sequence[Reading]) -> Html:
    """What was measured without anything to compare it with."""
    rows: list[list[Child]] = [[r.label, r.told(r.value), sentence(r.note)] for r in readings]
    lead = (
        "Measured on the release as it is written; there is no baseline to compare them with, and they judge nothing by themselves."
    )
    heads = ["Finding", "Value", "Note"]
    return join(element("p", lead), table(heads, rows, label="Measured properties", numbers=[1], class_="findings"))


def uncomputed(readings: Sequence[Reading]) -> Html:
    """What has no value, and why."""
    rows: list[list[Child]] = [[r.name, r.scope or "whole table", sentence(r.note)] for r in readings]
    lead = "These findings have no number. Not knowing is not the same as finding nothing."
    return join(
        element("p", lead), table(["Finding", "Scope", "Reason"], rows, label="What could not be computed", class_="findings")
    )


def others(readings: Sequence[Reading]) -> Html:
    """Findings of audits that this report does not know."""
    return join(dots(readings), judged_table(readings, label="Other findings"))


def dots(readings: Sequence[Reading]) -> Html | None:
    """Values with intervals and baselines: shares on common scales, other numbers each on its own."""
    shown = [r for r in readings if r.value is not None]
    shares = [r for r in shown if all(0 <= x <= 1 for x in r.numbers)]
    alone = [r for r in shown if not all(0 <= x <= 1 for x in r.numbers)]
    groups = [shares[i : i + LINES] for i in range(0, len(shares), LINES)] + [[r] for r in alone[:LINES]]
    if not groups:
        return None
    caption = "Dot: value. Line: interval. Upright tick: baseline, the same number for real rows the release never saw."
    drawings = [intervals.dots(group, "; ".join(intervals.told(r) for r in group)) for group in groups]
    return element("figure", drawings, element("figcaption", caption), class_="plot")
