"""The plane of risk and use as a drawing: every release a mark, up and to the left is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.report.charts.ground import LETTER, Field, axes, field_of, real_rows, regions
from hushtable.report.charts.placing import Box, Place, Wish, place
from hushtable.report.charts.plots import titled
from hushtable.report.compare_text import anchor, in_one_line
from hushtable.report.html import Child, Html, element
from hushtable.report.words import fit

if TYPE_CHECKING:
    from hushtable.api.compare.cell import Cell
    from hushtable.api.compare.comparison import Comparison

HUES = 8
"""So many colours distinguish recipes; beyond, the number and the name do."""
MARK = 6.0
"""The radius of a mark."""
NAMED = 14
"""Up to so many releases all have their names written beside them; beyond, only the best."""


def plane(comparison: Comparison, *, width: float = 900.0, height: float = 470.0, class_: str = "") -> Html:
    """All releases that have a score, each a link to its line of the table; the front, the constraints and the real rows."""
    drawn = [cell for cell in comparison.released if cell.score is not None]
    field = field_of(comparison, drawn, width, height)
    hues = {recipe: i % HUES for i, recipe in enumerate(comparison.recipe_names)}
    marks = [_mark(cell, comparison, field, hues[cell.recipe]) for cell in reversed(drawn)]
    real = real_rows(comparison.axis, field)
    names = _names(drawn, comparison, field, real)
    label = (
        f"{comparison.axis.label} against what the worst attack gains, for {len(drawn)} releases; up and to the left is better. "
        "The same numbers are in the table of all releases."
    )
    return element(
        "svg",
        regions(comparison, field),
        axes(comparison, field),
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


def shape(cell: Cell, x: float, y: float, hue: int, radius: float = MARK) -> Html:
    """Its kind of assurance as a shape: proven a circle, verified a diamond, claimed a triangle, none a square.

    It is filled where attacks raised an alarm, and hollow where none did.
    """
    look = f"hue{hue}" if cell.alarms else f"ring stroke{hue}"
    if cell.assurance == "proven":
        return element("circle", class_=look, cx=x, cy=y, r=radius if cell.alarms else radius - 1)
    r = radius * (1.2 if cell.alarms else 1.05)
    corners = {
        "verified": ((0.0, -r), (r, 0.0), (0.0, r), (-r, 0.0)),
        "claimed": ((0.0, -r), (r, 0.75 * r), (-r, 0.75 * r)),
    }.get(cell.assurance, ((-0.8 * r, -0.8 * r), (0.8 * r, -0.8 * r), (0.8 * r, 0.8 * r), (-0.8 * r, 0.8 * r)))
    steps = "L".join(f"{x + right:.2f} {y + down:.2f}" for right, down in corners)
    return element("path", class_=look, d=f"M{steps}Z")


def _front(drawn: Sequence[Cell], field: Field) -> Html | None:
    """Steps through the upper ends of the releases that no other beats in both."""
    corners = [
        (field.along(cell.worst.upper), field.at(cell)[1], cell.id)
        for cell in drawn
        if cell.front and cell.worst and cell.risk_known
    ]
    if not corners:
        return None
    corners.sort(key=lambda corner: (corner[0], -corner[1]))
    (first, height, _), *others = corners
    steps = [f"M{first:.2f} {height:.2f}", *(f"H{x:.2f}V{y:.2f}" for x, y, _ in others), f"H{field.frame.right:.2f}"]
    names = ", ".join(name for _, _, name in corners)
    label = f"the front: {names}. No other release has both a smaller upper bound of what attacks gain and a better score"
    return titled(label, element("path", class_="front", d="".join(steps)))


def _mark(cell: Cell, comparison: Comparison, field: Field, hue: int) -> Html:
    x, y = field.at(cell)
    whiskers: list[Child] = []
    if cell.worst and cell.risk_known and cell.worst.high is not None:
        left, right = field.along(_start(cell)), field.along(cell.worst.high)
        whiskers.append(element("line", class_=f"reach stroke{hue}", x1=left, x2=right, y1=y, y2=y))
        whiskers.append(element("line", class_=f"reach stroke{hue}", x1=right, x2=right, y1=y - 4, y2=y + 4))
    if cell.score and cell.score.low is not None and cell.score.high is not None:
        ends = field.level(cell.score.low), field.level(cell.score.high)
        whiskers.append(element("line", class_=f"reach stroke{hue}", x1=x, x2=x, y1=ends[0], y2=ends[1]))
    best = cell is comparison.best
    words = in_one_line(cell, comparison.axis) + ("; recommended" if best else "")
    return element(
        "a",
        element("title", words),
        whiskers,
        element("circle", class_="chosen", cx=x, cy=y, r=MARK + 5) if best else None,
        element("circle", class_="hover", cx=x, cy=y, r=MARK + 4),
        shape(cell, x, y, hue),
        href=f"#{anchor(cell)}",
        aria_label=words,
        tabindex=0,
        class_=f"mark{'' if cell.fits else ' misses'}{' alarmed' if cell.alarms else ''}",
        data_release=cell.rank,
    )


def _names(drawn: Sequence[Cell], comparison: Comparison, field: Field, real: tuple[Html, Box] | None) -> list[Child]:
    """The number of each release beside its mark, and its name where there is room."""
    recommended = comparison.best
    ordered = sorted(drawn, key=lambda cell: (cell is not recommended, not cell.front, cell.rank))
    crowded = len(drawn) > NAMED or field.size[0] < 500
    wishes = []
    for cell in ordered:
        short = str(cell.rank)
        full = f"{short} {fit(cell.id, 190.0, LETTER)}"
        alarmed = (f"{full}, {cell.alarms} alarm{'' if cell.alarms == 1 else 's'}",) if cell.alarms else ()
        best = cell is recommended
        named = best or not crowded or (cell.front and field.size[0] >= 500)
        wishes.append(Wish(*field.at(cell), (*alarmed, full, short) if named else (short,), 1.12 if best else 1.0, insists=best))
    dots = [Box(x - MARK, y - MARK, x + MARK, y + MARK) for x, y in map(field.at, drawn)]
    lines = [_reach(cell, field) for cell in drawn if cell.risk_known]
    frame = Box(field.frame.left, field.frame.top - 12, field.size[0], field.frame.bottom)
    if real:
        dots.append(real[1])
        lines.append(Box(frame.left, real[1].bottom - 4, frame.right, real[1].bottom - 2))
    places = place(wishes, frame, marks=dots, lines=lines, size=LETTER)
    return [_name(cell, spot, cell is recommended) for cell, spot in zip(ordered, places, strict=True) if spot]


def _start(cell: Cell) -> float:
    """Where the line through a mark begins: at the mark, because its end is another attack's; a residual risk at its lower end."""
    if cell.worst is None:
        return 0.0
    return cell.worst.value if cell.gain else cell.worst.low or 0.0


def _reach(cell: Cell, field: Field) -> Box:
    x, y = field.at(cell)
    return Box(field.along(_start(cell)), y - 1, max(field.along(cell.worst.upper if cell.worst else 0.0), x), y + 1)


def _name(cell: Cell, spot: Place, best: bool) -> Html:
    return element(
        "text",
        spot.text,
        x=spot.x,
        y=spot.y,
        class_=f"name{' best' if best else ''}{'' if cell.fits else ' misses'}",
        aria_hidden="true",
        data_release=cell.rank,
    )
