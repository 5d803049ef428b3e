"""Rows from the conditionals of a junction tree, as close to the expected counts as whole rows allow."""

from __future__ import annotations

import math

import numpy as np

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
    rows = len(key)
    if not rows:
        return np.empty(0, np.int64)
    mixed = rng.permutation(rows)
    order = mixed[np.argsort(key[mixed], kind="stable")]
    present, counts = np.unique(key[order], return_counts=True)
    shares = table[present]
    sums = np.cumsum(shares, axis=1)
    # One random shift for each group of rows: a cell that expects e rows gets floor(e) or ceil(e), and e on average.
    ends = np.floor(sums * (counts / sums[:, -1])[:, None] + rng.random((len(present), 1)))
    # Behind the last cell that can be, all rows are shared out, whatever was lost in rounding.
    ends = np.where(sums == sums[:, -1:], counts[:, None], np.minimum(ends, counts[:, None]))
    steps = np.diff(ends, axis=1, prepend=0.0).astype(np.int64)
    cells = np.empty(rows, np.int64)
    cells[order] = np.repeat(np.tile(np.arange(table.shape[1]), len(present)), steps.ravel())
    return cells
