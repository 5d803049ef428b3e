"""Rows from the conditionals of a junction tree, as close to the expected counts as whole rows allow."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hushtable.synthesize.marginal.belief_propagation import Beliefs, Propagation
from hushtable.table.arrays import Floats, Integers


def drawn(machine: Propagation, beliefs: Beliefs, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
    """``rows`` cells of every column.

    Column by column: the rows that agree on what the column depends on share out its cells in the expected numbers,
    rounded up or down at random so that every number is right on average, in random order (as in McKenna, Miklau,
    Sheldon 2021, with systematic rounding).
    """
    tree = machine.tree
    cells: dict[str, Integers] = {}
    for t, clique in enumerate(tree.cliques):
        given = tree.separators[t]
        sizes = [tree.sizes[name] for name in clique]
        joint = machine.clique_array(beliefs.conditional, t)
        key = np.zeros(rows, np.int64)
        for name in given:
            key = key * tree.sizes[name] + cells[name]
        for i in range(len(given), len(clique)):
            table = joint.sum(axis=tuple(range(i + 1, len(clique)))).reshape(math.prod(sizes[:i]), sizes[i])
            cells[clique[i]] = shared_out(table, key, rng)
            key = key * sizes[i] + cells[clique[i]]
    return cells


def shared_out(table: Floats, key: Integers, rng: np.random.Generator) -> Integers:
    """A cell for each row, from the row of ``table`` that its key names (any positive weights), rounded systematically."""
    if not len(key):
        return np.empty(0, np.int64)
    counts = np.bincount(key, minlength=len(table))
    present = np.flatnonzero(counts)
    # One random shift for each group of rows: a cell that expects e rows gets floor(e) or ceil(e), and e on average.
    mixed, shifts = rng.permutation(len(key)), rng.random(len(present))
    cells: Integers = _shared_out(np.ascontiguousarray(table), key, counts, present, mixed, shifts)
    return cells


@njit(cache=True)
def _shared_out(table: Floats, key: Integers, counts: Integers, present: Integers, mixed: Integers, shifts: Floats) -> Integers:
    # Rows by their keys, in random order within each: a counting sort.
    places = np.zeros(len(counts), np.int64)
    first = 0
    for group in present:
        places[group] = first
        first += counts[group]
    order = np.empty(len(key), np.int64)
    for row in mixed:
        order[places[key[row]]] = row
        places[key[row]] += 1
    cells = np.empty(len(key), np.int64)
    first = 0
    for number, group in enumerate(present):
        total, running = 0.0, 0.0
        for cell in range(table.shape[1]):
            total += table[group, cell]
        rows, done = counts[group], 0
        for cell in range(table.shape[1]):
            running += table[group, cell]
            end = min(math.floor(running * (rows / total) + shifts[number]), rows)
            # Behind the last cell that can be, all rows are shared out, whatever was lost in rounding.
            if running == total:
                end = rows
            for place in range(first + done, first + end):
                cells[order[place]] = cell
            done = end
        first += rows
    return cells
