"""What speaks against publishing a release, what goes out, and its card as its reader will see it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hushtable as ht
from hushtable.api.publish import ABOUT, Checklist
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import load_card
from hushtable.report.card import card_head, card_sections
from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.disk import CARD


def checklist(
    opened: Opened, *, watch: Watcher, release: str, audit: str | None, source: list[str], about: Mapping[str, str]
) -> dict[str, Any]:
    """Every item of the list with what is wrong or not known; ``source`` is the table and the hash that it had."""
    return plain(ht.checklist(release, audit=audit, source=(source[0], source[1]), about=about))


def plain(found: Checklist) -> dict[str, Any]:
    """A list as plain values, with what must be mended, and what somebody must answer for."""
    return found.to_json() | {
        "refused": [str(check.item) for check in found.refused],
        "answerable": [str(check.item) for check in found.answerable],
    }


def card(opened: Opened, *, watch: Watcher, release: str, about: Mapping[str, str]) -> dict[str, Any]:
    """The card with what is said of the data in place of what it says, as markup; its date; and the files with their hashes."""
    own = load_card(release)
    given = {name: " ".join(text.split()) for name, text in about.items() if text.strip()}
    shown = Card.from_json({**own, **{ABOUT[name]: text for name, text in given.items()}})
    sizes = {path.relative_to(release).as_posix(): path.stat().st_size for path in Path(release).rglob("*") if path.is_file()}
    hashes = {**own["hashes"], CARD: ""}
    return {
        "head": str(card_head(shown, "h3")),
        "parts": [[one.title, str(one.body)] for one in card_sections(shown)],
        "about": {name: str(own.get(entry) or "") for name, entry in ABOUT.items()},
        "date": str(own.get("date") or ""),
        "files": [[name, sizes.get(name, 0), digest] for name, digest in sorted(hashes.items())],
    }
