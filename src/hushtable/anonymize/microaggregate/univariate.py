"""Optimal microaggregation of one column, compiled.

Hansen and Mukherjee, "A polynomial algorithm for optimal univariate microaggregation" (2003): in sorted order the best groups
are runs of k to 2k - 1 values, and the best cuts are a shortest path. The sum of squared errors is the least that any
groups of at least k have.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import Column, Kind


def partition(column: Column, array: Array, k: int) -> Integers:
    """The group of each value of a column: every group has at least ``k`` members. Needs at least ``k`` values.

    Missing values are a group of their own if they are at least k. Fewer join the group whose mean is nearest to that of the
    column; fewer than k present values join the missing ones. The levels of a category have no order: those of at least k
    rows (missing being one of them) stay, and the rare ones are put together, the more frequent first.
    """
    missing = column.is_missing(array)
    if column.kind is Kind.CATEGORY:
        return _levels(np.where(missing, len(column.levels), array).astype(np.int64), k)
    gone, values = int(missing.sum()), array[~missing].astype(np.float64)
    if len(values) < k:
        return np.zeros(len(array), np.int64)
    labels = np.empty(len(array), np.int64)
    labels[~missing] = runs = optimal(values, k)
    if 0 < gone < k:
        means = np.bincount(runs, values) / np.bincount(runs)
        labels[missing] = int(np.abs(means - values.mean()).argmin())
    else:
        labels[missing] = runs.max() + 1
    return labels


def optimal(values: Floats, k: int) -> Integers:
    """The groups of at least ``k`` with the least sum of squared errors, numbered by rising value."""
    order = np.argsort(values, kind="stable")
    starts = _cuts(values[order], k)
    labels = np.empty(len(values), np.int64)
    labels[order] = np.cumsum(starts) - 1
    return labels


@njit(cache=True)
def _cuts(values, k):  # type: ignore[no-untyped-def]
    """Where groups start, of sorted values."""
    n = len(values)
    cost, before = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    cost[0] = 0.0
    for end in range(k, n + 1):
        # Mean and squared error of the run grow value by value (Welford): sums of squares would cancel beside an outlier.
        mean, error = 0.0, 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            gap = values[end - size] - mean
            mean += gap / size
            error += gap * (values[end - size] - mean)
            if size >= k and cost[end - size] + error < cost[end]:
                cost[end], before[end] = cost[end - size] + error, end - size
    starts = np.zeros(n, np.int64)
    while n > 0:
        n = before[n]
        starts[n] = 1
    return starts


def _levels(codes: Integers, k: int) -> Integers:
    """Frequent levels by themselves, rare ones in parcels of at least k; a last one too small joins the smallest group."""
    counts = np.bincount(codes)
    rare = np.flatnonzero((counts > 0) & (counts < k))
    group = np.arange(len(counts))
    parcel = filled = 0
    for level in rare[np.argsort(-counts[rare], kind="stable")]:
        parcel = level if not filled else parcel
        group[level] = parcel
        filled = 0 if filled + counts[level] >= k else filled + counts[level]
    sizes = np.bincount(group, counts).astype(np.int64)
    if filled:
        others = np.where((sizes > 0) & (np.arange(len(sizes)) != parcel), sizes, len(codes) + 1)
        group[group == parcel] = int(others.argmin())
    return np.unique(group[codes], return_inverse=True)[1]
