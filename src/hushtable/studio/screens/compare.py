"""Which one? Recipes and their grids, compared on the table cell by cell; and how one is taken so that its promise holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.report.html import Child, Html, element, join, table
from hushtable.studio import commands, words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button, field, form, select, tick
from hushtable.studio.persons import persons
from hushtable.studio.screens.recipe import LOADING, answers
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import compare as said
from hushtable.studio.words import run as said_of_run
from hushtable.studio.working import at_work

VERB = "compare"
FOLDER = "comparison"
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


async def show(view: View) -> Shown:
    """The comparison that was asked for, or the last one; or the form that starts one."""
    job = _job(view)
    if job is None or "new" in view.query or (view.faults and "c" not in view.query):
        content = join(await _new(view), _list(view, None))
        return Shown(content, ("hush", "compare", view.workspace.project.table, "--schema", _schema(view), "--out", "DIR"))
    kept = view.workspace.chosen("compare")
    look: Mapping[str, str] = kept.get(job.folder.name) or {}
    risk = float(look["risk"]) / 100 if look.get("risk") else None
    found = await view.ask("comparison", limit=LOADING, folder=str(job.folder), schema=job.request["schema"], risk=risk)
    parts: list[Child] = []
    if view.query.get("take"):
        parts.append(await _taking(view, job, view.query["take"]))
    parts.append(_state(view, job, found))
    parts += [_results(view, job, found), _ladders(view, job, found, look), _list(view, job)]
    title = words.percent(job.share) if job.state.open else ""
    return Shown(join(parts), job.command, title=title, refresh=job.state.open)


def _schema(view: View) -> str:
    return view.workspace.relative(view.workspace.schema)


def _jobs(view: View) -> list[Job]:
    return [job for job in view.studio.jobs.latest() if job.verb == VERB] if view.studio.jobs is not None else []


def _job(view: View) -> Job | None:
    asked = view.query.get("c", "")
    jobs = _jobs(view)
    found = next((job for job in jobs if job.folder.name == asked), None) if asked else next(iter(jobs), None)
    if asked and found is None:
        raise InputError(words.NO_SUCH_RUN, where="comparison")
    return found


async def _new(view: View) -> Html:
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
    return element("p", text, " ", _declare(view), class_="caution")


def _declare(view: View) -> Html:
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
    for job in _jobs(view):
        if job.state is State.DONE and job.seconds:
            return f"{said.seconds_of(fmean(job.seconds.values()))} for each release, by comparison {job.folder.name}".capitalize()
    return said.TIME_UNKNOWN


def _state(view: View, job: Job, found: Mapping[str, Any]) -> Html:
    if job.state.open:
        return join(at_work(view, job), element("p", _remaining(job), class_="soft"))
    parts: list[Child] = [element("p", job.title, class_="lead")]
    if job.state is not State.DONE:
        parts = [element("p", said.STOPPED if job.state is State.CANCELLED else said.ENDED, class_="lead void")]
        parts += [element("ul", [element("li", words.fault(fault)) for fault in job.faults])] if job.faults else []
        parts.append(_button(view, "again", said.RESUME, {"job": job.id}, main=True))
    elif found["cells"]:
        fit, made = job.result.get("fit", 0), job.result.get("releases", 0)
        parts.append(element("p", said.count(fit, made)))
    if view.studio.stale(job):
        parts.append(element("p", words.STALE, class_="caution"))
    parts.append(element("p", element("a", said.ANOTHER, href=view.to("compare", new=1), class_="plain-button")))
    return element("div", parts, class_="panel-box", id="job")


def _remaining(job: Job) -> str:
    """How long the cells take that are not done, by those of the same recipe that are."""
    known: dict[str, list[float]] = {}
    for name, seconds in job.seconds.items():
        known.setdefault(name.partition(" ")[0], []).append(seconds)
    left = [name for name in job.stages.efforts if name not in job.seconds]
    told = [fmean(known[recipe]) for name in left if (recipe := name.partition(" ")[0]) in known]
    return said.remaining(sum(told), len(told), len(left) - len(told)) if told else said.TIME_UNKNOWN


def _results(view: View, job: Job, found: Mapping[str, Any]) -> Html:
    if not found["cells"]:
        return element("p", said.NONE_YET, class_="soft") if job.state.open else element("p", "")
    advice = None
    if found["finished"]:
        lists = [
            (said.CAVEATS, found["caveats"]),
            (said.OTHERS, found["others"]),
            (said.WHY, found["why"]),
            (said.NOTES, found["notes"]),
        ]
        folded = [
            element("details", element("summary", head), element("ul", [element("li", line) for line in lines]))
            for head, lines in lists
            if lines
        ]
        first, *rest = found["words"]
        advice = element("div", element("p", element("strong", first), " ", " ".join(rest)), folded, class_="panel-box")
    heads = [*said.HEADS[:5], found["label"], *said.HEADS[5:]]
    rows = [_row(view, job, cell, found.get("best", "")) for cell in found["cells"]]
    drawing = None
    if found["plane"]:
        drawing = element(
            "section", element("h2", said.PLANE), element("p", said.PLANE_TEXT, class_="soft"),
            element("figure", Html(found["plane"]), class_="plane"),
        )  # fmt: skip
    listing = element(
        "section", element("h2", said.RANKED), table(heads, rows, label=said.RANKED, sortable=False, numbers=(0,), class_="ranked")
    )
    return join(element("h2", said.RESULTS[found["finished"]]), advice, drawing, listing)


def _row(view: View, job: Job, cell: Mapping[str, Any], best: str) -> list[Child]:
    number = element("span", str(cell["rank"]), id=f"release-{cell['rank']}", tabindex=-1)
    name = element("strong", cell["id"])
    if cell["failed"]:
        return [number, name, _failed(view, cell), "", "", "", "", "", ""]
    fits = element(
        "span", f"{'✓' if cell['fits'] else '✗'} {cell['verdict']}", class_=f"verdict {'calm' if cell['fits'] else 'watch'}"
    )
    kind = element("span", words.assurance(cell["assurance"]), class_=f"badge {cell['assurance']}")
    fields = {"c": job.folder.name, "cell": cell["id"]}
    return [
        number, join(name, element("br"), said.RECOMMENDED) if cell["id"] == best else name,
        join(kind, element("br"), element("span", cell["promise"], class_="why")), cell["gain"], cell["alarms"], cell["score"],
        fits, words.duration(cell["seconds"]), _button(view, "take", said.TAKE, fields, about=cell["id"]),
    ]  # fmt: skip


def _failed(view: View, cell: Mapping[str, Any]) -> Html:
    """Why a cell gave no release, with what mends it; the library's own words are folded away."""
    lacking = cell["undeclared"]
    why = said.REFUSED[cell["refused"]] if lacking is None else said.needs_declared(lacking)
    columns = element("a", words.CHANGE, href=view.to("columns")) if cell["refused"] == "columns" else None
    return join(
        element("strong", said.FAILED), element("p", why, " ", columns if lacking is None else _declare(view)),
        element("details", element("summary", said.IN_FULL), element("p", cell["failed"], class_="why")),
    )  # fmt: skip


def _button(
    view: View, action: str, label: str, fields: Mapping[str, str], *, main: bool = False, about: str = "", region: str = ""
) -> Html:
    """A form that is a button; its name says what it is about also to those who do not see its place."""
    hidden = [element("input", type="hidden", name=name, value=value) for name, value in fields.items()]
    more = element("span", f" {about}", class_="unseen") if about else None
    own = element("button", label, more, type="submit", class_="main" if main else "plain-button")
    return form(view, action, hidden, own, region=region, class_="inline")


def _ladders(view: View, job: Job, found: Mapping[str, Any], look: Mapping[str, str]) -> Html | None:
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
        "p", element("span", text, class_="hollow"), " ", _button(view, "add", said.ADD, fields, about=f"{recipe} {knob}")
    )


async def _taking(view: View, job: Job, cell: str) -> Html:
    found = await view.ask("taking", limit=LOADING, folder=str(job.folder), cell=cell)
    own = {"c": job.folder.name, "cell": cell}
    hidden = [element("input", type="hidden", name=name, value=value) for name, value in own.items()]
    pay = len(found["payable"]) > 1
    items = [
        element(
            "li", element("p", said.WAYS["pay"]),
            _button(view, "way", said.PAY, {**own, "way": "pay"}) if pay else element("p", said.CANNOT_PAY, class_="soft"),
        ),
        element(
            "li", element("p", said.WAYS["name"]),
            form(
                view, "way", hidden, element("input", type="hidden", name="way", value="name"),
                field(view, "before", said.BEFORE, "", hint=said.BEFORE_HINT), button(said.NAME), class_="fields",
            ),
        ),
        element("li", element("p", said.WAYS["public"]), _button(view, "way", said.OPENLY, {**own, "way": "public"})),
    ] if found["unpaid"] else []  # fmt: skip
    return element(
        "section", element("h2", f"{cell}: {said.TAKING}"),
        join(
            element("p", said.LOOKED, class_="caution"), element("ol", items, class_="ways"),
            element("p", said.VOID_TEXT, class_="soft"), _button(view, "way", said.VOID, {**own, "way": "void"}),
        ) if found["unpaid"] else _button(view, "take", said.TAKE, own, main=True),
        class_="panel-box", id="taking",
    )  # fmt: skip


def _list(view: View, current: Job | None) -> Html | None:
    jobs = _jobs(view)
    if not jobs or (len(jobs) == 1 and current is not None):
        return None
    rows = [
        [
            element(
                "a", job.folder.name, href=view.to("compare", c=job.folder.name), aria_current="true" if job is current else None
            ),
            said_of_run.STATES[job.state], job.title, words.duration(job.elapsed),
        ]
        for job in jobs
    ]  # fmt: skip
    return element("section", element("h2", said.ALL), table(said.HEADS_ALL, rows, label=said.ALL, sortable=False))


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


def _asked(view: View, sent: Form) -> Job:
    """The comparison that a form is about."""
    found = next((job for job in _jobs(view) if job.folder.name == sent.get("c", "")), None)
    if found is None:
        raise InputError(words.NO_SUCH_RUN, where="comparison")
    return found


async def cancel(view: View, sent: Form) -> str:
    """End it; what is done stays."""
    if view.studio.jobs is not None:
        await view.studio.jobs.cancel(sent.get("job", ""))
    return view.to("compare")


async def again(view: View, sent: Form) -> str:
    """Go on from the cells that are done."""
    if view.studio.jobs is None:
        return view.to("compare")
    return view.to("compare", c=view.studio.jobs.again(sent.get("job", "")).folder.name)


async def look(view: View, sent: Form) -> str:
    """Keep where a slider stands."""
    job = _asked(view, sent)
    kept = view.workspace.chosen("compare")
    own = dict(kept.get(job.folder.name) or {})
    for name in sent.under("at."):
        value = sent.number(f"at.{name}")
        own[name] = "" if value is None else f"{value:g}"
    sent.check()
    view.workspace.choose("compare", {**kept, job.folder.name: own})
    return view.to("compare", c=job.folder.name)


async def add(view: View, sent: Form) -> str:
    """Compute a value between; all else is there."""
    job = _asked(view, sent)
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


async def take(view: View, sent: Form) -> str:
    """Take a release; where its proof would be void, first ask how."""
    job, cell = _asked(view, sent), sent.text("cell")
    found = await view.ask("taking", limit=LOADING, folder=str(job.folder), cell=cell)
    if found["unpaid"]:
        return view.to("compare", c=job.folder.name, take=cell)
    _keep(view, job, found, tuned="public" if found["public"] else "private")
    view.journal(said.took(cell, job.folder.name, public=found["public"]), "", job.command)
    return view.to("recipe")


async def way(view: View, sent: Form) -> str:
    """Take it in one of the three ways that keep a proof, or without one."""
    job, cell = _asked(view, sent), sent.text("cell")
    chosen = sent.one_of("way", ("pay", "name", "public", "void"))
    sent.check()
    found = await view.ask("taking", limit=LOADING, folder=str(job.folder), cell=cell)
    if chosen == "public":
        return view.to("compare", new=1)
    if chosen == "pay":
        if len(found["payable"]) < 2:
            raise InputError([Fault("", said.NO_PAY)])
        # The budget is set by policy: none is taken over from what was measured.
        run = view.workspace.chosen("run")
        kept: dict[str, Any] = {key: run[key] for key in ("seed", "hold_out") if key in run}
        kept |= {"recipe": said.best_of(found["payable"]), "best_of": found["payable"], "comparison": job.folder.name}
        view.workspace.choose("run", kept)
        view.journal(said.took_paid(found["payable"], job.folder.name), said.PAID)
        return view.to("recipe")
    if chosen == "name":
        before = sent.text("before", required=said.NO_BEFORE)
        sent.check()
        _keep(view, job, found, tuned="no", before=before)
        view.journal(said.took_named(cell, job.folder.name), before)
        return view.to("recipe")
    _keep(view, job, found, tuned="private")
    view.journal(said.took(cell, job.folder.name, public=False), said.VOID_TEXT, job.command)
    return view.to("recipe")


def _keep(view: View, job: Job, found: Mapping[str, Any], *, tuned: str, before: str = "") -> None:
    run = view.workspace.chosen("run")
    kept: dict[str, Any] = {key: run[key] for key in ("seed", "hold_out", "domains") if key in run}
    view.workspace.choose("run", {
        **kept, "recipe": found["recipe"], "settings": found["settings"], "epsilon": found["epsilon"], "tuned": tuned,
        "before": before, "comparison": job.folder.name,
    })  # fmt: skip


def mark(view: View) -> Mark:
    """How the last comparison stands."""
    job = next(iter(_jobs(view)), None)
    if job is None or job.state.open:
        return Mark.TODO
    if job.state is not State.DONE:
        return Mark.ATTENTION
    return Mark.STALE if view.studio.stale(job) else Mark.DONE


SCREEN = Screen(
    name="compare",
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={"start": start, "cancel": cancel, "again": again, "look": look, "add": add, "take": take, "way": way},
    mark=mark,
)
