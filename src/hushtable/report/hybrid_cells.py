"""The table of all cells of a grid of hybrids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hushtable.report.compare_text import SHAPES, anchor
from hushtable.report.html import Child, Html, element, join
from hushtable.report.hybrid_text import axes_of, plain_value, with_ends
from hushtable.report.words import NOTHING, number

if TYPE_CHECKING:
    from hushtable.api.hybrid.result import HybridCell, HybridGrid

CHANGES = ("singling-out", "inference", "discriminator", "tvd", "wasserstein")
"""The metrics of the source's tables of changes."""


def cells_table(grid: HybridGrid) -> Html:
    """Every release with its promise, its metrics and its changes, in the order of the choice."""
    metrics = grid.metrics
    heads = ["#", "release", "promise", "alarms", *(m.label for m in metrics.values()), "change", "rows", "seconds"]
    top = [element("th", head, scope="col", class_="num" if i not in (1, 2) else None) for i, head in enumerate(heads)]
    ranks = {cell.id: cell for cell in grid.comparison.cells}
    cells = sorted((c for c in grid.cells if not c.failed), key=lambda c: ranks[c.id].rank if c.id in ranks else 0)
    body = [_row(grid, cell) for cell in cells]
    label = "All cells, in the order of the choice"
    parts = element("caption", label, class_="unseen"), element("thead", element("tr", top)), element("tbody", body)
    inner = element("table", *parts, class_="sortable ranking hybrids")
    return join(
        element(
            "p",
            "Gains are of 100 people. Change: how much better than the generator alone, in percent of that, for "
            "singling out, inference, discriminator, TVD and Wasserstein; positive is better, – where there is no such whole.",
        ),
        element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=label),
    )


def _row(grid: HybridGrid, cell: HybridCell) -> Html:
    ranked = grid.comparison.cell(cell.id)
    place, best = cell.place, ranked is not None and ranked is grid.comparison.best
    named = " ".join(filter(None, (place.generator, place.order and place.order.upper()))) or place.anonymizer or str(place.stage)
    where = axes_of(place)
    shape = element(
        "strong", element("span", SHAPES[cell.assurance], aria_hidden="true"), f" {cell.assurance}", class_=f"kind {cell.assurance}"
    )
    changes = ", ".join(_percent(cell.changes.get(name)) for name in CHANGES) if cell.changes else NOTHING
    entries: list[tuple[Child, float | None]] = [
        ("" if ranked is None else str(ranked.rank), None if ranked is None else ranked.rank),
        (
            join(
                element("strong", named) if best else named,
                element("br"),
                element("span", where, class_="soft"),
                " recommended" if best else None,
            ),
            None,
        ),
        (join(shape, element("br"), element("span", cell.promise, class_="soft")), None),
        (number(cell.alarms), cell.alarms),
        *(
            (
                element("span", plain_value(metric, cell.value(name)), title=with_ends(metric, cell.metrics.get(name))),
                cell.value(name),
            )
            for name, metric in grid.metrics.items()
        ),
        (changes, cell.changes.get("singling-out")),
        (number(cell.rows), cell.rows),
        (number(cell.seconds), cell.seconds),
    ]
    return element(
        "tr",
        [
            element("td", entry, class_="num" if i not in (1, 2) else None, data_sort=None if by is None else f"{by:.9g}")
            for i, (entry, by) in enumerate(entries)
        ],
        id=None if ranked is None else anchor(ranked),
        class_="best" if best else None,
    )


def _percent(value: float | None) -> str:
    """A change in whole percent with its sign."""
    return NOTHING if value is None else f"{value:+.0f} %".replace("-", "−")
