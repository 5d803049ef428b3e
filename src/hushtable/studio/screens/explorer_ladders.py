"""The ladders as controls, and what the levels that are looked at leave beside the current choice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hushtable.report.html import Child, Html, element, pairs, table
from hushtable.report.words import number, share
from hushtable.studio.parts import button, form, post_button
from hushtable.studio.screens.explorer_state import NAME
from hushtable.studio.view import View
from hushtable.studio.words import explorer as said


def to_ladders(view: View) -> Html:
    """Back to the ladders themselves."""
    return element("a", said.BACK, href=view.to("levels"), class_="plain-button")


def ladders(view: View, found: Mapping[str, Any]) -> Html:
    """A group of radio buttons for each column, a button for each of its levels."""
    here, current = found["here"]["levels"], (found["current"] or {}).get("levels", {})
    fields = [
        element(
            "fieldset", element("legend", ladder["name"]),
            element(
                "div",
                [
                    _rung(place, ladder["name"], level, rung, chosen=here[ladder["name"]] == level,
                          current=current.get(ladder["name"]) == level, top=level == len(ladder["rungs"]) - 1)
                    for level, rung in enumerate(ladder["rungs"])
                ],
                class_="rungs",
            ),
        )
        for place, ladder in enumerate(found["ladders"])
    ]  # fmt: skip
    back = (
        post_button(view, "look", said.BACK_TO_CURRENT, region="content", screen=NAME, levels=json.dumps(current))
        if current and current != here else None
    )  # fmt: skip
    return element(
        "section", element("h2", said.LADDERS),
        form(view, "look", fields, element("noscript", button(said.JUDGE)), region="content", screen=NAME, class_="ladder-fields"),
        element("div", back, to_ladders(view), class_="buttons"),
    )  # fmt: skip


def _rung(place: int, name: str, level: int, rung: Mapping[str, Any], *, chosen: bool, current: bool, top: bool) -> Html:
    text = said.ANY if top else rung["example"] if level else said.AS_IT_IS
    spoken = said.rung(level, rung["example"], rung["cells"]) + (f" ({said.CURRENT})" if current else "")
    marks = element("span", said.NOW, class_="now") if current else None
    return element(
        "label",
        element(
            "input", type="radio", name=f"level.{name}", value=str(level), checked=chosen, data_submit=True,
            id=f"rung-{place}-{level}", aria_label=spoken,
        ),
        element("span", element("b", str(level)), marks, element("span", text, class_="example"),
                element("small", "" if top else said.cells(rung["cells"])), aria_hidden="true"),
    )  # fmt: skip


def consequence(view: View, found: Mapping[str, Any]) -> Html:
    """What the levels leave, and the difference from the current choice."""
    here, now = found["here"], found["current"]
    same = now is not None and now["levels"] == here["levels"]
    beside = now if not same else None

    def line(name: str, text: Any, value: Any, *, digits: bool = False) -> list[Child]:
        if beside is None:
            return [name, text(here)]
        return [name, text(here), text(beside), said.change(value(here) - value(beside), digits=digits)]

    rows: list[list[Child]] = [
        [said.MET, said.holds(here["met"]), *([said.holds(beside["met"]), ""] if beside else [])],
        line(said.SMALLEST, lambda c: f"{c['k']:,}", lambda c: c["k"]),
        line(said.ALONE, lambda c: f"{c['alone']:,}", lambda c: c["alone"]),
        line(said.SUPPRESSED, said.suppressed, lambda c: c["suppressed"]),
        line(said.loss(here["loss_name"]), lambda c: number(c["loss"]), lambda c: c["loss"], digits=True),
        line(said.CLASSES, said.classes, lambda c: c["kept"]),
    ]
    heads = [said.FIGURE, said.THIS, *([said.CURRENT, said.DIFFERENCE] if beside else [])]
    losses = [(name, share(lost)) for name, lost in here["losses"].items()]
    state: Child = element("p", said.IS_CURRENT if same else said.NO_CURRENT, class_="soft") if beside is None else None
    make = None if same else post_button(
        view, "current", said.MAKE_CURRENT, region="content", screen=NAME, levels=json.dumps(here["levels"])
    )  # fmt: skip
    return element(
        "section", element("h2", said.CONSEQUENCE),
        table(heads, rows, label=said.CONSEQUENCE, sortable=False, class_="consequence"),
        element("p", said.WORDS, class_="hint"),
        element("details", element("summary", said.LOST), pairs(losses, class_="facts short")),
        state, element("div", make, class_="buttons"),
    )  # fmt: skip
