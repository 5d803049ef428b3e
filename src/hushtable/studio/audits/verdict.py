"""The verdict of an audit: whether to publish, why, and what would remove each alarm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Html, element, join
from hushtable.studio.jobs import Job
from hushtable.studio.view import View
from hushtable.studio.words import audit as said


def verdict(view: View, job: Job, judged: Mapping[str, Any]) -> Html:
    """The answer, what would remove each alarm, why, and the other three answers."""
    last, clear = judged["answer"], job.result["clear"]
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
        None if clear else element("a", said.ANOTHER, href=view.to("run", new=1), class_="main"),
        element("a", said.TO_PUBLISH, href=view.to("publish", run=job.folder.name), class_="main" if clear else "plain-button"),
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
                element("details", element("summary", said.what_it_explains(len(cause["alarms"]))), alarms)
                if cause["alarms"] else None,
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
    """The answer, what would remove each alarm, why, and the other three answers."""
    head, tone = (said.CONDITION_HOLDS, "calm") if gate["holds"] else (said.CONDITION_FAILS, "alarm")
    return element(
        "p", element("strong", head, class_="badge"), " ", element("code", gate["expression"]), f" {gate['reason']}", class_=tone
    )
