"""A pool of drawn rows with weights: a distribution that can be fitted to any number of marginals.

A junction tree holds the marginals whose cliques it has room for. Rows drawn from it, weighted by the exponential of a sum of
potentials, hold any others as well: sums over rows take the place of sums over cliques, so nothing grows with the number of
columns that hang together. The weights of largest entropy that fit are found by the same descent (``estimate.descended``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.table.arrays import Floats, Integers

Group = tuple[str, ...]
Codes = NDArray[np.int32]
"""For each row its cell in each group."""


class Pool:
    """Rows as cells of groups of columns; potentials and marginals of all groups are one vector, in the order of ``groups``."""

    def __init__(self, cells: Mapping[str, Integers], sizes: Mapping[str, int], groups: Sequence[Group]) -> None:
        self.groups = tuple(groups)
        self.shapes = [tuple(sizes[name] for name in group) for group in groups]
        self.ends = np.cumsum([0, *map(math.prod, self.shapes)], dtype=np.int64)
        rows = len(next(iter(cells.values())))
        self.codes = np.empty((rows, len(groups)), np.int32)
        names = list(dict.fromkeys(name for group in groups for name in group))
        of_groups = np.array([names.index(name) for group in groups for name in group], np.int64)
        ends = np.cumsum([0, *map(len, groups)])
        cells_of = np.stack([cells[name].astype(np.int32) for name in names], axis=1) if names else np.empty((rows, 0), np.int32)
        _coded(cells_of, of_groups, np.array([sizes[name] for name in names], np.int32), ends, self.codes)

    def beliefs(self, potentials: Floats) -> Floats:
        """The weight of each row, all together 1."""
        scores = _summed(potentials, self.codes, self.ends)
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum())

    def group_marginals(self, weights: Floats) -> Floats:
        """The probabilities of the cells of every group."""
        return np.asarray(_counted(weights, self.codes, self.ends))

    def arrays(self, flat: Floats) -> list[Floats]:
        """A vector over all groups as one array for each."""
        return [flat[a:b].reshape(shape) for a, b, shape in zip(self.ends[:-1], self.ends[1:], self.shapes, strict=True)]


def tempered(weights: Floats, least: float) -> Floats:
    """Weights to the largest power, at most 1, that leaves them worth at least so many rows (effective sample size).

    Where many marginals ask for more than a pool has, a few of its rows would stand for all.
    """
    logs = np.log(np.maximum(weights, 1e-300))

    def raised(power: float) -> Floats:
        values = np.exp(power * (logs - logs.max()))
        return np.asarray(values / values.sum())

    def worth(values: Floats) -> bool:
        return bool(least * (values**2).sum() <= 1)

    if worth(whole := raised(1.0)):
        return whole
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(raised(middle)) else (low, middle)
    return raised(low)


@njit(cache=True)
def _coded(cells: Codes, members: Integers, sizes: Codes, ends: Integers, codes: Codes) -> None:
    """The cell of each row in each group, row by row."""
    for i in range(codes.shape[0]):
        for g in range(codes.shape[1]):
            code = np.int32(0)
            for place in range(ends[g], ends[g + 1]):
                code = code * sizes[members[place]] + cells[i, members[place]]
            codes[i, g] = code


@njit(cache=True)
def _summed(potentials: Floats, codes: Codes, ends: Integers) -> Floats:
    """For each row the sum of the potentials of its cells."""
    rows, groups = codes.shape
    sums = np.zeros(rows)
    for i in range(rows):
        for g in range(groups):
            sums[i] += potentials[ends[g] + codes[i, g]]
    return sums


@njit(cache=True)
def _counted(weights: Floats, codes: Codes, ends: Integers) -> Floats:
    """For each cell the sum of the weights of its rows."""
    rows, groups = codes.shape
    counts = np.zeros(ends[-1])
    for i in range(rows):
        for g in range(groups):
            counts[ends[g] + codes[i, g]] += weights[i]
    return counts
