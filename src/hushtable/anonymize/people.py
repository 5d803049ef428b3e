"""Persons who hold several rows: the records that anonymizers group, and the least number of persons to be hidden among."""

from __future__ import annotations

import numpy as np

from hushtable.errors import InputError
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows
from hushtable.table.table import Table, identities


def require_people(rows: Rows, k: int, where: str) -> None:
    """InputError where there are fewer than k persons: no grouping can then hide anybody among k."""
    whom, count = "rows" if of_persons(rows) is None else "persons", people(rows)
    if count < k:
        raise InputError(f"k = {k} is larger than the number of {whom} ({count})", where=where)


def people(rows: Rows) -> int:
    """How many persons hold the rows; as many as there are rows, where every row is a person of its own."""
    persons = of_persons(rows)
    return rows.rows if persons is None else len(np.unique(persons))


def of_persons(rows: Rows) -> Integers | None:
    """For each row the number of the person who holds it; None where every row is a person of its own."""
    return rows.persons if isinstance(rows, Table) else None


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
