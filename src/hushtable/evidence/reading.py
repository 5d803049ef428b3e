"""Tables read for comparison: generalized cells as values drawn from them, levels as numbers that mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hushtable.table.arrays import Array, Floats
from hushtable.table.cell import Cell, Interval
from hushtable.table.columns import NUMBERS, Bounds, Cells, Column, Levels
from hushtable.table.table import Table


def ordinary(table: Table, rng: np.random.Generator) -> Table:
    """The table with every interval, set and ``*`` replaced by a value drawn uniformly from it; missing stays missing."""
    drawn = []
    for column in table.schema:
        if isinstance(column.domain, Cells):
            plain = replace(column, domain=column.base or _levels_of(column))
            drawn.append((plain, _draw(plain, column.domain.cells, table[column.name], rng)))
    return table.with_columns(*drawn) if drawn else table


def floats_like(table: Table, name: str, reference: Table) -> Floats:
    """A column as floats, levels by their place in a reference table; NaN where missing or unknown there."""
    if table.schema[name].numeric:
        return table.floats(name)
    index = {word: float(code) for code, word in enumerate(reference.words(name))}
    own = np.array([index.get(word, np.nan) for word in table.words(name)] + [np.nan])
    return own[table[name].astype(np.int64)]


def alike(tables: Sequence[Table], name: str) -> list[Floats]:
    """A column of several tables as floats that mean the same in all of them: levels by a number for each, NaN where missing."""
    if tables[0].schema[name].numeric:
        return [table.floats(name) for table in tables]
    index: dict[str, float] = {}
    columns = []
    for table in tables:
        own = [index.setdefault(word, float(len(index))) for word in table.words(name)]
        columns.append(np.array([*own, np.nan])[table[name].astype(np.int64)])
    return columns


def _draw(column: Column, cells: tuple[Cell, ...], codes: Array, rng: np.random.Generator) -> Array:
    numbers = np.full(len(codes), np.nan) if column.kind in NUMBERS else np.full(len(codes), -1.0)
    for code, cell in enumerate(cells):
        rows = np.flatnonzero(codes == code)
        if len(rows):
            numbers[rows] = _values(column, cell, len(rows), rng)
    if column.kind in NUMBERS:
        return column.from_floats(numbers)
    return numbers.astype(np.int32)


def _values(column: Column, cell: Cell, count: int, rng: np.random.Generator) -> Floats:
    if column.kind in NUMBERS:
        bounds = column.bounds
        span = cell.span if isinstance(cell.span, Interval) else Interval(bounds.low, bounds.high)
        low, high = max(span.low, bounds.low), min(span.high, bounds.high)
        if low > high:
            low = high = min(max(span.low, bounds.low), bounds.high)
        if column.step is not None:
            points = round((high - low) / column.step) + 1
            return np.asarray(low + column.step * rng.integers(0, points, count), np.float64)
        return rng.uniform(low, high, count)
    members = [column.levels.index(m) for m in cell.span] if isinstance(cell.span, frozenset) else list(range(len(column.levels)))
    return np.array(sorted(members), dtype=np.float64)[rng.integers(0, len(members), count)]


def _levels_of(column: Column) -> Levels | Bounds:
    """A domain for a column whose cells came without one: what the cells themselves mention."""
    cells = column.domain.cells if isinstance(column.domain, Cells) else ()
    if column.kind in NUMBERS:
        ends = [end for c in cells if isinstance(c.span, Interval) for end in (c.span.low, c.span.high) if np.isfinite(end)]
        return Bounds(min(ends, default=0.0), max(ends, default=0.0), observed=True)
    seen = dict.fromkeys(m for c in cells if isinstance(c.span, frozenset) for m in sorted(c.span))
    return Levels(tuple(seen) or ("*",), observed=True)
