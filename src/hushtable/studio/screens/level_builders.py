"""What builds another ladder of a column: builders, a file, groups by hand, and the order of its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.report.html import Child, Html, element, join
from hushtable.studio.parts import button, field, form, post_button, select, tick
from hushtable.studio.screens.level_column import HIERARCHIES, NAME, number_of, person
from hushtable.studio.screens.level_ladder import page_links
from hushtable.studio.view import View
from hushtable.studio.words import levels as said

LISTED = 40
"""So many columns are listed as links; of more one is picked from a list."""


async def builders(view: View, column: Mapping[str, Any], found: Mapping[str, Any]) -> Html:
    """The builders that suit the kind of the column, each a form of its own."""
    number = element("input", type="hidden", name="column", value=str(column["number"]))

    def builder(way: str, *children: Child) -> Html:
        way_ = element("input", type="hidden", name="way", value=way)
        return form(view, "build", number, way_, *children, region="content", class_="builder")

    forms: list[Child] = []
    if found["builder"] == "intervals":
        suggested = said.suggestion(found["widths"])
        own = field(view, "widths", said.INTERVALS, suggested, hint=said.INTERVALS_HINT, inputmode="decimal")
        forms.append(builder("intervals", own, button(said.USE_INTERVALS)))
    elif found["builder"] == "dates":
        chosen = found["spec"]["dates"] if isinstance(found["spec"], dict) and "dates" in found["spec"] else found["units"]
        boxes = [
            element(
                "label", element("input", type="checkbox", name="unit", value=unit, checked=unit in chosen, id=f"unit-{place}"),
                element("span", word),
            )
            for place, (unit, word) in enumerate(said.UNIT_WORDS.items())
        ]  # fmt: skip
        fault = view.fault("unit")
        forms.append(
            builder(
                "dates",
                element(
                    "fieldset", element("legend", said.UNITS), element("div", boxes, class_="boxes"),
                    element("p", said.UNITS_HINT, class_="hint"), element("p", fault, class_="fault") if fault else None,
                    class_="field", id="field-unit",
                ),
                button(said.USE_UNITS),
            )
        )  # fmt: skip
    else:
        lengths = ", ".join(map(str, found["lengths"]))
        forms.append(
            builder(
                "frequency", field(view, "least", said.FREQUENCY, "20", hint=said.FREQUENCY_HINT, inputmode="numeric"),
                button(said.USE_FREQUENCY),
            )
        )  # fmt: skip
        forms.append(
            builder(
                "prefix", field(view, "lengths", said.PREFIX, lengths, hint=said.PREFIX_HINT, inputmode="numeric"),
                button(said.USE_PREFIX),
            )
        )  # fmt: skip
    forms.append(_file(view, column, builder))
    if found["origin"] != "derived":
        forms.append(builder("derived", button(said.DERIVED)))
    return element("section", element("h2", said.BUILD), element("div", forms, class_="builders"))


def _file(view: View, column: Mapping[str, Any], builder: Any) -> Html:
    files = view.studio.files
    # Of this screen's own address: what was typed after a fault is in no folder.
    folder = files.folder(view.query.get("folder", ""))
    entries, _ = files.listing(folder, HIERARCHIES)
    tables = [(entry.id, entry.name) for entry in entries if not entry.folder and entry.name != view.workspace.project.table]
    links: list[Child] = [
        element("a", f"{entry.name}/", href=view.to(NAME, column=column["number"], folder=entry.id))
        for entry in entries
        if entry.folder
    ]
    if folder != files.root:
        up = "" if folder.parent == files.root else files.id(folder.parent)
        links.insert(0, element("a", said.UP, href=view.to(NAME, column=column["number"], folder=up)))
    pick: Child = element("p", said.NO_FILES, class_="soft")
    if tables:
        pick = join(
            select(view, "file", said.FILE, tables, hint=said.FILE_HINT),
            tick(view, "fill", said.FILL) if view.fault("file") else None,
            button(said.USE_FILE),
        )
    inner = builder("file", pick, element("p", [join(link, " ") for link in links]) if links else None)
    return element("details", element("summary", said.FILE), inner, open="folder" in view.query or bool(view.fault("file")))


async def by_hand(view: View, column: Mapping[str, Any], whole: bool) -> Html | None:
    """The values of a level to be put into other groups by hand."""
    level, page = number_of(view, "level", 1), number_of(view, "members")
    found = await view.ask("members", column=column["name"], level=level, page=page, all_values=whole, person=person(view))
    if not found["items"]:
        return None
    level, number = found["level"], str(column["number"])
    rows = [_member(item) for item in found["items"]]
    names = (said.MARKED, said.VALUE, said.COUNT, said.GROUP)
    heads = [element("th", name, scope="col", class_="num" if name == said.COUNT else None) for name in names]
    listing = element(
        "table", element("caption", said.BY_HAND, class_="unseen"), element("thead", element("tr", heads)), element("tbody", rows)
    )
    options = [("", said.NEW_GROUP), *((str(g["place"]), said.group_option(g["label"], g["size"])) for g in found["groups"])]
    drops = [
        element("li", group["label"], element("span", f" {group['size']:,}", class_="soft"), data_drop=str(group["place"]))
        for group in found["groups"][:LISTED]
    ]
    tabs = [
        element(
            "li",
            element(
                "a", said.edited(at, found["levels"]), href=view.to(NAME, column=number, level=at) + "#by-hand",
                aria_current="true" if at == level else None,
            ),
        )
        for at in range(1, found["levels"] + 2)
    ]  # fmt: skip
    hidden = [
        element("input", type="hidden", name=name, value=str(value))
        for name, value in (("column", number), ("level", level), ("members", page), ("at", view.workspace.project.schema_at))
    ]
    panel = element(
        "div",
        select(view, "to", said.MOVE_TO, options, "", data_drop_to=True),
        field(view, "label", said.NEW_LABEL, ""),
        button(said.MOVE),
        element("div", element("ul", drops), class_="drops", tabindex=0, role="region", aria_label=said.DROPS),
        class_="move-to",
    )
    fault = view.fault("item")
    remove = (
        post_button(
            view, "remove", f"{said.REMOVE} ({said.level(level)})", region="content", column=number, level=str(level),
            at=str(view.workspace.project.schema_at),
        )
        if level <= found["levels"] else None
    )  # fmt: skip
    return element(
        "section", element("h2", said.BY_HAND), element("p", said.BY_HAND_HINT, class_="soft"),
        element("nav", element("ul", tabs), class_="tabs", aria_label=said.LEVEL),
        element("p", fault, class_="fault") if fault else None,
        form(view, "move", hidden, element("div", listing, class_="scroll value-list", tabindex=0, role="region",
                                           aria_label=said.BY_HAND, id="field-item"),
             panel, region="content", class_="by-hand"),
        page_links(view, column, "members", found["page"], found["pages"], level=level), remove, id="by-hand",
    )  # fmt: skip


def _member(item: Mapping[str, Any]) -> Html:
    label = said.HIDDEN_VALUE if item["label"] is None else item["label"]
    group = said.HIDDEN_VALUE if item["group"] is None else item["group"]
    people = said.people(item["people"])
    box = element(
        "input",
        type="checkbox",
        name="item",
        value=str(item["place"]),
        id=f"item-{item['place']}",
        aria_label=said.take(label, people),
    )
    return element(
        "tr",
        element("td", box),
        element("td", element("label", label, for_=f"item-{item['place']}"), class_="soft" if item["label"] is None else None),
        element("td", people, class_="num"),
        element("td", group),
        data_drag=True,
    )


def order_of(view: View, column: Mapping[str, Any], found: Mapping[str, Any]) -> Html:
    """The order of the values, each moved by a step."""
    # The same name for the same value wherever it stands, so that the focus goes with it.
    names = {label: place for place, label in enumerate(sorted(label for label in found["order"] if label is not None))}
    rows = []
    for place, label in enumerate(found["order"]):
        shown = said.HIDDEN_VALUE if label is None else label
        own = f"hidden-{place}" if label is None else str(names[label])
        up = button(
            said.MOVE_UP, name="up", value=str(place), id=f"up-{own}", aria_label=said.up(shown), disabled=place == 0
        )  # fmt: skip
        down = button(
            said.MOVE_DOWN, name="down", value=str(place), id=f"down-{own}", aria_label=said.down(shown),
            disabled=place == found["ordered"] - 1,
        )  # fmt: skip
        rows.append(element("li", element("span", shown), up, down))
    hidden = [
        element("input", type="hidden", name=name, value=str(value))
        for name, value in (("column", column["number"]), ("at", view.workspace.project.schema_at))
    ]
    more = found["ordered"] - len(found["order"])
    return element(
        "section", element("h2", said.ORDER), element("p", said.ORDER_HINT, class_="soft"),
        form(view, "order", hidden, element("ol", rows, class_="order"), region="content"),
        element("p", said.unlisted(more), class_="soft") if more > 0 else None,
    )  # fmt: skip
