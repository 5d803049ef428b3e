"""Message passing: the inner loops of belief propagation, over flat arrays.

Cells of all cliques lie one behind the other, and so do those of all groups. The axes of an inner array are some of those of an
outer one, in the same order; a *walk* says how the cells of the outer one, in turn, meet those of the inner: how many runs of axes
there are, how many cells each run has, and the step in the inner array, 0 where the run has none of its axes. A row of ``seats`` is
(first cell, in a clique or in a group, first cell of the host, start of its walk); one of ``tree`` is (first cell, separator cells,
added cells, first cell of the parent, start of its walk, -1 at the root).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit

from hushtable.table.arrays import Floats, Integers


def walk(sizes: Sequence[int], inside: Sequence[bool]) -> list[int]:
    """The walk through an outer array of these sizes, whose axes are inside the inner one or not; at least two runs."""
    runs: list[tuple[int, bool]] = []
    for size, held in zip(sizes, inside, strict=True):
        if runs and runs[-1][1] == held:
            runs[-1] = (runs[-1][0] * size, held)
        else:
            runs.append((size, held))
    runs = [*[(1, False)] * (2 - len(runs)), *runs]
    steps, step = list[int](), 1
    for size, held in reversed(runs):
        steps.append(step if held else 0)
        step *= size if held else 1
    return [len(runs), *(size for size, _ in runs), *reversed(steps)]


@njit(cache=True)
def gather(theta: Floats, seats: Integers, walks: Integers, table: Floats) -> None:
    """Add every group's potential to the clique that holds it; smaller groups pass through larger ones."""
    sums = theta.copy()
    for k in range(len(seats)):
        first, clique, host, start = seats[k]
        spread_over(table if clique == 1 else sums, host, sums, first, walks[start:])


@njit(cache=True)
def scatter(table: Floats, seats: Integers, walks: Integers, marginals: Floats) -> None:
    """Sum the cliques down to every group, larger groups first."""
    marginals[:] = 0.0
    for k in range(len(seats) - 1, -1, -1):
        first, clique, host, start = seats[k]
        summed_into(table if clique == 1 else marginals, host, marginals, first, walks[start:])


@njit(cache=True)
def spread_over(outer: Floats, at: int, inner: Floats, first: int, steps: Integers) -> None:
    """Add to each cell of the outer array, from ``at`` on, the cell of the inner one in which it lies."""
    dims = steps[0]
    long, wide = steps[dims], steps[dims - 1]
    step, stride = steps[2 * dims], steps[2 * dims - 1]
    index, around = np.zeros(dims, np.int64), 1
    for d in range(dims - 2):
        around *= steps[1 + d]
    for _ in range(around):
        for row in range(wide):
            place, own = first + row * stride, outer[at : at + long]
            if step == 0:
                value = inner[place]
                for c in range(long):
                    own[c] += value
            else:
                given = inner[place : place + long]
                for c in range(long):
                    own[c] += given[c]
            at += long
        first += _turned(index, steps, dims)


@njit(cache=True, fastmath={"reassoc"})
def summed_into(outer: Floats, at: int, inner: Floats, first: int, steps: Integers) -> None:
    """Add each cell of the outer array, from ``at`` on, to the cell of the inner one in which it lies."""
    dims = steps[0]
    long, wide = steps[dims], steps[dims - 1]
    step, stride = steps[2 * dims], steps[2 * dims - 1]
    index, around = np.zeros(dims, np.int64), 1
    for d in range(dims - 2):
        around *= steps[1 + d]
    for _ in range(around):
        for row in range(wide):
            place, own = first + row * stride, outer[at : at + long]
            if step == 0:
                total = 0.0
                for c in range(long):
                    total += own[c]
                inner[place] += total
            else:
                taken = inner[place : place + long]
                for c in range(long):
                    taken[c] += own[c]
            at += long
        first += _turned(index, steps, dims)


@njit(cache=True)
def _turned(index: Integers, steps: Integers, dims: int) -> int:
    """The next place of the runs around the last two, and how far it lies from the one before in the inner array."""
    moved = 0
    for d in range(dims - 3, -1, -1):
        index[d] += 1
        moved += steps[1 + dims + d]
        if index[d] < steps[1 + d]:
            break
        moved -= steps[1 + dims + d] * steps[1 + d]
        index[d] = 0
    return moved


def conditioned(table: Floats, tree: Integers, walks: Integers, joint: Floats) -> float:
    """Turn log factors into conditionals given the separators, in place, and into marginals; the log of the sum of all."""
    norm = 0.0
    for first, rows, width, parent, start in tree[::-1].tolist():
        own = table[first : first + rows * width]
        tops = np.empty(rows)
        _from_their_tops(own, width, tops)
        # An exponential of many numbers at once takes a small part of the time of as many by themselves.
        np.exp(own, out=own)
        _into_shares(own, width, tops)
        if start < 0:
            norm = float(tops[0])
        else:
            spread_over(table, parent, tops, 0, walks[start:])
    _joined(table, tree, walks, joint)
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


@njit(cache=True, fastmath={"reassoc"})
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
        share = 1 / mass
        for c in range(width):
            row[c] *= share
        tops[s] += math.log(mass)


@njit(cache=True)
def _joined(table: Floats, tree: Integers, walks: Integers, joint: Floats) -> None:
    """Marginals of the cliques from the conditionals, parents first."""
    for t in range(len(tree)):
        first, rows, width, parent, start = tree[t]
        share = np.zeros(rows)
        if start < 0:
            share[:] = 1.0
        else:
            summed_into(joint, parent, share, 0, walks[start:])
        for s in range(rows):
            of, to = table[first + s * width :][:width], joint[first + s * width :][:width]
            for c in range(width):
                to[c] = of[c] * share[s]
