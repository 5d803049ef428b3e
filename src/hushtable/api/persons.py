"""Whose the rows are, where people hold several: the column that says it, how many rows of each are read, and who is counted."""

from __future__ import annotations

import numpy as np

from hushtable.errors import InputError
from hushtable.evidence.validity import REPEATED
from hushtable.pipeline.large import counting_persons
from hushtable.pipeline.options import ReleaseOptions
from hushtable.privacy.noise import SYSTEM
from hushtable.privacy.unit import Unit
from hushtable.table.arguments import require_rows, require_seed
from hushtable.table.columns import Facet, Kind, Role
from hushtable.table.roles import protecting
from hushtable.table.rows import Rows, require_person
from hushtable.table.singling import coded_values
from hushtable.table.table import Table

MOST_DROPPED = 0.9
"""The largest share of rows that may be dropped because their person has others, where the schema calls the column a key."""
MOST_DROPPED_OTHERWISE = 0.5
"""The same for any other column: it is more likely to be no key at all."""


def released(table: Rows, step: str, person: str | None, rows_per_person: int | None = None, seed: int | None = None) -> Rows:
    """The rows as a step of a release without a budget reads them: the columns that may leave, with persons to be counted.

    Of each person all rows, or so many picked at random, and then none whose person is unknown; with the seed of a release, those
    that it reads. Persons who hold several rows are counted in memory: PlanError where the rows do not fit there.
    """
    require_rows(table=table)
    require_seed(seed)
    if person is None:
        if rows_per_person is not None:
            raise InputError("name the key column that identifies persons, if they hold several rows", where="person")
        return table.select(table.schema.released)
    require_person(person, table.schema)
    unit = Unit(by=person) if rows_per_person is None else Unit(by=person, rows=rows_per_person)
    # Which rows are one person's never leaves, whatever the role of the column that says so.
    leaving = [name for name in table.schema.released if name != person]
    held = table.select([*leaving, person])
    if rows_per_person != 1:
        held = held.whole(counting_persons(step, rows_per_person))
    if rows_per_person is not None:
        require_key(held, ReleaseOptions(unit=unit))
        return held.bounded(person, unit.rows, SYSTEM.words, seed).select(leaving)
    assert isinstance(held, Table)
    return held.held_by(person).select(leaving)


def rows_used(table: Rows, unit: Unit) -> int:
    """How many rows a release reads: those of known persons, up to the limit for each, where a key identifies persons."""
    return table.rows if unit.by is None else table.within(unit.by, unit.rows)


def require_key(table: Rows, options: ReleaseOptions) -> tuple[str, ...]:
    """InputError where the column that is to identify persons is no key; and what is to be said of it to whoever holds the rows.

    With a budget no refusal may depend on the rows: there the schema decides, and how many rows are dropped is a warning. Without
    one a column is refused that most rows would be dropped for; that says only how many there are.
    """
    unit = options.unit
    if unit.by is None:
        return _unnamed(table)
    if unit.by not in table.schema:
        return ()
    column, where = table.schema[unit.by], f"person (--person): {unit.by}"
    declared = column.kind is Kind.KEY or column.role is Role.IDENTIFIER
    # What the rows gave away decides nothing, and whoever says how many rows a person holds knows that it groups them.
    if options.epsilon is not None and not declared and unit.rows == 1 and not column.drafted & {Facet.KIND, Facet.ROLE}:
        raise InputError(
            f"the schema declares it as {column.kind} with the role {column.role}, so it is no key, and of all rows with the same "
            "value but one would be read. If it identifies persons, give it the kind key or the role identifier in the schema; if "
            "it does and persons hold several rows, say how many (--rows-per-person, Unit(rows=...))",
            where=where,
        )
    why = _dropped(table, unit, MOST_DROPPED if declared else MOST_DROPPED_OTHERWISE)
    if why and options.epsilon is None:
        raise InputError(why, where=where)
    return (f"{where}: {why}",) if why else ()


def _unnamed(table: Rows) -> tuple[str, ...]:
    """That people seem to hold several rows, where nobody says who does; asked of rows in memory alone."""
    name = repeated_key(table, REPEATED) if isinstance(table, Table) else ""
    if not isinstance(table, Table) or not name:
        return ()
    protect = protecting(name, coded_values(table[name][~table.missing(name)])[1])
    return (f"values of {name} repeat: if it identifies persons, what is promised counts rows, not people. Give {protect}",)


def repeated_key(table: Table, least: float = 0.0) -> str:
    """The first column that says who somebody is and whose values repeat in more than this share of its rows; empty if none."""
    for column in table.schema:
        if column.kind is Kind.KEY or column.role is Role.IDENTIFIER:
            counts = coded_values(table[column.name][~table.missing(column.name)])[1]
            if counts[counts > 1].sum() > least * counts.sum():
                return column.name
    return ""


def _dropped(table: Rows, unit: Unit, most: float) -> str:
    """That more than this share of the rows is dropped, because their person has others; else empty."""
    dropped = 1 - rows_used(table, unit) / table.rows if table.rows else 0.0
    if unit.by is None or dropped <= most:
        return ""
    if not isinstance(table, Table):
        return (
            f"{dropped:.0%} of the {table.rows:,} rows would be dropped, because of each person at most {unit.rows} is read. If "
            "the column does identify persons, say how many rows of each are read (--rows-per-person N); if not, name what does"
        )
    held = np.bincount(table.groups([unit.by])[0][~table.missing(unit.by)])
    held = held[held > 0]
    if not len(held):
        return "has no value in any row: it identifies nobody"
    return (
        f"{dropped:.0%} of the {table.rows:,} rows would be dropped, because of each person at most {unit.rows} is read, and the "
        f"column has {len(held):,} values, with {held.mean():,.0f} rows to a value on average and {held.max():,} at most. If it "
        "does identify persons, say how many rows of each are read (--rows-per-person N, Unit(rows=N)); if not, name what does"
    )
