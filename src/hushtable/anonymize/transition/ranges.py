"""The values under a generalized value, on the column's own grid, and points that stay inside a range.

A column of whole numbers, of decimals or of dates has a grid. Each of its values owns a stretch of the line, the points
that are written as it; what is drawn evenly from the stretches of some values is evenly spread over the values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.cell import Interval
from hushtable.table.columns import CODED, DAY, Bounds, Cells, Column, Kind, Levels

LAST_SECOND = 253_402_300_799
"""Of the year 9999: no later date can be written."""


def restored(column: Column) -> Column:
    """The column as it was before it was generalized."""
    return replace(column, domain=column.base)


def stretch(column: Column, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The ends of the stretch of the line that is written as the values from ``low`` to ``high``."""
    if column.step is None:
        return low, high
    return low - column.step / 2, _last(column, high) + column.step / 2


def centre(column: Column, values: Floats) -> Floats:
    """Each value at the middle of its own stretch, NaN where missing: a date without a day lies in the middle of its month."""
    return values if column.format is None or column.kind is not Kind.DATE else (values + _last(column, values)) / 2


def _last(column: Column, values: Floats) -> Floats:
    """The last grid point that is written like the value; the value itself unless a date format leaves something out."""
    if column.kind is not Kind.DATE or column.format is None:
        return values
    distinct, places = np.unique(values, return_inverse=True)
    return np.array([v if np.isnan(v) else _last_alike(column, v) for v in distinct.tolist()])[places]


def _last_alike(column: Column, value: float) -> float:
    step = int(column.step or 1)

    def alike(steps: int) -> bool:
        moment = value + steps * step
        return moment <= LAST_SECOND and column.number(column.write(moment)) == value

    # A format can leave out everything but the year.
    low, high = 0, 366 * DAY // step
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if alike(middle) else (low, middle - 1)
    return value + low * step


def reflect(values: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Points beyond an end folded back inside, as by a mirror.

    Cutting them off instead would pile them up at the end, where everybody could see that noise had carried them
    over it; folded back they spread out, and what was even stays even.
    """
    width = np.asarray(high, np.float64) - low
    period = np.where(width > 0, 2 * width, 1.0)
    along = np.mod(values - low, period)
    return np.asarray(low + np.minimum(along, period - along) * (width > 0), dtype=np.float64)


def spans(column: Column) -> tuple[Floats, Floats]:
    """The least and the greatest value under each cell of a generalized number or date, and at last NaN for missing.

    ``*`` covers the whole domain.
    """
    assert isinstance(column.domain, Cells)
    assert isinstance(column.base, Bounds)
    base = column.base
    ends = np.array([*(_ends(column, cell.span) for cell in column.domain.cells), (np.nan, np.nan)])
    low, high = np.clip(ends, base.low, base.high).T
    return low, np.maximum(low, high)


def _ends(column: Column, span: Interval | frozenset[str] | None) -> tuple[float, float]:
    if not isinstance(span, Interval):
        return -np.inf, np.inf
    if column.step is not None:
        closed = span.closed(column.step)
        return closed.low, closed.high
    low = np.nextafter(span.low, np.inf) if span.open_low else span.low
    return float(low), float(np.nextafter(span.high, -np.inf) if span.open_high else span.high)


def members(column: Column) -> tuple[Integers, Integers, Integers]:
    """The codes of the levels under each cell, one cell after the other, with the start and the number of each.

    At last -1 alone for missing. ``*`` covers all levels.
    """
    assert isinstance(column.domain, Cells)
    assert isinstance(column.base, Levels)
    index = column.base.index
    under = [
        sorted(index[level] for level in cell.span) if isinstance(cell.span, frozenset) else list(range(len(index)))
        for cell in column.domain.cells
    ]
    sizes = np.array([*map(len, under), 1], np.int64)
    flat = np.array([code for codes in (*under, [-1]) for code in codes], np.int64)
    return flat, np.cumsum(sizes) - sizes, sizes


def middles(column: Column, *, first: bool = False) -> Array:
    """One value for each cell, a function of the cell and the domain, and at last a missing one.

    The middle of a range (the upper one of two), the middle level of an ordinal, the first level of a category; with
    ``first`` always the first value.
    """
    if column.kind in CODED:
        flat, starts, sizes = members(column)
        middle = column.kind is Kind.ORDINAL and not first
        return np.asarray(flat[starts + (sizes // 2 if middle else 0)], np.int32)
    low, high = spans(column)
    if first:
        values = low
    elif column.step is None:
        values = low + (high - low) / 2
    else:
        values = low + (np.round((high - low) / column.step) + 1) // 2 * column.step
    return restored(column).from_floats(values)


def evenly(column: Column, codes: Array, rng: np.random.Generator) -> Array:
    """For each row a value of its own from under its cell, each as likely; a missing cell stays missing."""
    shares = rng.random(len(codes))
    at = codes.astype(np.int64)
    if column.kind in CODED:
        flat, starts, sizes = members(column)
        return np.asarray(flat[starts[at] + (shares * sizes[at]).astype(np.int64)], np.int32)
    low, high = spans(column)
    left, right = stretch(column, low, high)
    drawn = left[at] + shares * (right - left)[at]
    # Within half a step of its ends a range is written as they are; from there no rounding can lead outside.
    return restored(column).from_floats(drawn.clip(low[at], right[at] - (column.step or 0.0) / 2))
