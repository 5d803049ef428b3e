"""Make a pair of keys to sign releases with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import Json
from hushtable.pipeline.signature import PASSPHRASE


def keys(
    name: Annotated[Path, typer.Option("--out", help="Where to: NAME.key (private) and NAME.pub.", show_default=False)],
    locked: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase to lock the private key with; HUSHTABLE_PASSPHRASE if set.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a pair of keys: the private one signs releases, the public one lets others see that they are yours."""
    passphrase = os.environ.get(PASSPHRASE, "")
    if locked and not passphrase:
        passphrase = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    private, public = ht.make_keys(name, passphrase)
    if as_json:
        print_json({"private": str(private), "public": str(public), "locked": bool(passphrase)})
        return
    out.print(f"[bold]{escape(str(private))}[/bold] signs: keep it. [bold]{escape(str(public))}[/bold] is for everybody.")
