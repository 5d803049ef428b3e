"""Look at a table before anything is decided."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import Data, Delimiter, Encoding, Header, Index, Json, Names, Person, names_of
from hushtable.table.disk import refuse_existing
from hushtable.table.layout import Layout


def profile(
    data: Data,
    schema_file: Annotated[
        Path | None, typer.Option("--schema", help="The schema of the table; drafted when absent.", show_default=False)
    ] = None,
    person: Person = None,
    quasi: Annotated[
        str | None,
        typer.Option("--quasi", help="What others may know, with commas, in place of what the schema says.", show_default=False),
    ] = None,
    target: Annotated[
        Path | None, typer.Option("-o", "--out", help="A new file for a page (html), which only you can read.", show_default=False)
    ] = None,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    as_json: Json = False,
) -> None:
    """Each column, what follows from what, and the fewest columns that single people out. It reads raw rows: for you alone."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.profile import HEADS, PRIVATE, RISKS, column_row, headline, risk_row, set_rows, whom

    if target is not None:
        refuse_existing(target, private=True)
    table = ht.read(data, schema_file, layout=Layout.of(header, names, encoding, delimiter, None, index))
    found, unique = ht.profile(table, person=person), ht.uniqueness(table, person=person)
    known = None if quasi is None else names_of(quasi)
    top, risks = unique.headline(known), list(unique.bars(known))
    if target is not None:
        ht.show(found, target)
    if as_json:
        print_json(found.to_json() | {"headline": top.to_json(), "risks": [risk.to_json() for risk in risks]})
        return
    grid = Grid(*HEADS)
    for column in found.columns:
        grid.add_row(*map(escape, column_row(column)))
    out.print(grid)
    grid = Grid(*RISKS, title="What each adds to the quasi-identifiers", title_justify="left")
    for risk in risks:
        grid.add_row(*map(escape, risk_row(risk)))
    out.print(grid)
    for line in headline(top):
        out.print(escape(line))
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
