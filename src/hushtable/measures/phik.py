"""The phi_k correlation of columns of any kind: the correlation of the normal pair whose table has the same chi-square.

Two columns are counted in a table, numbers in equal bins between their own extremes, and Pearson's chi-square of that table is
computed. The same number of rows, drawn from a normal pair of correlation rho and counted in as many equal bins over -5 to 5,
would show a chi-square that grows with rho; the rho at which it is the one found is phi_k, from 0 (no dependence that rises above
the noise of so many cells) to 1 (one column determines the other). For a normal pair it is the size of Pearson's correlation.

M. Baak, R. Koopman, H. Snoek, S. Klous, A new correlation coefficient between categorical, ordinal and interval variables with
Pearson characteristics, Computational Statistics and Data Analysis 152, 2020. The numbers are those of their package ``phik``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from hushtable.table.arrays import Floats, Integers
from hushtable.table.table import Table

BINS = 10
REACH = 5.0
"""Half the width over which the normal pair is binned."""
PANELS = 96
"""Pieces of the quarter turn over which the angle whose sine is rho is tabulated."""
LEVELS = 100
"""Columns of more levels are left out: phi_k needs a table of all pairs of levels."""


def few_levels(tables: Iterable[Table], names: Iterable[str], most: int = LEVELS) -> tuple[str, ...]:
    """Those of the columns that are numbers, or have at most so many levels in each of the tables."""
    seen = list(tables)
    return tuple(n for n in names if all(t.schema[n].numeric or len(t.words(n)) <= most for t in seen))


def phik_matrix(table: Table, names: Sequence[str] | None = None, *, bins: int = BINS) -> Floats:
    """phi_k of every pair of columns, by default of those that hold numbers or levels; ones along the diagonal.

    A row that misses one of the two values does not count for that pair. NaN where a column shows fewer than two values.
    """
    names = [column.name for column in table.schema if column.valued] if names is None else names
    # Missing values are counted in a first row and column, which is faster than to leave their rows out, and then cut off.
    codes = [codes_of(table, name, bins) + 1 for name in names]
    sizes = [int(c.max(initial=0)) + 1 for c in codes]
    matrix = np.eye(len(codes))
    for i in range(len(codes)):
        for j in range(i):
            flat = np.bincount(codes[i] * sizes[j] + codes[j], minlength=sizes[i] * sizes[j])
            matrix[i, j] = matrix[j, i] = phik(flat.reshape(sizes[i], sizes[j])[1:, 1:])
    return matrix


def codes_of(table: Table, name: str, bins: int = BINS) -> Integers:
    """The bin of each row, -1 where the value is missing: levels as they are, numbers in equal bins between their extremes."""
    if not table.schema[name].numeric:
        return table[name].astype(np.int64)
    values = table.floats(name)
    present = ~np.isnan(values)
    if not present.any():
        return np.full(len(values), -1, dtype=np.int64)
    low, high = float(values[present].min()), float(values[present].max())
    # Bins are open at the left, so the first begins just below the smallest value.
    edges = np.linspace(low - max(1e-14 * abs(low), sys.float_info.min), high, bins + 1)
    return np.where(present, np.searchsorted(edges, values) - 1, -1)


def phik(counts: NDArray[np.generic]) -> float:
    """phi_k of a table of counts; its empty rows and columns are left out. NaN if that leaves fewer than two of either."""
    held = np.asarray(counts, dtype=np.float64)
    held = held[held.sum(axis=1) > 0][:, held.sum(axis=0) > 0]
    rows, columns = held.shape
    if min(rows, columns) < 2:
        return float("nan")
    total = float(held.sum())
    statistic, most = chi_square(held), total * (min(rows, columns) - 1)
    # Independent columns show about this much by chance.
    pedestal = (rows - 1.0) * (columns - 1.0)
    if statistic <= pedestal:
        return 0.0
    if statistic >= most:
        return 1.0
    roots = _roots(min(rows, columns), max(rows, columns))
    angle = np.interp(np.sqrt((statistic - pedestal) / (most - pedestal)), roots, _ANGLES)
    return float(np.sin(angle))


def chi_square(counts: Floats) -> float:
    """Pearson's statistic of independence, with Yates's correction where it has one degree of freedom."""
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
    gaps = np.abs(counts - expected)
    if counts.shape == (2, 2):
        gaps = gaps - np.minimum(0.5, gaps)
    return float((gaps**2 / expected).sum())


_ANGLES = np.linspace(0.0, np.pi / 2, PANELS + 1)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


@lru_cache(maxsize=1024)
def _roots(rows: int, columns: int) -> Floats:
    """The root of the normal pair's chi-square at each angle, as a share of that at correlation one.

    By Plackett's identity the derivative of the distribution function by rho is the density, which has no singularity in
    the angle whose sine is rho: its integral from independence on is a sum over panels. The root is nearly straight in the
    angle, so that a straight line between two of them is exact to 1e-5.
    """
    x, y = np.linspace(-REACH, REACH, rows + 1)[:, None], np.linspace(-REACH, REACH, columns + 1)[None, :]
    free = np.diff(ndtr(x), axis=0) * np.diff(ndtr(y), axis=1)
    moved = np.zeros((rows + 1, columns + 1))
    squares, product = (x**2 + y**2) / 2, x * y
    half = _ANGLES[1] / 2
    chi_squares = [0.0]
    for start in _ANGLES[:-1]:
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            angle = start + half * (1 + node)
            moved += weight * half / (2 * np.pi) * np.exp((product * np.sin(angle) - squares) / np.cos(angle) ** 2)
        chi_squares.append(float((_cells(moved) ** 2 / free).sum()))
    together = _cells(ndtr(np.minimum(x, y))) - free
    chi_squares[-1] = float((together**2 / free).sum())
    roots = np.sqrt(np.maximum.accumulate(chi_squares) / chi_squares[-1])
    roots.flags.writeable = False
    return roots


def _cells(heights: Floats) -> Floats:
    """The mass of each cell, from a distribution function at its corners."""
    return np.diff(np.diff(heights, axis=0), axis=1)
