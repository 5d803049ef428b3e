"""Many records grouped in blocks of neighbours, so that the time grows with the records and not faster.

As Mondrian cuts a table (LeFevre, DeWitt and Ramakrishnan 2006), next to the median of a column: of the one in which the records of
a side then differ so much less. Groups never reach over a cut, which costs a little of the homogeneity of those beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from hushtable.anonymize.microaggregate.space import Space
from hushtable.table.arrays import Array, Floats, Integers, Mask

MOST = 300_000
"""The most records of a block; more where groups are large, so that a block has a hundred of them."""
GROUPS = 100
FAIR = 0.1
"""The least share of the records on each side of a cut."""
Report = Callable[[float], None]


def in_blocks(
    space: Space, k: int, partition: Callable[[Space, Report], Integers], report: Report, workers: int = 1
) -> tuple[Integers, int]:
    """The group of each record, formed by ``partition`` in each block by itself, some at a time; and how many blocks there are."""
    blocks = list(_blocks(space, max(MOST, GROUPS * k)))
    if len(blocks) == 1:
        return partition(space, report), 1
    labels, label, done = np.empty(space.rows, np.int64), 0, 0
    with ThreadPoolExecutor(workers) as pool:
        formed = pool.map(lambda rows: partition(space.take(rows), lambda share: None), blocks)
        for rows, own in zip(blocks, formed, strict=True):
            labels[rows] = own + label
            label, done = label + int(own.max()) + 1, done + len(rows)
            report(done / space.rows)
    return labels, len(blocks)


def _blocks(space: Space, most: int) -> Iterator[Integers]:
    """The records of each block, at most so many."""
    waiting = [np.arange(space.rows)]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= most:
            yield rows
            continue
        below = _below(space, rows)
        waiting += [rows[~below], rows[below]]


def _below(space: Space, rows: Integers) -> Mask:
    """Which of these records lie on one side of a cut; where they are all alike, the first half."""
    best, most = np.arange(len(rows)) < len(rows) // 2, -1.0
    columns = [(row[rows], None) for row in space.numbers]
    columns += [(row[rows], weight) for row, weight in zip(space.codes, space.weights, strict=True)]
    for values, weight in columns:
        below = _lower(values) if weight is None else _common(values)
        share = float(below.mean())
        if not FAIR <= share <= 1 - FAIR:
            continue
        sides = share * _spread(values[below], weight) + (1 - share) * _spread(values[~below], weight)
        if (gain := _spread(values, weight) - sides) > most:
            best, most = below, gain
    return best


def _spread(values: Array, weight: float | None) -> float:
    """As ``Space.errors`` counts it: the variance of a number, and half of the weight times the Gini impurity of a code."""
    if weight is None:
        return float(values.var())
    return float(weight / 2 * (1 - ((np.bincount(values) / len(values)) ** 2).sum()))


def _lower(values: Floats) -> Mask:
    """The lower half, or as near to half as equal values allow."""
    median = np.partition(values, len(values) // 2)[len(values) // 2]
    cuts = (values < median, values <= median)
    return min(cuts, key=lambda below: abs(float(below.mean()) - 0.5))


def _common(codes: Integers) -> Mask:
    """The records of the most frequent codes that make up half of them, or nearly so."""
    counts = np.bincount(codes)
    order = np.argsort(-counts, kind="stable")
    shares = np.cumsum(counts[order]) / len(codes)
    chosen = np.zeros(len(counts), np.bool_)
    chosen[order[: int(np.argmin(np.abs(shares - 0.5))) + 1]] = True
    return chosen[codes]
