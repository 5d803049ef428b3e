"""What a stronger promise costs: the score by the knob that sets the promise, one line for each recipe."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hushtable.report.charts.ground import upwards
from hushtable.report.charts.plane import HUES, shape
from hushtable.report.charts.plots import Scale, svg, text, titled
from hushtable.report.html import Child, Html, element
from hushtable.report.trials import Trial, Trials, finite
from hushtable.report.words import fit, number

WIDTH, HEIGHT = 340.0, 230.0
LETTER = 11.0
WORDS = {
    "epsilon": ("epsilon", "Smaller is a stronger proof: less can be learnt about any one person."),
    "k": ("k", "Larger is a stronger promise: every row looks like so many others."),
}
"""What a knob is called, and which way it protects."""


@dataclass(frozen=True)
class Line:
    """The releases of one recipe along its knob."""

    recipe: str
    hue: int
    points: Sequence[tuple[float, Trial]]


def lines(told: Trials) -> dict[str, list[Line]]:
    """The recipes by the knob that was turned: epsilon where there is a proof, else k, else the one number that differs."""
    found: dict[str, list[Line]] = {}
    for i, recipe in enumerate(told.recipes):
        tried = [t for t in told.ran if t.recipe == recipe and t.score.value is not None]
        knob, values = _knob(tried)
        points = sorted(zip(values, tried, strict=True), key=lambda p: (p[0], p[1].number)) if knob else []
        if len({x for x, _ in points}) > 1:
            found.setdefault(knob, []).append(Line(recipe, i % HUES, points))
    return found


def chart(told: Trials, knob: str, drawn: Sequence[Line]) -> Html:
    """Lines over one knob with the interval of every score; the real rows above."""
    left, right, top, bottom = 40.0, WIDTH - 84.0, 26.0, HEIGHT - 34.0
    values = [x for line in drawn for x, _ in line.points]
    along, log = _along(values, left + 8, right)
    scale = upwards(told, [t for line in drawn for _, t in line.points], bottom, top)

    def up(score: float) -> float:
        return min(max(scale(score), top), bottom)

    marks: list[Child] = []
    for tick in scale.ticks():
        marks.append(element("line", class_="grid", x1=left, x2=right, y1=up(tick), y2=up(tick)))
        marks.append(text(left - 5, up(tick) + 4, number(tick), anchor="end"))
    marks.append(element("line", class_="axis", x1=left, x2=right, y1=bottom, y2=bottom))
    marks += _ticks(sorted(set(values)), along, log, bottom)
    if told.axis.baseline is not None:
        y = up(told.axis.baseline)
        marks.append(
            titled(
                f"the real rows themselves: {told.axis.label} {number(told.axis.baseline)}",
                element("line", class_="baseline", x1=left, x2=right, y1=y, y2=y),
                text(right + 6, y + 4, "real rows", class_="small"),
            )
        )
    marks += [_line(line, told, along, log, up) for line in drawn]
    marks += _names(drawn, up, right, told)
    name = WORDS.get(knob, (knob, ""))[0]
    marks.append(text(0, 11, fit(told.axis.label, WIDTH, LETTER), class_="small"))
    marks.append(
        text(right, HEIGHT - 3, fit(f"{name}{' (log scale)' if log else ''}", right, LETTER), anchor="end", class_="small")
    )
    return svg(WIDTH, HEIGHT, f"{told.axis.label} by {name}, for {', '.join(line.recipe for line in drawn)}", marks, class_="knob")


def _knob(tried: Sequence[Trial]) -> tuple[str, list[float]]:
    """The knob that differs among the releases of a recipe, with its value for each; empty if there is none."""
    if not tried:
        return "", []
    for name, values in (("epsilon", [t.epsilon for t in tried]), ("k", [t.k for t in tried])):
        known = [v for v in values if v is not None]
        if len(known) == len(tried) and len(set(known)) > 1:
            return name, known
    for name in tried[0].settings:
        numbers = [_number(t.settings.get(name)) for t in tried]
        known = [v for v in numbers if v is not None]
        if len(known) == len(tried) and len(set(known)) > 1:
            return str(name), known
    return "", []


def _number(value: object) -> float | None:
    try:
        return finite(float(value)) if isinstance(value, (str, int, float)) else None
    except ValueError:
        return None


def _along(values: Sequence[float], start: float, stop: float) -> tuple[Scale, bool]:
    """A scale over the values, of their logarithms where they span much, and whether it is that."""
    log = min(values) > 0 and max(values) >= 4 * min(values)
    low, high = (math.log(min(values)), math.log(max(values))) if log else (min(values), max(values))
    return Scale(low, high, start, stop - 8), log


def _x(value: float, along: Scale, log: bool) -> float:
    return along(math.log(value) if log else value)


def _ticks(values: Sequence[float], along: Scale, log: bool, bottom: float) -> list[Child]:
    """The values that were tried, as far as there is room for them."""
    marks: list[Child] = []
    last = -math.inf
    for value in values:
        x = _x(value, along, log)
        if x - last >= 30.0:
            marks.append(text(x, bottom + 15, number(value), anchor="middle"))
            last = x
    return marks


def _line(line: Line, told: Trials, along: Scale, log: bool, up: Callable[[float], float]) -> list[Child]:
    places = [(_x(value, along, log), up(t.score.value or 0.0), t) for value, t in line.points]
    steps = "".join(f"{'L' if i else 'M'}{x:.2f} {y:.2f}" for i, (x, y, _) in enumerate(places))
    marks: list[Child] = [element("path", class_=f"curve stroke{line.hue}{f' dash{line.hue}' if line.hue else ''}", d=steps)]
    for x, y, trial in places:
        ends = trial.score.low, trial.score.high
        reach = [up(e) for e in ends if e is not None]
        whisker = (
            element("line", class_=f"reach stroke{line.hue}", x1=x, x2=x, y1=reach[0], y2=reach[1]) if len(reach) == 2 else None
        )
        marks.append(titled(trial.told(told.axis), whisker, shape(trial.assurance, x, y, line.hue, 3.6)))
    return marks


def _names(drawn: Sequence[Line], up: Callable[[float], float], right: float, told: Trials) -> list[Child]:
    """The recipe at the end of its line, moved apart from the others where they end together."""
    ends = sorted(((up(line.points[-1][1].score.value or 0.0), line.recipe) for line in drawn), key=lambda e: e[0])
    marks: list[Child] = []
    lowest = -math.inf if told.axis.baseline is None else up(told.axis.baseline) + 13
    for y, recipe in ends:
        place_y = max(y, lowest)
        lowest = place_y + 13
        marks.append(text(right + 6, place_y + 4, fit(recipe, WIDTH - right - 6, LETTER)))
    return marks
