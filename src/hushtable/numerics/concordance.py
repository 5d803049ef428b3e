"""Concordant less discordant pairs of rows, in whole numbers: Kendall's tau-a before it is divided by the number of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit

from hushtable.table.arrays import Integers
from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import CELL_LIMIT, Table, histogram_sizes

FINE = 4096
"""The most cells of a column whose pairs are counted as tables. Ranks of finer ones are compared row by row, in memory."""


def pairs_fit(schema: Schema, classes: int = 1) -> bool:
    """Whether the tables of all pairs of columns, one for each class, say all: they are small enough to be counted."""
    sizes = sorted((histogram_sizes(schema, (name,))[0] for name in schema.names), reverse=True)[:2]
    return max(sizes) <= FINE and classes * math.prod(sizes) <= CELL_LIMIT


def dense_ranks(table: Table, name: str, ranks: tuple[int, ...]) -> Integers:
    """The values of a column as ranks from 0 on without holes, -1 where missing."""
    values, missing = table[name], table.missing(name)
    if ranks:
        values = np.array(ranks, np.int64)[np.where(missing, 0, values).astype(np.int64)]
    dense = np.full(len(values), -1, np.int64)
    dense[~missing] = np.unique(values[~missing], return_inverse=True)[1]
    return dense


def concordance_present(one: Integers, two: Integers) -> int:
    """Of the rows in which neither rank is -1: from the table of counts where it is smaller than the rows, else by sorting."""
    width, height = int(one.max(initial=-1)) + 1, int(two.max(initial=-1)) + 1
    if width * height <= max(len(one), 256):
        # Missing ones, -1, are the first row and column of the table.
        places = (one + 1) * (height + 1) + two + 1
        counts = np.bincount(places, minlength=(width + 1) * (height + 1)).reshape(width + 1, height + 1)
        return concordance_of_counts(counts[1:, 1:])
    both = (one >= 0) & (two >= 0)
    return concordance(one[both], two[both])


def concordance_of_counts(counts: Integers) -> int:
    """Concordant less discordant pairs of rows, from the counts of the pairs of ranks.

    A cell's rows agree with those of lower ranks in both columns and disagree with those lower in the first and higher in the
    second: cumulative sums say how many they are.
    """
    if not counts.size:
        return 0
    lower = np.zeros((counts.shape[0], counts.shape[1] + 1), np.int64)
    lower[1:, 1:] = np.cumsum(np.cumsum(counts, axis=0), axis=1)[:-1]
    agree, disagree = lower[:, :-1], lower[:, -1:] - lower[:, 1:]
    return int((counts * (agree - disagree)).sum())


def concordance_of_cells(counts: Integers, columns: Sequence[Column], ranked: Sequence[tuple[int, ...]]) -> int:
    """The same from the joint histogram of two columns; ``ranked`` as for ``dense_ranks``."""
    for axis, (column, ranks) in enumerate(zip(columns, ranked, strict=True)):
        counts = np.moveaxis(counts, axis, 0)
        # Missing values lie in a last cell, and are ordered neither way.
        counts = counts if column.required else counts[:-1]
        if ranks:
            dense = np.unique(ranks, return_inverse=True)[1]
            merged = np.zeros((int(dense.max()) + 1, counts.shape[1]), np.int64)
            np.add.at(merged, dense, counts)
            counts = merged
        counts = np.moveaxis(counts, 0, axis)
    return concordance_of_counts(counts)


def concordance(one: Integers, two: Integers) -> int:
    """Concordant less discordant pairs of rows, from ranks: n log n, by counting inversions."""
    order = np.lexsort((two, one))
    opposite = int(_inversions(two[order]))
    n = len(one)
    both = one * (int(two.max(initial=0)) + 1) + two
    unequal = n * (n - 1) // 2 - _ties(one) - _ties(two) + _ties(both)
    return unequal - 2 * opposite


def _ties(ranks: Integers) -> int:
    counts = np.unique(ranks, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


@njit(cache=True)
def _inversions(values):  # type: ignore[no-untyped-def]
    """Pairs of places whose values stand in falling order, by merging runs."""
    n = len(values)
    held, count, width = np.empty_like(values), 0, 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for place in range(low, high):
                if j >= high or (i < middle and values[i] <= values[j]):
                    held[place] = values[i]
                    i += 1
                else:
                    held[place] = values[j]
                    j += 1
                    count += middle - i
        values, held = held, values
        width *= 2
    return count
