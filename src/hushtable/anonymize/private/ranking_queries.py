"""The query of individual ranking: the sorted values of one column, summed in blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.numerics.integers import GRID, Axes, block_starts
from hushtable.privacy.rows import require_replaced, require_rows
from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True)
class RankSums:
    """Sums over blocks of k of the values of one column, sorted; in integers, missing ones at the upper end.

    *What one record can change.* Replace one value x by x' > x. Then no order statistic falls, and together they rise by
    x' - x, because they have the sums of the values. A block sum is a sum of order statistics at fixed places, so all
    block sums rise, and together by x' - x: the L1 change of the whole list is |x - x'| <= GRID, whatever the number of
    blocks and the size of the last. L2 is no larger than L1. (Of the means, which are divided by k or more: width/k.)
    Each value is rounded to the grid first, so this is exact. Sanchez, Domingo-Ferrer, Martinez and Soria-Comas 2016.

    It covers the sorted list alone. Which row has which rank is not in it, and must not be put back.
    """

    column: str
    k: int
    rows: int
    """The number of rows, which is public."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def answer(self, table: Table) -> Integers:
        """The sums from the lowest block to the highest."""
        require_rows("ranking", table, self.rows)
        axes, array = Axes(table.schema[self.column]), table[self.column]
        places = np.where(axes.column.is_missing(array), GRID, axes.places(array))
        return np.add.reduceat(np.sort(places), block_starts(self.rows, self.k))

    def largest(self, schema: Schema, rows: int) -> int:
        """All in one block, at the upper end."""
        return self.rows * GRID

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """The width of the grid; only for one record replaced by another."""
        require_replaced("ranking", relation)
        return float(GRID), float(GRID), 0
