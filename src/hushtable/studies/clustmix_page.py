"""The study of mixtures as text, as a page and as figures."""

from __future__ import annotations

import math

from hushtable.report.charts.plots import Scale, svg, text, titled
from hushtable.report.html import Html, Section, element, join, table
from hushtable.studies.page import Plain, alone, bullets, document, grid, mean, plus_minus, refusals

_HEADS = ("method", "AUC", "published", "rows released", "cpu s", "what is proven")
_GREY, _COLOURS = "#777", {True: "#2f6fb5", False: "#c9591f"}
"""Of real rows and of what was only published; of what is proven, and what is not."""


def notes(study: Plain) -> list[str]:
    """What a reader of the numbers must know."""
    return [
        "AUC is the area under the ROC curve, on real rows that were held out, of boosted trees that learned from the release; 0.5 "
        "is guessing. The publication has LightGBM; here it is scikit-learn's histogram boosting.",
        "averages are ClustMix as published: its noisy averages are learned from as they are, as vectors, and the held-out rows "
        "become vectors in the same way. (codes) writes a category as one number, which gives the number of features that the "
        "publication states; how it wrote them is not said. (levels) has a coordinate for each level. Noise that leads out of the "
        "range of a number is cut off.",
        "clustmix, rows is the table that hushtable releases: each average becomes a row with one level in each category.",
        f"epsilon is {study['epsilon']:g} everywhere. ClustMix claims it with delta = 1/n, and that does not hold: its numbers "
        f"are not those of a private method. Where epsilon is proven, delta is {study['delta']:g}.",
        "dp-merf is an implementation of our own. If it lies far from the published number, this study does not show why.",
        "The publication tuned every method by thirty runs on the training rows. Here all knobs are the defaults, but for "
        "sigma_max, which ClustMix picks on the training rows as published.",
        *study["absent"],
        *(f"Left out: {line}" for line in study["skipped"]),
    ]


def text_of(study: Plain) -> str:
    """Every number, a table for each data set, published numbers beside ours."""
    parts = []
    for data in study["data"]:
        parts.append(grid(f"{data['name']}: {_lead(data)}", _HEADS, rows_of(study, data)))
        parts += [f"refused: {line}" for line in refusals(data["cells"])]
    return "\n\n".join([*parts, "\n".join(notes(study))]) + "\n"


def page_of(study: Plain) -> str:
    """The page: a figure and its numbers for each data set."""
    sections = []
    for data in study["data"]:
        numbers = table(_HEADS, rows_of(study, data), label=f"AUC on {data['name']}", numbers=range(1, 5))
        figure = element("figure", dots(study, data))
        body = join(element("p", f"{_lead(data)}."), figure, numbers, bullets(refusals(data["cells"])))
        sections.append(Section(data["name"], data["name"], body))
    legend = "A dot for each run of ours, a diamond for what was published."
    return document("What classifiers learn from mixtures", study["runs"], legend, sections, notes(study))


def svgs(study: Plain) -> dict[str, str]:
    """Each figure as a file of its own, by its name."""
    return {f"{data['name']}.svg": alone(dots(study, data)) for data in study["data"]}


def rows_of(study: Plain, data: Plain) -> list[list[str]]:
    """The lines of a data set: real rows, our methods, and those that were only published."""
    real, published = data["real"], data["published"]
    rows = [["real rows", f"{real['auc']:.3f}", _number(published.get("real rows")), f"{real['rows']:,}", "-", "nothing"]]
    for method in study["methods"]:
        cells = data["cells"][method["name"]]
        released, seconds = mean(cells, "released"), mean(cells, "seconds")
        proven = next((cell["proven"] for cell in cells if "proven" in cell), "refused")
        auc = plus_minus(mean(cells, "auc"), len(cells))
        size = f"{released[0]:,.0f}" if released else "-"
        cost = f"{seconds[0]:.1f}" if seconds else "-"
        rows.append([method["name"], auc, _number(published.get(method["name"])), size, cost, proven])
    return [*rows, *([name, "-", _number(published[name]), "-", "-", "not run here"] for name in _only(study, data))]


def dots(study: Plain, data: Plain) -> Html:
    """A line for each method on a common scale: runs as dots, the published value as a diamond."""
    left, right, top, step, width = 170.0, 440.0, 26.0, 21.0, 570.0
    lines = [("real rows", [data["real"]["auc"]], _GREY)]
    for method in study["methods"]:
        values = [cell["auc"] for cell in data["cells"][method["name"]] if "auc" in cell]
        lines.append((method["name"], values, _COLOURS[method["proven"]]))
    lines += [(name, [], _GREY) for name in _only(study, data)]
    published = data["published"]
    low = min([0.5, *published.values(), *(value for _, values, _ in lines for value in values)])
    along = Scale(math.floor(10 * low - 1e-9) / 10, 1.0, left, right)
    bottom = top + step * len(lines)
    marks: list[Html] = [_upright(along, tick, top, bottom) for tick in along.ticks(7)]
    for place, (name, values, colour) in enumerate(lines):
        y = top + (place + 0.5) * step
        marks += [text(left - 14, y + 4, name, anchor="end"), _rule(left, right, y)]
        for value in values:
            dot = element("circle", cx=along(value), cy=y, r=4, fill=colour, fill_opacity=0.7)
            marks.append(titled(f"{name}: {value:.3f}", dot))
        if name in published:
            marks.append(titled(f"{name}, published: {published[name]:.3f}", _diamond(along(published[name]), y, colour)))
        ours = f"{sum(values) / len(values):.3f}" if values else "-"
        marks.append(text(right + 50, y + 4, ours, anchor="end"))
        marks.append(text(width - 8, y + 4, _number(published.get(name)), anchor="end"))
    heads = text(right + 50, top - 8, "ours", anchor="end"), text(width - 8, top - 8, "published", anchor="end")
    label = f"Area under the ROC curve on {data['name']}"
    return svg(
        width, bottom + 58, label, marks, heads, text((left + right) / 2, bottom + 32, "AUC", anchor="middle"), _key(bottom + 52)
    )


def _key(y: float) -> Html:
    """What the marks mean."""
    marks = [
        element("circle", cx=176, cy=y - 4, r=4, fill=_COLOURS[True]), text(186, y, "proven"),
        element("circle", cx=246, cy=y - 4, r=4, fill=_COLOURS[False]), text(256, y, "claimed, not proven"),
        _diamond(380, y - 4, _GREY), text(390, y, "published"),
    ]  # fmt: skip
    return join(marks)


def _only(study: Plain, data: Plain) -> list[str]:
    ours = {"real rows", *(method["name"] for method in study["methods"])}
    return [name for name in data["published"] if name not in ours]


def _upright(along: Scale, tick: float, top: float, bottom: float) -> Html:
    x = along(tick)
    line = element("path", d=f"M{x:.1f} {top:.1f}V{bottom:.1f}", stroke="#999", stroke_width=0.3)
    return join(line, text(x, bottom + 15, f"{tick:.2g}", anchor="middle"))


def _rule(start: float, stop: float, y: float) -> Html:
    return element("path", d=f"M{start:.1f} {y:.1f}H{stop:.1f}", stroke="#999", stroke_width=0.5, stroke_dasharray="1 3")


def _diamond(x: float, y: float, colour: str) -> Html:
    return element("path", d=f"M{x - 5:.1f} {y:.1f}l5 -5l5 5l-5 5z", fill="none", stroke=colour, stroke_width=1.6)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _lead(data: Plain) -> str:
    real = data["real"]
    return (
        f"{real['rows']:,} rows to learn from, {real['test']:,} held out, {real['columns']} columns; the class is {real['target']}"
    )
