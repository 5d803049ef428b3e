"""The plane of risk and use as a drawing: every release a mark, up and to the left is better."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.report.charts.ground import LETTER, Field, axes, field_of, real_rows, regions
from hushtable.report.charts.placing import Box, Place, Wish, place
from hushtable.report.charts.plots import titled
from hushtable.report.html import Child, Html, element
from hushtable.report.trials import Trial, Trials
from hushtable.report.words import fit

HUES = 8
"""So many colours tell recipes apart; beyond, the number and the name do."""
MARK = 6.0
"""The radius of a mark."""
NAMED = 14
"""Up to so many releases all have their names written beside them; beyond, only the best."""


def plane(told: Trials, *, width: float = 900.0, height: float = 470.0, class_: str = "") -> Html:
    """All releases that have a score, each a link to its line of the table; the front, the constraints and the real rows."""
    drawn = [t for t in told.ran if t.score.value is not None]
    field = field_of(told, drawn, width, height)
    hues = {recipe: i % HUES for i, recipe in enumerate(told.recipes)}
    marks = [_mark(t, told, field, hues[t.recipe]) for t in reversed(drawn)]
    real = real_rows(told, field)
    names = _names(drawn, told, field, real)
    label = (
        f"{told.axis.label} against the largest risk of any attack, for {len(drawn)} releases; up and to the left is better. "
        "The same numbers are in the table of all releases."
    )
    return element(
        "svg",
        regions(told, field),
        axes(told, field),
        real and real[0],
        _front(drawn, field),
        marks,
        names,
        viewBox=f"0 0 {width:g} {height:g}",
        # A group, not an image: the marks inside are links of their own.
        role="group",
        aria_label=label,
        class_=f"plane {class_}".strip(),
    )


def shape(assurance: str, x: float, y: float, hue: int, radius: float = MARK) -> Html:
    """The shape of a kind of assurance: proven a circle, verified a diamond, claimed a triangle, none a ring."""
    if assurance == "proven":
        return element("circle", class_=f"hue{hue}", cx=x, cy=y, r=radius)
    if assurance == "none":
        return element("circle", class_=f"ring stroke{hue}", cx=x, cy=y, r=radius - 1)
    r = radius * 1.2
    corners = (
        f"M{x:.2f} {y - r:.2f}L{x + r:.2f} {y:.2f}L{x:.2f} {y + r:.2f}L{x - r:.2f} {y:.2f}Z"
        if assurance == "verified"
        else f"M{x:.2f} {y - r:.2f}L{x + r:.2f} {y + 0.75 * r:.2f}L{x - r:.2f} {y + 0.75 * r:.2f}Z"
    )
    return element("path", class_=f"hue{hue}", d=corners)


def _front(drawn: Sequence[Trial], field: Field) -> Html | None:
    """Steps through the upper ends of the releases that no other beats in both."""
    front = sorted((t for t in drawn if t.front and t.judged), key=lambda t: (_number(t.risk.upper), -field.at(t)[1]))
    if not front:
        return None
    steps = [f"M{field.along(_number(front[0].risk.upper)):.2f} {field.at(front[0])[1]:.2f}"]
    steps += [f"H{field.along(_number(t.risk.upper)):.2f}V{field.at(t)[1]:.2f}" for t in front[1:]]
    told = (
        f"the front: {', '.join(t.id for t in front)}. No other release has both a smaller upper end of the risk and a better score"
    )
    return titled(told, element("path", class_="front", d="".join([*steps, f"H{field.frame.right:.2f}"])))


def _mark(trial: Trial, told: Trials, field: Field, hue: int) -> Html:
    x, y = field.at(trial)
    whiskers: list[Child] = []
    if trial.judged and trial.risk.high is not None:
        left, right = field.along(_number(trial.risk.low)), field.along(trial.risk.high)
        whiskers.append(element("line", class_=f"reach stroke{hue}", x1=left, x2=right, y1=y, y2=y))
        whiskers.append(element("line", class_=f"reach stroke{hue}", x1=right, x2=right, y1=y - 4, y2=y + 4))
    if trial.score.low is not None and trial.score.high is not None:
        ends = field.level(trial.score.low), field.level(trial.score.high)
        whiskers.append(element("line", class_=f"reach stroke{hue}", x1=x, x2=x, y1=ends[0], y2=ends[1]))
    best = trial is told.chosen
    words = trial.told(told.axis) + ("; recommended" if best else "")
    return element(
        "a",
        element("title", words),
        whiskers,
        element("circle", class_="chosen", cx=x, cy=y, r=MARK + 5) if best else None,
        element("circle", class_="hover", cx=x, cy=y, r=MARK + 4),
        shape(trial.assurance, x, y, hue),
        href=f"#{trial.anchor}",
        aria_label=words,
        tabindex=0,
        class_="mark" if trial.fits else "mark misses",
        data_release=trial.number,
    )


def _names(drawn: Sequence[Trial], told: Trials, field: Field, real: tuple[Html, Box] | None) -> list[Child]:
    ordered = sorted(drawn, key=lambda t: (t is not told.chosen, not t.front, t.number))
    crowded = len(drawn) > NAMED or field.size[0] < 500
    wishes = []
    for trial in ordered:
        short = str(trial.number)
        full = f"{short} {fit(trial.id, 190.0, LETTER)}"
        best = trial is told.chosen
        named = best or not crowded or (trial.front and field.size[0] >= 500)
        wishes.append(Wish(*field.at(trial), (full, short) if named else (short,), 1.12 if best else 1.0, insists=best))
    dots = [Box(x - MARK, y - MARK, x + MARK, y + MARK) for x, y in map(field.at, drawn)]
    lines = [_reach(t, field) for t in drawn if t.judged]
    frame = Box(field.frame.left, field.frame.top - 12, field.size[0], field.frame.bottom)
    if real:
        dots.append(real[1])
        lines.append(Box(frame.left, real[1].bottom - 4, frame.right, real[1].bottom - 2))
    places = place(wishes, frame, marks=dots, lines=lines, size=LETTER)
    return [_name(t, p, t is told.chosen) for t, p in zip(ordered, places, strict=True) if p]


def _reach(trial: Trial, field: Field) -> Box:
    x, y = field.at(trial)
    return Box(field.along(_number(trial.risk.low)), y - 1, max(field.along(_number(trial.risk.upper)), x), y + 1)


def _name(trial: Trial, spot: Place, best: bool) -> Html:
    return element(
        "text",
        spot.text,
        x=spot.x,
        y=spot.y,
        class_=f"name{' best' if best else ''}{'' if trial.fits else ' misses'}",
        aria_hidden="true",
        data_release=trial.number,
    )


def _number(value: float | None) -> float:
    return 0.0 if value is None else value
