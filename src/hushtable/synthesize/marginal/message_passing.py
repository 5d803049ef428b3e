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


@njit(cache=True)
def conditioned(table: Floats, tree: Integers, maps: Map, joint: Floats) -> float:
    """Turn log factors into conditionals given the separators, in place, and into marginals; the log of the sum of all."""
    norm = 0.0
    for t in range(len(tree) - 1, -1, -1):
        first, rows, width, parent, cells, start = tree[t]
        message = np.empty(rows)
        for s in range(rows):
            at = first + s * width
            top = -np.inf
            for c in range(at, at + width):
                top = max(top, table[c])
            if top == -np.inf:
                table[at : at + width] = 0.0
                message[s] = -np.inf
                continue
            mass = 0.0
            for c in range(at, at + width):
                table[c] = math.exp(table[c] - top)
                mass += table[c]
            for c in range(at, at + width):
                table[c] /= mass
            message[s] = top + math.log(mass)
        for c in range(cells):
            table[parent + c] += message[maps[start + c]]
        if cells == 0:
            norm = message[0]
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
    return norm
