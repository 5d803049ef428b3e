"""Columns as cells of their histograms, and back: what every model of counts works with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError, PlanError
from hushtable.pipeline.step import Given, given_arrays
from hushtable.table.arrays import Array, Integers
from hushtable.table.columns import MISSING_INTEGER, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

MEAN = math.sqrt(2 / math.pi)
"""The mean of |x| for x standard normal: what noise alone adds to each cell's error, in standard deviations."""
DROWNED = 0.1
"""The share of the rows in wrong cells from which on it is said."""

FEW, SURE = 1000, 3.0
"""A noisy number of rows has to be above so many standard deviations of its noise, where that is above so many rows."""
CELLS = 20_000_000
"""The most cells of an array that we are ready to make, and of the columns of a table together."""


def sizes_of(schema: Schema) -> dict[str, int]:
    """The number of cells of every column."""
    return {name: histogram_sizes(schema, (name,))[0] for name in schema.names}


def require_counted(schema: Schema, step: str) -> None:
    """PlanError names every column that has no histogram, or one with too many cells beside the others."""
    odd, sizes = [], {}
    for column in schema:
        try:
            sizes[column.name] = histogram_sizes(schema, (column.name,))[0]
        except InputError:
            odd.append(column.name)
    if not odd and sum(sizes.values()) > CELLS:
        odd = [name for name, size in sizes.items() if size > CELLS // len(sizes)]
    if odd:
        raise PlanError(f"{step}: {', '.join(odd)} must be cut into bins first; put a 'bins' step before it")


def values_of(column: Column, cells: Integers) -> Array:
    """The values that cells of a column's histogram stand for (missing last, unless it is required)."""
    if column.kind is Kind.INTEGER and not column.generalized:
        count = int(column.bounds.high - column.bounds.low) + 1
        return np.where(cells == count, MISSING_INTEGER, cells + int(column.bounds.low))
    return np.where(cells == len(column.levels), -1, cells).astype(np.int32)


def table_of(schema: Schema, cells: Mapping[str, Integers]) -> Table:
    """A table from the cells of every column."""
    return Table(schema, {column.name: values_of(column, cells[column.name]) for column in schema})


def given_cells(schema: Schema, given: Given | None) -> dict[str, int]:
    """The cell of each column that a condition fixes; InputError lists what is no value of its column."""
    arrays = given_arrays(schema, given, 1)
    fixed = Table(schema.select(arrays), arrays) if arrays else None
    return {name: int(fixed.cells(name)[0]) for name in arrays} if fixed is not None else {}


def countable(total: float, sigma: float) -> float:
    """The noisy number of rows to go on with, or ``FEW`` where it does not stand out of its noise, of this standard deviation.

    The budget is spent by then, so there is a release, and its note says what to expect. Noise of up to ``FEW`` rows is let
    pass: then the release is small as well.
    """
    return float(FEW) if sigma > FEW and total < SURE * sigma else total


def spread(shares: NDArray[np.float64], rows: int, rng: np.random.Generator) -> Integers:
    """So many cells in these shares, as evenly as whole rows allow, in random order."""
    exact = shares / shares.sum() * rows
    counts = np.floor(exact).astype(np.int64)
    rest = exact - counts
    left = rows - int(counts.sum())
    if left:
        counts += np.bincount(rng.choice(len(shares), left, p=rest / rest.sum()), minlength=len(shares))
    return rng.permutation(np.repeat(np.arange(len(shares)), counts))


def noted(told: Mapping[str, Any], *notes: str) -> dict[str, Any]:
    """What is told of a model with more notes, after those that are there."""
    texts = [text for text in (told.get("note", ""), *notes) if text]
    return dict(told) | ({"note": "; ".join(texts)} if texts else {})


def drowned(cells: Mapping[str, int], sigma: float, total: float) -> dict[str, str]:
    """A note where the noise drowns the counts: what share of the rows to expect in wrong cells, on average over the tables.

    Noise of standard deviation sigma puts sigma sqrt(2/pi) rows into a cell, or takes them out, on average; half of their sum
    over a table is its total variation distance (less, once the counts are made consistent).
    """
    off = {name: min(1.0, MEAN * sigma * size / (2 * total)) for name, size in cells.items()}
    mean = sum(off.values()) / max(len(off), 1)
    if mean <= DROWNED:
        return {}
    worst = max(off, key=off.__getitem__)
    count = f"about {total:.0f}" if sigma < total else "fewer, as far as can be told"
    return {
        "note": (
            f"the budget is small for these domains: the noise of a cell is about {sigma:.0f} rows and the table has "
            f"{count}, so expect a share of about {mean:.2f} of the rows in wrong cells ({off[worst]:.2f} for "
            f"{worst}). "
            "Fewer bins, fewer levels, fewer columns or a larger epsilon help"
        )
    }
