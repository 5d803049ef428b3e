"""The parts that screens are built of: forms that carry their token, and fields that show their fault."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hushtable.report.html import Attribute, Child, Html, element, join
from hushtable.studio import words
from hushtable.studio.forms import TOKEN
from hushtable.studio.view import View


def form(view: View, action: str, *children: Child, region: str = "", screen: str = "", **attributes: Attribute) -> Html:
    """A form that posts to an action of a screen. With a ``region`` the script replaces the element of that id, and no more."""
    return element(
        "form", element("input", type="hidden", name=TOKEN, value=view.token), *children,
        method="post", action=view.action(action, screen), data_region=region or None, **attributes,
    )  # fmt: skip


def button(label: str, *, main: bool = False, about: str = "", name: str = "", value: str = "", **attributes: Attribute) -> Html:
    """A button of a form; a page has one main button. What it is ``about`` is said to those who do not see its place."""
    class_ = "main" if main else "plain-button"
    more = element("span", f" {about}", class_="unseen") if about else None
    return element("button", label, more, type="submit", class_=class_, name=name or None, value=value or None, **attributes)


def post_button(
    view: View, action: str, label: str, *, main: bool = False, about: str = "", region: str = "", screen: str = "", **fields: str
) -> Html:
    """A form that is a button and what it sends."""
    hidden = [element("input", type="hidden", name=name, value=value) for name, value in fields.items()]
    return form(view, action, *hidden, button(label, main=main, about=about), region=region, screen=screen, class_="inline")


def field(
    view: View, name: str, label: str, value: object = "", *, hint: str = "", kind: str = "text", **attributes: Attribute
) -> Html:
    """A labelled field with its hint and its fault; the summary of faults links to it."""
    own = element(
        "input", type=kind, id=f"field-{name}", name=name, value=view.value(name, value), autocomplete="off",
        aria_invalid="true" if view.fault(name) else None, aria_describedby=_described(view, name, hint), **attributes,
    )  # fmt: skip
    return element("div", element("label", label, for_=f"field-{name}"), own, _beside(view, name, hint), class_="field")


def select(
    view: View,
    name: str,
    label: str,
    options: Iterable[tuple[str, str]],
    value: str = "",
    *,
    hint: str = "",
    **attributes: Attribute,
) -> Html:
    """A labelled choice of one of several values, each with its words."""
    chosen = view.value(name, value)
    inner = [element("option", text, value=own, selected=own == chosen) for own, text in options]
    own = element(
        "select", inner, id=f"field-{name}", name=name, aria_invalid="true" if view.fault(name) else None,
        aria_describedby=_described(view, name, hint), **attributes,
    )  # fmt: skip
    return element("div", element("label", label, for_=f"field-{name}"), own, _beside(view, name, hint), class_="field")


def switch(
    view: View, name: str, label: str, options: Sequence[tuple[str, str]], value: str, *, hint: str = "", **attributes: Attribute
) -> Html:
    """One of a few values, side by side: radio buttons, reached by one tab stop and changed by arrow keys."""
    chosen = view.value(name, value)
    inner = [
        element(
            "label",
            element(
                "input",
                type="radio",
                name=name,
                value=own,
                checked=own == chosen,
                id=None if place else f"field-{name}",
                **attributes,
            ),
            element("span", text),
        )
        for place, (own, text) in enumerate(options)
    ]  # fmt: skip
    return element(
        "fieldset", element("legend", label), element("div", inner, class_="switch"), _beside(view, name, hint), class_="field"
    )


def tick(view: View, name: str, label: str, checked: bool = False, *, hint: str = "") -> Html:
    """A box to be ticked; it sends ``yes``."""
    if view.typed:
        checked = name in view.typed
    box = element("input", type="checkbox", id=f"field-{name}", name=name, value="yes", checked=checked)
    return element("div", element("label", box, element("span", label)), _beside(view, name, hint), class_="field tick")


def later(view: View, piece: str, content: Child = None, *, name: str = "div", class_: str = "", **query: object) -> Html:
    """A place that the script fills with a piece of the screen; without script a link to the page that has all of it."""
    return element(name, content, class_=class_ or None, data_load=view.piece(piece, **query))


def bar(label: str, share: float | None) -> Html:
    """A share of one as a small bar with its number in words; an empty one while it is not known."""
    if share is None:
        return element("span", element("span", label, class_="unseen"), "–", class_="bar unknown-bar")
    text = words.percent(share)
    drawing = element(
        "svg", element("rect", class_="ground", width=100, height=6), element("rect", class_="share", width=100 * share, height=6),
        viewBox="0 0 100 6", preserveAspectRatio="none", aria_hidden="true",
    )  # fmt: skip
    return element(
        "span", element("span", f"{label} ", class_="unseen"), drawing, element("span", text, class_="bar-number"), class_="bar"
    )


def _described(view: View, name: str, hint: str) -> str | None:
    ids = [f"hint-{name}"] if hint else []
    ids += [f"fault-{name}"] if view.fault(name) else []
    return " ".join(ids) or None


def _beside(view: View, name: str, hint: str) -> Html:
    fault = view.fault(name)
    return join(
        element("p", hint, class_="hint", id=f"hint-{name}") if hint else None,
        element("p", fault, class_="fault", id=f"fault-{name}") if fault else None,
    )
