"""A report as Markdown, for the site and for a wiki; its figures are files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hushtable.report.markdown import bullets, grid, plain
from hushtable.studies.report import Figure, Grid, Numbers, Part, Report, Statements, reasons
from hushtable.studies.show import HEADS, LEGEND, SUMMARY, lettered, line, summary


def markdown_of(reports: Mapping[str, Report], *, title: str, lead: str, figures: str = "") -> str:
    """All reports on one page; ``figures`` is the folder, with a slash, in which those of each lie."""
    parts = [f"# {plain(title)}", plain(lead)]
    if len(reports) > 1:
        parts.append(_table(SUMMARY, summary(reports)))
    for name, report in reports.items():
        parts += _report(report, f"{figures}{name}/" if len(reports) > 1 else figures)
    return "\n\n".join(part for part in parts if part) + "\n"


def _report(report: Report, figures: str) -> list[str]:
    parts = [f"## {plain(report.title)}", f"*{plain(report.source)}*", plain(report.lead)]
    for section in report.sections:
        parts += [f"### {plain(section.title)}", plain(section.lead)]
        parts += [shown for part in section.parts for shown in _part(part, figures)]
    parts.append(bullets(map(plain, report.notes)))
    if report.skipped:
        parts += ["Left out:", bullets(map(plain, report.skipped))]
    return parts


def _part(part: Part, figures: str) -> Iterable[str]:
    if isinstance(part, Figure):
        yield f"**{plain(part.title)}.** {plain(part.caption)}"
        yield f"![{plain(part.title)}]({figures}{part.name}.svg)"
        return
    yield f"**{plain(part.title)}**" + (f" ({plain(LEGEND)})" if isinstance(part, Numbers) else "")
    if isinstance(part, Statements):
        heads = ("the source says", "we find", "because")
        yield _table(heads, [(one.says, str(one.verdict), one.because) for one in part.statements])
        return
    if isinstance(part, Numbers):
        why = reasons(part.numbers)
        yield _table(HEADS, [line(one, why) for one in part.numbers])
        yield bullets(map(plain, lettered(part)))
    if isinstance(part, Grid):
        yield _table(part.heads, part.rows)
    yield plain(part.note)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return grid([plain(head) for head in heads], [[plain(cell) for cell in row] for row in rows])
