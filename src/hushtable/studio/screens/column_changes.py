"""What is changed of columns: roles, domains, kinds, the whole schema; each so that it can be undone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.studio import words
from hushtable.studio.files import DICTIONARIES
from hushtable.studio.forms import Form
from hushtable.studio.screens.column_grid import SENTINELS
from hushtable.studio.screens.column_lists import PAGE, list_address, lists_of, place_of
from hushtable.studio.view import View
from hushtable.studio.words import columns as said


def _placed(view: View, error: InputError) -> InputError:
    """The faults of an answer, each at the line of its column where it is about one."""
    places = {name: place for place, name in enumerate(view.workspace.roles())}
    faults = []
    for fault in error.faults:
        match = re.search(r"\bcolumn (.*?)(?:: [a-z_]+)?$", fault.where)
        name = next((own for own in ((match[0].removeprefix("column "), match[1]) if match else ()) if own in places), None)
        text = words.fault(replace(fault, where=name or fault.where))
        faults.append(Fault(f"column.{places[name]}" if name is not None else "", text))
    return InputError(faults)


async def _edit(view: View, columns: Sequence[str], change: Mapping[str, Any], text: str, reason: str = "") -> None:
    """Change columns, so that it can be undone."""
    workspace = view.workspace
    try:
        schema_text = await view.ask("edit", columns=list(columns), change=dict(change), file=str(workspace.schema), limit=60.0)
    except InputError as error:
        raise _placed(view, error) from None
    if schema_text != workspace.schema_text():
        workspace.change_schema(schema_text, view.screen, text, reason)


async def set_role(view: View, form: Form) -> str:
    """Give one column another role."""
    names = list(view.workspace.roles())
    place = place_of(form.get("column", ""), names)
    role = form.one_of("role", said.ROLES, "plain")
    form.check()
    if view.workspace.roles()[names[place]] != role:
        await _edit(view, [names[place]], {"role": role}, said.set_role([names[place]], role))
    return list_address(view, form, f"field-column.{place}")


async def many(view: View, form: Form) -> str:
    """Declare several columns public with one reason, or give them one role."""
    names, lists = list(view.workspace.roles()), lists_of(view.workspace.roles(), view.workspace.noticed())
    listed = lists.get(form.get("show", ""), names)
    chosen = list(listed) if "every" in form else [names[place_of(text, names)] for text in form.all("column")]
    codes = "codes" in form
    if not chosen and not (codes and form.get("do") == "public"):
        form.fault("every", said.NO_COLUMN)
    if form.get("do") == "role":
        role = form.one_of("new_role", said.ROLES)
        form.check()
        await _edit(view, chosen, {"role": role}, said.set_role(chosen, role))
    else:
        reason = form.text("reason", required=said.NO_REASON)
        form.check()
        await _edit(view, chosen, {"reason": reason, "codes": codes}, said.made_public(chosen), reason)
    return list_address(view, form)


async def offer(view: View, form: Form) -> str:
    """Do what is offered with a remark."""
    names = list(view.workspace.roles())
    place = place_of(form.get("column", ""), names)
    name, what = names[place], form.one_of("what", ("words", "sentinels", "weight", "copy", "offer"))
    form.check()
    entry = await view.ask("details", column=name)
    remarks = view.workspace.noticed().get("remarks") or []
    codes: list[str] = next((r["codes"] for r in remarks if r["column"] == name and r["what"] == what), [])
    if what in ("weight", "copy"):
        await _edit(view, [name], {"role": "identifier"}, said.set_role([name], "identifier"))
    elif what == "words":
        left = [code for code in entry["own_missing"] if code not in codes]
        change = {"kind": "category", "missing": left}
        await _edit(view, [name], change, said.changed(name, [said.new_kind("category"), said.new_missing(len(left))]))
    elif what == "sentinels":
        missing = list(dict.fromkeys([*entry["own_missing"], *codes]))
        columns = await _alike(view, entry, remarks, codes) if "all" in form else [name]
        part = said.new_missing(len(missing))
        text = said.changed(name, [part]) if columns == [name] else said.changed_alike(columns, part)
        await _edit(view, columns, {"missing": missing}, text)
    else:
        await _edit(view, [name], {"freed": True}, said.changed(name, [said.FREED]))
    return list_address(view, form, f"field-column.{place}")


async def _alike(view: View, entry: Mapping[str, Any], remarks: Sequence[Mapping[str, Any]], codes: Sequence[str]) -> list[str]:
    """The columns where the same codes were noticed, that are as this one is otherwise."""
    names = [remark["column"] for remark in remarks if (remark["what"], remark["codes"]) == (SENTINELS, codes)]
    found = await view.ask("grid", names=names)
    own = entry["missing"]
    return [one["name"] for one in found["columns"] if one["missing"] == own and one["kind"] in ("integer", "real")]


async def change(view: View, form: Form) -> str:
    """What is said of one column beside its role."""
    names, workspace = list(view.workspace.roles()), view.workspace
    place = place_of(form.get("column", ""), names)
    name = names[place]
    entry = await view.ask("details", column=name)
    kind = form.one_of("kind", said.KINDS, entry["kind"])
    missing = [code.strip() for code in form.get("missing", "").split(",") if code.strip()]
    wanted: dict[str, Any] = {}
    parts = []
    if kind != entry["kind"]:
        wanted["kind"] = kind
        parts.append(said.new_kind(kind))
    if missing != list(entry["own_missing"]):
        wanted["missing"] = missing
        parts.append(said.new_missing(len(missing)))
    reason = ""
    # The fields of the domain are those of the kind that was shown: of another one they say nothing yet.
    if kind == entry["kind"] and "domain" in form:
        where = form.one_of("domain", ("rows", "given"), "rows")
        given = _given(form, entry) if where == "given" else None
        if given is not None and (entry["observed"] or given != _held(entry)):
            reason = form.text("reason", required=said.NO_REASON)
            wanted |= {"domain": given, "reason": reason}
            parts.append(said.NEW_DOMAIN)
        elif where == "rows" and not entry["observed"]:
            wanted["domain"] = "rows"
            parts.append(said.ROWS_DOMAIN)
    form.check()
    label, labels = form.text("label"), dict(workspace.noticed().get("labels") or {})
    if wanted:
        await _edit(view, [name], wanted, said.changed(name, parts), reason)
    if label != labels.get(name, ""):
        workspace.notice({"labels": {**labels, name: label}})
        view.journal(said.changed(name, [said.NEW_LABEL]))
    return view.to("columns", start=place // PAGE * PAGE or None) + f"#field-column.{place}"


def _given(form: Form, entry: Mapping[str, Any]) -> dict[str, Any]:
    if entry["coded"]:
        levels = [line.strip() for line in form.get("levels", "").splitlines() if line.strip()]
        if not levels:
            form.fault("levels", said.LEVELS)
        return {"levels": levels}
    low, high = form.text("low"), form.text("high")
    for own, text in (("low", low), ("high", high)):
        if not text:
            form.fault(own, said.NOT_BOTH)
    return {"low": low, "high": high}


def _held(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The declared domain as the fields show it."""
    if entry["coded"]:
        return {"levels": list(entry["levels"])}
    low, high = entry["domain"].get("range") or ("", "")
    return {"low": low, "high": high}


async def undo(view: View, form: Form) -> str:
    """Go back by one change."""
    view.workspace.undo(view.screen)
    return list_address(view, form)


async def redo(view: View, form: Form) -> str:
    """Make the change again that was undone last."""
    view.workspace.redo(view.screen)
    return list_address(view, form)


async def open_yaml(view: View, form: Form) -> str:
    """Show the YAML: it holds values that were read from the rows, so it is noted."""
    view.journal(said.OPENED_YAML)
    view.workspace.choose("columns", {**view.workspace.chosen("columns"), "yaml": True})
    return view.to("columns", view="yaml")


async def write_yaml(view: View, form: Form) -> str:
    """Take the schema as somebody wrote it."""
    text = form.get("yaml", "").replace("\r\n", "\n")
    try:
        schema_text = await view.ask("check", text=text, folder=str(view.workspace.folder), limit=60.0)
    except InputError as error:
        raise _placed(view, error) from None
    if schema_text != view.workspace.schema_text():
        view.workspace.change_schema(schema_text, view.screen, said.WROTE_YAML)
    view.workspace.choose("columns", {**view.workspace.chosen("columns"), "yaml": False})
    return view.to("columns")


async def take_dictionary(view: View, form: Form) -> str:
    """Declare what a data dictionary says, where it agrees."""
    workspace = view.workspace
    reason = form.text("reason", required=said.NO_REASON)
    form.check()
    path = view.studio.files.file(form.get("file", ""), DICTIONARIES)
    try:
        found = await view.ask("dictionary", path=str(path), reason=reason, file=str(workspace.schema), limit=60.0)
    except InputError as error:
        raise _placed(view, error) from None
    if found["text"] is not None and found["text"] != workspace.schema_text():
        workspace.change_schema(found["text"], view.screen, said.took(path.name), reason)
    workspace.notice({"labels": {**(workspace.noticed().get("labels") or {}), **found["labels"]}})
    summary = {"file": path.name, "declared": list(found["declared"]), "bare": found["bare"], "faults": found["faults"]}
    workspace.choose("columns", {**workspace.chosen("columns"), "dictionary": summary})
    return view.to("columns")
