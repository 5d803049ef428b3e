"""Between what was computed: a slider for each setting, which stops anywhere and guesses nothing; and a value more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.report.html import Html, element, join
from hushtable.studio import commands, words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job
from hushtable.studio.parts import button, form, post_button
from hushtable.studio.screens.compare_jobs import FOLDER, VERB, comparison_of
from hushtable.studio.screens.recipe_state import LOADING
from hushtable.studio.view import View
from hushtable.studio.words import compare as said


def ladders(view: View, job: Job, found: Mapping[str, Any], look: Mapping[str, str]) -> Html | None:
    """The sliders, and what was computed where they stand; None where nothing was computed twice."""
    if not found["ladders"]:
        return None
    boxes = [_risk(view, job, found, look), *(_ladder(view, job, n, one, found, look) for n, one in enumerate(found["ladders"]))]
    return element(
        "section",
        element("h2", said.LADDERS),
        element("p", said.LADDERS_TEXT, class_="soft"),
        element("div", boxes, class_="ladders"),
    )


def _risk(view: View, job: Job, found: Mapping[str, Any], look: Mapping[str, str]) -> Html:
    value = look.get("risk") or "100"
    slide = form(
        view, "look", element("input", type="hidden", name="c", value=job.folder.name),
        _slider("risk", said.LARGEST_RISK, 0, 100, "0.5", value), region="looked-risk", class_="slide",
    )  # fmt: skip
    answer = element(
        "p", said.within(found.get("within", ""), found["label"]) if look.get("risk") else "", id="looked-risk", role="status"
    )
    return element("article", slide, answer, class_="card")


def _ladder(view: View, job: Job, number: int, one: Mapping[str, Any], found: Mapping[str, Any], look: Mapping[str, str]) -> Html:
    values, knob, recipe = one["values"], one["knob"], one["recipe"]
    name = f"{recipe}.{knob}"
    at = look.get(name) or f"{values[0]:g}"
    step = "1" if one["whole"] else "any"
    slide = form(
        view, "look", element("input", type="hidden", name="c", value=job.folder.name),
        _slider(name, f"{recipe}: {knob}", values[0], values[-1], step, at), region=f"looked-{number}", class_="slide",
    )  # fmt: skip
    here = _float(at)
    stops = sorted({*values, here} if here is not None else values)
    chips = [
        element(
            "li", element("span", "●" if value in values else "○", aria_hidden="true"), f" {value:g}",
            element("span", f" {said.COMPUTED if value in values else said.HOLLOW}", class_="unseen"),
            class_="stop" if value in values else "stop hollow", aria_current="true" if value == here else None,
        )
        for value in stops
    ]  # fmt: skip
    result = element("div", element("ul", chips, class_="stops"), _at(view, job, one, here, found), id=f"looked-{number}")
    return element("article", slide, result, class_="card")


def _slider(name: str, label: str, low: float, high: float, step: str, value: str) -> Html:
    # The field carries the value, and works without script; the slider moves it.
    slide = element(
        "input", type="range", id=f"slide-{name}", min=low, max=high, step=step, value=value, data_twin=f"field-{name}",
        data_live=True, aria_label=label,
    )  # fmt: skip
    own = element(
        "input", type="number", id=f"field-{name}", name=f"at.{name}", value=value, min=low, step="any", inputmode="decimal",
        data_twin=f"slide-{name}", data_live=True, class_="short",
    )  # fmt: skip
    return join(element("label", label, for_=f"field-{name}"), slide, own, button(said.LOOK))


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _at(view: View, job: Job, one: Mapping[str, Any], here: float | None, found: Mapping[str, Any]) -> Html | None:
    if here is None:
        return None
    recipe, knob = one["recipe"], one["knob"]
    if here in one["values"]:
        cells = [cell for cell in found["cells"] if cell["recipe"] == recipe and _float(cell["settings"].get(knob, "")) == here]
        lines = [
            element(
                "li", element("a", cell["id"], href=f"#release-{cell['rank']}"), ": ",
                said.FAILED if cell["failed"] else f"{cell['gain']}; {found['label']} {cell['score']}; {cell['verdict']}",
            )
            for cell in cells
        ]  # fmt: skip
        return element("ul", lines, class_="looked")
    text = said.not_computed(knob, f"{here:g}", one["seconds"])
    if job.state.open:
        return element("p", text, ". ", said.ADD_LATER)
    fields = {"c": job.folder.name, "recipe": recipe, "knob": knob, "value": f"{here:g}"}
    return element(
        "p", element("span", text, class_="hollow"), " ", post_button(view, "add", said.ADD, about=f"{recipe} {knob}", **fields)
    )


async def look(view: View, sent: Form) -> str:
    """Keep where a slider stands."""
    job = comparison_of(view, sent)
    chosen = view.workspace.chosen("compare")
    own = dict(chosen.get(job.folder.name) or {})
    for name in sent.under("at."):
        value = sent.number(f"at.{name}")
        own[name] = "" if value is None else f"{value:g}"
    sent.check()
    view.workspace.choose("compare", {**chosen, job.folder.name: own})
    return view.to("compare", c=job.folder.name)


async def add(view: View, sent: Form) -> str:
    """Compute a value between; all else is there."""
    job = comparison_of(view, sent)
    found = await view.ask("comparison", limit=LOADING, folder=str(job.folder), schema=job.request["schema"])
    recipe, knob, value = sent.text("recipe"), sent.text("knob"), sent.text("value")
    one = next((one for one in found["ladders"] if (one["recipe"], one["knob"]) == (recipe, knob)), None)
    if one is None or _float(value) is None:
        raise InputError(words.NOT_AN_OPTION, where="value")
    options = dict(job.request["options"])
    grid = dict(options.get("grid") or {})
    for key, texts in one["grid"].items():
        grid[f"{recipe}.{key}"] = list(dict.fromkeys([*grid.get(f"{recipe}.{key}", texts), *([value] if key == knob else [])]))
    options["grid"] = grid
    try:
        # All others were tried before.
        await view.ask("comparable", limit=LOADING, options=options | {"recipes": [recipe]})
    except InputError as error:
        # The fields that these are about are those of the form that started it.
        raise InputError([Fault("", fault.reason) for fault in error.faults]) from None
    request = {**job.request, "options": options}
    command = commands.compare(view.workspace, request, str(job.folder / FOLDER))
    view.start(VERB, request, job.title, folder=job.folder.name, kind="comparisons", like=VERB, command=command)
    view.journal(said.added(job.folder.name, recipe, knob, value), "", command)
    return view.to("compare", c=job.folder.name)
