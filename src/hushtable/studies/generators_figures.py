"""The figures of the study of private generators: each measure against epsilon."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Html, element, join

LEFT, RIGHT, TOP, BOTTOM, WIDTH = 44.0, 400.0, 10.0, 230.0, 570.0
_COLOURS = ("#2f6fb5", "#c9591f", "#2e8b57", "#8a5aa8", "#b8860b")
_GREY = "#999"
Points = Sequence[tuple[float, float]]
"""Epsilon, and the mean of a measure over runs."""


def curves(label: str, published: Mapping[str, Points], ours: Mapping[str, Points], level: float | None = None) -> Html:
    """A measure against epsilon on a logarithmic axis, a curve for each method, named at the right in the order of their ends.

    Those that were published are solid, ours dashed; ``level`` is that of the real rows.
    """
    lines = {**published, **ours}
    epsilons = sorted({epsilon for points in lines.values() for epsilon, _ in points}) or [1.0]
    along = Scale(math.log10(epsilons[0]) - 0.05, math.log10(epsilons[-1]) + 0.05, LEFT, RIGHT)
    values = [y for points in lines.values() for _, y in points]
    up = from_zero([*values, *([] if level is None else [level])], BOTTOM, TOP, least=1e-3)
    marks: list[Html] = [_level(up, tick) for tick in up.ticks()]
    if level is not None:
        marks += [_rule(LEFT, RIGHT, up(level), "#777", "1 3"), text(LEFT + 4, up(level) - 4, "real rows", class_="small")]
    inks = {
        name: (_COLOURS[place % len(_COLOURS)], dashes)
        for side, dashes in ((published, None), (ours, "5 3"))
        for place, name in enumerate(side)
    }
    marks += [_line(name, points, along, up, inks[name]) for name, points in lines.items() if points]
    order = sorted((name for name in lines if lines[name]), key=lambda name: -lines[name][-1][1])
    for place, name in enumerate(order):
        y = TOP + 12 + place * 18
        marks += [_rule(RIGHT + 16, RIGHT + 40, y - 4, *inks[name]), text(RIGHT + 46, y, name)]
    marks += [text(along(math.log10(e)), BOTTOM + 15, f"{e:g}", anchor="middle") for e in epsilons]
    return svg(WIDTH, BOTTOM + 34, label, marks, text((LEFT + RIGHT) / 2, BOTTOM + 30, "epsilon", anchor="middle"))


def _line(name: str, points: Points, along: Scale, up: Scale, ink: tuple[str, str | None]) -> Html:
    spots = [(along(math.log10(e)), up(y), e, y) for e, y in points]
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y, *_ in spots)
    drawn = [element("path", d=f"M{way}", fill="none", stroke=ink[0], stroke_width=1.8, stroke_dasharray=ink[1])]
    for x, y, e, value in spots:
        drawn.append(titled(f"{name}, epsilon {e:g}: {value:.3g}", element("circle", cx=x, cy=y, r=2.8, fill=ink[0])))
    return join(drawn)


def _rule(start: float, stop: float, y: float, colour: str, dashes: str | None) -> Html:
    """A path, as the stylesheet has a colour of its own for lines."""
    return element("path", d=f"M{start:.1f} {y:.1f}H{stop:.1f}", stroke=colour, stroke_width=1.8, stroke_dasharray=dashes)


def _level(up: Scale, tick: float) -> Html:
    line = element("line", x1=LEFT, x2=RIGHT, y1=up(tick), y2=up(tick), stroke=_GREY, stroke_width=0.8 if tick == 0 else 0.25)
    return join(line, text(LEFT - 5, up(tick) + 4, f"{tick:.3g}", anchor="end"))
