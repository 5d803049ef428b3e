"""The domain of a number as numbered places: grid points, or equal parts where there is no grid."""

from __future__ import annotations

import numpy as np

from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Column
from hushtable.table.table import Table

FINE = 1 << 24
"""The equal parts that the range of a real number without a grid is divided into."""


def points(column: Column) -> int:
    """How many places a value can have."""
    bounds = column.bounds
    if column.step is None:
        return FINE if bounds.high > bounds.low else 1
    return round((bounds.high - bounds.low) / column.step) + 1


def edges_of(column: Column, places: Integers) -> Floats:
    """Where places begin, as numbers of the column; on a grid that is halfway between grid points."""
    bounds = column.bounds
    if column.step is not None:
        return np.asarray(bounds.low + column.step * (places - 0.5), np.float64)
    width = bounds.high - bounds.low if bounds.high > bounds.low else 1.0
    return np.asarray(bounds.low + width * (places / points(column)), np.float64)


def places_of(table: Table, name: str) -> Integers:
    """The place of each value that is not missing."""
    column, values = table.schema[name], table.floats(name)
    low, last = column.bounds.low, points(column)
    step = column.step if column.step is not None else (column.bounds.high - low) / last or 1.0
    half = 0.5 if column.step is not None else 0.0
    places = np.floor((values[~np.isnan(values)] - low) / step + half)
    return np.clip(places, 0, last - 1).astype(np.int64)
