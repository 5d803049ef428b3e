"""Features of a table around given records, from which a shadow attack learns whether a record was in the training rows.

Distances to the nearest rows, and counts of rows that agree with the record on sets of columns: one column is the
record's place in a histogram, two are how the columns go together there, many are copies. Such counting queries are the
features of shadow attacks on tables (Houssiau et al. 2022, Meeus et al. 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from hushtable.evidence.neighbours import search as neighbours
from hushtable.evidence.reading import floats_like, ordinary
from hushtable.table.arrays import Floats, Mask
from hushtable.table.columns import NUMBERS
from hushtable.table.table import Table

Codes = NDArray[np.int32]
NEAR = 5
"""Neighbours whose mean distance is a feature."""


@dataclass(frozen=True, eq=False)
class RecordFeatures:
    """Features of tables around these records."""

    records: Table
    columns: tuple[str, ...]
    edges: dict[str, Floats]
    """Where numbers are cut: two agree if they fall between the same edges."""
    subsets: Mask
    """queries x columns."""

    @classmethod
    def of(cls, records: Table, train: Table, columns: Sequence[str], queries: int, rng: np.random.Generator) -> RecordFeatures:
        """Every column alone, and ``queries`` random sets of two columns or more."""
        numbers = [name for name in columns if train.schema[name].kind in NUMBERS]
        edges = {name: np.unique(train.quantiles(name, np.linspace(0, 1, 21)[1:-1])) for name in numbers}
        width = len(columns)
        drawn = [rng.permutation(width) < rng.integers(2, width + 1) for _ in range(queries)] if width > 1 else []
        return cls(records, tuple(columns), edges, np.array([*np.eye(width, dtype=bool), *drawn], dtype=bool))

    def features(self, table: Table) -> Floats:
        """Records x features."""
        plain = ordinary(table, np.random.default_rng(0))
        near = neighbours.nearest(self.records, plain, min(NEAR, plain.rows), columns=self.columns).distance
        counts = _agreeing(self._codes(self.records), self._codes(plain), self.subsets)
        return np.hstack([near[:, :1], near.mean(axis=1, keepdims=True), near[:, :1] == 0, np.log1p(counts)])

    def _codes(self, table: Table) -> Codes:
        coded = [self._column(table, name) for name in self.columns]
        return np.ascontiguousarray(np.stack(coded, axis=1), dtype=np.int32)

    def _column(self, table: Table, name: str) -> Floats:
        values = floats_like(table, name, self.records)
        missing = np.isnan(values)
        codes = np.searchsorted(self.edges[name], values, side="right") if name in self.edges else values
        return np.where(missing, -1, codes)


@njit(cache=True, parallel=True)
def _agreeing(records, rows, subsets):  # type: ignore[no-untyped-def]
    """For each record and each set of columns, how many rows agree with the record on all of them."""
    counts = np.zeros((len(records), len(subsets)))
    for i in prange(len(records)):
        agree = np.empty(rows.shape[1], np.bool_)
        for j in range(len(rows)):
            for c in range(rows.shape[1]):
                agree[c] = records[i, c] == rows[j, c]
            for q in range(len(subsets)):
                whole = True
                for c in range(rows.shape[1]):
                    if subsets[q, c] and not agree[c]:
                        whole = False
                        break
                counts[i, q] += whole
    return counts
