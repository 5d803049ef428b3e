"""Check what speaks against publishing a release, and write the zip that goes out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import Json
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.api.publish import Checklist

REFUSED = 3
MARKS = {"holds": "[green]ok[/green]", "fails": "[red]x[/red]", "open": "[yellow]?[/yellow]"}


def publish(
    folder: Annotated[Path, typer.Argument(help="A release folder.", show_default=False)],
    target: Annotated[
        Path | None, typer.Option("--zip", help="A new zip of it; the list alone is shown when absent.", show_default=False)
    ] = None,
    audit: Annotated[Path | None, typer.Option(help="The folder of its audit.", show_default=False)] = None,
    source: Annotated[
        Path | None, typer.Option(help="The file of the table that it was made from, to see that it is still the same.")
    ] = None,
    digest: Annotated[
        str | None, typer.Option("--source-sha256", help="The SHA-256 that this file had then.", show_default=False)
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The public key that the card must be signed with.", show_default=False)] = None,
    title: Annotated[str, typer.Option(help="What the data is called, on the card.")] = "",
    contact: Annotated[str, typer.Option(help="Whom to ask about it, on the card.")] = "",
    licence: Annotated[str, typer.Option("--licence", "--license", help="Its terms of use, on the card.")] = "",
    purpose: Annotated[str, typer.Option(help="What it is for, on the card.")] = "",
    described: Annotated[
        Path | None,
        typer.Option("--out", help="A new folder for the release with these on its card; that is then published."),
    ] = None,
    sign: Annotated[Path | None, typer.Option("--sign", help="Your private key, to sign the changed card with.")] = None,
    by: Annotated[str, typer.Option(help="Who answers for publishing it where the list leaves something open.")] = "",
    reason: Annotated[str, typer.Option(help="Why it is published all the same.")] = "",
    as_json: Json = False,
) -> None:
    """What speaks against publishing a release, item by item; with --zip the file that goes out. Exit code 3: it is refused."""
    if (source is None) != (digest is None):
        raise InputError("go together", where="--source, --source-sha256")
    about = {"title": title, "contact": contact, "licence": licence, "purpose": purpose}
    if any(about.values()) != (described is not None):
        raise InputError(
            "the card with a new title, contact, licence or purpose needs a folder of its own, and that alone", where="--out"
        )
    if described is not None:
        folder = ht.describe(folder, described, **about, sign=sign)
    pinned = None if source is None or digest is None else (source, digest)
    found = ht.checklist(folder, audit=audit, source=pinned, key=key)
    if target is None:
        if as_json:
            print_json(found.to_json())
        else:
            _show(found)
        raise typer.Exit(REFUSED if found.refused else 0)
    if not as_json:
        _show(found)
    made = ht.publish(folder, target, audit=audit, source=pinned, key=key, by=by, reason=reason)
    if as_json:
        print_json(made.to_json())
        return
    out.print(f"[bold]{escape(str(made.bundle.path))}[/bold]: {len(made.bundle.files)} files, SHA-256 {made.bundle.sha256}")
    out.print(f"Who receives it runs: hush verify {escape(made.bundle.path.name)}")


def _show(found: Checklist) -> None:
    for check in found.checks:
        reasons = f": {'; '.join(check.reasons)}" if check.reasons else ""
        out.print(f"{MARKS[str(check.state)]} {check.item}{escape(reasons)}")
