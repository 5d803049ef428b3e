"""What a stronger promise costs: the score by the knob that sets the promise, one line for each recipe."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hushtable.report.charts.ground import score_ticks, upwards
from hushtable.report.charts.plane import HUES, shape
from hushtable.report.charts.plots import Scale, svg, text, titled
from hushtable.report.compare_text import in_one_line
from hushtable.report.html import Child, Html, element
from hushtable.report.words import fit, number, wide

if TYPE_CHECKING:
    from hushtable.api.compare.axis import Axis
    from hushtable.api.compare.cell import Cell
    from hushtable.api.compare.comparison import Comparison

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
    points: Sequence[tuple[float, Cell]]


def lines(comparison: Comparison) -> dict[str, list[Line]]:
    """The recipes by the knob that was turned: epsilon where there is a proof, else k, else the one number that differs."""
    by_knob: dict[str, list[Line]] = {}
    for i, recipe in enumerate(comparison.recipe_names):
        tried = [cell for cell in comparison.released if cell.recipe == recipe and cell.score is not None]
        knob, values = _knob(tried)
        if knob:
            points = sorted(zip(values, tried, strict=True), key=lambda point: (point[0], point[1].rank))
            by_knob.setdefault(knob, []).append(Line(recipe, i % HUES, points))
    return by_knob


def chart(axis: Axis, knob: str, drawn: Sequence[Line]) -> Html:
    """Lines over one knob with the interval of every score; the real rows above."""
    right, top, bottom = WIDTH - 84.0, 26.0, HEIGHT - 34.0
    scale = upwards(axis, [cell for line in drawn for _, cell in line.points], bottom, top)
    ticks = score_ticks(axis, scale, 5)
    left = max(40.0, 8.0 + max((wide(shown, LETTER) for _, shown in ticks), default=0.0))
    values = [x for line in drawn for x, _ in line.points]
    along, log = _along(values, left + 8, right)

    def up(score: float) -> float:
        return min(max(scale(score), top), bottom)

    marks: list[Child] = []
    for tick, shown in ticks:
        marks.append(element("line", class_="grid", x1=left, x2=right, y1=up(tick), y2=up(tick)))
        marks.append(text(left - 5, up(tick) + 4, shown, anchor="end"))
    marks.append(element("line", class_="axis", x1=left, x2=right, y1=bottom, y2=bottom))
    marks += _ticks(sorted(set(values)), along, log, bottom)
    if axis.baseline is not None:
        y = up(axis.baseline)
        marks.append(
            titled(
                f"the real rows themselves: {axis.label} {number(axis.baseline)}",
                element("line", class_="baseline", x1=left, x2=right, y1=y, y2=y),
                text(right + 6, y + 4, "real rows", class_="small"),
            )
        )
    marks += [_line(line, axis, along, log, up) for line in drawn]
    marks += _names(drawn, up, right, axis)
    name = WORDS.get(knob, (knob, ""))[0]
    marks.append(text(0, 11, fit(axis.label, WIDTH, LETTER), class_="small"))
    marks.append(
        text(right, HEIGHT - 3, fit(f"{name}{' (log scale)' if log else ''}", right, LETTER), anchor="end", class_="small")
    )
    return svg(WIDTH, HEIGHT, f"{axis.label} by {name}, for {', '.join(line.recipe for line in drawn)}", marks, class_="knob")


def _knob(tried: Sequence[Cell]) -> tuple[str, list[float]]:
    """The knob that differs among the releases of a recipe, with its value for each; empty if there is none."""
    if not tried:
        return "", []
    for name, values in (("epsilon", [cell.nominal_epsilon for cell in tried]), ("k", [cell.guarantee.k for cell in tried])):
        known = [v for v in values if v is not None]
        if len(known) == len(tried) and len(set(known)) > 1:
            return name, known
    for name in tried[0].settings:
        numbers = [_number(cell.settings.get(name, "")) for cell in tried]
        known = [v for v in numbers if v is not None]
        if len(known) == len(tried) and len(set(known)) > 1:
            return name, known
    return "", []


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


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


def _line(line: Line, axis: Axis, along: Scale, log: bool, up: Callable[[float], float]) -> list[Child]:
    places = [(_x(value, along, log), up(_score(cell)), cell) for value, cell in line.points]
    steps = "".join(f"{'L' if i else 'M'}{x:.2f} {y:.2f}" for i, (x, y, _) in enumerate(places))
    marks: list[Child] = [element("path", class_=f"curve stroke{line.hue}{f' dash{line.hue}' if line.hue else ''}", d=steps)]
    for x, y, cell in places:
        whisker = None
        if cell.score and cell.score.low is not None and cell.score.high is not None:
            ends = up(cell.score.low), up(cell.score.high)
            whisker = element("line", class_=f"reach stroke{line.hue}", x1=x, x2=x, y1=ends[0], y2=ends[1])
        marks.append(titled(in_one_line(cell, axis), whisker, shape(cell, x, y, line.hue, 4.0)))
    return marks


def _score(cell: Cell) -> float:
    return cell.score.value if cell.score else 0.0


def _names(drawn: Sequence[Line], up: Callable[[float], float], right: float, axis: Axis) -> list[Child]:
    """The recipe at the end of its line, moved apart from the others where they end together."""
    ends = sorted(((up(_score(line.points[-1][1])), line.recipe) for line in drawn), key=lambda e: e[0])
    marks: list[Child] = []
    lowest = -math.inf if axis.baseline is None else up(axis.baseline) + 13
    for y, recipe in ends:
        place_y = max(y, lowest)
        lowest = place_y + 13
        marks.append(text(right + 6, place_y + 4, fit(recipe, WIDTH - right - 6, LETTER)))
    return marks
