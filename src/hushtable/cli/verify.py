"""Check a release against its card."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import err, fault_json, out, print_json
from hushtable.cli.options import Engine, Json, Memory, Trust, Workers, WorkFolder, compute_of
from hushtable.pipeline.verification import ESTABLISHES

if TYPE_CHECKING:
    from hushtable.pipeline.verification import Verification

UNCHECKED = 4
"""The exit code where nothing is wrong, but a guarantee could not be checked."""


def verify(
    folder: Annotated[Path, typer.Argument(help="A release folder, or a zip of one.", show_default=False)],
    key: Annotated[
        Path | None, typer.Option(help="The public key that the card must be signed with; 'hush keys' makes pairs.")
    ] = None,
    trust: Trust = False,
    engine: Engine = "auto",
    memory: Memory = None,
    workers: Workers = None,
    work: WorkFolder = None,
    as_json: Json = False,
) -> None:
    """Check a release against its card. Exit code 3: the card is contradicted; 4: a guarantee could not be checked."""
    verification = ht.verify(folder, key, trust=trust, compute=compute_of(engine, memory, workers, work))
    if as_json:
        faults = [fault_json(fault) for fault in verification.faults]
        others = {name: [asdict(one) for one in getattr(verification, name)] for name in ("unchecked", "assumed")}
        exposed = list(verification.exposed)
        print_json({"folder": str(folder), "holds": verification.holds, "faults": faults, **others, "exposed": exposed})
    else:
        _show(verification, str(folder), signed=key is not None)
    if verification.faults:
        raise typer.Exit(3)
    if verification.unchecked:
        raise typer.Exit(UNCHECKED)


def _show(verification: Verification, folder: str, *, signed: bool) -> None:
    """Faults, what was not checkable, or that all is well; then what that establishes."""
    for fault in verification.faults:
        err.print(f"[red]x[/red] {escape(str(fault))}")
    for one in verification.unchecked:
        err.print(f"[yellow]not checkable:[/yellow] {escape(str(one))}")
    if verification.holds:
        out.print(f"[green]ok[/green] {escape(folder)} is what its card says: files, rows, recipe, criteria and budget.")
    for line in verification.exposed:
        out.print(f"[bold yellow]but[/bold yellow] {escape(line)}")
    if not verification.faults:
        if signed:
            out.print("The card is signed with this key.")
        out.print(ESTABLISHES)
        for one in verification.assumed:
            out.print(f"  taken on trust: {escape(str(one))}")
