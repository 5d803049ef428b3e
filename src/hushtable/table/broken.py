"""Which rows have a combination of values that no row should have (``table.rules``)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hushtable.table.arrays import Floats, Mask
from hushtable.table.cell import Interval
from hushtable.table.columns import CODED, Cells, Column, Levels
from hushtable.table.rows import Rows
from hushtable.table.rules import ORDER, Comparison, Sign, Zero, is_value
from hushtable.table.table import Table

Span = Interval | frozenset[str] | None

COMPARE: dict[Sign, Callable[[Any, Any], Any]] = {
    Sign.BELOW: operator.lt,
    Sign.AT_MOST: operator.le,
    Sign.ABOVE: operator.gt,
    Sign.AT_LEAST: operator.ge,
    Sign.EQUAL: operator.eq,
    Sign.UNEQUAL: operator.ne,
}


def breaks(table: Table, zero: Zero) -> Mask:
    """The rows that meet every test. A generalized row breaks it only if it does so whatever its cells stand for."""
    rows = np.ones(table.rows, np.bool_)
    for test in zero.tests:
        rows &= _met(table, test)
    return rows


def breaks_any(table: Table, zeros: Iterable[Zero]) -> Mask:
    """The rows that break one of them at least."""
    rows = np.zeros(table.rows, np.bool_)
    for zero in zeros:
        rows |= breaks(table, zero)
    return rows


def broken_by(rows: Rows, zeros: Iterable[Zero]) -> int:
    """How many rows break one of them at least, wherever they are."""
    zeros = tuple(zeros)
    columns = sorted({name for zero in zeros for name in zero.columns})
    return sum(int(breaks_any(batch, zeros).sum()) for batch in rows.batches(columns=columns)) if columns else 0


def surely_met(test: Comparison, column: Column, span: Span) -> bool:
    """Whether every value that an interval or a set stands for meets the test; of anything at all (None) that is never sure.

    ``column`` reads the values of the test, and orders its levels.
    """
    if span is None or test.sign is Sign.MISSING or test.other:
        return False
    if test.sign is Sign.PRESENT:
        return True
    if isinstance(span, frozenset):
        return all(level_met(test, column, level) for level in span)
    numbers = _numbers(column, test)
    if test.sign in (Sign.EQUAL, Sign.AMONG):
        return span.low == span.high and span.low in numbers
    if test.sign is Sign.UNEQUAL:
        return numbers[0] not in span
    end, is_open = (span.high, span.open_high) if test.sign in (Sign.BELOW, Sign.AT_MOST) else (span.low, span.open_low)
    return bool(COMPARE[test.sign](end, numbers[0])) or (is_open and end == numbers[0])


def _met(table: Table, test: Comparison) -> Mask:
    column, array = table.schema[test.column], table[test.column]
    if test.other:
        return _compared(table, test)
    missing = column.is_missing(array)
    if test.sign is Sign.MISSING:
        return missing
    if isinstance(column.domain, Cells):
        sure = [surely_met(test, column, cell.span) for cell in column.domain.cells]
        return np.array([*sure, False], np.bool_)[array.astype(np.int64)]
    if test.sign is Sign.PRESENT:
        return ~missing
    if column.kind in CODED:
        return np.array([*(level_met(test, column, level) for level in column.levels), False])[array.astype(np.int64)]
    values, numbers = column.floats(array), _numbers(column, test)
    met = np.isin(values, numbers) if test.sign is Sign.AMONG else COMPARE[test.sign](values, numbers[0])
    return np.asarray(met & ~missing, np.bool_)


def _numbers(column: Column, test: Comparison) -> list[float]:
    """The values of the test as numbers; NaN, which nothing equals, for what a column of another kind cannot read."""
    return [column.number(value) if is_value(column, value) else math.nan for value in test.values]


def level_met(test: Comparison, column: Column, level: str) -> bool:
    """Whether a level meets a test of its column with values."""
    if test.sign in ORDER:
        places = column.base.index if isinstance(column.base, Levels) else {}
        return level in places and test.values[0] in places and bool(COMPARE[test.sign](places[level], places[test.values[0]]))
    return (level in test.values) != (test.sign is Sign.UNEQUAL)


def _compared(table: Table, test: Comparison) -> Mask:
    """Two columns: every value of the one against every value of the other."""
    one, other = table.schema[test.column], table.schema[test.other]
    if one.kind in CODED:
        if one.generalized or other.generalized:
            return np.zeros(table.rows, np.bool_)
        texts = table.strings(test.column), table.strings(test.other)
        both = ~table.missing(test.column) & ~table.missing(test.other)
        return np.asarray(COMPARE[test.sign](*texts).astype(np.bool_) & both, np.bool_)
    (low, high), (floor, ceiling) = _ends(table, test.column), _ends(table, test.other)
    if test.sign is Sign.EQUAL:
        return np.asarray((low == ceiling) & (high == floor), np.bool_)
    if test.sign is Sign.UNEQUAL:
        return np.asarray((high < floor) | (low > ceiling), np.bool_)
    pair = (high, floor) if test.sign in (Sign.BELOW, Sign.AT_MOST) else (low, ceiling)
    return np.asarray(COMPARE[test.sign](*pair), np.bool_)


def _ends(table: Table, name: str) -> tuple[Floats, Floats]:
    """The least and the largest value of each row, NaN where missing; without end for a cell that may be anything."""
    column, array = table.schema[name], table[name]
    if not isinstance(column.domain, Cells):
        values = column.floats(array)
        return values, values
    spans = [cell.span if isinstance(cell.span, Interval) else Interval(-np.inf, np.inf) for cell in column.domain.cells]
    ends = np.array([*((span.low, span.high) for span in spans), (np.nan, np.nan)])[array.astype(np.int64)]
    return ends[:, 0], ends[:, 1]
