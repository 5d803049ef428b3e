"""Draft the schema of a table, or declare one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json, progress
from hushtable.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Engine,
    Header,
    Index,
    Json,
    Memory,
    Names,
    Workers,
    WorkFolder,
    compute_of,
    names_of,
)
from hushtable.errors import InputError
from hushtable.table.disk import refuse_existing
from hushtable.table.layout import Layout

if TYPE_CHECKING:
    from hushtable.table.infer import Draft, DraftLine


def schema(
    data: Annotated[
        Path,
        typer.Argument(
            help="A .csv, .csv.gz or .parquet file, a folder or pattern of several, a DuckDB file, or a table that Spark reads; "
            "with --declare, a schema file.",
            show_default=False,
        ),
    ],
    target: Annotated[Path | None, typer.Option("-o", "--out", help="Where to write the draft; printed when absent.")] = None,
    declare: Annotated[
        bool,
        typer.Option(
            "--declare", help="Declare a drafted schema that you have read: its marks 'observed' are removed from the file."
        ),
    ] = False,
    by: Annotated[
        str, typer.Option(help="Who declares it, or with a dictionary why it is public; the card of a release says so.")
    ] = "",
    only: Annotated[str, typer.Option(help="Facets to declare, with commas (kind,role,decimals); all when absent.")] = "",
    dictionary: Annotated[
        Path | None,
        typer.Option(
            "--dictionary",
            help="A data dictionary, CSV or JSON: names, types, codes, missing codes, ranges. What it says is declared by it. Of a "
            "schema file it declares what agrees with it.",
            show_default=False,
        ),
    ] = None,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    index: Index = False,
    engine: Engine = "auto",
    memory: Memory = None,
    workers: Workers = None,
    work: WorkFolder = None,
    as_json: Json = False,
) -> None:
    """Draft a schema for a table: kinds, missing codes, identifiers, likely quasi-identifiers; or declare one."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.engine.draft import draft as drafted

    if declare:
        if target is not None:
            raise InputError("a schema is declared where it is; leave out --out", where="--declare")
        _declare(data, by, names_of(only), as_json=as_json)
        return
    if only or (by and not _is_schema(data)):
        raise InputError("go with --declare", where="--by, --only")
    if target is not None:
        refuse_existing(target)
    if dictionary is not None and _is_schema(data):
        _match(data, dictionary, by, target, as_json=as_json)
        return
    layout = Layout.of(header, names, encoding, delimiter, decimal, index)
    with progress("schema") as update:
        draft = drafted(data, compute_of(engine, memory, workers, work), layout, dictionary, update)
    if target is not None:
        draft.schema.save(target)
    if as_json:
        print_json(
            {
                "columns": [_entry(line) for line in draft.lines],
                "missing": list(draft.schema.missing),
                "notes": list(draft.schema.notes),
                "file": str(target) if target else None,
            }
        )
    elif target is None:
        print(draft.schema.dump(), end="")  # noqa: T201 - the schema itself, unwrapped, for a pipe
    else:
        _show(draft, target)


def _is_schema(path: Path) -> bool:
    return path.suffix in (".yaml", ".yml")


def _match(path: Path, dictionary: Path, reason: str, target: Path | None, *, as_json: bool) -> None:
    """What a dictionary declares of a schema file; the schema that it leads to is printed, or written to a new file."""
    found = ht.match_dictionary(path, dictionary, reason)
    if target is not None:
        found.schema.save(target)
    if as_json:
        print_json(found.to_json() | {"file": str(target) if target else None})
        return
    if target is None:
        print(found.schema.dump(), end="")  # noqa: T201 - the schema itself, unwrapped, for a pipe
        return
    out.print(
        f"{escape(dictionary.name)} declares {len(found.declared)} columns. The schema is [bold]{escape(str(target))}[/bold]."
    )
    for fault in found.faults:
        out.print(f"[yellow]{escape(str(fault))}[/yellow]")
    if found.bare:
        out.print(f"Not described: {escape(', '.join(found.bare))}")


def _entry(line: DraftLine) -> dict[str, Any]:
    return {
        "name": line.column.name,
        "kind": str(line.column.kind),
        "role": str(line.column.role),
        "distinct": line.distinct,
        "missing": line.missing,
        "reason": line.kind_reason,
        "role_reason": line.role_reason,
    }


def _show(draft: Draft, target: Path) -> None:
    """A line for each column, what to check, and how to go on. No value of a column is shown."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.table.infer import HEAD

    grid = Grid(box=None, pad_edge=False)
    for head in ("column", "kind", "role", "distinct", "missing", "kind because of", "role because of"):
        grid.add_column(head, justify="right" if head in ("distinct", "missing") else "left", overflow="fold")
    for line in draft.lines:
        column, counts = line.column, (f"{line.distinct:,}", f"{line.missing:,}")
        cells = (column.name, str(column.kind), str(column.role), *counts, line.kind_reason, line.role_reason)
        grid.add_row(*map(escape, cells))
    out.print(grid)
    for note in draft.schema.notes[len(HEAD) :]:
        out.print(f"- {escape(note)}")
    out.print(
        f"Draft written to [bold]{escape(str(target))}[/bold]. Check kinds and roles before you release anything. A privacy "
        "budget is refused until what is public knowledge in it is declared:\n"
        + escape(f"  {shlex.join(['hush', 'schema', str(target), '--declare', '--by', 'your name'])}")
    )


def _declare(path: Path, by: str, only: list[str], *, as_json: bool) -> None:
    before, after = ht.declare(path, by, only)
    marks = {name: sorted(facets - after.undeclared.get(name, frozenset())) for name, facets in before.undeclared.items()}
    if as_json:
        print_json({"file": str(path), "declared": marks, "by": after.declared_by, "left": sorted(after.undeclared)})
        return
    out.print(
        f"{escape(after.declared_by or 'You')} declared {len(marks)} columns of [bold]{escape(str(path))}[/bold] to be public "
        "knowledge: not learnt from these rows alone, and safe to publish whoever is or is not among them."
    )
    if after.undeclared:
        out.print(f"Still read off the rows: {escape(', '.join(after.undeclared))}")
