"""A release as an audit reads it: from a folder that we wrote, or from any data file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload

from hushtable.engine.compute import Compute
from hushtable.errors import Fault, InputError
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import data_file, load_card
from hushtable.pipeline.verify import verify_and_load
from hushtable.table import io
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@overload
def read_release(path: str | Path, schema: Schema) -> tuple[Table, Card | None]: ...
@overload
def read_release(path: str | Path, schema: Schema, compute: Compute) -> tuple[Rows, Card | None]: ...
def read_release(path: str | Path, schema: Schema, compute: Compute | None = None) -> tuple[Rows, Card | None]:
    """A release to audit: a folder that we wrote, or any file under the schema of the original, cells allowed.

    With ``compute`` a release in parts that does not fit into memory is read as rows on disk; else it is refused.
    """
    path = Path(path)
    if path.is_dir():
        # A card that says more than its own ledger gives would be believed on the first screen of the report.
        verification, rows = verify_and_load(path, compute=compute)
        if verification.faults or rows is None:
            more = Fault(str(path), "is not what its card says; to attack it all the same, name its data file")
            raise InputError([*verification.faults, more])
        if compute is None:
            rows = rows.whole("a release as one table")
        return _reread(rows, data_file(path), schema, compute), Card.from_json(load_card(path))
    # A domain that was read off other rows does not bind a release, but says what its cells stand for.
    return _reread(io.read(path, present(path, schema, io.column_names(path)).undrafted(), generalized=True), path, schema), None


def _reread(released: Rows, path: Path, schema: Schema, compute: Compute | None = None) -> Rows:
    """The release with those columns read again under the schema of the original whose own does not say what their cells cover."""
    names = [
        c.name for c in released.schema if c.generalized and c.observed and c.name in schema and not schema[c.name].generalized
    ]
    if not names:
        return released
    if path.is_dir():
        # Whoever reads a file waits for no database.
        from hushtable.engine.open import open_rows

        wide = replace(released.schema, columns=tuple(schema[c.name] if c.name in names else c for c in released.schema))
        again = open_rows(path, wide, compute=compute, least=0, generalized=True)
        return again.whole("a release as one table") if isinstance(released, Table) else again
    assert isinstance(released, Table)
    again = io.read(path, schema.select(names), generalized=True)
    return released.with_columns(*((again.schema[name], again[name]) for name in names))


def present(path: str | Path, schema: Schema, names: Sequence[str]) -> Schema:
    """The part of a schema that foreign files with these columns have, and what else they have as texts; they must share some.

    An identifier is read as it is written: it may have been replaced by something else.
    """
    shared = [schema[name] for name in schema.names if name in names]
    if not shared:
        raise InputError(Fault(Path(path).name, f"has none of the columns of the schema: {', '.join(schema.names)}"))
    as_written = [Column(name=c.name, kind=Kind.KEY, role=c.role) if c.role is Role.IDENTIFIER else c for c in shared]
    more = [Column(name=name, kind=Kind.TEXT) for name in dict.fromkeys(names) if name and name not in schema]
    return replace(schema, columns=(*as_written, *more))
