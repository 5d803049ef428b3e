"""Choices beside the one that is looked at: one level up or down, and all that was judged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Html, element, join, table
from hushtable.report.words import number
from hushtable.studio.parts import button, form, later
from hushtable.studio.screens.explorer_state import NAME, demand_of, fits, kept_of, last_search
from hushtable.studio.view import View
from hushtable.studio.words import explorer as said

LISTED = 60
"""So many judged choices are listed, those that lose least."""


def places(view: View, ladders: Sequence[Mapping[str, Any]]) -> Html:
    """A place for each column: each is counted by itself, so that a click on a level waits for one of them at most."""
    waiting = element("span", said.COUNTING, class_="soft")
    lines = [later(view, "around", waiting, name="li", column=place) for place in range(len(ladders))]
    return element("ul", lines, class_="neighbours")


def every_neighbour(view: View, rungs: Sequence[Mapping[str, Any]]) -> Html:
    """All neighbours at once, without script."""
    if not rungs:
        return element("p", said.NO_NEIGHBOURS, class_="soft")
    return element("ul", element("li", [_neighbour(view, rung) for rung in rungs]), class_="neighbours")


def _neighbour(view: View, rung: Mapping[str, Any]) -> Html:
    choice = rung["choice"]
    change = said.step(rung["column"], choice["levels"][rung["column"]], up=rung["up"])
    facts = zip(said.NEIGHBOUR_HEADS[1:6], figures(choice), strict=True)
    return element(
        "div",
        element("strong", change),
        [element("span", element("span", f"{head} ", class_="soft"), text) for head, text in facts],
        look_button(view, choice["levels"], change),
        class_=f"neighbour {'met' if choice['met'] else 'unmet'}",
    )


def figures(choice: Mapping[str, Any]) -> list[str]:
    """A choice in a few numbers, in the order of the heads."""
    return [f"{choice['k']:,}", f"{choice['alone']:,}", said.suppressed(choice), number(choice["loss"]), said.holds(choice["met"])]


def look_button(view: View, levels: Mapping[str, int], about: str) -> Html:
    """The button that leads to a choice."""
    return form(
        view, "look", element("input", type="hidden", name="levels", value=json.dumps(levels)),
        button(said.LOOK, aria_label=f"{said.LOOK}: {about}"), region="content", screen=NAME, class_="inline",
    )  # fmt: skip


async def around(view: View) -> Html:
    """The neighbours that one column gives."""
    levels, place = kept_of(view).get("levels"), view.query.get("column", "")
    rungs = await view.ask("neighbours", levels=levels, demand=demand_of(view), place=place)
    return join([_neighbour(view, rung) for rung in rungs])


async def judged(view: View) -> Html:
    """All that was judged, drawn and listed."""
    kept, demand = kept_of(view), demand_of(view)
    job = last_search(view)
    tried = job.result.get("front", []) if job is not None and fits(view, job, demand) else []
    found = await view.ask("judged", levels=kept.get("levels"), current=kept.get("current"), demand=demand, tried=tried)
    rows = [
        [said.levels(one["levels"]), *figures(one), look_button(view, one["levels"], said.levels(one["levels"]))]
        for one in found["choices"]
    ]
    listing = table(said.JUDGED_HEADS, rows[:LISTED], label=said.JUDGED_TABLE, sortable=False)
    return join(
        element("figure", Html(found["drawing"]), Html(found["key"]), class_="judged-plot"),
        element("details", element("summary", said.JUDGED_TABLE), element("div", listing, class_="value-list")),
    )
