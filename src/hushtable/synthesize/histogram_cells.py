"""Columns as cells of their histograms, and back: what every synthesizer that counts works with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.pipeline.step import Given, given_arrays
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import MISSING_INTEGER, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

MEAN = math.sqrt(2 / math.pi)
"""The mean of |x| for x standard normal: what noise alone adds to each cell's error, in standard deviations."""
DROWNED = 0.1
"""From this share of the rows in wrong cells on, the card carries a note."""

FEW, SURE = 1000, 3.0
"""Where the noise of the number of rows exceeds ``FEW`` rows, the number must exceed ``SURE`` standard deviations to be used."""
CELLS = 20_000_000
"""The most cells of one array, and of all columns of a table together."""


def sizes_of(schema: Schema) -> dict[str, int]:
    """The number of cells of every column."""
    return {name: histogram_sizes(schema, (name,))[0] for name in schema.names}


def require_counted(schema: Schema, step: str) -> None:
    """PlanError names every column that has no histogram, or one with too many cells."""
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


def usable_total(total: float, sigma: float) -> float:
    """The noisy number of rows, or ``FEW`` where it cannot be distinguished from its noise (standard deviation ``sigma``).

    The budget is spent by then, so there is a release, and a note on its card says what to expect. Noise of up to ``FEW`` rows
    is accepted: then the release is small as well.
    """
    return float(FEW) if sigma > FEW and total < SURE * sigma else total


def spread(shares: Floats, rows: int, rng: np.random.Generator) -> Integers:
    """``rows`` cells in these shares, as evenly as whole rows allow, in random order."""
    exact = shares / shares.sum() * rows
    counts = np.floor(exact).astype(np.int64)
    rest = exact - counts
    left = rows - int(counts.sum())
    if left:
        counts += np.bincount(rng.choice(len(shares), left, p=rest / rest.sum()), minlength=len(shares))
    return rng.permutation(np.repeat(np.arange(len(shares)), counts))


def with_notes(summary: Mapping[str, Any], *notes: str) -> dict[str, Any]:
    """The summary of a model with more notes, after those that it has already."""
    texts = [text for text in (summary.get("note", ""), *notes) if text]
    return dict(summary) | ({"note": "; ".join(texts)} if texts else {})


def noise_note(cells: Mapping[str, int], sigma: float, total: float) -> dict[str, str]:
    """A note where the noise is large beside the counts: which share of the rows to expect in wrong cells, on average.

    Noise of standard deviation sigma puts sigma sqrt(2/pi) rows into a cell, or takes them out, on average; half of their sum
    over a table is its total variation distance (less, once the counts are made consistent).
    """
    off = {name: min(1.0, MEAN * sigma * size / (2 * total)) for name, size in cells.items()}
    mean = sum(off.values()) / max(len(off), 1)
    if mean <= DROWNED:
        return {}
    worst = max(off, key=off.__getitem__)
    count = f"about {total:.0f} rows" if sigma < total else "probably fewer rows than that"
    return {
        "note": (
            f"the budget is small for these domains: the noise of a cell is about {sigma:.0f} rows and the table has {count}. "
            f"Expect about {mean:.0%} of the rows in wrong cells ({off[worst]:.0%} for {worst}). "
            "Fewer bins, fewer levels, fewer columns or a larger epsilon help"
        )
    }
