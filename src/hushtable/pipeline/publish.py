"""The last look at a table before it leaves: no order, and no domain, that only the raw rows could have told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.table.cell import Interval
from hushtable.table.columns import Array, Bounds, Cells, Column, Levels
from hushtable.table.table import Table


def shuffled(table: Table, rng: np.random.Generator) -> Table:
    """The rows in an order that says nothing about the original one.

    Sorting by content first makes the result a function of the set of rows alone: knowing the seed of the shuffle
    does not bring the original order back.
    """
    order = np.lexsort([table[name] for name in reversed(table.schema.names)])
    return table.take(order[rng.permutation(table.rows)])


def own_domains(table: Table) -> Table:
    """The table with every observed domain cut down to what the table itself holds.

    A domain that was read off the raw rows tells their extremes and their rare levels; published in a schema it
    would give away what the release hides, and so would a drafter's notes. Declared domains are public and stay.
    """
    table = replace(table, schema=replace(table.schema, notes=()))
    observed = [column for column in table.schema if column.observed and column.domain is not None]
    return table.with_columns(*(_own(column, table[column.name]) for column in observed))


def _own(column: Column, array: Array) -> tuple[Column, Array]:
    if isinstance(column.domain, Bounds):
        return replace(column, domain=_bounds(column, array)), array
    return _recoded(column, array)


def _bounds(column: Column, array: Array) -> Bounds:
    present = array[~column.is_missing(array)]
    if not len(present):
        return Bounds(0, 0, observed=True)
    return Bounds(present.min().item(), present.max().item(), observed=True)


def _recoded(column: Column, array: Array) -> tuple[Column, Array]:
    used = np.unique(array[array >= 0]).astype(np.int64)
    place = np.full(len(column.levels) + 1, -1, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    if isinstance(column.domain, Levels):
        # A domain is never empty: a column that is all missing keeps one level that no row has.
        levels = tuple(column.levels[code] for code in used) or ("missing",)
        return replace(column, domain=Levels(levels, observed=True)), place[array.astype(np.int64)]
    assert isinstance(column.domain, Cells)
    cells = tuple(column.domain.cells[code] for code in used)
    return replace(column, domain=Cells(cells, _base(column, cells))), place[array.astype(np.int64)]


def _base(column: Column, cells: tuple[object, ...]) -> Levels | Bounds | None:
    spans = [getattr(cell, "span", None) for cell in cells]
    if isinstance(column.base, Bounds):
        ends = [end for s in spans if isinstance(s, Interval) for end in (s.low, s.high) if np.isfinite(end)]
        return Bounds(min(ends, default=0), max(ends, default=0), observed=True)
    if isinstance(column.base, Levels):
        told = frozenset[str]().union(*(s for s in spans if isinstance(s, frozenset)))
        return Levels(tuple(level for level in column.base.levels if level in told) or ("missing",), observed=True)
    return None
