"""Look at the start of a file."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import Data, Decimal, Delimiter, Encoding, Header, Index, Json, Names
from hushtable.table.layout import Layout


def peek(
    data: Data,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    index: Index = False,
    as_json: Json = False,
) -> None:
    """How a file seems to be written: delimiter, encoding, decimal mark, header, and ten rows masked (Aaaa 99)."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.peek import facts, warnings

    found = ht.peek(data, Layout.of(header, names, encoding, delimiter, decimal, index))
    if as_json:
        print_json(found.to_json())
        return
    for name, value in facts(found):
        out.print(f"{name}: [bold]{escape(value)}[/bold]")
    grid = Grid(*map(escape, found.names))
    for row in found.rows:
        grid.add_row(*map(escape, row))
    out.print(grid)
    for line in warnings(found):
        out.print(f"[yellow]{escape(line)}[/yellow]")
