"""Curves of the study of Frechet means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Html, element
from hushtable.report.words import number

COLOURS = ("#4a7bd8", "#2fa56c", "#d8504c", "#b58a2a")
"""Of middle lightness, to be seen on white and on black."""
INK = "#7a7a7a"
LEFT, RIGHT, TOP, BOTTOM, WIDTH = 44.0, 392.0, 10.0, 180.0, 400.0
LEAST = 1e-9
"""The least that a logarithmic scale shows."""

Curve = Sequence[tuple[float, float]]


def curves(series: Mapping[str, Curve], label: str, *, along: str, logarithmic: bool) -> Html:
    """Curves over a common axis with a legend under them; on logarithmic scales where asked for, else from zero up."""
    points = [point for curve in series.values() for point in curve]
    shown = sorted({x for x, _ in points})
    across, up = _scales(points, logarithmic=logarithmic)
    place = _log if logarithmic else float
    marks: list[Html] = []
    for at, (name, curve) in enumerate(series.items()):
        colour, y = COLOURS[at % len(COLOURS)], BOTTOM + 48 + 15 * at
        spots = [(across(place(x)), up(place(v)), x, v) for x, v in sorted(curve)]
        way = "L".join(f"{x:.1f} {v:.1f}" for x, v, _, _ in spots)
        marks.append(element("path", d=f"M{way}", fill="none", stroke=colour, stroke_width=1.5))
        marks += [titled(f"{name}: {x:g}, {number(v)}", element("circle", cx=a, cy=b, r=3, fill=colour)) for a, b, x, v in spots]
        marks.append(element("circle", cx=LEFT + 6, cy=y - 4, r=4, fill=colour))
        marks.append(text(LEFT + 16, y, name))
    picked = [shown[0], *([shown[len(shown) // 2]] if len(shown) > 2 else []), *([shown[-1]] if len(shown) > 1 else [])]
    ticks = [text(across(place(x)), BOTTOM + 15, f"{x:g}", anchor="middle") for x in picked]
    ticks.append(text((LEFT + RIGHT) / 2, BOTTOM + 30, along, anchor="middle", class_="small"))
    axes = [
        element("path", d=f"M{LEFT:g} {TOP:g}V{BOTTOM:g}H{RIGHT:g}", fill="none", stroke=INK),
        *(text(LEFT - 5, y + 4, words, anchor="end") for y, words in _heights(up, logarithmic=logarithmic)),
    ]
    return svg(WIDTH, BOTTOM + 54 + 15 * (len(series) - 1), label, element("g", axes, marks, ticks, fill=INK))


def _log(value: float) -> float:
    return math.log10(max(value, LEAST))


def _scales(points: Curve, *, logarithmic: bool) -> tuple[Scale, Scale]:
    place = _log if logarithmic else float
    low, high = (end(place(x) for x, _ in points) for end in (min, max))
    across = Scale(low, high if high > low else low + 1, LEFT + 10, RIGHT - 12)
    values = [place(v) for _, v in points]
    if not logarithmic:
        return across, from_zero(values, BOTTOM, TOP, least=LEAST)
    # Whole powers of ten, so that there is something to write beside them.
    bottom, top = math.floor(min(values) + 1e-9), math.ceil(max(values) - 1e-9)
    return across, Scale(bottom, top if top > bottom else bottom + 1, BOTTOM, TOP)


def _heights(up: Scale, *, logarithmic: bool) -> list[tuple[float, str]]:
    if not logarithmic:
        return [(up(tick), number(tick)) for tick in up.ticks(4)]
    return [(up(power), number(10.0**power)) for power in range(round(up.low), round(up.high) + 1)]
