"""Judge one choice of levels."""

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
    assignments_of,
    compute_of,
    settings_of,
)
from hushtable.errors import InputError
from hushtable.table.disk import refuse_existing, whole_file
from hushtable.table.layout import Layout

if TYPE_CHECKING:
    from hushtable.api.evaluate import Evaluation

_LEVEL = "--level"


def evaluate(
    data: Data,
    schema_file: SchemaFile,
    levels: Annotated[
        list[str] | None,
        typer.Option(_LEVEL, help="The level of a quasi-identifier: age=2; 0, the value itself, when absent. May be repeated."),
    ] = None,
    k: Annotated[int, typer.Option("--k", help="The least number of people in a class.")] = 5,
    l: Annotated[float, typer.Option("--l", help="The least diversity of every secret in a class; 0 for none.")] = 0.0,  # noqa: E741
    t: Annotated[float, typer.Option("--t", help="The largest distance of a class's secrets from the table's; 1 for any.")] = 1.0,
    limit: Annotated[float, typer.Option("--limit", min=0, max=1, help="The largest share of suppressed rows.")] = 0.05,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A further knob of 'generalize': loss=entropy.")] = None,
    person: Person = None,
    rows_per_person: RowsRead = None,
    seed: RowsSeed = None,
    target: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="A new recipe file with these levels fixed, for 'hush release'.", show_default=False),
    ] = None,
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
    """What one choice of levels keeps, suppresses and loses, beside those one rung away. It reads raw rows: for you alone."""
    # The start of the command line waits for no table and no database.
    from hushtable.engine.open import open_rows

    if target is not None:
        refuse_existing(target)
    compute, layout = compute_of(engine, memory, workers, work), Layout.of(header, names, encoding, delimiter, None, index)
    with progress("evaluate") as update:
        table = open_rows(data, ht.Schema.load(schema_file), compute=compute, layout=layout, progress=update)
        found = ht.evaluate(
            table, _levels_of(levels), k=k, l=l, t=t, limit=limit, person=person, rows_per_person=rows_per_person,
            settings=settings_of(settings), seed=seed,
        )  # fmt: skip
    if target is not None:
        with whole_file(target) as partial:
            partial.write_text(found.recipe.dump(), encoding="utf-8")
    if as_json:
        print_json(found.to_json() | {"file": str(target) if target else None})
        return
    _show(found)
    if target is not None:
        out.print(f"The recipe is [bold]{escape(str(target))}[/bold]: hush release --recipe {escape(str(target))}")


def _levels_of(items: list[str] | None) -> dict[str, int]:
    given = assignments_of(items, "column=level", _LEVEL)
    if odd := [f"{name}={level}" for name, level in given.items() if not level.strip().isdecimal()]:
        raise InputError(f"expected column=level with a whole number, got {', '.join(odd)}", where=_LEVEL)
    return {name.strip(): int(level) for name, level in given.items()}


def _show(found: Evaluation) -> None:
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.evaluate import HEADS, PRIVATE, facts, loss_rows, rung_rows

    for name, value in facts(found.choice):
        out.print(f"{escape(name)}: [bold]{escape(value)}[/bold]")
    grids = {
        "Columns": (["column", "level", "lost"], loss_rows(found.choice)),
        "One rung away": (HEADS, rung_rows(found)),
    }
    for title, (heads, rows) in grids.items():
        grid = Grid(*heads, title=title, title_justify="left")
        for row in rows:
            grid.add_row(*map(escape, row))
        out.print(grid)
    out.print(f"[yellow]{escape(PRIVATE)}[/yellow]")
