"""What a release is good for, page by page. The catalogue says which page a measure belongs to, so a new one needs no code here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.evidence.finding import Finding, Subject
from hushtable.evidence.measure import Page
from hushtable.evidence.verdict import by_excess
from hushtable.report import findings as show
from hushtable.report import gist, rules
from hushtable.report.charts import associations, drawings, intervals, margins
from hushtable.report.html import Html, Section, element, join
from hushtable.report.tables import FEW, by_scope, directions, dots, measured_table
from hushtable.report.words import number, sentence

FAMILIES = 8
"""So many models are drawn for one score."""
SHOWN = 24
"""Longer tables of columns or groups are folded away."""
DRAWN = 12
"""So many groups are drawn where only one measure is given of each."""


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
    Page.RULES: Kind(
        "rules",
        "Rules",
        "Does it hold rows that cannot be? Rules are what all training rows follow though by chance many would not; fresh real "
        "rows, which took no part in finding them, show how often such a rule is none.",
        "Rule",
    ),
    Page.JOINT: Kind(
        "joint",
        "All columns together",
        "Is the table as a whole, with everything that shows only in more than two columns, as it was?",
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
    Page.TEXTS: Kind(
        "texts",
        "Free text",
        "Are released texts like real ones, and what do models learn from them? Each number stands beside that of real ones.",
        "Of",
    ),
    Page.COMPOSITE: Kind(
        "composite",
        "Composite scores",
        "Published scores that put several distances into one number. They hide which part is bad: read them last.",
        "Part",
    ),
}


def pages(findings: Sequence[Finding]) -> list[Section]:
    """The pages that have something to say, in the order of the catalogue."""
    ours = {page: of_page(findings, page) for page in Page}
    return [
        Section(PAGES[page].anchor, PAGES[page].title, _page(page, known), gist.of_measures(known))
        for page, known in ours.items()
        if known
    ]


def of_page(findings: Sequence[Finding], page: Page | None) -> list[Finding]:
    """The findings of utility that have a value and belong to a page; with None those that belong to no known page."""
    return [f for f in findings if f.subject is Subject.UTILITY and f.value is not None and show.page_of(f) is page]


def _page(page: Page, known: Sequence[Finding]) -> Html:
    kind = PAGES[page]
    whole, parts = [f for f in known if not f.scope], [f for f in known if f.scope]
    if page is Page.DOWNSTREAM:
        return join(element("p", kind.lead), _downstream(known), _parts(kind, parts))
    if page is Page.RULES:
        return join(element("p", kind.lead), measured_table(whole, known, label=kind.title), rules.broken_rules(whole, parts))
    drawn = [drawing for f in known if (drawing := _drawing(page, f))]
    return join(
        element("p", kind.lead),
        measured_table(whole, known, label=kind.title) if whole else None,
        dots(whole) if len(whole) > 1 else None,
        drawn,
        margins.panels(parts) if page is Page.MARGINS else None,
        _parts(kind, sorted(parts, key=by_excess) if page is Page.GROUPS else parts),
    )


def _drawing(page: Page, finding: Finding) -> Html | None:
    if page is Page.ASSOCIATIONS:
        return associations.maps(finding) or associations.levels(finding)
    return None if page is Page.MARGINS else drawings.special(finding)


def _parts(kind: Kind, findings: Sequence[Finding]) -> Html | None:
    """What is known of each column, model or group by itself."""
    if not findings:
        return None
    scopes = list(dict.fromkeys(f.scope for f in findings))
    label = f"{kind.title}, one by one"
    alone = len({f.name for f in findings}) == 1
    whole = by_scope(findings, label=label, scope=kind.scope)
    if len(scopes) > SHOWN + FEW:
        whole = element("details", element("summary", f"All {number(len(scopes))}"), whole)
    return join(
        element("h3", label),
        element("p", directions(findings), class_="soft"),
        dots(sorted(findings, key=by_excess)[:DRAWN]) if alone and len(findings) > 1 else None,
        whole,
    )


def _downstream(findings: Sequence[Finding]) -> Html:
    """For every score the release beside the real rows, the main model first, and what each score means."""
    scores = list(dict.fromkeys(f.name for f in findings))
    figures = []
    for name in scores:
        shown = [f for f in findings if f.name == name][:FAMILIES]
        score = name.rpartition(": ")[2]
        meaning = f"{sentence(show.meaning_of(shown[0]))} "
        label = f"{score} of models that learnt from the release and from the real rows: " + "; ".join(
            map(intervals.in_words, shown)
        )
        figures.append(
            element(
                "figure",
                intervals.versus(shown, label),
                element("figcaption", element("strong", score), f" {meaning}{_directed(shown[0])} The thin line is the interval."),
                class_="plot",
            )
        )
    return join(figures)


def _directed(finding: Finding) -> str:
    reach = show.reach(finding)
    return sentence(f"{show.direction(finding)}; it lies from {reach}" if reach else show.direction(finding))
