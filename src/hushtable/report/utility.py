"""What a release is good for, page by page. The catalogue says which page a measure belongs to, so a new one needs no code here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.evidence.measure import Page
from hushtable.report import associations, margins
from hushtable.report.charts import drawings, intervals
from hushtable.report.everything import FEW
from hushtable.report.html import Html, Section, element, join
from hushtable.report.measured import by_scope, directions, measured_table
from hushtable.report.reading import Reading, worst_first
from hushtable.report.sections import dots
from hushtable.report.words import number

FAMILIES = 8
"""So many models are drawn for one score."""
SHOWN = 24
"""Longer tables of columns or groups are folded away."""
DRAWN = 12
"""So many groups are drawn where only one measure is told of each."""


@dataclass(frozen=True)
class Kind:
    """A page: its anchor and title, the question it answers, and what the findings with a scope are about."""

    anchor: str
    title: str
    lead: str
    scope: str


PAGES = {
    Page.MARGINS: Kind("margins", "Margins", "Is each column, taken by itself, distributed as it was?", "Column"),
    Page.ASSOCIATIONS: Kind("associations", "Associations", "Do two columns go together as they did?", "Columns"),
    Page.JOINT: Kind(
        "joint",
        "All columns together",
        "Is the table as a whole, with everything that more than two columns tell, as it was?",
        "Columns",
    ),
    Page.DOWNSTREAM: Kind(
        "downstream",
        "Downstream",
        "What does a model lose by learning from the release? Models that learnt from the release and models that learnt from "
        "the real rows are both tested on real people they never saw.",
        "Predicted",
    ),
    Page.QUERIES: Kind(
        "queries", "Queries", "How far off are counts that are asked of the release instead of the real rows?", "Questions"
    ),
    Page.LOSSES: Kind("losses", "Losses", "What did anonymization take away, cell by cell and row by row?", "Column"),
    Page.GROUPS: Kind("served", "Groups served", "Does the release serve small groups of people as well as large ones?", "Group"),
    Page.COMPOSITE: Kind(
        "composite",
        "Composite scores",
        "Published scores that put several distances into one number. They hide which part is bad: read them last.",
        "Part",
    ),
}


def pages(readings: Sequence[Reading]) -> list[Section]:
    """The pages that have something to say, in the order of the catalogue."""
    found = {page: [r for r in readings if r.page == page and r.subject != "privacy"] for page in Page}
    return [Section(PAGES[page].anchor, PAGES[page].title, _page(page, ours)) for page, ours in found.items() if _known(ours)]


def _known(readings: Sequence[Reading]) -> list[Reading]:
    return [r for r in readings if r.value is not None]


def _page(page: Page, readings: Sequence[Reading]) -> Html:
    kind, known = PAGES[page], _known(readings)
    whole, parts = [r for r in known if not r.scope], [r for r in known if r.scope]
    if page is Page.DOWNSTREAM:
        return join(element("p", kind.lead), _downstream(known), _parts(kind, parts))
    drawn = [drawing for r in known if (drawing := _drawing(page, r))]
    return join(
        element("p", kind.lead),
        measured_table(whole, label=kind.title) if whole else None,
        dots(whole) if len(whole) > 1 else None,
        drawn,
        margins.panels(parts) if page is Page.MARGINS else None,
        _parts(kind, sorted(parts, key=worst_first) if page is Page.GROUPS else parts),
    )


def _drawing(page: Page, reading: Reading) -> Html | None:
    if page is Page.ASSOCIATIONS:
        return associations.maps(reading) or associations.levels(reading)
    return None if page is Page.MARGINS else drawings.special(reading)


def _parts(kind: Kind, readings: Sequence[Reading]) -> Html | None:
    """What is told of each column, model or group by itself."""
    if not readings:
        return None
    scopes = list(dict.fromkeys(r.scope for r in readings))
    label = f"{kind.title}, one by one"
    alone = len({r.name for r in readings}) == 1
    whole = by_scope(readings, label=label, scope=kind.scope)
    if len(scopes) > SHOWN + FEW:
        whole = element("details", element("summary", f"All {number(len(scopes))}"), whole)
    return join(
        element("h3", label),
        element("p", directions(readings), class_="soft"),
        dots(sorted(readings, key=worst_first)[:DRAWN]) if alone and len(readings) > 1 else None,
        whole,
    )


def _downstream(readings: Sequence[Reading]) -> Html:
    """For every score the release beside the real rows, the main model first, and what each score means."""
    scores = list(dict.fromkeys(r.name for r in readings))
    figures = []
    for name in scores:
        shown = [r for r in readings if r.name == name][:FAMILIES]
        score = name.rpartition(": ")[2]
        meaning = f"{shown[0].metric.meaning[0].upper()}{shown[0].metric.meaning[1:]}. " if shown[0].metric else ""
        label = f"{score} of models that learnt from the release and from the real rows: " + "; ".join(map(intervals.told, shown))
        figures.append(
            element(
                "figure",
                intervals.versus(shown, label),
                element("figcaption", element("strong", score), f" {meaning}{_directed(shown[0])} The thin line is the interval."),
                class_="plot",
            )
        )
    return join(figures)


def _directed(reading: Reading) -> str:
    told = "; ".join(part for part in (reading.direction, f"it lies from {reading.reach}" if reading.reach else "") if part)
    return f"{told[:1].upper()}{told[1:]}." if told else ""
