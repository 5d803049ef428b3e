"""How coarse must it be? Ladders as controls: each click judges a choice of levels, beside the current one and its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.errors import InputError
from hushtable.report.html import Html, element, join
from hushtable.studio import commands
from hushtable.studio.parts import button, field, form, later
from hushtable.studio.screens.explorer_choices import current, demand, look, pin, pins, release, release_form, unpin
from hushtable.studio.screens.explorer_ladders import consequence, ladders, to_ladders
from hushtable.studio.screens.explorer_neighbours import around, every_neighbour, judged, places
from hushtable.studio.screens.explorer_search import cancel, proof, search
from hushtable.studio.screens.explorer_state import NAME, demand_of, kept_of
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import explorer as said


async def show(view: View) -> Shown:
    """The ladders, what the levels that are looked at leave, and everything that they are compared with."""
    kept, demand = kept_of(view), demand_of(view)
    levels, current = kept.get("levels"), kept.get("current")
    if not await view.ask("ladders"):
        return Shown(element("p", said.nothing(), class_="lead"))
    try:
        found = await view.ask("rung", levels=levels, current=current, demand=demand)
    except InputError as error:
        # A demand that the table cannot meet at all: it is said, and can be changed.
        return Shown(join(_demands(view, demand, folded=False), to_ladders(view)), faults=error.faults)
    here = found["here"]
    every = element("noscript", element("p", element("a", said.SHOW_NEIGHBOURS, href=view.to(NAME, all="yes"))))
    whole = "all" in view.query
    content = join(
        element("p", said.WHAT, class_="soft"),
        element("p", said.sampled(found["rows"], found["of"]), class_="caution") if found["rows"] < found["of"] else None,
        element("p", said.verdict(here, demand), class_=f"lead verdict {'calm' if here['met'] else 'watch'}", id="verdict"),
        None if found["start"] is None else element("p", said.start(found["start"], met=here["met"]), class_="soft", id="start"),
        element("div", ladders(view, found), consequence(view, found), class_="explorer"),
        _demands(view, demand, folded=not view.faults),
        proof(view, here, demand),
        element(
            "section", element("h2", said.NEIGHBOURS),
            None if whole else every,
            every_neighbour(view, await view.ask("neighbours", levels=levels, demand=demand))
            if whole else places(view, found["ladders"]),
        ),
        element(
            "section", element("h2", said.JUDGED), element("p", said.JUDGED_WHAT, class_="soft"),
            await judged(view) if whole else later(view, "judged"),
        ),
        pins(view, kept, demand),
        release_form(view, here, demand),
    )  # fmt: skip
    return Shown(content, commands.evaluate(view.workspace, here["levels"], demand))


def _demands(view: View, demand: Mapping[str, Any], *, folded: bool) -> Html:
    fields = [
        field(view, "k", said.K, demand["k"], hint=said.K_HINT, inputmode="numeric"),
        field(view, "limit", said.LIMIT, f"{demand['limit']:g}", hint=said.LIMIT_HINT, inputmode="decimal"),
        field(view, "l", said.L, f"{demand['l']:g}", hint=said.L_HINT, inputmode="decimal"),
        field(view, "t", said.T, f"{demand['t']:g}", hint=said.T_HINT, inputmode="decimal"),
    ]
    inner = form(
        view, "demand", element("div", fields, class_="knob-fields"), button(said.SET_DEMANDS), region="content", screen=NAME
    )
    return element("details", element("summary", said.DEMANDS), inner, open=not folded)


def mark(view: View) -> Mark:
    """Done once there is a current choice."""
    return Mark.DONE if kept_of(view).get("current") else Mark.TODO


SCREEN = Screen(
    name=NAME,
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={
        "look": look, "current": current, "demand": demand, "search": search, "cancel": cancel, "pin": pin, "unpin": unpin,
        "release": release,
    },
    pieces={"around": around, "judged": judged},
    mark=mark,
    in_rail=False,
    part_of="levels",
)  # fmt: skip
