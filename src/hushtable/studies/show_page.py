"""A report as a page, and its figures as files of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hushtable.report.charts.beside import beside
from hushtable.report.html import Child, Html, Section, element, join, page, table
from hushtable.studies.report import Figure, Grid, Numbers, Part, Report, Statements, reasons
from hushtable.studies.show import HEADS, SUMMARY, counted, lettered, line, panels, summary


def page_of(reports: Mapping[str, Report], *, title: str, lead: str) -> str:
    """All reports on one page; where there are several, each is folded behind how it ended."""
    head = join(element("p", "Published and measured", class_="eyebrow"), element("h1", title), element("p", lead, class_="soft"))
    if len(reports) == 1:
        sections = [part for report in reports.values() for part in _alone(report)]
    else:
        first = Section("summary", "How each study ended", table(SUMMARY, summary(reports), label="Studies", numbers=range(2, 4)))
        sections = [first, *(_folded(name, report) for name, report in reports.items())]
    return page(title=title, head=head, sections=sections, kind="public")


def figures_of(report: Report) -> dict[str, str]:
    """Each figure as a file of its own, by its name: without the stylesheet of the page."""
    return {f"{figure.name}.svg": _alone_svg(figure.drawn) for figure in report.figures}


def _alone_svg(drawn: Html) -> str:
    given = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"'
    return drawn.replace("<svg ", f"<svg {given} ", 1)


def _alone(report: Report) -> list[Section]:
    """A section of the page for each of the report."""
    found = [Section("about", "What is repeated", join(element("p", report.lead), element("p", report.source, class_="soft")))]
    for place, one in enumerate(report.sections, 1):
        body = join(element("p", one.lead) if one.lead else None, map(_part, one.parts))
        found.append(Section(f"part-{place}", one.title, body))
    found.append(Section("reading", "How to read it", _reading(report)))
    return found


def _folded(name: str, report: Report) -> Section:
    parts = [element("p", report.lead), element("p", report.source, class_="soft")]
    for one in report.sections:
        parts += [element("h3", one.title), element("p", one.lead) if one.lead else Html(), *map(_part, one.parts)]
    published, same, *_, findings = counted(report)
    gist = f"{published} published numbers, {same} of them comparable; findings: {findings}"
    return Section(name, report.title, join(*parts, _reading(report)), gist)


def _reading(report: Report) -> Html:
    return join(_list(report.notes), element("p", "Left out:") if report.skipped else None, _list(report.skipped))


def _part(part: Part) -> Html:
    if isinstance(part, Figure):
        caption = element("figcaption", element("strong", part.title), ". ", part.caption)
        return element("figure", part.drawn, caption)
    return join(element("h4", part.title), _body(part))


def _body(part: Numbers | Statements | Grid) -> Child:
    if isinstance(part, Statements):
        rows = [(one.says, element("strong", str(one.verdict)), one.because) for one in part.statements]
        return table(("the source says", "we find", "because"), rows, label=part.title)
    note = element("p", part.note, class_="soft") if part.note else None
    if isinstance(part, Grid):
        return join(table(part.heads, part.rows, label=part.title), note)
    why = reasons(part.numbers)
    drawn = [
        element("figure", beside(panel, f"{part.title}, {name}"), element("figcaption", name))
        for name, panel in panels(part).items()
    ]
    lines = [line(one, why) for one in part.numbers]
    return join(
        element("div", drawn, class_="maps") if drawn else None,
        table(HEADS, lines, label=part.title, numbers=(3, 4)),
        _list(lettered(part)),
        note,
    )


def _list(lines: Iterable[str]) -> Html | None:
    items = [element("li", one) for one in lines]
    return element("ul", items) if items else None
