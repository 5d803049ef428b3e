"""What could somebody still do? The verdict of an audit with what would remove each alarm; attacks, people, and use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hushtable.report.html import Html, element, join
from hushtable.studio import commands, releases, words
from hushtable.studio.audits.attacks import attacks
from hushtable.studio.audits.people import people
from hushtable.studio.audits.use import use
from hushtable.studio.audits.verdict import verdict
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button, field, form, post_button, tick
from hushtable.studio.persons import persons, unsaid
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import audit as said
from hushtable.studio.words import persons as said_of_persons
from hushtable.studio.working import at_work, ended

BOTH = "both"
"""Who is tried by default: whoever knows the protected columns, and whoever knows everything."""
SHARE = 0.3
"""Set aside where a release is made again so that it can be attacked."""
EXPLORER = "explorer"
"""The screen that shows other levels of a generalized release."""


async def show(view: View) -> Shown:
    """The audit of the release that was asked for; what is at work, or how to begin, where there is none."""
    release = releases.picked(view)
    if release is None:
        return Shown(
            element("div", element("p", said.NONE_YET, class_="lead"), _link(said.TO_RUN, view.to("run")), class_="panel-box")
        )
    job = _asked(view, release)
    head = releases.choice(view, release)
    if job is None:
        return Shown(join(head, _other(view, release), await unsaid(view), _begin(view, release)))
    if job.state.open:
        return Shown(join(head, at_work(view, job)), job.command, title=words.percent(job.share), refresh=True)
    if job.state is not State.DONE:
        return Shown(join(head, _other(view, release), ended(view, job, said.ENDED[job.state])), job.command)
    return await _found(view, release, head)


def _asked(view: View, release: Job) -> Job | None:
    """The audit that the address names while it is at work or where it went wrong; else the one the verdict comes from."""
    named = next((job for job in releases.audits(view, release) if job.id == view.query.get("job")), None)
    return named if named is not None and named.state is not State.DONE else releases.main_audit(view, release)


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
    shown = {"people": people, "use": use}.get(view.query.get("tab", ""), attacks)
    stale = element("p", words.STALE, class_="caution") if view.studio.stale(release) else None
    whom = join(_other(view, release), await unsaid(view))
    content = join(head, stale, whom, verdict(view, main, judged), _tabs(view, release), await shown(view, release, main))
    command = commands.records(view.workspace, main.request) if shown is people else main.command
    return Shown(content, command)


def _tabs(view: View, release: Job) -> Html:
    """The parts as links; that of other levels is there where such a screen is, and the release was generalized."""
    # The list of screens has this one.
    from hushtable.studio.screens import SCREENS

    here = view.query.get("tab", "") if view.query.get("tab", "") in ("people", "use") else "attacks"
    run = release.folder.name
    links = [(said.ATTACKS, "attacks"), (said.PEOPLE, "people"), (said.USE, "use")]
    items = [
        element(
            "li",
            element("a", label, href=f"{view.to('audit', run=run, tab=tab)}#tabs", aria_current="page" if tab == here else None),
        )
        for label, tab in links
    ]
    explorer = next((screen for screen in SCREENS if screen.name == EXPLORER), None)
    if explorer is not None and "mapping.csv" in release.result["files"]:
        items.insert(2, element("li", element("a", said.LEVELS, href=view.to(explorer.name, run=run))))
    return element("nav", element("ul", items, class_="tabs"), aria_label=said.TABS, id="tabs")


def _link(label: str, target: str) -> Html:
    return element("a", label, href=target, class_="main")


def _release(view: View, form: Form) -> Job:
    """The release that a form is about; a fault where it has none to attack."""
    found = next((job for job in releases.released(view) if job.folder.name == form.get("run")), None)
    if found is None:
        form.fault("run", words.NO_SUCH_RUN)
        form.check()
    assert found is not None
    return found


def _person(view: View, release: Job) -> str | None:
    """The key of the release, or else what is said now."""
    by: str | None = ((release.request.get("options") or {}).get("unit") or {}).get("by")
    return by or persons(view.workspace).by


def _other(view: View, release: Job) -> Html | None:
    """That a release was made for other persons than are named now."""
    own = (release.request.get("options") or {}).get("unit") or {}
    if persons(view.workspace).by == own.get("by"):
        return None
    again = post_button(view, "anew", said_of_persons.ANEW, run=release.folder.name)
    return element("div", element("p", said_of_persons.OTHER), again, class_="caution")


def _request(view: View, release: Job, name: str, known: Sequence[str], form: Form) -> dict[str, Any]:
    rows = releases.sides(release)
    if rows is None:
        form.fault("", said.NO_CONTROL)
        form.check()
    assert rows is not None
    by = _person(view, release)
    return {
        **rows, "release": release.request["folder"], "schema": release.request["schema"], "out": str(release.folder / name),
        "known": list(known), "seed": 0, **({} if by is None else {"person": by}),
    }  # fmt: skip


async def start(view: View, form: Form) -> str:
    """Attack a release, as both attackers."""
    release = _release(view, form)
    gates = [text for part in form.get("gates", "").split(";") if (text := " ".join(part.split()))]
    request = _request(view, release, releases.MAIN, [BOTH], form) | {"gates": gates, "power": "power" in form}
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
    request = _request(view, release, name, columns, form) | {"only": main.result["knowing"]}
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
    options = {name: value for name, value in (old.request.get("options") or {}).items() if name != "unit"}
    unit = persons(view.workspace).unit
    request["options"] = options | ({"unit": unit} if unit else {})
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
    release = next(iter(releases.released(view)), None)
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
