"""A strict reader of pages: every tag closed in order, and a list of what it met."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "col", "wbr", "input"}
SHAPES = {"rect", "line", "path", "circle", "text"}


@dataclass
class Element:
    """An element with its attributes, its ancestors and the text directly or deeper inside it."""

    name: str
    attributes: dict[str, str | None]
    parents: list[Element] = field(repr=False)
    text: str = ""

    def has(self, name: str) -> bool:
        """Whether it has a class."""
        return name in (self.attributes.get("class") or "").split()


class Reader(HTMLParser):
    """Collects elements; raises AssertionError where tags are not balanced."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(page)
        self.close()
        assert not self._open, f"never closed: {[e.name for e in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice: {tag} {attrs}"
        result = Element(tag, dict(attrs), list(self._open))
        self.elements.append(result)
        if tag not in VOID:
            self._open.append(result)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SHAPES, f"only shapes close themselves, not {tag}"
        self.elements.append(Element(tag, dict(attrs), list(self._open)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1].name == tag, f"</{tag}> closes <{self._open[-1].name}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for parent in self._open:
            parent.text += data

    def all(self, name: str, class_: str = "") -> list[Element]:
        """Elements of a name, and of a class if one is given."""
        return [e for e in self.elements if e.name == name and (not class_ or e.has(class_))]

    def one(self, name: str, class_: str = "") -> Element:
        """The only such element."""
        (result,) = self.all(name, class_)
        return result

    @property
    def text(self) -> str:
        """What a person reads in the body."""
        return " ".join(self.one("body").text.split())


def number(element: Element, name: str) -> float:
    """An attribute as a number."""
    return float(element.attributes[name] or "nan")
