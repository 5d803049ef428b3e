"""Which one? Recipes and their grids, compared on the table cell by cell; and how one is taken so that its promise holds."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from hushtable.errors import InputError
from hushtable.report.html import Child, Html, element, join, table
from hushtable.studio import words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import post_button
from hushtable.studio.screens.compare_form import form_for_new, start
from hushtable.studio.screens.compare_jobs import comparisons
from hushtable.studio.screens.compare_ladders import add, ladders, look
from hushtable.studio.screens.compare_results import results
from hushtable.studio.screens.compare_taking import take, taking, way
from hushtable.studio.screens.recipe_state import LOADING
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import compare as said
from hushtable.studio.words import run as said_of_run
from hushtable.studio.working import at_work


async def show(view: View) -> Shown:
    """The comparison that was asked for, or the last one; or the form that starts one."""
    job = _job(view)
    if job is None or "new" in view.query or (view.faults and "c" not in view.query):
        content = join(await form_for_new(view), _list(view, None))
        return Shown(content, ("hush", "compare", view.workspace.project.table, "--schema", _schema(view), "--out", "DIR"))
    chosen = view.workspace.chosen("compare")
    look: Mapping[str, str] = chosen.get(job.folder.name) or {}
    risk = float(look["risk"]) / 100 if look.get("risk") else None
    found = await view.ask("comparison", limit=LOADING, folder=str(job.folder), schema=job.request["schema"], risk=risk)
    parts: list[Child] = []
    if view.query.get("take"):
        parts.append(await taking(view, job, view.query["take"]))
    parts.append(_state(view, job, found))
    parts += [results(view, job, found), ladders(view, job, found, look), _list(view, job)]
    title = words.percent(job.share) if job.state.open else ""
    return Shown(join(parts), job.command, title=title, refresh=job.state.open)


def _schema(view: View) -> str:
    return view.workspace.relative(view.workspace.schema)


def _job(view: View) -> Job | None:
    asked = view.query.get("c", "")
    jobs = comparisons(view)
    found = next((job for job in jobs if job.folder.name == asked), None) if asked else next(iter(jobs), None)
    if asked and found is None:
        raise InputError(words.NO_SUCH_RUN, where="comparison")
    return found


def _state(view: View, job: Job, found: Mapping[str, Any]) -> Html:
    if job.state.open:
        return join(at_work(view, job), element("p", _remaining(job), class_="soft"))
    parts: list[Child] = [element("p", job.title, class_="lead")]
    if job.state is not State.DONE:
        parts = [element("p", said.STOPPED if job.state is State.CANCELLED else said.ENDED, class_="lead void")]
        parts += [element("ul", [element("li", words.fault(fault)) for fault in job.faults])] if job.faults else []
        parts.append(post_button(view, "again", said.RESUME, main=True, job=job.id))
    elif found["cells"]:
        fit, releases = job.result.get("fit", 0), job.result.get("releases", 0)
        parts.append(element("p", said.count(fit, releases)))
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
    times = [fmean(known[recipe]) for name in left if (recipe := name.partition(" ")[0]) in known]
    return said.remaining(sum(times), len(times), len(left) - len(times)) if times else said.TIME_UNKNOWN


def _list(view: View, current: Job | None) -> Html | None:
    jobs = comparisons(view)
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


def mark(view: View) -> Mark:
    """How the last comparison stands."""
    job = next(iter(comparisons(view)), None)
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
