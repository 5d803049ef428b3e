"""People picked at random out of tables that are larger than memory, without looking at what is held about them.

What is found on them says something about all: of people who were picked uniformly the share that is hit has the usual intervals,
and where none of n is hit, less than 3/n of all are (with 95 % confidence).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hushtable.errors import InputError
from hushtable.evidence.row_keys import row_keys
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows
from hushtable.table.table import Table

PEOPLE = 10_000
"""So many people are asked of each side unless something else is said."""
SAMPLE = 200_000
"""So many rows of a table that is not in memory utility is measured on: a share is then known to about 0.1 %."""


@dataclass(frozen=True, eq=False)
class Picked:
    """Some people of a table, with all of their rows."""

    table: Table
    places: Integers
    """For each row its number in the whole table; rising."""
    nobodys: int = 0
    """How many rows of the whole table nobody holds, where a key says who holds which."""


def picked_rows(rows: Rows, count: int, rng: np.random.Generator) -> Picked:
    """So many rows, each as likely as any other, in their order; all where there are no more."""
    count = min(count, rows.rows)
    places = np.sort(rng.choice(rows.rows, count, replace=False, shuffle=False))
    return Picked(_in_memory(rows.take(places)), places)


def picked_people(rows: Rows, key: str, count: int, salt: int, which: str) -> Picked:
    """So many people that a key column identifies, each as likely as any other, with all of their rows; or all of them.

    Those are picked whose keys have the smallest hashes: whoever is in two tables is picked in both or in none, with one salt.
    """
    if key not in rows.schema:
        raise InputError(f"there is no column {key!r} to identify persons by", where=which)
    least, nobodys = np.empty(0, np.uint64), 0
    for batch in rows.batches(columns=(key,)):
        hashes, known = row_keys(batch, (key,), salt), ~batch.missing(key)
        least = np.unique(np.concatenate([least, hashes[known]]))[:count]
        nobodys += int((~known).sum())
    if not len(least):
        raise InputError(f"no row has a {key} to identify persons by", where=which)
    inside = np.zeros(rows.rows, np.bool_)
    start = 0
    for batch in rows.batches(columns=(key,)):
        hashes, known = row_keys(batch, (key,), salt), ~batch.missing(key)
        inside[start : start + batch.rows] = known & (hashes <= least[-1])
        start += batch.rows
    return Picked(_in_memory(rows.take(inside)), np.flatnonzero(inside), nobodys)


def _in_memory(rows: Rows) -> Table:
    return Table.concat(rows.batches())


def would_be_seen(asked: Mapping[str, int], rows: Mapping[str, int]) -> str:
    """How many people were asked of how many, and what a finding about them says of all."""
    bound = 3 / max(1, asked["train"])
    return (
        f"{asked['train']:,} people, picked at random, were asked of {rows['train']:,} training rows, and {asked['control']:,} of "
        f"{rows['control']:,} control rows; all {rows['release']:,} released rows were searched for them. Where an attack hits "
        f"none of them, it hits less than {100 * bound:.2g} % of all people (95 % confidence): a leak that touches fewer may go "
        "unseen"
    )


def measured_on(sample: Mapping[str, int], rows: Mapping[str, int]) -> str:
    """On how many rows of how many utility was measured."""
    names = {"train": "training", "release": "released", "control": "control"}
    parts = [f"{sample[which]:,} of {rows[which]:,} {name} rows" for which, name in names.items()]
    return f"measured on {parts[0]}, {parts[1]} and {parts[2]}, picked at random"
