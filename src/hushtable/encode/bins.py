"""Numbers and dates cut into bins, and drawn back from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hushtable.pipeline.step import Coder, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Raw
from hushtable.privacy.query import Ranges
from hushtable.privacy.vault import Vault
from hushtable.table.cell import Interval
from hushtable.table.columns import Array, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "reads quantiles off the rows to place the bin edges"
FANOUT = 4
"""Into how many parts a crowded range is cut."""


class Edges(StrEnum):
    """Where the edges come from."""

    UNIFORM = "uniform"
    TREE = "tree"
    QUANTILE = "quantile"


@dataclass(frozen=True, kw_only=True)
class Bins(Coder):
    """Cut numbers into bins; undoing draws uniformly inside the bin, on the column's own grid.

    One row stays one row (stability 1). ``uniform`` edges follow from the declared domain and cost nothing; ``tree``
    edges are found privately, by cutting crowded ranges ever finer on noisy counts, and cost a part of the budget;
    ``quantile`` edges are read off the rows, which makes every later epsilon infinite.
    """

    bins: int = 32
    """The most bins of a column (for tree: about so many)."""
    edges: Edges = Edges.UNIFORM
    """uniform, tree (paid for) or quantile (not private)."""
    columns: tuple[str, ...] = ()
    """The columns to cut; when empty, every number and date with more than ``bins`` possible values."""
    share: float = 0.5
    """Its part of the budget relative to the other steps', where it pays at all."""

    def __post_init__(self) -> None:
        """At least two bins."""
        check_knobs(self, bins=(self.bins >= 2, "must be at least 2"), share=(self.share > 0, "must be positive"))

    @property
    def spends(self) -> bool:
        """Only the tree pays."""
        return self.edges is Edges.TREE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no numbers. The bins themselves may not be known before the rows are read."""
        columns = self._columns(schema)
        if not columns:
            return Plan(schema=schema, stability=1)
        guess = [_binned(schema[name], uniform_edges(schema[name], self.bins)) for name in columns]
        events: tuple[Event, ...] = ()
        if self.edges is Edges.QUANTILE:
            events = (Raw(_WHY),)
        elif self.edges is Edges.TREE and budget is not None:
            events = self._tree_events(schema, columns, budget)
        return Plan(schema=schema.with_columns(*guess), stability=1, events=events)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Binned:
        """Place the edges."""
        columns = self._columns(vault.schema)
        if self.edges is Edges.UNIFORM or not columns:
            edges = {name: uniform_edges(vault.schema[name], self.bins) for name in columns}
        elif self.edges is Edges.QUANTILE:
            table = vault.open(Raw(_WHY), _WHY)
            edges = {name: _quantile_edges(table, name, self.bins) for name in columns}
        else:
            parts = vault.paid().split([1.0] * len(columns))
            edges = {name: self._tree_edges(vault, name, part) for name, part in zip(columns, parts, strict=True)}
        return Binned.of(vault.schema, edges)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        wide = tuple(c.name for c in schema if c.numeric and _values(c) > self.bins)
        if not self.columns:
            return wide
        return chosen(schema, self.columns, wide, "bins", "a number or a date", lambda column: column.numeric)

    def _depth(self, column: Column) -> int:
        """How often a range may be cut: until the grid is reached, at most eight times."""
        return int(min(8, max(1, np.ceil(np.log(min(_values(column), 1e9)) / np.log(FANOUT)))))

    def _tree_events(self, schema: Schema, columns: tuple[str, ...], budget: Allowance) -> tuple[Event, ...]:
        events = []
        for name, part in zip(columns, budget.split([1.0] * len(columns)), strict=True):
            depth = self._depth(schema[name])
            query = Ranges(name, (0.0, 1.0))
            events += [level.event(query, schema) for level in part.split([1.0] * depth)]
        return tuple(events)

    def _tree_edges(self, vault: Vault, name: str, allowance: Allowance) -> NDArray[np.float64]:
        """Cut what looks crowded, level by level; each level is one noisy histogram of disjoint ranges."""
        column = vault.schema[name]
        edges = uniform_edges(column, FANOUT)
        depth = self._depth(column)
        for level in allowance.split([1.0] * depth):
            query = Ranges(name, tuple(edges))
            counts = vault.spend(query, level)[:-1]
            noise = level.scale(query, vault.schema)
            crowded = counts > max(4 * noise, counts.clip(0).sum() / self.bins)
            edges = _cut(column, edges, crowded)
        return edges


@dataclass(frozen=True, eq=False)
class Binned:
    """The fitted coder: edges per column."""

    original: Schema
    schema: Schema
    edges: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    stability: int = 1

    @classmethod
    def of(cls, schema: Schema, edges: dict[str, NDArray[np.float64]]) -> Binned:
        """Bins with these edges."""
        binned = [_binned(schema[name], cuts) for name, cuts in edges.items()]
        return cls(schema, schema.with_columns(*binned), edges)

    def apply(self, table: Table) -> Table:
        """Numbers to bins."""
        coded = []
        for name, edges in self.edges.items():
            values = table.floats(name)
            codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
            coded.append((self.schema[name], np.where(np.isnan(values), -1, codes).astype(np.int32)))
        return table.with_columns(*coded)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """Bins to numbers, uniform inside the bin."""
        drawn = [(self.original[name], self._draw(self.original[name], e, table[name], rng)) for name, e in self.edges.items()]
        return table.with_columns(*drawn)

    def _draw(self, column: Column, edges: NDArray[np.float64], codes: Array, rng: np.random.Generator) -> Array:
        known = codes >= 0
        places = np.where(known, codes, 0).astype(np.int64)
        step = column.step
        if step is None:
            values = edges[places] + rng.random(len(places)) * (edges[places + 1] - edges[places])
        else:
            first = np.ceil(edges[:-1] / step)
            count = np.maximum(np.ceil(edges[1:] / step) - first, 1)
            values = (first[places] + np.floor(rng.random(len(places)) * count[places])) * step
        return column.from_floats(np.where(known, values, np.nan))


def uniform_edges(column: Column, bins: int) -> NDArray[np.float64]:
    """Equal bins over the domain; on a grid the edges lie halfway between grid points, so that rounding cannot move a value."""
    bounds = column.bounds
    if column.step is None:
        return (
            np.linspace(bounds.low, bounds.high, bins + 1) if bounds.high > bounds.low else np.array([bounds.low, bounds.low + 1])
        )
    points = round((bounds.high - bounds.low) / column.step) + 1
    cuts = np.unique(np.round(np.linspace(0, points, min(bins, points) + 1)))
    return bounds.low + column.step * (cuts - 0.5)


def _values(column: Column) -> float:
    """How many values the domain allows."""
    return np.inf if column.step is None else (column.bounds.high - column.bounds.low) / column.step + 1


def _binned(column: Column, edges: NDArray[np.float64]) -> Column:
    """The column of bins: an ordinal whose levels are the intervals, as public as the edges are."""
    last = len(edges) - 2
    open_high = column.step is not None
    spans = [Interval(a, b, False, open_high or i < last) for i, (a, b) in enumerate(pairwise(edges))]
    levels = tuple(column.interval_cell(span).text for span in spans)
    domain = Levels(_distinct(levels), observed=column.observed)
    return replace(column, kind=Kind.ORDINAL, domain=domain, hierarchy=None, decimals=None, format=None)


def _distinct(levels: tuple[str, ...]) -> tuple[str, ...]:
    """Levels with a number where rounding has made two of them look alike."""
    return levels if len(set(levels)) == len(levels) else tuple(f"{i}: {level}" for i, level in enumerate(levels))


def _cut(column: Column, edges: NDArray[np.float64], crowded: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Each crowded range in ``FANOUT`` parts, where the grid still allows it."""
    finer = [edges]
    for low, high in zip(edges[:-1][crowded], edges[1:][crowded], strict=True):
        inner = np.linspace(low, high, FANOUT + 1)[1:-1]
        if column.step is not None:
            inner = column.bounds.low + (np.round((inner - column.bounds.low) / column.step + 0.5) - 0.5) * column.step
        finer.append(inner[(inner > low) & (inner < high)])
    return np.unique(np.concatenate(finer))


def _quantile_edges(table: Table, name: str, bins: int) -> NDArray[np.float64]:
    column = table.schema[name]
    inner = table.quantiles(name, np.linspace(0, 1, bins + 1)[1:-1]) - (column.step or 0.0) / 2
    ends = uniform_edges(column, 2)[[0, -1]]
    return np.unique(np.concatenate([ends, inner[~np.isnan(inner)]]))
