"""M-MDAV, MDAV along a manifold: the partition and nothing else.

Garg and Torra, "K-anonymous privacy preserving manifold learning" (2023), algorithm 1, with the repairs it needs: the second
group is formed from what the first one left, and fewer than 3k records end in two groups. Ties go to the smaller row.

The published algorithm holds the distances of all pairs. Here distances come from one shortest-path search per centre. The
median of the free records, the one with the least sum of squared distances to the others, needs all pairs as well; but the
sums can be kept up to date: each record adds its squared distances to everybody's sum once at the start and takes them back
when it leaves. That is two searches per record, in memory linear in the records, and it is exact. In larger tables
only some free records, the *anchors*, stand for all in the sums.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hushtable.numerics.manifold.geodesics import Paths
from hushtable.table.arrays import Integers


def partition(
    paths: Paths, point_of: Integers, k: int, *, anchors: int, order: Integers, report: Callable[[float], None] = lambda share: None
) -> Integers:
    """The group of each record, every one of at least ``k`` members and at most 2k - 1; needs at least ``k`` records.

    ``point_of`` says where each record lies. ``order`` is a random order of the records: the first ``anchors`` free ones in it
    stand for all when the median is sought. As soon as no more than that are free the median is exact.
    """
    free = _Free(paths, point_of, anchors, order)
    labels, label = np.empty(len(point_of), np.int64), 0
    while free.count >= 2 * k:
        r = free.farthest(free.from_median())
        both = free.count >= 3 * k
        distances, reached = paths.reach(r, free.weights, paths.size + len(point_of) if both else k)
        labels[free.take(distances, reached, k)] = label
        label += 1
        if both:
            s = free.farthest(distances)
            distances, reached = paths.reach(s, free.weights, k)
            labels[free.take(distances, reached, k)] = label
            label += 1
        report(1 - free.count / len(point_of))
    labels[free.rows(np.arange(paths.size))] = label
    return labels


class _Free:
    """The records without a group yet: how many there are at each point, and the running sums."""

    def __init__(self, paths: Paths, point_of: Integers, anchors: int, order: Integers) -> None:
        self.paths, self.point_of, self.anchors, self.order = paths, point_of, anchors, order
        # Records of one point are as far from anything, so they leave in the order of their rows.
        self.sorted = np.argsort(point_of, kind="stable").astype(np.int64)
        self.weights = np.bincount(point_of, minlength=paths.size).astype(np.int64)
        self.ends = np.cumsum(self.weights)
        self.count = len(point_of)
        self.coarse = paths.coarse(self.count)
        self.anchored, self.standing, self.next = np.zeros(self.count, bool), 0, 0
        self.gone = np.zeros(self.count, bool)
        self.totals = np.zeros(paths.size, np.int64)
        self.median, self.distances = -1, np.empty(0, np.int64)
        self._raise_anchors()

    def first(self, points: Integers) -> Integers:
        """The smallest free row at each of these points."""
        rows: Integers = self.sorted[self.ends[points] - self.weights[points]]
        return rows

    def rows(self, points: Integers) -> Integers:
        """All free rows at these points."""
        sizes = self.weights[points]
        offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.sorted[np.repeat(self.ends[points] - sizes, sizes) + offsets]

    def farthest(self, distances: Integers) -> int:
        """The point of the free record farthest from where the distances are taken, the smaller row on a tie."""
        return self._best(np.where(self.weights > 0, distances, -1))

    def from_median(self) -> Integers:
        """Distances from the free record with the least total, the smaller row on a tie."""
        median = self._best(np.where(self.weights > 0, -self.totals, np.iinfo(np.int64).min))
        if median != self.median:
            self.median, self.distances = median, self.paths.distances(median)
        return self.distances

    def take(self, distances: Integers, reached: Integers, k: int) -> Integers:
        """Take out the k free records that are nearest, the smaller rows on a tie."""
        # Reached points come nearest first, and hold k records within a few: no need to sort all rows.
        within = reached[np.cumsum(self.weights[reached]) - self.weights[reached] < k]
        within = reached[distances[reached] <= distances[within[-1]]]
        rows = self.rows(within)
        taken = rows[np.lexsort((rows, distances[self.point_of[rows]]))[:k]]
        np.subtract.at(self.weights, self.point_of[taken], 1)
        self.gone[taken] = True
        self.count -= k
        self._lower_anchors(taken[self.anchored[taken]])
        return taken

    def _best(self, scores: Integers) -> int:
        top = np.flatnonzero(scores == scores.max())
        return int(top[self.first(top).argmin()])

    def _lower_anchors(self, rows: Integers) -> None:
        self._add(rows, -1)
        self.standing -= len(rows)
        if 2 * self.standing < self.anchors and self.standing < self.count:
            self._raise_anchors()

    def _raise_anchors(self) -> None:
        """Let the next free records of the random order stand for all, until there are enough."""
        ahead = self.order[self.next :]
        free = np.flatnonzero(~self.gone[ahead])[: self.anchors - self.standing]
        self.next += int(free[-1]) + 1 if len(free) else len(ahead)
        rows = ahead[free]
        self.anchored[rows] = True
        self.standing += len(rows)
        self._add(rows, 1)

    def _add(self, rows: Integers, sign: int) -> None:
        points, counts = np.unique(self.point_of[rows], return_counts=True)
        if len(points):
            self.paths.add_squares(points, sign * counts.astype(np.int64), self.coarse, self.totals)
