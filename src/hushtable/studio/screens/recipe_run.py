"""What is done about the chosen recipe: it is set, tried as a job, or put in the queue to make a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.studio import commands
from hushtable.studio.forms import Form
from hushtable.studio.jobs import State
from hushtable.studio.screens.recipe_state import LOADING, to_run, trial_request, unit_of
from hushtable.studio.screens.recipe_trial import TRIED, last_trial, schema_stamp
from hushtable.studio.view import View
from hushtable.studio.words import recipe as said
from hushtable.studio.words import run as said_of_run
from hushtable.table.disk import whole_file


async def settings(view: View, sent: Form) -> str:
    """Keep how the recipe is set; try it as a job, or run it, where that is asked for."""
    run = to_run(view)
    best_of = list(run.get("best_of") or ())
    name = sent.text("recipe") or str(run.get("recipe") or "")
    epsilon, seed = sent.number("epsilon", 1e-6, 1000), sent.whole("seed", 0)
    hold_out = sent.number("hold_out", 0.0, 0.9)
    if best_of and epsilon is None:
        sent.fault("epsilon", said.NO_EPSILON)
    changed: dict[str, str] = {}
    try:
        if not best_of:
            changed = await view.ask(
                "settle", limit=LOADING, recipe=name, settings={key: text.strip() for key, text in sent.under("set.").items()}
            )
    except InputError as error:
        sent.faults += error.faults
    sent.check()
    choices = {
        **run, "recipe": name, "settings": changed, "epsilon": epsilon, "seed": seed, "hold_out": hold_out,
        "domains": sent.get("domains", ""), "reason": sent.text("allow_copies"),
    }  # fmt: skip
    if run.get("recipe") not in (None, "", name):
        choices = {key: value for key, value in choices.items() if key not in ("tuned", "before", "comparison", "best_of")}
    view.workspace.choose("run", choices)
    asked = sent.get("do", "")
    if asked == "try":
        return _try(view)
    if asked != "run":
        return view.to("recipe", tried=view.query.get("tried"))
    await _require_declared(view, best_of or [name])
    if not best_of:
        await _require_reason(view, sent)
    return await _start(view)


async def _require_declared(view: View, names: Sequence[str]) -> None:
    """No run of a private recipe that would end with the refusal that could have been told before."""
    asked = trial_request(view)
    for name in names:
        settings, learn = (asked["settings"], asked["learn"]) if len(names) == 1 else ({}, False)
        found = await view.ask("undeclared", limit=LOADING, recipe=name, settings=settings, learn=learn)
        if found is not None:
            columns = list(dict.fromkeys([*found["columns"], *found["lost"]]))
            raise InputError([Fault("domains", said.not_declared(columns, codes=found["codes"]))])


async def _require_reason(view: View, sent: Form) -> None:
    """A reason, where it is known that the release hands out rows of real people."""
    trial = last_trial(view)
    known = trial.result if trial is not None and trial.state is State.DONE else None
    known = known or await view.ask("tried", remembered=True, **trial_request(view))
    if known is not None and known["refused"] and not sent.text("allow_copies"):
        raise InputError([Fault("allow_copies", said.NEEDS_REASON)])


def _try(view: View) -> str:
    workspace = view.workspace
    folder = workspace.numbered("runs")
    schema = workspace.freeze(folder)
    asked = trial_request(view)
    request = {
        **asked, "data": str(workspace.table), "schema": str(schema), "layout": workspace.project.layout,
        "stamp": schema_stamp(view),
    }  # fmt: skip
    command = commands.preflight(workspace, asked["recipe"], asked["settings"], asked["epsilon"], asked["unit"])
    title = said.title_tried(asked["recipe"])
    view.start(TRIED, request, title, folder=folder.name, like=asked["recipe"], command=command)
    return view.to("recipe", tried=1)


async def _start(view: View) -> str:
    """Put a release in the queue."""
    workspace, run, unit = view.workspace, to_run(view), unit_of(view)
    best_of, settings = list(run.get("best_of") or ()), run.get("settings") or {}
    name = str(run.get("recipe") or "")
    # What it was tuned on stands in the recipe itself, and from there on the card.
    text = (
        "" if best_of or run.get("tuned") != "private" else await view.ask("tuned", limit=LOADING, recipe=name, settings=settings)
    )
    folder = workspace.numbered("runs")
    schema = workspace.freeze(folder)
    way: dict[str, Any] = {"best_of": best_of} if best_of else {"recipe": name, "settings": settings}
    if text:
        with whole_file(folder / "recipe.yaml", private=True) as partial:
            partial.write_text(text, encoding="utf-8")
        way = {"recipe": str(folder / "recipe.yaml")}
    request = {
        "data": str(workspace.table), "schema": str(schema), "folder": str(folder / "release"), **way,
        "hold_out": run.get("hold_out") or None, "layout": workspace.project.layout,
        "options": {
            "epsilon": run.get("epsilon"), "seed": run.get("seed"), "allow_copies": run.get("reason") or None,
            "learn_domain": run.get("domains") == "learn" and not best_of, **({"unit": unit} if unit else {}),
        },
    }  # fmt: skip
    command = commands.release(workspace, request)
    shown = ", ".join(best_of) or name
    reason = "; ".join(str(run[key]) for key in ("reason", "before") if run.get(key))
    view.journal(said_of_run.started(shown, folder.name), reason, command)
    job = view.start("release", request, said_of_run.title(shown), folder=folder.name, like=shown, command=command)
    return view.to("run", job=job.id)
