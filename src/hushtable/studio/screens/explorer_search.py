"""The search for the best levels: a job, what it proves, and how it is started and ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.report.html import Child, Html, element
from hushtable.studio import commands, words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import post_button
from hushtable.studio.screens.explorer_neighbours import look_button
from hushtable.studio.screens.explorer_state import NAME, SEARCH, demand_of, fits, last_search, state_of
from hushtable.studio.view import View
from hushtable.studio.words import explorer as said


def proof(view: View, here: Mapping[str, Any], demand: Mapping[str, Any]) -> Html:
    """Whether there is a better choice: the last search, or the way to one."""
    job = last_search(view)
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
    elif not fits(view, job, demand):
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
        element("div", None if same else look_button(view, result["levels"], said.SEARCH_TITLE), sheet, class_="buttons"),
    ]


async def search(view: View, form: Form) -> str:
    """Search the levels that lose least, as a job."""
    workspace, asked = view.workspace, demand_of(view)
    folder = workspace.numbered("runs")
    request = {
        "data": str(workspace.table), "schema": str(workspace.freeze(folder)), "layout": workspace.project.layout,
        "folder": str(folder / "sheet"), "k": asked["k"], "limit": asked["limit"], "settings": {"l": asked["l"], "t": asked["t"]},
        "person": asked.get("person"), "state": state_of(view), "demand": asked,
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
