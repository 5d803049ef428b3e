"""Judged choices of levels on the plane of what they suppress and what they lose; down and to the left is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Html, element
from hushtable.report.words import number, share

WIDTH, LEFT, TOP, BOTTOM, HEIGHT = 620.0, 46.0, 22.0, 230.0, 266.0
NAMES = {
    "here": "looked at",
    "current": "current choice",
    "met": "holds what is demanded",
    "unmet": "does not hold it within the limit",
    "searched": "tried by the search",
}
"""The kinds of dots, in the order in which they lie over one another, the uppermost first."""


class Dot(NamedTuple):
    """A choice that was judged."""

    loss: float
    suppressed: float
    kind: str
    """One of ``NAMES``."""
    name: str = ""


def scatter(dots: Sequence[Dot], *, limit: float) -> Html:
    """A mark for each choice, its shape by its kind, and the largest share that may be suppressed."""
    along = from_zero([limit, *(dot.suppressed for dot in dots)], LEFT, WIDTH - 12, least=0.01)
    up = from_zero([dot.loss for dot in dots], BOTTOM, TOP, least=1e-9)
    marks: list[Html] = []
    for tick in up.ticks():
        marks.append(element("line", class_="axis" if tick == 0 else "grid", x1=LEFT, x2=WIDTH - 12, y1=up(tick), y2=up(tick)))
        marks.append(text(LEFT - 6, up(tick) + 4, number(tick), anchor="end"))
    marks += [text(along(tick), BOTTOM + 15, f"{number(100 * tick)} %", anchor="middle") for tick in along.ticks(6)]
    marks.append(_limit(along, limit))
    order = list(NAMES)
    marks += [_mark(dot, along(dot.suppressed), up(dot.loss)) for dot in sorted(dots, key=lambda dot: -order.index(dot.kind))]
    marks.append(text((LEFT + WIDTH) / 2, HEIGHT - 4, "rows suppressed", anchor="middle", class_="small"))
    marks.append(text(LEFT - 40, TOP - 10, "loss", class_="small"))
    judged = sum(dot.kind != "searched" for dot in dots)
    return svg(
        WIDTH, HEIGHT, f"Loss against rows suppressed, for {number(judged)} judged choices; the table has the same numbers", marks
    )


def key(kinds: Sequence[str]) -> Html:
    """What the shapes stand for, of those that are drawn."""
    entries = [
        element("li", svg(14, 14, NAMES[kind], _mark(Dot(0, 0, kind), 7, 7), class_="key-mark"), " ", NAMES[kind])
        for kind in NAMES if kind in kinds
    ]  # fmt: skip
    return element("ul", entries, class_="legend")


def _limit(along: Scale, limit: float) -> Html:
    x = along(limit)
    title = f"no more than {share(limit)} of the rows may be suppressed"
    return titled(
        title, element("line", class_="threshold", x1=x, x2=x, y1=TOP, y2=BOTTOM), text(x + 5, TOP + 4, "limit", class_="small")
    )


def _mark(dot: Dot, x: float, y: float) -> Html:
    name = f"{NAMES[dot.kind]} (levels {dot.name})" if dot.name else NAMES[dot.kind]
    title = f"{name}: loss {number(dot.loss)}, {share(dot.suppressed)} suppressed"
    match dot.kind:
        case "here":
            shape = element(
                "path", class_="hue1", d=f"M{x:.2f} {y - 7:.2f}L{x + 7:.2f} {y:.2f}L{x:.2f} {y + 7:.2f}L{x - 7:.2f} {y:.2f}Z"
            )
        case "current":
            shape = element("rect", class_="hue3", x=x - 5, y=y - 5, width=10, height=10)
        case "met":
            shape = element("circle", class_="hue0", cx=x, cy=y, r=4)
        case "unmet":
            shape = element("circle", class_="ring stroke0", cx=x, cy=y, r=3.5)
        case _:
            shape = element("circle", class_="real", cx=x, cy=y, r=2)
    return titled(title, shape)
