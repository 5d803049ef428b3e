"""The private audit as a page: what attacks and comparisons found, computed from the raw rows, never to be published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.measures.catalogue import main_model
from hushtable.report import attacks, decision, promise, sections, utility
from hushtable.report import card as cards
from hushtable.report import records as whom
from hushtable.report.charts import distances, roc
from hushtable.report.decision import Answer, Evidence
from hushtable.report.everything import SHAPES, every_finding, meanings, verdict
from hushtable.report.html import INTERNAL, Html, Section, element, join, page
from hushtable.report.reading import Reading, worst_first
from hushtable.report.words import firsts, number, sentence

FIGURES = 5
"""So many key figures."""
ROWS = {"train": "training rows", "release": "released rows", "control": "control rows"}
HALVED = (
    "No rows were held out: the real rows were halved at random, one half compared and the other taken as the control. Models are "
    "tested on rows that the release was made from, so they may look better than they are on new people."
)
Plain = Mapping[str, Any]


def audit_page(told: Plain) -> str:
    """The page of what ``AuditReport.to_json()`` gives or ``audit.json`` keeps; only findings and row counts must be there."""
    found = evidence(told)
    readings, card, power, rows = found.readings, found.card, found.power, told["rows"]
    records, groups = told.get("records"), told.get("groups")
    whole = [r for r in readings if r.value is not None and r.subject == "privacy" and r.risk not in attacks.RISKS]
    compared = sorted((r for r in whole if r.tested or r.baseline is not None), key=worst_first)
    properties = [r for r in whole if not r.tested and r.baseline is None]
    others = [r for r in readings if r.value is not None and r.subject != "privacy" and not r.page]
    failed = [r for r in readings if r.value is None]
    attacked = any(r.risk for r in readings)
    # A report on utility alone keeps an empty list of records.
    listed = records is not None and (found.attacked or bool(records))
    parts = [
        Section("summary", "Decision", _summary(found)),
        *([Section("figures", "Key figures", _figures(found))] if readings else []),
        *(Section(_anchor(risk), name, attacks.section(risk, readings)) for risk, (name, _) in attacks.RISKS.items() if attacked),
        *_given("membership", "Membership", roc.section(readings)),
        *_given("distances", "Distances", distances.section(readings)),
        *_given("indicators", "Indicators", sections.indicators(compared) if compared else None),
        *_given("properties", "Properties", sections.properties(properties) if properties else None),
        *_given(
            "records",
            "Riskiest records",
            whom.records(records, told.get("at_risk") or (), (told.get("people") or rows).get("train")) if listed else None,
        ),
        *_given("groups", "Groups at risk", whom.groups(groups) if groups else None),
        *_given("power", "What it would have noticed", attacks.power_section(power) if power and power.get("noticed") else None),
        *_promised(card),
        *utility.pages(readings),
        *_given("others", "Other findings", sections.others(others) if others else None),
        *_given("uncomputed", "What could not be computed", sections.uncomputed(failed) if failed else None),
        Section("all", "All findings", every_finding(readings)),
        Section("words", "What the numbers mean", meanings(readings, [("Should it be published?", decision.RULE)])),
    ]
    kind = "audit" if found.attacked or not readings else "utility"
    return page(
        title=f"INTERNAL {kind}: {title_of(card)}",
        head=_head(kind, card, counted(told), told.get("made") or {}, found.assumed),
        sections=parts,
        kind="internal",
        running=INTERNAL,
    )


def evidence(told: Plain) -> Evidence:
    """What the four answers rest on; every finding is read with the largest leak that was planted to try the audit out."""
    power = told.get("power")
    tried = max((float(share) for share in power.get("shares") or ()), default=0.1) if power is not None else None
    readings = [Reading.of(finding, tried) for finding in told["findings"]]
    return Evidence(readings, told.get("card"), power, told.get("gates") or (), told.get("void") or (), told.get("assumed") or ())


def counted(told: Plain) -> list[tuple[str, str]]:
    """How many rows of each table there are and, where that is known, of how many people."""
    people = told.get("people") or {}
    held = {name: f" of {number(people[name])} people" if name in people else "" for name in told["rows"]}
    return [(number(count), f"{ROWS.get(name, name)}{held[name]}") for name, count in told["rows"].items()]


def title_of(card: Plain | None) -> str:
    """What the audited release calls itself."""
    return str((card or {}).get("title") or (card or {}).get("recipe") or "An unnamed release")


def _given(anchor: str, title: str, body: Html | None) -> list[Section]:
    """A section if it has something to say."""
    return [] if body is None else [Section(anchor, title, body)]


def _anchor(risk: str) -> str:
    return risk.replace(" ", "-")


def _head(kind: str, card: Plain | None, rows: Sequence[tuple[str, str]], made: Plain, assumed: Sequence[str]) -> Html:
    counts = [element("li", element("strong", count), f" {what}") for count, what in rows]
    source = [f"hushtable {made['hushtable']}, seed {made['seed']}"] if "hushtable" in made and "seed" in made else []
    return join(
        element("p", kind.capitalize(), class_="eyebrow"),
        element("h1", title_of(card)),
        element("ul", counts, [element("li", text) for text in source], class_="counts"),
        element("p", HALVED, class_="mind") if made.get("halved") else None,
        [element("p", sentence(reason), class_="mind") for reason in assumed],
    )


def _summary(found: Evidence) -> Html:
    if not found.readings:
        return element("p", "No audit was run, so nothing is known about this release beyond its card.")
    told = decision.answers(found)
    *_, last = told
    return join(
        element("div", [_answer(answer) for answer in told], class_="answers"),
        element("div", element("h3", "Why"), element("ul", [element("li", reason) for reason in last.reasons]), class_="reasons")
        if last.reasons
        else None,
        [attacks.gate(gate) for gate in found.gates],
        element("p", "Promised, measured and lost are three kinds of evidence, never added up to one score.", class_="soft"),
    )


def _answer(answer: Answer) -> Html:
    shapes = {str(tone): shape for tone, shape in SHAPES.items()} | {word: shape for word, (shape, _) in promise.ASSURANCES.items()}
    shape = element("span", shapes.get(answer.tone, ""), aria_hidden="true")
    mark = element("strong", shape, f" {answer.mark}", class_="badge") if answer.mark else None
    more = element("a", "more", href=f"#{answer.where}", aria_label=f"More on: {answer.question}") if answer.where else None
    return element(
        "article",
        element("h3", answer.question),
        element("p", answer.figure, class_="value" if len(answer.figure) <= 14 else "value words"),
        element("p", answer.told, class_="told"),
        element("p", mark, " ", more),
        class_=answer.tone,
    )


def _promised(of: Plain | None) -> list[Section]:
    """The guarantee and the budget, if the card is known."""
    if not of:
        return []
    guarantee = of.get("guarantee") or {}
    held = join(
        element(
            "div",
            promise.badge(of),
            [element("p", told) for told in promise.sentences(of)],
            element("p", promise.in_symbols(of), class_="soft"),
            class_=f"statement small {promise.assurance(of)}",
        ),
        cards.explanation(of),
        cards.criteria(guarantee.get("criteria") or {}) if guarantee.get("criteria") else None,
    )
    ledger = guarantee.get("ledger")
    return [Section("guarantee", "Guarantee", held), *_given("budget", "Privacy budget", cards.spent(of) if ledger else None)]


def _figures(found: Evidence) -> Html:
    readings = found.readings
    attacked = any(r.risk for r in readings)
    return join(
        attacks.boxes(readings) if attacked else None,
        element("h3", "Other key figures") if attacked else None,
        element("div", [_figure(r) for r in key_figures(readings)], class_="figures"),
        element("p", "Each figure stands for itself; they are never added up to one score.", class_="soft"),
    )


def key_figures(readings: Sequence[Reading]) -> list[Reading]:
    """The worst privacy findings, one of a name, and the utility of the table as a whole, five at most."""
    named = [next((r for r in readings if r.name == name), None) for name in ("mean TVD", "association difference")]
    # The first score of the main model; others may be in a unit of their own.
    utility = [r for r in (*named, next(filter(main_model, readings), None)) if r]
    utility = utility or [r for r in readings if r.subject != "privacy"][:3]
    # The three risks have boxes of their own.
    privacy = sorted((r for r in readings if r.subject == "privacy" and not r.risk and r.baseline is not None), key=worst_first)
    privacy = firsts(privacy, lambda r: r.name)
    return [*privacy[: FIGURES - len(utility)], *utility]


def _figure(reading: Reading) -> Html:
    gap = f"interval {reading.interval()}" if reading.interval() else "no interval"
    base = f"baseline {reading.told(reading.baseline)}" if reading.baseline is not None else "no baseline"
    known = reading.value is not None
    return element(
        "article",
        element("p", reading.subject or "other", class_="eyebrow"),
        element("h3", reading.label),
        element("p", reading.told(reading.value), class_="value"),
        element("p", f"{base}; {gap}; {reading.direction}" if known else reading.note, class_="soft"),
        verdict(reading),
    )
