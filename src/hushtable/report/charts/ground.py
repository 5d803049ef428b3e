"""What releases are drawn on: the scales of risk and score, their axes, what constraints rule out, the score of the real rows.

Risk runs on a root scale: most releases lie near zero, and zero itself must have a place.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hushtable.report.charts.placing import Box
from hushtable.report.charts.plots import Scale, text, titled
from hushtable.report.html import Child, Html, element
from hushtable.report.words import fit, number, share, wide

if TYPE_CHECKING:
    from hushtable.api.compare.axis import Axis
    from hushtable.api.compare.cell import Cell
    from hushtable.api.compare.comparison import Comparison

LETTER = 12.0
FAR = 8.0
"""A score is drawn in its place if it lies up to so many times as far from the best as the median does."""
UNKNOWN = 64.0
"""The width of the strip for releases whose risk is not known."""
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Roots:
    """A scale from zero up on which equal steps are equal steps of the square root."""

    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """The place of a value; below zero is zero, beyond the end is the end."""
        return self.start + math.sqrt(min(max(value / self.high, 0.0), 1.0)) * (self.stop - self.start)

    def ticks(self, apart: float = 44.0) -> list[float]:
        """Zero and round values, at least so many pixels apart; of values that lie too close the larger stays."""
        ticks: list[float] = []
        for step in reversed([s for s in _STEPS if s <= self.high * (1 + 1e-9)]):
            if self(step) - self.start >= apart and all(abs(self(step) - self(tick)) >= apart for tick in ticks):
                ticks.append(step)
        return [0.0, *reversed(ticks)]


@dataclass(frozen=True)
class Field:
    """The drawn rectangle with its two scales."""

    along: Roots
    up: Scale
    frame: Box
    size: tuple[float, float]
    unknown: bool
    """Whether there is a strip at the right for risks that are not known."""

    def at(self, cell: Cell) -> tuple[float, float]:
        """The middle of a mark."""
        y = self.level(cell.score.value if cell.score else 0.0)
        if cell.risk and cell.risk_known:
            return self.along(cell.risk.value), y
        return self.size[0] - UNKNOWN / 2 - 4, y

    def level(self, score: float) -> float:
        """The height of a score; what is beyond the edge stands at it."""
        return min(max(self.up(score), self.frame.top), self.frame.bottom)


@dataclass(frozen=True)
class Limit:
    """A constraint that is a line on the plane; nothing beyond it fits."""

    value: float
    description: str


def limits(comparison: Comparison, name: str) -> list[Limit]:
    """The constraints on ``max_risk``, or on ``score``, as lines."""
    conditions = [(one.condition, one.description or one.expression) for one in comparison.constraints]
    return [
        Limit(condition.limit, words)
        for condition, words in conditions
        if condition is not None and condition.name == name and isinstance(condition.limit, float)
    ]


def field_of(comparison: Comparison, drawn: Sequence[Cell], width: float, height: float) -> Field:
    """Scales that hold all marks with their intervals, the constraints and the real rows."""
    unknown = any(not cell.risk_known for cell in drawn)
    risks = [cell.risk.upper for cell in drawn if cell.risk and cell.risk_known]
    risks += [1.3 * limit.value for limit in limits(comparison, "max_risk")]
    frame = Box(46.0, 30.0, width - (UNKNOWN + 12 if unknown else 24.0), height - 42.0)
    # A little more than the largest, so that its mark is whole; a risk is never more than all.
    reach = min(max([0.01, *(1.06 * r for r in risks)]), 1.0)
    up = upwards(comparison.axis, drawn, frame.bottom, frame.top, limits(comparison, "score"))
    return Field(Roots(reach, frame.left + 26.0, frame.right), up, frame, (width, height), unknown)


def upwards(axis: Axis, drawn: Sequence[Cell], bottom: float, top: float, drawn_limits: Sequence[Limit] = ()) -> Scale:
    """A scale of scores on which up is better, whichever way the numbers run.

    It holds all scores with their intervals, but for what is so bad that the others would lie on one line.
    """
    sign = 1.0 if axis.higher else -1.0
    scores = [cell.score for cell in drawn if cell.score]
    values = [*(score.value for score in scores), *(limit.value for limit in drawn_limits)]
    if axis.baseline is not None:
        values.append(axis.baseline)
    signed = [sign * value for value in values] or [0.0, sign]
    ends = signed + [sign * end for score in scores for end in (score.lower, score.upper)]
    best, middle = max(signed), statistics.median(signed)
    worst, high = min(ends), max(ends)
    if best > middle:
        worst = max(worst, best - FAR * (best - middle))
    if best > worst:
        high = min(high, best + (best - worst))
    room = 0.06 * (high - worst) or 0.05
    low, high = sorted((sign * (worst - room), sign * (high + room)))
    return Scale(low, high, *((bottom, top) if axis.higher else (top, bottom)))


def below(comparison: Comparison, drawn: Sequence[Cell]) -> bool:
    """Whether a score is so bad that its mark stands at the edge and not in its place."""
    scale = upwards(comparison.axis, drawn, 1.0, 0.0, limits(comparison, "score"))
    return any(cell.score is not None and scale(cell.score.value) > 1.0 for cell in drawn)


def axes(axis: Axis, field: Field) -> list[Child]:
    """Lines, ticks and names of both axes."""
    frame, (width, height) = field.frame, field.size
    marks: list[Child] = []
    for tick in field.up.ticks(6):
        y = field.up(tick)
        marks += [element("line", class_="grid", x1=frame.left, x2=frame.right, y1=y, y2=y)]
        marks += [text(frame.left - 6, y + 4, number(tick), anchor="end")]
    for tick in field.along.ticks():
        x = field.along(tick)
        if field.unknown and x > frame.right - 20:
            continue
        marks += [element("line", class_="axis" if tick == 0 else "grid", x1=x, x2=x, y1=frame.top, y2=frame.bottom)]
        marks += [text(x, frame.bottom + 16, share(tick) if tick else "0", anchor="middle")]
    marks.append(element("line", class_="axis", x1=frame.left, x2=frame.right, y1=frame.bottom, y2=frame.bottom))
    better = "higher" if axis.higher else "lower"
    marks.append(text(0, 14, fit(f"{axis.label} ({better} is better, better is up)", width, LETTER), class_="small"))
    words = "risk: what the worst attack gains on people in the table" if width > 500 else "risk: gain of the worst attack"
    marks.append(text(frame.right, height - 6, words, anchor="end", class_="small"))
    if field.unknown:
        x = frame.right + 4
        marks.append(element("line", class_="axis", x1=x, x2=x, y1=frame.top, y2=frame.bottom))
        marks.append(text(x + UNKNOWN / 2, frame.bottom + 16, "unknown", anchor="middle"))
    return marks


def regions(comparison: Comparison, field: Field) -> list[Child]:
    """What the constraints rule out, hatched, with their words."""
    frame = field.frame
    marks: list[Child] = []
    for limit in limits(comparison, "max_risk"):
        x = field.along(limit.value)
        marks += _region(Box(x, frame.top, frame.right, frame.bottom), limit, share(limit.value), (x, x, frame.top, frame.bottom))
    for limit in limits(comparison, "score"):
        y = field.up(limit.value)
        marks += _region(Box(frame.left, y, frame.right, frame.bottom), limit, number(limit.value), (frame.left, frame.right, y, y))
    return marks


def _region(out: Box, limit: Limit, value: str, edge: tuple[float, float, float, float]) -> list[Child]:
    """What lies beyond a limit, hatched, and the limit itself from x1 to x2 and y1 to y2; nothing if nothing lies beyond."""
    if out.right - out.left < 1 or out.bottom - out.top < 1:
        return []
    words = (f"asked: {limit.description}", f"beyond {value}")
    shown = next((w for w in words if wide(w, LETTER) <= out.right - out.left - 10), "")
    x1, x2, y1, y2 = edge
    return [
        titled(
            words[0],
            element("rect", class_="ruled", x=out.left, y=out.top, width=out.right - out.left, height=out.bottom - out.top),
            element("path", class_="hatch", d=_hatch(out)),
            element("line", class_="threshold", x1=x1, x2=x2, y1=y1, y2=y2),
            text(out.right - 5, out.bottom - 7, shown, anchor="end", class_="threshold") if shown else None,
        )
    ]


def _hatch(box: Box, apart: float = 11.0) -> str:
    """Slanted lines inside a rectangle: drawn one by one, since a pattern would have to be fetched by its address."""
    lines = []
    for i in range(1, int((box.right - box.left + box.bottom - box.top) / apart) + 1):
        # The line on which x + y is constant, cut at the edges.
        total = box.left + box.top + i * apart
        x0, x1 = max(box.left, total - box.bottom), min(box.right, total - box.top)
        lines.append(f"M{x0:.1f} {total - x0:.1f}L{x1:.1f} {total - x1:.1f}")
    return "".join(lines)


def real_rows(axis: Axis, field: Field) -> tuple[Html, Box] | None:
    """The score of the real rows, which no release needs to beat, and where its words stand."""
    if axis.baseline is None:
        return None
    y, frame = field.up(axis.baseline), field.frame
    words = f"real rows: {number(axis.baseline)}"
    # At the left: what scores like real rows rarely has no risk.
    left = field.along.start + 6
    mark = titled(
        f"the real rows themselves: {axis.label} {number(axis.baseline)}",
        element("line", class_="baseline", x1=frame.left, x2=frame.right, y1=y, y2=y),
        text(left, y - 5, words, class_="small"),
    )
    return mark, Box(left, y - 5 - LETTER, left + wide(words, LETTER), y + 3)
