"""The domain of a number as numbered places: grid points, or equal parts where there is no grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable.table.arrays import Integers
from hushtable.table.columns import Column
from hushtable.table.table import Table

FINE = 1 << 24
"""The parts that a real number without a grid can be told apart by."""


def points(column: Column) -> int:
    """How many places a value can have."""
    bounds = column.bounds
    if column.step is None:
        return FINE if bounds.high > bounds.low else 1
    return round((bounds.high - bounds.low) / column.step) + 1


def edges_of(column: Column, places: Integers) -> NDArray[np.float64]:
    """Where places begin, as numbers of the column; on a grid that is halfway between grid points."""
    bounds = column.bounds
    if column.step is not None:
        return bounds.low + column.step * (places - 0.5)
    width = bounds.high - bounds.low if bounds.high > bounds.low else 1.0
    return bounds.low + width * (places / points(column))


def places_of(table: Table, name: str) -> Integers:
    """The place of each value that is not missing."""
    column, values = table.schema[name], table.floats(name)
    low, last = column.bounds.low, points(column)
    step = column.step if column.step is not None else (column.bounds.high - low) / last or 1.0
    half = 0.5 if column.step is not None else 0.0
    found = np.floor((values[~np.isnan(values)] - low) / step + half)
    return np.clip(found, 0, last - 1).astype(np.int64)
