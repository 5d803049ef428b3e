"""The recipes: which come into question, the knobs of one, the error to expect, and what a release by it would hand out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import hushtable as ht
from hushtable.api import suggest
from hushtable.api.advice import happens, usual_seconds
from hushtable.api.methods import by_family, describe
from hushtable.display import Progress
from hushtable.errors import Fault, HushError, InputError
from hushtable.pipeline import recipe as known
from hushtable.pipeline.preflight import Preflight
from hushtable.pipeline.recipe import Recipe
from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.table import Table

QUICK = 5.0
"""Seconds, by the time that a recipe usually takes, up to which it is tried while a page waits; else as a job."""
MEASURED_ON = 10_000
"""The people of the town on which usual times were measured."""


def recipes(opened: Opened | None, *, watch: Watcher) -> list[dict[str, Any]]:
    """All recipes by family, each with its promise and what happens to values, in a sentence."""
    return [
        {
            "family": family,
            "recipes": [
                {
                    "name": recipe.recipe, "title": recipe.title, "assurance": str(recipe.assurance), "guarantee": recipe.guarantee,
                    "spends": any(step.spends for step in recipe.steps), "values": happens(recipe),
                    "seconds": usual_seconds(recipe),
                }
                for recipe in members
            ],
        }
        for family, members in by_family().items()
    ]  # fmt: skip


def shortlist(opened: Opened, *, watch: Watcher, leaves: str, values: str, use: str, target: str = "") -> dict[str, Any]:
    """At most five recipes that fit what somebody must be able to say, and why others were left out."""
    return suggest.suggest(opened.table.schema, leaves, values, use, target).to_json()


def knobs(opened: Opened | None, *, watch: Watcher, recipe: str) -> dict[str, Any]:
    """The steps of a recipe with their knobs: name, value, and what each does; which to look at first; and all of it in words."""
    found = known.load(recipe)
    about = {} if opened is None else suggest.about(found, opened.table.schema).to_json()
    described = describe(recipe)
    for step in described["steps"]:
        for knob in step["knobs"]:
            knob["text"] = _text(knob["value"])
    return described | {"first": list(suggest.knobs_that_matter(found)), "about": about}


def settle(opened: Opened | None, *, watch: Watcher, recipe: str, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that differ from those of the recipe; InputError with every one that cannot be, by the name of its field."""
    found = known.load(recipe)
    usual, faults, changed = found.dump(), list[Fault](), dict[str, str]()
    steps = knobs(None, watch=watch, recipe=recipe)["steps"]
    shown = {f"{step['name']}.{knob['name']}": knob["text"] for step in steps for knob in step["knobs"]}
    for name, text in settings.items():
        if shown.get(name) == text:
            continue
        try:
            turned = found.set({name: text})
        except InputError as error:
            faults += [Fault(f"set.{name}", fault.reason) for fault in error.faults]
            continue
        if turned.dump() != usual:
            changed[name] = text
    if not faults:
        try:
            found.set(changed)
        except InputError as error:
            # One by one they can be, and not together.
            faults += [Fault(f"set.{next(iter(changed))}", fault.reason) for fault in error.faults]
    if faults:
        raise InputError(faults)
    return changed


def tuned(opened: Opened | None, *, watch: Watcher, recipe: str, settings: Mapping[str, str]) -> str:
    """The recipe as it is set, marked as chosen by looking at private rows: its card says what that voids."""
    return replace(known.load(recipe).set(settings), tuned="private").dump()


def error(
    opened: Opened, *, watch: Watcher, recipe: str, settings: Mapping[str, str], epsilon: float,
    unit: Mapping[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """By how much noise moves a count of people, or why that cannot be said; no row is read."""
    try:
        found = suggest.error_to_expect(
            known.load(recipe).set(settings), opened.table.schema, epsilon, unit=ht.Unit(**(unit or {}))
        )
    except HushError as refused:
        return {"width": None, "why": str(refused).splitlines()[0]}
    return {"width": None if found is None else found.width, "why": ""}


def undeclared(
    opened: Opened, *, watch: Watcher, recipe: str, settings: Mapping[str, str], learn: bool
) -> dict[str, Any] | None:  # fmt: skip
    """What was read off the rows and must be declared before this recipe is run; None if nothing. No row is read."""
    found = suggest.undeclared(known.load(recipe).set(settings), opened.table.schema, learn=learn)
    return None if found is None else {"columns": list(found.columns), "codes": found.codes, "lost": list(found.lost)}


def tried(
    opened: Opened, *, watch: Watcher, recipe: str, settings: Mapping[str, str], epsilon: float | None, learn: bool = False,
    unit: Mapping[str, Any] | None = None, remembered: bool = False,
) -> dict[str, Any] | None:  # fmt: skip
    """What a release would hand out; None where that takes longer than a page may wait, or is only to be remembered and is not."""
    name = f"tried {json.dumps([recipe, dict(settings), epsilon, learn, unit])}"
    if name not in opened.cache:
        found = known.load(recipe)
        seconds = usual_seconds(found)
        private = any(step.spends for step in found.steps)
        if remembered or (not private and (seconds is None or seconds * opened.table.rows > QUICK * MEASURED_ON)):
            return None
        opened.cache[name] = preflight_json(
            preflighted(opened.table, found.set(settings), epsilon, learn=learn, unit=unit, progress=watch)
        )
    answer: dict[str, Any] = opened.cache[name]
    return answer


def preflighted(
    table: Table, recipe: Recipe, epsilon: float | None, *, learn: bool, unit: Mapping[str, Any] | None, progress: Progress
) -> Preflight:
    """A release that is tried and not kept."""
    private = any(step.spends for step in recipe.steps)
    whom = ht.Unit(**(unit or {}))
    options = ht.ReleaseOptions(epsilon=epsilon if private else None, unit=whom, learn_domain=learn and private, seed=0)
    return ht.preflight(table, recipe, options, progress=progress)


def preflight_json(found: Preflight) -> dict[str, Any]:
    """What was found, as plain values without a value of a row."""
    return {
        "private": found.private,
        "refused": found.refused,
        "columns": list(found.untouched.columns),
        "alone": found.untouched.alone,
        "equal": None if found.copies is None else found.copies.equal,
        "sentences": found.sentences(),
    }


def _text(value: Any) -> str:
    """A knob as it is typed."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
