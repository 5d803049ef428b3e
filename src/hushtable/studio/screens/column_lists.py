"""Which columns are listed: by role, by page, by name; and the way back to where one stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.errors import InputError
from hushtable.report.html import Html, element
from hushtable.studio.forms import Form
from hushtable.studio.parts import button, form
from hushtable.studio.screens.column_grid import hidden_fields
from hushtable.studio.view import View
from hushtable.studio.words import columns as said

PAGE = 50
"""So many columns are shown at once."""
CHECK = "check"
"""The list of the columns with a remark."""


def lists_of(roles: Mapping[str, str], noticed: Mapping[str, Any]) -> dict[str, list[str]]:
    """The columns of each list that can be shown."""
    remarked = {remark["column"] for remark in noticed.get("remarks") or []}
    return {
        "": list(roles),
        **{role: [name for name, own in roles.items() if own == role] for role in said.ROLES},
        CHECK: [name for name in roles if name in remarked],
    }


def list_links(view: View, lists: Mapping[str, Sequence[str]], which: str, hidden: Mapping[str, str]) -> Html:
    """The lists by name, and a field to find a column."""
    labels = {"": said.ALL, **said.ROLES, CHECK: said.CHECK}
    links = [
        element(
            "li",
            element(
                "a", said.filtered(labels[own], len(some)), href=view.to("columns", show=own),
                aria_current="true" if own == which else None,
            ),
        )
        for own, some in lists.items() if some or own == which
    ]  # fmt: skip
    label = element("label", said.FIND, for_="field-find", class_="unseen")
    field = element(
        "input", type="search", id="field-find", name="find", value=view.typed.get("find", ""), placeholder=said.FIND,
        autocomplete="off", aria_invalid="true" if view.fault("find") else None,
    )  # fmt: skip
    wrong = element("p", view.fault("find"), class_="fault") if view.fault("find") else None
    search = form(view, "find", hidden_fields(hidden), label, field, button(said.FIND_BUTTON), wrong, class_="inline-fields")
    return element("div", element("nav", element("ul", links, class_="lists"), aria_label=said.LIST), search, class_="choose")


def pager(view: View, start: int, total: int, which: str) -> Html | None:
    """The pages of a list that is longer than one; None where it is not."""
    if total <= PAGE:
        return None
    links = [
        element("a", text, href=view.to("columns", show=which, start=at or None), class_="plain-button")
        for text, at, there in (
            (said.PREVIOUS, max(0, start - PAGE), start > 0), (said.NEXT, start + PAGE, start + PAGE < total)
        ) if there
    ]  # fmt: skip
    return element("nav", element("span", said.place(start + 1, min(total, start + PAGE), total)), links, class_="buttons pager",
                   aria_label=said.CAPTION)  # fmt: skip


def asked_for(view: View, name: str) -> str:
    """What the address asks for, or the form that was refused."""
    return view.typed.get(name, "") or view.query.get(name, "")


def list_asked(view: View, lists: Mapping[str, Sequence[str]]) -> str:
    """The list that is asked for; that of all columns where it is none."""
    asked = asked_for(view, "show")
    return asked if asked in lists else ""


def page_start(view: View, total: int) -> int:
    """Where the page begins that is asked for."""
    asked = asked_for(view, "start")
    start = int(asked) if asked.isdecimal() and len(asked) < 9 else 0
    return min(start, max(0, total - 1)) // PAGE * PAGE


def way_back(which: str, start: int) -> dict[str, str]:
    """The fields of a form that lead back to this page of this list."""
    return {name: value for name, value in (("show", which), ("start", str(start) if start else "")) if value}


def place_of(text: str, names: Sequence[str]) -> int:
    """The place of a column among all, as a form has it."""
    if not text.isdecimal() or len(text) > 9 or int(text) >= len(names):
        raise InputError(said.STRANGE_COLUMN, where="column")
    return int(text)


def list_address(view: View, form: Form, anchor: str = "") -> str:
    """The list that a form came from."""
    asked = {name: form.get(name, "") for name in ("show", "start")}
    return view.to("columns", **asked) + (f"#{anchor}" if anchor else "")
