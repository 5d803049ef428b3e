"""How may values become coarser? The ladder of each column that others may know, and the builders of another."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.errors import InputError
from hushtable.report.html import Child, Html, element, join, table
from hushtable.studio import commands
from hushtable.studio.forms import Form
from hushtable.studio.parts import button, field, form, later, post_button, select, tick
from hushtable.studio.persons import persons
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import levels as said
from hushtable.table.disk import whole_file

NAME = "levels"
LISTED = 40
"""So many columns are listed as links; of more one is picked from a list."""
CHIPS = 6
"""So many groups of a level are shown unfolded."""
HIERARCHIES = (".csv", ".txt", ".tsv")


async def show(view: View) -> Shown:
    """The ladder of one column, and what builds another."""
    try:
        columns = await view.ask("ladders")
    except InputError as error:
        # A change by hand may have made a schema that the rows do not fit: it can be undone.
        return Shown(_history(view, {"number": ""}), faults=error.faults)
    if not columns:
        return Shown(element("p", said.NONE, " ", element("a", said.TO_COLUMNS, href=view.to("columns")), class_="lead"))
    column = _column(view, columns)
    whole = column["name"] in view.workspace.chosen(NAME).get("shown", [])
    page = _number(view, "page")
    found = await view.ask("ladder", column=column["name"], page=page, all_values=whole, person=_person(view))
    ladder: Child
    if found["wrong"]:
        ladder = element("ul", [element("li", wrong) for wrong in found["wrong"]], class_="caution")
    elif "beside" in view.query:
        levels = _looked_at(view)
        ladder = _ladder(found, await view.ask("beside", column=column["name"], levels=levels, person=_person(view)), levels)
    else:
        ladder = later(view, "ladder", _ladder(found, None, {}), column=column["number"])
    headline = None if found["wrong"] else said.headline(column["name"], len(found["levels"]) - 1, found["origin"])
    content = join(
        element("p", said.WHAT, class_="soft"),
        _columns(view, columns, column),
        element("div", element("p", headline, class_="lead"), _history(view, column), class_="alert"),
        element("p", said.spec(found["spec"]), class_="soft") if found["spec"] else None,
        element(
            "div",
            _values(view, column, found, whole) if not found["wrong"] else None,
            element("section", element("h2", said.LADDER), ladder, _without_script(view, column)),
            class_="ladder-room",
        ),
        await _builders(view, column, found),
        await _by_hand(view, column, whole) if found["builder"] == "groups" and not found["wrong"] else None,
        _order(view, column, found) if found.get("ordered") else None,
        element("p", element("a", said.EXPLORE, href=view.to("explorer"), class_="main")),
    )
    return Shown(content, commands.hierarchy(view.workspace, column["name"], found["spec"]))


def _person(view: View) -> str | None:
    return persons(view.workspace).by


def _column(view: View, columns: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    number = view.typed.get("column") or view.query.get("column", "")
    return next((one for one in columns if str(one["number"]) == number), columns[0])


def _number(view: View, name: str, otherwise: int = 0) -> int:
    text = view.typed.get(name) or view.query.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 8 else otherwise


def _looked_at(view: View) -> dict[str, int]:
    return dict(view.workspace.chosen("explorer").get("levels", {}))


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


def _values(view: View, column: Mapping[str, Any], found: Mapping[str, Any], whole: bool) -> Html:
    rows = [[value["label"], said.people(value["people"])] for value in found["values"]]
    listing = (
        table([said.VALUE, said.COUNT], rows, label=said.VALUES, numbers=[1], sortable=False, class_="narrow") if rows else None
    )
    number = str(column["number"])
    hidden = (
        element("div", element("p", said.hidden(found["hidden"]), class_="soft"),
                post_button(view, "show_values", said.SHOW_ALL, region="content", column=number), class_="alert")
        if found["hidden"] else None
    )  # fmt: skip
    shown = (
        element("div", element("p", said.SHOWN_ALL, class_="soft"),
                post_button(view, "hide_values", said.HIDE_ALL, region="content", column=number), class_="alert")
        if whole else None
    )  # fmt: skip
    notes: list[Child] = [
        element("p", said.unlisted(found["unlisted"]), class_="soft") if found["unlisted"] else None,
        element("p", said.missing(found["missing"]), class_="soft") if found["missing"] != 0 else None,
    ]
    pages = _pages(view, column, "page", found["page"], found["pages"])
    return element("section", element("h2", said.VALUES), element("div", listing, class_="value-list"), pages, hidden, shown, notes)


def _pages(view: View, column: Mapping[str, Any], name: str, page: int, pages: int, **more: object) -> Html | None:
    if pages < 2:
        return None
    links = [
        element(
            "a", str(at + 1), href=view.to(NAME, column=column["number"], **{name: at}, **more),
            aria_current="page" if at == page else None, aria_label=f"{said.PAGE} {at + 1}",
        )
        for at in range(pages)
    ]  # fmt: skip
    return element("nav", links, class_="pages", aria_label=said.PAGE)


def _ladder(found: Mapping[str, Any], beside: Sequence[Mapping[str, int]] | None, levels: Mapping[str, int]) -> Html:
    others = {name: level for name, level in levels.items() if name != found["name"]}
    rungs = [
        _rung(
            place, level, None if beside is None or place >= len(beside) else beside[place], top=place == len(found["levels"]) - 1
        )
        for place, level in enumerate(found["levels"])
    ]
    note = element("p", f"{said.LEFT_BESIDE}: {said.beside(others)}.", class_="soft") if beside is not None else None
    return join(element("ol", reversed(rungs), class_="ladder", reversed=True, start=0), note)


def _rung(place: int, level: Mapping[str, Any], beside: Mapping[str, int] | None, *, top: bool) -> Html:
    groups = [] if place == 0 or top else [
        element("li", group["label"], " ", element("span", said.people(group["people"]), class_="soft"))
        for group in level["groups"]
    ]  # fmt: skip
    beyond = level["size"] - len(groups)
    rest: list[Child] = [element("li", said.more(beyond), class_="soft")] if groups and beyond > 0 else []
    what = said.TOP if top else said.AS_IS if place == 0 else said.size(level["size"])
    leaves: list[Child] = [element("div", element("dt", said.LEFT_ALONE), element("dd", said.leaves(level["leaves"])))]
    if beside is not None:
        leaves.append(element("div", element("dt", said.LEFT_BESIDE), element("dd", said.leaves(beside))))
    folded = groups[CHIPS:] + rest
    return element(
        "li",
        element(
            "div",
            element("p", element("strong", said.level(place)), f" · {what}"),
            element("ul", groups[:CHIPS], class_="chips") if groups else None,
            element(
                "details", element("summary", f"{said.ALL_GROUPS} ({said.level(place)})"), element("ul", folded, class_="chips")
            )
            if folded
            else None,
        ),
        element("dl", leaves),
        class_="rung",
    )


def _without_script(view: View, column: Mapping[str, Any]) -> Html | None:
    if "beside" in view.query:
        return None
    link = element("a", said.COUNT_BESIDE, href=view.to(NAME, column=column["number"], beside="yes"))
    return element("noscript", element("p", link))


async def _builders(view: View, column: Mapping[str, Any], found: Mapping[str, Any]) -> Html:
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


async def _by_hand(view: View, column: Mapping[str, Any], whole: bool) -> Html | None:
    level, page = _number(view, "level", 1), _number(view, "members")
    found = await view.ask("members", column=column["name"], level=level, page=page, all_values=whole, person=_person(view))
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
        _pages(view, column, "members", found["page"], found["pages"], level=level), remove, id="by-hand",
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


def _order(view: View, column: Mapping[str, Any], found: Mapping[str, Any]) -> Html:
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


async def ladder(view: View) -> Html:
    """The ladder with what each level leaves together with the other columns."""
    columns = await view.ask("ladders")
    column = _column(view, columns)
    whole = column["name"] in view.workspace.chosen(NAME).get("shown", [])
    found = await view.ask("ladder", column=column["name"], all_values=whole, person=_person(view))
    levels = _looked_at(view)
    beside = await view.ask("beside", slot="levels-beside", column=column["name"], levels=levels, person=_person(view))
    return _ladder(found, beside, levels)


async def build(view: View, form: Form) -> str:
    """Give a column another hierarchy."""
    column = await _asked_for(view, form)
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
            person=_person(view),
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
    column = await _asked_for(view, form)
    _require_unchanged(view, form)
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
    column = await _asked_for(view, form)
    _require_unchanged(view, form)
    level, path = form.whole("level", 1) or 1, _path(view, column["name"])
    form.check()
    found = await view.ask("remove_level", column=column["name"], level=level, path=path)
    _save(view, found, said.removed(column["name"], level), path=path)
    return view.to(NAME, column=column["number"])


async def order(view: View, form: Form) -> str:
    """Put a value of an order before or after its neighbour."""
    column = await _asked_for(view, form)
    _require_unchanged(view, form)
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
    column = await _asked_for(view, form)
    shown = view.workspace.chosen(NAME).get("shown", [])
    view.workspace.choose(NAME, {**view.workspace.chosen(NAME), "shown": [*shown, column["name"]]})
    view.journal(said.looked(column["name"]))
    return view.to(NAME, column=column["number"])


async def hide_values(view: View, form: Form) -> str:
    """Hide them again."""
    column = await _asked_for(view, form)
    shown = [name for name in view.workspace.chosen(NAME).get("shown", []) if name != column["name"]]
    view.workspace.choose(NAME, {**view.workspace.chosen(NAME), "shown": shown})
    return view.to(NAME, column=column["number"])


async def _asked_for(view: View, form: Form) -> Mapping[str, Any]:
    columns: list[dict[str, Any]] = await view.ask("ladders")
    found = next((one for one in columns if str(one["number"]) == form.get("column", "")), None)
    if found is None:
        raise InputError(said.CHANGED_MEANWHILE, where="column")
    return found


def _require_unchanged(view: View, form: Form) -> None:
    """What is numbered on a page is what it was when the page was shown."""
    if form.get("at", "") != str(view.workspace.project.schema_at):
        raise InputError(said.CHANGED_MEANWHILE, where="at")


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
