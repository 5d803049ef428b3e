"""How coarse must it be? Ladders as controls: each click judges a choice of levels, beside the current one and its neighbours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.errors import Fault, HushError, InputError
from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.report.words import number, share
from hushtable.studio import commands, words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button, field, form, later, post_button
from hushtable.studio.persons import persons
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import explorer as said

NAME = "explorer"
SEARCH = "best_levels"
RECIPE, STEP = "k-anonymity", "generalize"
DEMAND = {"k": 5, "l": 0.0, "t": 1.0, "limit": 0.05}
"""What is demanded until somebody says otherwise: that of the recipe."""
LISTED = 60
"""So many judged choices are listed, those that lose least."""
PINS = 30


async def show(view: View) -> Shown:
    """The ladders, what the levels that are looked at leave, and everything that they are compared with."""
    kept, demand = _kept(view), _demand(view)
    levels, current = kept.get("levels"), kept.get("current")
    if not await view.ask("ladders"):
        return Shown(element("p", said.nothing(), class_="lead"))
    try:
        found = await view.ask("rung", levels=levels, current=current, demand=demand)
    except InputError as error:
        # A demand that the table cannot meet at all: it is said, and can be changed.
        return Shown(join(_demands(view, demand, folded=False), _to_ladders(view)), faults=error.faults)
    here = found["here"]
    every = element("noscript", element("p", element("a", said.SHOW_NEIGHBOURS, href=view.to(NAME, all="yes"))))
    whole = "all" in view.query
    content = join(
        element("p", said.WHAT, class_="soft"),
        element("p", said.sampled(found["rows"], found["of"]), class_="caution") if found["rows"] < found["of"] else None,
        element("p", said.verdict(here, demand), class_=f"lead verdict {'calm' if here['met'] else 'watch'}", id="verdict"),
        None if found["start"] is None else element("p", said.start(found["start"], met=here["met"]), class_="soft", id="start"),
        element("div", _ladders(view, found), _consequence(view, found), class_="explorer"),
        _demands(view, demand, folded=not view.faults),
        _proof(view, here, demand),
        element(
            "section", element("h2", said.NEIGHBOURS),
            None if whole else every,
            _around(view, await view.ask("neighbours", levels=levels, demand=demand)) if whole else _places(view, found["ladders"]),
        ),
        element(
            "section", element("h2", said.JUDGED), element("p", said.JUDGED_WHAT, class_="soft"),
            await judged(view) if whole else later(view, "judged"),
        ),
        _pins(view, kept, demand),
        _release(view, here, demand),
    )  # fmt: skip
    return Shown(content, commands.evaluate(view.workspace, here["levels"], demand))


def _kept(view: View) -> dict[str, Any]:
    return view.workspace.chosen(NAME)


def _demand(view: View) -> dict[str, Any]:
    by = persons(view.workspace).by
    return {**DEMAND, **_kept(view).get("demand", {}), **({} if by is None else {"person": by})}


def _keep(view: View, **changes: Any) -> None:
    view.workspace.choose(NAME, {**_kept(view), **changes})


def _state(view: View) -> str:
    """The table and its schema as one word: where it is another, what was judged before does not hold."""
    text = view.workspace.project.hash + view.workspace.schema_text()
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _to_ladders(view: View) -> Html:
    return element("a", said.BACK, href=view.to("levels"), class_="plain-button")


def _ladders(view: View, found: Mapping[str, Any]) -> Html:
    here, current = found["here"]["levels"], (found["current"] or {}).get("levels", {})
    fields = [
        element(
            "fieldset", element("legend", ladder["name"]),
            element(
                "div",
                [
                    _rung(place, ladder["name"], level, rung, chosen=here[ladder["name"]] == level,
                          current=current.get(ladder["name"]) == level, top=level == len(ladder["rungs"]) - 1)
                    for level, rung in enumerate(ladder["rungs"])
                ],
                class_="rungs",
            ),
        )
        for place, ladder in enumerate(found["ladders"])
    ]  # fmt: skip
    back = (
        post_button(view, "look", said.BACK_TO_CURRENT, region="content", screen=NAME, levels=json.dumps(current))
        if current and current != here else None
    )  # fmt: skip
    return element(
        "section", element("h2", said.LADDERS),
        form(view, "look", fields, element("noscript", button(said.JUDGE)), region="content", screen=NAME, class_="ladder-fields"),
        element("div", back, _to_ladders(view), class_="buttons"),
    )  # fmt: skip


def _rung(place: int, name: str, level: int, rung: Mapping[str, Any], *, chosen: bool, current: bool, top: bool) -> Html:
    text = said.ANY if top else rung["example"] if level else said.AS_IT_IS
    spoken = said.rung(level, rung["example"], rung["cells"]) + (f" ({said.CURRENT})" if current else "")
    marks = element("span", said.NOW, class_="now") if current else None
    return element(
        "label",
        element(
            "input", type="radio", name=f"level.{name}", value=str(level), checked=chosen, data_submit=True,
            id=f"rung-{place}-{level}", aria_label=spoken,
        ),
        element("span", element("b", str(level)), marks, element("span", text, class_="example"),
                element("small", "" if top else said.cells(rung["cells"])), aria_hidden="true"),
    )  # fmt: skip


def _consequence(view: View, found: Mapping[str, Any]) -> Html:
    here, now = found["here"], found["current"]
    same = now is not None and now["levels"] == here["levels"]
    beside = now if not same else None

    def line(name: str, text: Any, value: Any, *, digits: bool = False) -> list[Child]:
        if beside is None:
            return [name, text(here)]
        return [name, text(here), text(beside), said.change(value(here) - value(beside), digits=digits)]

    rows: list[list[Child]] = [
        [said.MET, said.holds(here["met"]), *([said.holds(beside["met"]), ""] if beside else [])],
        line(said.SMALLEST, lambda c: f"{c['k']:,}", lambda c: c["k"]),
        line(said.ALONE, lambda c: f"{c['alone']:,}", lambda c: c["alone"]),
        line(said.SUPPRESSED, said.suppressed, lambda c: c["suppressed"]),
        line(said.loss(here["loss_name"]), lambda c: number(c["loss"]), lambda c: c["loss"], digits=True),
        line(said.CLASSES, said.classes, lambda c: c["kept"]),
    ]
    heads = [said.FIGURE, said.THIS, *([said.CURRENT, said.DIFFERENCE] if beside else [])]
    losses = [(name, share(lost)) for name, lost in here["losses"].items()]
    state: Child = element("p", said.IS_CURRENT if same else said.NO_CURRENT, class_="soft") if beside is None else None
    make = None if same else post_button(
        view, "current", said.MAKE_CURRENT, region="content", screen=NAME, levels=json.dumps(here["levels"])
    )  # fmt: skip
    return element(
        "section", element("h2", said.CONSEQUENCE),
        table(heads, rows, label=said.CONSEQUENCE, sortable=False, class_="consequence"),
        element("p", said.WORDS, class_="hint"),
        element("details", element("summary", said.LOST), pairs(losses, class_="facts short")),
        state, element("div", make, class_="buttons"),
    )  # fmt: skip


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


def _places(view: View, ladders: Sequence[Mapping[str, Any]]) -> Html:
    """A place for each column: each is counted by itself, so that a click on a level waits for one of them at most."""
    waiting = element("span", said.COUNTING, class_="soft")
    lines = [later(view, "around", waiting, name="li", column=place) for place in range(len(ladders))]
    return element("ul", lines, class_="neighbours")


def _around(view: View, rungs: Sequence[Mapping[str, Any]]) -> Html:
    if not rungs:
        return element("p", said.NO_NEIGHBOURS, class_="soft")
    return element("ul", element("li", [_neighbour(view, rung) for rung in rungs]), class_="neighbours")


def _neighbour(view: View, rung: Mapping[str, Any]) -> Html:
    choice = rung["choice"]
    change = said.step(rung["column"], choice["levels"][rung["column"]], up=rung["up"])
    facts = zip(said.NEIGHBOUR_HEADS[1:6], _figures(choice), strict=True)
    return element(
        "div",
        element("strong", change),
        [element("span", element("span", f"{head} ", class_="soft"), text) for head, text in facts],
        _look(view, choice["levels"], change),
        class_=f"neighbour {'met' if choice['met'] else 'unmet'}",
    )


def _figures(choice: Mapping[str, Any]) -> list[str]:
    return [f"{choice['k']:,}", f"{choice['alone']:,}", said.suppressed(choice), number(choice["loss"]), said.holds(choice["met"])]


def _look(view: View, levels: Mapping[str, int], about: str) -> Html:
    return form(
        view, "look", element("input", type="hidden", name="levels", value=json.dumps(levels)),
        button(said.LOOK, aria_label=f"{said.LOOK}: {about}"), region="content", screen=NAME, class_="inline",
    )  # fmt: skip


async def around(view: View) -> Html:
    """The neighbours that one column gives."""
    rungs = await view.ask("neighbours", levels=_kept(view).get("levels"), demand=_demand(view), place=view.query.get("column", ""))
    return join([_neighbour(view, rung) for rung in rungs])


async def judged(view: View) -> Html:
    """All that was judged, drawn and listed."""
    kept, demand = _kept(view), _demand(view)
    job = _search(view)
    tried = job.result.get("front", []) if job is not None and _fits(view, job, demand) else []
    found = await view.ask("judged", levels=kept.get("levels"), current=kept.get("current"), demand=demand, tried=tried)
    rows = [[said.levels(c["levels"]), *_figures(c), _look(view, c["levels"], said.levels(c["levels"]))] for c in found["choices"]]
    listing = table(said.JUDGED_HEADS, rows[:LISTED], label=said.JUDGED_TABLE, sortable=False)
    return join(
        element("figure", Html(found["drawing"]), Html(found["key"]), class_="judged-plot"),
        element("details", element("summary", said.JUDGED_TABLE), element("div", listing, class_="value-list")),
    )


def _search(view: View) -> Job | None:
    """The last search."""
    jobs = view.studio.jobs
    return next((job for job in jobs.latest() if job.verb == SEARCH), None) if jobs is not None else None


def _fits(view: View, job: Job, demand: Mapping[str, Any]) -> bool:
    """Whether a search answers for this demand and the table and schema as they are."""
    return job.state is State.DONE and job.request.get("state") == _state(view) and job.request.get("demand") == demand


def _proof(view: View, here: Mapping[str, Any], demand: Mapping[str, Any]) -> Html:
    job = _search(view)
    ask = post_button(view, "search", said.SEARCH, region="content", screen=NAME)
    parts: list[Child]
    if job is not None and job.state.open:
        stop = post_button(view, "cancel", said.CANCEL, region="content", screen=NAME, job=job.id)
        parts = [
            element("progress", max=1, value=job.share, aria_label=said.PROGRESS),
            element("p", element("strong", words.percent(job.share), data_part="percent"), " · ",
                    element("span", words.duration(job.elapsed), data_part="elapsed")),
            stop,
        ]  # fmt: skip
        return element("section", element("h2", said.PROOF), element("div", parts, data_job=job.id), id="proof")
    if job is None:
        parts = [element("p", said.SEARCH_WHAT, class_="soft"), ask]
    elif job.state is not State.DONE:
        reasons = [element("li", fault.reason) for fault in job.faults]
        text = said.SEARCH_CANCELLED if job.state is State.CANCELLED else said.SEARCH_FAILED
        parts = [element("p", text, class_="void"), element("ul", reasons) if reasons else None, ask]
    elif not _fits(view, job, demand):
        parts = [element("p", said.OTHER_DEMANDS, class_="caution"), ask]
    else:
        parts = _found(view, here, job)
    return element("section", element("h2", said.PROOF), parts, id="proof")


def _found(view: View, here: Mapping[str, Any], job: Job) -> list[Child]:
    result = job.result
    sheet = element("a", said.SHEET, href=view.file(job, "sheet/pareto.html"), target="_blank", rel="noopener")
    if result["value"] is None:
        return [element("p", said.proven(result)), element("p", said.evidence(result), class_="soft"), sheet]
    same = result["levels"] == here["levels"]
    beside = said.IT_IS_THIS if same else said.against(here["loss"], result["value"]) if here["met"] else ""
    badge = element(
        "span", "proven" if result["optimal"] else "not proven", class_=f"badge {'proven' if result['optimal'] else 'claimed'}"
    )
    return [
        element("p", said.proven(result)),
        element("p", badge, " ", said.evidence(result)),
        element("p", beside, class_="soft") if beside else None,
        element("div", None if same else _look(view, result["levels"], said.SEARCH_TITLE), sheet, class_="buttons"),
    ]


def _pins(view: View, kept: Mapping[str, Any], demand: Mapping[str, Any]) -> Html:
    state = _state(view)
    old = element("p", said.STALE, class_="fault")
    rows = [
        [
            join(pin["note"], None if (pin["state"], pin["demand"]) == (state, demand) else old),
            said.levels(pin["levels"]), f"{pin['k']:,}", said.suppressed(pin), number(pin["loss"]),
            _look(view, pin["levels"], pin["note"]),
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


def _release(view: View, here: Mapping[str, Any], demand: Mapping[str, Any]) -> Html:
    if not here["met"]:
        return element("section", element("h2", said.RELEASE), element("p", said.not_released(here, demand), class_="caution"))
    hidden = element("input", type="hidden", name="levels", value=json.dumps(here["levels"]))
    own = form(view, "release", hidden, button(said.RELEASE, main=True), screen=NAME, class_="fields")
    return element("section", element("h2", said.RELEASE), element("p", said.RELEASE_WHAT, class_="soft"), own)


async def look(view: View, form: Form) -> str:
    """Look at other levels; that is no decision."""
    levels = _levels(form)
    _keep(view, levels=levels)
    return view.to(NAME)


async def current(view: View, form: Form) -> str:
    """Make these levels what others are compared with."""
    levels = _levels(form)
    _keep(view, levels=levels, current=levels)
    view.journal(said.current(levels), command=commands.evaluate(view.workspace, levels, _demand(view)))
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
            "rung", levels=_kept(view).get("levels"), current=None, demand=asked | ({} if by is None else {"person": by})
        )
    except InputError as error:
        raise InputError([Fault("k", fault.reason) for fault in error.faults]) from None
    except HushError as error:
        raise InputError([Fault("l", str(error))]) from None
    _keep(view, demand=asked)
    return view.to(NAME)


async def search(view: View, form: Form) -> str:
    """Search the levels that lose least, as a job."""
    workspace, asked = view.workspace, _demand(view)
    folder = workspace.numbered("runs")
    request = {
        "data": str(workspace.table), "schema": str(workspace.freeze(folder)), "layout": workspace.project.layout,
        "folder": str(folder / "sheet"), "k": asked["k"], "limit": asked["limit"], "settings": {"l": asked["l"], "t": asked["t"]},
        "person": asked.get("person"), "state": _state(view), "demand": asked,
    }  # fmt: skip
    command = commands.best_levels(workspace, request)
    view.journal(said.searching(asked["k"], asked["limit"]), command=command)
    view.start(SEARCH, request, said.SEARCH_TITLE, folder=folder.name, name="levels", like=SEARCH, command=command)
    return view.to(NAME)


async def cancel(view: View, form: Form) -> str:
    """End a search."""
    if view.studio.jobs is not None:
        await view.studio.jobs.cancel(form.get("job", ""))
    return view.to(NAME)


async def pin(view: View, form: Form) -> str:
    """Keep the levels that are looked at, with a note."""
    note = form.text("note", required=said.NO_NOTE)
    form.check()
    asked, kept = _demand(view), _kept(view)
    found = (await view.ask("rung", levels=kept.get("levels"), current=None, demand=asked))["here"]
    own = {
        "note": note[:200], "levels": found["levels"], "state": _state(view), "demand": asked,
        **{name: found[name] for name in ("k", "suppressed", "suppressed_share", "loss")},
    }  # fmt: skip
    _keep(view, pins=[*kept.get("pins", []), own][-PINS:])
    view.journal(said.pinned(found["levels"]), note, commands.evaluate(view.workspace, found["levels"], asked))
    return view.to(NAME)


async def unpin(view: View, form: Form) -> str:
    """Let a pinned choice go."""
    pins, place = list(_kept(view).get("pins", [])), form.whole("pin", 0)
    form.check()
    if place is None or place >= len(pins):
        raise InputError(said.NO_SUCH_PIN, where="pin")
    del pins[place]
    _keep(view, pins=pins)
    view.journal(said.unpinned())
    return view.to(NAME)


async def release(view: View, form: Form) -> str:
    """Fix the levels in a recipe, and go to it."""
    levels, asked = _levels(form), _demand(view)
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
    _keep(view, levels=levels, current=levels)
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


def mark(view: View) -> Mark:
    """Done once there is a current choice."""
    return Mark.DONE if _kept(view).get("current") else Mark.TODO


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
