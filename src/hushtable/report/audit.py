"""The private audit as a page: what attacks and comparisons found, computed from the raw rows, never to be published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.evidence.finding import Finding, Subject
from hushtable.evidence.verdict import Evidence, by_excess, is_tested
from hushtable.evidence.verdict.publish import RULE
from hushtable.measures.catalogue import main_model
from hushtable.pipeline.card import Card
from hushtable.report import attacks, budget, decision, promise, tables, utility
from hushtable.report import card as cards
from hushtable.report import findings as show
from hushtable.report.causes import causes_list
from hushtable.report.charts import distances, roc
from hushtable.report.decision import Answer
from hushtable.report.html import INTERNAL, Html, Section, element, join, page
from hushtable.report.records import groups_section, records_section
from hushtable.report.words import firsts, number, sentence

if TYPE_CHECKING:
    # The page shows the report and does not make it.
    from hushtable.api.audit_report import AuditReport

FIGURES = 5
"""So many key figures."""
ROWS = {"train": "training rows", "release": "released rows", "control": "control rows"}
HALVED = (
    "No rows were held out: the real rows were halved at random, one half compared and the other taken as the control. Models are "
    "tested on rows that the release was made from, so they may seem better than they are on new people."
)
RULES = [("Should it be published?", RULE)]
APART = "What is promised, what was measured and what was lost are three kinds of evidence, never added up to one score."


def audit_page(report: AuditReport) -> str:
    """The page of an audit, or of a measurement of utility alone."""
    evidence, findings, card, power = report.evidence, report.findings, report.card, report.power
    planted = None if power is None else power.largest
    whole = [f for f in evidence.private if f.risk is None]
    compared = sorted((f for f in whole if is_tested(f) or f.baseline is not None), key=by_excess)
    properties = [f for f in whole if not is_tested(f) and f.baseline is None]
    others = utility.of_page(findings, None)
    failed = [f for f in findings if f.value is None]
    attacked = any(f.risk for f in findings)
    people = (report.people or report.rows).get("train")
    parts = [
        Section("summary", "Decision", _summary(evidence)),
        *([Section("figures", "Key figures", _figures(findings, planted))] if findings else []),
        *(
            Section(attacks.anchor(risk), title, attacks.section(risk, findings, planted))
            for risk, (title, _) in attacks.RISKS.items()
            if attacked
        ),
        *_given("membership", "Membership", roc.section(findings)),
        *_given("distances", "Distances", distances.section(findings)),
        *_given("indicators", "Indicators", tables.indicators(compared, planted) if compared else None),
        *_given("properties", "Properties", tables.properties(properties) if properties else None),
        *_given(
            "records",
            "Riskiest records",
            records_section(report.records, report.at_risk, people) if evidence.attacked or report.records else None,
        ),
        *_given("groups", "Groups at risk", groups_section(report.groups) if report.groups else None),
        *_given("power", "What it would have noticed", attacks.power_section(power) if power and power.noticed else None),
        *(_promised(card) if card else []),
        *utility.pages(findings),
        *_given("others", "Other findings", tables.others(others) if others else None),
        *_given("uncomputed", "What could not be computed", tables.uncomputed(failed) if failed else None),
        Section("all", "All findings", tables.every_finding(findings)),
        Section("words", "What the numbers mean", tables.meanings(findings, RULES)),
    ]
    kind = kind_of(report)
    return page(
        title=f"INTERNAL {kind}: {title_of(card)}", head=_head(kind, report), sections=parts, kind="internal", running=INTERNAL
    )


def kind_of(report: AuditReport) -> str:
    """Whether it is an audit, or on utility alone."""
    return "audit" if report.evidence.attacked or not report.findings else "utility"


def counted(report: AuditReport) -> list[tuple[str, str]]:
    """How many rows of each table there are and, where that is known, of how many people."""
    held = {name: f" of {number(report.people[name])} people" if name in report.people else "" for name in report.rows}
    return [(number(count), f"{ROWS.get(name, name)}{held[name]}") for name, count in report.rows.items()]


def origin(report: AuditReport) -> list[str]:
    """The version and the seed, where they are known."""
    run = report.run
    return [f"hushtable {run.version}, seed {run.seed}"] if run.version and run.seed is not None else []


def title_of(card: Card | None) -> str:
    """What the audited release calls itself."""
    return (card.name if card else "") or "An unnamed release"


def _given(anchor: str, title: str, body: Html | None) -> list[Section]:
    """A section if it has something to say."""
    return [] if body is None else [Section(anchor, title, body)]


def _head(kind: str, report: AuditReport) -> Html:
    counts = [element("li", element("strong", count), f" {what}") for count, what in counted(report)]
    return join(
        element("p", kind.capitalize(), class_="eyebrow"),
        element("h1", title_of(report.card)),
        element("ul", counts, [element("li", line) for line in origin(report)], class_="counts"),
        element("p", HALVED, class_="caution") if report.run.halved else None,
        [element("p", sentence(reason), class_="caution") for reason in report.assumed],
        element("p", sentence(report.run.untried), class_="soft") if report.run.untried else None,
    )


def _summary(evidence: Evidence) -> Html:
    if not evidence.findings:
        return element("p", "No audit was run, so nothing is known about this release beyond its card.")
    answers = decision.answers(evidence)
    reasons = [element("li", reason) for reason in answers[-1].reasons]
    return join(
        element("div", [_answer(answer) for answer in answers], class_="answers"),
        element("div", element("h3", "Why"), element("ul", reasons), class_="reasons") if reasons else None,
        causes_list(evidence),
        [attacks.gate(outcome) for outcome in evidence.outcomes],
        element("p", APART, class_="soft"),
    )


def _answer(answer: Answer) -> Html:
    shapes = {str(kind): shape for kind, shape in (*show.SHAPES.items(), *promise.SHAPES.items())}
    shape = element("span", shapes.get(answer.tone, ""), aria_hidden="true")
    mark = element("strong", shape, f" {answer.mark}", class_="badge") if answer.mark else None
    more = element("a", "more", href=f"#{answer.where}", aria_label=f"More on: {answer.question}") if answer.where else None
    return element(
        "article",
        element("h3", answer.question),
        element("p", answer.figure, class_="value" if len(answer.figure) <= 14 else "value words"),
        element("p", answer.text, class_="explained"),
        element("p", mark, " ", more),
        class_=answer.tone,
    )


def _promised(card: Card) -> list[Section]:
    """The guarantee, and the budget if any was written down."""
    measured = cards.criteria(card.criteria) if card.criteria else None
    stated = join(promise.small(card.stated), cards.explanation(card), measured)
    return [
        Section("guarantee", "Guarantee", stated),
        *_given("budget", "Privacy budget", budget.section(card) if card.ledger else None),
    ]


def _figures(findings: Sequence[Finding], planted: float | None) -> Html:
    attacked = any(f.risk for f in findings)
    return join(
        attacks.boxes(findings, planted) if attacked else None,
        element("h3", "Other key figures") if attacked else None,
        element("div", [_figure(f) for f in key_figures(findings)], class_="figures"),
        element("p", "Each figure stands for itself; they are never added up to one score.", class_="soft"),
    )


def key_figures(findings: Sequence[Finding]) -> list[Finding]:
    """The worst privacy findings, one of a name, and the utility of the table as a whole, five at most."""
    named = [next((f for f in findings if f.name == name), None) for name in ("mean TVD", "association difference")]
    # The first score of the main model; others may be in a unit of their own.
    useful = [f for f in (*named, next(filter(main_model, findings), None)) if f]
    useful = useful or [f for f in findings if f.subject is Subject.UTILITY][:3]
    # The three risks have boxes of their own.
    private = sorted((f for f in findings if f.subject is Subject.PRIVACY and not f.risk and f.baseline is not None), key=by_excess)
    return [*firsts(private, lambda f: f.name)[: FIGURES - len(useful)], *useful]


def _figure(finding: Finding) -> Html:
    gap = f"interval {show.interval(finding)}" if show.interval(finding) else "no interval"
    base = f"baseline {show.baseline(finding)}" if finding.baseline is not None else "no baseline"
    known = finding.value is not None
    return element(
        "article",
        element("p", finding.subject, class_="eyebrow"),
        element("h3", finding.label),
        element("p", show.amount(finding, finding.value), class_="value"),
        element("p", f"{base}; {gap}; {show.direction(finding)}" if known else finding.note, class_="soft"),
        show.verdict_line(finding),
    )
