"""The certificate of the audits as a page: how each metric answers to a leak that is known, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hushtable.report.charts import heat
from hushtable.report.charts.response import Ink, durations, response
from hushtable.report.html import INTERNAL, Child, Html, Section, element, join, page, table
from hushtable.report.words import NOTHING, fixed, interval, number

if TYPE_CHECKING:
    from hushtable.api.certificate import Certificate, Curve, Line

SCOPES = 8
"""A metric with at most so many scopes is drawn with a thin line for each."""
FEW, MANY = 10, 20
"""So many metrics fit into a correlation matrix as wide as a panel, and as half the page; more need all of it."""
MODELS = {
    "leaky": ("Verbatim leaks", "Some released rows are training rows as they are, the others fresh real rows. "
              "A metric is good if it rises with their share; many should reach 1, and all be near 0 without a leak."),
    "noisy": ("Disturbed copies", "The same leak, each copy disturbed first: reals by σ of their column's standard deviation, "
              "whole numbers and days by plus or minus Poisson(λ), levels switched with chance p."),
    "overfit": ("Overfitting", "A generator is trained until it memorizes. The ratio is its loss on rows it did not see over the "
                "least such loss: 1 is trained as it should be. Losses are logarithms and depend on the cells that columns are cut "
                "into, so only ratios of one generator compare."),
    "dp": ("Differential privacy", "A generator with a proof, and ever more budget. What leaks must not fall as epsilon rises; how "
           "far below its bound it stays is a matter of the generator."),
    "size": ("Size of the release", "A generator that is not trained too far gives more and more rows. Nothing more is revealed "
             "about anybody, so a good metric stays where it is."),
    "outliers": ("Outliers removed", "The loneliest rows, by the local outlier factor, are taken out of the training and control "
                 "rows before the release is made."),
}  # fmt: skip
"""For each risk model its title and what it does."""


def certify_page(study: Certificate) -> str:
    """One standalone page."""
    models = list(dict.fromkeys(curve.model for curve in study.curves))
    parts = [
        Section("summary", "Summary", _summary(study)),
        *(Section(_anchor(m), _described(m)[0], _model(m, study)) for m in models),
        Section("seconds", "Seconds", _seconds(study.seconds)),
        Section("scopes", "Every column, split and neighbour count", _scopes(study.curves)),
    ]
    counts = [element("li", element("strong", number(count)), f" {name} rows") for name, count in study.rows.items()]
    head = join(
        element("p", "Certificate", class_="eyebrow"),
        element("h1", "What the audits notice"),
        element("ul", counts, class_="counts"),
        element("p", _drawn(study), class_="soft"),
    )
    return page(title="INTERNAL certificate of the audits", head=head, sections=parts, kind="internal", running=INTERNAL)


def _drawn(study: Certificate) -> str:
    used = sum(study.rows.values())
    left = study.table - used
    cut = f" {number(left)} of its {number(study.table)} rows were not used." if left else ""
    return f"Three disjoint random parts of the table, drawn with seed {study.seed}.{cut}"


def _anchor(model: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in model)


def _described(model: str) -> tuple[str, str]:
    return MODELS.get(model, (model[:1].upper() + model[1:], "A verbatim leak, seen by one audit with one knob turned."))


def _summary(study: Certificate) -> Html:
    items: list[Child] = []
    for curve in study.curves:
        judged = [line for line in curve.lines if line.judged]
        good = [line for line in judged if line.as_expected]
        if judged:
            verb = "stay" if curve.expect == "stay" else "rise"
            items.append(element("li", f"{curve.title}: {number(len(good))} of {number(len(judged))} metrics {verb}"))
    where: dict[str, list[str]] = {}
    for title, metric in study.failing:
        where.setdefault(metric, []).append(title)
    failing = [element("li", f"{metric}: {', '.join(curves)}") for metric, curves in where.items()]
    missing = [element("li", f"{name}: {why}") for name, why in study.refused.items()]
    drawn = {curve.model for curve in study.curves}
    left = [element("li", f"{_described(model)[0]}: {why}") for model, why in study.notes.items() if model not in drawn]
    return join(
        element("p", _lead(study), class_="lead"),
        element("ul", items),
        join(element("h3", "Not as expected"), element("ul", failing)) if failing else None,
        join(element("h3", "Never had a value"), element("ul", missing)) if missing else None,
        join(element("h3", "Left out"), element("ul", left)) if left else None,
        element(
            "p", "One run of each release: intervals are of the audited rows, not of the making of the release.", class_="soft"
        ),
    )


def _lead(study: Certificate) -> str:
    curves = {curve.name for curve in study.curves if curve.expect}
    if not curves:
        return "Nothing was judged: no risk model was run of which something is expected."
    if not study.failing:
        return "Every metric did what is expected of it on every risk model."
    metrics = {metric for _, metric in study.failing}
    verb = "does" if len(metrics) == 1 else "do"
    return f"{number(len(metrics))} of the metrics {verb} not do what is expected on some risk model; they are named below."


def _model(model: str, study: Certificate) -> Html:
    curves = [curve for curve in study.curves if curve.model == model]
    keys = list(dict.fromkeys((line.audit, line.name) for curve in curves for line in curve.lines))
    panels = [_panel(key, curves) for key in keys]
    inks = _inks(len(curves))
    legend = [
        element("li", element("span", class_=f"swatch hue{hue}"), c.name + (" (dashed)" if dashed else ""))
        for c, (hue, dashed) in zip(curves, inks, strict=True)
        if len(curves) > 1
    ]
    return join(
        element("p", _described(model)[1]),
        element("p", study.notes[model]) if model in study.notes else None,
        element("ul", legend, class_="legend") if legend else None,
        element("div", panels, class_="panels"),
        _lines(curves[0], curves[0].lines) if len(curves) == 1 else _ends(curves),
        _together(curves[0]) if len(curves) == 1 and curves[0].expect == "rise" else None,
    )


def _panel(key: tuple[str, str], curves: Sequence[Curve]) -> Html:
    drawn = zip(curves, _inks(len(curves)), strict=True)
    lines = [(c.name, line, ink) for c, ink in drawn for line in c.lines if (line.audit, line.name) == key]
    single = len(curves) == 1
    thin = [s for s in curves[0].scopes if (s.audit, s.name) == key] if single else []
    many = lines[0][1].scopes
    caption = element(
        "figcaption",
        element("strong", lines[0][1].name),
        element("span", key[0] + (f", mean of {number(many)}" if many > 1 else "")),
    )
    shown = thin if len(thin) <= SCOPES else []
    return element("figure", caption, response(lines, shown, curves[0].along, band=single), class_="panel")


def _inks(count: int) -> list[Ink]:
    """A colour for each curve; where there are more than colours, every second one is dashed in the colour of the one before."""
    return [(i // 2 % 6, bool(i % 2)) if count > 6 else (i, False) for i in range(count)]


def _lines(curve: Curve, lines: Sequence[Line]) -> Html:
    first, last = ("at the least", "at the most") if curve.expect != "rise" else ("no risk", "max risk")
    heads = ["Metric", first, last, "Interval", "Spearman", "Verdict"]
    rows = [
        [
            line.metric,
            number(line.values[0]),
            number(line.values[-1]),
            interval(line.low[-1], line.high[-1]),
            NOTHING if line.rho is None else fixed(line.rho),
            _verdict(line),
        ]
        for line in lines
    ]
    return join(element("h3", curve.name), table(heads, rows, label=f"Metrics on {curve.name}", numbers=range(1, 5)))


def _ends(curves: Sequence[Curve]) -> Html:
    """Of several curves, where each metric begins and ends on each."""
    metrics = dict.fromkeys((line.audit, line.name) for curve in curves for line in curve.lines)
    ends = [{(line.audit, line.name): line for line in curve.lines} for curve in curves]
    rows = [[key[1], *(_end(end.get(key)) for end in ends)] for key in metrics]
    label = f"Where each metric begins and ends, {curves[0].along}"
    heads = ["Metric", *(curve.name for curve in curves)]
    return join(element("h3", label), table(heads, rows, label=label, numbers=range(1, len(heads))))


def _end(line: Line | None) -> Child:
    if line is None:
        return NOTHING
    ends = f"{number(line.values[0])} → {number(line.values[-1])}"
    return ends if line.as_expected else element("span", f"▲ {ends}", class_="verdict alarm")


def _verdict(line: Line) -> Html:
    if not line.judged:
        return element("span", NOTHING)
    mark, tone = ("●", "calm") if line.as_expected else ("▲", "alarm")
    return element("span", f"{mark} {line.verdict}", class_=f"verdict {tone}")


def _together(curve: Curve) -> Html:
    names = curve.correlation.names
    if len(names) < 2:
        return join()
    matrix = np.array([[np.nan if v is None else v for v in row] for row in curve.correlation.matrix], np.float64)
    label = f"Correlation of the metrics over {curve.name}"
    steps = [("−1", 1.0, "weaker"), ("−0.5", 0.5, "weaker"), ("0", 0.04, "release"), ("0.5", 0.5, "release"), ("1", 1.0, "release")]
    drawing = heat.difference_map(names, matrix, label, 1.0)
    caption = element("figcaption", f"{label}: 1 where two metrics rise alike (Pearson).")
    key = heat.key(steps, "Colours of the correlations")
    if len(names) > FEW:
        return element("figure", drawing, caption, key, class_="plot" if len(names) <= MANY else None)
    return element("div", element("figure", caption, drawing, key, class_="panel"), class_="panels")


def _seconds(seconds: Mapping[str, float]) -> Html:
    """Bars, the longest first."""
    if not seconds:
        return element("p", "Nothing was timed.")
    caption = "Mean seconds of each audit on one release. What audits share is paid for by the first that needs it."
    return element("figure", element("figcaption", caption), durations(seconds))


def _scopes(curves: Sequence[Curve]) -> Html:
    parts = [
        element("details", element("summary", f"{curve.name}: {number(len(curve.scopes))} lines"), _lines(curve, curve.scopes))
        for curve in curves
        if curve.scopes
    ]
    return join(parts) if parts else element("p", "No metric has more than one scope.")
