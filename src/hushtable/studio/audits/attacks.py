"""Attacks by what the attacker knows; those that succeed on nearly everybody are set apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Child, Html, element, join, table
from hushtable.studio import releases, words
from hushtable.studio.audits.judged import judged
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button, form
from hushtable.studio.view import View
from hushtable.studio.words import audit as said
from hushtable.studio.words import run as said_of_run

QUASI, ALL, CHOOSE = "quasi", "all", "choose"
OWN = 6
"""So many attacks of a kind are shown; the others are folded away."""


async def attacks(view: View, release: Job, main: Job) -> Html:
    """The attacks of whoever is chosen, kind by kind, the worst first."""
    others = [job for job in releases.audits(view, release) if job.name != releases.MAIN]
    known = view.query.get("known", QUASI)
    chosen = next((job for job in others if job.name == known and job.state is State.DONE), None)
    if chosen is not None:
        found = await view.ask("attacks", audit=chosen.request["out"], known="")
        lead = said.few(chosen.request["known"])
    else:
        known = known if known in (QUASI, ALL, CHOOSE) else QUASI
        found = await view.ask("attacks", audit=main.request["out"], known=ALL if known == CHOOSE else known)
        if known == QUASI and QUASI not in found["known"] and "known" not in view.query:
            # Nobody chose: whoever was tried is shown.
            known = ALL
            found = await view.ask("attacks", audit=main.request["out"], known=ALL)
        lead = said.KNOWN_QUASI_WHAT if known == QUASI else said.KNOWN_ALL_WHAT
    parts: list[Child] = [_switch(view, release, known if chosen is None else CHOOSE)]
    if known == CHOOSE or chosen is not None:
        parts.append(_choose(view, release, others, chosen))
    if known != CHOOSE:
        tried = chosen is not None or known in found["known"]
        untried = None if tried else element("p", f"{said.NOT_TRIED} {found['untried']}".strip(), class_="caution")
        parts += [element("p", lead, class_="soft"), untried]
        parts += (
            [join(element("p", said.HITS, class_="soft"), [_kind(kind, found["nearly"]) for kind in found["kinds"]])]
            if tried
            else []
        )
    return element("div", parts, id="attacks", class_="tab")


def _switch(view: View, release: Job, here: str) -> Html:
    items = [
        element(
            "li",
            element(
                "a", label, href=f"{view.to('audit', run=release.folder.name, tab='attacks', known=name)}#tabs",
                aria_current="true" if name == here else None,
            ),
        )
        for name, label in said.KNOWN.items()
    ]  # fmt: skip
    return element(
        "div", element("p", said.KNOWS, id="knows", class_="switch-label"),
        element("ul", items, class_="segments", aria_labelledby="knows"),
        class_="known",
    )  # fmt: skip


def _choose(view: View, release: Job, others: Sequence[Job], chosen: Job | None) -> Html:
    held = set(chosen.request["known"]) if chosen is not None else set(view.typed.all("column"))
    dropped = set(release.result["dropped"])
    boxes = [
        element(
            "label", element("input", type="checkbox", name="column", value=name, checked=name in held), element("span", name),
            class_="box",
        )
        for name, role in view.workspace.roles().items() if name not in dropped and role != "identifier"
    ]  # fmt: skip
    before = [
        element(
            "li",
            element(
                "a", said.few(job.request["known"]),
                href=view.to("audit", run=release.folder.name, tab="attacks", known=job.name) if job.state is State.DONE
                else view.to("audit", run=release.folder.name, job=job.id),
                aria_current="true" if job is chosen else None,
            ),
            None if job.state is State.DONE else f" ({said_of_run.STATES[job.state]})",
        )
        for job in others
    ]  # fmt: skip
    fault = view.fault("column")
    fields = element(
        "fieldset",
        element("legend", said.CHOOSE),
        element("p", said.CHOOSE_HINT, class_="hint"),
        element("p", fault, class_="fault", id="fault-column") if fault else None,
        element("div", boxes, class_="boxes", id="field-column", tabindex=0, role="group", aria_label=said.CHOOSE),
        class_="field",
    )
    asked = element(
        "details",
        element("summary", said.CHOOSE),
        form(
            view, "choose", element("input", type="hidden", name="run", value=release.folder.name), fields,
            button(said.RUN_CHOSEN, main=True), class_="fields",
        ),
        open=chosen is None,
    )  # fmt: skip
    return join(
        element("div", element("p", said.CHOSEN_BEFORE, class_="eyebrow"), element("ul", before, class_="plain"))
        if before
        else None,
        asked,
    )


def _kind(kind: Mapping[str, Any], nearly: float) -> Html:
    own, general = kind["own"], kind["general"]
    if not kind["tried"]:
        body: Html = element("p", said.NO_ATTACK, class_="soft")
    else:
        body = join(
            element("p", said.worse(kind["worse"], kind["tried"])),
            element("figure", Html(kind["chart"]), class_="attack-chart") if kind["chart"] else None,
            _attack_table(own[:OWN], kind["title"]) if own else None,
            _folded(own[OWN:], kind["title"]),
            element(
                "details",
                element("summary", said.general(len(general))),
                element("p", said.general_what(words.percent(nearly)), class_="soft"),
                _attack_table(general, said.nearly_all(kind["title"])),
                open=kind["alarming"], class_="apart",
            )
            if general else None,
        )  # fmt: skip
    uncomputed = element("p", said.uncomputed(kind["uncomputed"]), class_="soft") if kind["uncomputed"] else None
    return element("section", element("h2", kind["title"]), element("p", kind["law"], class_="soft"), body, uncomputed)


def _folded(lines: Sequence[Mapping[str, Any]], title: str) -> Html | None:
    if not lines:
        return None
    return element("details", element("summary", said.more_attacks(len(lines))), _attack_table(lines, said.rest(title)))


def _attack_table(lines: Sequence[Mapping[str, Any]], label: str) -> Html:
    """The attacks of whoever is chosen, kind by kind, the worst first."""
    heads = [said.ATTACK, said.INSIDE, said.OUTSIDE, said.DIFFERENCE, said.INTERVAL, said.MEANING]
    rows = [
        [judged(line, line["label"]), line["inside"], line["outside"], line["gain"], line["between"], line["note"]]
        for line in lines
    ]
    return table(heads, rows, label=label, numbers=range(1, 5), sortable=False, class_="findings judged")
