"""May it go out? A checklist that fills itself, what its card says of the data, and the zip with the command of its recipient."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.studio import commands, releases, words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button, field, form, post_button
from hushtable.studio.persons import unsaid
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import publish as said
from hushtable.studio.worker import TooLong
from hushtable.studio.working import at_work, ended

VERB, CHECK = "publish", "check"
ABOUT = ("title", "contact", "licence", "purpose")
DESCRIBED = "described"
"""The item that the form settles."""
AUDITED = ("audited", "audit counts", "decision")
"""The items that an audit settles."""


async def show(view: View) -> Shown:
    """What speaks against it, and the form; what is at work; or what was published."""
    release = releases.picked(view)
    if release is None:
        link = element("a", said.TO_RUN, href=view.to("run"), class_="main")
        return Shown(element("div", element("p", said.NONE_YET, class_="lead"), link, class_="panel-box"))
    job = next((job for job in _jobs(view, release) if job.id == view.query.get("job")), None)
    if job is None and "new" not in view.query and not view.faults:
        job = next((job for job in _jobs(view, release) if job.verb == VERB and job.state in (State.DONE, State.RUNNING)), None)
    head = releases.choice(view, release)
    if job is not None and job.state.open:
        return Shown(join(head, at_work(view, job)), job.command, title=words.percent(job.share), refresh=True)
    if job is not None and job.state is not State.DONE and not view.faults:
        return Shown(join(head, ended(view, job, said.ENDED[job.state])), job.command)
    if job is not None and job.verb == VERB and not view.faults:
        return Shown(join(head, _published(view, job)), job.command)
    return await _form(view, release, head)


def _jobs(view: View, release: Job) -> list[Job]:
    known = view.studio.jobs.latest() if view.studio.jobs is not None else ()
    return [job for job in known if job.verb in (VERB, CHECK) and job.folder == release.folder]


async def _form(view: View, release: Job, head: Html | None) -> Shown:
    about = _about(view, release)
    found = await view.ask("card", release=release.request["folder"], about=about)
    filled = {name: about.get(name) or found["about"][name] for name in ABOUT}
    listed = await _checked(view, release, filled)
    request = _request(view, release, filled, "", "", releases.free(release.folder, _name(view, release), ("", ".zip")))
    content = join(
        head,
        element("p", words.STALE, class_="caution") if view.studio.stale(release) else None,
        element(
            "div",
            element(
                "div",
                await unsaid(view),
                _checklist(view, release, listed),
                _fields(view, release, filled, found["date"], listed),
                _files(found["files"], said.FILES_CHANGE),
            ),
            element("section", element("h2", said.CARD), _card(found), id="card", class_="reader"),
            class_="publish",
        ),
        _before(view, release),
    )
    return Shown(content, commands.publish(view.workspace, request))


def _about(view: View, release: Job) -> dict[str, str]:
    """What was typed, or else what was kept for this table."""
    chosen = view.workspace.chosen("publish")
    return {name: view.value(name, chosen.get(name, "")) for name in ABOUT}


async def _checked(view: View, release: Job, about: Mapping[str, str]) -> dict[str, Any] | None:
    """The list as it is now; where that takes too long, as a job found it; None where none was asked yet."""
    try:
        found: dict[str, Any] = await view.ask("checklist", **_checked_of(view, release), about=dict(about))
    except TooLong:
        job = next((job for job in _jobs(view, release) if job.verb == CHECK and job.state is State.DONE), None)
        return None if job is None else job.result | {"by_job": True}
    return found


def _checked_of(view: View, release: Job) -> dict[str, Any]:
    audit = releases.audited(view, release)
    return {
        "release": release.request["folder"], "audit": None if audit is None else audit.request["out"],
        "source": [str(view.workspace.table), release.table],
    }  # fmt: skip


def _checklist(view: View, release: Job, listed: Mapping[str, Any] | None) -> Html:
    run = release.folder.name
    if listed is None:
        return element(
            "section", element("h2", said.CHECKLIST), element("p", said.TOO_LONG),
            post_button(view, "check", said.CHECK_AS_JOB, run=run), id="checklist",
        )  # fmt: skip
    items = []
    for check in listed["checks"]:
        state, reasons = check["state"], check["reasons"]
        sign = element("span", said.SIGNS[state], class_="sign", aria_hidden="true")
        why = element("ul", [element("li", reason) for reason in reasons], class_="plain soft") if reasons else None
        label = element("p", said.ITEMS[check["item"]], element("span", f" ({said.STATES[state]})", class_="soft"))
        items.append(element("li", sign, element("div", label, why), class_=f"check {state}"))
    if listed["refused"]:
        lead = said.REFUSED
    else:
        undescribed = any(check["item"] == DESCRIBED and check["state"] != "holds" for check in listed["checks"])
        lead = said.ANSWERABLE if listed["answerable"] else said.TO_DESCRIBE if undescribed else said.READY
    unsettled = any(check["item"] in AUDITED and check["state"] != "holds" for check in listed["checks"])
    link = said.TO_AUDIT if releases.audited(view, release) is None else said.TO_VERDICT
    return element(
        "section",
        element("h2", said.CHECKLIST),
        element("p", said.CHECKED, class_="soft") if listed.get("by_job") else None,
        element("p", lead, class_="lead"),
        element("ul", items, class_="checks"),
        element("p", element("a", link, href=view.to("audit", run=run), class_="plain-button")) if unsettled else None,
        id="checklist",
    )


def _fields(view: View, release: Job, filled: Mapping[str, str], date: str, listed: Mapping[str, Any] | None) -> Html:
    named = {
        "title": (said.TITLE, said.TITLE_HINT), "contact": (said.CONTACT, said.CONTACT_HINT),
        "licence": (said.LICENCE, said.LICENCE_HINT), "purpose": (said.PURPOSE, said.PURPOSE_HINT),
    }  # fmt: skip
    fields: list[Child] = [
        field(view, name, label, filled[name], hint=hint, maxlength=500) for name, (label, hint) in named.items()
    ]
    fields.append(pairs([(said.DATE, date or said.NO_DATE)]))
    answerable = listed is None or bool(listed["answerable"])
    if answerable:
        fields.append(
            element(
                "fieldset",
                element("legend", said.ANSWER),
                field(view, "by", said.BY, "", hint=said.BY_HINT, maxlength=200),
                field(view, "reason", said.REASON, "", hint=said.REASON_HINT, maxlength=1000),
                class_="field answer",
            )
        )
    refused = listed is not None and bool(listed["refused"])
    buttons = [
        button(said.SEE, name="do", value="see"),
        None if refused else button(said.PUBLISH, main=True, name="do", value="publish"),
    ]
    hidden = element("input", type="hidden", name="run", value=release.folder.name)
    return element(
        "section",
        element("h2", said.ABOUT),
        form(view, "publish", hidden, fields, element("div", buttons, class_="buttons"), class_="fields"),
    )


def _card(found: Mapping[str, Any]) -> Html:
    parts = [element("h3", title, class_="card-part") if body else None for title, body in found["parts"]]
    bodies = [Html(body) for _, body in found["parts"]]
    inner = [join(title, body) for title, body in zip(parts, bodies, strict=True)]
    return element("div", Html(found["head"]), inner, class_="card-preview", tabindex=0, role="region", aria_label=said.CARD)


def _files(files: Sequence[Sequence[Any]], change: str = "") -> Html:
    rows = [
        [name, said.size(size), element("code", digest, class_="hash") if digest else said.ITSELF] for name, size, digest in files
    ]
    return element(
        "section",
        element("h2", said.FILES),
        element("p", said.FILES_WHAT, " ", change, class_="soft"),
        table([said.FILE, said.SIZE, said.HASH], rows, label=said.FILES, sortable=False, class_="file-list"),
    )


def _published(view: View, job: Job) -> Html:
    found, request = job.result, job.request
    stale = element("p", words.STALE, class_="caution") if view.studio.stale(job) else None
    unchecked = element("ul", [element("li", line) for line in found["unchecked"]]) if found["unchecked"] else None
    folder = view.workspace.relative(view.workspace.folder / "runs" / job.folder.name)
    facts: list[tuple[Child, Child]] = [
        (said.WHERE, element("code", f"{folder}/{found['zip']}")),
        (said.ZIP_HASH, element("code", found["sha256"], class_="hash")),
    ]
    facts += [(said.ANSWERED, said.answered(request["by"], request["reason"]))] if request["by"] else []
    own = request["out"].rpartition("/")[2]
    links = element(
        "div",
        element(
            "a",
            said.DOWNLOAD,
            href=view.to(f"bundle/{view.studio.result(job, found['zip'])}"),
            class_="main",
            download=found["zip"],
        ),
        element(
            "a", said.OPEN_CARD, href=view.file(job, f"{own}/card.html"), target="_blank", rel="noopener", class_="plain-button"
        ),
        element("a", said.AGAIN, href=view.to("publish", run=job.folder.name, new=1), class_="plain-button"),
        class_="buttons",
    )
    command = element(
        "pre", element("code", shlex.join(["hush", "verify", found["zip"]])), tabindex=0, role="region", aria_label=said.RECIPIENT
    )
    return join(
        element(
            "div",
            element("p", said.PUBLISHED, class_="lead"),
            stale,
            element("p", said.VERIFIED_BUT if unchecked else said.VERIFIED),
            unchecked,
            pairs(facts),
            element("div", element("p", said.RECIPIENT, class_="eyebrow"), command),
            links,
            class_="panel-box",
        ),
        _files(found["files"]),
    )


def _before(view: View, release: Job) -> Html | None:
    done = [job for job in _jobs(view, release) if job.verb == VERB and job.state is State.DONE]
    if not done:
        return None
    items = [
        element("li", element("a", job.result["zip"], href=view.to("publish", run=release.folder.name, job=job.id))) for job in done
    ]
    return element("section", element("h2", said.BEFORE), element("ul", items))


def _name(view: View, release: Job) -> str:
    """What the folder and the zip are called: the table, and the number of the run."""
    return f"{view.workspace.name}-{release.folder.name}"


def _request(view: View, release: Job, about: Mapping[str, str], by: str, reason: str, name: str) -> dict[str, Any]:
    own = _checked_of(view, release)
    return {
        "release": own["release"], "audit": own["audit"], "source": own["source"][0], "digest": own["source"][1],
        "about": dict(about), "by": by, "reason": reason,
        "out": str(release.folder / name), "zip": str(release.folder / f"{name}.zip"),
    }  # fmt: skip


async def publish(view: View, form: Form) -> str:
    """Keep what is said of the data; and publish it, unless only the card was to be seen."""
    release = _release(view, form)
    about = {name: form.text(name) for name in ABOUT}
    view.workspace.choose("publish", about)
    if form.get("do") != "publish":
        return view.to("publish", run=release.folder.name, new=1)
    for name in ABOUT:
        form.text(name, required=said.LACKING[name])
    by, reason = form.text("by"), form.text("reason")
    listed = await _checked(view, release, about)
    if listed is not None and listed["refused"]:
        form.fault("", said.REFUSED)
    if listed is None or listed["answerable"]:
        form.text("by", required=said.LACKING["by"])
        form.text("reason", required=said.LACKING["reason"])
    form.check()
    name = releases.free(release.folder, _name(view, release), ("", ".zip"))
    request = _request(view, release, about, by, reason, name)
    command = commands.publish(view.workspace, request)
    job = view.start(
        VERB, request, said.title(str(release.request["recipe"])), folder=release.folder.name, name=name, command=command
    )
    view.journal(said.started(release.folder.name, by), reason, command)
    return view.to("publish", run=release.folder.name, job=job.id)


async def check(view: View, form: Form) -> str:
    """Check a release as a job."""
    release = _release(view, form)
    request = _request(view, release, _about(view, release), "", "", "")
    job = view.start(CHECK, request, said.checking(str(release.request["recipe"])), folder=release.folder.name, name=CHECK)
    return view.to("publish", run=release.folder.name, job=job.id)


def _release(view: View, form: Form) -> Job:
    found = next((job for job in releases.released(view) if job.folder.name == form.get("run")), None)
    if found is None:
        form.fault("run", words.NO_SUCH_RUN)
        form.check()
    assert found is not None
    return found


async def cancel(view: View, form: Form) -> str:
    """End a job."""
    assert view.studio.jobs is not None
    job = view.studio.jobs.find(form.get("job", ""))
    await view.studio.jobs.cancel(job.id)
    return view.to("publish", run=job.folder.name, job=job.id)


async def again(view: View, form: Form) -> str:
    """The same once more."""
    assert view.studio.jobs is not None
    job = view.studio.jobs.again(form.get("job", ""))
    return view.to("publish", run=job.folder.name, job=job.id)


def mark(view: View) -> Mark:
    """Done once the latest release was published."""
    release = next(iter(releases.released(view)), None)
    if release is None:
        return Mark.TODO
    jobs = [job for job in _jobs(view, release) if job.verb == VERB]
    done = next((job for job in jobs if job.state is State.DONE), None)
    if done is not None:
        return Mark.STALE if view.studio.stale(done) else Mark.DONE
    return Mark.ATTENTION if any(job.state is State.FAILED for job in jobs) else Mark.TODO


SCREEN = Screen(
    name="publish",
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={"publish": publish, "check": check, "cancel": cancel, "again": again},
    mark=mark,
)
