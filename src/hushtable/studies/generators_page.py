"""The study of private generators as text, as a page and as figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from hushtable.measures.composite_models import SVC_ROWS
from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Html, Section, element, join, table
from hushtable.studies.page import Plain, alone, bullets, document, grid, mean, plus_minus, refusals

MEASURES = {
    "g": ("G", "correlations and classifiers together, 0 for a copy of the rows"),
    "g_plus": ("G+", "G and the distance of the columns' distributions"),
    "mu": ("mu", "how far the correlations lie apart, divided by the number of pairs of columns"),
    "delta": ("delta", "how differently classifiers perform, each tested on the table it was trained on"),
    "nu": ("nu", "mean total variation of the columns, 0 to 1"),
    "score": ("score", "mean of accuracy, recall and F1 of three classifiers, trained and tested on the synthetic rows"),
    "there": ("score on real rows", "the same classifiers, trained on the synthetic rows and tested on real ones"),
}
DRAWN = ("g", "g_plus", "score", "there")
_COLOURS = ("#2f6fb5", "#c9591f", "#2e8b57", "#8a5aa8", "#b8860b")


def notes() -> list[str]:
    """What a reader of the numbers must know."""
    return [
        "Lower is better for G, G+, mu, delta and nu. alpha = beta = gamma = 1.",
        "Gauss (the hybrid DPCopula) and Vine (Copula-Shirley) run as published. What their sources claim is not proven (Gauss) or "
        "does not hold (Vine): their epsilon is infinite, and that they lie below a proven method says nothing for them.",
        "PrivBayes and NPGauss spend pure epsilon, as published, for one record replaced; NPGauss with the sensitivity put right. "
        "mst, aim, vine-certified and privbayes are proven with a delta of at most 1e-6, for a record added or removed.",
        "mu divides a root of a sum of squares by the number of pairs, so it shrinks as columns are added: with fifteen columns "
        "G is nearly delta alone.",
        "delta and the score of the synthetic rows are measured on the table that was trained on, as published: a generator may "
        "make up rows whose class is easy to guess and score well. On real rows that does not help; the generators have seen them.",
        f"Classifiers are scikit-learn's with its defaults, recall and F1 are of the rarer class; support vectors learn from at "
        f"most {SVC_ROWS:,} rows. The publication drops rows with missing values; here they are kept.",
    ]


def text_of(study: Plain) -> str:
    """Every number, a table for each measure and data set."""
    parts = []
    for data in study["data"]:
        real = data["real"]
        parts.append(
            f"{data['name']}: {real['rows']:,} rows, {real['columns']} columns, class {real['target']}; on the real rows the score "
            f"is {real['score']:.3f}, the accuracy {real['accuracy']:.3f}"
        )
        for key, (name, meaning) in MEASURES.items():
            parts.append(grid(f"{name}: {meaning}", ["epsilon", *(f"{e:g}" for e in study["epsilons"])], _rows(study, data, key)))
        parts += [f"refused: {line}" for line in _refused(data)]
    parts += [f"left out: {line}" for line in study["skipped"]]
    parts.append("\n".join(notes()))
    return "\n\n".join(parts) + "\n"


def page_of(study: Plain) -> str:
    """The page: figures, then all numbers."""
    sections = []
    for data in study["data"]:
        figures = [
            element("figure", element("p", join(element("strong", MEASURES[k][0]), ": ", MEASURES[k][1])), curves(study, data, k))
            for k in DRAWN
        ]
        tables = []
        for key, (name, _) in MEASURES.items():
            heads = ["method", *(f"{e:g}" for e in study["epsilons"])]
            tables.append(element("h3", name))
            tables.append(table(heads, _rows(study, data, key), label=f"{name} by epsilon", numbers=range(1, len(heads))))
        real = data["real"]
        lead = (
            f"{real['rows']:,} rows, {real['columns']} columns; the class is {real['target']}. Classifiers trained and tested on "
            f"the real rows score {real['score']:.3f}, with an accuracy of {real['accuracy']:.3f}."
        )
        sections.append(Section(data["name"], data["name"], join(element("p", lead), figures, tables, bullets(_refused(data)))))
    reading = [*notes(), *(f"Left out: {line}" for line in study["skipped"])]
    return document("Private generators by epsilon", study["runs"], "Solid: as published. Dashed: ours.", sections, reading)


def svgs(study: Plain) -> dict[str, str]:
    """Each figure as a file of its own, by its name."""
    return {f"{data['name']}-{key}.svg": alone(curves(study, data, key)) for data in study["data"] for key in DRAWN}


def curves(study: Plain, data: Plain, key: str) -> Html:
    """A measure against epsilon on a logarithmic axis, a curve for each method, named at the right in the order of their ends."""
    left, right, top, bottom, width = 44.0, 400.0, 10.0, 230.0, 570.0
    epsilons = study["epsilons"]
    ends = math.log10(epsilons[0]), math.log10(epsilons[-1])
    along = Scale(ends[0] - 0.05, ends[1] + 0.05, left, right)
    lines = {m["shown"]: _curve(epsilons, data["cells"][m["name"]], key) for m in study["methods"]}
    level = data["real"]["score"] if key in ("score", "there") else None
    up = from_zero([y for curve in lines.values() for _, y, _ in curve] + ([level] if level else []), bottom, top, least=1e-3)
    marks: list[Html] = [_level(up, tick, left, right) for tick in up.ticks()]
    if level is not None:
        marks.append(_rule(left, right, up(level), "#777", "1 3"))
        marks.append(text(left + 4, up(level) - 4, "real rows", class_="small"))
    inks = {m["shown"]: _ink(study["methods"], m) for m in study["methods"]}
    for name, curve in lines.items():
        marks.append(_line(name, curve, along, up, *inks[name]))
    order = sorted((name for name in lines if lines[name]), key=lambda name: -lines[name][-1][1])
    for place, name in enumerate(order):
        y = top + 12 + place * 18
        colour, dashes = inks[name]
        marks.append(_rule(right + 16, right + 40, y - 4, colour, dashes))
        marks.append(text(right + 46, y, name))
    ticks = [text(along(math.log10(e)), bottom + 15, f"{e:g}", anchor="middle") for e in epsilons]
    return svg(
        width, bottom + 34, MEASURES[key][0], marks, ticks, text((left + right) / 2, bottom + 30, "epsilon", anchor="middle")
    )


def _curve(epsilons: Sequence[float], cells: Sequence[Sequence[Plain]], key: str) -> list[tuple[float, float, float]]:
    means = [(e, mean(runs, key)) for e, runs in zip(epsilons, cells, strict=True)]
    return [(e, value[0], value[1]) for e, value in means if value is not None]


def _line(
    name: str, curve: Sequence[tuple[float, float, float]], along: Scale, up: Scale, colour: str, dashes: str | None
) -> Html:  # fmt: skip
    spots = [(along(math.log10(e)), up(y), e, y, spread) for e, y, spread in curve]
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y, *_ in spots)
    drawn = [element("path", d=f"M{way}", fill="none", stroke=colour, stroke_width=1.8, stroke_dasharray=dashes)] if spots else []
    for x, y, e, value, spread in spots:
        label = f"{name}, epsilon {e:g}: {value:.3g} ± {spread:.2g}"
        drawn.append(titled(label, element("circle", cx=x, cy=y, r=2.8, fill=colour)))
    return join(drawn)


def _rule(start: float, stop: float, y: float, colour: str, dashes: str | None) -> Html:
    """A path, as the stylesheet has a colour of its own for lines."""
    return element("path", d=f"M{start:.1f} {y:.1f}H{stop:.1f}", stroke=colour, stroke_width=1.8, stroke_dasharray=dashes)


def _level(up: Scale, tick: float, left: float, right: float) -> Html:
    line = element("line", x1=left, x2=right, y1=up(tick), y2=up(tick), stroke="#999", stroke_width=0.8 if tick == 0 else 0.25)
    return join(line, text(left - 5, up(tick) + 4, f"{tick:.3g}", anchor="end"))


def _ink(methods: Sequence[Plain], method: Plain) -> tuple[str, str | None]:
    """A colour among those of its side; ours are dashed."""
    side = [m["name"] for m in methods if m["published"] == method["published"]]
    return _COLOURS[side.index(method["name"]) % len(_COLOURS)], None if method["published"] else "5 3"


def _rows(study: Plain, data: Plain, key: str) -> list[list[str]]:
    cells = data["cells"]
    return [[m["shown"], *(plus_minus(mean(runs, key), len(runs)) for runs in cells[m["name"]])] for m in study["methods"]]


def _refused(data: Plain) -> list[str]:
    return refusals({name: chain.from_iterable(cells) for name, cells in data["cells"].items()})
