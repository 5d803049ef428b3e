"""The sheet of a table's best generalizations, for many k and suppression limits, as a page. It stays private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hushtable.report.charts.ladders import curves
from hushtable.report.html import Child, Html, Section, element, join, page, table
from hushtable.report.words import number, share

if TYPE_CHECKING:
    from hushtable.api.pareto import BestChoice, Sheet

PRIVATE = "Private: computed from raw rows, not protected. Do not publish."


def pareto_page(sheet: Sheet) -> str:
    """One standalone page: the curves, the grid, and the levels behind every cell."""
    sections = [
        Section("curves", "What more suppression buys", _curves(sheet.fronts, sheet.loss)),
        Section("grid", "The best loss for every k and limit of suppression", grid(sheet.lines)),
        Section("levels", "The levels behind them", _levels(sheet.lines)),
    ]
    head = join(
        element("p", "Pareto sheet", class_="eyebrow"),
        element("h1", "What each k costs"),
        element("p", f"{counted(sheet)} Each number is the least {sheet.loss} loss of all choices of levels.", class_="soft"),
    )
    return page(title="Pareto sheet", head=head, sections=sections, kind="private", running=PRIVATE)


def counted(sheet: Sheet) -> str:
    """How many rows there are, and whom k, l and t count."""
    if sheet.persons is None:
        return f"{number(sheet.rows)} rows."
    return f"{number(sheet.rows)} rows of {number(sheet.persons)} persons; k, l and t count persons."


def _curves(fronts: Mapping[str, Sequence[Sequence[float]]], loss: str) -> Html:
    caption = "Each dot is a choice of levels; those further right lose less because they suppress more rows."
    return element("figure", curves(fronts, name=f"loss ({loss})"), element("figcaption", caption), class_="plot")


def grid(lines: Sequence[BestChoice]) -> Html:
    """Loss and the share suppressed: a line for each k, a column for each limit."""
    limits = list(dict.fromkeys(line.limit for line in lines))
    cells = {(line.k, line.limit): line for line in lines}
    body: list[list[Child]] = [[k, *(_cell(cells[k, limit]) for limit in limits)] for k in dict.fromkeys(line.k for line in lines)]
    heads = ["k", *(f"≤ {share(limit)}" for limit in limits)]
    return table(heads, body, label="Loss by k and limit", numbers=range(len(heads)))


def _cell(line: BestChoice) -> Html | str:
    if line.value is None:
        return "none"
    mark = "" if line.optimal else f" (gap {number(line.gap)})"
    return join(
        element("strong", number(line.value)),
        mark,
        element("br"),
        element("span", share(line.suppressed_share), class_="soft"),
    )


def _levels(lines: Sequence[BestChoice]) -> Html:
    columns = list(next((line.levels for line in lines if line.levels), {}))
    body = [
        [str(line.k), share(line.limit), number(line.value), *(number(line.levels.get(c)) for c in columns)]
        for line in lines
        if line.levels
    ]
    return table(["k", "limit", "loss", *columns], body, label="Levels", numbers=range(len(columns) + 3))
