"""The sections of an audit, each from its own findings: what is drawn, what is told, what is left to a table."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.report import folding, heat, intervals, plots
from hushtable.report.everything import folded, judged_table
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.reading import Reading, worst_first
from hushtable.report.words import fixed, number, sentence, share

ASSOCIATION = "association difference"
DOWNSTREAM = "train on release"
MEANS = ("mean TVD", "mean KS", "mean Wasserstein")
MARGINS = (*MEANS, "TVD", "KS", "Wasserstein")
PANELS = 24
"""So many columns are drawn; the others are closer to real than these and stand in the full table."""
DRAWN = 12
"""So many indicators are drawn and listed; the others are folded away."""
LINES = 20
"""So many findings in one dot plot."""


def indicators(readings: Sequence[Reading]) -> Html:
    """Numbers beside those of real rows, as dots and as a table; the worst first."""
    lead = "Numbers about the release as a whole, beside the same number for real rows that it never saw. Worst first."
    return join(element("p", lead), _dots(readings[:DRAWN]), folded(readings, DRAWN, "Indicators", judged_table))


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
    return join(_dots(readings), judged_table(readings, label="Other findings"))


def margins(readings: Sequence[Reading]) -> Html:
    """The means, then one panel per column, the worst first."""
    if not readings:
        return _nothing("comparison of single columns")
    means = [r for r in readings if r.name in MEANS]
    drawn = [r for r in sorted(readings, key=lambda r: -(r.value or 0.0)) if r.name == "TVD" and folding.bars(r.detail)]
    ordered = {r.scope for r in readings if r.name == "KS"}
    left = f" The {PANELS} worst of {len(drawn)} are drawn; the others are in the full table." if len(drawn) > PANELS else ""
    explained = (
        "Columns by total variation distance (TVD), the worst first. Numbers are cut near quantiles of the training rows, so "
        "their training bars are about level by construction; limits are round, and what fewer than five training rows hold is not "
        "shown by itself. Small figures are percent of the training rows / of the release." + left
    )
    return join(
        judged_table(means, label="Means over columns") if means else None,
        element("p", explained) if drawn else None,
        plots.legend(("real", "training rows"), ("release", "release")) if drawn else None,
        element("div", [_panel(r, ordered=r.scope in ordered) for r in drawn[:PANELS]], class_="panels"),
    )


def associations(readings: Sequence[Reading]) -> Html:
    """Three heat maps, and the pairs that differ most in a table."""
    if not readings:
        return _nothing("comparison of pairs of columns")
    return join([join(judged_table([r], label=r.name), _maps(r)) for r in readings])


def downstream(readings: Sequence[Reading]) -> Html:
    """Bars of the release beside the real rows."""
    if not readings:
        return _nothing("comparison of models")
    shown = sorted((r for r in readings if r.value is not None), key=worst_first)
    told = "Models trained on the release and on the real rows, both tested on real people they never saw: "
    guess = " For an AUC, 0.5 is guessing." if any(r.name.endswith("AUC") for r in shown) else ""
    figure = element(
        "figure",
        intervals.versus(shown, told + "; ".join(intervals.told(r) for r in shown)),
        element("figcaption", told.rstrip(": ") + ". The thin line is the interval of the release." + guess),
        class_="plot",
    )
    return join(figure if shown else None, judged_table(readings, label="Downstream"))


def _dots(readings: Sequence[Reading]) -> Html | None:
    shown = [r for r in readings if r.value is not None]
    shares = [r for r in shown if all(0 <= x <= 1 for x in r.numbers)]
    alone = [r for r in shown if not all(0 <= x <= 1 for x in r.numbers)]
    groups = [shares[i : i + LINES] for i in range(0, len(shares), LINES)] + [[r] for r in alone[:LINES]]
    if not groups:
        return None
    caption = "Dot: value. Line: interval. Upright tick: baseline, the same number for real rows the release never saw."
    drawings = [intervals.dots(group, "; ".join(intervals.told(r) for r in group)) for group in groups]
    return element("figure", drawings, element("figcaption", caption), class_="plot")


def _panel(reading: Reading, *, ordered: bool) -> Html:
    found = folding.bars(reading.detail)
    worst = max(found, key=lambda bar: abs(bar.release - bar.train))
    base = f", fresh rows {number(reading.baseline)}" if reading.baseline is not None else ""
    told = f"{reading.scope}: training rows and release. TVD {number(reading.value)}{base}. Largest gap at {worst.label}: "
    told += f"train {share(worst.train)}, release {share(worst.release)}"
    missing = None
    if folding.limits(found):
        shown, ends, missing = folding.ranges(found)
        drawing = plots.paired_columns(shown, told, ends)
    else:
        drawing = plots.paired_bars(folding.levels(found, ordered=ordered), told)
    empty = f"missing: train {share(missing.train)}, release {share(missing.release)}" if missing else None
    return element(
        "figure",
        element("figcaption", element("strong", reading.scope), " ", element("span", f"TVD {number(reading.value)}{base}")),
        drawing,
        element("p", empty, class_="soft") if empty else None,
        class_="panel",
    )


def _maps(reading: Reading) -> Html | None:
    pairs = heat.Pairs.of(reading.detail)
    if pairs is None:
        return None
    shown = pairs.worst()
    full = heat.reach(shown.gap)
    count = (
        f"the {len(shown.columns)} of {len(pairs.columns)} columns with the largest differences"
        if len(shown.columns) < len(pairs.columns)
        else f"{len(pairs.columns)} columns"
    )
    maps = [
        ("Training rows", heat.strength_map(shown.columns, shown.train, f"Associations of {count} in the training rows")),
        ("Release", heat.strength_map(shown.columns, shown.release, f"Associations of {count} in the release")),
        (
            "Difference",
            heat.difference_map(shown.columns, shown.gap, f"Differences in association of {count}, release minus train", full),
        ),
    ]
    strength = heat.key(
        [(number(x), 0.04 + 0.96 * x, "release") for x in (0.0, 0.25, 0.5, 0.75, 1.0)], "Colour key: association from 0 to 1"
    )
    steps = [(number(x * full), 0.04 + 0.96 * abs(x), "weaker" if x < 0 else "release") for x in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    change = heat.key(steps, f"Colour key: difference from {number(-full)} (weaker in the release) to {number(full)} (stronger)")
    keys = [strength, strength, change]
    figures = [
        element("figure", element("figcaption", element("strong", name)), drawing, k)
        for (name, drawing), k in zip(maps, keys, strict=True)
    ]
    rows: list[list[Child]] = [[a, b, fixed(x), fixed(y), fixed(y - x, signed=True)] for a, b, x, y in pairs.largest(8)]
    return join(
        element("p", f"Cramer's V of {count}. A pair is where the row of the lower name meets the column of the upper one."),
        element("div", figures, class_="maps"),
        element("h3", "Pairs that differ most"),
        table(["Column", "Column", "Train", "Release", "Difference"], rows, label="Pairs that differ most", numbers=[2, 3, 4]),
    )


def _nothing(what: str) -> Html:
    return element("p", f"No {what} was made.", class_="soft")
