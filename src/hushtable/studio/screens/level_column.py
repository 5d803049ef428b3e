"""Which column the screen of levels shows, by its address or a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.errors import InputError
from hushtable.studio.forms import Form
from hushtable.studio.persons import persons
from hushtable.studio.view import View
from hushtable.studio.words import levels as said

NAME = "levels"
HIERARCHIES = (".csv", ".txt", ".tsv")


def person(view: View) -> str | None:
    """The key that identifies people, where they hold several rows."""
    return persons(view.workspace).by


def column_of(view: View, columns: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The column that was asked for, or the first one."""
    number = view.typed.get("column") or view.query.get("column", "")
    return next((one for one in columns if str(one["number"]) == number), columns[0])


def number_of(view: View, name: str, otherwise: int = 0) -> int:
    """A small number from the address or a form."""
    text = view.typed.get(name) or view.query.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 8 else otherwise


def looked_at(view: View) -> dict[str, int]:
    """The levels that are looked at in the explorer."""
    return dict(view.workspace.chosen("explorer").get("levels", {}))


async def asked_for(view: View, form: Form) -> Mapping[str, Any]:
    """The column that a form names; InputError where it is no longer there."""
    columns: list[dict[str, Any]] = await view.ask("ladders")
    found = next((one for one in columns if str(one["number"]) == form.get("column", "")), None)
    if found is None:
        raise InputError(said.CHANGED_MEANWHILE, where="column")
    return found


def require_unchanged(view: View, form: Form) -> None:
    """What is numbered on a page is what it was when the page was shown."""
    if form.get("at", "") != str(view.workspace.project.schema_at):
        raise InputError(said.CHANGED_MEANWHILE, where="at")
