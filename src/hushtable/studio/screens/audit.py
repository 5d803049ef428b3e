"""What could somebody still do? The verdict of an audit with what would remove each alarm; attacks, people, and use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Child, Html, element, join, table
from hushtable.studio import commands, releases, words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button, field, form, post_button, tick
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import audit as said
from hushtable.studio.words import run as said_of_run
from hushtable.studio.working import at_work, ended

BOTH = "both"
"""Who is tried by default: whoever knows the protected columns, and whoever knows everything."""
QUASI, ALL, CHOOSE = "quasi", "all", "choose"
SHARE = 0.3
"""Set aside where a release is made again so that it can be attacked."""
OWN = 12
"""So many attacks of a kind are shown; the others are folded away."""
EXPLORERS = ("explorer", "lattice")
"""What the screen may be called that shows other levels of a generalized release."""
READING = 60.0
"""Seconds in which both tables are read, when the first record is shown."""


async def show(view: View) -> Shown:
    """The audit of the release that was asked for; what is at work, or how to begin, where there is none."""
    release = releases.picked(view)
    if release is None:
        return Shown(
            element("div", element("p", said.NONE_YET, class_="lead"), _link(said.TO_RUN, view.to("run")), class_="panel-box")
        )
    job = _asked(view, release)
    head = _releases(view, release)
    if job is None:
        return Shown(join(head, _begin(view, release)))
    if job.state.open:
        return Shown(join(head, at_work(view, job)), job.command, title=words.percent(job.share), refresh=True)
    if job.state is not State.DONE:
        return Shown(join(head, ended(view, job, said.ENDED[job.state])), job.command)
    return await _found(view, release, head)


def _asked(view: View, release: Job) -> Job | None:
    """The audit that the address names while it is at work or where it went wrong; else the one the verdict comes from."""
    named = next((job for job in releases.audits(view, release) if job.id == view.query.get("job")), None)
    return named if named is not None and named.state is not State.DONE else releases.main_audit(view, release)


def _releases(view: View, release: Job) -> Html | None:
    known = releases.made(view)
    if len(known) < 2:
        return None
    options = [
        element("option", said.run(job.folder.name, job.title), value=job.folder.name, selected=job is release) for job in known
    ]
    return element(
        "form",
        element("label", said.RELEASE, for_="field-run"),
        element("select", options, id="field-run", name="run", data_submit=True),
        button(said.SHOW), method="get", action=view.to("audit"), class_="inline-fields",
    )  # fmt: skip


def _begin(view: View, release: Job) -> Html:
    """The form that starts an audit; without rows that were set aside, what to do about it."""
    if releases.sides(release) is None:
        return element(
            "div",
            element("p", said.NO_CONTROL, class_="lead"),
            element("p", said.NO_CONTROL_WHY),
            element("p", said.NO_CONTROL_COST, class_="caution"),
            post_button(view, "anew", said.ANEW, main=True, run=release.folder.name),
            class_="panel-box",
        )
    more = element(
        "details",
        element("summary", said.MORE),
        element(
            "div",
            field(view, "gates", said.CONDITIONS, "", hint=said.CONDITIONS_HINT),
            tick(view, "power", said.POWER, hint=said.POWER_HINT),
            class_="knob-fields",
        ),
        open=bool(view.faults),
    )
    return element(
        "div",
        element("p", said.LEAD, class_="lead"),
        element("p", said.TAKES, class_="soft"),
        form(
            view, "start", element("input", type="hidden", name="run", value=release.folder.name), more,
            button(said.START, main=True), class_="fields",
        ),
        class_="panel-box",
    )  # fmt: skip


async def _found(view: View, release: Job, head: Html | None) -> Shown:
    main = releases.main_audit(view, release)
    assert main is not None
    judged = await view.ask("judgement", audit=main.request["out"])
    shown = {"people": _people, "use": _use}.get(view.query.get("tab", ""), _attacks)
    stale = element("p", words.STALE, class_="caution") if view.studio.stale(release) else None
    content = join(head, stale, _verdict(view, main, judged), _tabs(view, release), await shown(view, release, main))
    command = commands.records(view.workspace, main.request) if shown is _people else main.command
    return Shown(content, command)


def _verdict(view: View, job: Job, judged: Mapping[str, Any]) -> Html:
    last = judged["answer"]
    decided = element(
        "div",
        element("p", element("span", last["shape"], aria_hidden="true"), f" {last['figure']}", class_="value"),
        element("p", last["text"]),
        class_=f"decided {last['tone']}",
    )
    why = [element("h2", said.WHY), element("ul", [element("li", line) for line in last["reasons"]])] if last["reasons"] else None
    links = element(
        "div",
        element(
            "a", said.REPORT, href=view.file(job, f"{job.name}/audit.html"), target="_blank", rel="noopener", class_="plain-button"
        ),
        _link(said.TO_PUBLISH, view.to("publish", run=job.folder.name)),
        class_="buttons",
    )
    return join(
        decided,
        _causes(view, judged["causes"]),
        element("details", element("summary", said.WHY), element("div", why[1:], class_="reasons")) if why else None,
        element("div", [_answer(one) for one in judged["others"]], class_="answers"),
        [_gate(one) for one in judged["gates"]],
        [element("p", line, class_="caution") for line in judged["cautions"]],
        element("p", " · ".join(judged["counted"]), class_="soft"),
        element("p", said.APART, class_="soft"),
        links,
    )


def _causes(view: View, causes: Sequence[Mapping[str, Any]]) -> Html | None:
    if not causes:
        return None
    known = view.workspace.roles()
    items = []
    for cause in causes:
        columns = [name for name in cause["columns"] if name in known]
        alarms = element("ul", [element("li", label) for label in cause["alarms"]])
        items.append(
            element(
                "li",
                element("p", element("strong", cause["why"])),
                element("p", cause["remedy"]),
                element("details", element("summary", said.what_it_explains(len(cause["alarms"]))), alarms) if cause["alarms"] else None,
                element("p", element("a", f"{said.TO_COLUMNS}: {said.few(columns)}", href=view.to("columns"))) if columns else None,
            )
        )  # fmt: skip
    return element(
        "section",
        element("h2", said.TO_REMOVE),
        element("p", said.TO_REMOVE_WHAT, class_="soft"),
        element("ul", items, class_="to-remove"),
    )


def _answer(answer: Mapping[str, str]) -> Html:
    mark = element("strong", element("span", answer["shape"], aria_hidden="true"), f" {answer['mark']}", class_="badge")
    return element(
        "article",
        element("h3", answer["question"]),
        element("p", answer["figure"], class_="value words"),
        element("p", answer["text"], class_="explained"),
        element("p", mark) if answer["mark"] else None,
        class_=answer["tone"],
    )


def _gate(gate: Mapping[str, Any]) -> Html:
    head, tone = (said.CONDITION_HOLDS, "calm") if gate["holds"] else (said.CONDITION_FAILS, "alarm")
    return element(
        "p", element("strong", head, class_="badge"), " ", element("code", gate["expression"]), f" {gate['reason']}", class_=tone
    )


def _tabs(view: View, release: Job) -> Html:
    """The parts as links; that of other levels is there where such a screen is, and the release was generalized."""
    # The list of screens has this one.
    from hushtable.studio.screens import SCREENS

    here = view.query.get("tab", "") if view.query.get("tab", "") in ("people", "use") else "attacks"
    run = release.folder.name
    links = [(said.ATTACKS, "attacks"), (said.PEOPLE, "people"), (said.USE, "use")]
    items = [
        element("li", element("a", label, href=view.to("audit", run=run, tab=tab), aria_current="page" if tab == here else None))
        for label, tab in links
    ]
    explorer = next((screen for screen in SCREENS if screen.name in EXPLORERS), None)
    if explorer is not None and "mapping.csv" in release.result["files"]:
        items.insert(2, element("li", element("a", said.LEVELS, href=view.to(explorer.name, run=run))))
    return element("nav", element("ul", items, class_="tabs"), aria_label=said.TABS, id="tabs")


async def _attacks(view: View, release: Job, main: Job) -> Html:
    others = [job for job in releases.audits(view, release) if job.name != releases.MAIN]
    known = view.query.get("known", QUASI)
    chosen = next((job for job in others if job.name == known and job.state is State.DONE), None)
    if chosen is not None:
        found = await view.ask("attacks", audit=chosen.request["out"], known="")
        lead = said.few(chosen.request["known"])
    else:
        known = known if known in (QUASI, ALL, CHOOSE) else QUASI
        found = await view.ask("attacks", audit=main.request["out"], known=ALL if known == CHOOSE else known)
        if known == QUASI and QUASI not in found["known"] and "known" not in view.query:
            # Nobody chose: whoever was tried is shown.
            known = ALL
            found = await view.ask("attacks", audit=main.request["out"], known=ALL)
        lead = said.KNOWN_QUASI_WHAT if known == QUASI else said.KNOWN_ALL_WHAT
    parts: list[Child] = [_switch(view, release, known if chosen is None else CHOOSE)]
    if known == CHOOSE or chosen is not None:
        parts.append(_choose(view, release, others, chosen))
    if known != CHOOSE:
        tried = chosen is not None or known in found["known"]
        untried = None if tried else element("p", f"{said.NOT_TRIED} {found['untried']}".strip(), class_="caution")
        parts += [element("p", lead, class_="soft"), untried]
        parts += (
            [join(element("p", said.HITS, class_="soft"), [_kind(kind, found["nearly"]) for kind in found["kinds"]])]
            if tried
            else []
        )
    return element("div", parts, id="attacks", class_="tab")


def _switch(view: View, release: Job, here: str) -> Html:
    items = [
        element(
            "li",
            element(
                "a", label, href=view.to("audit", run=release.folder.name, tab="attacks", known=name),
                aria_current="true" if name == here else None,
            ),
        )
        for name, label in said.KNOWN.items()
    ]  # fmt: skip
    return element(
        "div", element("p", said.KNOWS, id="knows", class_="switch-label"), element("ul", items, class_="segments", aria_labelledby="knows"),
        class_="known",
    )  # fmt: skip


def _choose(view: View, release: Job, others: Sequence[Job], chosen: Job | None) -> Html:
    held = set(chosen.request["known"]) if chosen is not None else set(view.typed.all("column"))
    dropped = set(release.result["dropped"])
    boxes = [
        element(
            "label", element("input", type="checkbox", name="column", value=name, checked=name in held), element("span", name),
            class_="box",
        )
        for name, role in view.workspace.roles().items() if name not in dropped and role != "identifier"
    ]  # fmt: skip
    before = [
        element(
            "li",
            element(
                "a", said.few(job.request["known"]),
                href=view.to("audit", run=release.folder.name, tab="attacks", known=job.name) if job.state is State.DONE
                else view.to("audit", run=release.folder.name, job=job.id),
                aria_current="true" if job is chosen else None,
            ),
            None if job.state is State.DONE else f" ({said_of_run.STATES[job.state]})",
        )
        for job in others
    ]  # fmt: skip
    fault = view.fault("column")
    fields = element(
        "fieldset",
        element("legend", said.CHOOSE),
        element("p", said.CHOOSE_HINT, class_="hint"),
        element("p", fault, class_="fault", id="fault-column") if fault else None,
        element("div", boxes, class_="boxes", id="field-column", tabindex=0, role="group", aria_label=said.CHOOSE),
        class_="field",
    )
    asked = element(
        "details",
        element("summary", said.CHOOSE),
        form(
            view, "choose", element("input", type="hidden", name="run", value=release.folder.name), fields,
            button(said.RUN_CHOSEN, main=True), class_="fields",
        ),
        open=chosen is None,
    )  # fmt: skip
    return join(
        element("div", element("p", said.CHOSEN_BEFORE, class_="eyebrow"), element("ul", before, class_="plain"))
        if before
        else None,
        asked,
    )


def _kind(kind: Mapping[str, Any], nearly: float) -> Html:
    own, general = kind["own"], kind["general"]
    if not kind["tried"]:
        body: Html = element("p", said.NO_ATTACK, class_="soft")
    else:
        body = join(
            element("p", said.worse(kind["worse"], kind["tried"])),
            element("figure", Html(kind["chart"]), class_="attack-chart") if kind["chart"] else None,
            _attack_table(own[:OWN], kind["title"]) if own else None,
            element("details", element("summary", said.more_attacks(len(own) - OWN)), _attack_table(own[OWN:], kind["title"]))
            if len(own) > OWN else None,
            element(
                "details",
                element("summary", said.general(len(general))),
                element("p", said.general_what(words.percent(nearly)), class_="soft"),
                _attack_table(general, said.general(len(general))),
                open=kind["alarming"], class_="apart",
            )
            if general else None,
        )  # fmt: skip
    uncomputed = element("p", said.uncomputed(kind["uncomputed"]), class_="soft") if kind["uncomputed"] else None
    return element("section", element("h2", kind["title"]), element("p", kind["law"], class_="soft"), body, uncomputed)


def _attack_table(lines: Sequence[Mapping[str, Any]], label: str) -> Html:
    heads = [said.ATTACK, said.INSIDE, said.OUTSIDE, said.DIFFERENCE, said.INTERVAL, said.MEANING]
    rows = [
        [_judged(line, line["label"]), line["inside"], line["outside"], line["gain"], line["between"], line["note"]]
        for line in lines
    ]
    return table(heads, rows, label=label, numbers=range(1, 5), sortable=False, class_="findings judged")


def _judged(line: Mapping[str, Any], name: str) -> Html:
    shape = element("span", line["shape"], aria_hidden="true")
    return join(element("span", name), element("span", shape, f" {line['verdict']}", class_=f"verdict {line['tone']}"))


async def _people(view: View, release: Job, main: Job) -> Html:
    number = view.query.get("group", "")
    group, start = int(number) if number.isdigit() else None, view.query.get("start", "")
    found = await view.ask(
        "people", audit=main.request["out"], group=group, start=int(start) if start.isdigit() and len(start) < 9 else 0
    )  # fmt: skip
    run = release.folder.name
    groups = [
        element(
            "option",
            said.group(one["column"], one["level"], one["count"], alarm=one["alarm"]), value=str(place), selected=place == group,
        )
        for place, one in enumerate(found["groups"])
    ]  # fmt: skip
    pick = element(
        "form",
        element("input", type="hidden", name="run", value=run),
        element("input", type="hidden", name="tab", value="people"),
        element("label", said.GROUP, for_="field-group"),
        element("select", element("option", said.EVERYBODY, value=""), groups, id="field-group", name="group", data_submit=True),
        button(said.SHOW), method="get", action=view.to("audit"), class_="inline-fields",
    ) if groups else None  # fmt: skip
    if not found["records"]:
        return element("div", pick, element("p", said.NO_PEOPLE), id="people", class_="tab")
    lines = [
        said.tail(one["people"], words.percent(one["above"]), round(one["chance"])) for one in found["at_risk"]
    ]  # fmt: skip
    records = [await _record(view, main, record) for record in found["records"]]
    return element(
        "div",
        element("p", said.tails(found["people"], lines)) if lines else None,
        element("p", said.PEOPLE_WHAT, class_="soft"),
        element("p", said.LOGGED, class_="soft"),
        pick,
        element("ol", records, class_="records-list"),
        _pages(view, run, found, group),
        id="people", class_="tab",
    )  # fmt: skip


def _pages(view: View, run: str, found: Mapping[str, Any], group: int | None) -> Html | None:
    size, start, of = len(found["records"]), found["start"], found["of"]
    if size == of:
        return None

    def to(at: int, label: str) -> Html:
        return element("a", label, href=view.to("audit", run=run, tab="people", group=group, start=at), class_="plain-button")

    before = to(max(0, start - 20), said.EARLIER) if start else None
    after = to(start + size, said.LATER) if start + size < of else None
    return element(
        "nav",
        before,
        element("span", said.page(start + 1, start + size, of)),
        after,
        class_="buttons",
        aria_label=said.PEOPLE_PAGES,
    )


async def _record(view: View, main: Job, record: Mapping[str, Any]) -> Html:
    row, pairs = int(record["row"]), record["pairs"]
    open_ = (main.id, row) in view.studio.revealed
    if open_ and pairs:
        own = {name: main.request[name] for name in ("train", "release", "schema")}
        pairs = await view.ask("person", limit=READING, audit=main.request["out"], row=row, **own)
    weak = f" ({said.PERHAPS})" if record["weak"] else ""
    head = element(
        "div",
        element("h3", said.row(row)),
        element("p", said.risk(words.percent(record["risk"]), len(record["attacks"])) + weak, class_="soft"),
        _show_button(view, main, row, shown=open_) if pairs else None,
        class_="record-head",
    )
    if pairs is None:
        body: Child = element("p", said.NOT_IN_MEMORY, class_="soft")
    elif not pairs:
        body = element("p", said.NO_PAIR, class_="soft")
    else:
        body = [_pair(pair, row) for pair in pairs]
    more = element("p", said.more_pairs(record["more"]), class_="soft") if record.get("more") else None
    return element("li", head, body, more, id=f"record-{row}", class_="record shown" if open_ else "record")


def _show_button(view: View, main: Job, row: int, *, shown: bool) -> Html:
    name, label = ("hide", said.HIDE_VALUES) if shown else ("show", said.SHOW_VALUES)
    hidden = [
        element("input", type="hidden", name=key, value=value)
        for key, value in (
            ("run", main.folder.name), ("row", str(row)), ("group", view.query.get("group", "")), ("start", view.query.get("start", "")),
        )
    ]  # fmt: skip
    own = button(label, id=f"show-{row}", aria_label=f"{label} {said.show_row(row)}")
    return form(view, name, hidden, own, region=f"record-{row}", class_="inline")


def _pair(pair: Mapping[str, Any], row: int) -> Html:
    heads = [said.COLUMN, said.HERS, said.THEIRS, said.AGREES]
    lines = [
        element(
            "tr",
            element("th", side["column"], scope="row"),
            element("td", _value(side["ours"]), data_label=said.HERS),
            element("td", _value(side["theirs"]), data_label=said.THEIRS),
            element("td", element("span", "= " if side["agrees"] else "", aria_hidden="true"), said.AGREEMENT[side["agreement"]], data_label=said.AGREES),
            class_="agrees" if side["agrees"] else None,
        )
        for side in pair["sides"]
    ]  # fmt: skip
    label = said.released(pair["released"], pair["agreeing"], pair["attacks"])
    drawn = element(
        "table", element("caption", f"{said.row(row)}: {label}", class_="unseen"),
        element("thead", element("tr", [element("th", head, scope="col") for head in heads])), element("tbody", lines), class_="beside",
    )  # fmt: skip
    return element(
        "details",
        element("summary", label),
        element("div", drawn, class_="scroll", tabindex=0, role="region", aria_label=f"{said.row(row)}: {label}"),
        element("p", said.more_columns(pair["more"]), class_="soft") if pair["more"] else None,
    )


def _value(text: str | None) -> Html:
    return element("code", text) if text is not None else element("span", said.MISSING, class_="soft")


async def _use(view: View, release: Job, main: Job) -> Html:
    found = await view.ask("use", audit=main.request["out"])
    return element("div", element("p", said.USE_WHAT), [_measured(page) for page in found], id="use", class_="tab")


def _measured(page: Mapping[str, Any]) -> Html:
    parts: list[Child] = [element("h2", said.USE_TITLES[page["anchor"]]), element("p", page["lead"], class_="soft")]
    if not page["whole"] and not page["parts"]:
        return element("section", parts, element("p", said.NOTHING_MEASURED, class_="soft"))
    if page["parts"]:
        rows = [
            [_judged(one, one["of"]), one["name"], one["value"], said.fresh(one["fresh"]), one["between"], one["direction"]]
            for one in page["parts"]
        ]
        heads = [page["scope"], said.MEASURE_ALONE, said.RELEASED, said.FRESH, said.INTERVAL, said.DIRECTION]
        drawn = table(heads, rows, label=said.one_by_one(page["scope"]), numbers=(2, 3), sortable=False, class_="findings judged")
        parts += [drawn, element("p", said.more_parts(page["more"]), class_="soft") if page["more"] else None]
    if page["whole"]:
        rows = [
            [_judged(one, one["name"]), one["value"], said.fresh(one["fresh"]), one["between"], one["meaning"]]
            for one in page["whole"]
        ]
        heads = [said.MEASURE, said.RELEASED, said.FRESH, said.INTERVAL, said.MEANING]
        whole = table(heads, rows, label=said.AS_A_WHOLE, numbers=(1, 2), sortable=False, class_="findings judged")
        parts.append(element("details", element("summary", said.AS_A_WHOLE), whole) if page["parts"] else whole)
    parts += [Html(drawn) for drawn in page["drawn"]]
    return element("section", parts)


def _link(label: str, target: str) -> Html:
    return element("a", label, href=target, class_="main")


def _release(view: View, form: Form) -> Job:
    """The release that a form is about; a fault where it has none to attack."""
    found = next((job for job in releases.made(view) if job.folder.name == form.get("run")), None)
    if found is None:
        form.fault("run", words.NO_SUCH_RUN)
        form.check()
    assert found is not None
    return found


def _request(release: Job, name: str, known: Sequence[str], form: Form) -> dict[str, Any]:
    rows = releases.sides(release)
    if rows is None:
        form.fault("", said.NO_CONTROL)
        form.check()
    assert rows is not None
    return {
        **rows, "release": release.request["folder"], "schema": release.request["schema"], "out": str(release.folder / name),
        "known": list(known), "seed": 0,
    }  # fmt: skip


async def start(view: View, form: Form) -> str:
    """Attack a release, as both attackers."""
    release = _release(view, form)
    gates = [text for part in form.get("gates", "").split(";") if (text := " ".join(part.split()))]
    request = _request(release, releases.MAIN, [BOTH], form) | {"gates": gates, "power": "power" in form}
    return _start(view, release, releases.MAIN, request)


async def choose(view: View, form: Form) -> str:
    """Run again what depends on what the attacker knows, for one who knows some columns."""
    release = _release(view, form)
    known = view.workspace.roles()
    columns = [name for name in dict.fromkeys(form.all("column")) if name in known]
    if not columns:
        form.fault("column", said.NO_COLUMNS)
    main = releases.audited(view, release)
    if main is None:
        form.fault("run", words.NO_SUCH_RUN)
    form.check()
    assert main is not None
    same = [job for job in releases.audits(view, release) if job.request["known"] == columns and job.name != releases.MAIN]
    if done := next((job for job in same if job.state is State.DONE), None):
        return view.to("audit", run=release.folder.name, tab="attacks", known=done.name)
    name = same[0].name if same else releases.free(release.folder, releases.MAIN)
    request = _request(release, name, columns, form) | {"only": main.result["knowing"]}
    return _start(view, release, name, request, columns)


def _start(view: View, release: Job, name: str, request: dict[str, Any], known: Sequence[str] = ()) -> str:
    command = commands.audit(view.workspace, request)
    recipe = str(release.request["recipe"])
    job = view.start(
        releases.AUDIT, request, said.title(recipe, known), folder=release.folder.name, name=name, like=name, command=command
    )
    view.journal(said.started(release.folder.name, known), command=command)
    return view.to("audit", run=release.folder.name, job=job.id)


async def anew(view: View, form: Form) -> str:
    """The same release once more, with rows set aside."""
    old = _release(view, form)
    folder = view.workspace.numbered("runs")
    request = {**old.request, "folder": str(folder / "release"), "hold_out": SHARE}
    command = commands.release(view.workspace, request)
    view.journal(said.anew(old.folder.name, folder.name), command=command)
    job = view.start(releases.RELEASE, request, old.title, folder=folder.name, like=old.like, command=command)
    view.workspace.choose("run", {**view.workspace.chosen("run"), "hold_out": SHARE})
    return view.to("run", job=job.id)


async def reveal(view: View, form: Form) -> str:
    """Show the values of one record; that is noted before they are."""
    main, row = _row(view, form)
    if (main.id, row) not in view.studio.revealed:
        view.journal(said.shown(main.folder.name, row))
        view.studio.revealed.add((main.id, row))
    return _back(view, form)


async def hide(view: View, form: Form) -> str:
    """Mask them again."""
    main, row = _row(view, form)
    view.studio.revealed.discard((main.id, row))
    return _back(view, form)


def _row(view: View, form: Form) -> tuple[Job, int]:
    main = releases.audited(view, _release(view, form))
    row = form.whole("row", 1)
    if main is None or row is None:
        form.fault("row", words.NO_SUCH_RUN)
    form.check()
    assert main is not None
    assert row is not None
    return main, row


def _back(view: View, form: Form) -> str:
    return view.to("audit", run=form["run"], tab="people", group=form.get("group"), start=form.get("start"))


async def cancel(view: View, form: Form) -> str:
    """End an audit."""
    if view.studio.jobs is not None:
        await view.studio.jobs.cancel(form.get("job", ""))
    return view.to("audit", job=form.get("job", ""), run=_run_of(view, form))


async def again(view: View, form: Form) -> str:
    """The same audit once more."""
    assert view.studio.jobs is not None
    job = view.studio.jobs.again(form.get("job", ""))
    return view.to("audit", job=job.id, run=job.folder.name)


def _run_of(view: View, form: Form) -> str:
    assert view.studio.jobs is not None
    return view.studio.jobs.find(form.get("job", "")).folder.name


def mark(view: View) -> Mark:
    """How the audit of the latest release stands."""
    release = next(iter(releases.made(view)), None)
    job = None if release is None else releases.main_audit(view, release)
    if release is None or job is None or job.state.open:
        return Mark.TODO
    if job.state is not State.DONE:
        return Mark.ATTENTION
    if view.studio.stale(release):
        return Mark.STALE
    return Mark.DONE if job.result["clear"] else Mark.ATTENTION


SCREEN = Screen(
    name="audit",
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={
        "start": start, "choose": choose, "anew": anew, "show": reveal, "hide": hide, "cancel": cancel, "again": again,
    },
    mark=mark,
)  # fmt: skip
