"""Draft the schema of a table, or declare one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import Json, names_of
from hushtable.errors import InputError
from hushtable.table.disk import refuse_existing, whole_file


def schema(
    data: Annotated[
        Path, typer.Argument(help="A .csv, .csv.gz or .parquet file; with --declare, a schema file.", show_default=False)
    ],
    target: Annotated[Path | None, typer.Option("-o", "--out", help="Where to write the draft; printed when absent.")] = None,
    declare: Annotated[
        bool,
        typer.Option(
            "--declare", help="Declare a drafted schema that you have read: its marks 'observed' are removed from the file."
        ),
    ] = False,
    by: Annotated[str, typer.Option(help="Who declares it; the card of a release says so.")] = "",
    only: Annotated[str, typer.Option(help="Facets to declare, with commas (kind,role,decimals); all when absent.")] = "",
    as_json: Json = False,
) -> None:
    """Draft a schema for a table: kinds, missing codes, identifiers, likely quasi-identifiers; or declare one."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.table.infer import HEAD

    if declare:
        if target is not None:
            raise InputError("a schema is declared where it is; leave out --out", where="--declare")
        _declare(data, by, names_of(only), as_json=as_json)
        return
    if by or only:
        raise InputError("go with --declare", where="--by, --only")
    if target is not None:
        refuse_existing(target)
    drafted = ht.draft(data)
    if target is not None:
        with whole_file(target) as partial:
            partial.write_text(drafted.dump(), encoding="utf-8")
    if as_json:
        columns = [{"name": c.name, "kind": str(c.kind), "role": str(c.role)} for c in drafted]
        print_json(
            {
                "columns": columns,
                "missing": list(drafted.missing),
                "notes": list(drafted.notes),
                "file": str(target) if target else None,
            }
        )
    elif target is None:
        print(drafted.dump(), end="")  # noqa: T201 - the schema itself, unwrapped, for a pipe
    else:
        grid = Grid("column", "kind", "role")
        for column in drafted:
            grid.add_row(escape(column.name), str(column.kind), str(column.role))
        out.print(grid)
        for note in drafted.notes[len(HEAD) :]:
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
