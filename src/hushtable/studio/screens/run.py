"""Is it done? A release of a recipe: what is at work, how far it is, and what came of it."""

from __future__ import annotations

import json

from hushtable.errors import InputError
from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.studio import words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import post_button
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import run as said
from hushtable.studio.working import at_work

VERBS = ("release", "preflight")
"""The jobs that are shown here."""


async def show(view: View) -> Shown:
    """The job that is at work or was looked at; below it all runs."""
    jobs = view.studio.jobs
    asked = view.query.get("job", "")
    job = jobs.find(asked) if jobs is not None and asked else next(iter(_releases(view)), None)
    if job is not None:
        title = words.percent(job.share) if job.state.open else ""
        parts = [_job(view, job), _runs(view, job)]
        return Shown(join(parts), job.command, title=title, refresh=job.state.open)
    return Shown(_none(view))


def _releases(view: View) -> list[Job]:
    return [job for job in view.studio.jobs.latest() if job.verb in VERBS] if view.studio.jobs is not None else []


def _none(view: View) -> Html:
    link = element("a", said.TO_RECIPE, href=view.to("recipe"), class_="main")
    return element("div", element("p", said.NONE, class_="lead"), element("p", link), class_="panel-box")


def _job(view: View, job: Job) -> Html:
    if job.state.open:
        return at_work(view, job)
    if job.state is State.DONE:
        return _done(view, job) if job.verb in VERBS else _worked_out(view, job)
    faults = element("ul", [element("li", words.fault(fault)) for fault in job.faults], class_="reasons-list")
    parts: list[Child] = [element("p", said.ENDED[job.state], class_="lead void"), faults if job.faults else None]
    parts += [element("p", note, class_="soft") for note in job.notes]
    if columns := [name for name in view.workspace.roles() if any(name in fault.where.split() for fault in job.faults)]:
        parts.append(element("p", said.TO_COLUMNS, element("a", ", ".join(columns), href=view.to("columns"))))
    parts.append(element("div", post_button(view, "again", said.AGAIN, job=job.id), _other(view), class_="buttons"))
    return element("div", parts, class_="panel-box", id="job")


def _done(view: View, job: Job) -> Html:
    if job.verb == "preflight":
        return element(
            "div", element("p", said.DONE, class_="lead"), element("ul", [element("li", line) for line in job.result["sentences"]]),
            element("p", element("a", said.TO_RECIPE, href=view.to("recipe"), class_="main")), class_="panel-box", id="job",
        )  # fmt: skip
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
    return element("a", said.ANOTHER, href=view.to("recipe"), class_="plain-button")


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
    job = next((job for job in _releases(view) if job.verb == "release"), None)
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
    actions={"answer": answer, "cancel": cancel, "again": again},
    mark=mark,
)
