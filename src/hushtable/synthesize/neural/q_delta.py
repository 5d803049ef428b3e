"""Whether a generator repeats what it was trained on: the Q-delta statistic, and how large it is by chance.

Some training rows are compared with drawn rows and with as many other real rows: if drawn rows lie among the nearest more often
than real ones do, the generator copies. How often they do so by chance is seen where both are real (Solatorio and Dupriez 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numba import njit

from hushtable.evidence.neighbours.search import Encoding, Neighbours, Points, search
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.table import Table

DRAWS = 500
"""Random divisions of the real rows, by which the threshold is found."""
SHARE, TIMES = 0.165, 4
"""The part of the rows that is compared at a time, and how many times as many rows it is compared with."""
LEVEL = 0.95
"""The share of the divisions of real rows that lie below the threshold."""
NEAREST, STEPS = 0.05, 100
"""Distances count up to this quantile, at so many quantiles of equal steps, the first at 0."""
TABLES, DIVISIONS = 3, 5
"""Tables that are drawn for one value, and divisions of the real rows that each is compared in; the value is the mean."""
MOST, FEWEST = 10_000, 60
"""Rows that are used at most, and without which there is nothing to compare."""
LISTED = 64
"""Neighbours that are known of each row: one in (1 - share) ** 64 rows has none in its part, and counts as far as the last."""


def q_delta(drawn: Floats, others: Floats, steps: int = STEPS, nearest: float = NEAREST) -> float:
    """The mean over quantiles q of the share of ``drawn`` distances up to the q-quantile of ``others``, less q.

    About 0 where both come from one distribution without ties, larger where drawn rows lie nearer.
    """
    quantiles = np.linspace(0, nearest, steps)
    up_to = np.searchsorted(np.sort(drawn), np.quantile(others, quantiles), side="right")
    return float(np.mean(up_to / len(drawn) - quantiles))


@dataclass(frozen=True, eq=False)
class Copying:
    """Real rows, how near they are to one another, and how large Q-delta is among them by chance."""

    encoding: Encoding
    points: Points
    among: Neighbours
    """The nearest other rows of each."""
    threshold: float

    @classmethod
    def of(cls, table: Table, rng: np.random.Generator, draws: int = DRAWS) -> Self | None:
        """Of the rows that a generator is trained on; None where there are too few."""
        if table.rows < FEWEST:
            return None
        some = table if table.rows <= MOST else table.take(np.sort(rng.permutation(table.rows)[:MOST]))
        encoding = Encoding.of([some])
        points = encoding.points(some)
        among = search(points, points, encoding, min(LISTED, some.rows - 1), skip_self=True)
        copying = cls(encoding, points, among, np.nan)
        chance = [copying._by_chance(rng) for _ in range(draws)]
        return cls(encoding, points, among, float(np.quantile(chance, LEVEL)))

    @property
    def size(self) -> int:
        """Rows that are compared at a time."""
        return int(SHARE * self.points.rows)

    def value(self, tables: Sequence[Table], rng: np.random.Generator) -> float:
        """Q-delta of drawn tables of ``size`` rows, each in several divisions of the real rows: their mean."""
        return float(np.mean([self._compared(table, rng) for table in tables]))

    def _compared(self, table: Table, rng: np.random.Generator) -> float:
        drawn = self.encoding.points(table)
        listed = search(drawn, self.points, self.encoding, min(LISTED, self.points.rows))
        nearest = search(self.points, drawn, self.encoding, 1).distance[:, 0]
        found = []
        for _ in range(DIVISIONS):
            train, others, _ = self._divided(rng)
            forth = _first(listed.index, listed.distance, np.arange(drawn.rows), _mask(train, self.points.rows))
            found.append(self._statistic((forth, nearest[train]), self._distances(train, others)))
        return float(np.mean(found))

    def _by_chance(self, rng: np.random.Generator) -> float:
        """Q-delta where the rows that were drawn are real as well."""
        train, others, drawn = self._divided(rng)
        return self._statistic(self._distances(train, drawn), self._distances(train, others))

    def _divided(self, rng: np.random.Generator) -> tuple[Integers, Integers, Integers]:
        """Rows that stand for the training rows, others, and as many others again."""
        order, size = rng.permutation(self.points.rows), self.size
        return order[2 * size : (2 + TIMES) * size], order[:size], order[size : 2 * size]

    def _distances(self, train: Integers, others: Integers) -> tuple[Floats, Floats]:
        """From each of the others to the nearest training row, and from each training row to the nearest of the others."""
        index, distance, rows = self.among.index, self.among.distance, self.points.rows
        return _first(index, distance, others, _mask(train, rows)), _first(index, distance, train, _mask(others, rows))

    def _statistic(self, drawn: tuple[Floats, Floats], others: tuple[Floats, Floats]) -> float:
        """Both ways; a training row that both repeat says nothing."""
        says = (drawn[1] > 0) | (others[1] > 0)
        steps = int(np.clip(self.size * NEAREST, 2, STEPS))
        return q_delta(np.append(drawn[0], drawn[1][says]), np.append(others[0], others[1][says]), steps)


def _mask(rows: Integers, count: int) -> Mask:
    mask = np.zeros(count, np.bool_)
    mask[rows] = True
    return mask


@njit(cache=True)
def _first(index: Integers, distance: Floats, rows: Integers, wanted: Mask) -> Floats:  # pragma: no cover - compiled
    """For each of these rows the distance to its first neighbour that is wanted; to the last in the list if there is none."""
    found = np.empty(len(rows), np.float64)
    for place in range(len(rows)):
        row = rows[place]
        found[place] = distance[row, -1]
        for at in range(index.shape[1]):
            if wanted[index[row, at]]:
                found[place] = distance[row, at]
                break
    return found
