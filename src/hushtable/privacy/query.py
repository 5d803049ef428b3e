"""Questions that a vault answers with noise. Each knows how much one record can change its answer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.numerics.places import grid_counts, points
from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Bounds, Kind
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

ROWS = 2**31 - 1
"""The most rows of a private table. It is public, so that no refusal depends on how many rows there are."""
PRESENT = 20_000_000
"""The most cells with rows in them that are worked on."""
SAFE = 2**62
"""Whole numbers of 64 bits stay below this, noise aside: one that wrapped around would change by more than any sensitivity."""


DENSE, PLAIN = 4, 65_536
"""A histogram of a column has at most so many cells for each row, and so many more, to be worth counting for a few ranges."""


class Changes(Protocol):
    """Something that knows how much one record changes it."""

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """L1 and L2 change by one *record*, and over how many coordinates of at most 1 (0 if they change by more)."""
        ...


class Query(Protocol):
    """A question with an answer in whole numbers."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads: their domains must be declared."""
        ...

    def answer(self, table: Table) -> Integers:
        """The exact answer, a flat array whose length does not depend on the rows."""
        ...

    def largest(self, schema: Schema, rows: int) -> int:
        """The largest number, by size, of an answer for so many rows, or of a sum on the way to it.

        For a sum over the rows: their number times the largest part of one of them.
        """
        ...

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """L1 and L2 change by one *record*, and over how many coordinates of at most 1 (0 if they change by more)."""
        ...


class Scores(Protocol):
    """How good each of some candidates is for the rows, in whole numbers: what the exponential mechanism chooses by."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads: their domains must be declared."""
        ...

    def answer(self, table: Table) -> Integers:
        """One score for each candidate; how many there are does not depend on the rows."""
        ...

    def largest(self, schema: Schema, rows: int) -> int:
        """The largest score, by size, for so many rows, or sum on the way to one."""
        ...

    def change(self, schema: Schema, relation: Relation) -> int:
        """The most by which one *record* changes any one score, at least 1."""
        ...


def in_words(question: Query | Scores) -> str:
    """What a query asks for, in words for the ledger: ``MarginalScores`` is "marginal scores"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(question).__name__).lower()


def require_exact(question: Query | Scores, schema: Schema) -> None:
    """PlanError where a number on the way to an answer could wrap around, on a table of as many rows as there may be."""
    largest = question.largest(schema, ROWS)
    if largest >= SAFE:
        raise PlanError(
            f"{in_words(question)} of {', '.join(question.columns) or 'all rows'}: for {ROWS:,} rows it could come to "
            f"{largest:.3g}, and only numbers below 2^62 are added exactly; declare narrower bounds or fewer decimals"
        )


@dataclass(frozen=True)
class Histogram:
    """Counts of the joint cells of some columns: every cell of the declared domain, empty or not."""

    columns: tuple[str, ...]

    @property
    def counted(self) -> tuple[tuple[str, ...], ...]:
        """Itself."""
        return (self.columns,)

    def finish(self, counts: Sequence[Integers]) -> Integers:
        """Row-major over the columns."""
        return counts[0].ravel()

    def answer(self, table: Table) -> Integers:
        """Row-major over the columns."""
        return self.finish([table.counts(self.columns)])

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A record lies in one cell; replacing it changes two."""
        histogram_sizes(schema, self.columns)
        return _partition(relation)


@dataclass(frozen=True)
class Ranges:
    """Counts of a numeric column between fixed edges (each but the last open above), and of missing values."""

    additive: ClassVar[bool] = True
    column: str
    edges: tuple[float, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    @property
    def reads(self) -> tuple[str, ...]:
        """The same."""
        return self.columns

    def over(self, rows: Rows) -> Integers:
        """One count per range, missing last; where a histogram of whole numbers says it, from that, which is counted once."""
        column = rows.schema[self.column]
        if not grid_counts(column) or points(column) > DENSE * rows.rows + PLAIN:
            return rows.fold(self)
        counts = rows.histograms([self.columns])[0]
        cell = self._cells(column.bounds.low + np.arange(points(column), dtype=np.float64))
        between = np.zeros(len(self.edges), np.int64)
        np.add.at(between, cell, counts[: len(cell)])
        between[-1] += counts[len(cell) :].sum()
        return between

    def answer(self, table: Table) -> Integers:
        """One count per range, missing last; values beyond the edges go to the outermost ranges."""
        values = table.floats(self.column)
        last = len(self.edges) - 2
        return np.bincount(np.where(np.isnan(values), last + 1, self._cells(values)), minlength=last + 2)

    def _cells(self, values: Floats) -> Integers:
        return np.asarray(np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, len(self.edges) - 2), np.int64)

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A record lies in one range."""
        return _partition(relation)


@dataclass(frozen=True)
class Occupied:
    """Which joint cells of some coded columns hold a row, and how many. The domains need not be declared.

    Rows in which one of the columns is missing are left out where ``missing`` is false.
    """

    columns: tuple[str, ...]
    missing: bool = True

    def present(self, rows: Rows) -> tuple[Integers, Integers]:
        """The codes of each cell that holds a row (one line per cell, in order, -1 for missing), and its count."""
        tuples = rows.distinct(self.columns, PRESENT)
        codes = np.stack([_codes(tuples.table, name) for name in self.columns], axis=1)
        counts = tuples.counts
        if not self.missing:
            whole = (codes >= 0).all(axis=1)
            codes, counts = codes[whole], counts[whole]
        return codes, counts

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A record lies in one cell."""
        return _partition(relation)


@dataclass(frozen=True)
class Ladder:
    """Counts of a number on a ladder of ranges that is the same for every table, and of missing values.

    No domain takes part, so none has to be declared. Beyond the ladder values go to its ends.
    """

    additive: ClassVar[bool] = True
    column: str
    rungs: tuple[float, ...]
    """Where the ranges meet, rising: range i holds what is at least rung i - 1 and below rung i."""
    columns: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The one column, whose domain takes no part."""
        return (self.column,)

    def answer(self, table: Table) -> Integers:
        """One count more than there are rungs, and missing last."""
        values = table.floats(self.column)
        cells = np.searchsorted(self.rungs, values, side="right")
        return np.bincount(np.where(np.isnan(values), len(self.rungs) + 1, cells), minlength=len(self.rungs) + 2)

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A record lies in one range."""
        return _partition(relation)


@dataclass(frozen=True)
class Total:
    """The number of rows. Free to ask under replace-one, where it is public."""

    additive: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ()
    columns: tuple[str, ...] = ()

    def answer(self, table: Table) -> Integers:
        """One number."""
        return np.array([table.rows])

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """One row more or less."""
        change = 1 if relation is Relation.ADD_REMOVE else 0
        return change, change, change


@dataclass(frozen=True)
class Sum:
    """The sum of a numeric column in whole multiples of ``grid``, each value rounded to it and clipped to the bounds.

    Missing values count as zero. The rounding happens to each record, so the sensitivity is exact.
    """

    additive: ClassVar[bool] = True
    column: str
    grid: float

    def __post_init__(self) -> None:
        """A grid is positive: a negative one would turn the bounds around, and the sensitivity with them."""
        if not 0 < self.grid < math.inf:
            raise InputError(f"a grid is positive, got {self.grid}", where=f"sum of {self.column}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    @property
    def reads(self) -> tuple[str, ...]:
        """The same."""
        return self.columns

    def answer(self, table: Table) -> Integers:
        """One number, in units of ``grid``."""
        low, high = self._range(table.schema)
        values = table.floats(self.column)
        steps = np.clip(np.round(np.nan_to_num(values) / self.grid), low, high)
        return np.array([int(np.where(np.isnan(values), 0, steps).astype(np.int64).sum())])

    def largest(self, schema: Schema, rows: int) -> int:
        """All rows at the end of the domain that is farther from zero."""
        return rows * max(map(abs, self._range(schema)))

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """The largest value, or under replace-one the largest difference (a missing value is a zero)."""
        low, high = self._range(schema)
        alone = max(abs(low), abs(high))
        change = alone if relation is Relation.ADD_REMOVE else max(high, 0) - min(low, 0)
        return float(change), float(change), 0

    def _range(self, schema: Schema) -> tuple[int, int]:
        domain = schema[self.column].domain
        if not isinstance(domain, Bounds):
            raise PlanError(f"a sum of {self.column!r} needs declared bounds")
        low, high = domain.low / self.grid, domain.high / self.grid
        most = max(abs(low), abs(high))
        if not most < ROWS:
            raise PlanError(
                f"a sum of {self.column!r} in steps of {self.grid:g} has up to {most:.3g} steps a row, too many to be added "
                f"exactly over {ROWS:,} rows; take steps of at least {self.grid * most / 2**30:.1g}, or declare narrower bounds"
            )
        return math.floor(low), math.ceil(high)


def _codes(table: Table, name: str) -> Integers:
    """The codes of a column, -1 for missing; whole numbers are their own codes, counted from their lower bound."""
    column, array = table.schema[name], table[name]
    if column.coded:
        return array.astype(np.int64)
    if column.kind is not Kind.INTEGER:
        raise InputError(f"a {column.kind} column must be cut into bins before it can be counted", where=name)
    return np.where(column.is_missing(array), -1, array - int(column.bounds.low)).astype(np.int64)


def _partition(relation: Relation) -> tuple[float, float, int]:
    return (1.0, 1.0, 1) if relation is Relation.ADD_REMOVE else (2.0, math.sqrt(2), 2)
