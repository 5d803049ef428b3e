"""Show what a folder of ours holds (a release, an audit, a comparison, hybrids) again, as a page, as Markdown or as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushtable.api.audit_report import AuditReport
from hushtable.api.compare.comparison import Comparison
from hushtable.api.hybrid.result import HybridGrid
from hushtable.errors import InputError
from hushtable.pipeline.card import Card
from hushtable.report.card import card_page
from hushtable.report.markdown import card_markdown
from hushtable.table.disk import refuse_existing, whole_file

FORMATS = ("html", "md", "json")
KINDS: dict[str, frozenset[str]] = {
    "hybrid": frozenset({"cells", "comparison"}),
    "comparison": frozenset({"cells", "recommendation"}),
    "audit": frozenset({"findings", "rows", "card"}),
    "card": frozenset({"recipe", "rows", "guarantee"}),
}
"""What a folder may hold, each as a file of plain values, and the keys without which it is not whole; the first there is shown."""
PUBLIC = frozenset({"card"})
"""What was not computed from raw rows, and may be published."""


@dataclass(frozen=True)
class Document:
    """What a folder holds, as text in one format."""

    kind: str
    """hybrid, comparison, audit or card."""
    text: str

    @property
    def private(self) -> bool:
        """Whether it was computed from raw rows, so that it is not for publication."""
        return self.kind not in PUBLIC


def render(folder: str | Path, format: str = "md", out: str | Path | None = None) -> Document:
    """The card, audit, comparison or hybrids of a saved folder as a page (html), as Markdown (md) or as its plain values (json).

    With ``out`` the text is also written to a new file, which only its owner can read if the text is private.
    """
    if format not in FORMATS:
        raise InputError(f"expected {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {format!r}", where="--format")
    kind, plain = _load(Path(folder))
    if out is not None:
        refuse_existing(Path(out), private=kind not in PUBLIC)
    document = Document(kind, _WRITERS[kind, format](plain))
    if out is not None:
        with whole_file(Path(out), private=document.private) as partial:
            partial.write_text(document.text, encoding="utf-8")
    return document


def read_audit(folder: str | Path) -> AuditReport:
    """A saved audit, with all that its file holds; it is private."""
    kind, plain = _load(Path(folder))
    if kind != "audit":
        raise InputError(f"holds a {kind} and no audit", where=str(folder))
    return AuditReport.from_json(plain)


def _load(folder: Path) -> tuple[str, dict[str, Any]]:
    """What kind of folder it is, and what it holds."""
    if not folder.is_dir():
        raise InputError("is not a folder", where=str(folder))
    kind = next((name for name in KINDS if (folder / f"{name}.json").is_file()), None)
    if kind is None:
        names = ", ".join(f"{name}.json" for name in reversed(KINDS))
        raise InputError(f"holds no release, audit or comparison: there is none of {names} in it", where=str(folder))
    file = folder / f"{kind}.json"
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError("is not valid JSON", where=str(file)) from None
    missing = sorted(KINDS[kind] - plain.keys()) if isinstance(plain, dict) else sorted(KINDS[kind])
    if missing:
        raise InputError(f"is not a whole {kind}: it lacks {', '.join(missing)}; make it again with this version", where=str(file))
    return kind, plain


def _json_text(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


_WRITERS: dict[tuple[str, str], Callable[[Mapping[str, Any]], str]] = {
    ("hybrid", "html"): lambda plain: HybridGrid.from_json(plain).page(),
    ("hybrid", "md"): lambda plain: HybridGrid.from_json(plain).markdown(),
    ("hybrid", "json"): _json_text,
    ("comparison", "html"): lambda plain: Comparison.from_json(plain).page(),
    ("comparison", "md"): lambda plain: Comparison.from_json(plain).markdown(),
    ("comparison", "json"): _json_text,
    ("audit", "html"): lambda plain: AuditReport.from_json(plain).page(),
    ("audit", "md"): lambda plain: AuditReport.from_json(plain).markdown(),
    ("audit", "json"): _json_text,
    ("card", "html"): lambda plain: card_page(Card.from_json(plain)),
    ("card", "md"): lambda plain: card_markdown(Card.from_json(plain)),
    ("card", "json"): _json_text,
}
