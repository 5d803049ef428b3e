"""Numbers and dates as normal scores: where a value stands among all values, as a standard Gaussian would have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtr, ndtri

from hushtable.encode.beside import numbers, rewritten
from hushtable.encode.cells import runs
from hushtable.pipeline.step import Arrays, Coder, Plan, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "reads the rows to rank their numbers"
FARTHEST = 4.0
"""Scores lie between minus this and this: one value of 30,000 is expected beyond."""


@dataclass(frozen=True, kw_only=True)
class Ranks(Coder):
    """Write a number or date as a normal score: its quantile among the rows, at the place where a standard Gaussian has it.

    Values that at least ``least`` rows share (40 hours a week, a gain of 0) keep one score, in the middle of their quantiles, and
    all scores that fall between those quantiles lead back to them. All others are pooled with their neighbours until ``least`` rows
    are together, and a score leads back to a place between the ends of such a pool, none of which is copied from one row. The
    result is on the column's grid and inside its bounds; what is missing stays so. One row stays one row (stability 1). The
    quantiles are read off the rows, which makes every later epsilon infinite.
    """

    least: int = 10
    """Values are kept, or pooled, so that so many rows share what is written down of them."""
    columns: tuple[str, ...] = ()
    """The columns to write so; when empty, every number and date."""

    def __post_init__(self) -> None:
        """At least one row."""
        check_knobs(self, least=(self.least >= 1, "must be at least 1"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no numbers."""
        columns = self._columns(schema)
        if not columns:
            return Plan(schema=schema, stability=1)
        return Plan(schema=_scored(schema, columns), events=(Raw(_WHY),), stability=1)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Ranked:
        """Find the quantiles of every column; ``rng`` is not used."""
        columns = self._columns(vault.schema)
        if not columns:
            return Ranked(vault.schema, {})
        table = vault.open(Raw(_WHY), _WHY)
        return Ranked(table.schema, {name: Pools.of(table.schema[name], table.floats(name), self.least) for name in columns})

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        return numbers(schema, self.columns, "ranks")


@dataclass(frozen=True, eq=False)
class Pools:
    """Ranges of a column, one after another: single values that many rows share, and pools of others."""

    low: Floats
    high: Floats
    """Equal to ``low`` for a single value."""
    below: Floats
    """The share of the rows below each range; that below the next one is where it ends."""

    @classmethod
    def of(cls, column: Column, values: Floats, least: int) -> Self:
        """Of a column, in which missing values are NaN."""
        points, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        if not len(points):
            # A column without a value has one range, which no row has.
            return cls(np.array([float(column.bounds.low)]), np.array([float(column.bounds.low)]), np.zeros(1))
        if counts.sum() < least:
            margin = max(1.0, float(points[-1] - points[0]))
            return cls(points[:1] - margin, points[-1:] + margin, np.zeros(1))
        starts, shared = _divided(counts, least)
        ends = np.append(starts[1:], len(points)) - 1
        rows = np.add.reduceat(counts, np.append(0, starts[1:]))
        means = np.add.reduceat(points * counts, starts) / np.add.reduceat(counts, starts)
        # Neighbouring pools meet halfway; a pool reaches to a shared value beside it; at the ends, as far beyond the mean.
        between = np.where(shared[1:], points[starts[1:]], (points[ends[:-1]] + points[starts[1:]]) / 2)
        between = np.where(shared[:-1] & ~shared[1:], points[ends[:-1]], between)
        first = 2 * means[0] - (between[0] if len(between) else points[ends[0]])
        last = 2 * means[-1] - (between[-1] if len(between) else points[starts[-1]])
        if (step := column.step) is not None:
            # On the grid: what is rounded to it does not leave the pool.
            first, last = step * np.floor(first / step + 1e-9), step * np.ceil(last / step - 1e-9)
        low = np.where(shared, points[starts], np.append(max(first, float(column.bounds.low)), between))
        high = np.where(shared, points[starts], np.append(between, min(last, float(column.bounds.high))))
        return cls(low, high, (np.cumsum(rows) - rows) / rows.sum())

    def scores(self, values: Floats) -> Floats:
        """Of values; NaN stays NaN."""
        at = (np.searchsorted(self.low, values, side="right") - 1).clip(0, len(self.low) - 1)
        # A pool may begin at a shared value, which is not one of the pool's.
        before = np.maximum(at - 1, 0)
        at = np.where((self.low[before] == values) & (self.high[before] == values), before, at)
        width = self.high[at] - self.low[at]
        within = np.where(width > 0, (values - self.low[at]) / np.where(width > 0, width, 1.0), 0.5).clip(0, 1)
        share = self.below[at] + within * (np.append(self.below[1:], 1.0)[at] - self.below[at])
        return np.where(np.isnan(values), np.nan, ndtri(share).clip(-FARTHEST, FARTHEST))

    def values(self, scores: Floats) -> Floats:
        """The way back; NaN stays NaN."""
        share = ndtr(scores)
        at = np.searchsorted(self.below, share, side="right") - 1
        wide = np.append(self.below[1:], 1.0)[at] - self.below[at]
        return self.low[at] + ((share - self.below[at]) / wide).clip(0, 1) * (self.high[at] - self.low[at])


@dataclass(frozen=True, eq=False)
class Ranked:
    """The fitted coder: the ranges of each column."""

    original: Schema
    pools: dict[str, Pools]
    stability: int = 1

    @property
    def schema(self) -> Schema:
        """With scores in place of these columns."""
        return _scored(self.original, tuple(self.pools))

    def apply(self, table: Table) -> Table:
        """Numbers to scores."""
        schema = self.schema
        return table.with_columns(*((schema[name], pools.scores(table.floats(name))) for name, pools in self.pools.items()))

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """Scores to numbers, on the column's grid and inside its bounds; ``rng`` is not used."""
        there = ((self.original[name], pools) for name, pools in self.pools.items() if name in table.schema)
        return table.with_columns(*((c, c.from_floats(pools.values(table.floats(c.name)))) for c, pools in there))

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The original columns, and the ranges of each."""
        arrays: Arrays = {}
        for name, pools in self.pools.items():
            arrays |= {f"{name}: low": pools.low, f"{name}: high": pools.high, f"{name}: below": pools.below}
        return {"schema": self.original.portable().dump(), "columns": list(self.pools)}, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        pools = {str(n): Pools(*(arrays[f"{n}: {part}"] for part in ("low", "high", "below"))) for n in values["columns"]}
        return cls(Schema.parse(values["schema"]), pools)


def _scored(schema: Schema, columns: tuple[str, ...]) -> Schema:
    """The schema with scores in place of these columns."""
    bounds = {name: Bounds(-FARTHEST, FARTHEST, schema[name].observed) for name in columns}
    return schema.with_columns(*(rewritten(schema[name], Kind.REAL, ends) for name, ends in bounds.items()))


def _divided(counts: Integers, least: int) -> tuple[Integers, Mask]:
    """Where ranges of neighbouring points begin, and which are a single point that so many rows share.

    Between two shared points there may be a range of fewer rows, which says no more than that something lies there. Fewer rows
    beyond the outermost shared points have no range: they count as those.
    """
    heavy = counts >= least
    stretches = np.split(np.arange(len(counts)), np.flatnonzero(np.diff(heavy)) + 1)
    starts = list[Integers]()
    for number, points in enumerate(stretches):
        if heavy[points[0]]:
            starts.append(points)
        elif counts[points].sum() >= least or 0 < number < len(stretches) - 1:
            starts.append(points[0] + runs(counts[points], least))
    every = np.concatenate(starts)
    return every, heavy[every]
