"""The canaries of a mechanism's audit as lines: from the epsilon that was shown up to the one that is stated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.audits.mechanism.lines import CLAIM, NOBODY, CanaryLine
from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Html, element
from hushtable.report.words import fit, fixed, number

if TYPE_CHECKING:
    from hushtable.api.mechanism import MechanismReport

WIDTH, ROW, LEFT = 400.0, 44.0, 8.0
RIGHT = WIDTH - 12


def draw(tested: Sequence[CanaryLine]) -> Html:
    """A line for each canary that was tested."""
    scale = from_zero([x for line in tested for x in _ends(line)], LEFT, RIGHT, least=0.1)
    bottom = ROW * len(tested)
    marks = [_line(line, scale, i * ROW) for i, line in enumerate(tested)]
    ticks = [
        text(scale(t), bottom + 12, number(t), anchor="middle" if LEFT < scale(t) < RIGHT else None, class_="small")
        for t in scale.ticks()
    ]
    return svg(WIDTH, bottom + 20, "Epsilon: " + "; ".join(_words(line) for line in tested), marks, ticks)


def _line(line: CanaryLine, scale: Scale, top: float) -> Html:
    shown, stated = _ends(line)
    y, low, high = top + 29, scale(shown), scale(stated)
    colour = tone(line)
    # Between the two lies epsilon itself only where the upper one is proven; where it is refuted, what it falls short by.
    between = element("line", class_=f"whisker {colour}", x1=min(low, high), x2=max(low, high), y1=y, y2=y)
    beside = f"{fixed(shown)}, {word(line)} {fixed(stated)}"
    return titled(
        _words(line),
        text(LEFT, top + 14, fit(line.canary, WIDTH - 120, 13), class_="name"),
        text(RIGHT, top + 14, beside, anchor="end", class_="name"),
        element("line", class_="grid", x1=LEFT, x2=RIGHT, y1=y, y2=y),
        between if line.result[0].proven or line.refuted else None,
        element("line", class_="baseline", x1=high, x2=high, y1=y - 9, y2=y + 9),
        element("circle", class_=f"dot {colour}", cx=low, cy=y, r=5),
    )


def _ends(line: CanaryLine) -> tuple[float, float]:
    """The epsilon that was shown, and the one under test."""
    stated, bounds = line.result
    return bounds.epsilon.value, stated.epsilon


def _words(line: CanaryLine) -> str:
    shown, stated = _ends(line)
    return f"{line.canary}: at least {fixed(shown)}, {word(line)} {fixed(stated)}"


def word(line: CanaryLine) -> str:
    """How the epsilon under test came up: "stated" only where the ledger says it."""
    return {CLAIM: "claimed", NOBODY: "asked about"}.get(line.result[0].source, "stated")


def shape(line: CanaryLine | MechanismReport) -> str:
    """The shape of a verdict, of a line or of the whole."""
    return {"alarm": "▲", "open": "○", "calm": "●"}[tone(line)]


def tone(line: CanaryLine | MechanismReport) -> str:
    """Refuted; too few runs to refute anything; or not refuted."""
    if line.refuted:
        return "alarm"
    return "open" if line.too_few else "calm"
