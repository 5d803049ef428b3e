"""Pearson's correlation of all pairs of columns that have an order, each pair on the rows that have both values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable.evidence.reading import floats_like
from hushtable.table.arrays import Floats
from hushtable.table.columns import Kind
from hushtable.table.table import Table

ROUNDING = 1e-10
"""What is left of a variance that is zero, as a part of the squares it was computed from."""
CHUNK = 1 << 16


def ordered(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns that hold numbers, dates or ordinals."""
    return tuple(name for name in names if table.schema[name].valued and table.schema[name].kind is not Kind.CATEGORY)


def correlations(table: Table, names: Sequence[str], reference: Table) -> Floats:
    """The matrix of correlations, ordinals by the place of their level in the reference table.

    NaN for a pair without two rows, or where a column shows a single value in the rows of the pair.
    """
    values = [_scaled(floats_like(table, name, reference)) for name in names]
    size = len(values)
    n, sums, squares, products = (np.zeros((size, size)) for _ in range(4))
    for start in range(0, table.rows, CHUNK):
        part = np.stack([column[start : start + CHUNK] for column in values]) if values else np.zeros((0, 0))
        there = (~np.isnan(part)).astype(np.float64)
        part = np.nan_to_num(part)
        n += there @ there.T
        sums += part @ there.T
        squares += part**2 @ there.T
        products += part @ part.T
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = squares - sums**2 / n
        spread[~(spread > ROUNDING * squares)] = np.nan
        matrix = (products - sums * sums.T / n) / np.sqrt(spread * spread.T)
    return np.clip(matrix, -1.0, 1.0)


def _scaled(values: Floats) -> Floats:
    """About zero and of size one, so that no digit is lost in squares; a column of one value becomes zeros."""
    present = values[~np.isnan(values)]
    if not len(present) or present.min() == present.max():
        return np.where(np.isnan(values), np.nan, 0.0)
    values = values / np.abs(present).max()
    values = values - np.nanmean(values)
    return values / np.nanstd(values)
