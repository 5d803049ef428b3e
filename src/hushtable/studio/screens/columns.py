"""Who could be recognised by what? A line for each column, its values masked, and its risk filled in as it is worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Html, element, join
from hushtable.studio import commands, words
from hushtable.studio.forms import Form
from hushtable.studio.parts import button, field, form, later, post_button, select, tick
from hushtable.studio.persons import NAME, Persons, households, persons, unsaid
from hushtable.studio.screens import column_grid, column_panels
from hushtable.studio.screens.column_changes import (
    change,
    many,
    offer,
    open_yaml,
    redo,
    set_role,
    take_dictionary,
    undo,
    write_yaml,
)
from hushtable.studio.screens.column_grid import MANY, hidden_fields
from hushtable.studio.screens.column_lists import (
    PAGE,
    asked_for,
    list_address,
    list_asked,
    list_links,
    lists_of,
    page_start,
    pager,
    place_of,
    way_back,
)
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import columns as said
from hushtable.studio.words import persons as said_of_persons


async def show(view: View) -> Shown:
    """The grid, or one column, the YAML or a data dictionary; with ``risk=all`` with every bar at once, without script."""
    command = commands.profile(view.workspace)
    names = list(view.workspace.roles())
    match asked_for(view, "view"):
        case "column":
            place = place_of(asked_for(view, "column"), names)
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
    lists = lists_of(workspace.roles(), noticed)
    which = list_asked(view, lists)
    some = lists[which]
    start = page_start(view, len(some))
    shown, hidden = some[start : start + PAGE], way_back(which, start)
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
        list_links(view, lists, which, hidden) if len(names) > 12 else None,
        rows,
        pager(view, start, len(some), which),
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
        view, "persons", hidden_fields(hidden), element("div", fields, class_="knob-fields"), button(said_of_persons.SAVE),
        region="content", class_="fields",
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
        form(view, own, hidden_fields(hidden), button(text, disabled=not able), region="content", class_="inline")
        for own, text, able in (("undo", said.UNDO, workspace.can_undo), ("redo", said.REDO, workspace.can_redo))
    )
    link = element("a", said.DICTIONARY, href=view.to("columns", view="dictionary"), class_="plain-button")
    return element("div", undo, redo, link, post_button(view, "open_yaml", said.YAML), class_="buttons")


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
    inner = form(view, "many", hidden_fields(hidden), fields, region="content", id=MANY, class_="fields")
    return element("details", element("summary", said.SEVERAL), inner, open="do" in view.typed)


def _about(found: Mapping[str, Any], total: int, notes: Sequence[str]) -> Html:
    lines = [said.marked(found["marked"], total), said.codes(found["missing"])]
    listed = element("details", element("summary", said.notes(len(notes))), element("ul", [element("li", n) for n in notes]))
    return join([element("p", line, class_="soft") for line in lines if line], listed if notes else None)


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
    return list_address(view, form, "persons")


async def find(view: View, form: Form) -> str:
    """The page with the first column whose name holds a text, after the present page if there is one."""
    text, names = form.text("find").casefold(), list(view.workspace.roles())
    places = [place for place, name in enumerate(names) if text and text in name.casefold()]
    if not places:
        form.fault("find", said.NOT_FOUND)
        form.check()
    return view.to("columns", start=places[0] // PAGE * PAGE or None) + f"#field-column.{places[0]}"


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
    lists = lists_of(workspace.roles(), workspace.noticed())
    some = lists[list_asked(view, lists)]
    start = page_start(view, len(some))
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
