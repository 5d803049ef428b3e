"""Release the bundled table in three ways, attack each, and say what was promised."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json, progress
from hushtable.cli.options import Json


def demo(
    folder: Annotated[Path, typer.Option("--out", help="A new folder for everything the demo makes.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="People in the fictional town.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the town and of the runs.")] = 0,
    as_json: Json = False,
) -> None:
    """Release the bundled table in three ways, attack each, and say what was promised."""
    with progress("demo") as update:
        summary = ht.demo(folder, rows=rows, seed=seed, progress=update)
    if as_json:
        print_json(summary)
        return
    keys = "recipe", "promised", "alarms", "singling out gain", "linkability gain", "inference gain", "auc"
    heads = "release", "promised", "alarms", "single", "link", "infer", "AUC"
    grid = Grid(
        *heads,
        title="Three ways to share one table: how many more people attacks hit that single out, link and infer; AUC for readmitted",
    )
    for line in summary["releases"]:
        grid.add_row(*(escape(str(line[key])) for key in keys))
    out.print(grid)
    out.print(f"Everything is in [bold]{escape(str(folder))}[/bold]. Begin with these pages:")
    for line in summary["releases"]:
        out.print(f"  {escape(line['card'])}   (public)\n  {escape(line['audit'])}   (private)")
