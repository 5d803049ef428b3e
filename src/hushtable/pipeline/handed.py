"""Rows that are handed on one by one out of memory: how they leave a model, and how they are cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from hushtable.pipeline.blocks import BLOCK
from hushtable.pipeline.step import HandsOn, Model
from hushtable.table.rows import Rows
from hushtable.table.table import Table


def handed_on_by(model: Model) -> Rows | None:
    """The rows of a model that holds them out of memory."""
    return model.handed_on if isinstance(model, HandsOn) else None


def blocks_of(rows: Rows, first: int) -> Iterator[Table]:
    """The rows in blocks, from this one on."""
    return islice(rows.batches(BLOCK), first, None)


def at_once(rows: Rows) -> Table:
    """Rows that are few enough for one table."""
    return rows if isinstance(rows, Table) else Table.concat([Table.empty(rows.schema), *rows.batches()])
