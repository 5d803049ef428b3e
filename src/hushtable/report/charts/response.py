"""How a metric answers to a leak of known size: its values over the levels of a risk model; and how long each audit takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hushtable.report.charts.plots import LETTER, WIDTH, Scale, from_zero, svg, text, titled
from hushtable.report.html import Child, Html, element, join
from hushtable.report.words import fit, interval, number

if TYPE_CHECKING:
    from hushtable.api.certificate import Line

Ink = tuple[int, bool]
"""The number of a colour, and whether the line is dashed."""


def response(lines: Sequence[tuple[str, Line, Ink]], thin: Sequence[Line], along: str, *, band: bool) -> Html:
    """Values of a metric over the levels of a risk model: (name, line, ink) each, with a band for the interval of one alone."""
    left, top, bottom, height = 34.0, 8.0, 130.0, 160.0
    levels = sorted({x for _, line, _ in lines for x in line.levels})
    across = Scale(levels[0], levels[-1] if levels[-1] > levels[0] else levels[0] + 1, left + 6, WIDTH - 8)
    drawn = [line for _, line, _ in lines]
    reached = [v for line in drawn for v in (*line.values, *((*line.low, *line.high) if band else ()))]
    up = from_zero([*reached, *(v for s in thin for v in s.values)], bottom, top, least=0.1)
    marks: list[Child] = [
        element("line", class_="axis" if t == 0 else "grid", x1=left, x2=WIDTH, y1=up(t), y2=up(t)) for t in up.ticks()
    ]
    marks += [text(left - 5, up(t) + 4, number(t), anchor="end") for t in up.ticks()]
    marks += [text(across(x), bottom + 14, number(x), anchor="middle") for x in (levels[0], levels[-1])]
    marks.append(text((left + WIDTH) / 2, height - 3, along, anchor="middle", class_="small"))
    for scope in thin:
        marks.append(
            titled(
                scope.scope,
                element("path", class_="curve stroke5", d=_path(across, up, scope.values, scope), stroke_opacity=0.6),
            )
        )
    for name, line, ink in lines:
        marks.append(_drawn_line(name, line, ink, across, up, band=band))
    ends = [(name, number(line.values[0]), number(line.values[-1])) for name, line, _ in lines]
    label = f"{drawn[0].name}: " + "; ".join(f"{name} from {start} to {end}" for name, start, end in ends)
    return svg(WIDTH, height, label, marks)


def _drawn_line(name: str, line: Line, ink: Ink, across: Scale, up: Scale, *, band: bool) -> Html:
    marks: list[Child] = []
    colour, dashed = ink
    if band:
        there = [f"{across(x):.2f} {up(v):.2f}" for x, v in zip(line.levels, line.high, strict=True)]
        back = [f"{across(x):.2f} {up(v):.2f}" for x, v in zip(line.levels, line.low, strict=True)]
        marks.append(element("path", class_=f"hue{colour}", fill_opacity=0.18, d=f"M{'L'.join([*there, *back[::-1]])}Z"))
    dashes = "5 3" if dashed else None
    marks.append(element("path", class_=f"curve stroke{colour}", d=_path(across, up, line.values, line), stroke_dasharray=dashes))
    for x, v, low, high in zip(line.levels, line.values, line.low, line.high, strict=True):
        title = f"{name}, {number(x)}: {number(v)} ({interval(low, high)})"
        marks.append(titled(title, element("circle", class_=f"hue{colour}", cx=across(x), cy=up(v), r=2.6)))
    return join(marks)


def _path(across: Scale, up: Scale, values: Sequence[float], line: Line) -> str:
    return "M" + "L".join(f"{across(x):.2f} {up(v):.2f}" for x, v in zip(line.levels, values, strict=True))


def durations(seconds: Mapping[str, float]) -> Html:
    """The mean seconds of each audit as bars, the longest first."""
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
    return svg(520, len(ordered) * row, "Mean seconds of each audit on one release", bars)
