"""The one nearest-neighbour search for mixed tables that all audits share.

Gower-type distance: the mean over columns of |a - b| / range for numbers and 0 or 1 for everything else, so it lies
between 0 and 1. Missing equals missing, and is as far as can be from any value. Generalized cells are sets: an interval
is as far away as the gap to it, a set of levels that shares a level is at distance 0, and ``*`` is at distance 0 from
everything, missing values included.

The search is exact. Sums are whole numbers (multiples of 2^-40), so that equal distances are equal and not nearly so, and
ties go to the smaller index. Sketches of the targets (see ``encoding``), first of blocks of near rows and then of the rows
of a block, give lower bounds for 64 at once: the differing columns of levels are counted as bits of a few machine words,
the numbers are added in single precision. Only rows that could still be among the nearest are compared exactly. Queries come in an
order in which near ones follow one another, so that the neighbours of one bound the distances of the next; they are shared out
over the cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.errors import InputError
from hushtable.evidence.neighbours.encoding import Encoding, Points, comparable
from hushtable.evidence.neighbours.scan import FAR, ONE, scan
from hushtable.evidence.persons import People
from hushtable.table.arrays import Floats, Integers
from hushtable.table.table import Table

__all__ = ["ONE", "Encoding", "Neighbours", "Points", "comparable", "nearest", "search", "search_others", "search_without"]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For each query row its nearest rows: positions and distances."""

    index: Integers
    distance: Floats


def nearest(
    queries: Table,
    targets: Table,
    k: int = 1,
    *,
    encoding: Encoding | None = None,
    skip_self: bool = False,
    columns: Sequence[str] | None = None,
) -> Neighbours:
    """The k nearest rows of ``targets`` to each row of ``queries``; with ``skip_self`` row i never finds row i."""
    encoding = encoding or Encoding.of([queries, targets], columns)
    return search(encoding.points(queries), encoding.points(targets), encoding, k, skip_self=skip_self)


def search(queries: Points, targets: Points, encoding: Encoding, k: int, *, skip_self: bool = False) -> Neighbours:
    """``nearest`` on encoded tables: rows x k, nearest first."""
    index, distance = _scanned(queries, targets, encoding, k, skip_self, without=False)
    return Neighbours(index, distance / ONE / max(len(encoding.names), 1))


def search_others(points: Points, encoding: Encoding, k: int, people: People) -> Neighbours:
    """The k nearest rows of the same table that another person holds."""
    if people.persons is None:
        return search(points, points, encoding, k, skip_self=True)
    # Among so many, at least k are not their own.
    most = min(k + int(people.held.max()) - 1, points.rows - 1)
    nearest_rows = search(points, points, encoding, most, skip_self=True)
    same = people.who[nearest_rows.index] == people.who[:, None]
    others = np.argsort(same, axis=1, kind="stable")[:, :k]
    if k > most or np.take_along_axis(same, others, axis=1).any():
        raise InputError(f"{k} neighbours were asked for where other people hold fewer rows", where="neighbours")
    return Neighbours(
        np.take_along_axis(nearest_rows.index, others, axis=1), np.take_along_axis(nearest_rows.distance, others, axis=1)
    )


def search_without(queries: Points, targets: Points, encoding: Encoding, *, skip_self: bool = False) -> Neighbours:
    """For each query and each of ``encoding.names`` the nearest target when that one column is not known.

    Rows x columns. One pass over the targets equals as many searches as there are columns, each on the other columns.
    """
    index, distance = _scanned(queries, targets, encoding, 1, skip_self, without=True)
    return Neighbours(index, distance / ONE / max(len(encoding.names) - 1, 1))


@dataclass(frozen=True, eq=False)
class Nearer:
    """The nearest of many rows that are searched part by part: those so far, and how far they are in whole multiples of 2^-40.

    ``without`` it is the nearest one when each column in turn is not known. Of rows at one distance the first ones are kept.
    """

    index: Integers
    """queries x rows, nearest first: row numbers, -1 where there was none yet."""
    steps: Integers
    without: bool

    @classmethod
    def of(cls, queries: Points, encoding: Encoding, k: int) -> Nearer:
        """The nearest k; the nearest one without each column where ``k`` is 0. None were seen yet."""
        shape = queries.rows, k or len(encoding.names)
        return cls(np.full(shape, -1), np.full(shape, len(encoding.names) * ONE + 1), without=k == 0)

    def among(self, queries: Points, targets: Points, encoding: Encoding, start: int) -> Nearer:
        """After more targets, the first of which is row ``start`` of all."""
        width = self.index.shape[1]
        # What was found before goes by negative numbers, in its order: it stands before all of these targets.
        index = np.where(self.index < 0, FAR, np.broadcast_to(np.arange(-width, 0), self.index.shape)).astype(np.int64)
        steps, blocks = self.steps.copy(), targets.blocks
        scan(
            queries.blocks.layout.order, queries.cells, queries.sketch, targets.arranged, blocks.layout, blocks.rows, blocks.boxes,
            blocks.tops, encoding.set_starts, encoding.inverse, False, self.without, True, index, steps,
        )  # fmt: skip
        before = np.take_along_axis(self.index, np.where(index < 0, index + width, 0), axis=1)
        new = np.where(index == FAR, -1, index + start)
        return Nearer(np.where(index < 0, before, new), steps, self.without)

    def distance(self, encoding: Encoding) -> Floats:
        """As ``Neighbours`` has it."""
        return self.steps / ONE / max(len(encoding.names) - self.without, 1)


def _scanned(
    queries: Points, targets: Points, encoding: Encoding, k: int, skip_self: bool, *, without: bool
) -> tuple[Integers, Integers]:
    if k < 1 or targets.rows - skip_self < k:
        raise InputError(f"{k} neighbours were asked for among {targets.rows - skip_self} rows", where="neighbours")
    index = np.empty((queries.rows, len(encoding.names) if without else k), np.int64)
    distance = np.empty_like(index)
    blocks = targets.blocks
    scan(
        queries.blocks.layout.order, queries.cells, queries.sketch, targets.arranged, blocks.layout, blocks.rows, blocks.boxes,
        blocks.tops, encoding.set_starts, encoding.inverse, skip_self, without, False, index, distance,
    )  # fmt: skip
    return index, distance
