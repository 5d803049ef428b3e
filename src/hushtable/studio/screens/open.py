"""Which table? The start folder, the workspaces of before, and whether a file was read rightly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hushtable.report.html import Child, Html, element, join, table
from hushtable.studio import commands, places, words
from hushtable.studio.forms import Form
from hushtable.studio.parts import button, form, post_button, select, switch
from hushtable.studio.studio import Reading
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import open as said
from hushtable.studio.workspace import Workspace

ENCODINGS = ("", "cp1252", "latin-1", "utf-16")
HEADERS = ("judged", "yes", "no")


async def show(view: View) -> Shown:
    """What is at work, or else the open table, or else what can be opened."""
    reading = view.studio.reading
    if reading is not None and reading.at_work:
        return Shown(_reading(view, reading), refresh=True, title=words.percent(reading.share))
    if reading is not None and reading.faults:
        content = join(
            element("p", said.unreadable(reading.path.name), class_="lead"),
            _layout(view, reading.layout, []),
            _choose(view, folded=True),
        )
        return Shown(content, faults=reading.faults)
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
    workspace, found = view.workspace, await view.ask("first_look")
    heads = found["names"]
    rows = [[words.NOTHING if cell is None else cell for cell in row] for row in found["rows"]]
    more = element("p", said.more_columns(found["more"]), class_="soft") if found["more"] else None
    roles = workspace.roles()
    questioned = said.questioned([name for name in roles if said.odd_name(name)])
    changed = element("p", said.CHANGED, class_="caution") if workspace.changed else None
    return join(
        element("p", said.was_read(workspace.project.table, workspace.project.rows, workspace.project.columns), class_="lead"),
        element("div", changed, post_button(view, "anew", said.READ_AGAIN), class_="alert") if changed else None,
        element("p", questioned, class_="caution") if questioned else None,
        element("section", element("h2", said.RIGHTLY), element("p", said.MASKED, class_="soft"),
                table(heads, rows, label=said.MASKED_LABEL, sortable=False, class_="masked"), more),
        element("p", element("a", said.GO_ON, href=view.to("columns"), class_="main")),
        element(
            "details", element("summary", said.NOT_RIGHTLY), _layout(view, workspace.project.layout, list(roles)),
            open=bool(view.faults),
        ),
    )  # fmt: skip


def _layout(view: View, layout: dict[str, Any], names: Sequence[str]) -> Html:
    header = "judged" if layout.get("header") is None else "yes" if layout["header"] else "no"
    index = [("", said.NO_INDEX), *((name, name) for name in names)]
    fields: list[Child] = [
        switch(view, "header", said.HEADER, [(own, said.HEADER_WORDS[own]) for own in HEADERS], header),
        select(
            view, "encoding", said.ENCODING, [(own, said.ENCODING_WORDS[own]) for own in ENCODINGS], layout.get("encoding") or ""
        ),
        select(view, "index", said.INDEX, index, "", hint=said.INDEX_HINT) if names else None,
    ]
    return form(view, "layout", fields, button(said.READ_AGAIN, main=not names), class_="fields")


def _choose(view: View, *, folded: bool) -> Html:
    files = view.studio.files
    folder = files.folder(view.query.get("folder", ""))
    entries, more = files.listing(folder)
    up = None if folder == files.root else element("p", element("a", said.UP, href=view.to("open", folder=_up(view))))
    rows = [
        [element("a", f"{e.name}/", href=view.to("open", folder=e.id)), said.FOLDER, ""] if e.folder
        else [e.name, words.size(e.bytes), post_button(view, "table", said.OPEN, file=e.id)]
        for e in entries
    ]  # fmt: skip
    listing = table([said.NAME, said.SIZE, said.ACTION], rows, label=said.LISTING, sortable=False, class_="files") if rows else None
    known = [path for path in places.recent() if files.inside(path)]
    recent = [
        element("li", element("span", said.workspace(path.name)), post_button(view, "recent", said.GO_ON_WITH, file=files.id(path)))
        for path in known
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
    """Read the table again as its reader says that it is written, and draft its schema anew; or say which column is an index."""
    reading = view.studio.reading
    path = reading.path if reading is not None else view.workspace.table
    header = form.one_of("header", HEADERS, "judged")
    encoding = form.one_of("encoding", ENCODINGS)
    form.check()
    layout: dict[str, Any] = {"header": None if header == "judged" else header == "yes", "names": [], "encoding": encoding}
    held = {} if reading is not None else view.workspace.project.layout
    if index := form.get("index", ""):
        changed = await view.ask("index", column=index)
        view.workspace.change_schema(changed, "open", said.index_column(index))
    if reading is not None or {**layout} != {"header": None, "names": [], "encoding": "", **held}:
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
