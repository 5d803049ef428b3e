"""Changes of the schema: each is held against the rows before it counts, and its answer is the YAML that is to be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.studio.questions.room import Opened, Watcher, alike
from hushtable.table.columns import FREE, Column, Facet, Kind, Role
from hushtable.table.described import matched
from hushtable.table.dictionary import Dictionary
from hushtable.table.disk import read_text
from hushtable.table.revise import freed, of_kind, of_role, public, reopened, with_bounds, with_levels, with_missing, words_of
from hushtable.table.schema import Schema
from hushtable.table.values import Raw


def edit(opened: Opened, *, watch: Watcher, columns: list[str], change: dict[str, Any], file: str) -> str:
    """The schema after a change of these columns: ``role``, ``kind``, ``missing``, ``domain``, ``reason``, as far as given.

    InputError with every fault, each at its column, and without a value.
    """
    schema = opened.table.schema
    faults, revised = list[Fault](), list[Column]()
    for name in columns:
        try:
            revised.append(_changed(opened, schema[name], change))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    after = schema.with_columns(*revised)
    if "reason" in change:
        codes = bool(change.get("codes")) and schema.drafted
        if "domain" not in change and not codes and not any(column.undeclared for column in revised):
            raise InputError("nothing of these columns was read off the rows", where="columns")
        after = public(after, columns, change["reason"], codes=codes)
    return _prepared(opened, after, file)


def check(opened: Opened, *, watch: Watcher, text: str, folder: str) -> str:
    """A schema that somebody wrote, held against the rows, as it was written; every fault at once and without a value."""
    schema = Schema.parse(text, folder=Path(folder))
    unknown = [name for name in schema.names if name not in opened.names]
    if unknown:
        raise InputError([Fault(f"schema, column {name}", "the table has no such column") for name in unknown])
    try:
        revised = opened.prepare(schema)
    except InputError as error:
        raise InputError([replace(fault, values=()) for fault in error.faults]) from None
    # What it leaves open was read off the rows now, and would be another thing with other rows: that is then kept.
    filled = any(column.domain is None and column.kind not in FREE for column in schema)
    if filled or opened.prepared is None:
        return revised
    opened.prepared = (text, opened.prepared[1])
    return text


def dictionary(opened: Opened, *, watch: Watcher, path: str, reason: str, file: str) -> dict[str, Any]:
    """The schema with what a data dictionary declares of it, the labels, and where it contradicts the schema or the rows."""
    found = matched(opened.table.schema, Dictionary.load(path), reason)
    plain = found.to_json()
    text = _prepared(opened, found.schema, file) if found.declared or found.schema != opened.table.schema else None
    faults = [{"where": fault.where, "reason": fault.reason} for fault in found.faults]
    return plain | {"text": text, "faults": faults}


def _changed(opened: Opened, column: Column, change: Mapping[str, Any]) -> Column:
    if "role" in change:
        column = of_role(column, Role(change["role"]))
    if "missing" in change and tuple(change["missing"]) != column.missing:
        column = with_missing(column, change["missing"])
    if "kind" in change or "freed" in change:
        words = words_of(opened.table.schema, column, Raw.of(opened.source(column.name)))
        column = freed(column, words) if "freed" in change else of_kind(column, words, Kind(change["kind"]))
    match change.get("domain"):
        case {"levels": levels}:
            column = with_levels(column, levels)
        case {"low": low, "high": high}:
            column = with_bounds(column, low, high)
        case "rows":
            column = reopened(column)
    return column


def _prepared(opened: Opened, schema: Schema, file: str) -> str:
    """Held against the rows, and written; what no row lacks is required as far as the rows say so."""
    before = opened.table.schema
    again = {column.name for column in schema if not alike(before[column.name], column)}
    soft = {c.name for c in schema if c.name in again and Facet.REQUIRED in c.drafted and c.kind not in FREE}
    opened.prepare(schema.with_columns(*(replace(schema[name], required=False) for name in soft)))
    assert opened.prepared is not None
    revised = opened.prepared[1]
    tight = [replace(revised.table.schema[name], required=not revised.table.missing(name).any()) for name in soft]
    after = replace(revised.table.schema.with_columns(*tight), notes=_comments(file))
    revised.table, text = revised.table.under(after), after.dump()
    # What is written must be read again as it is: a file that cannot would lock its owner out.
    if again:
        Schema.parse(text, folder=Path(file).parent)
    opened.prepared = (text, revised)
    return text


def _comments(file: str) -> tuple[str, ...]:
    """The comments on top of the schema that holds now: what is changed in the grid leaves them."""
    lines = read_text(Path(file), Path(file).name).splitlines()
    top = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return tuple(line.removeprefix("#").strip() for line in lines[:top])
