"""Build the hierarchy of one column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import (
    Data,
    Delimiter,
    Encoding,
    Header,
    Index,
    Json,
    Names,
    Person,
    SchemaFile,
    names_of,
    numbers_of,
    whole_numbers_of,
)
from hushtable.errors import InputError
from hushtable.table.disk import read_text, refuse_existing
from hushtable.table.layout import Layout


def hierarchy(
    data: Data,
    schema_file: SchemaFile,
    column: Annotated[str, typer.Option("--column", help="The column whose values are to become coarser.", show_default=False)],
    intervals: Annotated[
        str | None, typer.Option(help="Numbers in intervals of these widths: 5,10,20.", show_default=False)
    ] = None,
    prefix: Annotated[str | None, typer.Option(help="Codes cut to so many characters: 4,3,2.", show_default=False)] = None,
    dates: Annotated[str | None, typer.Option(help="Dates in calendar units: month,year,decade.", show_default=False)] = None,
    groups: Annotated[
        Path | None,
        typer.Option(help="A JSON file of groups, label to values; or a list of such levels.", show_default=False),
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A hierarchy file as ARX writes them.", show_default=False)] = None,
    frequency: Annotated[
        int | None, typer.Option(min=1, help="Rare values together, so that a group has so many people.", show_default=False)
    ] = None,
    target: Annotated[
        Path | None, typer.Option("-o", "--out", help="A new hierarchy file (groups, frequency).", show_default=False)
    ] = None,
    person: Person = None,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    as_json: Json = False,
) -> None:
    """Build the hierarchy of a column, and show what it makes of the rows. It reads raw rows: for you alone."""
    # The start of the command line waits for no table and no compiled code.
    from hushtable.report.hierarchy import HEADS, PRIVATE, group_rows, notes
    from hushtable.table.builders import write_tree
    from hushtable.table.hierarchy import FileTree

    if target is not None:
        refuse_existing(target)
    given: dict[str, Any] = {
        "intervals": None if intervals is None else numbers_of(intervals, "--intervals"),
        "prefix": None if prefix is None else whole_numbers_of(prefix, "--prefix"),
        "dates": None if dates is None else names_of(dates),
        "groups": None if groups is None else _groups_of(groups),
        "frequency": frequency,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    if len(asked) + (file is not None) > 1:
        raise InputError("give one of --intervals, --prefix, --dates, --groups, --file and --frequency", where="hierarchy")
    found = ht.hierarchy(
        ht.read(data, schema_file, layout=Layout.of(header, names, encoding, delimiter, None, index)),
        column,
        file or asked or None,
        person=person,
    )
    tree = found.column.hierarchy
    if target is not None:
        if not isinstance(tree, FileTree):
            raise InputError("is for groups and frequency: any other hierarchy is a line of the schema", where="--out")
        write_tree(tree, target)
    if as_json:
        print_json(found.to_json() | {"hierarchy": None if tree is None else tree.spec(), "file": str(target) if target else None})
        return
    grid = Grid(*HEADS)
    for row in group_rows(found):
        grid.add_row(*map(escape, row))
    out.print(grid)
    for line in notes(found):
        out.print(f"[yellow]{escape(line)}[/yellow]")
    if tree is not None:
        entry = str(target) if target is not None else tree.spec()
        out.print(f"In the schema: [bold]hierarchy: {escape(json.dumps(entry))}[/bold]")
    out.print(f"[yellow]{escape(PRIVATE)}[/yellow]")


def _groups_of(path: Path) -> Any:
    try:
        given = json.loads(read_text(path, path.name))
    except json.JSONDecodeError as error:
        raise InputError(f"is not valid JSON, at line {error.lineno}", where=path.name) from None
    levels = given if isinstance(given, list) else [given]
    right = all(isinstance(level, dict) and all(isinstance(values, list) for values in level.values()) for level in levels)
    if not right or not all(isinstance(value, str) for level in levels for values in level.values() for value in values):
        raise InputError("expected label to a list of texts, or a list of such levels", where=path.name)
    return levels
