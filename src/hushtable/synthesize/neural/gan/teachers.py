"""Teachers on disjoint parts of the rows, and their votes: what a private student may ask.

A teacher is a discriminator of its few rows and the generator's rows: a classifier by kernel means (Gretton et al. 2012). It votes
"real" where a row resembles its own rows more than generated ones, by the pairs of columns that they share. All of it is in whole
numbers, so no vote hangs on the order in which anything was added up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from hushtable.numerics.mixing import mixed
from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

GRID = 8
"""Kernels are in whole parts of this."""
RAREST = 0.2
"""Levels of a smaller share weigh as if they had this one."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """How much two rows resemble one another: over all pairs of columns, whether they share both levels, beyond chance.

    For one column: (1 if the levels are equal, 0 if not, less p) / p, where p is the share of the level: in all, the product of two
    such numbers for each pair of columns. Shares of single columns do not count, for generated rows have them already.
    """

    equal: Integers
    """By level, one column behind the other, in parts of ``GRID``: where levels are equal."""
    other: Integers
    """Where they are not."""
    starts: Integers
    """Where the levels of each column begin."""

    @classmethod
    def of(cls, shares: list[Floats]) -> Kernel:
        """From the shares of each column's levels."""
        flat = np.concatenate(shares)
        weights = GRID / np.maximum(flat, RAREST)
        equal, other = np.round(weights * (1 - flat)), np.round(-weights * flat)
        starts = np.concatenate([[0], np.cumsum([len(column) for column in shares])[:-1]])
        return cls(equal.astype(np.int64), other.astype(np.int64), starts.astype(np.int64))

    def sums(self, queries: Integers, rows: Integers, groups: Integers, count: int) -> Integers:
        """For each query the sum over the rows of each group, groups x queries."""
        out = np.zeros((count, len(queries)), np.int64)
        places = np.ascontiguousarray(queries + self.starts)
        _add(np.ascontiguousarray(rows + self.starts), groups, places, self.equal[places], self.other[places], out)
        return out


@njit(cache=True)
def _add(
    rows: Integers, groups: Integers, queries: Integers, equal: Integers, other: Integers, out: Integers
) -> None:  # pragma: no cover - compiled
    for row in range(len(rows)):
        for query in range(len(queries)):
            whole, squares = 0, 0
            for column in range(rows.shape[1]):
                part = equal[query, column] if rows[row, column] == queries[query, column] else other[query, column]
                whole += part
                squares += part * part
            out[groups[row], query] += (whole * whole - squares) // 2


@dataclass(frozen=True, eq=False)
class Votes:
    """How many teachers call each of some generated rows real.

    Which teacher a row belongs to is a keyed hash of the row and of how many equal ones come before it (``parts``): one record more
    goes to one teacher, and no other record moves. So adding or removing a record changes one vote on each of the T queries, by 1:
    T in L1, sqrt(T) in L2. A record that is replaced may leave one teacher and enter another: 2T, and 2 sqrt(T).
    """

    columns: tuple[str, ...]
    queries: Integers
    """Generated rows to vote on, rows x columns, in cells."""
    generated: Integers
    """Generated rows to compare with."""
    kernel: Kernel
    teachers: int
    key: int
    """Secret, and drawn before the rows are seen."""

    def answer(self, table: Table) -> Integers:
        """One count for each query."""
        rows = cells_of(table, self.columns)
        return np.asarray(self.votes(rows, parts(rows, self.teachers, self.key)).sum(0))

    def votes(self, rows: Integers, groups: Integers) -> Integers:
        """Each teacher's vote on each query; a teacher without rows votes against all."""
        held = np.bincount(groups, minlength=self.teachers)[:, None]
        chance = self.kernel.sums(self.queries, self.generated, np.zeros(len(self.generated), np.int64), 1)
        ours = self.kernel.sums(self.queries, rows, groups, self.teachers)
        return np.asarray(ours * len(self.generated) > chance * held, np.int64)

    def largest(self, schema: Schema, rows: int) -> int:
        """Every teacher has one vote."""
        return self.teachers

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """One teacher changes, or two."""
        asked = len(self.queries)
        if relation is Relation.ADD_REMOVE:
            return float(asked), math.sqrt(asked), asked
        return 2.0 * asked, 2 * math.sqrt(asked), 0


def cells_of(table: Table, columns: tuple[str, ...]) -> Integers:
    """Rows x columns, in cells of their histograms."""
    return np.stack([table.cells(name) for name in columns], axis=1)


def parts(rows: Integers, teachers: int, key: int) -> Integers:
    """The teacher of each row: a keyed hash of its cells and of its number among equal rows.

    Take away one of m equal rows, and the numbers 0 to m - 1 become 0 to m - 2: one teacher holds one row less, whichever it was.
    """
    words = np.full(len(rows), np.uint64(key))
    for column in rows.T:
        words = mixed(words ^ column.astype(np.uint64))
    order = np.lexsort(rows.T)
    ordered = rows[order]
    starts = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))[: len(rows)]
    lengths = np.diff(np.append(starts, len(rows)))
    number = np.empty(len(rows), np.uint64)
    number[order] = (np.arange(len(rows)) - np.repeat(starts, lengths)).astype(np.uint64)
    return (mixed(words ^ mixed(number)) % np.uint64(teachers)).astype(np.int64)
