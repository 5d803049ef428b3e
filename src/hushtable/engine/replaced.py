"""Rows some of whose columns are replaced by arrays in memory, while all other columns stay where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hushtable.engine.compute import compute_of
from hushtable.engine.spool import Spooled
from hushtable.engine.store import Store, private_folder
from hushtable.table.arrays import Array
from hushtable.table.columns import Column
from hushtable.table.rows import Rows
from hushtable.table.table import Table


def with_columns(rows: Rows, columns: Sequence[tuple[Column, Array]]) -> Rows:
    """The rows with these columns, a value for each row in their order, in the place of their own; out of memory a copy on disk."""
    if isinstance(rows, Table):
        return rows.with_columns(*columns)
    compute, schema = compute_of(rows), rows.schema.with_columns(*(column for column, _ in columns))

    def batches() -> Iterator[Table]:
        start = 0
        for batch in rows.batches():
            yield batch.with_columns(*((column, array[start : start + batch.rows]) for column, array in columns))
            start += batch.rows

    # At once, so that the arrays need not be held any longer.
    store = Store.of(batches(), schema, private_folder(compute.work))
    return Spooled(schema, lambda: store, compute)
