"""A grid of hybrids as a page: the choice, what each part does, then every cell. It is computed from raw rows and stays private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.report.charts import hybrids as charts
from hushtable.report.compare import choice, reading_list, said
from hushtable.report.compare_text import SHAPES
from hushtable.report.html import INTERNAL, Cell, Child, Html, Section, element, join, page, pairs, table
from hushtable.report.hybrid_cells import cells_table
from hushtable.report.hybrid_markdown import hybrid_markdown
from hushtable.report.hybrid_text import (
    SHOWN,
    SIGNS,
    TITLES,
    TONES,
    levels_table,
    others,
    reading,
    surviving,
    unit,
    which,
)
from hushtable.report.words import number, sentence

if TYPE_CHECKING:
    from hushtable.api.hybrid.result import HybridGrid

__all__ = ["hybrid_markdown", "hybrid_page"]

PLANES = (("gain", "score"), ("singling-out", "discriminator"))
"""Pairs of risk and utility that are drawn: the headline of an audit, and what the source draws."""
MAPS = ("singling-out", "gain", "score", "discriminator")


def hybrid_page(grid: HybridGrid) -> str:
    """A grid of hybrids as a page."""
    failed = f"{number(len(grid.failures))} gave no release, each with its reason."
    drawn = bool(grid.hybrids)
    sections = [
        Section("choice", "The choice", choice(grid.comparison)),
        *([Section("findings", "What the parts do", _findings(grid))] if grid.hypotheses else []),
        *([Section("stages", "From the original to the hybrid", _stages(grid))] if drawn else []),
        *([Section("axes", "Part by part", _axes(grid))] if grid.values else []),
        *([Section("plane", "Risk and utility", _planes(grid))] if drawn else []),
        *([Section("maps", "All hybrids at a glance", _maps(grid))] if drawn else []),
        *([Section("promises", "What is still promised", _promises(grid))] if drawn else []),
        *(
            [Section("means", "Means in numbers", _means(grid), "Every metric at every value of every part.")]
            if grid.values
            else []
        ),
        Section(
            "cells",
            "All cells",
            cells_table(grid),
            f"{number(len(grid.cells) - len(grid.failures))} releases with all their numbers.",
        ),
        *([Section("failed", "What could not be run", _failed(grid), failed)] if grid.failures else []),
        Section("reading", "How to read this", _reading(grid), "What the words mean, and what a grid does not show."),
    ]
    best = grid.comparison.best
    about = grid.comparison.table.title or f"{number(len(grid.hybrids))} hybrids"
    day = f", {grid.comparison.run.date}" if grid.comparison.run.date else ""
    return page(
        title=f"INTERNAL hybrids: {about}{day}: {f'take {best.id}' if best else 'none fits'}",
        head=_head(grid),
        sections=sections,
        kind="internal",
        running=INTERNAL,
    )


def _head(grid: HybridGrid) -> Html:
    made, used = grid.comparison.run, grid.comparison.table
    counts = [
        (used.rows, "row", "rows"),
        (used.columns, "column", "columns"),
        (len(grid.hybrids), "hybrid", "hybrids"),
        (len(grid.cells) - len(grid.hybrids) - len(grid.failures), "release beside them", "releases beside them"),
    ]
    shown = [
        element("li", element("strong", number(count)), f" {one if count == 1 else many}")
        for count, one, many in counts
        if count is not None
    ]
    return join(
        element("p", f"Hybrids{f', {made.date}' if made.date else ''}", class_="eyebrow"),
        element("h1", f"Anonymize, then synthesize{f': {used.title}' if used.title else ''}"),
        element("ul", shown, class_="counts"),
    )


def _findings(grid: HybridGrid) -> Html:
    items = []
    for one in grid.hypotheses:
        verdict = str(one.verdict)
        sign = element(
            "strong", element("span", SIGNS[verdict], aria_hidden="true"), f" {verdict}", class_=f"verdict {TONES[verdict]}"
        )
        beside = others(grid, one)
        items.append(
            element(
                "div",
                element("dt", sign),
                element(
                    "dd",
                    element("p", element("strong", sentence(one.statement))),
                    element("p", one.words),
                    element("p", beside, class_="soft") if beside else None,
                ),
            )
        )
    return join(
        element(
            "p",
            "What the source of this pipeline says of it (M. N. Plasencia Palacios, thesis, University of Trieste 2025), decided "
            "on pairs of cells that are alike but for one part. It holds for these cells, this table and this split.",
        ),
        element("dl", items, class_="facts verdicts"),
    )


def _stages(grid: HybridGrid) -> Html:
    names = [
        name
        for name in ("singling-out", "inference", "linkability", "gain", "score", "discriminator", "tvd", "wasserstein")
        if name in grid.metrics
    ]
    return join(
        element(
            "p",
            "The raw training rows as they are, anonymized tables with their values brought back, and hybrids, each the mean over "
            "all that were tried; beside them the generators alone, trained on raw rows. Bars are intervals.",
        ),
        _strip(grid, [(name, charts.stages(grid, name)) for name in names]),
    )


def _axes(grid: HybridGrid) -> Html:
    names = [name for name in SHOWN if name in grid.metrics]
    parts: list[Child] = [
        element("p", "Each point is the mean over all hybrids with that value, its bar the interval of that mean over samples.")
    ]
    for axis in grid.values:
        parts.append(element("h3", TITLES[axis]))
        parts.append(_strip(grid, [(name, charts.along(grid, axis, name)) for name in names]))
    return join(*parts)


def _strip(grid: HybridGrid, drawn: Sequence[tuple[str, Html]]) -> Html:
    figures = []
    for name, drawing in drawn:
        metric = grid.metrics[name]
        caption = element("figcaption", element("strong", metric.label), element("span", unit(metric)))
        figures.append(element("figure", caption, drawing, class_="panel"))
    return element("div", figures, class_="strip")


def _planes(grid: HybridGrid) -> Html:
    parts: list[Child] = [
        element(
            "p",
            "Up and to the left is better. Each mark is one hybrid, larger the more rows stayed; all drawings of one pair have the "
            "same scales. A mark leads to its line in the table of all cells.",
        ),
        charts.legend(grid),
    ]
    generators = list(dict.fromkeys(cell.place.generator for cell in grid.hybrids))
    orders = list(dict.fromkeys(cell.place.order for cell in grid.hybrids))
    for axes in PLANES:
        if any(name not in grid.metrics for name in axes):
            continue
        risk, use = (grid.metrics[name].label for name in axes)
        figures = []
        for generator in generators:
            for order in orders:
                cells = grid.select(generator=generator, order=order)
                title = " ".join(filter(None, (generator, order and order.upper())))
                if cells:
                    caption = element("figcaption", element("strong", title), element("span", f"{number(len(cells))} hybrids"))
                    label = (
                        f"{use} against {risk} of {number(len(cells))} hybrids, {title}; the numbers are in the table of all cells"
                    )
                    figures.append(element("figure", caption, charts.scatter(grid, axes, cells, label), class_="panel"))
        parts += [element("h3", f"{use} against {risk}"), element("div", figures, class_="planes")]
    return join(*parts)


def _maps(grid: HybridGrid) -> Html:
    figures = []
    for name in (name for name in MAPS if name in grid.metrics):
        caption = element("figcaption", element("strong", sentence(charts.key(grid, name))))
        figures.append(element("figure", caption, charts.heat(grid, name)))
    return join(
        element(
            "p",
            "Every hybrid is a square: down are k, beta and the sampling, to the right generators, orders and transitions (first "
            "letters). The darker, the worse; each square leads to its line in the table of all cells.",
        ),
        element("div", figures, class_="maps squares"),
    )


def _promises(grid: HybridGrid) -> Html:
    rows: list[list[Child | Cell]] = []
    for evidence, promise, cells in surviving(grid):
        kind = element("strong", element("span", SHAPES[evidence], aria_hidden="true"), f" {evidence}", class_=f"kind {evidence}")
        rows.append([kind, promise, Cell(number(len(cells)), len(cells)), which(grid, cells)])
    return join(
        element(
            "p",
            "What later steps leave of the anonymizer's promise, as the card of each release would say it.",
        ),
        table(["evidence", "promise", "hybrids", "which"], rows, label="What is still promised", numbers=[2]),
    )


def _means(grid: HybridGrid) -> Html:
    heads, lines = levels_table(grid)
    return table(heads, lines, label="Means of every metric", numbers=range(2, len(heads)))


def _failed(grid: HybridGrid) -> Html:
    rows = [[cell.id, sentence(cell.failed)] for cell in grid.failures]
    return table(["release", "why"], rows, label="What could not be run")


def _reading(grid: HybridGrid) -> Html:
    return join(pairs(reading(grid)), said("Notes", grid.comparison.notes), reading_list(grid.comparison))
