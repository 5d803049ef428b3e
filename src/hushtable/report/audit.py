"""The private audit as a page: what attacks and comparisons found, computed from the raw rows, never to be published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hushtable.report import promise, sections
from hushtable.report.everything import every_finding, meanings, verdict
from hushtable.report.html import Html, Section, element, join, page
from hushtable.report.reading import Reading, worst_first
from hushtable.report.words import number

INTERNAL = "INTERNAL: computed from the raw rows, do not publish"
FIGURES = 5
"""So many key figures on the first screen."""
ROWS = {"train": "training rows", "release": "released rows", "control": "control rows"}


def audit_page(findings: Iterable[Mapping[str, Any]], card: Mapping[str, Any] | None, *, rows: Mapping[str, int]) -> str:
    """Findings as ``Finding.to_json()`` gives them, the card of the audited release if it is known, and the row counts."""
    readings = [Reading.of(finding) for finding in findings]
    privacy = sorted((r for r in readings if r.subject == "privacy"), key=worst_first)
    margins = [r for r in readings if r.name in sections.MARGINS]
    associations = [r for r in readings if r.name == sections.ASSOCIATION]
    downstream = [r for r in readings if r.name.startswith(sections.DOWNSTREAM)]
    told = [id(r) for r in (*privacy, *margins, *associations, *downstream)]
    others = [r for r in readings if id(r) not in told]
    parts = [
        Section("summary", "Summary", _summary(readings, privacy)),
        Section("privacy", "Privacy findings", sections.privacy(privacy)),
        Section("distances", "Distances", sections.distances(readings)),
        Section("margins", "Margins", sections.margins(margins)),
        Section("associations", "Associations", sections.associations(associations)),
        Section("downstream", "Downstream", sections.downstream(downstream)),
        *([Section("others", "Other findings", sections.others(others))] if others else []),
        Section("all", "All findings", every_finding(readings)),
        Section("words", "What the numbers mean", meanings(readings)),
    ]
    return page(title=f"INTERNAL audit: {_title(card)}", head=_head(card, rows), sections=parts, kind="internal", running=INTERNAL)


def _title(card: Mapping[str, Any] | None) -> str:
    return str((card or {}).get("title") or (card or {}).get("recipe") or "An unnamed release")


def _head(card: Mapping[str, Any] | None, rows: Mapping[str, int]) -> Html:
    counts = [element("li", element("strong", number(count)), f" {ROWS.get(name, name)}") for name, count in rows.items()]
    return join(
        element("p", "Audit", class_="eyebrow"),
        element("h1", _title(card)),
        element("ul", counts, class_="counts"),
        _promised(card)
        if card
        else element("p", "The card of the audited release is not known, so its promise is not shown.", class_="soft"),
    )


def _promised(card: Mapping[str, Any]) -> Html:
    first, *_ = promise.sentences(card)
    return element("div", promise.badge(card), element("p", first), class_=f"statement small {promise.assurance(card)}")


def _summary(readings: Sequence[Reading], privacy: Sequence[Reading]) -> Html:
    if not readings:
        return element("p", "No audit was run, so nothing is known about this release beyond its card.")
    return join(
        element("p", _lead(privacy), class_="lead"),
        element("div", [_figure(r) for r in key_figures(readings)], class_="figures"),
        element("p", "Each figure stands for itself; they are never added up to one score.", class_="soft"),
    )


def _lead(privacy: Sequence[Reading]) -> str:
    judged = [r for r in privacy if r.value is not None and r.baseline is not None]
    worse = [r for r in judged if r.surely_worse]
    if not judged:
        return "No privacy finding could be judged: there is none with a value and a baseline."
    if worse:
        verb = "is" if len(worse) == 1 else "are"
        return f"{number(len(worse))} of {number(len(judged))} privacy findings {verb} worse than for fresh real rows."
    return f"None of {number(len(judged))} privacy findings is worse than for fresh real rows. This is not a proof of safety."


def key_figures(readings: Sequence[Reading]) -> list[Reading]:
    """The worst privacy findings and the utility of the table as a whole, five at most."""
    whole = {name: [r for r in readings if r.name == name] for name in ("mean TVD", sections.ASSOCIATION)}
    downstream = sorted((r for r in readings if r.name.startswith(sections.DOWNSTREAM)), key=worst_first)
    utility = [*whole["mean TVD"][:1], *whole[sections.ASSOCIATION][:1], *downstream[:1]]
    utility = utility or [r for r in readings if r.subject != "privacy"][:3]
    privacy = sorted((r for r in readings if r.subject == "privacy"), key=worst_first)
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
        verdict(reading.verdict),
    )
