"""What a code list makes of rows: the determined column from the determining one, and the rows in which it is another."""

from __future__ import annotations

import numpy as np

from hushtable.table.arrays import Array, Integers, Mask
from hushtable.table.code_checks import by_value, held_value
from hushtable.table.code_list import Dependency
from hushtable.table.columns import CODED, MISSING_CODE, MISSING_INTEGER, Column, Kind, Levels
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def determined(schema: Schema) -> dict[str, Dependency]:
    """The columns that others of the schema determine, each after the one that determines it; generalized ones left out."""
    left = {
        column.name: column.determined_by
        for column in schema
        if column.determined_by is not None and _plain(schema, column.name) and _plain(schema, column.determined_by.source)
    }
    ordered: dict[str, Dependency] = {}
    while ready := [name for name, by in left.items() if by.source not in left]:
        ordered |= {name: left.pop(name) for name in ready}
    return ordered


def _plain(schema: Schema, name: str) -> bool:
    return name in schema and not schema[name].generalized


def follow(table: Table, column: Column, by: Dependency) -> Array:
    """The values of a column that a code list determines, from the rows' values of the determining one.

    A function of each row alone: of a public list it costs nothing. A value that has no line, or that the column cannot hold, is
    missing.
    """
    values, places = np.unique(table[by.source], return_inverse=True)
    firsts = Table(table.schema.select([by.source]), {by.source: values})
    return _due(table.schema[by.source], column, by, firsts)[places]


def due_cells(parent: Column, child: Column, by: Dependency) -> Integers | None:
    """For each level of the determining column, and last for a missing value, the level of the determined one (-1: missing).

    None where one of them has no levels, or the list no line for one of them: of bins, it says nothing.
    """
    if not isinstance(parent.domain, Levels) or not isinstance(child.domain, Levels) or not set(parent.levels) <= set(by.index):
        return None
    texts = [by.index[level] for level in parent.levels]
    if not all(text in child.domain.index or not text for text in texts):
        return None
    return np.array([child.domain.index.get(text, -1) for text in (*texts, by.index.get("", ""))], np.int64)


def departs(table: Table, counts: Integers | None = None) -> dict[str, Mask]:
    """For each column that is determined: the rows in which it is not what its code list, or another row, says.

    Without a list, rows with another value than the most common one beside theirs. ``counts`` says how many rows each stands for.
    """
    rows = {}
    for name, by in determined(table.schema).items():
        column = table.schema[name]
        known = by if by.codes is not None else most_common(table, name, by.source, counts)
        due, held = follow(table, column, known), table[name]
        # Two missing numbers are the same, which NaN is not.
        rows[name] = np.asarray((due != held) & ~(column.is_missing(due) & column.is_missing(held)), np.bool_)
    return rows


def departing(rows: Rows) -> dict[str, int]:
    """For each column that is determined, how many rows depart from what determines it, wherever they are."""
    found = {}
    for name, by in determined(rows.schema).items():
        tuples = rows.distinct((by.source, name), rows.rows)
        found[name] = int(tuples.counts[departs(tuples.table, tuples.counts)[name]].sum())
    return found


def most_common(table: Table, name: str, source: str, counts: Integers | None = None) -> Dependency:
    """The code list that most rows of a table follow, of which each stands for so many. It is read off them, every one."""
    given, firsts = _coded(table, source)
    held, others = _coded(table, name)
    pairs, place = np.unique(given * len(others) + held, return_inverse=True)
    order = np.lexsort((pairs, -np.bincount(place, counts)))
    _, first = np.unique(pairs[order] // len(others), return_index=True)
    best = pairs[order][first]
    return Dependency(source, tuple(sorted((firsts[pair // len(others)], others[pair % len(others)]) for pair in best.tolist())))


def _coded(table: Table, name: str) -> tuple[Integers, list[str]]:
    """A code for each row, and the text that each stands for, empty for a missing value."""
    array = table[name]
    _, firsts, codes = np.unique(array, return_index=True, return_inverse=True)
    some = table.take(firsts)
    texts = np.where(some.missing(name), "", some.strings(name).astype(object))
    return codes.astype(np.int64), [str(text) for text in texts.tolist()]


def _due(parent: Column, child: Column, by: Dependency, firsts: Table) -> Array:
    """The determined value of each row of a table."""
    texts = np.where(firsts.missing(by.source), "", firsts.strings(by.source).astype(object)).tolist()
    index = by_value(parent, by)
    wanted = [index.get(parent.number(text) if text and parent.kind not in CODED else text, "") for text in texts]
    missing = MISSING_CODE if child.kind in CODED else np.nan if child.kind is Kind.REAL else MISSING_INTEGER
    values = np.array([missing if (value := held_value(child, text)) is None else value for text in wanted], child.dtype)
    return np.where(child.outside(values), missing, values).astype(child.dtype)
