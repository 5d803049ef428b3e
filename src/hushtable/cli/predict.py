"""hush predict: label texts with a saved classifier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out
from hushtable.cli.options import Trust


def predict(
    model: Annotated[Path, typer.Argument(help="A saved classifier of text ('hush release --save-model').", show_default=False)],
    data: Annotated[Path, typer.Argument(help="Texts: a .csv, .csv.gz or .parquet file.", show_default=False)],
    file: Annotated[Path, typer.Option("--out", help="A new .csv or .parquet file for texts and labels.", show_default=False)],
    column: Annotated[
        str, typer.Option(help="The column with the texts; by default that of the training.", show_default=False)
    ] = "",
    base: Annotated[
        str, typer.Option(help="The folder of the public model, where it is not where it was.", show_default=False)
    ] = "",
    trust: Trust = False,
) -> None:
    """Label the texts of a file: the likeliest class of each, and the probability of every class. Costs no budget."""
    # The start of the command line waits for no table.
    from hushtable.table.disk import refuse_existing

    refuse_existing(file)
    table = ht.predict(model, data, column, base=base, trust=trust)
    ht.write(table, file)
    out.print(f"{table.rows:,} texts labelled in [bold]{escape(str(file))}[/bold]. Texts and labels are as private as they were.")
