"""hush draw: further releases from a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out, refuse_release, save_and_show
from hushtable.cli.options import Json, Seed, TableFormat, Trust
from hushtable.errors import Fault, InputError


def draw(
    model: Annotated[Path, typer.Argument(help="A saved model ('hush release --save-model').", show_default=False)],
    folder: Annotated[Path, typer.Option("--out", help="A new folder for the drawn release.", show_default=False)],
    given: Annotated[
        list[str] | None, typer.Option(help="A column fixed to a value: sex=Female. May be repeated.", show_default=False)
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Rows to draw; as many as the model says when absent.")] = None,
    form: TableFormat = None,
    trust: Trust = False,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Draw a release from a saved model. It reads no private row, so the model's guarantee covers it at no further cost."""
    form = form or "csv"
    refuse_release(folder, form)
    release = ht.draw(model, rows, _conditions(given or []), seed, trust=trust)
    if save_and_show(release, folder, form, as_json=as_json):
        files = sorted(path.name for path in folder.iterdir())
        out.print(f"{release.table.rows:,} rows in [bold]{escape(str(folder))}[/bold]: {', '.join(files)}")


def _conditions(items: list[str]) -> dict[str, str]:
    """The columns and values of ``--given``; InputError lists every item that is no condition, and every column fixed twice."""
    conditions: dict[str, str] = {}
    faults = []
    for item in items:
        name, sign, value = (part.strip() for part in item.partition("="))
        if not name or not sign:
            faults.append(Fault("--given", f"expected column=value, got {item!r}"))
        elif name in conditions:
            faults.append(Fault("--given", f"{name} is fixed twice"))
        conditions[name] = value
    if faults:
        raise InputError(faults)
    return conditions
