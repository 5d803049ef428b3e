"""Which table? The start folder, the workspaces of before, and whether a file was read rightly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.errors import InputError
from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.studio import commands, places, words
from hushtable.studio.forms import Form
from hushtable.studio.parts import button, form, post_button, select, switch, tick
from hushtable.studio.studio import Reading
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import open as said
from hushtable.studio.workspace import Workspace

ENCODINGS = ("", "cp1252", "latin-1", "utf-16")
HEADERS = ("judged", "yes", "no")
AS_FOUND: dict[str, Any] = {"header": None, "names": [], "encoding": "", "delimiter": "", "decimal": "", "index": False}
"""Nothing is said of how a file is written."""


async def show(view: View) -> Shown:
    """What is at work, or else the open table, or else what can be opened."""
    reading = view.studio.reading
    if reading is not None and reading.at_work:
        return Shown(_reading(view, reading), refresh=True, title=words.percent(reading.share))
    if reading is not None and reading.faults:
        found = await _peek(view, reading)
        content = join(
            element("p", said.unreadable(reading.path.name), class_="lead"),
            _layout(view, reading.layout, []),
            join(element("p", said.about(found["about"]), class_="soft"), _facts(found), _rows(found)) if found else None,
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


async def _peek(view: View, reading: Reading) -> dict[str, Any] | None:
    """How a file that could not be read begins; None where not even that can be said, which its faults tell."""
    try:
        return dict(await view.ask("peek", path=str(reading.path), layout=reading.layout))
    except InputError:
        return None


async def _look(view: View) -> Html:
    workspace, found = view.workspace, await view.ask("first_look")
    project = workspace.project
    settled = project.layout.get("header") is not None or workspace.chosen("open").get("names") == project.hash
    questioned = found["questioned"] and not settled
    changed = element("p", said.CHANGED, class_="caution") if workspace.changed else None
    large = said.live(found["live"], project.rows) if found["live"] < project.rows else ""
    return join(
        element("p", said.was_read(project.table, project.rows, project.columns), class_="lead"),
        element("div", changed, post_button(view, "anew", said.READ_AGAIN), class_="alert") if changed else None,
        _question(view, found) if questioned else None,
        element("p", large, class_="soft") if large else None,
        element("section", element("h2", said.RIGHTLY), _facts(found), element("p", said.MASKED, class_="soft"), _rows(found)),
        element("p", element("a", said.GO_ON, href=view.to("columns"), class_="plain-button" if questioned else "main")),
        element(
            "details", element("summary", said.NOT_RIGHTLY),
            _layout(view, project.layout, [] if questioned else list(workspace.roles())), open=bool(view.faults),
        ),
    )  # fmt: skip


def _question(view: View, found: Mapping[str, Any]) -> Html:
    """Before anything else: whether the first line is a person's."""
    text = said.questioned(len(found["personal"]), found["verdict"] or "")
    acts = [post_button(view, "names", said.ARE_NAMES)]
    if found["form"] != "parquet" and found["verdict"] != "repeated":
        acts.insert(0, post_button(view, "record", said.IS_RECORD, main=True))
    return element("section", element("h2", said.QUESTION_FIRST), element("p", text, class_="caution"),
                   element("div", acts, class_="buttons"), class_="panel-box")  # fmt: skip


def _facts(found: Mapping[str, Any]) -> Html | None:
    """How the file is written, as it was said or found."""
    ragged = element("p", said.ragged(found["ragged"]), class_="caution") if found["ragged"] else None
    if found["form"] == "parquet":
        return ragged
    layout = found["layout"]
    delimiter, decimal = layout["delimiter"], found["decimal"]
    values = {
        "encoding": layout["encoding"],
        "delimiter": said.DELIMITER_WORDS.get(delimiter, delimiter),
        "decimal": said.DECIMAL_WORDS[decimal] if decimal else said.NO_DECIMALS,
        "header": said.NAMES if layout["header"] else said.RECORD,
        "index": said.NUMBERS_ROWS if layout["index"] else said.LIKE_OTHERS,
    }
    return join(pairs([(said.FOUND[name], value) for name, value in values.items()], class_="written"), ragged)


def _rows(found: Mapping[str, Any]) -> Html:
    rows = [[words.NOTHING if cell is None else cell for cell in row] for row in found["rows"]]
    more = element("p", said.more_columns(found["more"]), class_="soft") if found["more"] else None
    return join(table(found["names"], rows, label=said.MASKED_LABEL, sortable=False, class_="masked"), more)


def _layout(view: View, layout: Mapping[str, Any], names: Sequence[str]) -> Html:
    header = "judged" if layout.get("header") is None else "yes" if layout["header"] else "no"
    index = [("", said.NO_INDEX), *((name, name) for name in names)]
    held = layout.get("encoding") or ""
    encodings = [(own, said.ENCODING_WORDS[own]) for own in ENCODINGS]
    fields: list[Child] = [
        switch(view, "header", said.HEADER, [(own, said.HEADER_WORDS[own]) for own in HEADERS], header),
        select(view, "delimiter", said.DELIMITER, said.DELIMITER_WORDS.items(), layout.get("delimiter") or ""),
        select(view, "encoding", said.ENCODING, encodings, held),
        select(view, "decimal", said.DECIMAL, said.DECIMAL_WORDS.items(), layout.get("decimal") or ""),
        tick(view, "unnamed", said.UNNAMED, bool(layout.get("index")), hint=said.UNNAMED_HINT),
        select(view, "index", said.INDEX, index, "", hint=said.INDEX_HINT) if names else None,
    ]
    return form(view, "layout", fields, button(said.READ_AGAIN, main=view.studio.reading is not None), class_="fields")


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
    layout: dict[str, Any] = {
        "header": None if header == "judged" else header == "yes",
        "names": [],
        "encoding": form.one_of("encoding", ENCODINGS),
        "delimiter": form.one_of("delimiter", said.DELIMITER_WORDS),
        "decimal": form.one_of("decimal", said.DECIMAL_WORDS),
        "index": "unnamed" in form,
    }
    if layout["index"] and header == "no":
        form.fault("unnamed", said.NO_HEADER)
    form.check()
    held = {} if reading is not None else view.workspace.project.layout
    if index := form.get("index", ""):
        changed = await view.ask("index", column=index)
        view.workspace.change_schema(changed, "open", said.index_column(index))
    if reading is not None or layout != {**AS_FOUND, **held}:
        view.studio.read(path, layout, anew=True)
    return view.to("open")


async def is_record(view: View, form: Form) -> str:
    """The first line is somebody's record: read the table again without names."""
    view.studio.read(
        view.workspace.table, {**AS_FOUND, **view.workspace.project.layout, "header": False, "index": False}, anew=True
    )
    return view.to("open")


async def are_names(view: View, form: Form) -> str:
    """The first line holds names, although it does not look so: that is a decision, as names are published."""
    view.workspace.choose("open", {"names": view.workspace.project.hash})
    view.journal(said.NAMES_ARE_NAMES)
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
    actions={
        "table": open_table, "recent": open_recent, "cancel": cancel, "anew": read_anew, "layout": change_layout,
        "record": is_record, "names": are_names,
    },
    mark=mark,
    needs_table=False,
)  # fmt: skip
