"""A report for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hushtable.report.words import sentence
from hushtable.studies.report import Figure, Grid, Numbers, Part, Report, Statements, reasons
from hushtable.studies.show import HEADS, LEGEND, SUMMARY, lettered, line, summary


def text_of(reports: Mapping[str, Report]) -> str:
    """All reports one after the other, after a table of how each ended if there are several."""
    parts = [grid("What the sources report and what we measure", SUMMARY, summary(reports))] if len(reports) > 1 else []
    return "\n\n".join([*parts, *(_report(report) for report in reports.values())]) + "\n"


def grid(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal."""
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (heads, *rows)]
    return "\n".join([title, *lines])


def _report(report: Report) -> str:
    parts = [f"{report.title}\n{report.source}", report.lead]
    for section in report.sections:
        parts += [f"== {section.title} ==", section.lead, *map(_part, section.parts)]
    parts += [f"left out: {why}" for why in report.skipped]
    return "\n\n".join(part for part in [*parts, "\n".join(report.notes)] if part)


def _part(part: Part) -> str:
    if isinstance(part, Numbers):
        why = reasons(part.numbers)
        rows = [line(one, why) for one in part.numbers]
        return "\n".join([grid(f"{part.title} ({LEGEND})", HEADS, rows), *lettered(part), *([part.note] if part.note else [])])
    if isinstance(part, Statements):
        return "\n".join([part.title, *(f"- {one.verdict.upper()}: {sentence(one.says)} {one.because}" for one in part.statements)])
    if isinstance(part, Grid):
        return "\n".join([grid(part.title, part.heads, part.rows), *([part.note] if part.note else [])])
    return _figure(part)


def _figure(part: Figure) -> str:
    return f"[figure {part.name}.svg] {part.title}. {part.caption}"
