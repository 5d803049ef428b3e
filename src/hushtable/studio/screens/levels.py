"""How may values become coarser? The ladder of each column that others may know, and the builders of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.errors import InputError
from hushtable.report.html import Child, Html, element, join
from hushtable.studio import commands
from hushtable.studio.parts import button, later, post_button
from hushtable.studio.screens.level_builders import LISTED, builders, by_hand, order_of
from hushtable.studio.screens.level_changes import build, hide_values, move, order, redo, remove, show_values, undo
from hushtable.studio.screens.level_column import NAME, column_of, looked_at, number_of, person
from hushtable.studio.screens.level_ladder import drawn_ladder, values
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import levels as said


async def show(view: View) -> Shown:
    """The ladder of one column, and what builds another."""
    try:
        columns = await view.ask("ladders")
    except InputError as error:
        # A change by hand may have made a schema that the rows do not fit: it can be undone.
        return Shown(_history(view, {"number": ""}), faults=error.faults)
    if not columns:
        return Shown(element("p", said.NONE, " ", element("a", said.TO_COLUMNS, href=view.to("columns")), class_="lead"))
    column = column_of(view, columns)
    whole = column["name"] in view.workspace.chosen(NAME).get("shown", [])
    page = number_of(view, "page")
    found = await view.ask("ladder", column=column["name"], page=page, all_values=whole, person=person(view))
    ladder: Child
    if found["wrong"]:
        ladder = element("ul", [element("li", wrong) for wrong in found["wrong"]], class_="caution")
    elif "beside" in view.query:
        levels = looked_at(view)
        ladder = drawn_ladder(found, await view.ask("beside", column=column["name"], levels=levels, person=person(view)), levels)
    else:
        ladder = later(view, "ladder", drawn_ladder(found, None, {}), column=column["number"])
    headline = None if found["wrong"] else said.headline(column["name"], len(found["levels"]) - 1, found["origin"])
    content = join(
        element("p", said.WHAT, class_="soft"),
        _columns(view, columns, column),
        element("div", element("p", headline, class_="lead"), _history(view, column), class_="alert"),
        element("p", said.spec(found["spec"]), class_="soft") if found["spec"] else None,
        element(
            "div",
            values(view, column, found, whole) if not found["wrong"] else None,
            element("section", element("h2", said.LADDER), ladder, _without_script(view, column)),
            class_="ladder-room",
        ),
        await builders(view, column, found),
        await by_hand(view, column, whole) if found["builder"] == "groups" and not found["wrong"] else None,
        order_of(view, column, found) if found.get("ordered") else None,
        element("p", element("a", said.EXPLORE, href=view.to("explorer"), class_="main")),
    )
    return Shown(content, commands.hierarchy(view.workspace, column["name"], found["spec"]))


def _columns(view: View, columns: Sequence[Mapping[str, Any]], current: Mapping[str, Any]) -> Html:
    if len(columns) > LISTED:
        options = [
            element("option", said.about(one), value=str(one["number"]), selected=one is current) for one in columns
        ]  # fmt: skip
        return element(
            "form", element("label", said.COLUMN, for_="field-pick"),
            element("select", options, id="field-pick", name="column", data_submit=True), button(said.SHOW),
            method="get", action=view.to(NAME), class_="inline-fields",
        )  # fmt: skip
    links = [
        element(
            "li",
            element(
                "a", one["name"], element("span", " ●", aria_hidden="true") if one["own"] else None,
                href=view.to(NAME, column=one["number"]), aria_current="true" if one is current else None,
                aria_label=said.about(one),
            ),
        )
        for one in columns
    ]  # fmt: skip
    return element("nav", element("ul", links), class_="tabs", aria_label=said.COLUMNS)


def _history(view: View, column: Mapping[str, Any]) -> Html:
    workspace, number = view.workspace, str(column["number"])
    steps = [
        post_button(view, "undo", said.UNDO, region="content", column=number) if workspace.can_undo else None,
        post_button(view, "redo", said.REDO, region="content", column=number) if workspace.can_redo else None,
    ]
    return element("div", steps, class_="buttons")


def _without_script(view: View, column: Mapping[str, Any]) -> Html | None:
    if "beside" in view.query:
        return None
    link = element("a", said.COUNT_BESIDE, href=view.to(NAME, column=column["number"], beside="yes"))
    return element("noscript", element("p", link))


async def ladder(view: View) -> Html:
    """The ladder with what each level leaves together with the other columns."""
    columns = await view.ask("ladders")
    column = column_of(view, columns)
    whole = column["name"] in view.workspace.chosen(NAME).get("shown", [])
    found = await view.ask("ladder", column=column["name"], all_values=whole, person=person(view))
    levels = looked_at(view)
    beside = await view.ask("beside", slot="levels-beside", column=column["name"], levels=levels, person=person(view))
    return drawn_ladder(found, beside, levels)


def mark(view: View) -> Mark:
    """Done once a ladder was chosen or the levels were; recipes that do not generalize need neither."""
    chosen = view.workspace.chosen(NAME).get("changed") or view.workspace.chosen("explorer").get("current")
    return Mark.DONE if chosen else Mark.TODO


SCREEN = Screen(
    name=NAME,
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={
        "build": build, "move": move, "remove": remove, "order": order, "undo": undo, "redo": redo, "show_values": show_values,
        "hide_values": hide_values,
    },
    pieces={"ladder": ladder},
    mark=mark,
)  # fmt: skip
