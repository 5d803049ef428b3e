"""Public constraints on the cells of columns: which combinations of cells no row may have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hushtable.errors import PlanError
from hushtable.synthesize.histogram_cells import sizes_of
from hushtable.synthesize.neural.gan.constraints import Constraint, read_constraints
from hushtable.table.arrays import Integers, Mask
from hushtable.table.broken import Span, surely_met
from hushtable.table.cell import Interval
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.rules import Comparison, Sign
from hushtable.table.schema import Schema

_INTERVAL = re.compile(r"(?:\d+: )?([\[(])(.+), (.+)([\])])")
_VALUE = re.compile(r"(?:\d+: )?(-?\d.*)")

Forbidden = tuple[dict[int, Mask], ...]
"""For each combination the columns that it is of, by place, and which of their cells are in it."""


def forbidden(texts: Sequence[str], schema: Schema, step: str) -> Forbidden:
    """The combinations of cells that break a constraint whatever they stand for; PlanError for what cannot be read on cells."""
    columns = {column.name: _numeric(column) for column in schema}
    constraints = read_constraints(texts, schema.with_columns(*columns.values()), step)
    sizes, names = sizes_of(schema), schema.names
    found = []
    for constraint in constraints:
        _require_single(constraint, step)
        for zero in constraint.zeros:
            masks: dict[int, Mask] = {}
            for test in zero.tests:
                place = names.index(test.column)
                met = _met(test, schema[test.column], columns[test.column], sizes[test.column])
                masks[place] = masks.get(place, np.ones(len(met), np.bool_)) & met
            found.append(masks)
    return tuple(found)


def broken(masks: Forbidden, cells: Integers) -> Mask:
    """The rows, in cells, that have one of the combinations."""
    rows = np.zeros(len(cells), np.bool_)
    for parts in masks:
        rows |= np.logical_and.reduce([mask[cells[:, place]] for place, mask in parts.items()])
    return rows


def _require_single(constraint: Constraint, step: str) -> None:
    if any(test.other for test in (*constraint.asked, *constraint.tests)):
        raise PlanError(f"{step}: the constraint {constraint.text!r} compares two columns, which cells cannot answer")


def _numeric(column: Column) -> Column:
    """A column that was cut into bins, as the number that it was; any other as it is."""
    if column.numeric or column.kind is not Kind.ORDINAL:
        return column
    spans = [_span(level) for level in column.levels]
    known = [span for span in spans if span is not None]
    # Levels that are all single numbers were written so by somebody, and are no bins.
    if len(known) < len(spans) or not any(span.low < span.high for span in known):
        return column
    return replace(column, kind=Kind.REAL, domain=Bounds(known[0].low, known[-1].high), decimals=None)


def _span(level: str) -> Interval | None:
    """The interval that a level's text is, or the single value; None if it is neither, or one of dates."""
    found, alone = _INTERVAL.fullmatch(level), _VALUE.fullmatch(level)
    try:
        if found is not None:
            return Interval(float(found[2]), float(found[3]), found[1] == "(", found[4] == ")")
        return None if alone is None else Interval(float(alone[1]), float(alone[1]))
    except ValueError:
        return None


def _met(test: Comparison, column: Column, read: Column, size: int) -> Mask:
    """Which cells meet a test whatever they stand for; missing values, the last cell, only if that is what is asked."""
    spans: list[Span]
    if column.kind is Kind.INTEGER and not column.generalized:
        low = int(column.bounds.low)
        spans = [Interval(low + i, low + i) for i in range(int(column.bounds.high) - low + 1)]
    elif read is not column:
        spans = [_span(level) for level in column.levels]
    else:
        spans = [frozenset([level]) for level in column.levels]
    met = [surely_met(test, read, span) for span in spans]
    return np.array([*met, *[test.sign is Sign.MISSING] * (size - len(met))], np.bool_)
