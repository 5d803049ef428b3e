"""Repeat a published study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import hushtable as ht
from hushtable.cli.console import progress


def study(
    name: Annotated[
        str, typer.Argument(help="manifold (classifiers), frechet (clusters), clustmix (mixtures) or generators (by epsilon).")
    ],
    data: Annotated[Path | None, typer.Option(help="The folder of real tables; HUSHTABLE_DATA when absent.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="A new folder for text and figures; clustmix or generators that was stopped goes on."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The small data sets only, or few of the rows.")] = False,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of clustmix or generators.", show_default="3, quick 1")] = None,
) -> None:
    """Repeat a published study, its numbers beside ours. Takes minutes; generators, unless quick, hours."""
    with progress("study") as update:
        report = ht.study(name, data=data, folder=folder, quick=quick, runs=runs, progress=update)
    print(report)  # noqa: T201 - wide lines, not to be wrapped
