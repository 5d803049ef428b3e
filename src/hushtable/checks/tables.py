"""Tables for the battery: an ordinary one, and some that are legal and unpleasant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.table.columns import Bounds, Column, Facet, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import make


def example(rows: int = 120, seed: int = 0) -> Table:
    """A small declared table of every kind, with missing values and a level that no row has."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, rows)
    missing = rng.random(rows) < 0.1
    raw = {
        "age": [str(v) for v in np.clip(rng.normal(40 + 10 * group, 12), 0, 99).astype(int)],
        "height": [f"{v:.3f}" for v in rng.normal(170, 10, rows).clip(120, 220)],
        "town": [("north", "south", "west")[g] for g in rng.integers(0, 3, rows)],
        "school": [("low", "middle", "high")[g] if not m else "" for g, m in zip(group, missing, strict=True)],
        "born": [f"19{50 + int(v):02d}-06-{1 + int(v) % 28:02d}" for v in rng.integers(0, 50, rows)],
        "sick": [("no", "yes")[int(v < 0.3)] for v in rng.random(rows)],
        "pay": [str(int(v)) if not m else "?" for v, m in zip(rng.lognormal(7, 0.5, rows).clip(0, 9999), missing, strict=True)],
    }
    return make(schema(), list(raw), lambda name: np.array(raw[name], dtype=object))


def schema() -> Schema:
    """Of the example."""
    return Schema(
        (
            Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99)),
            Column(name="height", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(120.0, 220.0), decimals=3),
            Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("north", "south", "east", "west"))),
            Column(name="school", kind=Kind.ORDINAL, role=Role.QUASI, domain=Levels(("low", "middle", "high"))),
            Column(name="born", kind=Kind.DATE, role=Role.PLAIN, domain=Bounds(-631152000, 946684800)),
            Column(name="sick", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("no", "yes")), required=True),
            Column(name="pay", kind=Kind.INTEGER, role=Role.TARGET, domain=Bounds(0, 9999)),
        ),
        missing=("?",),
    )


def annotated(table: Table) -> Table:
    """The table with a column of free text, some of it missing, empty or long, which follows from the places of rows."""
    words = ("good", "bad", "late", "early", "warm", "cold")
    notes = [f"it was {words[row % 6]} and {words[row // 6 % 6]} in room {row % 9}" for row in range(table.rows)]
    odd: dict[int, str | None] = {1: None, 3: "", 5: "患者 🙂 0171 2345678", 7: "word " * 2000}
    column = Column(name="note", kind=Kind.TEXT, role=Role.PLAIN)
    return table.with_text(column, [odd.get(row, note) for row, note in enumerate(notes)])


def observed(own: Schema) -> Schema:
    """The schema with every domain marked as read off the rows."""
    return replace(own, columns=tuple(column.marked(frozenset({Facet.DOMAIN})) for column in own))


def awkward() -> dict[str, Table]:
    """Tables that are legal and unpleasant; a step works on them or refuses with a clear error."""
    table = example()
    blank = table
    for column in table.schema:
        if not column.required:
            gone = (
                np.full(table.rows, np.nan)
                if column.kind is Kind.REAL
                else np.full(table.rows, -1 if column.coded else np.iinfo(np.int64).min)
            )
            blank = blank.with_column(column, gone.astype(table[column.name].dtype))
    constant = table.take(np.zeros(table.rows, np.int64))
    return {
        "one row": table.take(np.arange(1)),
        "two rows": table.take(np.arange(2)),
        "one column": table.select(["age"]),
        "everything missing": blank,
        "every row the same": constant,
        "other column names": _renamed(table),
    }


def _renamed(table: Table) -> Table:
    """The same rows under other names: a method that knows the example's columns by heart does not know these."""
    columns = tuple(replace(c, name=f"{c.name} 2") for c in table.schema)
    return Table(replace(table.schema, columns=columns), {f"{name} 2": array for name, array in table.arrays.items()})
