"""A public grid: columns cut by what is declared of them alone, so that the cells are the same whatever rows are counted."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from hushtable.measures.bins import Bins, Coded, above, binned, tables
from hushtable.table.arrays import Floats
from hushtable.table.columns import Column, Kind
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

MAGNITUDES = 1000
"""Numbers of more possible values than this are cut by equal factors: one width cannot serve three orders of magnitude."""


def public_bins(table: Table, name: str, bins: int, others: Iterable[Table] = ()) -> Bins:
    """Bins of a column: levels as they are declared, numbers at cuts of their declared bounds; missing is last."""
    column = table.schema[name]
    if not column.numeric:
        return binned(table, name, bins, others)
    edges = cuts(column, bins)
    spans = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return Bins(column, edges, [*spans, "missing"], len(spans))


def cuts(column: Column, bins: int) -> Floats:
    """The edges of about so many bins of a number or a date, from its declared bounds and its step.

    Few values are a bin each. Dates, and numbers of up to 1,000 values, are cut at equal widths; other numbers at equal
    widths of asinh(x / u), where u is a thousandth of the largest bound: by equal factors, and evenly around zero. Zero, which
    many numbers hold far more often than any other value, is a bin of its own.
    """
    low, high, step = column.bounds.low, column.bounds.high, column.step
    values = np.inf if step is None else round((high - low) / step) + 1
    if values <= bins:
        return np.asarray(low + (step or 0.0) * (np.arange(values + 1) - 0.5))
    if low == high:
        return np.array([low, np.nextafter(low, np.inf)])
    if column.kind is Kind.DATE:
        return np.linspace(low, high, bins + 1)
    edges = np.linspace(low, high, bins + 1)
    if values > MAGNITUDES:
        unit = max(abs(low), abs(high)) / MAGNITUDES
        edges = np.sinh(np.linspace(np.arcsinh(low / unit), np.arcsinh(high / unit), bins + 1)) * unit
    if low <= 0 <= high:
        # A cut that is zero but for rounding would leave a bin of nothing beside it.
        edges = np.concatenate([edges[np.abs(edges) > 1e-9 * (high - low)], [0.0], above(column, np.zeros(1))])
    return np.unique(edges)


def on_public_grid(case: Case, bins: int) -> Coded:
    """The three tables on their public grid, made once for all measures that ask for the same number of bins."""

    def make() -> Coded:
        grid = {name: public_bins(case.train, name, bins, others=(case.ordinary(), case.control)) for name in case.columns}
        return Coded(grid, {which: {name: one.codes(table) for name, one in grid.items()} for which, table in tables(case).items()})

    coded: Coded = case.once(("public grid", bins), make)
    return coded
