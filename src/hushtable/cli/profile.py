"""Look at a table before anything is decided."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import Data, Json, Person
from hushtable.table.disk import refuse_existing


def profile(
    data: Data,
    schema_file: Annotated[
        Path | None, typer.Option("--schema", help="The schema of the table; drafted when absent.", show_default=False)
    ] = None,
    person: Person = None,
    target: Annotated[
        Path | None, typer.Option("-o", "--out", help="A new file for a page (html), which only you can read.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Each column, what follows from what, and the fewest columns that single people out. It reads raw rows: for you alone."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.profile import HEADS, PRIVATE, column_row, set_rows, whom

    if target is not None:
        refuse_existing(target, private=True)
    found = ht.profile(data, schema_file, person=person)
    if target is not None:
        ht.show(found, target)
    if as_json:
        print_json(found.to_json())
        return
    grid = Grid(*HEADS)
    for column in found.columns:
        grid.add_row(*map(escape, column_row(column)))
    out.print(grid)
    if found.aside:
        out.print(f"Never released, and not searched: {escape(', '.join(found.aside))}")
    searches = {"Of all columns that would be released": found.singling}
    if found.recurring != found.singling:
        searches["Without columns that nearly are keys, and numbers whose values hardly recur"] = found.recurring
    for head, singling in searches.items():
        sets = Grid("singled out", "columns", "share", "smallest", title=head, title_justify="left")
        for row in set_rows(singling):
            sets.add_row(*map(escape, row))
        out.print(sets)
    out.print(f"All columns together single out {found.alone:.1%} of the {whom(found)}.")
    out.print(f"[yellow]{escape(PRIVATE)}[/yellow]")
    if target is not None:
        out.print(f"The page is in [bold]{escape(str(target))}[/bold].")
