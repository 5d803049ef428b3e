"""The page around a screen: the rail of steps, the strip of choices, the summary of faults, the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from hushtable.errors import Fault
from hushtable.report.html import Child, Html, element, escape, join
from hushtable.studio import words
from hushtable.studio.parts import post_button
from hushtable.studio.view import Mark, Screen, Shown, View

_SIGNS = {Mark.TODO: "○", Mark.DONE: "●", Mark.STALE: "↻", Mark.ATTENTION: "!"}
REFRESH = 3
"""Seconds after which a browser without script asks again for a page on which something is at work."""


def page(view: View, screen: Screen, screens: Iterable[Screen], shown: Shown) -> str:
    """The whole document. The script replaces its regions by their ids: rail, strip, faults, content, command."""
    heading = element("h1", screen.question, id="question", tabindex=-1)
    main = element(
        "main",
        _strip(view),
        summary([*view.faults, *shown.faults], shown.content),
        heading,
        element("div", shown.content, id="content"),
        _command(shown.command),
        id="main", tabindex=-1,
    )  # fmt: skip
    body = element(
        "body",
        element("a", words.SKIP, class_="skip", href="#main"),
        element("header", _top(view), class_="top"),
        element("div", _rail(view, screen, screens), main, class_="room"),
        element("div", class_="unseen", role="status", id="status"),
        class_="studio",
        data_events=view.to("events"),
        data_lost=words.LOST,
    )
    name = [shown.title, screen.label, view.workspace.project.table if view.opened else "", words.STUDIO]
    return document(" · ".join(part for part in name if part), body, view.to("static"), refresh=REFRESH if shown.refresh else 0)


def document(title: str, body: Html, static: str, refresh: int = 0) -> str:
    """A document of ours: style and script are files of their own, so that nothing inline is ever allowed."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href=f"{static}/style.css"),
        element("link", rel="stylesheet", href=f"{static}/studio.css"),
        element("script", src=f"{static}/studio.js", defer=True),
        element("noscript", element("meta", http_equiv="refresh", content=str(refresh))) if refresh else None,
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def notice(title: str, text: Sequence[Child], static: str, refresh: str = "") -> str:
    """A page that says one thing: that the screen is locked, that a link was used."""
    main = element("main", element("h1", title), [element("p", line) for line in text], id="main", class_="notice")
    page_ = document(title, element("body", main, class_="studio"), static)
    # A redirect by the page itself: the cookie that was just set is not sent with one that another page began.
    jump = element("meta", http_equiv="refresh", content=f"0;url={refresh}") if refresh else ""
    return page_.replace("<title>", f"{jump}<title>", 1)


def summary(faults: Sequence[Fault], content: Html) -> Html:
    """Everything that is wrong, each linked to its field, where the content has one for it."""
    if not faults:
        return element("div", id="faults")
    lines = [element("li", _fault(fault, content)) for fault in faults]
    inner = [element("h2", words.faults(len(faults))), element("ul", lines)]
    return element("div", inner, id="faults", class_="faults", role="alert", tabindex=-1)


def _fault(fault: Fault, content: Html) -> Html:
    field = f"field-{fault.where}"
    # A field's fault is said in its own words; any other with what it is about, which may be a file or a column.
    if f'id="{escape(field)}"' in content:
        return element("a", fault.reason, href=f"#{field}")
    return join(fault.reason if fault.where.isidentifier() else words.fault(fault))


def _top(view: View) -> Html:
    return join(
        element("a", words.STUDIO, href=view.to("open"), class_="name"),
        element("span", words.PRIVATE, class_="private"),
        element("a", words.JOURNAL, href=view.to("journal")) if view.opened else None,
        post_button(view, "lock", words.LOCK, screen="session"),
    )


def _rail(view: View, current: Screen, screens: Iterable[Screen]) -> Html:
    steps = []
    for screen in (one for one in screens if one.in_rail):
        usable = view.opened or not screen.needs_table
        mark = screen.mark(view) if usable else Mark.TODO
        inner = join(
            element("span", _SIGNS[mark], class_="sign", aria_hidden="true"),
            element("span", screen.label, class_="label"),
            element("span", f" ({mark})", class_="state"),
        )
        here = "step" if screen.name == (current.part_of or current.name) else None
        link = element("a", inner, href=view.to(screen.name), aria_current=here) if usable else element("span", inner, class_="off")
        steps.append(element("li", link, class_=str(mark).replace(" ", "-")))
    return element("nav", element("ol", steps), id="rail", class_="rail", aria_label=words.STEPS)


def _strip(view: View) -> Html:
    choices = []
    for name, value, screen in view.studio.choices():
        parts = [element("span", name, class_="eyebrow"), element("span", value, class_="choice-value")]
        choices.append(element("li", element("a", parts, href=view.to(screen))))
    return element("ul", choices, id="strip", class_="choices", aria_label=words.CHOICES)


def _command(command: Sequence[str]) -> Html:
    if not command:
        return element("div", id="command")
    inner = [
        element("p", words.COMMAND, class_="eyebrow", id="command-label"),
        element("pre", element("code", shlex.join(command)), tabindex=0, role="region", aria_labelledby="command-label"),
        element("button", words.COPY, type="button", class_="plain-button", data_copy="#command code", hidden=True),
    ]
    return element("div", inner, id="command", class_="command-line")
