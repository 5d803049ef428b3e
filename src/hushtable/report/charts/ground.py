"""What releases are drawn on: the scales of risk and score, their axes, what constraints rule out, the score of the real rows.

The scale of risk is the same in every comparison, from none to all, so that two pictures can be laid side by side. Most releases
lie near zero, and zero itself must have a place: it is straight up to about one of 100 people, and logarithmic beyond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hushtable.report.charts.placing import Box
from hushtable.report.charts.plots import Scale, text, titled
from hushtable.report.html import Child, Html, element
from hushtable.report.words import fit, number, wide

if TYPE_CHECKING:
    from hushtable.api.compare.axis import Axis
    from hushtable.api.compare.cell import Cell
    from hushtable.api.compare.comparison import Comparison

LETTER = 12.0
UNKNOWN = 64.0
"""The width of the strip for releases whose risk is not known."""
TICKS = (0.0, 0.01, 0.05, 0.2, 0.5, 1.0)
"""Of the scale of risk."""
UNIT = 0.01
"""Up to about this the scale of risk is straight."""
SPAN = 0.02
"""The least difference between the ends of a scale of scores: what is smaller than its half is noise."""


@dataclass(frozen=True)
class Risks:
    """The scale of what attacks gain: from 0 to 1, whatever was measured."""

    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """The place of a value; below zero is zero, beyond the end is the end."""
        return self.start + math.log1p(min(max(value, 0.0), 1.0) / UNIT) / math.log1p(1 / UNIT) * (self.stop - self.start)


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Ticks that are equally far apart as texts, all with as many decimals as tell them apart."""
    step = min((abs(b - a) for a, b in pairwise(ticks)), default=0.0)
    if step <= 0:
        return [number(tick) for tick in ticks]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    # A step such as 0.25 has a digit more than its size says.
    while decimals < 12 and abs(round(step, decimals) - step) > 1e-6 * step:
        decimals += 1
    return [f"{0.0 if abs(tick) < step / 2 else tick:,.{decimals}f}".replace("-", "−") for tick in ticks]


@dataclass(frozen=True)
class Field:
    """The drawn rectangle with its two scales."""

    along: Risks
    up: Scale
    frame: Box
    size: tuple[float, float]
    unknown: bool
    """Whether there is a strip at the right for risks that are not known."""
    ticks: Sequence[tuple[float, str]] = ()
    """Of the scores, with their texts."""

    def at(self, cell: Cell) -> tuple[float, float]:
        """The middle of a mark."""
        y = self.level(cell.score.value if cell.score else 0.0)
        if cell.worst and cell.risk_known:
            return self.along(cell.worst.value), y
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
    """The constraints on ``max_gain``, ``max_risk`` or ``score`` as lines."""
    conditions = [(one.condition, one.description or one.expression) for one in comparison.constraints]
    return [
        Limit(condition.limit, words)
        for condition, words in conditions
        if condition is not None and condition.name == name and isinstance(condition.limit, float)
    ]


def risk_name(comparison: Comparison) -> str:
    """The constraint that is a line on the scale of risk."""
    return "max_gain" if comparison.by_gain else "max_risk"


def field_of(comparison: Comparison, drawn: Sequence[Cell], width: float, height: float) -> Field:
    """Scales that hold all marks with their intervals, the constraints and the real rows."""
    unknown = any(not cell.risk_known for cell in drawn)
    top, bottom = 30.0, height - 42.0
    up = upwards(comparison.axis, drawn, bottom, top, limits(comparison, "score"))
    ticks = score_ticks(comparison.axis, up, 6)
    left = max(46.0, 14.0 + max((wide(shown, LETTER) for _, shown in ticks), default=0.0))
    frame = Box(left, top, width - (UNKNOWN + 12 if unknown else 24.0), bottom)
    return Field(Risks(frame.left + 26.0, frame.right), up, frame, (width, height), unknown, ticks)


def score_ticks(axis: Axis, scale: Scale, most: int) -> list[tuple[float, str]]:
    """Round scores with texts that differ, none beyond the best that there can be."""
    ticks = [tick for tick in scale.ticks(most) if axis.most is None or tick <= axis.most + 1e-9]
    return list(zip(ticks, tick_texts(ticks), strict=True))


def upwards(axis: Axis, drawn: Sequence[Cell], bottom: float, top: float, drawn_limits: Sequence[Limit] = ()) -> Scale:
    """A scale of scores on which up is better, whichever way the numbers run.

    It holds all scores with their intervals, the real rows and the constraints. Only what is much worse than guessing stands at
    its edge: such a score has no end, and says no more than that it is of no use.
    """
    sign = 1.0 if axis.higher else -1.0
    scores = [cell.score for cell in drawn if cell.score]
    values = [end for score in scores for end in (score.value, score.lower, score.upper)]
    values += [limit.value for limit in drawn_limits]
    if axis.baseline is not None:
        values.append(axis.baseline)
    signed = [sign * value for value in values] or [0.0, sign]
    worst, best = min(signed), max(signed)
    if axis.guess is not None:
        guess = sign * axis.guess
        worst = max(worst, guess - max(best - guess, SPAN))
    middle, half = (worst + best) / 2, max(0.56 * (best - worst), SPAN / 2)
    low, high = sorted((sign * (middle - half), sign * (middle + half)))
    return Scale(low, high, *((bottom, top) if axis.higher else (top, bottom)))


def below(comparison: Comparison, drawn: Sequence[Cell]) -> bool:
    """Whether a score is so bad that its mark stands at the edge and not in its place."""
    scale = upwards(comparison.axis, drawn, 1.0, 0.0, limits(comparison, "score"))
    return any(cell.score is not None and scale(cell.score.value) > 1.0 for cell in drawn)


def axes(comparison: Comparison, field: Field) -> list[Child]:
    """Lines, ticks and names of both axes."""
    axis = comparison.axis
    frame, (width, height) = field.frame, field.size
    marks: list[Child] = []
    for tick, shown in field.ticks:
        y = field.up(tick)
        marks += [element("line", class_="grid", x1=frame.left, x2=frame.right, y1=y, y2=y)]
        marks += [text(frame.left - 6, y + 4, shown, anchor="end")]
    for tick in TICKS:
        x = field.along(tick)
        marks += [element("line", class_="axis" if tick == 0 else "grid", x1=x, x2=x, y1=frame.top, y2=frame.bottom)]
        marks += [text(x, frame.bottom + 16, number(100 * tick), anchor="middle")]
    marks.append(element("line", class_="axis", x1=frame.left, x2=frame.right, y1=frame.bottom, y2=frame.bottom))
    better = "higher" if axis.higher else "lower"
    marks.append(text(0, 14, fit(f"{axis.label} ({better} is better, better is up)", width, LETTER), class_="small"))
    long = "gain of the worst attack: so many more of 100 people in the table than outside it"
    short = "gain of the worst attack, of 100 people"
    if not comparison.by_gain:
        long = short = "residual risk of the worst attack, in percent"
    marks.append(text(frame.right, height - 6, long if width > 500 else short, anchor="end", class_="small"))
    if field.unknown:
        x = frame.right + 4
        marks.append(element("line", class_="axis", x1=x, x2=x, y1=frame.top, y2=frame.bottom))
        marks.append(text(x + UNKNOWN / 2, frame.bottom + 16, "unknown", anchor="middle"))
    return marks


def regions(comparison: Comparison, field: Field) -> list[Child]:
    """What the constraints rule out, hatched, with their words."""
    frame = field.frame
    marks: list[Child] = []
    for limit in limits(comparison, risk_name(comparison)):
        x, most = field.along(limit.value), f"{number(100 * limit.value)} of 100"
        marks += _region(Box(x, frame.top, frame.right, frame.bottom), limit, most, (x, x, frame.top, frame.bottom))
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
