"""What is decided of a choice of levels: looked at, made the current one, pinned, released; and what is demanded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hushtable.errors import Fault, HushError, InputError
from hushtable.report.html import Html, element, join, table
from hushtable.report.words import number
from hushtable.studio import commands, words
from hushtable.studio.forms import Form
from hushtable.studio.parts import button, field, form
from hushtable.studio.persons import persons
from hushtable.studio.screens.explorer_neighbours import look_button
from hushtable.studio.screens.explorer_state import NAME, demand_of, keep, kept_of, state_of
from hushtable.studio.view import View
from hushtable.studio.words import explorer as said

RECIPE, STEP = "k-anonymity", "generalize"
PINS = 30


def pins(view: View, kept: Mapping[str, Any], demand: Mapping[str, Any]) -> Html:
    """The choices that were pinned, and the form that pins the one at hand."""
    state = state_of(view)
    old = element("p", said.STALE, class_="fault")
    rows = [
        [
            join(pin["note"], None if (pin["state"], pin["demand"]) == (state, demand) else old),
            said.levels(pin["levels"]), f"{pin['k']:,}", said.suppressed(pin), number(pin["loss"]),
            look_button(view, pin["levels"], pin["note"]),
            form(view, "unpin", element("input", type="hidden", name="pin", value=str(place)),
                 button(said.UNPIN, aria_label=f"{said.UNPIN}: {pin['note']}"), region="content", screen=NAME, class_="inline"),
        ]
        for place, pin in enumerate(kept.get("pins", []))
    ]  # fmt: skip
    own = form(
        view, "pin", field(view, "note", said.NOTE, "", hint=said.NOTE_HINT, maxlength=200), button(said.PIN), region="content",
        screen=NAME, class_="fields",
    )  # fmt: skip
    listing = table(said.PIN_HEADS, rows, label=said.PINS, numbers=[2], sortable=False) if rows else None
    return element("section", element("h2", said.PINS if rows else said.PIN), listing, own)


def release_form(view: View, here: Mapping[str, Any], demand: Mapping[str, Any]) -> Html:
    """The way to a release with these levels; or why it would be refused."""
    if not here["met"]:
        return element("section", element("h2", said.RELEASE), element("p", said.not_released(here, demand), class_="caution"))
    hidden = element("input", type="hidden", name="levels", value=json.dumps(here["levels"]))
    own = form(view, "release", hidden, button(said.RELEASE, main=True), screen=NAME, class_="fields")
    return element("section", element("h2", said.RELEASE), element("p", said.RELEASE_WHAT, class_="soft"), own)


async def look(view: View, form: Form) -> str:
    """Look at other levels; that is no decision."""
    levels = _levels(form)
    keep(view, levels=levels)
    return view.to(NAME)


async def current(view: View, form: Form) -> str:
    """Make these levels what others are compared with."""
    levels = _levels(form)
    keep(view, levels=levels, current=levels)
    view.journal(said.current(levels), command=commands.evaluate(view.workspace, levels, demand_of(view)))
    return view.to(NAME)


async def demand(view: View, form: Form) -> str:
    """Demand something else."""
    given = {
        "k": form.whole("k", 2), "l": form.number("l", 0), "t": form.number("t", 0, 1), "limit": form.number("limit", 0, 1),
    }  # fmt: skip
    for name, value in given.items():
        if value is None and not any(fault.where == name for fault in form.faults):
            form.fault(name, words.NOT_A_NUMBER)
    form.check()
    asked = {name: value if name == "k" else float(value or 0) for name, value in given.items()}
    by = persons(view.workspace).by
    try:
        await view.ask(
            "rung", levels=kept_of(view).get("levels"), current=None, demand=asked | ({} if by is None else {"person": by})
        )
    except InputError as error:
        raise InputError([Fault("k", fault.reason) for fault in error.faults]) from None
    except HushError as error:
        raise InputError([Fault("l", str(error))]) from None
    keep(view, demand=asked)
    return view.to(NAME)


async def pin(view: View, form: Form) -> str:
    """Keep the levels that are looked at, with a note."""
    note = form.text("note", required=said.NO_NOTE)
    form.check()
    asked, kept = demand_of(view), kept_of(view)
    found = (await view.ask("rung", levels=kept.get("levels"), current=None, demand=asked))["here"]
    own = {
        "note": note[:200], "levels": found["levels"], "state": state_of(view), "demand": asked,
        **{name: found[name] for name in ("k", "suppressed", "suppressed_share", "loss")},
    }  # fmt: skip
    keep(view, pins=[*kept.get("pins", []), own][-PINS:])
    view.journal(said.pinned(found["levels"]), note, commands.evaluate(view.workspace, found["levels"], asked))
    return view.to(NAME)


async def unpin(view: View, form: Form) -> str:
    """Let a pinned choice go."""
    pins, place = list(kept_of(view).get("pins", [])), form.whole("pin", 0)
    form.check()
    if place is None or place >= len(pins):
        raise InputError(said.NO_SUCH_PIN, where="pin")
    del pins[place]
    keep(view, pins=pins)
    view.journal(said.unpinned())
    return view.to(NAME)


async def release(view: View, form: Form) -> str:
    """Fix the levels in a recipe, and go to it."""
    levels, asked = _levels(form), demand_of(view)
    found = (await view.ask("rung", levels=levels, current=None, demand=asked))["here"]
    if found["levels"] != levels:
        raise InputError(said.CHANGED, where="levels")
    if not found["met"]:
        raise InputError(said.not_released(found, asked), where="levels")
    settings = {
        "k": str(asked["k"]), "l": f"{asked['l']:g}", "t": f"{asked['t']:g}", "limit": f"{asked['limit']:g}",
        # As JSON: a name may hold a comma.
        "columns": json.dumps(list(levels), ensure_ascii=False),
        "levels": json.dumps([f"{name}={level}" for name, level in levels.items()], ensure_ascii=False),
    }  # fmt: skip
    run = view.workspace.chosen("run")
    own = {f"{STEP}.{name}": text for name, text in settings.items()}
    view.workspace.choose("run", {**run, "recipe": RECIPE, "settings": own})
    keep(view, levels=levels, current=levels)
    view.journal(said.released(levels), command=commands.evaluate(view.workspace, levels, asked))
    return view.to("recipe")


def _levels(form: Form) -> dict[str, int]:
    """The levels that a form holds: a radio group for each column, or all of them in one field."""
    try:
        given = json.loads(form["levels"]) if "levels" in form else form.under("level.")
        levels = {str(name): int(level) for name, level in given.items()}
    except (ValueError, TypeError, AttributeError):
        raise InputError(said.CHANGED, where="levels") from None
    if any(not 0 <= level < 10_000 for level in levels.values()):
        raise InputError(said.CHANGED, where="levels")
    return levels
