"""What releases are drawn on: the scales of risk and score, their axes, what constraints rule out, the score of the real rows.

Risk runs on a root scale: most releases lie near zero, and zero itself must have a place.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.report.charts.placing import Box
from hushtable.report.charts.plots import Scale, text, titled
from hushtable.report.html import Child, Html, element
from hushtable.report.trials import Trial, Trials
from hushtable.report.words import fit, number, share, wide

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
        """Zero and round values, at least so many pixels apart, the largest kept first."""
        kept: list[float] = []
        for step in reversed([s for s in _STEPS if s <= self.high * (1 + 1e-9)]):
            if self(step) - self.start >= apart and all(abs(self(step) - self(k)) >= apart for k in kept):
                kept.append(step)
        return [0.0, *reversed(kept)]


@dataclass(frozen=True)
class Field:
    """The drawn rectangle with its two scales."""

    along: Roots
    up: Scale
    frame: Box
    size: tuple[float, float]
    unknown: bool
    """Whether there is a strip at the right for risks that are not known."""

    def at(self, trial: Trial) -> tuple[float, float]:
        """The middle of a mark."""
        score = self.level(trial.score.value or 0.0)
        return (self.along(trial.risk.value or 0.0) if trial.judged else self.size[0] - UNKNOWN / 2 - 4, score)

    def level(self, score: float) -> float:
        """The height of a score; what is beyond the edge stands at it."""
        return min(max(self.up(score), self.frame.top), self.frame.bottom)


def field_of(told: Trials, drawn: Sequence[Trial], width: float, height: float) -> Field:
    """Scales that hold all marks with their intervals, the constraints and the real rows."""
    unknown = any(not t.judged for t in drawn)
    limits = told.limits
    risks = [x for t in drawn if t.judged for x in t.risk.numbers] + [1.3 * limit.value for limit in limits if limit.axis == "risk"]
    frame = Box(46.0, 30.0, width - (UNKNOWN + 12 if unknown else 24.0), height - 42.0)
    # A little more than the largest, so that its mark is whole; a risk is never more than all.
    reach = min(max([0.01, *(1.06 * r for r in risks)]), 1.0)
    up = upwards(told, drawn, frame.bottom, frame.top, [limit.value for limit in limits if limit.axis == "score"])
    return Field(Roots(reach, frame.left + 26.0, frame.right), up, frame, (width, height), unknown)


def upwards(told: Trials, drawn: Sequence[Trial], bottom: float, top: float, limits: Sequence[float] = ()) -> Scale:
    """A scale of scores on which up is better, whichever way the numbers run.

    It holds all scores with their intervals, but for what is so bad that the others would lie on one line.
    """
    sign = 1.0 if told.axis.higher else -1.0
    values = [t.score.value for t in drawn if t.score.value is not None]
    values += [*limits, *([] if told.axis.baseline is None else [told.axis.baseline])]
    signed = [sign * v for v in values] or [0.0, sign]
    all_ends = signed + [sign * x for t in drawn for x in t.score.numbers]
    best = max(signed)
    worst = max(min(all_ends), best - FAR * (best - statistics.median(signed)) if best > statistics.median(signed) else -math.inf)
    high = min(max(all_ends), best + (best - worst)) if best > worst else max(all_ends)
    room = 0.06 * (high - worst) or 0.05
    low, high = sorted((sign * (worst - room), sign * (high + room)))
    return Scale(low, high, *((bottom, top) if told.axis.higher else (top, bottom)))


def below(told: Trials, drawn: Sequence[Trial]) -> bool:
    """Whether a score is so bad that its mark stands at the edge and not in its place."""
    scale = upwards(told, drawn, 1.0, 0.0, [limit.value for limit in told.limits if limit.axis == "score"])
    return any(t.score.value is not None and scale(t.score.value) > 1.0 for t in drawn)


def axes(told: Trials, field: Field) -> list[Child]:
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
    better = "higher" if told.axis.higher else "lower"
    marks.append(text(0, 14, fit(f"{told.axis.label} ({better} is better, better is up)", width, LETTER), class_="small"))
    words = "risk: what the worst attack gains on people in the table" if width > 500 else "risk: gain of the worst attack"
    marks.append(text(frame.right, height - 6, words, anchor="end", class_="small"))
    if field.unknown:
        x = frame.right + 4
        marks.append(element("line", class_="axis", x1=x, x2=x, y1=frame.top, y2=frame.bottom))
        marks.append(text(x + UNKNOWN / 2, frame.bottom + 16, "unknown", anchor="middle"))
    return marks


def regions(told: Trials, field: Field) -> list[Child]:
    """What the constraints rule out, hatched, with their words."""
    frame = field.frame
    marks: list[Child] = []
    for limit in told.limits:
        if limit.axis == "risk":
            edge = field.along(limit.value)
            out = Box(edge, frame.top, frame.right, frame.bottom)
            line = element("line", class_="threshold", x1=edge, x2=edge, y1=frame.top, y2=frame.bottom)
        else:
            edge = field.up(limit.value)
            out = Box(frame.left, edge, frame.right, frame.bottom)
            line = element("line", class_="threshold", x1=frame.left, x2=frame.right, y1=edge, y2=edge)
        if out.right - out.left < 1 or out.bottom - out.top < 1:
            continue
        short = f"beyond {share(limit.value)}" if limit.axis == "risk" else f"beyond {number(limit.value)}"
        words = next((w for w in (f"asked: {limit.told}", short) if wide(w, LETTER) <= out.right - out.left - 10), "")
        marks.append(
            titled(
                f"asked: {limit.told}",
                element("rect", class_="ruled", x=out.left, y=out.top, width=out.right - out.left, height=out.bottom - out.top),
                element("path", class_="hatch", d=_hatch(out)),
                line,
                text(out.right - 5, out.bottom - 7, words, anchor="end", class_="threshold") if words else None,
            )
        )
    return marks


def _hatch(box: Box, apart: float = 11.0) -> str:
    """Slanted lines inside a rectangle: drawn one by one, since a pattern would have to be fetched by its address."""
    lines = []
    for i in range(1, int((box.right - box.left + box.bottom - box.top) / apart) + 1):
        # The line on which x + y is constant, cut at the edges.
        total = box.left + box.top + i * apart
        x0, x1 = max(box.left, total - box.bottom), min(box.right, total - box.top)
        lines.append(f"M{x0:.1f} {total - x0:.1f}L{x1:.1f} {total - x1:.1f}")
    return "".join(lines)


def real_rows(told: Trials, field: Field) -> tuple[Html, Box] | None:
    """The score of the real rows, which no release needs to beat, and where its words stand."""
    if told.axis.baseline is None:
        return None
    y, frame = field.up(told.axis.baseline), field.frame
    words = f"real rows: {number(told.axis.baseline)}"
    # At the left: what scores like real rows rarely has no risk.
    left = field.along.start + 6
    mark = titled(
        f"the real rows themselves: {told.axis.label} {number(told.axis.baseline)}",
        element("line", class_="baseline", x1=frame.left, x2=frame.right, y1=y, y2=y),
        text(left, y - 5, words, class_="small"),
    )
    return mark, Box(left, y - 5 - LETTER, left + wide(words, LETTER), y + 3)
