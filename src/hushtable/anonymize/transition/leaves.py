"""The values under a generalized one, by the raw rows: a statistic, a density, or noisy counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.anonymize.transition.cover import Cover, Pools
from hushtable.anonymize.transition.ranges import evenly, members, middles, reflect, spans, stretch
from hushtable.encode.bins import uniform_edges
from hushtable.privacy.query import Histogram, Query, Ranges
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import Cells, Column, Kind
from hushtable.table.table import Table


def statistics(table: Table, name: str, raw: Table, statistic: str) -> Array:
    """For each row the mode, median or mean of all raw values that its generalized value covers.

    Categories take the mode in any case, and ordinals the median where the mean is asked for.
    """
    column, source = table.schema[name], raw.schema[name]
    cover = Cover.of(column, table[name], source, raw[name])
    codes = np.unique(table[name]).astype(np.int64)
    values = middles(column)[codes]
    for number in np.flatnonzero(codes >= 0).tolist():
        under = raw[name][cover.rows(number)]
        present = np.sort(under[~source.is_missing(under)])
        if len(present):
            values[number] = _statistic(source, present, statistic)
    return values[cover.codes]


def _statistic(column: Column, ordered: Array, statistic: str) -> Any:
    if statistic == "mode" or column.kind is Kind.CATEGORY:
        distinct, counts = np.unique(ordered, return_counts=True)
        return distinct[counts.argmax()]
    if statistic == "median" or column.kind is Kind.ORDINAL:
        return ordered[(len(ordered) - 1) // 2]
    return column.from_floats(np.array([ordered.astype(np.float64).mean()]))[0]


def bandwidths(pools: Pools, raw: Table, name: str) -> Floats:
    """For each class Silverman's width of a Gaussian kernel: 0.9 min(s, IQR / 1.34) n^(-1/5), zero where all are equal.

    B. Silverman, Density estimation for statistics and data analysis, 1986, (3.31).
    """
    values, owner = raw.floats(name)[pools.flat], pools.owner
    owner, values = owner[~np.isnan(values)], values[~np.isnan(values)]
    count = len(pools.sizes)
    sizes = np.bincount(owner, minlength=count)
    some = np.maximum(sizes, 1)
    means = np.bincount(owner, values, minlength=count) / some
    spread = np.sqrt(np.bincount(owner, (values - means[owner]) ** 2, minlength=count) / np.maximum(sizes - 1, 1))
    ordered = np.append(values[np.lexsort((values, owner))], 0.0)
    starts = np.cumsum(sizes) - sizes
    low, high = (ordered[starts + np.floor(share * np.maximum(sizes - 1, 0)).astype(np.int64)] for share in (0.25, 0.75))
    # Half of the values may be equal: then the quartiles say nothing, and the deviation has to do.
    width = np.where(high > low, np.minimum(spread, (high - low) / 1.34), spread)
    return np.asarray(0.9 * width * some**-0.2, dtype=np.float64)


def smoothed(column: Column, codes: Array, raw: Column, values: Array, widths: Floats, rng: np.random.Generator) -> Array:
    """Raw values moved by a Gaussian kernel of each row's width, folded back into its cell."""
    at = codes.astype(np.int64)
    left, right = stretch(column, *spans(column))
    moved = reflect(raw.floats(values) + widths * rng.standard_normal(len(values)), left[at], right[at])
    low, high = spans(column)
    return raw.from_floats(np.clip(moved, low[at], high[at]))


@dataclass(frozen=True, eq=False)
class NoisyLeaves:
    """The values of one column in public cells: its levels, or at most ``count`` equal ranges of its declared bounds."""

    column: Column
    """As it is in the raw rows."""
    count: int

    @property
    def edges(self) -> Floats:
        """Of the ranges, from the declared bounds alone."""
        return uniform_edges(self.column, self.count)

    @property
    def query(self) -> Query:
        """How many rows each has, missing last: one row changes one count by one."""
        return Ranges(self.column.name, tuple(self.edges)) if self.column.numeric else Histogram((self.column.name,))

    def draw(self, released: Column, codes: Array, counts: Integers, rng: np.random.Generator) -> Array:
        """For each row a value from under its cell, as often as the noisy counts say; evenly where they say nothing.

        What noise has made negative counts as nothing. Under ``*`` a missing value is one of the outcomes.
        """
        assert isinstance(released.domain, Cells)
        values = evenly(released, codes, rng)
        weights = np.maximum(counts, 0).astype(np.float64)
        for code in np.unique(codes[codes >= 0]).tolist():
            mine = np.flatnonzero(codes == code)
            shares = np.append(self._under(released, code, weights), 0.0)
            if released.domain.cells[code].anything and not self.column.required:
                shares[-1] = weights[-1]
            if shares.sum() > 0:
                leaf = rng.choice(len(shares), len(mine), p=shares / shares.sum())
                values[mine] = self._values(released, code, leaf, rng)
        return values

    def _under(self, released: Column, code: int, weights: Floats) -> Floats:
        """The weight of each leaf under a cell; a range that a cell cuts counts with the part inside."""
        if not self.column.numeric:
            flat, starts, sizes = members(released)
            under = np.zeros(len(self.column.levels))
            mine = flat[starts[code] : starts[code] + sizes[code]]
            under[mine] = weights[mine]
            return under
        left, right = self._cut(released, code)
        widths = np.diff(self.edges)
        return np.asarray(weights[: len(widths)] * np.maximum(right - left, 0.0) / widths)

    def _cut(self, released: Column, code: int) -> tuple[Floats, Floats]:
        """Each range, cut to a cell."""
        low, high = (ends[code] for ends in stretch(released, *spans(released)))
        return np.maximum(self.edges[:-1], low), np.minimum(self.edges[1:], high)

    def _values(self, released: Column, code: int, leaf: Integers, rng: np.random.Generator) -> Array:
        if not self.column.numeric:
            return np.where(leaf == len(self.column.levels), -1, leaf).astype(np.int32)
        left, right = (np.append(ends, np.nan) for ends in self._cut(released, code))
        return self.column.from_floats(left[leaf] + rng.random(len(leaf)) * (right - left)[leaf])
