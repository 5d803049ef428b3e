"""What the schema declares to be impossible, as cells of histograms that a graphical model gives no probability.

A cell is impossible only where every value that it stands for is: of a bin that holds possible values too nothing is said, and the
rows drawn there are checked one by one when they are decoded (``pipeline.possible``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.synthesize.histogram_cells import CELLS, sizes_of
from hushtable.synthesize.marginal import junction
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.table.arrays import Mask
from hushtable.table.broken import Span, surely_met
from hushtable.table.cell import Interval
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.determined import determined, due_cells
from hushtable.table.rules import Comparison, Sign, Zero
from hushtable.table.schema import Schema
from hushtable.table.trees import read_cell

Columns = tuple[str, ...]

_NUMBERED = re.compile(r"\d+: (?=[\[(])")
"""What stands before the text of a bin where two bins would have the same."""


def walls(
    schema: Schema, limit: int, beside: Iterable[Columns] = (), known: Mapping[Columns, Mask] = MappingProxyType({})
) -> dict[Columns, Mask]:
    """For sets of columns their impossible cells, of as many zeros as a model with these other cliques has room for.

    ``limit`` is the most cells of the model; what is ``known`` beside the schema is among them in any case. Which zeros there is
    room for follows from the schema and the cliques alone. Where they leave no record, as they may where domains were learnt,
    the model does without those of the schema: what was paid for is not lost, and rows are checked one by one all the same.
    """
    masks = _walls(schema, limit, beside, known)
    return masks if _leave_any(schema, masks) else dict(known)


def code_walls(schema: Schema, limit: int = CELLS) -> dict[Columns, Mask]:
    """For pairs of columns of which one determines the other, the cells that their code list leaves empty.

    There is nothing in such a pair to measure, and always a record that has none of these cells.
    """
    return dict(_pairs(schema, sizes_of(schema), limit))


def require_possible(schema: Schema, limit: int, step: str, known: Mapping[Columns, Mask] = MappingProxyType({})) -> None:
    """PlanError where the zeros of the schema, with those that are known beside it, leave no record at all."""
    masks = _walls(schema, limit, (), known)
    if masks and not _leave_any(schema, masks):
        raise PlanError(f"{step}: by the zeros of the schema no record is possible at all")


def _walls(schema: Schema, limit: int, beside: Iterable[Columns], known: Mapping[Columns, Mask]) -> dict[Columns, Mask]:
    sizes, masks = sizes_of(schema), dict(known)
    groups = list(beside)
    for pair, mask in _pairs(schema, sizes, limit):
        if pair not in masks and junction.cells(sizes, [*groups, *masks, pair]) <= limit:
            masks[pair] = mask
    for zero in schema.zeros:
        columns = tuple(name for name in schema.names if name in zero.columns)
        if len(columns) < len(zero.columns) or math.prod(sizes[name] for name in columns) > limit:
            continue
        mask = _impossible(schema, zero, columns, sizes)
        if not mask.any() or (columns not in masks and junction.cells(sizes, [*groups, *masks, columns]) > limit):
            continue
        masks[columns] = masks[columns] | mask if columns in masks else mask
    return masks


def _pairs(schema: Schema, sizes: Mapping[str, int], limit: int) -> Iterator[tuple[tuple[str, str], Mask]]:
    """For each column that another one determines, the pair and the values that do not go together."""
    for name, by in determined(schema).items():
        due = due_cells(schema[by.source], schema[name], by)
        if due is None or sizes[by.source] * sizes[name] > limit:
            continue
        last = len(schema[name].levels)
        allowed = np.where(due < 0, last, due)[: sizes[by.source]]
        mask = allowed[:, None] != np.arange(sizes[name])
        # Where a level determines a missing value that cannot be, the list is of other columns.
        if not (allowed < sizes[name]).all():
            continue
        first, second = (column for column in schema.names if column in (by.source, name))
        yield (first, second), mask if first == by.source else mask.T


def _leave_any(schema: Schema, masks: Mapping[Columns, Mask]) -> bool:
    """Whether a record is possible that has none of these cells."""
    try:
        Graphical(sizes_of(schema), {}, 1.0, masks).beliefs  # noqa: B018 - computed to see whether anything is left
    except InputError:
        return False
    return True


def _impossible(schema: Schema, zero: Zero, columns: Columns, sizes: Mapping[str, int]) -> Mask:
    """The cells of a histogram of these columns in which every record meets every test."""
    mask = np.ones([sizes[name] for name in columns], np.bool_)
    for test in zero.tests:
        if test.other:
            # Two columns are compared value by value when the rows are decoded.
            return np.zeros(mask.shape, np.bool_)
        met = _met(schema[test.column], test, sizes[test.column])
        mask &= met.reshape([-1 if name == test.column else 1 for name in columns])
    return mask


def _met(column: Column, test: Comparison, size: int) -> Mask:
    """For each cell of one column whether all of it meets the test; a last one for missing values unless it is required."""
    plain, spans = _spans(column, test)
    met = [surely_met(test, plain, span) for span in spans]
    return np.array([*met, test.sign is Sign.MISSING][:size], np.bool_)


def _spans(column: Column, test: Comparison) -> tuple[Column, list[Span]]:
    """What each cell stands for, and the column that reads the values of the test."""
    if isinstance(column.domain, Bounds):
        return column, [Interval(value, value) for value in range(int(column.domain.low), int(column.domain.high) + 1)]
    levels = [_NUMBERED.sub("", level) for level in column.levels]
    own = all(value in column.levels for value in test.values) and bool(test.values)
    for kind in () if own or column.kind is not Kind.ORDINAL else (Kind.REAL, Kind.DATE):
        # Bins of numbers or dates: their levels are the intervals, as texts.
        plain = Column(name=column.name, kind=kind)
        try:
            return plain, [read_cell(plain, level).span for level in levels]
        except (ValueError, OverflowError):
            continue
    return column, [frozenset([level]) for level in column.levels]
