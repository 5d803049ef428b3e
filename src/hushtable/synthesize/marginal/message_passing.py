"""Message passing: the inner loops of belief propagation, over flat arrays.

Cells of all cliques lie one behind the other, and so do those of all groups; ``maps`` says for each cell of an outer
array in which cell of an inner one it lies. A row of ``seats`` is (first cell, cells, in a clique or in a group, first
cell of the host, cells of the host, start of its map); one of ``tree`` is (first cell, separator cells, added cells, first cell
of the parent, cells of the parent or 0, start of its map).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.table.arrays import Floats, Integers

Map = NDArray[np.int32]
"""Cells of an inner array, for each cell of an outer one."""


@njit(cache=True)
def gather(theta: Floats, seats: Integers, maps: Map, table: Floats) -> None:
    """Add every group's potential to the clique that holds it; smaller groups pass through larger ones."""
    sums = theta.copy()
    for k in range(len(seats)):
        first, _, clique, host, cells, start = seats[k]
        goal = table if clique == 1 else sums
        for c in range(cells):
            goal[host + c] += sums[first + maps[start + c]]


@njit(cache=True)
def scatter(table: Floats, seats: Integers, maps: Map, marginals: Floats) -> None:
    """Sum the cliques down to every group, larger groups first."""
    marginals[:] = 0.0
    for k in range(len(seats) - 1, -1, -1):
        first, _, clique, host, cells, start = seats[k]
        source = table if clique == 1 else marginals
        for c in range(cells):
            marginals[first + maps[start + c]] += source[host + c]


def conditioned(table: Floats, tree: Integers, maps: Map, joint: Floats) -> float:
    """Turn log factors into conditionals given the separators, in place, and into marginals; the log of the sum of all."""
    norm = 0.0
    for first, rows, width, parent, cells, start in tree[::-1].tolist():
        own = table[first : first + rows * width]
        tops = np.empty(rows)
        _from_their_tops(own, width, tops)
        # An exponential of many numbers at once takes a small part of the time of as many by themselves.
        np.exp(own, out=own)
        _into_shares(own, width, tops)
        if cells:
            _sent(table, parent, cells, maps, start, tops)
        else:
            norm = float(tops[0])
    _joined(table, tree, maps, joint)
    return norm


@njit(cache=True)
def _from_their_tops(table: Floats, width: int, tops: Floats) -> None:
    """Take off each row its largest number, which is kept; a row that is impossible stays minus infinity."""
    for s in range(len(tops)):
        row = table[s * width : (s + 1) * width]
        top = -np.inf
        for c in range(width):
            top = max(top, row[c])
        tops[s] = top
        if top > -np.inf:
            for c in range(width):
                row[c] -= top


@njit(cache=True)
def _into_shares(table: Floats, width: int, tops: Floats) -> None:
    """Divide each row by its sum, whose logarithm is added to what was taken off it."""
    for s in range(len(tops)):
        row = table[s * width : (s + 1) * width]
        if tops[s] == -np.inf:
            row[:] = 0.0
            continue
        mass = 0.0
        for c in range(width):
            mass += row[c]
        for c in range(width):
            row[c] /= mass
        tops[s] += math.log(mass)


@njit(cache=True)
def _sent(table: Floats, parent: int, cells: int, maps: Map, start: int, message: Floats) -> None:
    """Add what a clique says of its separator to its parent."""
    for c in range(cells):
        table[parent + c] += message[maps[start + c]]


@njit(cache=True)
def _joined(table: Floats, tree: Integers, maps: Map, joint: Floats) -> None:
    """Marginals of the cliques from the conditionals, parents first."""
    for t in range(len(tree)):
        first, rows, width, parent, cells, start = tree[t]
        share = np.zeros(rows)
        if cells == 0:
            share[:] = 1.0
        for c in range(cells):
            share[maps[start + c]] += joint[parent + c]
        for s in range(rows):
            for r in range(width):
                c = first + s * width + r
                joint[c] = table[c] * share[s]
