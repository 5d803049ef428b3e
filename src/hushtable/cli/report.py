"""The command that shows again, in another format, what a folder of ours holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from hushtable.cli.console import out
from hushtable.cli.options import formats_of
from hushtable.errors import InputError

FORMATS = ("html", "md", "json")
KINDS = ("comparison", "audit", "card")
"""What a folder may hold, each as a file of plain values; the first that is there is shown."""
NEEDED = {"comparison": {"cells", "recommendation"}, "audit": {"findings", "rows", "card"}, "card": {"recipe", "rows", "guarantee"}}


def report(
    folder: Annotated[Path, typer.Argument(help="A release, an audit or a comparison.", show_default=False)],
    form: Annotated[
        str,
        typer.Option(
            "--format", help="html, md or json. For a PDF, open the html in a browser and print it: it is laid out for paper."
        ),
    ] = "md",
    target: Annotated[Path | None, typer.Option("--out", help="A new file; printed when absent.", show_default=False)] = None,
) -> None:
    """Show a release, an audit or a comparison again as a page or as text, from the folder alone."""
    from hushtable.table.disk import refuse_existing, whole_file

    if len(formats_of(form, FORMATS)) > 1:
        raise InputError(f"expected one of {', '.join(FORMATS)}, got {form}", where="--format")
    kind, told = _load(folder)
    if target is not None:
        refuse_existing(target, private=kind != "card")
    text = _writer(kind, form.strip())(told)
    if target is None:
        print(text, end="")  # noqa: T201 - the report itself, unwrapped, for a pipe
        return
    with whole_file(target, private=kind != "card") as partial:
        partial.write_text(text, encoding="utf-8")
    note = "" if kind == "card" else " It was computed from raw rows: do not publish it."
    out.print(f"The {kind} is in [bold]{escape(str(target))}[/bold].{note}")


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
        told = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError("is not valid JSON", where=str(file)) from None
    missing = sorted(NEEDED[kind] - told.keys()) if isinstance(told, dict) else sorted(NEEDED[kind])
    if missing:
        raise InputError(f"is not a whole {kind}: it lacks {', '.join(missing)}; make it again with this version", where=str(file))
    return kind, told


def _writer(kind: str, form: str) -> Callable[[Mapping[str, Any]], str]:
    if form == "json":
        return lambda told: json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    if kind == "comparison":
        from hushtable.report.compare import comparison_markdown, comparison_page

        return comparison_page if form == "html" else comparison_markdown
    if kind == "audit":
        from hushtable.api.audit_report import AuditReport

        write_audit = AuditReport.page if form == "html" else AuditReport.markdown
        return lambda told: write_audit(AuditReport.from_json(told))
    from hushtable.pipeline.card import Card
    from hushtable.report.card import card_page
    from hushtable.report.markdown import card_markdown

    write_card = card_page if form == "html" else card_markdown
    return lambda told: write_card(Card.from_json(told))
