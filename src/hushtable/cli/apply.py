"""Put the mapping of a release on new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out, progress, refuse_release, show_saved
from hushtable.cli.options import (
    AllowCopies,
    Delimiter,
    Encoding,
    Engine,
    Header,
    Index,
    Json,
    Memory,
    Names,
    Seed,
    TableFormat,
    Trust,
    Workers,
    WorkFolder,
    compute_of,
)
from hushtable.table.layout import Layout


def apply(
    released: Annotated[Path, typer.Argument(help="A release that was generalized.", show_default=False)],
    data: Annotated[
        Path, typer.Argument(help="New rows: a .csv, .csv.gz or .parquet file, or a folder or pattern of them.", show_default=False)
    ],
    folder: Annotated[Path, typer.Option("--out", help="A new folder for the release of the new rows.", show_default=False)],
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit",
            "--allow-suppression",
            min=0,
            max=1,
            help="The largest share of the new rows that may be suppressed; that of the recipe when absent. Exit code 3 above it.",
            show_default=False,
        ),
    ] = None,
    form: TableFormat = None,
    trust: Trust = False,
    allow_copies: AllowCopies = None,
    seed: Seed = None,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    engine: Engine = "auto",
    memory: Memory = None,
    workers: Workers = None,
    work: WorkFolder = None,
    as_json: Json = False,
) -> None:
    """Put the mapping of a release on new rows; k, l and t are verified on these, and what does not hold is suppressed."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.api.apply import suppressed_rows, suppressed_share
    from hushtable.api.release import ONE, save_any

    refuse_release(folder, form or ONE)
    layout = Layout.of(header, names, encoding, delimiter, None, index)
    with progress("apply") as update:
        release = ht.apply(
            released, data, layout, limit=limit, seed=seed, trust=trust, allow_copies=allow_copies,
            compute=compute_of(engine, memory, workers, work), progress=update,
        )  # fmt: skip
        release = save_any(release, folder, form, progress=update)
    if show_saved(release, folder, as_json=as_json):
        gone = f"{suppressed_rows(release):,} new rows ({100 * suppressed_share(release):.3g} %) were suppressed"
        out.print(f"{release.leaves[1]:,} rows in [bold]{escape(str(folder))}[/bold]; {gone}.")
