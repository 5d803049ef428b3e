"""Persons who hold several rows: the records that anonymizers group, and the least number of persons to be hidden among."""

from __future__ import annotations

import numpy as np

from hushtable.errors import InputError
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows
from hushtable.table.table import Table, identities


def require_people(rows: Rows, k: int, where: str) -> None:
    """InputError where there are fewer than k persons: no grouping can then hide anybody among k."""
    persons = rows.persons if isinstance(rows, Table) else None
    whom, count = ("rows", rows.rows) if persons is None else ("persons", len(np.unique(persons)))
    if count < k:
        raise InputError(f"k = {k} is larger than the number of {whom} ({count})", where=where)


def records(table: Table, columns: tuple[str, ...]) -> tuple[Integers, Integers]:
    """One row for each record, in their order, and for each row the place of its record among them.

    Rows of one person that are alike in these columns are one record; where every row is a person of its own, all rows are records.
    Grouped by record, k of them are k persons wherever nobody holds two of the same group.
    """
    if table.persons is None:
        return np.arange(table.rows), np.arange(table.rows)
    alike = identities([table.persons, *(table[name] for name in columns)], table.rows)
    first = np.unique(alike, return_index=True)[1]
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[alike]
