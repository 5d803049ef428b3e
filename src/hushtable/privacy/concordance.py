"""Kendall's tau-a, before it is divided, as a query: its answer in whole numbers and what one record can change of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hushtable.numerics.concordance import concordance_of_cells, concordance_present, dense_ranks
from hushtable.privacy.rows import require_replaced, require_rows
from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True)
class Concordance:
    """For each pair of columns, the pairs of rows that they order alike less those that they order oppositely.

    Equal and missing values are ordered neither way. Divided by the number of pairs of rows it is Kendall's tau-a.
    Replacing a record touches the n - 1 pairs of rows that it is in, each by 2 at most: 2 (n - 1) for a pair of columns
    (4/n for tau-a), and for p pairs of columns L1 = 2 (n - 1) p, L2 = 2 (n - 1) sqrt(p). (Tau-b has no such bound: it
    divides by a number of ties that a record changes too.)
    """

    columns: tuple[str, ...]
    rows: int
    """The number of rows, which is public."""
    ranks: tuple[tuple[int, ...], ...] = ()
    """For each column the rank of each of its codes, where they do not rise as they are; empty for those that do."""

    def over(self, rows: Rows) -> Integers:
        """In the order of ``itertools.combinations``; of rows out of memory from the tables of all pairs."""
        if isinstance(rows, Table):
            return self.answer(rows)
        require_rows("kendall", rows, self.rows)
        ranked = self.ranks or ((),) * len(self.columns)
        pairs = list(combinations(range(len(self.columns)), 2))
        counts = rows.histograms([(self.columns[i], self.columns[j]) for i, j in pairs])
        columns = [rows.schema[name] for name in self.columns]
        answers = [
            concordance_of_cells(own, (columns[i], columns[j]), (ranked[i], ranked[j]))
            for own, (i, j) in zip(counts, pairs, strict=True)
        ]
        return np.array(answers, np.int64)

    def answer(self, table: Table) -> Integers:
        """The same of rows in memory, however fine their columns are."""
        require_rows("kendall", table, self.rows)
        ranked = self.ranks or ((),) * len(self.columns)
        ranks = [dense_ranks(table, name, given) for name, given in zip(self.columns, ranked, strict=True)]
        return np.array([concordance_present(one, two) for one, two in combinations(ranks, 2)], np.int64)

    def largest(self, schema: Schema, rows: int) -> int:
        """All pairs of rows in one order."""
        return self.rows * self.rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above; only for one record replaced by another."""
        require_replaced("kendall", relation)
        pairs = len(self.columns) * (len(self.columns) - 1) // 2
        each = 2.0 * max(self.rows - 1, 0)
        return each * pairs, each * math.sqrt(pairs), 0
