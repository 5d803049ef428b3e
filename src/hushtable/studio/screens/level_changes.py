"""What is done to the ladder of a column: built, grouped, ordered, undone; and its values shown or hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hushtable.errors import InputError
from hushtable.studio.forms import Form
from hushtable.studio.screens.level_column import HIERARCHIES, NAME, asked_for, person, require_unchanged
from hushtable.studio.view import View
from hushtable.studio.words import levels as said
from hushtable.table.disk import whole_file


async def build(view: View, form: Form) -> str:
    """Give a column another hierarchy."""
    column = await asked_for(view, form)
    way = form.one_of("way", ("intervals", "dates", "prefix", "frequency", "file", "derived"))
    given: Any = None
    if way == "intervals":
        given = _listed(form, "widths", float, said.NO_WIDTHS)
    elif way == "prefix":
        given = _listed(form, "lengths", int, said.NO_LENGTHS)
    elif way == "dates":
        given = [unit for unit in said.UNIT_WORDS if unit in form.all("unit")]
        if not given:
            form.fault("unit", said.NO_UNITS)
    elif way == "frequency":
        given = form.whole("least", 1)
        if given is None and not form.faults:
            form.fault("least", said.NO_LEAST)
    elif way == "file":
        given = str(view.studio.files.file(form.get("file", ""), HIERARCHIES))
    form.check()
    where = {"intervals": "widths", "prefix": "lengths", "dates": "unit", "frequency": "least", "file": "file"}.get(way, "")
    path = _path(view, column["name"])
    try:
        found = await view.ask(
            "build_hierarchy",
            column=column["name"],
            spec=(way, given),
            path=path,
            fill="fill" in form,
            all_values=column["name"] in view.workspace.chosen(NAME).get("shown", []),
            person=person(view),
        )
    except InputError as error:
        # Said beside the field of the builder that was used.
        for fault in error.faults:
            form.fault(where, fault.reason)
        form.check()
        raise
    _save(view, found, said.built(column["name"], way), path=path)
    return view.to(NAME, column=column["number"])


async def move(view: View, form: Form) -> str:
    """Move what is marked to a group."""
    column = await asked_for(view, form)
    require_unchanged(view, form)
    level = form.whole("level", 1) or 1
    items = [int(text) for text in form.all("item") if text.isdecimal()]
    if not items:
        form.fault("item", said.NOTHING_MARKED)
    to, label = form.get("to", ""), form.text("label")
    if not to and not label:
        form.fault("label", said.NO_LABEL)
    form.check()
    path = _path(view, column["name"])
    found = await view.ask(
        "move_members",
        column=column["name"],
        level=level,
        items=items,
        to=int(to) if to.isdecimal() else None,
        label=label,
        path=path,
    )
    _save(view, found, said.moved(column["name"], len(items), level), path=path)
    return view.to(NAME, column=column["number"], level=level, members=form.get("members") or None)


async def remove(view: View, form: Form) -> str:
    """Take a level away."""
    column = await asked_for(view, form)
    require_unchanged(view, form)
    level, path = form.whole("level", 1) or 1, _path(view, column["name"])
    form.check()
    found = await view.ask("remove_level", column=column["name"], level=level, path=path)
    _save(view, found, said.removed(column["name"], level), path=path)
    return view.to(NAME, column=column["number"])


async def order(view: View, form: Form) -> str:
    """Put a value of an order before or after its neighbour."""
    column = await asked_for(view, form)
    require_unchanged(view, form)
    place = form.whole("up" if "up" in form else "down", 0)
    form.check()
    found = await view.ask("reorder", column=column["name"], place=place or 0, up="up" in form)
    _save(view, found, said.reordered(column["name"]), path="")
    return view.to(NAME, column=column["number"])


async def undo(view: View, form: Form) -> str:
    """Go back by one change of the schema."""
    if not view.workspace.undo(NAME):
        raise InputError(said.NOTHING_TO_UNDO, where="undo")
    return view.to(NAME, column=form.get("column"))


async def redo(view: View, form: Form) -> str:
    """Make the change that was undone last."""
    if not view.workspace.redo(NAME):
        raise InputError(said.NOTHING_TO_REDO, where="redo")
    return view.to(NAME, column=form.get("column"))


async def show_values(view: View, form: Form) -> str:
    """Show the values of few people; that they were looked at is noted."""
    column = await asked_for(view, form)
    shown = view.workspace.chosen(NAME).get("shown", [])
    view.workspace.choose(NAME, {**view.workspace.chosen(NAME), "shown": [*shown, column["name"]]})
    view.journal(said.looked(column["name"]))
    return view.to(NAME, column=column["number"])


async def hide_values(view: View, form: Form) -> str:
    """Hide them again."""
    column = await asked_for(view, form)
    shown = [name for name in view.workspace.chosen(NAME).get("shown", []) if name != column["name"]]
    view.workspace.choose(NAME, {**view.workspace.chosen(NAME), "shown": shown})
    return view.to(NAME, column=column["number"])


def _listed(form: Form, name: str, kind: type[int] | type[float], fault: str) -> list[float]:
    try:
        found = [kind(part) for part in re.split(r"[\s,;]+", form.get(name, "").strip()) if part]
    except ValueError:
        found = []
    if not found:
        form.fault(name, fault)
    return list(found)


def _path(view: View, column: str) -> str:
    """A file that was never there: an earlier state of the schema goes on naming its own."""
    taken = [int(path.stem.rpartition("-")[2]) for path in (view.workspace.folder / "hierarchies").glob("*-*.csv")
             if path.stem.rpartition("-")[2].isdecimal()]  # fmt: skip
    stem = re.sub(r"[^\w-]+", "_", column)[:60] or "column"
    return f"hierarchies/{stem}-{max(taken, default=0) + 1}.csv"


def _save(view: View, found: Mapping[str, Any], change: str, *, path: str) -> None:
    """Write the file of a hierarchy, and then the schema that names it."""
    workspace = view.workspace
    if found["tree"] is not None:
        with whole_file(workspace.folder / path, private=True) as partial:
            partial.write_text(found["tree"], encoding="utf-8", newline="")
    workspace.change_schema(found["schema"], NAME, change)
    workspace.choose(NAME, {**workspace.chosen(NAME), "changed": True})
