"""Answers to counting queries, on tables of values and on tables of generalized cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.measures.generalized_cells import Spans, members
from hushtable.measures.jackknife import LOTS
from hushtable.measures.query_conditions import Among, Between, Condition, Question
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import Cells, Column
from hushtable.table.table import Table


class QueryColumn(ABC):
    """One column of a table, ready to be queried: each row's place among its distinct values or cells, missing last."""

    codes: Integers

    @abstractmethod
    def share(self, condition: Condition) -> Floats | Mask:
        """For each row, the share of what it may be that meets the condition: 0 or 1 where it is one value."""


@dataclass(frozen=True, eq=False)
class _Numbers(QueryColumn):
    """Places among the sorted numbers: those between two ends are between two places."""

    codes: Integers
    values: Floats

    def share(self, condition: Condition) -> Mask:
        if isinstance(condition, Among):
            return np.asarray((self.codes == len(self.values)) & condition.missing, dtype=np.bool_)
        first, last = self.values.searchsorted(condition.low, "left"), self.values.searchsorted(condition.high, "right")
        return (self.codes >= first) & (self.codes < last)


@dataclass(frozen=True, eq=False)
class _Levels(QueryColumn):
    """Codes of levels."""

    codes: Integers
    index: Mapping[str, int]

    def share(self, condition: Condition) -> Mask:
        met = np.zeros(len(self.index) + 1, bool)
        if isinstance(condition, Among):
            met[[self.index[level] for level in condition.levels if level in self.index]] = True
            met[-1] = condition.missing
        return met[self.codes]


@dataclass(frozen=True, eq=False)
class _Spans(QueryColumn):
    """Codes of cells of numbers."""

    codes: Integers
    spans: Spans

    def share(self, condition: Condition) -> Floats:
        if isinstance(condition, Between):
            return np.append(self.spans.share(condition.low, condition.high), 0.0)[self.codes]
        return np.append(np.zeros(len(self.spans.low)), float(condition.missing))[self.codes]


@dataclass(frozen=True, eq=False)
class _Sets(QueryColumn):
    """Codes of cells of levels."""

    codes: Integers
    members: Mask
    levels: Sequence[str]

    def share(self, condition: Condition) -> Floats:
        levels, missing = (condition.levels, condition.missing) if isinstance(condition, Among) else (frozenset[str](), False)
        wanted = np.array([level in levels for level in self.levels], np.float64)
        return np.append(self.members @ wanted / self.members.sum(1), float(missing))[self.codes]


def query_column(table: Table, name: str, plain: Column) -> QueryColumn:
    """A column ready to be queried; ``plain`` is the column of single values that a generalized one stands for."""
    column = table.schema[name]
    if column.numeric:
        values, codes = np.unique(table.floats(name), return_inverse=True)
        return _Numbers(codes, values[~np.isnan(values)])
    codes = table[name].astype(np.int64)
    codes[codes < 0] = len(column.levels)
    if not isinstance(column.domain, Cells):
        return _Levels(codes, {level: code for code, level in enumerate(column.levels)})
    if plain.numeric:
        return _Spans(codes, Spans.of(column.domain.cells, plain))
    return _Sets(codes, members(column.domain.cells, plain), plain.levels)


def answers(table: Table, plain: Table, questions: Sequence[Question], order: Integers | None = None) -> Floats:
    """The share of rows that each question finds: in the first line of all rows, in each further one without a lot of them.

    A generalized row counts in part, by the share of the values its cells stand for that meet the conditions, cells of one row
    being independent: the mean over all ways to read the cells, of which ``plain`` is one. The lots are cut from the rows in
    this order.
    """
    names = sorted({condition.name for question in questions for condition in question})
    rows = np.arange(table.rows) if order is None else order
    mixed = table.select(names).take(rows)
    columns = {name: query_column(mixed, name, plain.schema[name]) for name in names}
    starts = np.arange(LOTS) * table.rows // LOTS
    sizes = np.diff(starts, append=table.rows)
    counts = np.empty((len(questions), LOTS))
    for at, question in enumerate(questions):
        met = columns[question[0].name].share(question[0])
        for condition in question[1:]:
            met = met * columns[condition.name].share(condition)
        counts[at] = np.add.reduceat(met, starts, dtype=np.float64)
    # Where there are fewer rows than lots, some lots are empty, and reduceat gives the next row's.
    counts = np.where(sizes > 0, counts, 0.0)
    whole = counts.sum(1)
    return np.vstack([whole / table.rows, ((whole[:, None] - counts) / np.maximum(table.rows - sizes, 1)).T])
