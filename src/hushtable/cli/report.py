"""Show a release, an audit or a comparison again, in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out


def report(
    folder: Annotated[Path, typer.Argument(help="A release, an audit, a comparison or hybrids.", show_default=False)],
    form: Annotated[
        str,
        typer.Option(
            "--format", help="html, md or json. For a PDF, open the html in a browser and print it: it is laid out for paper."
        ),
    ] = "md",
    target: Annotated[Path | None, typer.Option("--out", help="A new file; printed when absent.", show_default=False)] = None,
) -> None:
    """Show a release, an audit, a comparison or hybrids again as a page or as text, from the folder alone."""
    document = ht.render(folder, form.strip(), target)
    if target is None:
        print(document.text, end="")  # noqa: T201 - the report itself, unwrapped, for a pipe
        return
    note = " It was computed from raw rows: do not publish it." if document.private else ""
    out.print(f"The {document.kind} is in [bold]{escape(str(target))}[/bold].{note}")
