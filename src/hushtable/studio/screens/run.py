"""Is it done? A release of a recipe: what is at work, how far it is, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hushtable.errors import InputError
from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.studio import commands, words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button, field, form, post_button, select
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import run as said
from hushtable.studio.working import at_work

FIRST = "mdav"
"""The recipe that is offered where none was chosen."""
REQUEST = "release"
LOADING = 60.0
"""Seconds in which the methods are loaded, when they are asked for first."""


async def show(view: View) -> Shown:
    """The job that is at work or was looked at, or else the form that starts one; below it all runs."""
    jobs = view.studio.jobs
    asked = view.query.get("job", "")
    job = jobs.find(asked) if jobs is not None and asked else next(iter(_releases(view)), None)
    if job is not None and not view.faults and "new" not in view.query:
        title = words.percent(job.share) if job.state.open else ""
        parts = [_job(view, job), _runs(view, job)]
        return Shown(join(parts), job.command, title=title, refresh=job.state.open)
    return Shown(join(await _new(view), _runs(view, None)))


def _releases(view: View) -> list[Job]:
    return [job for job in view.studio.jobs.latest() if job.verb == REQUEST] if view.studio.jobs is not None else []


async def _new(view: View) -> Html:
    chosen = view.workspace.chosen("run")
    families = await view.ask("recipes", limit=LOADING)
    known = [recipe for family in families for recipe in family["recipes"]]
    name = view.query.get("recipe") or view.value("recipe", chosen.get("recipe") or FIRST)
    recipe = next((one for one in known if one["name"] == name), known[0])
    knobs = await view.ask("knobs", limit=LOADING, recipe=recipe["name"])
    groups = [
        element(
            "optgroup",
            [element("option", one["name"], value=one["name"], selected=one is recipe) for one in family["recipes"]],
            label=family["family"],
        )
        for family in families
    ]
    pick = element(
        "form",
        element("label", said.RECIPE, for_="field-pick"),
        element("select", groups, id="field-pick", name="recipe", data_submit=True),
        element("input", type="hidden", name="new", value="1"),
        button(said.SHOW_KNOBS), method="get", action=view.to("run"), class_="inline-fields",
    )  # fmt: skip
    settings: dict[str, str] = chosen.get("settings", {}) if chosen.get("recipe") == recipe["name"] else {}
    fields: list[Child] = [element("input", type="hidden", name="recipe", value=recipe["name"])]
    if recipe["spends"]:
        fields.append(
            field(view, "epsilon", said.EPSILON, chosen.get("epsilon") or "1", hint=said.EPSILON_HINT, inputmode="decimal")
        )
    fields.append(field(view, "seed", said.SEED, chosen.get("seed"), hint=said.SEED_HINT, inputmode="numeric"))
    fields.append(
        field(view, "hold_out", said.HOLD_OUT, chosen.get("hold_out") or "0.3", hint=said.HOLD_OUT_HINT, inputmode="decimal")
    )
    inner = [
        _knob(view, step["name"], knob, settings, many=len(knobs["steps"]) > 1) for step in knobs["steps"] for knob in step["knobs"]
    ]
    fields.append(
        element(
            "details",
            element("summary", said.knobs(len(inner))),
            element("div", inner, class_="knob-fields"),
            open=bool(view.faults),
        )
    )
    fields.append(field(view, "allow_copies", said.ALLOW_COPIES, "", hint=said.ALLOW_COPIES_HINT))
    if recipe["spends"]:
        fields.append(select(view, "domains", said.DOMAINS, said.DOMAIN_OPTIONS, chosen.get("domains", "")))
    promise = pairs([(said.PROMISE, recipe["guarantee"]), (said.EVIDENCE, words.assurance(recipe["assurance"]))])
    return join(
        pick,
        element(
            "section",
            element("h2", recipe["title"]),
            promise,
            form(view, "start", fields, button(said.RUN, main=True), class_="fields"),
        ),
    )


def _knob(view: View, step: str, knob: Mapping[str, Any], settings: Mapping[str, str], *, many: bool) -> Html:
    name = f"{step}.{knob['name']}"
    value = knob["value"]
    text = "" if value is None else str(value)
    return field(view, f"set.{name}", name if many else str(knob["name"]), settings.get(name, text), hint=str(knob["doc"]))


def _job(view: View, job: Job) -> Html:
    if job.state.open:
        return at_work(view, job)
    if job.state is State.DONE:
        return _done(view, job) if job.verb == REQUEST else _worked_out(view, job)
    faults = element("ul", [element("li", str(fault).removeprefix(": ")) for fault in job.faults], class_="reasons-list")
    parts: list[Child] = [element("p", said.ENDED[job.state], class_="lead void"), faults if job.faults else None]
    parts += [element("p", note, class_="soft") for note in job.notes]
    if columns := [name for name in view.workspace.roles() if any(name in fault.where.split() for fault in job.faults)]:
        parts.append(element("p", said.TO_COLUMNS, element("a", ", ".join(columns), href=view.to("columns"))))
    parts.append(element("div", post_button(view, "again", said.AGAIN, job=job.id), _other(view), class_="buttons"))
    return element("div", parts, class_="panel-box", id="job")


def _done(view: View, job: Job) -> Html:
    found = job.result
    sentences = [(head, text) for head, text in found["guarantee"]]
    facts: list[tuple[Child, Child]] = [(said.ROWS_OUT, said.rows(found["rows"], found["train_rows"], found["suppressed"]))]
    facts += sentences
    facts += [(said.BUT, text) for text in found["exposed"]]
    facts += [(said.LEFT_OUT, ", ".join(found["dropped"]))] if found["dropped"] else []
    facts += [(said.FILES, ", ".join(found["files"]))]
    private = [*found["warnings"], *found["notes"]]
    stale = element("p", words.STALE, class_="caution") if view.studio.stale(job) else None
    badge = element("span", words.assurance(found["assurance"]), class_=f"badge {found['assurance']}")
    alone = [element("p", said.FOR_YOU, class_="eyebrow"), element("ul", [element("li", line) for line in private])]
    card = element("a", said.CARD, href=view.file(job, "release/card.html"), target="_blank", rel="noopener", class_="plain-button")
    audit = element("a", said.TO_AUDIT, href=view.to("audit", run=job.folder.name), class_="main")
    uncontrolled = element("p", said.NO_CONTROL, class_="caution") if job.request.get("hold_out") is None else None
    return element(
        "div",
        element("p", said.DONE, badge, class_="lead"),
        stale, pairs(facts), uncontrolled,
        element("div", alone) if private else None,
        element("div", audit, card, _other(view), class_="buttons"),
        class_="panel-box", id="job",
    )  # fmt: skip


def _worked_out(view: View, job: Job) -> Html:
    to = str(job.request.get("screen", "run"))
    back = element("a", said.GO_ON, href=view.to(to), class_="main")
    return element("div", element("p", said.DONE, class_="lead"), element("p", back), class_="panel-box", id="job")


def _other(view: View) -> Html:
    return element("a", said.ANOTHER, href=view.to("run", new=1), class_="plain-button")


def _runs(view: View, current: Job | None) -> Html | None:
    jobs = _releases(view)
    if not jobs or (len(jobs) == 1 and current is not None):
        return None
    rows = [
        [
            element("a", job.folder.name, href=view.to("run", job=job.id), aria_current="true" if job is current else None),
            job.title, words.STALE if job.state is State.DONE and view.studio.stale(job) else said.STATES[job.state],
            words.duration(job.elapsed) if not job.state.open else "",
        ]
        for job in jobs
    ]  # fmt: skip
    return element("section", element("h2", said.ALL_RUNS), table(said.RUN_HEADS, rows, label=said.ALL_RUNS, sortable=False))


async def start(view: View, form: Form) -> str:
    """Put a release in the queue."""
    workspace = view.workspace
    recipe = form.text("recipe", required=said.NO_RECIPE)
    epsilon, seed = form.number("epsilon", 1e-6, 1000), form.whole("seed", 0)
    hold_out = form.number("hold_out", 0.0, 0.9)
    reason = form.text("allow_copies")
    form.check()
    knobs = await view.ask("knobs", limit=LOADING, recipe=recipe)
    standard = {
        f"{step['name']}.{knob['name']}": "" if knob["value"] is None else str(knob["value"])
        for step in knobs["steps"]
        for knob in step["knobs"]
    }
    settings = {name: text for name, value in form.under("set.").items() if (text := value.strip()) != standard.get(name, text)}
    domains = form.get("domains", "")
    folder = workspace.numbered("runs")
    schema = workspace.freeze(folder)
    request = {
        "data": str(workspace.table), "schema": str(schema), "folder": str(folder / "release"), "recipe": recipe,
        "settings": settings, "hold_out": hold_out or None, "layout": workspace.project.layout,
        "options": {"epsilon": epsilon, "seed": seed, "allow_copies": reason or None, "learn_domain": domains == "learn"},
    }  # fmt: skip
    command = commands.release(workspace, request)
    workspace.choose("run", {
        "recipe": recipe, "settings": settings, "epsilon": epsilon, "seed": seed, "hold_out": hold_out, "domains": domains,
    })  # fmt: skip
    view.journal(said.started(recipe, folder.name), reason, command)
    job = view.start(REQUEST, request, said.title(recipe), folder=folder.name, like=recipe, command=command)
    return view.to("run", job=job.id)


async def answer(view: View, form: Form) -> str:
    """Answer a question that took too long in a job of its own."""
    try:
        arguments = json.loads(form.get("arguments", ""))
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        raise InputError(words.NO_SUCH_QUESTION, where="question")
    job = view.studio.answer_later(form.get("question", ""), arguments, form.text("to"))
    return view.to("run", job=job.id)


async def cancel(view: View, form: Form) -> str:
    """End a job."""
    if view.studio.jobs is not None:
        await view.studio.jobs.cancel(form.get("job", ""))
    return view.to("run", job=form.get("job", ""))


async def again(view: View, form: Form) -> str:
    """The same job once more."""
    if view.studio.jobs is None:
        return view.to("run")
    return view.to("run", job=view.studio.jobs.again(form.get("job", "")).id)


def mark(view: View) -> Mark:
    """How the last release stands."""
    job = next(iter(_releases(view)), None)
    if job is None or job.state.open:
        return Mark.TODO
    if job.state is not State.DONE:
        return Mark.ATTENTION
    return Mark.STALE if view.studio.stale(job) else Mark.DONE


SCREEN = Screen(
    name="run",
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={"start": start, "answer": answer, "cancel": cancel, "again": again},
    mark=mark,
)
