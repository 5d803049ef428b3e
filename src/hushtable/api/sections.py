"""The parts of a report one by one, as fragments of markup: for whoever shows them inside a page of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hushtable.api.audit_report import AuditReport
from hushtable.api.report import read_audit
from hushtable.display import meant
from hushtable.errors import InputError
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import load_card
from hushtable.report import audit, card, html
from hushtable.report.html import Html, Section
from hushtable.table.disk import CARD

Maker = TypeVar("Maker")
_CARD: dict[str, Callable[[Card], list[Section]]] = {
    "head": lambda shown: [Section("head", card.heading(shown), card.card_head(shown))],
    "card": card.card_sections,
}


@dataclass(frozen=True)
class Fragment:
    """A part of a report."""

    anchor: str
    """What links inside of the report call it."""
    title: str
    gist: str
    """What it says in one line; empty where it is never folded."""
    html: Html
    """All of it with its title, as on the page: everything in it is escaped, and it has no script and no style of its own."""
    body: Html
    """The same without title and gist."""


def parts(shown: AuditReport | Card | str | Path) -> tuple[str, ...]:
    """What can be asked of an audit (decision, attacks, people, power, promise, use, words) or of a card (head, card)."""
    return tuple(audit.PARTS if isinstance(_loaded(shown), AuditReport) else _CARD)


def sections(shown: AuditReport | Card | str | Path, part: str) -> list[Fragment]:
    """The sections of one part of a report, or of the folder of an audit or a release; nothing else of it is drawn.

    The markup needs the style sheet of the reports (``stylesheet``) to look as it does there.
    """
    loaded = _loaded(shown)
    if isinstance(loaded, AuditReport):
        return _fragments(_known(audit.PARTS, part)(loaded))
    return _fragments(_known(_CARD, part)(loaded))


def stylesheet() -> str:
    """The style sheet of all reports: light and dark, for screen and paper."""
    return html.resource("style.css")


def script() -> str:
    """The script that sorts tables and shows what a mark says; without it everything is still there."""
    return html.resource("report.js")


def _loaded(shown: AuditReport | Card | str | Path) -> AuditReport | Card:
    if isinstance(shown, (AuditReport, Card)):
        return shown
    return Card.from_json(load_card(shown)) if (Path(shown) / CARD).is_file() else read_audit(shown)


def _known(makers: Mapping[str, Maker], part: str) -> Maker:
    if part not in makers:
        raise InputError(f"there is no part {part!r}{meant(part, makers)}; there are {', '.join(makers)}", where="sections")
    return makers[part]


def _fragments(found: Iterable[Section]) -> list[Fragment]:
    return [Fragment(one.anchor, one.title, one.gist, html.fragment(one), one.body) for one in found]
