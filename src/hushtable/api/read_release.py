"""A release as an audit reads it: from a folder that we wrote, or from any data file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushtable.errors import Fault, InputError
from hushtable.pipeline.release import data_file, load_card, load_table
from hushtable.pipeline.verify import verify as verify_release
from hushtable.table import io
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    pass


def read_release(path: str | Path, schema: Schema) -> tuple[Table, dict[str, Any] | None]:
    """A release to audit: a folder that we wrote, or any file under the schema of the original, cells allowed."""
    path = Path(path)
    if path.is_dir():
        card = load_card(path)
        # A card that says more than its own ledger gives would be believed on the first screen of the report.
        if faults := verify_release(path).faults:
            more = Fault(str(path), "is not what its card says; to attack it all the same, name its data file")
            raise InputError([*faults, more])
        return _seen(load_table(path), data_file(path), schema), card
    # A domain that was read off other rows does not bind a release, but tells what its cells stand for.
    return _seen(io.read(path, _present(path, schema).undrafted(), generalized=True), path, schema), None


def _seen(released: Table, path: Path, schema: Schema) -> Table:
    """A release whose cells are read with the schema of the original, where its own does not tell what lies under them."""
    names = [
        c.name for c in released.schema if c.generalized and c.observed and c.name in schema and not schema[c.name].generalized
    ]
    if not names:
        return released
    again = io.read(path, schema.select(names), generalized=True)
    return released.with_columns(*((again.schema[name], again[name]) for name in names))


def _present(path: Path, schema: Schema) -> Schema:
    """The part of a schema that a foreign file has, and what else it has as texts; it must have some of the schema.

    An identifier is read as it is written: it may have been replaced by something else.
    """
    names = io.column_names(path)
    kept = [schema[name] for name in schema.names if name in names]
    if not kept:
        raise InputError(Fault(path.name, f"has none of the columns of the schema: {', '.join(schema.names)}"))
    read = [Column(name=c.name, kind=Kind.KEY, role=c.role) if c.role is Role.IDENTIFIER else c for c in kept]
    more = [Column(name=name, kind=Kind.TEXT) for name in dict.fromkeys(names) if name and name not in schema]
    return replace(schema, columns=(*read, *more))
