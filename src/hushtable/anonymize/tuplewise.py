"""A release as a map from tuples to what is written for them: put on the rows batch by batch, wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.table.arrays import Mask
from hushtable.table.columns import Column
from hushtable.table.rows import Rows, Tuples
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.tuples import Index

Written = tuple[Column, NDArray[np.int32]]
"""A released column, and its code for each tuple."""
MOST = 20_000_000
"""The most tuples that are searched: each takes about a hundred bytes, and every node looks at all of them."""


@dataclass(frozen=True, eq=False)
class Rewriting:
    """Writes for each row what is written for its tuple; its other columns stay."""

    index: Index
    columns: tuple[Written, ...]
    schema: Schema
    """Of what it writes."""

    def apply(self, table: Table) -> Table:
        """Write some rows."""
        places = self.index.of(table)
        return table.with_columns(*((column, codes[places]) for column, codes in self.columns))


def rewritten(rows: Rows, tuples: Tuples, columns: Sequence[Written], gone: Mask) -> Rows:
    """The rows, each written as its tuple is, without those whose tuple is gone."""
    index = Index(tuples)
    if gone.any():
        rows = rows.take(np.concatenate([~gone[index.of(batch)] for batch in rows.batches(columns=index.names)]))
    if not columns:
        return rows
    return rows.encoded(Rewriting(index, tuple(columns), rows.schema.with_columns(*(column for column, _ in columns))))


def different(rows: Rows, names: Sequence[str]) -> Tuples:
    """The different tuples of these columns; InputError, which says what would help, where there are more than ``MOST``."""
    try:
        return rows.distinct(names, MOST)
    except InputError as error:
        if rows.rows <= MOST:
            raise
        advice = "name fewer columns, or make values coarser beforehand (fewer levels, rounded numbers)"
        raise InputError([replace(fault, reason=f"{fault.reason}: {advice}") for fault in error.faults]) from None
