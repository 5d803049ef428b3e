"""Markup that cannot forget to escape, and the page around it: one file that fetches nothing and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import html
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


class Html(str):
    """Text that is markup already. Any other text is escaped when it becomes a child of an element."""

    __slots__ = ()


INTERNAL = "INTERNAL: computed from the raw rows, do not publish"
"""What every page, and every printed sheet, of what is private says."""

UNFOLD = "Printed are the parts that were open on the screen; of all others only what they say in one line."
"""The last line of a printed page that has folded parts."""

Child = str | int | float | None | Iterable["Child"]
Attribute = str | int | float | bool | None

_VOID = {"meta", "link", "br", "hr", "col", "wbr", "input"}
_CLOSED = {"rect", "line", "path", "circle"}
_BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def escape(text: str) -> Html:
    """Data as markup that shows it: nothing in it can open a tag, end an attribute, reverse the line or break the encoding."""
    return Html(html.escape("".join(map(_visible, text)), quote=True))


def element(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """One element. ``class_`` is written class, underscores are hyphens; an attribute that is None or False is left out."""
    opened = name + "".join(_attribute(key, value) for key, value in attributes.items())
    inner = join(*children)
    if name in _VOID:
        return Html(f"<{opened}>")
    return Html(f"<{opened}/>") if name in _CLOSED and not inner else Html(f"<{opened}>{inner}</{name}>")


def join(*children: Child) -> Html:
    """Several children one after the other; None is nothing."""
    return Html("".join(_child(child) for child in children))


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is sorted by a number, not by what it shows."""

    shown: Child
    by: float | None


@dataclass(frozen=True)
class Section:
    """A part of a page, reached from the table of contents."""

    anchor: str
    title: str
    body: Html
    gist: str = ""
    """What it says in one line, for a part that is folded away, on the screen and on paper, until somebody opens it."""


def page(
    *, title: str, head: Html, sections: Iterable[Section], kind: str, running: str = "", scripts: Iterable[str] = ("report.js",)
) -> str:
    """A whole document. ``running`` is shown at the top while scrolling, and at the top and bottom of every printed page.

    Its head and its first part come before everything, the table of contents too: on a small screen they are all that is seen.
    Paper shows of a folded part what the screen shows: its title and its gist, unless it was opened.

    ``scripts`` are files of this package that make reading easier (what a mark says on touch, tables that sort); without them
    everything is still there.
    """
    code = "\n".join(resource(name) for name in scripts)
    sections = list(sections)
    entries = [element("li", element("a", s.title, href=f"#{s.anchor}")) for s in sections]
    contents = element(
        "nav", element("p", "Contents", class_="eyebrow"), element("ol", entries), class_="contents", aria_label="Contents"
    )
    parts = [fragment(s) for s in sections]
    partly = any(s.gist for s in sections)
    main = join(element("header", head), parts[:1], contents, parts[1:], element("p", UNFOLD, class_="unfold") if partly else None)
    body = element(
        "body",
        element("a", "Skip to the content", class_="skip", href="#main"),
        element("div", running, class_="running top", role="note") if running else None,
        element("div", element("main", main, id="main"), class_="frame"),
        element("div", running, class_="running bottom", aria_hidden="true") if running else None,
        element("script", Html(code)) if code else None,
        class_=kind,
    )
    return f"<!doctype html>\n{element('html', _head(title, code), body, lang='en')}\n"


def table(
    heads: Iterable[str],
    rows: Iterable[Iterable[Child | Cell]],
    *,
    label: str,
    numbers: Iterable[int] = (),
    class_: str = "",
    sortable: bool = True,
) -> Html:
    """A table that scrolls inside its own frame; the columns in ``numbers`` are aligned as numbers.

    On a small screen each row of more than two cells becomes a card: its first cell, and under it the others with their heads.
    With a script it can be sorted by any column, unless it is not ``sortable``, and exported as a file.
    """
    heads, right = list(heads), set(numbers)
    top = [element("th", head, scope="col", class_="num" if i in right else None) for i, head in enumerate(heads)]
    wide = len(heads) > 2
    # The first cell is the name of its card, unless it is a number.
    labels = [heads[0] if 0 in right else None, *heads[1:]] if wide else [None] * len(heads)
    # A browser may forget what a table is where its cells are not shown as cells.
    roles = {name: name if wide else None for name in ("table", "rowgroup", "row", "cell")}
    body = [
        element(
            "tr",
            [_data(cell, "num" if i in right else None, labels[i], roles["cell"]) for i, cell in enumerate(row)],
            role=roles["row"],
        )
        for row in rows
    ]
    kind = " ".join(word for word in ("sortable" if sortable else "", "cards" if wide else "", class_) if word)
    caption = element("caption", label, class_="unseen")
    inner = element(
        "table", caption, element("thead", element("tr", top)), element("tbody", body, role=roles["rowgroup"]),
        class_=kind or None, role=roles["table"],
    )  # fmt: skip
    return element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=label)


def pairs(items: Iterable[tuple[Child, Child]], class_: str = "facts") -> Html:
    """A list of terms, each with what is said about it."""
    return element("dl", [element("div", element("dt", term), element("dd", text)) for term, text in items], class_=class_)


def fragment(part: Section) -> Html:
    """A part of a page as markup by itself, folded to its gist if it has one."""
    title = element("h2", part.title)
    if not part.gist:
        return element("section", title, part.body, id=part.anchor)
    summary = element("summary", title, element("span", part.gist, class_="gist"))
    inner = element("details", summary, element("div", part.body, class_="unfolded"))
    return element("section", inner, id=part.anchor, class_="folded")


def _data(cell: Child | Cell, class_: str | None, label: str | None, role: str | None) -> Html:
    if not isinstance(cell, Cell):
        return element("td", cell, class_=class_, role=role, data_label=label)
    by = "" if cell.by is None else repr(cell.by)
    return element("td", cell.shown, class_=class_, role=role, data_label=label, data_sort=by)


def _head(title: str, code: str) -> Html:
    style = resource("style.css")
    # Only this very stylesheet and script may act on the page: even markup that slipped through could not run, fetch or restyle.
    runs = f"script-src {_hash(code)}; " if code else ""
    policy = f"default-src 'none'; img-src data:; style-src {_hash(style)}; {runs}base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=Html(policy)),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        element("style", Html(style)),
    )


def _hash(text: str) -> str:
    """The source expression that allows this text alone."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def resource(name: str) -> str:
    """The text of a file that lies beside this one: ``style.css``, or a script."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, (str, int, float)):
        return escape(str(child))
    return "".join(_child(item) for item in child)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = value if isinstance(value, Html) else escape(_short(value) if isinstance(value, (int, float)) else value)
    return f' {name}="{text}"'


def _short(value: float) -> str:
    """A coordinate to a hundredth: finer than any screen, and half the bytes."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _visible(char: str) -> str:
    if char in _BIDI or (unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"):
        return "\N{REPLACEMENT CHARACTER}"
    return char
