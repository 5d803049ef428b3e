"""What must you be able to say? Three questions pick a few recipes; one is set, tried and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.report.html import Child, Html, element, join, pairs
from hushtable.studio import commands, words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button, field, form, later, select, switch
from hushtable.studio.persons import persons, unsaid
from hushtable.studio.screens.columns import PAGE
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import persons as said_of_persons
from hushtable.studio.words import recipe as said
from hushtable.studio.words import run as said_of_run
from hushtable.studio.worker import TooLong
from hushtable.table.disk import whole_file

LOADING = 60.0
"""Seconds in which the methods are loaded, when they are asked for first."""
ANSWERS = {"leaves": said.LEAVES_WORDS, "values": said.VALUES_WORDS, "use": said.USE_WORDS}
USUAL = {"leaves": "anybody", "values": "invented", "use": "counts", "target": ""}
TRIED = "preflight"
LISTED = 8
"""So many columns are named, each with a link."""


async def show(view: View) -> Shown:
    """The questions, what fits them, all others, and how the chosen one is set."""
    own = answers(view)
    fitting = await view.ask("shortlist", limit=LOADING, **own)
    name = str(_run(view).get("recipe") or "")
    setup: Html | None = None
    if _run(view).get("best_of"):
        setup = await _best_of(view)
    elif name:
        setup = await _setup(view, name)
    content = join(_questions(view, own), _shortlist(view, fitting, name), await _all(view, name), setup)
    return Shown(content, await _command(view, name))


def _run(view: View) -> dict[str, Any]:
    """What is to be run: the recipe, its settings, its budget."""
    return view.workspace.chosen("run")


def answers(view: View) -> dict[str, str]:
    """What was answered, or is taken until somebody answers."""
    kept = view.workspace.chosen("recipe")
    roles = view.workspace.roles()
    first = next((name for name, role in roles.items() if role == "target"), "")
    found = {key: str(kept.get(key, usual)) for key, usual in USUAL.items()}
    # A column may have been renamed, or dropped, since.
    found["target"] = found["target"] if "target" in kept and found["target"] in roles else first
    return found


async def _command(view: View, name: str) -> Sequence[str]:
    if not name:
        return ("hush", "methods")
    run = _run(view)
    if run.get("best_of"):
        own = {
            "schema": str(view.workspace.schema), "folder": "release", "best_of": run["best_of"],
            "options": run | {"unit": _unit(view)},
        }  # fmt: skip
        return commands.release(view.workspace, own)
    return commands.preflight(view.workspace, name, run.get("settings") or {}, run.get("epsilon"), _unit(view))


def _questions(view: View, own: Mapping[str, str]) -> Html:
    roles = view.workspace.roles()
    targets = [("", said.NO_TARGET), *((name, name) for name, role in roles.items() if role != "identifier")]
    heads = {"leaves": said.LEAVES, "values": said.VALUES, "use": said.USE}
    inner = [switch(view, key, heads[key], ANSWERS[key], own[key], data_submit=True) for key in ANSWERS]
    target = select(view, "target", said.TARGET, targets, own["target"], hint=said.TARGET_HINT, data_submit=True)
    return form(view, "answer", inner, target, button(said.ANSWER), region="content", class_="fields questions")


def _shortlist(view: View, fitting: Mapping[str, Any], name: str) -> Html:
    cards = [_card(view, one, name) for one in fitting["chosen"]]
    learning = {one["recipe"]: one["learns"] for one in fitting["chosen"] if one["learns"]}
    # Of the one that is chosen it is said where it is set.
    learns = next(iter(learning.values()), ()) if name not in learning else ()
    left = [element("li", element("strong", recipe), f": {why}.") for recipe, why in fitting["left_out"].items()]
    return element(
        "section",
        element("h2", said.SHORTLIST),
        element("p", said.learns(learns), " ", element("a", said.TO_COLUMNS, href=_declare(view)), class_="caution")
        if learns
        else None,
        element("p", said.PROVEN, class_="soft") if any(one["assurance"] == "proven" for one in fitting["chosen"]) else None,
        element("div", cards, class_="shortlist") if cards else element("p", said.NOTHING_FITS, class_="lead"),
        element("p", element("a", said.TO_COMPARE, href=view.to("compare", new=1))) if len(cards) > 1 else None,
        element("details", element("summary", said.LEFT_OUT), element("ul", left)) if left else None,
        id="shortlist",
    )


def _card(view: View, one: Mapping[str, Any], name: str) -> Html:
    seconds = _last(view, one["recipe"])
    facts: list[tuple[Child, Child]] = [
        (said.PROMISE, one["promise"]),
        (said.HAPPENS, one["values"]),
        (said.TIME, said.usual_time(one["seconds"]) if seconds is None else said.last_time(seconds)),
    ]
    when = pairs([(said.TAKE_IT, one["use"][0]), (said.LOOK_ELSEWHERE, one["avoid"][0])])
    return element(
        "article",
        element("h3", one["title"]),
        element("p", element("code", one["recipe"]), " ", _badge(one["assurance"])),
        pairs(facts),
        element("details", element("summary", said.WHEN), when),
        _choose(view, one["recipe"], name),
        class_="card chosen" if one["recipe"] == name else "card",
    )


def _badge(assurance: str) -> Html:
    return element("span", words.assurance(assurance), class_=f"badge {assurance}")


def _choose(view: View, recipe: str, name: str, where: str = "choose") -> Html:
    # Both have one id, so that the focus stays where it was when one takes the place of the other.
    own = f"{where}-{recipe}"
    if recipe == name:
        setup = element("a", said.TO_SETUP, href="#setup") if where == "choose" else None
        return element("p", element("strong", f"✓ {said.CHOSEN}", id=own, tabindex=-1), " ", setup)
    hidden = element("input", type="hidden", name="recipe", value=recipe)
    label = element("span", f" {recipe}", class_="unseen")
    return form(view, "choose", hidden, button_with(said.CHOOSE, label, own), region="content", class_="inline")


def button_with(label: str, more: Child, id_: str) -> Html:
    """A button whose name says what it is about to those who do not see its place."""
    return element("button", label, more, type="submit", class_="plain-button", id=id_)


def _last(view: View, recipe: str) -> float | None:
    """How long the last release by it took on this table."""
    jobs = view.studio.jobs.latest() if view.studio.jobs is not None else ()
    return next((job.elapsed for job in jobs if (job.verb, job.like, job.state) == ("release", recipe, State.DONE)), None)


async def _all(view: View, name: str) -> Html:
    query = view.query.get("q", "")
    families = await view.ask("recipes", limit=LOADING)
    found = [
        (family["family"], [one for one in family["recipes"] if said.matches(one, query)]) for family in families
    ]  # fmt: skip
    count = sum(len(members) for _, members in found)
    search = form(
        view, "search",
        field(view, "q", said.SEARCH, query, hint=said.SEARCH_HINT, kind="search", data_live=True), button(said.FIND),
        region="all-recipes", class_="fields",
    )  # fmt: skip
    groups = [
        element("section", element("h3", family), element("ul", [_line(view, one, name) for one in members], class_="recipes"))
        for family, members in found
        if members
    ]
    results = element(
        "div", element("p", said.found(count, query) if count else said.NOTHING_FOUND, class_="soft", role="status"), groups,
        id="all-recipes",
    )  # fmt: skip
    return element("details", element("summary", said.ALL), search, results, open=bool(query), class_="all-recipes")


def _line(view: View, one: Mapping[str, Any], name: str) -> Html:
    head = [element("strong", one["title"]), " ", element("code", one["name"]), " ", _badge(one["assurance"])]
    texts = [element("span", text, class_="why") for text in (one["guarantee"], one["values"]) if text]
    return element("li", element("div", head, texts), _choose(view, one["name"], name, "pick"))


async def _setup(view: View, name: str) -> Html:
    try:
        found = await view.ask("knobs", limit=LOADING, recipe=name)
    except InputError:
        # A recipe of an earlier version, or of a file that is gone.
        return element("p", f"{said.NO_SUCH_RECIPE}: {name}", class_="caution")
    run = _run(view)
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
    asked = _asked(view)
    undeclared = await view.ask(
        "undeclared", limit=LOADING, recipe=name, settings=asked["settings"], learn=asked["learn"]
    ) if about["spends"] else None  # fmt: skip
    return element(
        "section",
        element("h2", said.SETUP),
        element("p", element("strong", about["title"]), " ", element("code", name), " ", _badge(about["assurance"])),
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
            await _expected(view, name, run, about, undeclared),
            element(
                "div", button(said.CHECK, name="do", value="check"), button(said.RUN, main=True, name="do", value="run"),
                class_="buttons",
            ),
            region="expected", class_="fields",
        ),
        id="setup",
    )  # fmt: skip


def _unit(view: View) -> dict[str, Any] | None:
    return persons(view.workspace).unit


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


async def _expected(
    view: View, name: str, run: Mapping[str, Any], about: Mapping[str, Any], undeclared: Mapping[str, Any] | None
) -> Html:
    parts: list[Child] = [element("h3", said.BEFORE)]
    if about["spends"]:
        epsilon = float(run.get("epsilon") or 1.0)
        found = await view.ask(
            "error", limit=LOADING, recipe=name, settings=run.get("settings") or {}, epsilon=epsilon, unit=_unit(view)
        )
        text = found["why"] or (
            said.NO_ERROR if found["width"] is None else said.error(found["width"], epsilon, (_unit(view) or {}).get("rows", 1))
        )
        parts.append(pairs([(said.ERROR, text)]))
    if undeclared:
        parts.append(_undeclared(view, undeclared))
    elif view.query.get("tried") or view.faults:
        parts.append(await _tried(view))
    else:
        noscript = element("noscript", element("a", said.WITHOUT_SCRIPT, href=view.to("recipe", tried=1)))
        # What it was tried with, so that another trial is not taken for the same.
        parts.append(join(later(view, "tried", element("p", said.TRYING, class_="soft"), class_="tried"), noscript))
    return element("div", parts, id="expected", class_="panel-box")


def _undeclared(view: View, found: Mapping[str, Any]) -> Html:
    """What keeps a private recipe from being run, and the ways out of it."""
    places = {name: place for place, name in enumerate(view.workspace.roles())}
    links = [
        join(", " if at else None, element("a", name, href=_line_of(view, places[name])))
        for at, name in enumerate(found["lost"][:LISTED])
    ]
    more = len(found["lost"]) - len(links)
    declare = element("a", said.TO_DECLARE, href=_declare(view))
    lost = [said.LOST, " ", links, said.more(more) if more > 0 else None, ". ", said.LOST_WHY]
    if not found["columns"] and not found["codes"]:
        return element("div", element("p", lost), element("p", declare, ": ", said.LOST_COVERED), class_="caution", id="undeclared")
    learn: list[Child] = [element("a", said.TO_LEARN, href="#field-domains"), ": ", said.LEARN_COSTS]
    if found["lost"]:
        learn += [" ", *lost, " ", said.LOST_FIRST]
    return element(
        "div",
        element("p", said.undeclared(found["columns"], codes=found["codes"])),
        element("ul", element("li", declare, ": ", said.declare(codes=found["codes"])), element("li", learn)),
        class_="caution", id="undeclared",
    )  # fmt: skip


def _line_of(view: View, place: int) -> str:
    """Where a column can be ticked."""
    return view.to("columns", start=place // PAGE * PAGE or None) + f"#field-column.{place}"


def _declare(view: View) -> str:
    """Where several columns are declared public at once."""
    return view.to("columns") + "#many"


def _asked(view: View) -> dict[str, Any]:
    """What is tried."""
    run = _run(view)
    epsilon = float(run["epsilon"]) if run.get("epsilon") else None
    return {
        "recipe": str(run.get("recipe")), "settings": run.get("settings") or {}, "epsilon": epsilon,
        "learn": run.get("domains") == "learn", "unit": _unit(view),
    }  # fmt: skip


async def tried(view: View) -> Html:
    """What would leave unchanged, for its place."""
    return await _tried(view)


async def _tried(view: View) -> Html:
    job = _trial(view)
    if job is not None and job.state is State.DONE:
        return _told(view, job.result)
    if job is not None and job.state.open:
        link = element("a", words.percent(job.share), data_part="percent", href=view.to("run", job=job.id))
        return element("p", said.TRY_AT_WORK, " ", link, data_job=job.id)
    try:
        found = await view.ask("tried", **_asked(view))
    except TooLong:
        found = None
    except InputError as error:
        return element("p", "; ".join(words.fault(fault) for fault in error.faults), class_="caution")
    if found is None:
        # It stands inside of the form of the recipe, whose action it shares.
        return join(element("p", said.TAKES_LONGER, class_="soft"), button(said.TRY_AS_JOB, name="do", value="try"))
    return _told(view, found)


def _trial(view: View) -> Job | None:
    """The last job that tried just this."""
    asked = _asked(view)
    jobs = view.studio.jobs.latest() if view.studio.jobs is not None else ()
    return next(
        (
            job for job in jobs
            if job.verb == TRIED and all(job.request.get(key) == value for key, value in asked.items())
            and job.request.get("stamp") == _stamp(view) and not view.studio.stale(job)
        ),
        None,
    )  # fmt: skip


def _stamp(view: View) -> int:
    """Which state of the schema holds."""
    return view.workspace.project.schema_at


def _told(view: View, found: Mapping[str, Any]) -> Html:
    if found["private"]:
        return pairs([(said.UNTOUCHED, said.PRIVATE)])
    facts: list[tuple[Child, Child]] = [(said.UNTOUCHED, said.untouched(found["columns"], found["alone"]))]
    if found["equal"] is not None:
        facts.append((said.COPIES, said.copies(found["equal"])))
    reason = join(
        element("p", said.REFUSED, class_="caution"),
        field(view, "allow_copies", said.ALLOW_COPIES, _run(view).get("reason"), hint=said.ALLOW_COPIES_HINT),
    )
    return join(pairs(facts), reason if found["refused"] else None)


async def _best_of(view: View) -> Html:
    run = _run(view)
    inner = [
        field(view, "epsilon", said.EPSILON, run.get("epsilon") or "", hint=said.EPSILON_HINT, inputmode="decimal"),
        _usual_fields(view, run, learns=False),
    ]
    return element(
        "section",
        element("h2", said.BEST),
        element("p", element("code", ", ".join(run["best_of"])), " ", _badge("proven")),
        element("p", said.BEST_HINT, class_="soft"),
        _whom(view),
        await unsaid(view),
        form(view, "settings", inner, button(said.RUN, main=True, name="do", value="run"), class_="fields"),
        id="setup",
    )


async def answer(view: View, sent: Form) -> str:
    """Keep the answers; what fits follows from them."""
    roles = view.workspace.roles()
    found = {key: sent.one_of(key, [own for own, _ in options], USUAL[key]) for key, options in ANSWERS.items()}
    target = sent.one_of("target", ["", *roles], "")
    sent.check()
    view.workspace.choose("recipe", {**found, "target": target})
    view.journal(said.answered(**found, target=target))
    return view.to("recipe")


async def choose(view: View, sent: Form) -> str:
    """Choose a recipe, as it comes."""
    name = sent.text("recipe", required=said.NO_RECIPE)
    sent.check()
    found = await view.ask("knobs", limit=LOADING, recipe=name)
    run = _run(view)
    kept: dict[str, Any] = {key: run[key] for key in ("seed", "hold_out", "domains", "epsilon") if key in run}
    if found["about"]["spends"]:
        kept["epsilon"] = kept.get("epsilon") or 1.0
    view.workspace.choose("run", {**kept, "recipe": name, "settings": {}})
    view.journal(said.chosen(name), command=("hush", "methods", name))
    return view.to("recipe")


async def search(view: View, sent: Form) -> str:
    """Show the recipes that have these words."""
    return view.to("recipe", q=sent.text("q")[:80])


async def settings(view: View, sent: Form) -> str:
    """Keep how the recipe is set; try it as a job, or run it, where that is asked for."""
    run = _run(view)
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
    kept = {
        **run, "recipe": name, "settings": changed, "epsilon": epsilon, "seed": seed, "hold_out": hold_out,
        "domains": sent.get("domains", ""), "reason": sent.text("allow_copies"),
    }  # fmt: skip
    if run.get("recipe") not in (None, "", name):
        kept = {key: value for key, value in kept.items() if key not in ("tuned", "before", "comparison", "best_of")}
    view.workspace.choose("run", kept)
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
    asked = _asked(view)
    for name in names:
        settings, learn = (asked["settings"], asked["learn"]) if len(names) == 1 else ({}, False)
        found = await view.ask("undeclared", limit=LOADING, recipe=name, settings=settings, learn=learn)
        if found is not None:
            columns = list(dict.fromkeys([*found["columns"], *found["lost"]]))
            raise InputError([Fault("domains", said.not_declared(columns, codes=found["codes"]))])


async def _require_reason(view: View, sent: Form) -> None:
    """A reason, where it is known that the release hands out rows of real people."""
    trial = _trial(view)
    known = trial.result if trial is not None and trial.state is State.DONE else None
    known = known or await view.ask("tried", remembered=True, **_asked(view))
    if known is not None and known["refused"] and not sent.text("allow_copies"):
        raise InputError([Fault("allow_copies", said.NEEDS_REASON)])


def _try(view: View) -> str:
    workspace = view.workspace
    folder = workspace.numbered("runs")
    schema = workspace.freeze(folder)
    asked = _asked(view)
    request = {
        **asked, "data": str(workspace.table), "schema": str(schema), "layout": workspace.project.layout, "stamp": _stamp(view),
    }  # fmt: skip
    command = commands.preflight(workspace, asked["recipe"], asked["settings"], asked["epsilon"], asked["unit"])
    title = said.title_tried(asked["recipe"])
    view.start(TRIED, request, title, folder=folder.name, like=asked["recipe"], command=command)
    return view.to("recipe", tried=1)


async def _start(view: View) -> str:
    """Put a release in the queue."""
    workspace, run, unit = view.workspace, _run(view), _unit(view)
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


def mark(view: View) -> Mark:
    """Done once a recipe is chosen."""
    return Mark.DONE if _run(view).get("recipe") else Mark.TODO


SCREEN = Screen(
    name="recipe",
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={"answer": answer, "choose": choose, "search": search, "settings": settings},
    pieces={"tried": tried},
    mark=mark,
)
