"""Sums on a partition, in whole numbers, and their sensitivity: the query of the certified mixtures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.sparse import csr_array

from hushtable.numerics.integers import axes_of, in_order
from hushtable.privacy.rows import require_replaced, require_rows
from hushtable.privacy.unit import Relation
from hushtable.synthesize.mixture.integer_encoding import IntegerEncoding
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BATCH = 1 << 14
"""Rows encoded at once."""
MOST = 1 << 22
"""Numbers encoded at once, where that is fewer rows."""


class Coordinates(Protocol):
    """A record as whole numbers of bounded length: a function of the record and of public knowledge alone."""

    @property
    def schema(self) -> Schema:
        """Of the table."""
        ...

    @property
    def dimension(self) -> int:
        """How many coordinates there are."""
        ...

    @property
    def longest(self) -> tuple[int, int]:
        """L1, and L2 squared, of one record's coordinates at most."""
        ...

    @property
    def farthest(self) -> tuple[int, int]:
        """L1, and L2 squared, of the difference of two records at most."""
        ...

    def coordinates(self, table: Table) -> Integers:
        """Records by coordinates."""
        ...


class Partition(Protocol):
    """A map from a record alone to one of so many cells: public, or released before."""

    @property
    def cells(self) -> int:
        """How many cells there are."""
        ...

    def of(self, table: Table) -> Integers:
        """The cell of each record."""
        ...


@dataclass(frozen=True, eq=False)
class PartitionSums:
    """For each cell of a partition: ``weight`` times the number of its records, and the sum of their coordinates.

    Every cell is answered, empty or not. Numbers count from the middle of their domain; a record's coordinates are as long as
    their encoding says, so nothing needs to be clipped.

    *What one record can change.* It lies in one cell, which depends on nothing else. There it is one row (w, q) of whole
    numbers with |q|_2 <= R and |q|_1 <= S, the longest record; two records are at most F2 and F1 apart.

    - One record added or removed: L2 sqrt(w^2 + R^2), L1 w + S.
    - One replaced within a cell: the counts cancel, and the sum changes by the difference of two records, L2 F2, L1 F1.
    - One replaced across two cells: two rows change, L2 sqrt(2 (w^2 + R^2)), L1 2 (w + S). The larger of the two counts.
    """

    additive: ClassVar[bool] = True
    encoding: Coordinates
    partition: Partition
    weight: int

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.encoding.schema.names

    @property
    def reads(self) -> tuple[str, ...]:
        """All of them."""
        return self.columns

    def answer(self, table: Table) -> Integers:
        """For each cell its weighted count, then its sum."""
        sums = np.zeros((self.partition.cells, self.encoding.dimension + 1), np.int64)
        for part in table.batches(min(BATCH, max(MOST // max(self.encoding.dimension, 1), 1))):
            cell = self.partition.of(part)
            rows = np.empty((part.rows, self.encoding.dimension + 1), np.int64)
            rows[:, 0], rows[:, 1:] = self.weight, self.encoding.coordinates(part)
            sums += grouped(rows, cell, self.partition.cells)
        return sums.ravel()

    def largest(self, schema: Schema, rows: int) -> int:
        """All in one cell; no coordinate is longer than all of them together."""
        return rows * max(self.weight, self.encoding.longest[0])

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As above; rounded up."""
        (one1, one2), (far1, far2) = self.encoding.longest, self.encoding.farthest
        alone1, alone2 = self.weight + one1, self.weight**2 + one2
        if relation is Relation.ADD_REMOVE:
            return float(alone1), root_up(alone2), 0
        if self.partition.cells == 1:
            return float(far1), root_up(far2), 0
        return float(max(2 * alone1, far1)), root_up(max(2 * alone2, far2)), 0


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums of the coordinates over groups of places, in several rounds: random mixing, with groups that depend on no record.

    *What one record can change.* ``rounds`` lists, for each round, the group of every place; it was drawn without access to the
    rows, and the number of rows is public. A record replaced by another at its place changes one group of each round by the
    difference of two records (class and all), so with M rounds Delta2 = sqrt(M) F2 and Delta1 = M F1, F being ``farthest``.
    The mean of l of them thus changes by sqrt(M) F2 / l. Lee et al. 2019, with each record in M mixtures.
    """

    encoding: IntegerEncoding
    rounds: Integers
    """Rounds by places."""
    groups: int
    """The number of groups of a round."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.encoding.schema.names

    def over(self, rows: Rows) -> Integers:
        """Round by round, group by group."""
        require_rows("mixing", rows, self.rounds.shape[1])
        sums = np.zeros((len(self.rounds), self.groups, self.encoding.dimension), np.int64)
        start = 0
        for part in rows.batches(BATCH, self.columns):
            vectors = self.encoding.coordinates(part)
            for number, groups in enumerate(self.rounds[:, start : start + part.rows]):
                sums[number] += grouped(vectors, groups, self.groups)
            start += part.rows
        return sums.ravel()

    def answer(self, table: Table) -> Integers:
        """The same of rows in memory."""
        return self.over(table)

    def largest(self, schema: Schema, rows: int) -> int:
        """All in one group."""
        return rows * self.encoding.longest[0]

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As above, for one record replaced by another only."""
        require_replaced("mixing", relation)
        far1, far2 = self.encoding.farthest
        return float(len(self.rounds) * far1), root_up(len(self.rounds) * far2), 0


@dataclass(frozen=True, eq=False)
class OrderedSums:
    """Sums of the coordinates over consecutive blocks of ``least`` records in a public order (class, then a Hilbert curve).

    *What one record can change.* Replacing one of n records moves those between its old and its new place by one place and
    nobody else; a block is a range of places, so each loses at most one record and wins at most one, and its sum changes by
    the difference of two records. With B = floor(n / least) blocks, Delta1 = B F1 and Delta2 = sqrt(B) F2, F being ``farthest``.
    Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2014.
    """

    encoding: IntegerEncoding
    rows: int
    """The number of rows, which is public."""
    least: int
    first: str = ""
    """The column whose cells come first in the order; none when empty."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.encoding.schema.names

    @property
    def blocks(self) -> int:
        """How many there are; what is left over joins the last."""
        return max(self.rows // self.least, 1)

    def answer(self, table: Table) -> Integers:
        """Block by block."""
        require_rows("blocks", table, self.rows)
        block = np.empty(self.rows, np.int64)
        block[self._order(table)] = np.minimum(np.arange(self.rows) // self.least, self.blocks - 1)
        return GroupSums(self.encoding, block[None], self.blocks).answer(table)

    def largest(self, schema: Schema, rows: int) -> int:
        """All in one block."""
        return self.rows * self.encoding.longest[0]

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As above, for one record replaced by another only."""
        require_replaced("blocks", relation)
        far1, far2 = self.encoding.farthest
        return float(self.blocks * far1), root_up(self.blocks * far2), 0

    def _order(self, table: Table) -> Integers:
        """Rows that tie are equal in all that is summed, so the sums do not depend on how they lie."""
        along = in_order(table, axes_of(table.schema, table.schema.names))
        if self.first:
            along = along[np.argsort(table.cells(self.first)[along], kind="stable")]
        return np.asarray(along, dtype=np.int64)


def grouped(rows: Integers, group: Integers, groups: int) -> Integers:
    """The sum of the rows of each group, exactly."""
    places = np.arange(len(rows))
    member = csr_array((np.ones(len(rows), np.int64), (group, places)), shape=(groups, len(rows)))
    return np.asarray(member @ rows, dtype=np.int64)


def root_up(square: int) -> float:
    """A float that is not below the root."""
    return math.nextafter(math.sqrt(square), math.inf)
