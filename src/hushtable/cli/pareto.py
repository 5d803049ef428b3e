"""What each k costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json, progress
from hushtable.cli.options import (
    Data,
    Delimiter,
    Encoding,
    Engine,
    Header,
    Index,
    Json,
    Memory,
    Names,
    Person,
    RowsRead,
    RowsSeed,
    SchemaFile,
    Workers,
    WorkFolder,
    compute_of,
    numbers_of,
    settings_of,
    whole_numbers_of,
)
from hushtable.table.disk import refuse_existing
from hushtable.table.layout import Layout

if TYPE_CHECKING:
    from hushtable.api.pareto import BestChoice, Sheet


def pareto(
    data: Data,
    schema_file: SchemaFile,
    ks: Annotated[str, typer.Option("--k", help="The values of k, with commas.")] = "2,5,10,20,50",
    limits: Annotated[
        str, typer.Option("--limit", help="The largest shares of suppressed rows, with commas.")
    ] = "0,0.01,0.02,0.05,0.1,1",
    settings: Annotated[list[str] | None, typer.Option("--set", help="A knob of 'generalize': loss=entropy, l=2.")] = None,
    person: Person = None,
    rows_per_person: RowsRead = None,
    seed: RowsSeed = None,
    folder: Annotated[Path | None, typer.Option("--out", help="A new folder for the sheet as a page. It is private.")] = None,
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
    """What each k costs: the least loss of generalization for every k and suppression limit, in one search."""
    if folder is not None:
        refuse_existing(folder, private=True)
    counts, shares = whole_numbers_of(ks, "--k"), numbers_of(limits, "--limit")
    # The start of the command line waits for no table and no database.
    from hushtable.engine.open import open_rows

    compute, layout = compute_of(engine, memory, workers, work), Layout.of(header, names, encoding, delimiter, None, index)
    with progress("pareto") as update:
        table = open_rows(data, ht.Schema.load(schema_file), compute=compute, layout=layout, progress=update)
        sheet = ht.pareto(
            table, ks=counts, limits=shares, person=person, rows_per_person=rows_per_person, settings=settings_of(settings),
            seed=seed, progress=update,
        )  # fmt: skip
    if folder is not None:
        sheet.save(folder)
    if as_json:
        print_json(sheet.to_json() | {"folder": str(folder) if folder else None})
        return
    _show(sheet)
    if folder is not None:
        out.print(f"The sheet is [bold]{escape(str(folder))}/pareto.html[/bold]. It was computed from raw rows: do not publish it.")


def _show(sheet: Sheet) -> None:
    """Whom it counts; loss and share suppressed: a line for each k, a column for each limit."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.pareto import counted

    lines = sheet.lines
    limits = list(dict.fromkeys(line.limit for line in lines))
    grid = Grid(
        "k",
        *(f"<= {100 * limit:g} %" for limit in limits),
        title="Least loss of information (rows suppressed), by k and suppression limit",
    )
    cells = {(line.k, line.limit): line for line in lines}
    for k in dict.fromkeys(line.k for line in lines):
        grid.add_row(str(k), *(_cell(cells[k, limit]) for limit in limits))
    out.print(grid)
    out.print(counted(sheet))
    if any(line.value is not None and not line.optimal for line in lines):
        out.print("gap: the search ended early; the least loss may be smaller by at most this much")
    if any(line.value is None for line in lines):
        out.print("none: no choice of levels meets the demands (k, l, t) within that limit")


def _cell(line: BestChoice) -> str:
    if line.value is None or line.suppressed_share is None:
        return "none"
    cell = f"{line.value:.4f} ({100 * line.suppressed_share:.1f} %)"
    if line.optimal:
        return cell
    return f"{cell} gap {'unknown' if line.gap is None else f'{line.gap:.2g}'}"
