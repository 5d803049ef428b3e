"""Eliminating columns from a graph, one after the other, and the cliques that this leaves: the loops of a junction tree."""

from __future__ import annotations

import numpy as np
from numba import njit

from hushtable.table.arrays import Floats, Integers, Mask


@njit(cache=True)
def eliminated(logs: Floats, near: Mask) -> tuple[Integers, Mask]:
    """Greedily, the column whose neighbourhood has the fewest cells first (``logs`` of the sizes); ``near`` is filled in.

    Returns the order, and for each column those of its neighbours that are eliminated later.
    """
    count = len(logs)
    weight = logs.copy()
    for u in range(count):
        for w in range(count):
            if near[u, w] and u != w:
                weight[u] += logs[w]
    done = np.zeros(count, np.bool_)
    order = np.empty(count, np.int64)
    later = np.zeros((count, count), np.bool_)
    around = np.empty(count, np.int64)
    for k in range(count):
        v = -1
        for u in range(count):
            if not done[u] and (v < 0 or weight[u] < weight[v]):
                v = u
        order[k] = v
        done[v] = True
        degree = 0
        for u in range(count):
            if near[v, u] and not done[u]:
                later[v, u] = True
                around[degree] = u
                degree += 1
        for i in range(degree):
            u = around[i]
            weight[u] -= logs[v]
            for j in range(degree):
                w = around[j]
                if u != w and not near[u, w]:
                    near[u, w] = True
                    weight[u] += logs[w]
    return order, later


@njit(cache=True)
def clique_tree(order: Integers, later: Mask, sizes: Floats) -> tuple[Integers, Integers, Integers, Floats]:
    """The maximal cliques of the filled graph, in reverse order (Blair and Peyton 1993).

    Returns the clique that adds each column, and for each clique its parent (-1 if it has none), the column that
    began it, and its cells.
    A column's later neighbours all lie in the clique of the one among them that was met last; so it extends that clique exactly if
    it has as many of them as the clique has columns.
    """
    count = len(order)
    home, when = np.empty(count, np.int64), np.full(count, -1)
    parent, first = np.empty(count, np.int64), np.empty(count, np.int64)
    columns, cells = np.zeros(count, np.int64), np.ones(count)
    cliques = 0
    for time in range(count):
        v = order[count - 1 - time]
        when[v] = time
        last, degree, product = -1, 0, 1.0
        for u in range(count):
            if later[v, u]:
                degree += 1
                product *= sizes[u]
                if last < 0 or when[u] > when[last]:
                    last = u
        if last >= 0 and columns[home[last]] == degree:
            home[v] = home[last]
        else:
            parent[cliques] = home[last] if last >= 0 else -1
            first[cliques] = v
            columns[cliques] = degree
            cells[cliques] = product
            home[v] = cliques
            cliques += 1
        columns[home[v]] += 1
        cells[home[v]] *= sizes[v]
    return home, parent[:cliques], first[:cliques], cells[:cliques]


@njit(cache=True)
def cells_with_each(logs: Floats, near: Mask, sizes: Floats, columns: Integers, ends: Integers) -> Floats:
    """The cells of all cliques once some columns are joined as well, for each of several such sets (one behind the other)."""
    totals = np.empty(len(ends))
    start = 0
    for k in range(len(ends)):
        graph = near.copy()
        for i in range(start, ends[k]):
            for j in range(start, ends[k]):
                graph[columns[i], columns[j]] = True
        order, later = eliminated(logs, graph)
        totals[k] = clique_tree(order, later, sizes)[3].sum()
        start = ends[k]
    return totals
