"""Which table? The start folder, the workspaces of before, and whether a file was read rightly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.studio import commands, places, words
from hushtable.studio.forms import Form
from hushtable.studio.parts import button, form, post_button, select, switch, tick
from hushtable.studio.questions import LIVE
from hushtable.studio.studio import Reading
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import open as said
from hushtable.studio.workspace import Workspace


async def show(view: View) -> Shown:
    """What is at work, or else the open table, or else what can be opened."""
    reading = view.studio.reading
    if reading is not None and reading.at_work:
        return Shown(_reading(view, reading), refresh=True, title=words.percent(reading.share))
    if reading is not None and (reading.faults or reading.questioned):
        lead = said.questioned(reading.path.name) if reading.questioned else said.unreadable(reading.path.name)
        rows = _rows(reading.look) if reading.look is not None else None
        fields = _layout(view, reading.layout, reading.look)
        return Shown(join(element("p", lead, class_="lead"), rows, fields, _choose(view, folded=True)), faults=reading.faults)
    if view.opened:
        return Shown(join(await _look(view), _choose(view, folded=True)), commands.schema(view.workspace))
    return Shown(_choose(view, folded=False))


def _reading(view: View, reading: Reading) -> Html:
    rows = [
        element("p", said.reading(reading.path.name), class_="lead"),
        element("progress", max=1, value=reading.share, aria_label=said.READING),
        element("p", element("span", reading.stage, data_part="stage"), class_="soft"),
        post_button(view, "cancel", words.CANCEL, region="content"),
    ]
    return element("div", rows, class_="panel-box", data_job="reading")


async def _look(view: View) -> Html:
    workspace = view.workspace
    project = workspace.project
    found = await view.ask("first_look", path=str(workspace.table), layout=project.layout)
    changed = element(
        "div", element("p", said.CHANGED, class_="caution"), post_button(view, "anew", said.READ_AGAIN), class_="alert"
    )
    return join(
        element("p", said.was_read(project.table, project.rows, project.columns), class_="lead"),
        changed if workspace.changed else None,
        element("p", said.live(LIVE, project.rows), class_="soft") if project.rows > LIVE else None,
        _rows(found),
        element("p", element("a", said.GO_ON, href=view.to("columns"), class_="main")),
        element(
            "details", element("summary", said.NOT_RIGHTLY), _layout(view, project.layout, found), open=bool(view.faults)
        ),
    )  # fmt: skip


def _rows(found: Mapping[str, Any]) -> Html:
    """How the file seems to be written, and its first rows masked."""
    heads = [name or words.NOTHING for name in found["names"]]
    rows = [[cell or words.NOTHING for cell in row] for row in found["rows"]]
    facts = [(label, value) for label, value in said.written(found) if value]
    return element(
        "section", element("h2", said.RIGHTLY), pairs(facts, "facts short"), element("p", said.MASKED, class_="soft"),
        table(heads, rows, label=said.MASKED_LABEL, sortable=False, class_="masked"),
        element("p", said.more_columns(found["more"]), class_="soft") if found["more"] else None,
        element("p", said.ragged(found["ragged"]), class_="caution") if found["ragged"] else None,
    )  # fmt: skip


def _layout(view: View, layout: Mapping[str, Any], found: Mapping[str, Any] | None) -> Html:
    """Everything that can be said of how a text file is written; what is left open is told by its first lines."""
    if found is not None and found["form"] == "parquet":
        return element("p", said.PARQUET, class_="soft")
    header = "judged" if layout.get("header") is None else "yes" if layout["header"] else "no"
    fields: list[Child] = [
        switch(view, "header", said.HEADER, list(said.HEADERS.items()), header),
        select(view, "delimiter", said.DELIMITER, list(said.DELIMITERS.items()), layout.get("delimiter") or ""),
        select(view, "decimal", said.DECIMAL, list(said.DECIMALS.items()), layout.get("decimal") or ""),
        select(view, "encoding", said.ENCODING, list(said.ENCODINGS.items()), layout.get("encoding") or ""),
        tick(view, "index", said.INDEX, bool(layout.get("index")), hint=said.INDEX_HINT),
    ]
    return form(view, "layout", fields, button(said.READ_AGAIN, main=view.studio.reading is not None), class_="fields")


def _choose(view: View, *, folded: bool) -> Html:
    files = view.studio.files
    folder = files.folder(view.query.get("folder", ""))
    entries, more = files.listing(folder)
    up = None if folder == files.root else element("p", element("a", said.UP, href=view.to("open", folder=_up(view))))
    rows = [
        [element("a", f"{e.name}/", href=view.to("open", folder=e.id)), said.FOLDER, ""] if e.folder
        else [e.name, words.size(e.bytes), post_button(view, "table", said.OPEN, about=e.name, file=e.id)]
        for e in entries
    ]  # fmt: skip
    listing = table([said.NAME, said.SIZE, said.ACTION], rows, label=said.LISTING, sortable=False, class_="files") if rows else None
    known = [path for path in places.recent() if files.inside(path)]
    recent = [
        element("li", element("span", name), post_button(view, "recent", said.GO_ON_WITH, about=name, file=files.id(path)))
        for path in known
        if (name := said.workspace(path.name))
    ]
    inner = join(
        element("section", element("h2", said.RECENT), element("ul", recent, class_="listed")) if recent else None,
        element(
            "section", element("h2", said.folder(folder.name)), element("p", said.WHERE_THEY_LIE, class_="soft"), up,
            listing or element("p", said.EMPTY), element("p", said.MORE, class_="soft") if more else None,
        ),
    )  # fmt: skip
    return element("details", element("summary", said.ANOTHER), inner, open="folder" in view.query) if folded else inner


def _up(view: View) -> str:
    files = view.studio.files
    parent = files.folder(view.query.get("folder", "")).parent
    return "" if parent == files.root else files.id(parent)


async def open_table(view: View, form: Form) -> str:
    """Read a table of the start folder."""
    view.studio.read(view.studio.files.file(form.get("file", "")))
    return view.to("open")


async def open_recent(view: View, form: Form) -> str:
    """Go on with a workspace of before."""
    files = view.studio.files
    path = Workspace.table_of(files.workspace(form.get("file", "")))
    view.studio.read(files.file(files.id(path)))
    return view.to("open")


async def cancel(view: View, form: Form) -> str:
    """Stop reading."""
    await view.studio.stop_reading()
    return view.to("open")


async def read_anew(view: View, form: Form) -> str:
    """Read the open table again: it changed."""
    view.studio.read(view.workspace.table)
    return view.to("open")


async def change_layout(view: View, form: Form) -> str:
    """Read the table again as somebody says that it is written, and draft its schema anew."""
    reading = view.studio.reading
    path = reading.path if reading is not None else view.workspace.table
    header = form.one_of("header", said.HEADERS, "judged")
    layout: dict[str, Any] = {
        "header": None if header == "judged" else header == "yes",
        "names": [],
        "encoding": form.one_of("encoding", said.ENCODINGS),
        "delimiter": form.one_of("delimiter", said.DELIMITERS),
        "decimal": form.one_of("decimal", said.DECIMALS),
        "index": form.get("index") == "yes",
    }
    form.check()
    view.studio.read(path, layout, anew=True)
    return view.to("open")


def mark(view: View) -> Mark:
    """Done once a table is open; it wants attention where the file changed."""
    if not view.opened:
        return Mark.TODO
    return Mark.ATTENTION if view.workspace.changed else Mark.DONE


SCREEN = Screen(
    name="open",
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={"table": open_table, "recent": open_recent, "cancel": cancel, "anew": read_anew, "layout": change_layout},
    mark=mark,
    needs_table=False,
)
