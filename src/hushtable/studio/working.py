"""A job at work as screens show it: one bar over all of its steps, each with its time, and Cancel."""

from __future__ import annotations

from collections.abc import Mapping

from hushtable.report.html import Child, Html, element, table
from hushtable.studio import words
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import post_button
from hushtable.studio.view import View
from hushtable.studio.words import run as said

MANY = 12
"""More steps than these are folded away."""


def at_work(view: View, job: Job) -> Html:
    """A job that has not ended: its steps with their times, one bar, and Cancel, which is an action of the screen."""
    usual = view.studio.jobs.usual(job) if view.studio.jobs is not None else {}
    parts: list[Child] = [
        element("p", job.title, class_="lead"),
        element("progress", max=1, value=job.share, aria_label=said.PROGRESS),
        element(
            "p", element("strong", words.percent(job.share), data_part="percent"), " · ",
            element("span", words.duration(job.elapsed), data_part="elapsed"),
            f" · {said.usual(sum(usual.values()))}" if usual else None,
        ),
        element("p", element("span", job.stages.current, data_part="stage"), class_="soft"),
        post_button(view, "cancel", words.CANCEL, region="content", job=job.id) if job.state is not State.CANCELLING
        else element("p", said.CANCELLING, class_="soft"),
        _steps(job, usual),
    ]  # fmt: skip
    return element(
        "div", parts, class_="panel-box", id="job", data_job=job.id, data_state=str(job.state), data_stage=str(len(job.seconds))
    )


def _steps(job: Job, usual: Mapping[str, float]) -> Html:
    if job.state is State.QUEUED:
        return element("p", said.QUEUED, class_="soft")
    names = list(dict.fromkeys([*job.stages.efforts, *job.began]))
    rows = []
    for name in names:
        if name in job.seconds:
            sign, time_ = said.STEP_DONE, words.duration(job.seconds[name])
        elif name in job.began:
            sign, time_ = said.STEP_NOW, words.percent(job.stages.done.get(name, 0.0))
        else:
            sign, time_ = said.STEP_LATER, ""
        rows.append([sign, name, time_, said.usual(usual[name]) if name in usual else ""])
    if not rows:
        return element("p", said.STARTING, class_="soft")
    drawn = table([said.STATE, said.STEP, said.TIME, said.USUAL], rows, label=said.STEPS, sortable=False, class_="steps")
    return drawn if len(rows) <= MANY else element("details", element("summary", said.STEPS), drawn)


def ended(view: View, job: Job, sentence: str) -> Html:
    """A job that did not come to its end, as a sentence says, with all that is known of why; Again is an action of the screen."""
    faults = element("ul", [element("li", words.fault(fault)) for fault in job.faults], class_="reasons-list")
    return element(
        "div",
        element("p", sentence, class_="lead void"),
        faults if job.faults else None,
        [element("p", note, class_="soft") for note in job.notes],
        post_button(view, "again", said.AGAIN, job=job.id),
        class_="panel-box", id="job",
    )  # fmt: skip
