"""Curves of a study: what is measured against what is varied, a line for each method, named at the right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Html, element, join

COLOURS = ("#2f6fb5", "#c9591f", "#2e8b57", "#8a5aa8", "#b8860b", "#4f4f4f", "#c23b73", "#1f8a8a")
LEFT, RIGHT, TOP, BOTTOM, WIDTH = 44.0, 400.0, 10.0, 230.0, 570.0
DASHES = "5 3"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One curve."""

    name: str
    points: Sequence[tuple[float, float]]
    """What is varied, and what comes out."""
    colour: int = 0
    dashed: bool = False
    spreads: Sequence[str] = ()
    """What is known of the uncertainty of each point, in words."""


def curves(label: str, lines: Sequence[Line], along: str, *, log: bool = False, level: tuple[str, float] | None = None) -> Html:
    """The lines, in the order of their ends at the right; ``level`` is a value to be compared with, and its name.

    Colours are attributes, so that the drawing also stands alone.
    """
    lines = [line for line in lines if line.points]
    levels = sorted({x for line in lines for x, _ in line.points})
    if not levels:
        return svg(WIDTH, 30, label, text(LEFT, 20, "nothing to draw"))
    place = math.log10 if log else float
    first, last = place(levels[0]), place(levels[-1])
    pad = 0.03 * (last - first) or 0.5
    across = Scale(first - pad, last + pad, LEFT, RIGHT)
    up = from_zero([y for line in lines for _, y in line.points] + ([level[1]] if level else []), BOTTOM, TOP, least=1e-3)
    marks: list[Html] = [_grid(up, tick) for tick in up.ticks()]
    if level is not None:
        marks.append(_rule(LEFT, RIGHT, up(level[1]), "#777", "1 3"))
        marks.append(text(LEFT + 4, up(level[1]) - 4, level[0]))
    marks += [_drawn(line, [(across(place(x)), up(y)) for x, y in line.points]) for line in lines]
    for at, line in enumerate(sorted(lines, key=lambda line: -line.points[-1][1])):
        y = TOP + 12 + at * 18
        marks.append(_rule(RIGHT + 16, RIGHT + 40, y - 4, _ink(line), DASHES if line.dashed else None))
        marks.append(text(RIGHT + 46, y, line.name))
    # Of many levels only as many are written as there is room for.
    ticks = [text(across(place(x)), BOTTOM + 15, f"{x:.3g}", anchor="middle") for x in levels[:: -(-len(levels) // 10)]]
    height = max(BOTTOM + 34, TOP + 18 * len(lines) + 6)
    return svg(WIDTH, height, label, marks, ticks, text((LEFT + RIGHT) / 2, BOTTOM + 30, along, anchor="middle"))


def _drawn(line: Line, spots: Sequence[tuple[float, float]]) -> Html:
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
    dashes = DASHES if line.dashed else None
    drawn = [element("path", d=f"M{way}", fill="none", stroke=_ink(line), stroke_width=1.8, stroke_dasharray=dashes)]
    spreads = line.spreads or [""] * len(spots)
    for (x, y), (level, value), spread in zip(spots, line.points, spreads, strict=True):
        label = f"{line.name}, {level:.3g}: {value:.3g} {spread}".rstrip()
        drawn.append(titled(label, element("circle", cx=x, cy=y, r=2.8, fill=_ink(line))))
    return join(drawn)


def _ink(line: Line) -> str:
    return COLOURS[line.colour % len(COLOURS)]


def _rule(start: float, stop: float, y: float, colour: str, dashes: str | None) -> Html:
    """A path, as the stylesheet has a colour of its own for lines."""
    return element("path", d=f"M{start:.1f} {y:.1f}H{stop:.1f}", stroke=colour, stroke_width=1.8, stroke_dasharray=dashes)


def _grid(up: Scale, tick: float) -> Html:
    line = element("line", x1=LEFT, x2=RIGHT, y1=up(tick), y2=up(tick), stroke="#999", stroke_width=0.8 if tick == 0 else 0.25)
    return join(line, text(LEFT - 5, up(tick) + 4, f"{tick:.3g}", anchor="end"))
