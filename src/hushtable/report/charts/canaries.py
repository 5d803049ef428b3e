"""The canaries of a mechanism's audit as lines: from the epsilon that was shown up to the one that is stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Html, element
from hushtable.report.words import fit, fixed, number

Plain = Mapping[str, Any]
WIDTH, ROW, LEFT = 400.0, 44.0, 8.0
RIGHT = WIDTH - 12
PROVEN, CLAIM, NOBODY = "the ledger", "a publication's claim", "nobody"
"""Who states an epsilon, as the lines of a report have it."""


def draw(tested: Sequence[Plain]) -> Html:
    """A line for each canary that was tested."""
    scale = from_zero([x for line in tested for x in (line["epsilon_lb"], line["epsilon_stated"])], LEFT, RIGHT, least=0.1)
    bottom = ROW * len(tested)
    marks = [_line(line, scale, i * ROW) for i, line in enumerate(tested)]
    ticks = [
        text(scale(t), bottom + 12, number(t), anchor="middle" if LEFT < scale(t) < RIGHT else None, class_="small")
        for t in scale.ticks()
    ]
    return svg(WIDTH, bottom + 20, "Epsilon: " + "; ".join(_words(line) for line in tested), marks, ticks)


def _line(line: Plain, scale: Scale, top: float) -> Html:
    y, low, high = top + 29, scale(line["epsilon_lb"]), scale(line["epsilon_stated"])
    colour = tone(line)
    # Between the two lies epsilon itself only where the upper one is proven; where it is refuted, what it falls short by.
    between = element("line", class_=f"whisker {colour}", x1=min(low, high), x2=max(low, high), y1=y, y2=y)
    beside = f"{fixed(line['epsilon_lb'])}, {word(line)} {fixed(line['epsilon_stated'])}"
    return titled(
        _words(line),
        text(LEFT, top + 14, fit(line["canary"], WIDTH - 120, 13), class_="name"),
        text(RIGHT, top + 14, beside, anchor="end", class_="name"),
        element("line", class_="grid", x1=LEFT, x2=RIGHT, y1=y, y2=y),
        between if line["source"] == PROVEN or line["refuted"] else None,
        element("line", class_="baseline", x1=high, x2=high, y1=y - 9, y2=y + 9),
        element("circle", class_=f"dot {colour}", cx=low, cy=y, r=5),
    )


def _words(line: Plain) -> str:
    return f"{line['canary']}: at least {fixed(line['epsilon_lb'])}, {word(line)} {fixed(line['epsilon_stated'])}"


def word(line: Plain) -> str:
    """How the epsilon under test came up: "stated" only where the ledger says it."""
    return {CLAIM: "claimed", NOBODY: "asked about"}.get(line["source"], "stated")


def shape(line: Plain) -> str:
    """The shape of a verdict, of a line or of the whole."""
    return {"alarm": "▲", "open": "○", "calm": "●"}[tone(line)]


def tone(line: Plain) -> str:
    """Refuted; too few runs to refute anything; or not refuted."""
    if line["refuted"]:
        return "alarm"
    return "open" if line.get("too_few") or line.get("label") == "too few runs" else "calm"
