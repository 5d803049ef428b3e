"""How the chosen recipe is set, whom its release is for, and what would void its proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.errors import InputError
from hushtable.report.html import Child, Html, element
from hushtable.studio import words
from hushtable.studio.jobs import State
from hushtable.studio.parts import button, field, form, select
from hushtable.studio.persons import persons, unsaid
from hushtable.studio.screens.recipe_state import LOADING, badge, to_run, trial_request
from hushtable.studio.screens.recipe_trial import expected
from hushtable.studio.view import View
from hushtable.studio.words import persons as said_of_persons
from hushtable.studio.words import recipe as said


async def chosen_recipe(view: View, name: str) -> Html:
    """The chosen recipe with its settings, its trial, and Run."""
    try:
        found = await view.ask("knobs", limit=LOADING, recipe=name)
    except InputError:
        # A recipe of an earlier version, or of a file that is gone.
        return element("p", f"{said.NO_SUCH_RECIPE}: {name}", class_="caution")
    run = to_run(view)
    about, many = found["about"], len(found["steps"]) > 1
    settings: Mapping[str, str] = run.get("settings") or {}
    every = {f"{step['name']}.{knob['name']}": knob for step in found["steps"] for knob in step["knobs"]}
    first = [key for key in found["first"] if key in every]
    shown: list[Child] = [element("input", type="hidden", name="recipe", value=name)]
    if about["spends"]:
        epsilon = f"{float(run.get('epsilon') or 1.0):.12g}"
        shown.append(field(view, "epsilon", said.EPSILON, epsilon, hint=said.EPSILON_HINT, inputmode="decimal", data_submit=True))
    shown += [_knob(view, key, every[key], settings, many=many, data_submit=True) for key in first]
    others = [_knob(view, key, knob, settings, many=many) for key, knob in every.items() if key not in first]
    faulty = any(fault.where.startswith("set.") for fault in view.faults)
    asked = trial_request(view)
    undeclared = await view.ask(
        "undeclared", limit=LOADING, recipe=name, settings=asked["settings"], learn=asked["learn"]
    ) if about["spends"] else None  # fmt: skip
    return element(
        "section",
        element("h2", said.SETUP),
        element("p", element("strong", about["title"]), " ", element("code", name), " ", badge(about["assurance"])),
        _void(view, run, spends=about["spends"]),
        _whom(view),
        await unsaid(view),
        form(
            view, "settings",
            element("div", shown, class_="knob-fields"),
            element(
                "details", element("summary", said.knobs(len(others))), element("div", others, class_="knob-fields"), open=faulty
            ) if others else None,
            _usual_fields(view, run, learns=about["spends"] and (undeclared is not None or run.get("domains") == "learn")),
            await expected(view, name, run, about, undeclared),
            element(
                "div", button(said.CHECK, name="do", value="check"), button(said.RUN, main=True, name="do", value="run"),
                class_="buttons",
            ),
            region="expected", class_="fields",
        ),
        id="setup",
    )  # fmt: skip


def _whom(view: View) -> Html | None:
    own = persons(view.workspace)
    if own.by is None:
        return None
    link = element("a", words.CHANGE, href=f"{view.to('columns')}#persons")
    return element("p", said_of_persons.protected(own.by, own.rows), " ", link)


def _void(view: View, run: Mapping[str, Any], *, spends: bool) -> Html | None:
    if not spends or run.get("before"):
        return None
    if run.get("tuned") == "private":
        link = element("a", said.TO_COMPARISON, href=view.to("compare", c=run.get("comparison")))
        return element("p", said.VOID, " ", link, class_="caution")
    jobs = view.studio.jobs.latest() if view.studio.jobs is not None else ()
    seen = next((j for j in jobs if j.verb == "compare" and not j.request["options"].get("public") and j.state is State.DONE), None)
    if seen is None or run.get("recipe") not in seen.result.get("spends", ()):
        return None
    return element(
        "p", said.SEEN, " ", element("a", said.TO_COMPARISON, href=view.to("compare", c=seen.folder.name)), class_="soft"
    )


def _knob(view: View, key: str, knob: Mapping[str, Any], settings: Mapping[str, str], *, many: bool, **more: Any) -> Html:
    label = key if many else str(knob["name"])
    return field(view, f"set.{key}", label, settings.get(key, knob["text"]), hint=str(knob["doc"]), **more)


def _usual_fields(view: View, run: Mapping[str, Any], *, learns: bool) -> Html:
    inner = [
        field(view, "seed", said.SEED, run.get("seed"), hint=said.SEED_HINT, inputmode="numeric"),
        field(view, "hold_out", said.HOLD_OUT, run.get("hold_out", "0.3"), hint=said.HOLD_OUT_HINT, inputmode="decimal"),
    ]
    if learns:
        inner.append(select(view, "domains", said.DOMAINS, said.DOMAIN_OPTIONS, run.get("domains") or "", data_submit=True))
    return element("div", inner, class_="knob-fields")


async def chosen_best(view: View) -> Html:
    """The choice among several private recipes that the budget pays for."""
    run = to_run(view)
    inner = [
        field(view, "epsilon", said.EPSILON, run.get("epsilon") or "", hint=said.EPSILON_HINT, inputmode="decimal"),
        _usual_fields(view, run, learns=False),
    ]
    return element(
        "section",
        element("h2", said.BEST),
        element("p", element("code", ", ".join(run["best_of"])), " ", badge("proven")),
        element("p", said.BEST_HINT, class_="soft"),
        _whom(view),
        await unsaid(view),
        form(view, "settings", inner, button(said.RUN, main=True, name="do", value="run"), class_="fields"),
        id="setup",
    )
