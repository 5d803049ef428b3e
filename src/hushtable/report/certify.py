"""The certificate of the audits as a page: how each metric answers to a leak that is known, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hushtable.report.charts import heat
from hushtable.report.charts.plots import LETTER, WIDTH, Scale, from_zero, svg, text, titled
from hushtable.report.html import INTERNAL, Child, Html, Section, element, join, page, table
from hushtable.report.words import NOTHING, fit, fixed, interval, number

SCOPES = 8
"""A metric with at most so many scopes is drawn with a thin line for each."""
FEW, MANY = 10, 20
"""So many metrics fit into a correlation matrix as wide as a panel, and as half the page; more need all of it."""
TOLD = {
    "leaky": ("Verbatim leaks", "Some released rows are training rows as they are, the others fresh real rows. "
              "A metric is good if it rises with their share; many should reach 1, and all be near 0 without a leak."),
    "noisy": ("Disturbed copies", "The same leak, each copy disturbed first: reals by σ of their column's standard deviation, "
              "whole numbers and days by plus or minus Poisson(λ), levels switched with chance p."),
    "overfit": ("Overfitting", "A generator is trained until it memorizes. The ratio is its loss on rows it did not see over the "
                "least such loss: 1 is trained as it should be."),
    "size": ("Size of the release", "A generator that is not trained too far gives more and more rows. Nothing more is told about "
             "anybody, so a good metric stays where it is."),
    "outliers": ("Outliers removed", "The loneliest rows, by the local outlier factor, are taken out of the training and control "
                 "rows before the release is made."),
}  # fmt: skip
"""For each risk model its title and what it does."""

Plain = Mapping[str, Any]
Ink = tuple[int, bool]
"""The number of a colour, and whether the line is dashed."""


def certify_page(study: Plain) -> str:
    """A certificate as ``Certificate.to_json()`` gives it."""
    models = list(dict.fromkeys(curve["model"] for curve in study["curves"]))
    parts = [
        Section("summary", "Summary", _summary(study)),
        *(Section(_anchor(m), _told(m)[0], _model(m, [c for c in study["curves"] if c["model"] == m])) for m in models),
        Section("seconds", "Seconds", _seconds(study["seconds"])),
        Section("scopes", "Every column, split and neighbour count", _scopes(study["curves"])),
    ]
    counts = [element("li", element("strong", number(count)), f" {name} rows") for name, count in study["rows"].items()]
    head = join(
        element("p", "Certificate", class_="eyebrow"),
        element("h1", "What the audits notice"),
        element("ul", counts, class_="counts"),
        element("p", _drawn(study), class_="soft"),
    )
    return page(title="INTERNAL certificate of the audits", head=head, sections=parts, kind="internal", running=INTERNAL)


def _drawn(study: Plain) -> str:
    used = sum(study["rows"].values())
    left = study["table"] - used
    cut = f" {number(left)} of its {number(study['table'])} rows were not used." if left else ""
    return f"Three disjoint random parts of the table, drawn with seed {study['seed']}.{cut}"


def _anchor(model: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in model)


def _told(model: str) -> tuple[str, str]:
    return TOLD.get(model, (model[:1].upper() + model[1:], "A verbatim leak, seen by one audit with one knob turned."))


def _summary(study: Plain) -> Html:
    items: list[Child] = []
    for curve in study["curves"]:
        judged = [line for line in curve["lines"] if line["verdict"]]
        good = [line for line in judged if line["verdict"] in ("rises", "stays")]
        if judged:
            verb = "stay" if curve["expect"] == "stay" else "rise"
            items.append(element("li", f"{curve['title']}: {number(len(good))} of {number(len(judged))} metrics {verb}"))
    where: dict[str, list[str]] = {}
    for curve, metric in study["failing"]:
        where.setdefault(metric, []).append(curve)
    failing = [element("li", f"{metric}: {', '.join(curves)}") for metric, curves in where.items()]
    missing = [element("li", f"{name}: {why}") for name, why in study["refused"].items()]
    return join(
        element("p", _lead(study), class_="lead"),
        element("ul", items),
        join(element("h3", "Not as expected"), element("ul", failing)) if failing else None,
        join(element("h3", "Never had a value"), element("ul", missing)) if missing else None,
        element(
            "p", "One run of each release: intervals are of the audited rows, not of the making of the release.", class_="soft"
        ),
    )


def _lead(study: Plain) -> str:
    curves = {curve["name"] for curve in study["curves"] if curve["expect"]}
    if not curves:
        return "Nothing was judged: no risk model was run of which something is expected."
    if not study["failing"]:
        return "Every metric did what is expected of it on every risk model."
    metrics = {metric for _, metric in study["failing"]}
    verb = "does" if len(metrics) == 1 else "do"
    return f"{number(len(metrics))} of the metrics {verb} not do what is expected on some risk model; they are named below."


def _model(model: str, curves: Sequence[Plain]) -> Html:
    keys = list(dict.fromkeys((line["audit"], line["name"]) for curve in curves for line in curve["lines"]))
    panels = [_panel(key, curves) for key in keys]
    inks = _inks(len(curves))
    legend = [
        element("li", element("span", class_=f"swatch hue{hue}"), c["name"] + (" (dashed)" if dashed else ""))
        for c, (hue, dashed) in zip(curves, inks, strict=True)
        if len(curves) > 1
    ]
    return join(
        element("p", _told(model)[1]),
        element("ul", legend, class_="legend") if legend else None,
        element("div", panels, class_="panels"),
        _lines(curves[0], curves[0]["lines"]) if len(curves) == 1 else _ends(curves),
        _together(curves[0]) if len(curves) == 1 and curves[0]["expect"] == "rise" else None,
    )


def _panel(key: tuple[str, str], curves: Sequence[Plain]) -> Html:
    drawn = zip(curves, _inks(len(curves)), strict=True)
    lines = [(c["name"], line, ink) for c, ink in drawn for line in c["lines"] if (line["audit"], line["name"]) == key]
    single = len(curves) == 1
    thin = [s for s in curves[0]["scopes"] if (s["audit"], s["name"]) == key] if single else []
    many = lines[0][1]["scopes"]
    caption = element(
        "figcaption",
        element("strong", lines[0][1]["name"]),
        element("span", key[0] + (f", mean of {number(many)}" if many > 1 else "")),
    )
    shown = thin if len(thin) <= SCOPES else []
    return element("figure", caption, response(lines, shown, curves[0]["along"], band=single), class_="panel")


def _inks(count: int) -> list[Ink]:
    """A colour for each curve; where there are more than colours, every second one is dashed in the colour of the one before."""
    return [(i // 2 % 6, bool(i % 2)) if count > 6 else (i, False) for i in range(count)]


def response(lines: Sequence[tuple[str, Plain, Ink]], thin: Sequence[Plain], along: str, *, band: bool) -> Html:
    """Values of a metric over the levels of a risk model: (name, line, ink) each, with a band for the interval of one alone."""
    left, top, bottom, height = 34.0, 8.0, 130.0, 160.0
    levels = sorted({x for _, line, _ in lines for x in line["levels"]})
    across = Scale(levels[0], levels[-1] if levels[-1] > levels[0] else levels[0] + 1, left + 6, WIDTH - 8)
    drawn = [line for _, line, _ in lines]
    reached = [v for line in drawn for v in (*line["values"], *((*line["low"], *line["high"]) if band else ()))]
    up = from_zero([*reached, *(v for s in thin for v in s["values"])], bottom, top, least=0.1)
    marks: list[Child] = [
        element("line", class_="axis" if t == 0 else "grid", x1=left, x2=WIDTH, y1=up(t), y2=up(t)) for t in up.ticks()
    ]
    marks += [text(left - 5, up(t) + 4, number(t), anchor="end") for t in up.ticks()]
    marks += [text(across(x), bottom + 14, number(x), anchor="middle") for x in (levels[0], levels[-1])]
    marks.append(text((left + WIDTH) / 2, height - 3, along, anchor="middle", class_="small"))
    for scope in thin:
        marks.append(
            titled(
                scope["scope"],
                element("path", class_="curve stroke5", d=_path(across, up, scope["values"], scope), stroke_opacity=0.6),
            )
        )
    for name, line, ink in lines:
        marks.append(_drawn_line(name, line, ink, across, up, band=band))
    ends = [(name, number(line["values"][0]), number(line["values"][-1])) for name, line, _ in lines]
    label = f"{drawn[0]['name']}: " + "; ".join(f"{name} from {start} to {end}" for name, start, end in ends)
    return svg(WIDTH, height, label, marks)


def _drawn_line(name: str, line: Plain, ink: Ink, across: Scale, up: Scale, *, band: bool) -> Html:
    marks: list[Child] = []
    colour, dashed = ink
    if band:
        there = [f"{across(x):.2f} {up(v):.2f}" for x, v in zip(line["levels"], line["high"], strict=True)]
        back = [f"{across(x):.2f} {up(v):.2f}" for x, v in zip(line["levels"], line["low"], strict=True)]
        marks.append(element("path", class_=f"hue{colour}", fill_opacity=0.18, d=f"M{'L'.join([*there, *back[::-1]])}Z"))
    dashes = "5 3" if dashed else None
    marks.append(
        element("path", class_=f"curve stroke{colour}", d=_path(across, up, line["values"], line), stroke_dasharray=dashes)
    )
    for x, v, low, high in zip(line["levels"], line["values"], line["low"], line["high"], strict=True):
        told = f"{name}, {number(x)}: {number(v)} ({interval(low, high)})"
        marks.append(titled(told, element("circle", class_=f"hue{colour}", cx=across(x), cy=up(v), r=2.6)))
    return join(marks)


def _path(across: Scale, up: Scale, values: Sequence[float], line: Plain) -> str:
    return "M" + "L".join(f"{across(x):.2f} {up(v):.2f}" for x, v in zip(line["levels"], values, strict=True))


def _lines(curve: Plain, lines: Sequence[Plain]) -> Html:
    first, last = ("at the least", "at the most") if curve["expect"] != "rise" else ("no risk", "max risk")
    heads = ["Metric", first, last, "Interval", "Spearman", "Verdict"]
    rows = [
        [
            _metric(line),
            number(line["values"][0]),
            number(line["values"][-1]),
            interval(line["low"][-1], line["high"][-1]),
            NOTHING if line["rho"] is None else fixed(line["rho"]),
            _verdict(line["verdict"]),
        ]
        for line in lines
    ]
    return join(element("h3", curve["name"]), table(heads, rows, label=f"Metrics on {curve['name']}", numbers=range(1, 5)))


def _ends(curves: Sequence[Plain]) -> Html:
    """Of several curves, where each metric begins and ends on each."""
    metrics = dict.fromkeys((line["audit"], line["name"]) for curve in curves for line in curve["lines"])
    ends = [{(line["audit"], line["name"]): line for line in curve["lines"]} for curve in curves]
    rows = [[key[1], *(_end(end.get(key)) for end in ends)] for key in metrics]
    label = f"Where each metric begins and ends, {curves[0]['along']}"
    heads = ["Metric", *(curve["name"] for curve in curves)]
    return join(element("h3", label), table(heads, rows, label=label, numbers=range(1, len(heads))))


def _end(line: Plain | None) -> Child:
    if line is None:
        return NOTHING
    told = f"{number(line['values'][0])} → {number(line['values'][-1])}"
    return told if line["verdict"] in ("rises", "stays", "") else element("span", f"▲ {told}", class_="verdict alarm")


def _metric(line: Plain) -> str:
    return line["name"] + (f", {line['scope']}" if line["scope"] else "")


def _verdict(told: str) -> Html:
    if not told:
        return element("span", NOTHING)
    good = told in ("rises", "stays")
    return element("span", f"{'●' if good else '▲'} {told}", class_=f"verdict {'calm' if good else 'alarm'}")


def _together(curve: Plain) -> Html:
    names = curve["correlation"]["names"]
    if len(names) < 2:
        return join()
    matrix = np.array([[np.nan if v is None else v for v in row] for row in curve["correlation"]["matrix"]], np.float64)
    label = f"Correlation of the metrics over {curve['name']}"
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
    ordered = sorted(seconds.items(), key=lambda pair: -pair[1])
    left, row = 140.0, 18.0
    scale = from_zero([s for _, s in ordered], left, 470.0, least=1e-9)
    bars = [
        titled(
            f"{name}: {number(taken)} seconds",
            text(left - 8, i * row + 12, fit(name, left - 10, LETTER), anchor="end"),
            element("rect", class_="release", x=left, y=i * row + 3, width=scale(taken) - left, height=11),
            text(scale(taken) + 5, i * row + 12, number(taken), class_="small"),
        )
        for i, (name, taken) in enumerate(ordered)
    ]
    drawing = svg(520, len(ordered) * row, "Mean seconds of each audit on one release", bars)
    told = "Mean seconds of each audit on one release. What audits share is paid for by the first that needs it."
    return element("figure", element("figcaption", told), drawing)


def _scopes(curves: Sequence[Plain]) -> Html:
    parts = [
        element(
            "details", element("summary", f"{curve['name']}: {number(len(curve['scopes']))} lines"), _lines(curve, curve["scopes"])
        )
        for curve in curves
        if curve["scopes"]
    ]
    return join(parts) if parts else element("p", "No metric has more than one scope.")
