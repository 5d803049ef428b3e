"""The private audit as a page: what attacks and comparisons found, computed from the raw rows, never to be published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hushtable.report import attacks, distances, promise, roc, sections
from hushtable.report import records as whom
from hushtable.report.everything import every_finding, meanings, verdict
from hushtable.report.html import Html, Section, element, join, page
from hushtable.report.reading import Reading, worst_first
from hushtable.report.words import firsts, number, sentence

INTERNAL = "INTERNAL: computed from the raw rows, do not publish"
FIGURES = 5
"""So many key figures on the first screen."""
ROWS = {"train": "training rows", "release": "released rows", "control": "control rows"}


def audit_page(
    findings: Iterable[Mapping[str, Any]],
    card: Mapping[str, Any] | None,
    *,
    rows: Mapping[str, int],
    records: Sequence[Mapping[str, Any]] | None = None,
    at_risk: Sequence[Mapping[str, Any]] = (),
    groups: Mapping[str, Any] | None = None,
    power: Mapping[str, Any] | None = None,
    gates: Sequence[Mapping[str, Any]] = (),
    void: Sequence[str] = (),
    made: Mapping[str, Any] | None = None,
) -> str:
    """Findings as ``Finding.to_json()`` gives them, the card of the audited release if it is known, and the row counts.

    ``records``, ``at_risk`` and ``groups`` are what ``evidence.records`` and ``evidence.groups`` found, as plain values;
    ``power`` is what ``audits.power.summary`` tells of leaks that were planted to try the audit out;
    ``gates`` are what was asked of the release, whether it holds, and by which number; ``void`` are reasons why nothing that
    the audit says about safety counts; ``made`` says by which version and with which seed it was made.
    """
    tried = max((float(share) for share in (power or {}).get("shares") or ()), default=0.1) if power is not None else None
    readings = [Reading.of(finding, tried) for finding in findings]
    known = [r for r in readings if r.value is not None]
    margins = [r for r in readings if r.name in sections.MARGINS]
    associations = [r for r in readings if r.name == sections.ASSOCIATION]
    downstream = [r for r in readings if r.name.startswith(sections.DOWNSTREAM)]
    told = {id(r) for r in (*margins, *associations, *downstream)}
    whole = [r for r in known if r.subject == "privacy" and r.risk not in attacks.RISKS]
    compared = sorted((r for r in whole if r.tested or r.baseline is not None), key=worst_first)
    properties = [r for r in whole if not r.tested and r.baseline is None]
    others = [r for r in known if r.subject != "privacy" and id(r) not in told]
    failed = [r for r in readings if r.value is None]
    attacked = any(r.risk for r in readings)
    parts = [
        Section("summary", "Summary", _summary(readings, power, gates, void)),
        *(Section(_anchor(risk), name, attacks.section(risk, readings)) for risk, (name, _) in attacks.RISKS.items() if attacked),
        *_given("membership", "Membership", roc.section(readings)),
        *_given("distances", "Distances", distances.section(readings)),
        *_given("indicators", "Indicators", sections.indicators(compared) if compared else None),
        *_given("properties", "Properties", sections.properties(properties) if properties else None),
        *_given("records", "Riskiest records", whom.records(records, at_risk, rows.get("train")) if records is not None else None),
        *_given("groups", "Groups", whom.groups(groups) if groups else None),
        *_given("power", "What it would have noticed", attacks.power_section(power) if power and power.get("noticed") else None),
        *_given("uncomputed", "What could not be computed", sections.uncomputed(failed) if failed else None),
        Section("margins", "Margins", sections.margins(margins)),
        Section("associations", "Associations", sections.associations(associations)),
        Section("downstream", "Downstream", sections.downstream(downstream)),
        *_given("others", "Other findings", sections.others(others) if others else None),
        Section("all", "All findings", every_finding(readings)),
        Section("words", "What the numbers mean", meanings(readings)),
    ]
    return page(
        title=f"INTERNAL audit: {_title(card)}",
        head=_head(card, rows, made or {}),
        sections=parts,
        kind="internal",
        running=INTERNAL,
    )


def _given(anchor: str, title: str, body: Html | None) -> list[Section]:
    """A section if it has something to say."""
    return [] if body is None else [Section(anchor, title, body)]


def _anchor(risk: str) -> str:
    return risk.replace(" ", "-")


def _title(card: Mapping[str, Any] | None) -> str:
    return str((card or {}).get("title") or (card or {}).get("recipe") or "An unnamed release")


def _head(card: Mapping[str, Any] | None, rows: Mapping[str, int], made: Mapping[str, Any]) -> Html:
    counts = [element("li", element("strong", number(count)), f" {ROWS.get(name, name)}") for name, count in rows.items()]
    return join(
        element("p", "Audit", class_="eyebrow"),
        element("h1", _title(card)),
        element("ul", counts, class_="counts"),
        element("p", f"hushtable {made['hushtable']}, seed {made['seed']}", class_="soft") if made else None,
        _promised(card)
        if card
        else element("p", "The card of the audited release is not known, so its promise is not shown.", class_="soft"),
    )


def _promised(card: Mapping[str, Any]) -> Html:
    first, *_ = promise.sentences(card)
    return element("div", promise.badge(card), element("p", first), class_=f"statement small {promise.assurance(card)}")


def _summary(
    readings: Sequence[Reading], power: Mapping[str, Any] | None, gates: Sequence[Mapping[str, Any]], void: Sequence[str]
) -> Html:
    if not readings:
        return element("p", "No audit was run, so nothing is known about this release beyond its card.")
    attacked = any(r.risk for r in readings)
    return join(
        [element("p", f"This audit is void: {sentence(reason)}", class_="lead void") for reason in void],
        [attacks.gate(gate) for gate in gates],
        [element("p", told, class_="lead" if first and not void else None) for first, told in _decided(readings, power)],
        attacks.boxes(readings) if attacked else None,
        element("h3", "Other key figures") if attacked else None,
        element("div", [_figure(r) for r in key_figures(readings)], class_="figures"),
        element("p", "Each figure stands for itself; they are never added up to one score.", class_="soft"),
    )


def _decided(readings: Sequence[Reading], power: Mapping[str, Any] | None) -> list[tuple[bool, str]]:
    """A sentence on what was tested against people outside, then one on what has only a baseline; the first one leads."""
    privacy = [r for r in readings if r.subject == "privacy" and r.value is not None]
    tested = [r for r in privacy if r.tested]
    judged = [r for r in privacy if not r.tested and r.baseline is not None]
    told = attacks.decision(tested, power) if tested else []
    if judged:
        worse = sum(r.surely_worse for r in judged)
        what = f"{number(len(judged))} privacy findings{' without a test of their own' if tested else ''}"
        verb = "is" if worse <= 1 else "are"
        end = "" if worse else " This is not a proof of safety."
        told.append(f"{number(worse) if worse else 'None'} of {what} {verb} worse than for fresh real rows.{end}")
    told = told or ["No privacy finding could be judged: there is none with a value and a baseline."]
    return [(at == 0, text) for at, text in enumerate(told)]


def key_figures(readings: Sequence[Reading]) -> list[Reading]:
    """The worst privacy findings, one of a name, and the utility of the table as a whole, five at most."""
    whole = {name: [r for r in readings if r.name == name] for name in ("mean TVD", sections.ASSOCIATION)}
    downstream = sorted((r for r in readings if r.name.startswith(sections.DOWNSTREAM)), key=worst_first)
    utility = [*whole["mean TVD"][:1], *whole[sections.ASSOCIATION][:1], *downstream[:1]]
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
