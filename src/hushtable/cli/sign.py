"""Sign a release that was made before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import Json


def sign(
    folder: Annotated[Path, typer.Argument(help="A release folder.", show_default=False)],
    key: Annotated[Path, typer.Option(help="Your private key.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Sign a release that was made before: card.sig, over the card and through its hashes over all files."""
    signature = ht.sign(folder, key, passphrase=passphrase_of(key))
    if as_json:
        print_json({"folder": str(folder), "signature": str(signature)})
        return
    out.print(f"[bold]{escape(str(signature))}[/bold]: others check it with 'hush verify --key' and your public key.")


def passphrase_of(key: Path | None) -> Callable[[], str]:
    """Asks for the passphrase of a locked key."""
    name = "" if key is None else key.name
    return lambda: str(typer.prompt(f"Passphrase of {name}", hide_input=True, err=True))
