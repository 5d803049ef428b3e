"""What is compared: recipes with the values of their main setting, what must hold, and how many rows; and its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from hushtable.report.html import Html, element
from hushtable.studio import commands, words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import State
from hushtable.studio.parts import button, field, form, select, tick
from hushtable.studio.persons import persons
from hushtable.studio.screens.compare_jobs import FOLDER, VERB, comparisons
from hushtable.studio.screens.recipe_state import LOADING, answers
from hushtable.studio.view import View
from hushtable.studio.words import compare as said

STANDARD = ("mdav", "k-anonymity", "mondrian", "mst", "aim", "sequential")
"""Offered beside what fits, so that there is something to compare with."""
LARGE = 10_000
"""So many rows are offered for a table that has more."""
CONDITIONS = {
    "gain": (said.GAIN, "5", "max_gain<{:g}", 0.01, (0.01, 100.0)),
    "epsilon": (said.EPSILON, "2", "epsilon<={:g}", 1.0, (1e-6, 1000.0)),
    "k": (said.K, "5", "k>={:g}", 1.0, (2.0, 1e6)),
    "score": (said.SCORE, "0.7", "score>={:g}", 1.0, (-1e6, 1e6)),
}
"""By the name of its field: its sentence, what is offered, its expression, what one unit that is typed means, and its range."""


async def form_for_new(view: View) -> Html:
    """Everything that can be said of a comparison before it is started."""
    own = answers(view)
    fitting = await view.ask("shortlist", limit=LOADING, **own)
    first = [one["recipe"] for one in fitting["chosen"]]
    chosen = str(view.workspace.chosen("run").get("recipe") or "")
    names = list(dict.fromkeys([*([chosen] if chosen else []), *first, *STANDARD]))
    found = await view.ask("candidates", limit=LOADING, recipes=names)
    lines = [_candidate(view, one, ticked=one["name"] in (chosen, *first[:3]) and one["undeclared"] is None) for one in found]
    roles = view.workspace.roles()
    targets = [("", said.NO_TARGET), *((name, name) for name, role in roles.items() if role != "identifier")]
    rows = str(LARGE) if view.workspace.project.rows > LARGE else ""
    conditions = [
        element(
            "div",
            tick(view, f"ask.{key}", sentence),
            field(view, f"value.{key}", sentence, usual, inputmode="decimal", class_="short"),
            class_="condition",
        )
        for key, (sentence, usual, *_) in CONDITIONS.items()
    ]
    return form(
        view, "start",
        element(
            "fieldset", element("legend", said.RECIPES),
            element("p", said.RECIPES_HINT, class_="hint", id="field-recipes", tabindex=-1),
            _undeclared(view, found),
            element("div", lines, class_="candidates"),
            field(view, "more", said.MORE, "", hint=said.MORE_HINT), class_="field group",
        ),
        element(
            "fieldset", element("legend", said.CONDITIONS), element("p", said.ALWAYS), conditions, class_="field group conditions"
        ),
        element(
            "div",
            select(view, "target", said.TARGET, targets, own["target"], hint=said.TARGET_HINT),
            field(view, "rows", said.ROWS, rows, hint=said.ROWS_HINT, inputmode="numeric"), class_="knob-fields",
        ),
        tick(view, "public", said.PUBLIC, hint=said.PUBLIC_HINT),
        element("p", _estimate(view), class_="soft"),
        button(said.START, main=True), class_="fields",
    )  # fmt: skip


def _undeclared(view: View, found: Sequence[Mapping[str, Any]]) -> Html | None:
    """The recipes that give no release before their domains are declared, and where that is done."""
    lacking = [one for one in found if one["undeclared"] is not None]
    if not lacking:
        return None
    columns = list(dict.fromkeys(name for one in lacking for name in one["undeclared"]["columns"]))
    text = said.lacking(
        [one["name"] for one in lacking], {"columns": columns, "codes": any(one["undeclared"]["codes"] for one in lacking)}
    )
    return element("p", text, " ", to_columns(view), class_="caution")


def to_columns(view: View) -> Html:
    """Where domains are declared public, several at once."""
    return element("a", said.TO_DECLARE, href=f"{view.to('columns')}#many")


def _candidate(view: View, one: Mapping[str, Any], *, ticked: bool) -> Html:
    name = one["name"]
    if one["why"]:
        return element("div", element("p", f"{one['title']} ({name}): {one['why']}.", class_="soft"), class_="candidate")
    knob = one["knob"]
    label = f"{name}: {said.GRID_OF} {knob}"
    grid = (
        field(view, f"grid.{name}", label, ", ".join(one["values"]), class_="short") if knob
        else element("p", said.NO_KNOB, class_="soft")
    )  # fmt: skip
    badge = element("span", words.assurance(one["assurance"]), class_=f"badge {one['assurance']}")
    head = element("div", tick(view, f"recipe.{name}", f"{one['title']} ({name})", ticked), badge)
    return element("div", head, grid, class_="candidate")


def _estimate(view: View) -> str:
    """What is known of how long it takes: nothing, before a comparison was run here."""
    for job in comparisons(view):
        if job.state is State.DONE and job.seconds:
            return f"{said.seconds_of(fmean(job.seconds.values()))} for each release, by comparison {job.folder.name}".capitalize()
    return said.TIME_UNKNOWN


async def start(view: View, sent: Form) -> str:
    """Compare what was asked for."""
    workspace = view.workspace
    names = [name for name, value in sent.under("recipe.").items() if value]
    more = [name.strip() for name in sent.text("more").split(",") if name.strip()]
    grid = {}
    for name in names:
        if (text := sent.get(f"grid.{name}")) is None:
            continue
        values = [value.strip() for value in text.split(",") if value.strip()]
        if not values:
            sent.fault(f"grid.{name}", said.NO_VALUES)
        grid[name] = values
    if not names and not more:
        sent.fault("recipes", said.NOTHING)
    constraints = []
    for key, (_, _, expression, unit, (low, high)) in CONDITIONS.items():
        if sent.get(f"ask.{key}"):
            value = sent.number(f"value.{key}", low, high)
            if value is not None:
                constraints.append(expression.format(value * unit))
            elif not sent.text(f"value.{key}"):
                sent.fault(f"value.{key}", words.NOT_A_NUMBER)
    rows = sent.whole("rows", 40)
    target = sent.one_of("target", ["", *workspace.roles()], "")
    sent.check()
    every = list(dict.fromkeys([*names, *more]))
    found = {one["name"]: one for one in await view.ask("candidates", limit=LOADING, recipes=names)}
    full = {f"{name}.{found[name]['knob']}": values for name, values in grid.items() if found[name]["knob"]}
    options = {
        "recipes": every, "target": target, "grid": full, "constraints": constraints, "rows": rows,
        "public": bool(sent.get("public")), "seed": 0, **_persons(view),
    }  # fmt: skip
    # What cannot be tried is said at once, and beside its field.
    await view.ask("comparable", limit=LOADING, options=options)
    folder = workspace.numbered("comparisons")
    schema = workspace.freeze(folder)
    request = _request(view, str(schema), options)
    command = commands.compare(workspace, request, str(folder / FOLDER))
    view.journal(said.started(folder.name, every), "", command)
    view.start(VERB, request, said.title(every), folder=folder.name, kind="comparisons", like=VERB, command=command)
    return view.to("compare", c=folder.name)


def _persons(view: View) -> dict[str, Any]:
    own = persons(view.workspace)
    return {} if own.by is None else {"person": own.by, "rows_per_person": own.rows}


def _request(view: View, schema: str, options: Mapping[str, Any]) -> dict[str, Any]:
    workspace = view.workspace
    named = {"data": workspace.project.table, "schema": schema.removeprefix(f"{workspace.folder.parent}/")}
    return {
        "data": str(workspace.table), "schema": schema, "layout": workspace.project.layout, "named": named,
        "options": dict(options),
    }  # fmt: skip
