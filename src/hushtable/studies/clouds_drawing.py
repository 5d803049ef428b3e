"""Drawings of point clouds: small multiples whose points are dots of a path, and images whose pixels are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from hushtable.report.charts.plots import LETTER, svg, text, titled
from hushtable.report.html import Html, element
from hushtable.report.words import fit
from hushtable.studies.clouds_cells import GRID, SHADES

WIDTH = 400.0
LINE, GAP = 12.0, 6.0
SIDE = 28
"""Pixels of an image, along and up."""
POSITIONS = ("#4a7bd8", "#1c9cb5", "#2fa56c", "#9a9b1f", "#df8a1f", "#d8504c")
"""From one end of a surface to the other; of middle lightness, to be seen on white and on black."""
DIGITS = ("#4a7bd8", "#df8a1f", "#2fa56c", "#d8504c", "#9273c9", "#9c7361", "#d670b4", "#808080", "#9a9b1f", "#1c9cb5")
MARKED = ("#4a7bd8", "#e0483f")
"""Points like all others, and those near an injected one."""
INK = "#7a7a7a"


@dataclass(frozen=True)
class Panel:
    """One picture with its name, and a few numbers under it."""

    name: str
    picture: Mapping[str, Sequence[int]] | None
    """None where there is none: the panel stays empty."""
    lines: Sequence[str] = ()
    hover: str = ""


@dataclass(frozen=True)
class Row:
    """Panels that belong together."""

    title: str
    panels: Sequence[Panel]
    colours: Sequence[str] = POSITIONS


def multiples(rows: Sequence[Row], columns: int, label: str) -> Html:
    """Rows of panels, wrapped after so many."""
    pitch = (WIDTH + GAP) / columns
    side = pitch - GAP
    marks: list[Html] = []
    y = 0.0
    for row in rows:
        y += LINE
        marks.append(element("text", row.title, x=0, y=y, font_weight=600, class_="name"))
        y += 3
        deep = max(len(panel.lines) for panel in row.panels)
        for start in range(0, len(row.panels), columns):
            for at, panel in enumerate(row.panels[start : start + columns]):
                marks.append(_panel(panel, at * pitch, y, side, row.colours))
            y += LINE + 3 + side + LINE * deep + 5
        y += 7
    return svg(WIDTH, y, label, element("g", marks, fill=INK))


def _panel(panel: Panel, x: float, y: float, side: float, colours: Sequence[str]) -> Html:
    top = y + LINE + 3
    frame = element("rect", x=x, y=top, width=side, height=side, fill="none", stroke=INK, stroke_opacity=0.35)
    lines = [
        text(x, top + side + LINE * (i + 1), fit(line, side + GAP, LETTER), class_="small") for i, line in enumerate(panel.lines)
    ]
    parts = [text(x, y + LINE, fit(panel.name, side + GAP, LETTER)), frame, _dots(panel.picture, x, top, side, colours), lines]
    return titled(panel.hover or panel.name, *parts)


def _dots(picture: Mapping[str, Sequence[int]] | None, x: float, y: float, side: float, colours: Sequence[str]) -> Html | None:
    """Points as dots of one path for each colour; what is drawn last, the last colour, lies above."""
    if picture is None:
        return None
    paths: dict[int, list[str]] = defaultdict(list)
    for across, down, colour in zip(picture["x"], picture["y"], picture.get("colour") or [0] * len(picture["x"]), strict=True):
        paths[colour].append(f"M{across} {down}h0")
    # 1.6 pixels wide, whatever the size of the panel.
    drawn = [element("path", d="".join(paths[colour]), stroke=colours[colour]) for colour in sorted(paths)]
    place = f"translate({x:.5g} {y:.5g}) scale({side / GRID:.5g})"
    return element("g", drawn, transform=place, fill="none", stroke_width=round(1.6 * GRID / side, 1), stroke_linecap="round")


def images(pairs: Sequence[tuple[str, str]], names: tuple[str, str], label: str, columns: int = 6) -> Html:
    """Pairs of images above one another, their pixels a digit of darkness each."""
    pitch = (WIDTH + GAP) / columns
    side = pitch - GAP
    marks: list[Html] = []
    y = 0.0
    for start in range(0, len(pairs), columns):
        for which, name in enumerate(names):
            y += LINE
            marks.append(text(0, y, name, class_="small"))
            some = pairs[start : start + columns]
            marks += [_image(pair[which], at * pitch, y + 3, side) for at, pair in enumerate(some)]
            y += side + 6
        y += 8
    return svg(WIDTH, y, label, element("g", marks, fill=INK))


def _image(shades: str, x: float, y: float, side: float) -> Html:
    paths: dict[int, list[str]] = defaultdict(list)
    for row in range(SIDE):
        at = 0
        for shade, run in groupby(shades[row * SIDE : (row + 1) * SIDE]):
            length = len(list(run))
            if shade != "0":
                paths[int(shade)].append(f"M{at} {row + 0.5}h{length}")
            at += length
    drawn = [
        element("path", d="".join(paths[shade]), fill="none", stroke=INK, stroke_opacity=shade / SHADES, stroke_width=1.02)
        for shade in sorted(paths)
    ]
    frame = element("rect", width=SIDE, height=SIDE, fill="none", stroke=INK, stroke_opacity=0.35, stroke_width=0.3)
    return element("g", frame, drawn, transform=f"translate({x:.5g} {y:.5g}) scale({side / SIDE:.5g})")
