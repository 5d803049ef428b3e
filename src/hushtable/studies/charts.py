"""Drawings of studies. Colours are attributes, so that a drawing also stands alone as a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Html, element, join

COLOURS = ("#2f6fb5", "#c9591f", "#3d8b4f", "#8a4fa3", "#b08a1e", "#1f8f96", "#b5345c", "#6b6b6b")
GREY = "#777"
Curve = Sequence[tuple[float, float]]


def curves(lines: Mapping[str, Curve], label: str, axis: str) -> Html:
    """A curve for each name over a common axis from zero, named at the right in the order of their ends; no dot for a point."""
    left, right, top, bottom, width = 44.0, 400.0, 10.0, 230.0, 590.0
    along = from_zero([x for curve in lines.values() for x, _ in curve], left, right, least=1e-9)
    up = from_zero([y for curve in lines.values() for _, y in curve], bottom, top, least=1e-9)
    marks = [_level(up, tick, left, right) for tick in up.ticks()]
    inks = {name: _ink(place) for place, name in enumerate(lines)}
    for name, curve in lines.items():
        way = "L".join(f"{along(x):.1f} {up(y):.1f}" for x, y in curve)
        if way:
            drawn = element(
                "path", d=f"M{way}", fill="none", stroke=inks[name][0], stroke_width=1.8, stroke_dasharray=inks[name][1]
            )
            marks.append(titled(f"{name}: {curve[-1][1]:.3g} at {curve[-1][0]:.3g}", drawn))
    order = sorted((name for name in lines if len(lines[name])), key=lambda name: -lines[name][-1][1])
    for place, name in enumerate(order):
        y = top + 12 + place * 18
        marks += [_rule(right + 16, right + 40, y - 4, *inks[name]), text(right + 46, y, name)]
    marks += [text(along(tick), bottom + 15, f"{tick:.3g}", anchor="middle") for tick in along.ticks(7)]
    return svg(width, max(bottom + 36, top + 18 * len(order) + 12), label, marks, _below(left, right, bottom, axis))


@dataclass(frozen=True)
class Line:
    """A line of a drawing of dots: one value for each run, and the published one."""

    name: str
    values: Sequence[float]
    published: float | None = None
    colour: str = GREY


def dots(lines: Sequence[Line], label: str, axis: str, *, low: float = 0.5, key: Mapping[str, str]) -> Html:
    """Lines on a common scale that ends at 1: runs as dots, the published value as a diamond. ``key`` says what colours mean."""
    left, right, top, step, width = 190.0, 440.0, 26.0, 21.0, 570.0
    numbers = [value for line in lines for value in (*line.values, line.published) if value is not None]
    along = Scale(math.floor(10 * min([low, *numbers]) - 1e-9) / 10, 1.0, left, right)
    bottom = top + step * len(lines)
    marks = [_upright(along, tick, top, bottom) for tick in along.ticks(7)]
    for place, line in enumerate(lines):
        y = top + (place + 0.5) * step
        marks += [text(left - 14, y + 4, line.name, anchor="end"), _rule(left, right, y, "#999", "1 3", 0.5)]
        for value in line.values:
            dot = element("circle", cx=along(value), cy=y, r=4, fill=line.colour, fill_opacity=0.7)
            marks.append(titled(f"{line.name}: {value:.3f}", dot))
        if line.published is not None:
            marks.append(titled(f"{line.name}, published: {line.published:.3f}", _diamond(along(line.published), y, line.colour)))
        ours = f"{sum(line.values) / len(line.values):.3f}" if line.values else "-"
        marks.append(text(right + 50, y + 4, ours, anchor="end"))
        marks.append(text(width - 8, y + 4, "-" if line.published is None else f"{line.published:.3f}", anchor="end"))
    heads = text(right + 50, top - 8, "ours", anchor="end"), text(width - 8, top - 8, "published", anchor="end")
    return svg(width, bottom + 58, label, marks, heads, _below(left, right, bottom, axis), _key(key, bottom + 52))


def _key(colours: Mapping[str, str], y: float) -> Html:
    marks, x = list[Html](), 150.0
    for words, colour in colours.items():
        marks += [element("circle", cx=x, cy=y - 4, r=4, fill=colour), text(x + 10, y, words)]
        x += 34 + 5.6 * len(words)
    return join(marks, _diamond(x, y - 4, GREY), text(x + 10, y, "published"))


def _ink(place: int) -> tuple[str, str | None]:
    """Beyond the colours lines are dashed."""
    return COLOURS[place % len(COLOURS)], None if place < len(COLOURS) else "5 3"


def _below(left: float, right: float, bottom: float, axis: str) -> Html:
    return text((left + right) / 2, bottom + 32, axis, anchor="middle")


def _rule(start: float, stop: float, y: float, colour: str, dashes: str | None, width: float = 1.8) -> Html:
    """A path, as the stylesheet has a colour of its own for lines."""
    return element("path", d=f"M{start:.1f} {y:.1f}H{stop:.1f}", stroke=colour, stroke_width=width, stroke_dasharray=dashes)


def _level(up: Scale, tick: float, left: float, right: float) -> Html:
    return join(
        _rule(left, right, up(tick), "#999", None, 0.8 if tick == 0 else 0.25),
        text(left - 5, up(tick) + 4, f"{tick:.3g}", anchor="end"),
    )


def _upright(along: Scale, tick: float, top: float, bottom: float) -> Html:
    line = element("path", d=f"M{along(tick):.1f} {top:.1f}V{bottom:.1f}", stroke="#999", stroke_width=0.3)
    return join(line, text(along(tick), bottom + 15, f"{tick:.2g}", anchor="middle"))


def _diamond(x: float, y: float, colour: str) -> Html:
    return element("path", d=f"M{x - 5:.1f} {y:.1f}l5 -5l5 5l-5 5z", fill="none", stroke=colour, stroke_width=1.6)
