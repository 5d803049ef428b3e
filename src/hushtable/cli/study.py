"""Repeat a published study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.api.compare.cores import usual_workers
from hushtable.cli.console import out, print_json, progress
from hushtable.cli.options import Json


def study(
    name: Annotated[
        str,
        typer.Argument(
            help="attacks, clustmix, constraints, frechet, generators, hybrid, kctgan, language, manifold, point-clouds, "
            "risk-metrics or all."
        ),
    ],
    data: Annotated[Path | None, typer.Option(help="The folder of real tables; HUSHTABLE_DATA when absent.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="A folder for numbers, page and figures; a study that was stopped goes on there.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few rows, few settings, short training, one run: minutes.")] = False,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of whatever is random.", show_default="3, quick 1")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side.", show_default="one for each core, 4 at most")
    ] = None,
    as_json: Json = False,
) -> None:
    """Repeat a published study: each number as published | ours | interval | comparable. Unless quick, most take hours."""
    kept = "" if folder is None else f"what is done is kept in {folder}; the same command goes on from there"
    with progress("study", kept) as update:
        repeated = ht.study(
            name, data=data, folder=folder, quick=quick, runs=runs, workers=workers or usual_workers(), progress=update
        )
    if as_json:
        print_json(repeated.to_json())
        return
    print(repeated.text())  # noqa: T201 - wide lines, not to be wrapped
    if folder is not None:
        out.print(f"The page is [bold]{escape(str(folder))}/study.html[/bold].")
