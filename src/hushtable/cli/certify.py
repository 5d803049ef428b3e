"""Try the audits themselves: plant leaks of known size in a table, and see which audits notice them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out, print_json, progress
from hushtable.cli.options import (
    Data,
    Delimiter,
    Encoding,
    Header,
    Index,
    Json,
    Names,
    OnlyAudits,
    Person,
    SchemaFile,
    names_of,
)
from hushtable.table.layout import Layout


def certify(
    data: Data,
    schema_file: SchemaFile,
    folder: Annotated[
        Path, typer.Option("--out", help="A folder for the study; one that was stopped goes on. It is private.", show_default=False)
    ],
    models: Annotated[
        str,
        typer.Option(
            help="Risk models, with commas: leaky, noisy, overfit, size, outliers, dp, knobs, handful, partial, rare, digests, "
            "texts; all if empty."
        ),
    ] = "",
    person: Person = None,
    only: OnlyAudits = None,
    rows: Annotated[int | None, typer.Option(min=2, help="Rows of each of the three parts at most.", show_default="10,000")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer levels and settings.")] = False,
    generator: Annotated[
        str | None,
        typer.Option(
            help="The recipe that is overfitted: argn, realtabformer or sequential.",
            show_default="argn; sequential without PyTorch",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the study.")] = 0,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    as_json: Json = False,
) -> None:
    """Try the audits themselves on your table: leaks of known size are planted, and each metric must rise with them."""
    table = ht.read(data, schema_file, layout=Layout.of(header, names, encoding, delimiter, None, index)).held_by(person)
    with progress("certify", f"what is done is kept in {folder}; the same command goes on from there") as update:
        certificate = ht.certify(
            table,
            models=names_of(models),
            audits=only or (),
            rows=rows,
            seed=seed,
            folder=folder,
            quick=quick,
            generator=generator,
            progress=update,
        )
    if as_json:
        print_json({"folder": str(folder)} | certificate.to_json())
        return
    print(certificate.text())  # noqa: T201 - wide lines, not to be wrapped
    out.print(f"The curves are in [bold]{escape(str(folder))}/certificate.html[/bold]. They were computed from raw rows.")
