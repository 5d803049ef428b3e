"""Who could be recognised by what? A line for each column, its values masked, and its risk filled in as it is worked out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.report.html import Html, element, join
from hushtable.studio import commands, words
from hushtable.studio.files import DICTIONARIES
from hushtable.studio.forms import Form
from hushtable.studio.parts import button, field, form, later, post_button, select, tick
from hushtable.studio.persons import NAME, Persons, households, persons, unsaid
from hushtable.studio.screens import column_grid, column_panels
from hushtable.studio.screens.column_grid import MANY, kept
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import columns as said
from hushtable.studio.words import persons as said_of_persons

PAGE = 50
"""So many columns are shown at once."""
CHECK = "check"
"""The list of the columns with a remark."""


async def show(view: View) -> Shown:
    """The grid, or one column, the YAML or a data dictionary; with ``risk=all`` with every bar at once, without script."""
    command = commands.profile(view.workspace)
    names = list(view.workspace.roles())
    match _asked(view, "view"):
        case "column":
            place = _place(_asked(view, "column"), names)
            entry = await view.ask("details", column=names[place])
            return Shown(column_panels.column(view, entry, place, view.workspace.noticed()), command)
        case "yaml" if view.workspace.chosen("columns").get("yaml"):
            faulty = [place for place in range(len(names)) if view.fault(f"column.{place}")]
            below = await _grid(view, [names[place] for place in faulty[:PAGE]], names, {}) if faulty else None
            return Shown(column_panels.yaml(view, view.workspace.schema_text(), below), command)
        case "dictionary":
            return Shown(column_panels.dictionary(view), command)
        case _:
            return Shown(await _all(view, names), command)


async def _all(view: View, names: Sequence[str]) -> Html:
    workspace, noticed = view.workspace, view.workspace.noticed()
    lists = _lists(workspace.roles(), noticed)
    which = _which(view, lists)
    some = lists[which]
    start = _start(view, len(some))
    shown, hidden = some[start : start + PAGE], _hidden(which, start)
    headline: Html = element("div", element("p", said.COUNTING, class_="lead"), id="headline", data_load=view.piece("headline"))
    whole = view.query.get("risk") == "all"
    if whole:
        headline = element("div", await _headline(view), id="headline")
    found = await view.ask("grid", names=list(shown))
    rows = await _grid(view, shown, names, hidden, found=found, noticed=noticed) if shown else element("p", said.EMPTY)
    without = element("a", said.WITHOUT_SCRIPT, href=view.to("columns", risk="all", **hidden))
    return join(
        headline,
        element("noscript", element("p", without)) if not whole else None,
        await _persons(view, hidden),
        column_panels.described(workspace.chosen("columns").get("dictionary") or {}),
        _tools(view, hidden),
        _choose(view, lists, which, hidden) if len(names) > 12 else None,
        rows,
        _pager(view, start, len(some), which),
        element("p", said.BARS, class_="soft small"),
        await saturated(view) if whole else later(view, "saturated"),
        _several(view, found, hidden),
        _about(found, len(names), noticed.get("notes") or []),
        element("p", element("a", said.GO_ON, href=view.to("recipe"), class_="main")),
    )


async def _persons(view: View, hidden: Mapping[str, str]) -> Html | None:
    """Whom a row is about; None where no key or identifier could say it."""
    own, noted = persons(view.workspace), await unsaid(view, here=True)
    found = await view.ask("persons", apart=households(view.workspace))
    known = {one["name"]: one for one in found["columns"]}
    if not known and own.by is None:
        return None
    options = [("", said_of_persons.EACH), *((name, said_of_persons.option(one)) for name, one in known.items())]
    options += [(own.by, own.by)] if own.by is not None and own.by not in known else []
    by = (own.by or "") if own.known else found["proposed"]
    usual = known[by]["usual"] if by in known else ""
    fields = [
        select(view, "person", said_of_persons.FIELD, options, by, hint=said_of_persons.HINT),
        field(
            view, "rows_per_person", said_of_persons.ROWS, own.rows if own.by is not None else usual,
            hint=said_of_persons.ROWS_HINT, inputmode="numeric",
        ),
    ]  # fmt: skip
    inner = form(
        view, "persons", kept(hidden), element("div", fields, class_="knob-fields"), button(said_of_persons.SAVE), region="content",
        class_="fields",
    )  # fmt: skip
    return element("section", noted, inner, id="persons")


async def _grid(
    view: View, shown: Sequence[str], names: Sequence[str], hidden: Mapping[str, str], *, found: Mapping[str, Any] | None = None,
    noticed: Mapping[str, Any] | None = None,
) -> Html:  # fmt: skip
    found = found or await view.ask("grid", names=list(shown))
    risks: dict[str, Any] = {}
    if view.query.get("risk") == "all":
        risks = {risk["name"]: risk for risk in await view.ask("risk", columns=list(shown), person=persons(view.workspace).by)}
    places = {name: place for place, name in enumerate(names)}
    return column_grid.grid(view, found["columns"], places, hidden=hidden, noticed=noticed or view.workspace.noticed(), risks=risks)


def _tools(view: View, hidden: Mapping[str, str]) -> Html:
    workspace = view.workspace
    undo, redo = (
        form(view, own, kept(hidden), button(text, disabled=not able), region="content", class_="inline")
        for own, text, able in (("undo", said.UNDO, workspace.can_undo), ("redo", said.REDO, workspace.can_redo))
    )
    link = element("a", said.DICTIONARY, href=view.to("columns", view="dictionary"), class_="plain-button")
    return element("div", undo, redo, link, post_button(view, "open_yaml", said.YAML), class_="buttons")


def _lists(roles: Mapping[str, str], noticed: Mapping[str, Any]) -> dict[str, list[str]]:
    """The columns of each list that can be shown."""
    remarked = {remark["column"] for remark in noticed.get("remarks") or []}
    return {
        "": list(roles),
        **{role: [name for name, own in roles.items() if own == role] for role in said.ROLES},
        CHECK: [name for name in roles if name in remarked],
    }


def _choose(view: View, lists: Mapping[str, Sequence[str]], which: str, hidden: Mapping[str, str]) -> Html:
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
    search = form(view, "find", kept(hidden), label, field, button(said.FIND_BUTTON), wrong, class_="inline-fields")
    return element("div", element("nav", element("ul", links, class_="lists"), aria_label=said.LIST), search, class_="choose")


def _pager(view: View, start: int, total: int, which: str) -> Html | None:
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


def _several(view: View, found: Mapping[str, Any], hidden: Mapping[str, str]) -> Html:
    roles = [("", "–"), *said.ROLES.items()]
    codes = found["missing"]
    fields = [
        element("p", said.SEVERAL_HINT, class_="hint"),
        tick(view, "every", said.EVERY),
        column_panels.reason(view, "reason", said.REASON),
        tick(view, "codes", said.WHOLE_CODES) if codes["codes"] and codes["observed"] else None,
        button(said.MAKE_PUBLIC, name="do", value="public"),
        select(view, "new_role", said.NEW_ROLE, roles),
        button(said.SET_ROLE, name="do", value="role"),
    ]
    inner = form(view, "many", kept(hidden), fields, region="content", id=MANY, class_="fields")
    return element("details", element("summary", said.SEVERAL), inner, open="do" in view.typed)


def _about(found: Mapping[str, Any], total: int, notes: Sequence[str]) -> Html:
    lines = [said.marked(found["marked"], total), said.codes(found["missing"])]
    listed = element("details", element("summary", said.notes(len(notes))), element("ul", [element("li", n) for n in notes]))
    return join([element("p", line, class_="soft") for line in lines if line], listed if notes else None)


def _asked(view: View, name: str) -> str:
    """What the address asks for, or the form that was refused."""
    return view.typed.get(name, "") or view.query.get(name, "")


def _which(view: View, lists: Mapping[str, Sequence[str]]) -> str:
    asked = _asked(view, "show")
    return asked if asked in lists else ""


def _start(view: View, total: int) -> int:
    asked = _asked(view, "start")
    start = int(asked) if asked.isdecimal() and len(asked) < 9 else 0
    return min(start, max(0, total - 1)) // PAGE * PAGE


def _hidden(which: str, start: int) -> dict[str, str]:
    return {name: value for name, value in (("show", which), ("start", str(start) if start else "")) if value}


def _place(text: str, names: Sequence[str]) -> int:
    if not text.isdecimal() or len(text) > 9 or int(text) >= len(names):
        raise InputError(said.STRANGE_COLUMN, where="column")
    return int(text)


def _back(view: View, form: Form, anchor: str = "") -> str:
    """The list that a form came from."""
    asked = {name: form.get(name, "") for name in ("show", "start")}
    return view.to("columns", **asked) + (f"#{anchor}" if anchor else "")


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
        made = await view.ask("edit", columns=list(columns), change=dict(change), file=str(workspace.schema), limit=60.0)
    except InputError as error:
        raise _placed(view, error) from None
    if made != workspace.schema_text():
        workspace.change_schema(made, view.screen, text, reason)


async def set_role(view: View, form: Form) -> str:
    """Give one column another role."""
    names = list(view.workspace.roles())
    place = _place(form.get("column", ""), names)
    role = form.one_of("role", said.ROLES, "plain")
    form.check()
    if view.workspace.roles()[names[place]] != role:
        await _edit(view, [names[place]], {"role": role}, said.set_role([names[place]], role))
    return _back(view, form, f"field-column.{place}")


async def many(view: View, form: Form) -> str:
    """Declare several columns public with one reason, or give them one role."""
    names, lists = list(view.workspace.roles()), _lists(view.workspace.roles(), view.workspace.noticed())
    listed = lists.get(form.get("show", ""), names)
    chosen = list(listed) if "every" in form else [names[_place(text, names)] for text in form.all("column")]
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
    return _back(view, form)


async def offer(view: View, form: Form) -> str:
    """Do what is offered with a remark."""
    names = list(view.workspace.roles())
    place = _place(form.get("column", ""), names)
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
        await _edit(view, [name], {"missing": missing}, said.changed(name, [said.new_missing(len(missing))]))
    else:
        await _edit(view, [name], {"freed": True}, said.changed(name, [said.FREED]))
    return _back(view, form, f"field-column.{place}")


async def change(view: View, form: Form) -> str:
    """What is said of one column beside its role."""
    names, workspace = list(view.workspace.roles()), view.workspace
    place = _place(form.get("column", ""), names)
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


async def set_persons(view: View, form: Form) -> str:
    """Say which column says whom a row is about, or that each row is one person."""
    workspace, own = view.workspace, persons(view.workspace)
    found = await view.ask("persons", apart=households(workspace))
    usual = {one["name"]: one["usual"] for one in found["columns"]}
    by = form.one_of("person", ["", *usual, *([own.by] if own.by else [])])
    rows = form.whole("rows_per_person", 1) if by else None
    form.check()
    said_now = Persons(by or None, rows or usual.get(by, 1), known=True)
    if said_now != own:
        workspace.choose(NAME, {"by": by, "rows": said_now.rows})
        view.journal(said_of_persons.chosen(said_now.by, said_now.rows))
    return _back(view, form, "persons")


async def find(view: View, form: Form) -> str:
    """The page with the first column whose name holds a text, after the present page if there is one."""
    text, names = form.text("find").casefold(), list(view.workspace.roles())
    places = [place for place, name in enumerate(names) if text and text in name.casefold()]
    if not places:
        form.fault("find", said.NOT_FOUND)
        form.check()
    return view.to("columns", start=places[0] // PAGE * PAGE or None) + f"#field-column.{places[0]}"


async def undo(view: View, form: Form) -> str:
    """Go back by one change."""
    view.workspace.undo(view.screen)
    return _back(view, form)


async def redo(view: View, form: Form) -> str:
    """Make the change again that was undone last."""
    view.workspace.redo(view.screen)
    return _back(view, form)


async def open_yaml(view: View, form: Form) -> str:
    """Show the YAML: it holds values that were read from the rows, so it is noted."""
    view.journal(said.OPENED_YAML)
    view.workspace.choose("columns", {**view.workspace.chosen("columns"), "yaml": True})
    return view.to("columns", view="yaml")


async def write_yaml(view: View, form: Form) -> str:
    """Take the schema as somebody wrote it."""
    text = form.get("yaml", "").replace("\r\n", "\n")
    try:
        made = await view.ask("check", text=text, folder=str(view.workspace.folder), limit=60.0)
    except InputError as error:
        raise _placed(view, error) from None
    if made != view.workspace.schema_text():
        view.workspace.change_schema(made, view.screen, said.WROTE_YAML)
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
    told = {"file": path.name, "declared": list(found["declared"]), "bare": found["bare"], "faults": found["faults"]}
    workspace.choose("columns", {**workspace.chosen("columns"), "dictionary": told})
    return view.to("columns")


async def headline(view: View) -> Html:
    """Whom the columns that others may know single out."""
    return await _headline(view)


async def _headline(view: View) -> Html:
    return column_grid.headline(await _singled_out(view))


async def saturated(view: View) -> Html:
    """Why the bars of what columns add are all short, where they are."""
    text = said.saturated(await _singled_out(view))
    return join(element("p", text, class_="soft small") if text else None)


async def _singled_out(view: View) -> dict[str, Any]:
    """Whom the columns single out; of rows that may not be people, only rows are spoken of."""
    own = persons(view.workspace)
    found = await view.ask("headline", person=own.by)
    return {**found, "rows_only": not own.known and await unsaid(view) is not None}


async def risk(view: View) -> Html:
    """The bars of one column."""
    workspace = view.workspace
    names = list(workspace.roles())
    number = view.query.get("column", "")
    if not number.isdecimal() or len(number) > 9 or int(number) >= len(names):
        return element("span", words.NOTHING)
    lists = _lists(workspace.roles(), workspace.noticed())
    some = lists[_which(view, lists)]
    start = _start(view, len(some))
    found = await view.ask("risk", columns=[names[int(number)]], of=some[start : start + PAGE], person=persons(workspace).by)
    return column_grid.risk_bars(found[0])


def mark(view: View) -> Mark:
    """Done once there are columns that others may know."""
    return Mark.DONE if "quasi" in view.workspace.roles().values() else Mark.ATTENTION


SCREEN = Screen(
    name="columns",
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={
        "role": set_role, "many": many, "offer": offer, "change": change, "find": find, "persons": set_persons,
        "undo": undo, "redo": redo, "open_yaml": open_yaml, "yaml": write_yaml, "dictionary": take_dictionary,
    },
    pieces={"headline": headline, "risk": risk, "saturated": saturated},
    mark=mark,
)  # fmt: skip
