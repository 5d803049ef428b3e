"""The sections of an audit, each from its own findings: what is drawn, what is told, what is left to a table."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.report import folding, heat, intervals, plots
from hushtable.report.everything import judged_table
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.reading import Reading, worst_first
from hushtable.report.words import fixed, number, sentence, share

ASSOCIATION = "association difference"
DOWNSTREAM = "train on release"
MEANS = ("mean TVD", "mean KS", "mean Wasserstein")
MARGINS = (*MEANS, "TVD", "KS", "Wasserstein")
PANELS = 24
"""So many columns are drawn; the others are closer to real than these and stand in the full table."""
LINES = 20
"""So many findings in one dot plot."""


def privacy(readings: Sequence[Reading]) -> Html:
    """Dots for what has a value, and a table of all."""
    if not readings:
        return _nothing("privacy finding")
    lead = element(
        "p", "What an attacker gains from the release beyond what the same attack gains on fresh real rows. Worst first."
    )
    return join(lead, _dots(readings), judged_table(readings, label="Privacy findings"))


def others(readings: Sequence[Reading]) -> Html:
    """Findings of audits that this report does not know."""
    return join(_dots(readings), judged_table(readings, label="Other findings"))


def distances(readings: Sequence[Reading]) -> Html:
    """For each finding that brought two histograms of distances, one figure."""
    figures = [figure for reading in readings if (figure := _distance_figure(reading))]
    return join(figures) if figures else _nothing("distribution of distances")


def margins(readings: Sequence[Reading]) -> Html:
    """The means, then one panel per column, the worst first."""
    if not readings:
        return _nothing("comparison of single columns")
    means = [r for r in readings if r.name in MEANS]
    drawn = [r for r in sorted(readings, key=lambda r: -(r.value or 0.0)) if r.name == "TVD" and folding.bars(r.detail)]
    ordered = {r.scope for r in readings if r.name == "KS"}
    left = f" The {PANELS} worst of {len(drawn)} are drawn; the others are in the full table." if len(drawn) > PANELS else ""
    explained = (
        "Columns by total variation distance (TVD), the worst first. Numbers are cut at quantiles of the training rows, so their "
        "training bars are about level by construction. Small figures are percent of the training rows / of the release." + left
    )
    return join(
        judged_table(means, label="Means over columns") if means else None,
        element("p", explained) if drawn else None,
        legend(("real", "training rows"), ("release", "release")) if drawn else None,
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


def legend(*entries: tuple[str, str]) -> Html:
    """Colours and what they stand for."""
    return element(
        "ul", [element("li", element("span", class_=f"swatch {colour}"), told) for colour, told in entries], class_="legend"
    )


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


def _distance_figure(reading: Reading) -> Html | None:
    edges, release, control = (reading.detail.get(key) for key in ("edges", "release", "control"))
    if not (isinstance(edges, list) and isinstance(release, list) and isinstance(control, list)):
        return None
    if not len(edges) - 1 == len(release) == len(control) > 0 or None in edges or edges[-1] <= edges[0]:
        return None
    ours, fresh = ([float(x or 0.0) for x in values] for values in (release, control))
    threshold, chance = reading.detail.get("threshold"), reading.detail.get("chance")
    told = f"Distances from released rows and from fresh real rows to their closest training row. {reading.note}"
    reading_aid = (
        "Where the release lies left of fresh rows it crowds around the people it was made from. The last bar holds all beyond."
    )
    rule = f" Suspiciously close is what {share(chance)} of the fresh real rows are." if isinstance(chance, float) else ""
    return element(
        "figure",
        legend(("line", "release"), ("real", "fresh real rows (control)")),
        plots.distances(edges, ours, fresh, threshold, told),
        element("figcaption", f"{sentence(reading.note)}{rule} {reading_aid}"),
        class_="plot",
    )


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
