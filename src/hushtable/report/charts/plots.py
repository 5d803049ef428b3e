"""Charts as SVG text. Every mark says its numbers on hovering, every chart has a name that is read aloud.

Coordinates are pixels of a drawing about as wide as a phone, so that letters stay readable when it is scaled to fit.
Colours are classes of the stylesheet: ``release`` for the release, ``real`` for rows of real people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.report.charts.folding import Bar
from hushtable.report.html import Child, Html, element
from hushtable.report.words import fit, number, share

WIDTH = 300.0
LETTER = 11.0


@dataclass(frozen=True)
class Scale:
    """A straight line from values to pixels."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self, most: int = 5) -> list[float]:
        """Round values inside the scale, at most so many."""
        step = _round_step((self.high - self.low) / max(most - 1, 1))
        first = math.ceil(self.low / step - 1e-9)
        return [step * i for i in range(first, math.floor(self.high / step + 1e-9) + 1)]


def from_zero(values: Sequence[float], start: float, stop: float, *, least: float = 0.0) -> Scale:
    """A scale that holds zero and all values and ends on round numbers; at least as long as ``least``."""
    low, high = min([0.0, *values]), max([least, *values])
    if high <= low:
        high = low + 1.0
    step = _round_step((high - low) / 4)
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, start, stop)


def svg(width: float, height: float, label: str, *marks: Child, class_: str = "") -> Html:
    """A drawing that scales with its frame, named for those who cannot see it."""
    return element("svg", *marks, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label, class_=class_ or None)


def titled(title: str, *marks: Child, class_: str | None = None) -> Html:
    """Marks that show a text on hovering."""
    return element("g", element("title", title), *marks, class_=class_)


def text(x: float, y: float, words: str, *, anchor: str | None = None, class_: str | None = None) -> Html:
    """Words at a place; ``anchor`` is end or middle."""
    return element("text", words, x=x, y=y, text_anchor=anchor, class_=class_)


def paired_bars(bars: Sequence[Bar], label: str) -> Html:
    """Levels under one another: the upper bar is the real rows, the lower the release."""
    left, right, row, thick = 122.0, WIDTH - 60, 18.0, 6.0
    scale = from_zero([x for bar in bars for x in (bar.train, bar.release)], left, right, least=1e-9)
    marks = []
    for i, bar in enumerate(bars):
        y = i * row
        title = f"{bar.label}: train {share(bar.train)}, release {share(bar.release)}"
        marks.append(
            titled(
                title,
                text(left - 8, y + 11, fit(bar.label, left - 10, LETTER), anchor="end"),
                element("rect", class_="real", x=left, y=y + 1, width=scale(bar.train) - left, height=thick),
                element("rect", class_="release", x=left, y=y + 1 + thick, width=scale(bar.release) - left, height=thick),
                text(WIDTH, y + 11, f"{number(100 * bar.train, 2)} / {number(100 * bar.release, 2)}", anchor="end", class_="small"),
            )
        )
    axis = element("line", class_="axis", x1=left, x2=left, y1=0, y2=len(bars) * row - 3)
    return svg(WIDTH, max(len(bars) * row, row), label, marks, axis)


def paired_columns(bars: Sequence[Bar], label: str, ends: Sequence[str]) -> Html:
    """Ranges of a number side by side: the left bar is the real rows, the right the release. ``ends`` are the range limits."""
    left, top, bottom, height = 40.0, 8.0, 120.0, 138.0
    scale = from_zero([x for bar in bars for x in (bar.train, bar.release)], bottom, top, least=1e-9)
    wide = (WIDTH - left) / max(len(bars), 1)
    thick = min(wide * 0.42, 40.0)
    marks = []
    for i, bar in enumerate(bars):
        middle = left + (i + 0.5) * wide
        title = f"{bar.label}: train {share(bar.train)}, release {share(bar.release)}"
        ys = scale(bar.train), scale(bar.release)
        marks.append(
            titled(
                title,
                element("rect", class_="real", x=middle - thick, y=ys[0], width=thick, height=bottom - ys[0]),
                element("rect", class_="release", x=middle, y=ys[1], width=thick, height=bottom - ys[1]),
            )
        )
    return svg(WIDTH, height, label, share_grid(scale, left, WIDTH), marks, _ends(ends, left, wide, height - 3))


def legend(*entries: tuple[str, str]) -> Html:
    """Colours and what they stand for."""
    return element(
        "ul", [element("li", element("span", class_=f"swatch {colour}"), title) for colour, title in entries], class_="legend"
    )


def distances(
    edges: Sequence[float],
    release: Sequence[float],
    control: Sequence[float],
    threshold: float | None,
    label: str,
    names: tuple[str, str, str] = ("release", "fresh real rows", "distance to the closest training row"),
) -> Html:
    """Two histograms over common bins: the second as grey bars, the first as a line, the threshold upright.

    ``names`` are those of the two and of the axis.
    """
    width, left, top, bottom, height = 400.0, 42.0, 30.0, 188.0, 222.0
    along = Scale(edges[0], edges[-1], left, width - 6)
    up = from_zero([*release, *control], bottom, top, least=1e-9)
    marks, steps = [], [f"M{left:g} {bottom:g}"]
    for i, (ours, fresh) in enumerate(zip(release, control, strict=True)):
        x0, x1 = along(edges[i]), along(edges[i + 1])
        reach = f"{number(edges[i])} and more" if i == len(release) - 1 else f"{number(edges[i])} to {number(edges[i + 1])}"
        title = f"distance {reach}: {names[0]} {share(ours)}, {names[1]} {share(fresh)}"
        bar = element("rect", class_="real", x=x0 + 0.5, y=up(fresh), width=x1 - x0 - 1, height=bottom - up(fresh))
        marks.append(titled(title, bar, element("rect", class_="hover", x=x0, y=top, width=x1 - x0, height=bottom - top)))
        steps.append(f"V{up(ours):.2f}H{x1:.2f}")
    line = element("path", class_="line release", d="".join([*steps, f"V{bottom:g}"]))
    ticks = [text(along(t), bottom + 15, number(t), anchor="middle") for t in along.ticks()]
    name = text((left + width) / 2, height - 3, names[2], anchor="middle", class_="small")
    return svg(
        width, height, label, share_grid(up, left, width - 6), marks, line, _threshold(along, threshold, top, bottom), ticks, name
    )


def _threshold(along: Scale, threshold: float | None, top: float, bottom: float) -> Html | None:
    if threshold is None or not along.low <= threshold <= along.high:
        return None
    x = along(threshold)
    anchor, shift = ("end", -5.0) if x > (along.start + along.stop) / 2 else (None, 5.0)
    return titled(
        f"suspiciously close: {number(threshold)} or less",
        element("line", class_="threshold", x1=x, x2=x, y1=top - 20, y2=bottom),
        text(x + shift, top - 12, f"suspiciously close: {number(threshold)} or less", anchor=anchor, class_="threshold"),
    )


def stacked(parts: Sequence[tuple[str, float, int]], label: str) -> Html:
    """One bar of the whole, divided: (what it is, its share, the number of its colour). It stretches with its frame."""
    width, at, marks = 600.0, 0.0, []
    for title, part, colour in parts:
        wide = part * width
        inner = max(wide - 1.2, min(wide, 0.6))
        marks.append(
            titled(f"{title}: {share(part)}", element("rect", class_=f"hue{colour % 6}", x=at, y=0, width=inner, height=20))
        )
        at += wide
    return element(
        "svg", marks, viewBox=f"0 0 {width:g} 20", preserveAspectRatio="none", role="img", aria_label=label, class_="stacked"
    )


def share_grid(scale: Scale, left: float, right: float) -> list[Html]:
    """Level lines with their percentages at the left."""
    lines = []
    for tick in scale.ticks():
        y = scale(tick)
        lines.append(element("line", class_="axis" if tick == 0 else "grid", x1=left, x2=right, y1=y, y2=y))
        lines.append(
            text(left - 5, y + 4, f"{number(100 * tick)} %" if tick == scale.ticks()[-1] else number(100 * tick), anchor="end")
        )
    return lines


def _ends(ends: Sequence[str], left: float, wide: float, y: float) -> list[Html]:
    """Some of the limits under the bars, the first and the last always, none over another."""
    if len(ends) < 2:
        return []
    last = len(ends) - 1
    picked = [0, last] if last < 4 else [0, round(last / 2), last]
    anchors = {0: None, last: "end"}
    room = (WIDTH - left) / len(picked) - 4
    return [text(left + i * wide, y, fit(ends[i], room, LETTER), anchor=anchors.get(i, "middle")) for i in picked]


def _round_step(rough: float) -> float:
    if rough <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(rough))
    return next(m * unit for m in (1, 2, 2.5, 5, 10) if m * unit >= rough * (1 - 1e-9))
