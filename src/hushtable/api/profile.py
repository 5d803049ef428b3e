"""Look at a table before anything is decided: what each column holds, and whom a few columns single out."""

from __future__ import annotations

from pathlib import Path

from hushtable.table import io
from hushtable.table.profile import Profile
from hushtable.table.profile import profile as profile_rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.uniqueness import Uniqueness


def profile(table: Table | object, schema: Schema | str | Path | None = None, *, person: str | None = None) -> Profile:
    """Profile a table, a frame or a file: columns, what follows from what, and the smallest sets of columns that single people out.

    The sets are searched over all columns that would be released, whatever their names. ``person`` is the key that identifies
    persons, if they hold several rows. All of it is read off the rows unprotected, and is for whoever holds them alone.

    >>> import hushtable as ht
    >>> ht.profile(ht.people(300))
    Profile(300 rows, 20 columns; 2 columns single out 77% of the rows; for you alone)
    """
    return profile_rows(_rows(table, schema, person))


def uniqueness(table: Table | object, schema: Schema | str | Path | None = None, *, person: str | None = None) -> Uniqueness:
    """Whom the quasi-identifiers single out, ready to be asked for any other choice of them; as private as the rows.

    ``headline`` says whom a choice singles out, and ``bars`` what each column adds, one column after the other.

    >>> import hushtable as ht
    >>> unique = ht.uniqueness(ht.people(300))
    >>> unique.headline(["sex"]).alone < unique.headline(["sex", "postcode"]).alone
    True
    """
    return Uniqueness(_rows(table, schema, person))


def _rows(table: Table | object, schema: Schema | str | Path | None, person: str | None) -> Table:
    rows = table if isinstance(table, Table) else io.read(table, schema)
    return rows if person is None else rows.held_by(person)
