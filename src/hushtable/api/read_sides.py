"""The rows that an audit compares a release with: those it was made from, and a control that it never saw."""

from __future__ import annotations

from pathlib import Path
from typing import overload

from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.layout import Layout
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def training_schema(path: Path) -> Schema:
    """A schema of training rows; InputError where it is that of a release."""
    schema = Schema.load(path)
    if any(column.generalized for column in schema):
        raise InputError("is the schema of a release; give that of the training rows", where="--schema")
    return schema


@overload
def read_sides(real: Path, control: Path, schema: Schema, name: str, layout: Layout | None = None) -> tuple[Table, Table]: ...
@overload
def read_sides(
    real: Path, control: Path | None, schema: Schema, name: str, layout: Layout | None = None
) -> tuple[Table, Table | None]: ...
def read_sides(
    real: Path, control: Path | None, schema: Schema, name: str, layout: Layout | None = None
) -> tuple[Table, Table | None]:
    """The real rows and the control, if there is one, as the schema declares them; ``name`` is what messages call the first.

    Both files have the same layout.
    """
    if control is not None and real.exists() and control.exists() and real.samefile(control):
        raise InputError(f"is the same file as {name}; a control holds people that the release never saw", where="--control")
    # A domain that was read off other rows does not bind these.
    declared = schema.undrafted()
    return io.read(real, declared, layout=layout), None if control is None else io.read(control, declared, layout=layout)
