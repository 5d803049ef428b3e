"""The riskiest records of an audit, each beside what gives it away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import (
    Delimiter,
    Encoding,
    Header,
    Index,
    Json,
    Names,
    Person,
    Released,
)
from hushtable.errors import InputError
from hushtable.table.layout import Layout

SHOWN = 20


def records(
    audit: Annotated[Path, typer.Argument(help="The folder of an audit.", show_default=False)],
    train: Annotated[Path, typer.Option(help="The rows the release was made from.", show_default=False)],
    released: Released,
    schema_file: Annotated[Path, typer.Option("--schema", help="The schema of the training rows.", show_default=False)],
    group: Annotated[
        str | None, typer.Option(help="Only people of one group: sex=female, or a quarter of a number.", show_default=False)
    ] = None,
    rows: Annotated[list[int] | None, typer.Option("--row", help="Only this training row. May be repeated.")] = None,
    values: Annotated[bool, typer.Option("--show-values", help="Show what the rows hold; hidden otherwise. Needs --row.")] = False,
    person: Person = None,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    as_json: Json = False,
) -> None:
    """The records that most attacks find, beside the released rows that give them away. It is private."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.api.read_sides import training_schema
    from hushtable.report.exposed import HEADS, record_rows, side_row

    if values and not rows:
        raise InputError("shows what single people hold: name their rows with --row", where="--show-values")
    schema = training_schema(schema_file)
    table = ht.read(train, schema.undrafted(), layout=Layout.of(header, names, encoding, delimiter, None, index)).held_by(person)
    release, _ = ht.read_release(released, table.schema)
    pair = None
    if group is not None:
        name, _, level = group.partition("=")
        pair = (name.strip(), level.strip())
    found = ht.records(audit, table, release, group=pair, rows=rows, values=values)
    if as_json:
        print_json([one.to_json() for one in found])
        return
    grid = Grid(*HEADS)
    for row in record_rows(found[:SHOWN]):
        grid.add_row(*map(escape, row))
    out.print(grid)
    if values:
        for one in found:
            for own in one.pairs:
                sides = Grid("column", "agreement", "training row", "released row", title=f"{one.record.row} and {own.released}")
                for side in own.sides:
                    sides.add_row(*map(escape, side_row(side)))
                out.print(sides)
    if len(found) > SHOWN:
        out.print(f"and {len(found) - SHOWN} more")
    out.print("[yellow]Computed from the raw rows: for you alone, not for publication.[/yellow]")
