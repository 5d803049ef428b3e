"""Try a release without making it."""

from __future__ import annotations

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
    Person,
    RowsPerPerson,
    SchemaFile,
    Seed,
    StepSettings,
    settings_of,
)
from hushtable.table.layout import Layout

REFUSED = 3


def preflight(
    data: Data,
    schema_file: SchemaFile,
    recipe: Annotated[str, typer.Option(help="A recipe by name ('hush methods') or a recipe file.", show_default=False)],
    settings: StepSettings = None,
    epsilon: Annotated[float | None, typer.Option(help="Privacy budget of the whole release.")] = None,
    person: Person = None,
    rows_per_person: RowsPerPerson = 1,
    seed: Seed = None,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    as_json: Json = False,
) -> None:
    """What a release would hand out: columns that leave unchanged, rows of real people. Exit code 3: it would be refused."""
    table = ht.read(data, schema_file, layout=Layout.of(header, names, encoding, delimiter, None, index))
    options = ht.ReleaseOptions(epsilon=epsilon, unit=ht.Unit(rows=rows_per_person, by=person), seed=seed)
    with progress("preflight") as update:
        found = ht.preflight(table, recipe, options, settings=settings_of(settings), progress=update)
    if as_json:
        print_json(found.to_json())
    else:
        for line in found.sentences():
            out.print(escape(line))
        if not found.private:
            out.print("[yellow]For you alone:[/yellow] this was computed from raw rows. Nothing was released.")
    if found.refused:
        raise typer.Exit(REFUSED)
