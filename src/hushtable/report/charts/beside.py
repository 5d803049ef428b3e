"""Published numbers beside ours: a line for each on a common scale, ours with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.report.charts.plots import Scale, svg, text, titled
from hushtable.report.html import Html, element
from hushtable.report.words import fit, number

OURS, THEIRS, RULE = "#2f6fb5", "#c9591f", "#999"
LEFT, RIGHT, WIDTH, STEP, TOP = 150.0, 400.0, 520.0, 20.0, 30.0


@dataclass(frozen=True)
class Beside:
    """A published number and ours, with its interval if it has one."""

    label: str
    published: float
    ours: float
    low: float | None = None
    high: float | None = None


def beside(lines: Sequence[Beside], label: str) -> Html:
    """A filled dot for ours, its interval as a bar, and a diamond for what was published."""
    values = [v for one in lines for v in (one.published, one.ours, one.low, one.high) if v is not None]
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or abs(high) or 1.0
    along = Scale(low - room, high + room, LEFT, RIGHT)
    bottom = TOP + STEP * len(lines)
    marks = [_upright(along, tick, bottom) for tick in along.ticks(5)]
    for place, one in enumerate(lines):
        marks.append(_line(one, along, TOP + (place + 0.5) * STEP))
    heads = [text(RIGHT + 52, TOP - 12, "ours", anchor="end"), text(WIDTH - 4, TOP - 12, "published", anchor="end")]
    key = [
        element("circle", cx=LEFT, cy=bottom + 34, r=4, fill=OURS),
        text(LEFT + 10, bottom + 38, "ours, with its interval"),
        _diamond(LEFT + 152, bottom + 34),
        text(LEFT + 162, bottom + 38, "published"),
    ]
    return svg(WIDTH, bottom + 48, label, marks, heads, key)


def _line(one: Beside, along: Scale, y: float) -> Html:
    reach = "" if one.low is None or one.high is None else f" ({number(one.low)} to {number(one.high)})"
    words = f"{one.label}: ours {number(one.ours)}{reach}, published {number(one.published)}"
    marks = [
        text(LEFT - 10, y + 4, fit(one.label, LEFT - 14), anchor="end"),
        element("path", d=f"M{LEFT:g} {y:g}H{RIGHT:g}", stroke=RULE, stroke_width=0.5, stroke_dasharray="1 3"),
    ]
    if one.low is not None and one.high is not None:
        d = f"M{along(one.low):.1f} {y:g}H{along(one.high):.1f}"
        marks.append(element("path", d=d, stroke=OURS, stroke_width=5, stroke_opacity=0.35))
    marks += [
        element("circle", cx=along(one.ours), cy=y, r=4, fill=OURS),
        _diamond(along(one.published), y),
        text(RIGHT + 52, y + 4, number(one.ours), anchor="end"),
        text(WIDTH - 4, y + 4, number(one.published), anchor="end"),
    ]
    return titled(words, *marks)


def _upright(along: Scale, tick: float, bottom: float) -> Html:
    x = along(tick)
    line = element("path", d=f"M{x:.1f} {TOP:g}V{bottom:g}", stroke=RULE, stroke_width=0.3)
    return element("g", line, text(x, bottom + 14, number(tick), anchor="middle"))


def _diamond(x: float, y: float) -> Html:
    return element("path", d=f"M{x - 5:.1f} {y:.1f}l5 -5l5 5l-5 5z", fill="none", stroke=THEIRS, stroke_width=1.6)
