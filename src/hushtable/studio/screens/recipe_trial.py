"""Before a recipe is run: the error to expect, what must be declared, and what would leave unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.errors import InputError
from hushtable.report.html import Child, Html, element, join, pairs
from hushtable.studio import words
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button, field, later
from hushtable.studio.screens.column_lists import PAGE
from hushtable.studio.screens.recipe_state import LOADING, to_run, trial_request, unit_of
from hushtable.studio.view import View
from hushtable.studio.words import recipe as said
from hushtable.studio.worker import TooLong

TRIED = "preflight"
LISTED = 8
"""So many columns are named, each with a link."""


async def expected(
    view: View, name: str, run: Mapping[str, Any], about: Mapping[str, Any], undeclared: Mapping[str, Any] | None
) -> Html:
    """The error of a budget, what keeps the recipe from a run, or what a trial found."""
    parts: list[Child] = [element("h3", said.BEFORE)]
    if about["spends"]:
        epsilon = float(run.get("epsilon") or 1.0)
        found = await view.ask(
            "error", limit=LOADING, recipe=name, settings=run.get("settings") or {}, epsilon=epsilon, unit=unit_of(view)
        )
        text = found["why"] or (
            said.NO_ERROR if found["width"] is None else said.error(found["width"], epsilon, (unit_of(view) or {}).get("rows", 1))
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
    declare = element("a", said.TO_DECLARE, href=to_declare(view))
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


def to_declare(view: View) -> str:
    """Where several columns are declared public at once."""
    return view.to("columns") + "#many"


async def tried(view: View) -> Html:
    """What would leave unchanged, for its place."""
    return await _tried(view)


async def _tried(view: View) -> Html:
    job = last_trial(view)
    if job is not None and job.state is State.DONE:
        return _handed_out(view, job.result)
    if job is not None and job.state.open:
        link = element("a", words.percent(job.share), data_part="percent", href=view.to("run", job=job.id))
        return element("p", said.TRY_AT_WORK, " ", link, data_job=job.id)
    try:
        found = await view.ask("tried", **trial_request(view))
    except TooLong:
        found = None
    except InputError as error:
        return element("p", "; ".join(words.fault(fault) for fault in error.faults), class_="caution")
    if found is None:
        # It stands inside of the form of the recipe, whose action it shares.
        return join(element("p", said.TAKES_LONGER, class_="soft"), button(said.TRY_AS_JOB, name="do", value="try"))
    return _handed_out(view, found)


def last_trial(view: View) -> Job | None:
    """The last job that tried just this."""
    asked = trial_request(view)
    jobs = view.studio.jobs.latest() if view.studio.jobs is not None else ()
    return next(
        (
            job for job in jobs
            if job.verb == TRIED and all(job.request.get(key) == value for key, value in asked.items())
            and job.request.get("stamp") == schema_stamp(view) and not view.studio.stale(job)
        ),
        None,
    )  # fmt: skip


def schema_stamp(view: View) -> int:
    """Which state of the schema holds."""
    return view.workspace.project.schema_at


def _handed_out(view: View, found: Mapping[str, Any]) -> Html:
    if found["private"]:
        return pairs([(said.UNTOUCHED, said.PRIVATE)])
    facts: list[tuple[Child, Child]] = [(said.UNTOUCHED, said.untouched(found["columns"], found["alone"]))]
    if found["equal"] is not None:
        facts.append((said.COPIES, said.copies(found["equal"])))
    reason = join(
        element("p", said.REFUSED, class_="caution"),
        field(view, "allow_copies", said.ALLOW_COPIES, to_run(view).get("reason"), hint=said.ALLOW_COPIES_HINT),
    )
    return join(pairs(facts), reason if found["refused"] else None)
