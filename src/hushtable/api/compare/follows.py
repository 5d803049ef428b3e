"""Whether the column to predict follows from another one: its prediction then says nothing about a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hushtable.table.columns import Kind

if TYPE_CHECKING:
    from hushtable.table.arrays import Integers
    from hushtable.table.table import Table

PERFECT = 0.9995
"""A score of the real rows from which on their models make no error that would be shown."""
FEWEST = 5
"""So many rows that are not of the commonest value must follow before it is more than chance."""


def sources(table: Table, target: str) -> list[str]:
    """The columns that each determine the target exactly.

    Either all rows with one value of the column have one value of the target, and values repeat; or the column is ordered and
    each value of the target is one range of it, as a band is of the number it was cut from.
    """
    if not target or table.rows == 0:
        return []
    wanted, values = table.groups([target])
    return [
        name
        for name in table.schema.released
        if name != target and _determines(table, name, wanted.astype(np.int64), values)
    ]  # fmt: skip


def follow_note(target: str, names: list[str]) -> str:
    """That the target follows from these columns, and what to do; empty if there is none."""
    if not names:
        return ""
    several = f"each of {', '.join(names)}" if len(names) > 1 else names[0]
    return (
        f"{target} follows from {several}: whatever keeps that column predicts it without an error, so its score says nothing. "
        "Choose another target (--target), or drop the column that repeats it."
    )


def _determines(table: Table, name: str, wanted: Integers, values: int) -> bool:
    column = table.schema[name]
    if column.kind in (Kind.TEXT, Kind.KEY):
        return False
    groups, count = table.groups([name])
    pairs = np.unique(groups.astype(np.int64) * values + wanted)
    if len(pairs) > count:
        return False
    rare = wanted != np.argmax(np.bincount(wanted))
    repeated = np.bincount(groups, minlength=count)[groups] > 1
    if int((rare & repeated).sum()) >= FEWEST and count <= table.rows / 2:
        return True
    if not column.numeric or int(rare.sum()) < FEWEST or values > table.rows / 10:
        return False
    order = np.argsort(table.floats(name), kind="stable")
    return int((np.diff(wanted[order]) != 0).sum()) + 1 == values
