"""What the pages of studies share: numbers over runs, plain tables, the frame of the page and figures as files of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hushtable.report.html import INTERNAL, Html, Section, element, join, page

Plain = Mapping[str, Any]


def mean(cells: Sequence[Plain], key: str) -> tuple[float, float] | None:
    """Mean and standard deviation over runs; None if there is no value."""
    values = [cell[key] for cell in cells if key in cell]
    return (float(np.mean(values)), float(np.std(values))) if values else None


def plus_minus(value: tuple[float, float] | None, runs: int) -> str:
    """A mean, with its deviation if there were several runs."""
    if value is None:
        return "-"
    return f"{value[0]:.3f}" + (f" ± {value[1]:.3f}" if runs > 1 else "")


def refusals(results: Mapping[str, Iterable[Plain]]) -> list[str]:
    """The methods that refused, each reason once."""
    why = {(name, cell["refused"]) for name, cells in results.items() for cell in cells if "refused" in cell}
    return [f"{name}: {reason}" for name, reason in sorted(why)]


def grid(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal."""
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (heads, *rows)]
    return "\n".join([title, *lines])


def bullets(lines: Sequence[str]) -> Html | None:
    """A list, if there is anything to list."""
    return element("ul", [element("li", line) for line in lines]) if lines else None


def document(title: str, runs: int, legend: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """The page of a study; how to read it comes last."""
    repeated = "One run" if runs == 1 else f"Means over {runs} runs"
    head = join(
        element("p", "Study", class_="eyebrow"), element("h1", title), element("p", f"{repeated}. {legend}", class_="soft")
    )  # fmt: skip
    reading = Section("reading", "How to read it", join(bullets(notes)))
    return page(title=title, head=head, sections=[*sections, reading], kind="internal", running=INTERNAL)


def alone(drawn: Html) -> str:
    """A figure as a file of its own, without the stylesheet of the page."""
    return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11" ', 1)
