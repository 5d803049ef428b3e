"""The private audit as a page: what attacks and comparisons found, computed from the raw rows, never to be published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hushtable.evidence.finding import Finding, Subject
from hushtable.evidence.verdict import by_excess, is_tested
from hushtable.evidence.verdict.publish import RULE
from hushtable.measures.catalogue import main_model
from hushtable.pipeline.card import Card
from hushtable.report import attacks, budget, decision, gist, promise, tables, utility
from hushtable.report import card as cards
from hushtable.report import findings as show
from hushtable.report.causes import causes_list
from hushtable.report.charts import distances, roc
from hushtable.report.decision import Answer
from hushtable.report.examples import examples_section
from hushtable.report.html import INTERNAL, Html, Section, element, join, page
from hushtable.report.records import groups_section, records_section
from hushtable.report.words import firsts, number, sentence

if TYPE_CHECKING:
    # The page shows the report and does not make it.
    from hushtable.api.audit_report import AuditReport

FIGURES = 5
"""So many key figures."""
PEOPLE = {"train": "people in the table", "control": "people outside it, the control"}
HALVED = (
    "No rows were held out: the real rows were halved at random, one half compared and the other taken as the control. Models are "
    "tested on rows that the release was made from, so they may seem better than they are on new people."
)
RULES = [("Should it be published?", RULE)]
APART = "What is promised, what was measured and what was lost are three kinds of evidence, never added up to one score."


def audit_page(report: AuditReport) -> str:
    """The page of an audit, or of a measurement of utility alone."""
    sections = [section for part in PARTS.values() for section in part(report)]
    return page(title=f"INTERNAL {_titled(report)}", head=_head(report), sections=sections, kind="internal", running=INTERNAL)


def _decided(report: AuditReport) -> list[Section]:
    """The verdict, what to do about it, and the key figures."""
    planted = None if report.power is None else report.power.largest
    figures = [Section("figures", "Key figures", _figures(report.findings, planted))] if report.findings else []
    return [Section("summary", "Decision", _summary(report)), *figures]


def _attacked(report: AuditReport) -> list[Section]:
    """The attacks by the risk they are an instance of, and all other findings about privacy."""
    evidence, findings = report.evidence, report.findings
    planted = None if report.power is None else report.power.largest
    whole = [f for f in evidence.private if f.risk is None]
    compared = sorted((f for f in whole if is_tested(f) or f.baseline is not None), key=by_excess)
    properties = [f for f in whole if not is_tested(f) and f.baseline is None]
    attacked = any(f.risk for f in findings)
    return [
        *(
            Section(attacks.anchor(risk), title, attacks.section(risk, findings, planted), gist.of_attacks(findings, risk))
            for risk, (title, _) in attacks.RISKS.items()
            if attacked
        ),
        *_given(
            "membership", "Membership", roc.section(findings), "How many people are recognized, by how many are accused falsely."
        ),
        *_given("distances", "Distances", distances.section(findings), "How close released rows lie to those they were made from."),
        *(
            _given("indicators", "Indicators", tables.indicators(compared, planted), gist.of_indicators(compared))
            if compared
            else []
        ),
        *(
            _given(
                "properties", "Properties", tables.properties(properties), f"{number(len(properties))} numbers without a baseline."
            )
            if properties
            else []
        ),
    ]


def _people(report: AuditReport) -> list[Section]:
    """The records and the groups at most risk."""
    people = (report.people or report.rows).get("train")
    return [
        *_given(
            "records",
            "Riskiest records",
            records_section(report.records, report.at_risk, people) if report.evidence.attacked or report.records else None,
            gist.of_records(report.records, report.at_risk, people),
        ),
        *(
            _given("groups", "Groups at risk", groups_section(report.groups), gist.of_groups(report.groups))
            if report.groups
            else []
        ),
    ]


def _noticed(report: AuditReport) -> list[Section]:
    """Which planted leaks the audit would have noticed."""
    power = report.power
    return _given(
        "power",
        "What it would have noticed",
        attacks.power_section(power) if power and power.noticed else None,
        sentence(attacks.noticed(report.evidence)),
    )


def _stated(report: AuditReport) -> list[Section]:
    """What the card of the release promises."""
    return _promised(report.card) if report.card else []


def _used(report: AuditReport) -> list[Section]:
    """What the release is good for."""
    others = utility.of_page(report.findings, None)
    return [
        *utility.pages(report.findings),
        *_given("examples", "Released texts", examples_section(report.examples), _shown(len(report.examples))),
        *(_given("others", "Other findings", tables.others(others), gist.of_measures(others)) if others else []),
    ]


def _explained(report: AuditReport) -> list[Section]:
    """What could not be computed, what the numbers mean, and all of them."""
    findings = report.findings
    failed = [f for f in findings if f.value is None]
    return [
        *_given(
            "uncomputed",
            "What could not be computed",
            tables.uncomputed(failed) if failed else None,
            f"{number(len(failed))} finding{'' if len(failed) == 1 else 's'} without a number, each with its reason.",
        ),
        Section("words", "What the numbers mean", tables.meanings(findings, RULES), "Every name and every verdict of this page."),
        Section(
            "all",
            "All findings",
            tables.every_finding(findings),
            f"{number(len(findings))} findings with all their digits, as a file.",
        ),
    ]


PARTS: dict[str, Callable[[AuditReport], list[Section]]] = {
    "decision": _decided,
    "attacks": _attacked,
    "people": _people,
    "power": _noticed,
    "promise": _stated,
    "use": _used,
    "words": _explained,
}
"""The parts of the page in their order, each of which can be made by itself."""


def kind_of(report: AuditReport) -> str:
    """Whether it is an audit, or on utility alone."""
    return "audit" if report.evidence.attacked or not report.findings else "utility"


def counted(report: AuditReport) -> list[tuple[str, str]]:
    """How many people each table holds, with their rows where those are others; and how many rows were released."""
    lines = []
    for name, rows in report.rows.items():
        if name not in PEOPLE:
            lines.append((number(rows), "released rows" if name == "release" else name))
        elif report.asked and report.people:
            lines.append((number(rows), f"rows of {PEOPLE[name]}"))
        elif name in report.people:
            lines.append((number(report.people[name]), f"{PEOPLE[name]} ({number(rows)} rows)"))
        else:
            lines.append((number(rows), PEOPLE[name]))
    return lines


def origin(report: AuditReport) -> list[str]:
    """The recipe, the version and the seed, where they are known."""
    run, card = report.run, report.card
    recipe = [f"recipe {card.recipe}"] if card and card.recipe else []
    return [*recipe, f"hushtable {run.version}, seed {run.seed}"] if run.version and run.seed is not None else recipe


def title_of(report: AuditReport) -> str:
    """What the data is called; where nobody said, what the audited release calls itself."""
    card = report.card
    return (card.data_title if card else "") or report.title or (card.name if card else "") or "An unnamed release"


def dated(report: AuditReport) -> str:
    """What was audited, and on which day."""
    return f"{title_of(report)}, {report.run.date}" if report.run.date else title_of(report)


def _titled(report: AuditReport) -> str:
    """Kind, name of the data, date and verdict: what a bookmark, a tab or a printed sheet is called."""
    found = f": {decision.answers(report.evidence)[-1].figure}" if report.findings else ""
    return f"{kind_of(report)}: {dated(report)}{found}"


def _given(anchor: str, title: str, body: Html | None, gist: str) -> list[Section]:
    """A section if it has something to say, folded to its gist."""
    return [] if body is None else [Section(anchor, title, body, gist)]


def _shown(examples: int) -> str:
    return f"{number(examples)} released row{'' if examples == 1 else 's'} to be read by eye."


def _head(report: AuditReport) -> Html:
    day = f", {report.run.date}" if report.run.date else ""
    return join(element("p", f"{kind_of(report).capitalize()}{day}", class_="eyebrow"), element("h1", title_of(report)))


def _summary(report: AuditReport) -> Html:
    """The verdict, what to do about it, and under these the other three answers and what they rest on."""
    evidence = report.evidence
    if not evidence.findings:
        return join(element("p", "No audit was run, so nothing is known about this release beyond its card."), _about(report))
    *others, last = decision.answers(evidence)
    return join(
        element(
            "div",
            element("h3", last.question),
            element("p", element("span", _shape(last), aria_hidden="true"), f" {last.figure}", class_="value"),
            element("p", last.text),
            class_=f"decided {last.tone}",
        ),
        _what_to_do(report, last.reasons),
        element("div", [_answer(answer) for answer in others], class_="answers"),
        [attacks.gate(outcome) for outcome in evidence.outcomes],
        _about(report),
        element("p", APART, class_="soft"),
    )


def _what_to_do(report: AuditReport, reasons: Sequence[str]) -> Html:
    """What would remove the cause of each alarm; and the reasons of the decision."""
    why = element("div", element("h3", "Why"), element("ul", [element("li", line) for line in reasons]), class_="reasons")
    return join(causes_list(report.evidence), why if reasons else None)


def _about(report: AuditReport) -> Html:
    """Whom it is about, how it was run, and what was assumed."""
    counts = [element("li", element("strong", count), f" {what}") for count, what in counted(report)]
    return join(
        element("ul", counts, [element("li", line) for line in origin(report)], class_="counts") if counts else None,
        element("p", HALVED, class_="caution") if report.run.halved else None,
        element("p", sentence(report.sampled), class_="caution") if report.sampled else None,
        [element("p", sentence(reason), class_="caution") for reason in report.assumed],
        element("p", sentence(report.run.untried), class_="soft") if report.run.untried else None,
    )


def _shape(answer: Answer) -> str:
    shapes = {str(kind): shape for kind, shape in (*show.SHAPES.items(), *promise.SHAPES.items())}
    return shapes.get(answer.tone, "")


def _answer(answer: Answer) -> Html:
    shape = element("span", _shape(answer), aria_hidden="true")
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
    measured = cards.criteria(card) if card.criteria else None
    stated = join(promise.small(card.stated, card.exposed), cards.explanation(card), measured)
    return [
        Section("guarantee", "Guarantee", stated, f"{card.stated.assurance}: {card.stated.figure}."),
        *_given("budget", "Privacy budget", budget.section(card) if card.ledger else None, gist.of_budget(card)),
    ]


def _figures(findings: Sequence[Finding], planted: float | None) -> Html:
    attacked = any(f.risk for f in findings)
    return join(
        attacks.boxes(findings, planted) if attacked else None,
        element("h3", "Other key figures") if attacked else None,
        element("div", [_figure(f, findings) for f in key_figures(findings)], class_="figures"),
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


def _figure(finding: Finding, findings: Sequence[Finding]) -> Html:
    worst = show.worst(finding, findings)
    gap = f"interval {show.interval(finding)}" if show.interval(finding) else "no interval"
    base = f"baseline {show.baseline(finding)}" if finding.baseline is not None else "no baseline"
    known = finding.value is not None
    return element(
        "article",
        element("p", finding.subject, class_="eyebrow"),
        element("h3", finding.label),
        element("p", show.amount(finding, finding.value), class_="value"),
        element(
            "p",
            element("strong", f"{worst}; ") if worst else None,
            f"{base}; {gap}; {show.direction(finding)}" if known else finding.note,
            class_="soft",
        ),
        show.verdict_line(finding),
    )
