"""Membership as curves: how many people in the table are recognized at each share of false accusations, both in log scale.

What matters is the left end: an attack that recognizes two people in a hundred for certain is a breach, and its average
(the area under the curve) does not see it (Carlini et al. 2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.evidence.finding import Finding
from hushtable.report import findings as show
from hushtable.report.charts.plots import svg, text, titled
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.words import number, share
from hushtable.table import lenient

MARKS = (0.001, 0.01)
"""Shares of false accusations at which a curve is read."""
DRAWN = 6
"""So many curves in one figure, each with its colour and its dashes."""
FLOOR = 1e-4
"""The scales reach half a decade below the smallest share, and no share below this counts."""
SIZE, LEFT, TOP, RIGHT, BOTTOM = 400.0, 44.0, 18.0, 392.0, 304.0


@dataclass(frozen=True)
class Curve:
    """The shares of false and of right accusations at each threshold, from the strictest on."""

    label: str
    value: str
    """The number that the finding itself gives, mostly the area under the curve."""
    false: tuple[float, ...]
    right: tuple[float, ...]

    @classmethod
    def of(cls, finding: Finding) -> Curve | None:
        """The curve that a finding brought; None if it brought none."""
        roc = lenient.mapping(finding.detail.get("roc"))
        fpr, tpr = roc.get("fpr"), roc.get("tpr")
        if not (isinstance(fpr, list) and isinstance(tpr, list) and fpr and len(fpr) == len(tpr)):
            return None
        if not all(isinstance(x, (int, float)) and 0 <= x <= 1 for x in (*fpr, *tpr)):
            return None
        false, right = zip(*sorted(zip(fpr, tpr, strict=True)), strict=True)
        return cls(finding.label, show.amount(finding, finding.value), false, right)

    def at(self, false: float) -> float:
        """The share of people recognized at no more than so many false accusations."""
        return max((r for f, r in zip(self.false, self.right, strict=True) if f <= false), default=0.0)


def section(findings: Sequence[Finding]) -> Html | None:
    """All curves in one figure, and what they say at the marks; None if no finding brought one."""
    distinct = {(c.label, c.false, c.right): c for r in findings if (c := Curve.of(r))}
    curves = sorted(distinct.values(), key=lambda c: (-c.at(MARKS[0]), -c.at(MARKS[1])))
    if not curves:
        return None
    drawn = curves[:DRAWN]
    left = f" The {DRAWN} worst of {number(len(curves))} are drawn." if len(curves) > DRAWN else ""
    caption = (
        "To the right: people outside the table who are taken for members. Upwards: members who are recognized. On the dashed "
        "diagonal an attack guesses; above it at the left end it is sure of some people, whatever its average." + left
    )
    rows: list[list[Child]] = [[c.label, *(share(c.at(m)) for m in MARKS), c.value] for c in curves]
    heads = ["Attack", *(f"Recognized at {share(m)} false" for m in MARKS), "Value"]
    legend = [element("li", _sample(i), c.label) for i, c in enumerate(drawn)]
    return join(
        element("p", "Whether somebody can find out that a person is in the table at all."),
        element(
            "figure", element("ul", legend, class_="legend"), draw(drawn), element("figcaption", caption), class_="plot",
        ),
        table(heads, rows, label="Membership at low shares of false accusations", numbers=range(1, 4)),
    )  # fmt: skip


def draw(curves: Sequence[Curve]) -> Html:
    """Curves as stairs: between two points no more is claimed than at the lower one."""
    values = [x for c in curves for x in (*c.false, *c.right) if x > 0]
    low = max(FLOOR, 10.0 ** math.floor(math.log10(min([*values, MARKS[0]])))) / math.sqrt(10)
    label = "Members recognized against false accusations: " + "; ".join(
        f"{c.label}, {', '.join(f'{share(c.at(m))} at {share(m)}' for m in MARKS)}" for c in curves
    )
    diagonal = element("line", class_="diagonal", x1=LEFT, y1=BOTTOM, x2=RIGHT, y2=TOP)
    return svg(SIZE, BOTTOM + 34, label, _grid(low), diagonal, [_stairs(c, low, i) for i, c in enumerate(curves)], _names())


def _stairs(curve: Curve, low: float, hue: int) -> Html:
    path = f"M{LEFT:g} {_y(curve.at(low), low):.1f}"
    for false, right in zip(curve.false, curve.right, strict=True):
        if false > low:
            path += f"H{_x(false, low):.1f}V{_y(right, low):.1f}"
    title = f"{curve.label}: {', '.join(f'{share(curve.at(m))} recognized at {share(m)} false' for m in MARKS)}"
    return titled(title, element("path", class_=f"curve roc stroke{hue} dash{hue}", d=f"{path}H{RIGHT:g}"))


def _sample(hue: int) -> Html:
    line = element("line", class_=f"curve roc stroke{hue} dash{hue}", x1=0, x2=28, y1=5, y2=5)
    return element("svg", line, viewBox="0 0 28 10", class_="sample", aria_hidden="true")


def _grid(low: float) -> list[Html]:
    marks: list[Html] = []
    for power in range(math.ceil(math.log10(low)), 1):
        value = 10.0**power
        x, y, word = _x(value, low), _y(value, low), share(value)
        marks += [
            element("line", class_="grid", x1=x, x2=x, y1=TOP, y2=BOTTOM),
            element("line", class_="grid", x1=LEFT, x2=RIGHT, y1=y, y2=y),
            text(x, BOTTOM + 15, word, anchor="end" if power == 0 else "middle"),
            text(LEFT - 5, y + 4, word, anchor="end"),
        ]
    marks += [
        element("line", class_="axis", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM),
        element("line", class_="axis", x1=LEFT, x2=LEFT, y1=TOP, y2=BOTTOM),
    ]
    return [*marks, *(element("line", class_="threshold", x1=_x(m, low), x2=_x(m, low), y1=TOP, y2=BOTTOM) for m in MARKS)]


def _names() -> list[Html]:
    return [
        text((LEFT + RIGHT) / 2, BOTTOM + 31, "falsely accused (log scale)", anchor="middle", class_="small"),
        text(LEFT, TOP - 7, "recognized (log scale)", class_="small"),
    ]


def _x(value: float, low: float) -> float:
    return LEFT + _log(value, low) * (RIGHT - LEFT)


def _y(value: float, low: float) -> float:
    return BOTTOM - _log(value, low) * (BOTTOM - TOP)


def _log(value: float, low: float) -> float:
    """0 at the floor and below it, 1 at 1."""
    return 1 - math.log10(max(value, low)) / math.log10(low)
