"""Pairs of columns as coarse tables: the groups, the queries, and a checkerboard copula from a noisy answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from hushtable.numerics.simplex import on_simplex
from hushtable.privacy.query import Histogram
from hushtable.privacy.unit import Relation
from hushtable.synthesize.copula.margins import nominal
from hushtable.synthesize.histogram_cells import MEAN
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Column
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

FLOOR = 1e-6
"""The share of independence in every table, so that no row of it is empty."""


def groups(column: Column, shares: Floats, most: int) -> Integers:
    """For each cell of a column the group it is in, about ``most`` of them, from the noisy shares of the cells alone.

    Of levels without an order the largest stay alone and the others go together. Otherwise a cell with its part of the mass or
    more stays alone, and neighbours share a group of about equal mass between them; missing values stay alone unless they are
    few, and then go with the last group.
    """
    count = len(shares)
    most = max(most, 2)
    if count <= most:
        return np.arange(count)
    if nominal(column):
        largest = np.argsort(-shares, kind="stable")[: most - 1]
        grouped = np.full(count, most - 1)
        grouped[np.sort(largest)] = np.arange(most - 1)
        return grouped
    valued = count - (not column.required)
    mass = shares[:valued]
    alone = mass >= 1 / most
    light = np.where(alone, 0.0, mass)
    middle = (np.cumsum(light) - light / 2) / max(float(light.sum()), 1e-300)
    wished = np.floor(max(most - int(alone.sum()), 1) * middle)
    starts = (np.diff(wished, prepend=wished[0]) != 0) | alone | np.append(False, alone[:-1])
    starts[0] = False
    grouped = np.cumsum(starts)
    if valued < count:
        grouped = np.append(grouped, grouped[-1] + (shares[-1] >= 1 / (4 * most)))
    return grouped.astype(np.int64)


def group_shares(group: Integers, shares: Floats) -> Floats:
    """The shares of groups of cells, from the group and the share of each cell."""
    return np.asarray(np.bincount(group, shares), np.float64)


def labels(table: Table, classes: str) -> tuple[Integers, int]:
    """The class of each row and how many classes there are; one where no column is named."""
    if not classes:
        return np.zeros(table.rows, np.int64), 1
    return table.cells(classes), histogram_sizes(table.schema, (classes,))[0]


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counts of two columns in a table of groups of their cells, or in one for each class.

    A record lies in one cell of one table: adding or removing one changes one count by 1, replacing one changes two of them.
    """

    additive: ClassVar[bool] = True
    columns: tuple[str, ...]
    groups: tuple[Integers, Integers]
    classes: str = ""
    """A column whose classes have a table each; empty: one for all."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns, and that of the classes."""
        return (*self.columns, self.classes) if self.classes else self.columns

    @property
    def shape(self) -> tuple[int, int]:
        """Groups of each column."""
        return int(self.groups[0].max()) + 1, int(self.groups[1].max()) + 1

    def answer(self, table: Table) -> Integers:
        """Class by class, row-major."""
        one, two = (g[table.cells(name)] for name, g in zip(self.columns, self.groups, strict=True))
        (height, width), (label, count) = self.shape, labels(table, self.classes)
        return np.bincount((label * height + one) * width + two, minlength=count * height * width)

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As that of any histogram."""
        return Histogram(self.columns[:1]).sensitivity(schema, relation)


@dataclass(frozen=True, eq=False)
class _AllPairs:
    """Counts of every two of some columns in a table of groups of their cells, class by class, one table behind the other."""

    additive: ClassVar[bool] = True
    columns: tuple[str, ...]
    groups: tuple[Integers, ...]
    classes: str

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns, and that of the classes."""
        return (*self.columns, self.classes) if self.classes else self.columns

    def answer(self, table: Table) -> Integers:
        """In the order of ``itertools.combinations``."""
        cells = [g[table.cells(name)] for name, g in zip(self.columns, self.groups, strict=True)]
        widths = [int(g.max()) + 1 for g in self.groups]
        label, count = labels(table, self.classes)
        places = combinations(zip(cells, widths, strict=True), 2)
        return np.concatenate(
            [np.bincount((label * h + a) * w + b, minlength=count * h * w) for (a, h), (b, w) in places] or [np.zeros(0, np.int64)]
        )


@dataclass(frozen=True, eq=False)
class Dependences:
    """For each pair of columns, how far the counts of its table lie from expected ones in L1.

    The expected counts are fixed before the rows are asked (whole numbers, from noisy margins). Adding or removing a record changes
    one count of each table by 1, so each of the p distances by at most 1: L1 = p, L2 = sqrt(p). Replacing a record
    changes two counts of each: by at most 2, L1 = 2 p, L2 = 2 sqrt(p).
    With classes there are as many distances as all columns, that of the classes among them, have pairs: the pairs of the others
    take turns, and some are asked for twice or more. So the answer costs the same with classes and without, in any currency.
    """

    columns: tuple[str, ...]
    groups: tuple[Integers, ...]
    expected: tuple[Integers, ...]
    """For each pair, row-major (class by class); in the order of ``itertools.combinations``."""
    classes: str = ""
    """A column given whose classes the pairs are compared; empty: in all rows."""

    @property
    def turns(self) -> Integers:
        """For each number of the answer the pair that it is about."""
        pairs = len(self.expected)
        return np.arange(pairs + (len(self.columns) if self.classes else 0)) % max(pairs, 1)

    def over(self, rows: Rows) -> Integers:
        """One number for each turn."""
        counts = rows.fold(_AllPairs(self.columns, self.groups, self.classes))
        tables = np.split(counts, np.cumsum([len(expected) for expected in self.expected])[:-1])
        distances = [np.abs(own - expected).sum() for own, expected in zip(tables, self.expected, strict=False)]
        return np.array(distances, np.int64)[self.turns]

    def answer(self, table: Table) -> Integers:
        """The same of rows in memory."""
        return self.over(table)

    def largest(self, schema: Schema, rows: int) -> int:
        """All rows where none was expected."""
        return rows + max((int(np.abs(expected).sum()) for expected in self.expected), default=0)

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above."""
        pairs = len(self.turns)
        if relation is Relation.ADD_REMOVE:
            return float(pairs), math.sqrt(pairs), pairs
        return 2.0 * pairs, 2 * math.sqrt(pairs), 0


def independent(one: Floats, two: Floats, total: float) -> Integers:
    """Expected counts of two independent columns, rounded to whole rows."""
    return np.round(total * np.outer(one, two)).astype(np.int64).ravel()


def chance(expected: Integers) -> float:
    """About how far the counts of two independent columns lie from their expected ones in L1, by chance alone."""
    return MEAN * float(np.sqrt(expected).sum())


def shrinkage(noisy: Floats, one: Floats, two: Floats, total: float, noise: float) -> float:
    """The factor for the dependence in noisy counts: the part that neither noise nor chance explains (James and Stein 1961).

    Independent columns whose margins are nearly the given ones have counts of the form x two + one y; what is orthogonal to all
    of those has (rows - 1)(columns - 1) degrees of freedom, filled by noise, by the chance of drawing rows, and by dependence.
    """
    apart = noisy - np.outer(one, one @ noisy) / (one @ one)
    apart = apart - np.outer(apart @ two, two) / (two @ two)
    freedom = (noisy.shape[0] - 1) * (noisy.shape[1] - 1)
    explained = freedom * noise**2 + total * (1 - one @ one) * (1 - two @ two)
    return float(max(0.0, 1 - explained / max(float((apart**2).sum()), 1e-300)))


def checkerboard(noisy: Floats, one: Floats, two: Floats, total: float, noise: float) -> tuple[Floats, float]:
    """The shares of a table with these margins and the dependence of noisy counts; and the factor it was shrunk by.

    The margins of the noisy counts differ from the given ones, which were measured apart; that is no dependence, so it is taken
    around their own margins, and then scaled to the given ones. Divided by the margins it is the density of a copula that is
    constant on rectangles.
    """
    height, width = (on_simplex(noisy.sum(axis), total) for axis in (1, 0))
    own = np.outer(height, width) / total
    factor = shrinkage(noisy, one, two, total, noise)
    counts = on_simplex((own + factor * (noisy - own)).ravel(), total).reshape(noisy.shape)
    return proportional((1 - FLOOR) * counts / total + FLOOR * np.outer(one, two), one, two), factor


def class_checkerboards(noisy: Floats, one: Floats, two: Floats, counts: Floats, noise: float) -> tuple[Floats, float]:
    """A table of shares for each class, and the factor of their common dependence.

    ``noisy`` is classes by groups by groups, ``one`` and ``two`` are the margins in each class, ``counts`` the numbers of records.
    The dependence in all rows given the classes is taken first; each class is drawn to it, as scaled to its own margins, where
    noise and the chance of drawing rows explain the difference.
    """
    total = float(counts.sum())
    shares = counts / total
    common, factor = checkerboard(noisy.sum(0), shares @ one, shares @ two, total, noise * math.sqrt(len(counts)))
    tables = []
    for own, left, right, count in zip(noisy, one, two, counts, strict=True):
        above = proportional(common, left, right)
        apart = own - count * above
        explained = (apart.size - 1) * noise**2 + count * (1 - float((above**2).sum()))
        trust = max(0.0, 1 - explained / max(float((apart**2).sum()), 1e-300))
        mixed = on_simplex((count * above + trust * apart).ravel(), max(float(count), 1.0)).reshape(above.shape)
        mixed = (1 - FLOOR) * mixed / mixed.sum() + FLOOR * np.outer(left, right)
        tables.append(proportional(mixed, left, right))
    return np.stack(tables), factor


def proportional(table: Floats, one: Floats, two: Floats, rounds: int = 500) -> Floats:
    """The table scaled to these margins by rows and columns in turn (Deming and Stephan 1940)."""
    for _ in range(rounds):
        table = table * (one / np.maximum(table.sum(1), 1e-300))[:, None]
        table = table * (two / np.maximum(table.sum(0), 1e-300))
        if np.abs(table.sum(1) - one).max() < 1e-10:
            break
    return table


def spanning_tree(weights: Floats) -> list[tuple[int, int]]:
    """The heaviest tree over all columns, as (parent, child) from the column with the most weight on (Prim 1957)."""
    count = len(weights)
    weights = np.where(np.eye(count, dtype=bool), -np.inf, weights)
    reached = [int(np.argmax(np.where(np.isfinite(weights), weights, 0).sum(1)))]
    edges = []
    while len(reached) < count:
        open_ = weights[reached].copy()
        open_[:, reached] = -np.inf
        parent, child = np.unravel_index(int(np.argmax(open_)), open_.shape)
        edges.append((reached[int(parent)], int(child)))
        reached.append(int(child))
    return edges
