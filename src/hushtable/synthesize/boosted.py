"""Gradient boosting on cells: trees whose sum is the log-ratio of two densities, learnt from a sample of each.

A Newton step on the logistic loss a tree (Friedman 2001; Chen and Guestrin 2016), on histograms of at most 64 cells a column, so
that a split is a set of cells, 64 bits, whether the column is a number or a category. Nothing here is random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.table.arrays import Array, Floats, Mask

CELLS = 64
"""The most cells of a column."""
Codes = NDArray[np.uint8]
"""A cell below ``CELLS`` for each row and column."""


class Growth(NamedTuple):
    """How trees are grown."""

    trees: int = 200
    """The most trees."""
    depth: int = 4
    leaf: int = 50
    """The least number of the other sample's rows in a leaf: where the numerator's are few beside them, the ratio is only small."""
    rate: float = 0.1
    """What part of a Newton step is taken."""
    ridge: float = 10.0
    """Rows' worth of doubt by which each step is drawn to 0."""
    patience: int = 15
    """Trees without a gain on the rows held back after which no more are grown."""


@dataclass(frozen=True, eq=False)
class Boosted:
    """Trees of one depth, each a row of nodes in the order of a heap; a node without a column is a leaf."""

    column: NDArray[np.int32]
    cells: NDArray[np.uint64]
    """The cells that go left, a bit each."""
    value: Floats

    @classmethod
    def fit(cls, codes: Codes, ordered: Mask, numerator: Mask, weights: Floats, held: Mask) -> Boosted:
        """Learn log(density of the numerator rows / density of the others), each sample with its weights.

        ``ordered`` says of each column whether its cells have an order. Trees are added while the loss on the rows held back
        falls.
        """
        share = np.where(numerator, weights[numerator].sum(), weights[~numerator].sum())
        even = weights / share * len(weights) / 2
        order = np.argsort(held, kind="stable")
        parts = codes[order], numerator[order].astype(np.float64), even[order]
        return cls(*_boost(*parts, int((~held).sum()), ordered, *Growth()))

    def score(self, codes: Codes) -> Floats:
        """The log-ratio of each row."""
        return np.asarray(_score(codes, self.column, self.cells, self.value))

    def parts(self) -> dict[str, Array]:
        """Its arrays."""
        return {"column": self.column, "cells": self.cells, "value": self.value}

    @classmethod
    def from_parts(cls, arrays: dict[str, Any]) -> Self:
        """Rebuild it."""
        return cls(arrays["column"], arrays["cells"], arrays["value"])


@njit(cache=True)
def _score(codes, column, cells, value):  # type: ignore[no-untyped-def]
    rows = len(codes)
    result = np.zeros(rows)
    for row in range(rows):
        for tree in range(len(column)):
            result[row] += value[tree, _leaf(codes[row], column[tree], cells[tree])]
    return result


@njit(cache=True, forceinline=True)
def _leaf(codes, column, cells):  # type: ignore[no-untyped-def]
    node = 0
    while column[node] >= 0:
        node = 2 * node + (1 if (cells[node] >> np.uint64(codes[column[node]])) & np.uint64(1) else 2)
    return node


@njit(cache=True)
def _boost(codes, label, weight, learning, ordered, trees, depth, leaf, rate, ridge, patience):  # type: ignore[no-untyped-def]
    """The rows from ``learning`` on are held back."""
    rows, columns = codes.shape
    nodes = 2 ** (depth + 1) - 1
    column = np.full((trees, nodes), -1, np.int32)
    cells = np.zeros((trees, nodes), np.uint64)
    value = np.zeros((trees, nodes))
    score, slope, curve = np.zeros(rows), np.zeros(learning), np.zeros(learning)
    tally = np.zeros((nodes, columns, CELLS, 4))
    least, best, since = np.inf, 0, 0
    for tree in range(trees + 1):
        loss = 0.0
        for row in range(learning, rows):
            sign = score[row] if label[row] > 0 else -score[row]
            loss += weight[row] * np.log1p(np.exp(-sign))
        # Without rows to judge by, all trees stay.
        if loss < least * (1 - 1e-5) or learning == rows:
            least, best, since = loss, tree, 0
        else:
            since += 1
        if tree == trees or since >= patience:
            break
        for row in range(learning):
            chance = 1 / (1 + np.exp(-score[row]))
            slope[row] = weight[row] * (label[row] - chance)
            curve[row] = weight[row] * chance * (1 - chance)
        _grow(codes, label, slope, curve, ordered, depth, leaf, ridge, tally, column[tree], cells[tree], value[tree])
        value[tree] *= rate
        if column[tree, 0] < 0:
            break
        for row in range(rows):
            score[row] += value[tree, _leaf(codes[row], column[tree], cells[tree])]
    return column[:best].copy(), cells[:best].copy(), value[:best].copy()


@njit(cache=True)
def _grow(codes, label, slope, curve, ordered, depth, leaf, ridge, tally, column, cells, value):  # type: ignore[no-untyped-def]
    """One tree, written into ``column``, ``cells`` and ``value``."""
    learning, columns = len(slope), codes.shape[1]
    place, spare = np.arange(learning), np.empty(learning, np.int64)
    first, last = np.zeros(len(column), np.int64), np.zeros(len(column), np.int64)
    last[0] = learning
    _count(codes, label, slope, curve, place, tally[0])
    for node in range(len(column)):
        if last[node] == first[node]:
            continue
        total = tally[node, 0].sum(axis=0)
        value[node] = total[0] / (total[1] + ridge)
        if node >= 2**depth - 1:
            continue
        gain, at, chosen = 1e-9, -1, np.uint64(0)
        for c in range(columns):
            found, bits = _split(tally[node, c], total, ordered[c], leaf, ridge)
            if found > gain:
                gain, at, chosen = found, c, bits
        if at < 0:
            continue
        column[node], cells[node] = at, chosen
        middle, right = first[node], 0
        for i in range(first[node], last[node]):
            row = place[i]
            if (chosen >> np.uint64(codes[row, at])) & np.uint64(1):
                place[middle] = row
                middle += 1
            else:
                spare[right] = row
                right += 1
        place[middle : last[node]] = spare[:right]
        one, other = 2 * node + 1, 2 * node + 2
        first[one], last[one], first[other], last[other] = first[node], middle, middle, last[node]
        if middle - first[node] > last[node] - middle:
            one, other = other, one
        # The larger part is what the smaller one leaves of both.
        _count(codes, label, slope, curve, place[first[one] : last[one]], tally[one])
        tally[other] = tally[node] - tally[one]


@njit(cache=True)
def _count(codes, label, slope, curve, place, tally):  # type: ignore[no-untyped-def]
    """Slope, curvature and rows of either sample, by column and cell."""
    tally[:] = 0
    for row in place:
        side = 2 if label[row] > 0 else 3
        for c in range(codes.shape[1]):
            cell = codes[row, c]
            tally[c, cell, 0] += slope[row]
            tally[c, cell, 1] += curve[row]
            tally[c, cell, side] += 1


@njit(cache=True)
def _split(tally, total, ordered, leaf, ridge):  # type: ignore[no-untyped-def]
    """The best set of cells to go left and what it gains; levels without an order are first sorted by their own step."""
    present = np.flatnonzero(tally[:, 2] + tally[:, 3] > 0.5)
    if not ordered:
        present = present[np.argsort(tally[present, 0] / (tally[present, 1] + ridge), kind="mergesort")]
    whole = total[0] ** 2 / (total[1] + ridge)
    slope, curve, other = 0.0, 0.0, 0.0
    best, bits, chosen = 0.0, np.uint64(0), np.uint64(0)
    for cell in present[:-1]:
        slope += tally[cell, 0]
        curve += tally[cell, 1]
        other += tally[cell, 3]
        bits |= np.uint64(1) << np.uint64(cell)
        if min(other, total[3] - other) < leaf:
            continue
        gain = slope**2 / (curve + ridge) + (total[0] - slope) ** 2 / (total[1] - curve + ridge) - whole
        if gain > best:
            best, chosen = gain, bits
    return best, chosen
