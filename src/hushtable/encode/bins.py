"""Numbers and dates cut into bins, and drawn back from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any, Self

import numpy as np

from hushtable.encode import privtree, quantiles
from hushtable.numerics.cuts import FEW, Cuts, cuts, even_cuts
from hushtable.numerics.places import edges_of, points
from hushtable.numerics.simplex import on_simplex
from hushtable.numerics.tree import Leaves, Tree, weights
from hushtable.pipeline.step import Arrays, Coder, Plan, Reads, check_knobs, chosen
from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.event import Event, Raw
from hushtable.privacy.query import Ranges
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.cell import Interval
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "reads quantiles off the rows to place the bin edges"


class Edges(StrEnum):
    """Where the edges come from."""

    UNIFORM = "uniform"
    TREE = "tree"
    QUANTILE = "quantile"
    DP_QUANTILE = "dp-quantile"
    PRIVTREE = "privtree"


PAID = frozenset({Edges.TREE, Edges.DP_QUANTILE, Edges.PRIVTREE})


@dataclass(frozen=True, kw_only=True)
class Bins(Coder):
    """Cut numbers into bins; undoing draws inside the bin, on the column's own grid.

    One row stays one row (stability 1). ``uniform`` edges follow from the declared domain and cost nothing; ``tree``
    edges are learnt privately, by cutting crowded ranges ever finer on noisy counts, and cost a part of the budget: values
    that many rows share (40 hours a week, a gain of 0) get bins of their own, and inside the others values are drawn
    the way the noisy counts lie. One record lies in one range of each histogram, so a query changes by one (two ranges where
    it is replaced). ``dp-quantile`` edges are chosen privately so that bins hold about equally many rows, and ``privtree`` edges by
    halving crowded ranges; both are known methods to compare with, and the tree is better on spikes. ``quantile`` edges
    are read off the rows, which makes every later epsilon infinite.
    """

    bins: int = 32
    """The most bins of a column (for tree: about so many)."""
    fewest: int = 8
    """The fewest bins a column is cut into when the noise is large (tree and privtree)."""
    edges: Edges = Edges.UNIFORM
    """uniform, tree, dp-quantile or privtree (paid for), or quantile (not private)."""
    columns: tuple[str, ...] = ()
    """The columns to cut; when empty, every real and date, and whole numbers with more than ``bins`` possible values."""
    share: float = 0.5
    """Its part of the budget relative to the other steps', where it pays at all."""

    def __post_init__(self) -> None:
        """At least two bins."""
        check_knobs(
            self,
            bins=(self.bins >= 2, "must be at least 2"),
            fewest=(self.fewest >= 1, "must be at least 1"),
        )

    @property
    def spends(self) -> bool:
        """Edges that follow from the rows."""
        return self.edges in PAID

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no numbers. The bins themselves may not be known before the rows are read."""
        columns = self._columns(schema)
        if not columns:
            return Plan(schema=schema, stability=1, reads=Reads.COUNTS)
        guess = [_binned(schema[name], uniform_edges(schema[name], self.bins)) for name in columns]
        events: tuple[Event, ...] = ()
        if self.edges is Edges.QUANTILE:
            events = (Raw(_WHY),)
        elif self.edges in PAID and budget is not None:
            parts = budget.split(self._weights(schema, columns))
            events = tuple(e for name, part in zip(columns, parts, strict=True) for e in self._events(schema, name, part))
        reads = Reads.BATCHES if self.edges in (Edges.QUANTILE, Edges.PRIVTREE) else Reads.COUNTS
        return Plan(schema=schema.with_columns(*guess), stability=1, events=events, reads=reads)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Binned:
        """Place the edges."""
        columns = self._columns(vault.schema)
        if self.edges is Edges.UNIFORM or not columns:
            edges = {name: uniform_edges(vault.schema[name], self.bins) for name in columns}
        elif self.edges is Edges.QUANTILE:
            rows = vault.open_rows(Raw(_WHY), _WHY)
            edges = {name: _quantile_edges(rows, name, self.bins) for name in columns}
        else:
            parts = vault.paid().split(self._weights(vault.schema, columns))
            inside = {name: self._cuts(vault, name, part) for name, part in zip(columns, parts, strict=True)}
            return Binned.cut(vault.schema, inside)
        return Binned.of(vault.schema, edges)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        # Whole numbers of a small domain can be counted as they are; reals and dates never.
        wide = tuple(c.name for c in schema if c.numeric and (c.kind is not Kind.INTEGER or points(c) > self.bins))
        if not self.columns:
            return wide
        return chosen(schema, self.columns, wide, "bins", "a number or a date", lambda column: column.numeric)

    def _weights(self, schema: Schema, columns: tuple[str, ...]) -> list[float]:
        """A tree pays for each of its rounds; the other ways cost every column the same."""
        return [sum(weights(points(schema[name]))) if self.edges is Edges.TREE else 1.0 for name in columns]

    def _events(self, schema: Schema, name: str, part: Allowance) -> list[Event]:
        count = Ranges(name, (0.0, 1.0))
        if self.edges is Edges.DP_QUANTILE:
            return quantiles.events(part, self.bins)
        if self.edges is Edges.PRIVTREE:
            shape, counts = part.split([1.0, 1.0])
            return [privtree.grown(shape), counts.event(count, schema)]
        return [each.event(count, schema) for each in part.split(weights(points(schema[name])))]

    def _cuts(self, vault: Vault, name: str, part: Allowance) -> Cuts:
        column = vault.schema[name]
        if self.edges is Edges.DP_QUANTILE:
            edges = quantiles.quantile_places(vault, name, points(column), part, self.bins)
            return Cuts(edges, edges, np.ones(len(edges) - 1))
        if self.edges is Edges.PRIVTREE:
            return self._privtree(vault, name, part)
        return self._tree(vault, name, part)

    def _privtree(self, vault: Vault, name: str, part: Allowance) -> Cuts:
        """Half for the shape of the tree, half for the counts of its leaves, from which the bins are cut."""
        column = vault.schema[name]
        shape, counted = part.split([1.0, 1.0])
        edges = privtree.privtree_places(vault, name, points(column), shape)
        query = Ranges(name, tuple(edges_of(column, edges)))
        counts = vault.spend(query, counted)[:-1].astype(np.float64)
        mass, deviation = on_simplex(counts, max(float(counts.sum()), 0.0)), counted.deviation(query, vault.schema)
        most = self._most(float(counts.sum()), deviation)
        if not mass.sum() > 0:
            return even_cuts(points(column), most)
        return cuts(Leaves(edges, mass, np.full(len(mass), deviation**2)), self.bins, most)

    def _tree(self, vault: Vault, name: str, allowance: Allowance) -> Cuts:
        """Cut what is crowded, one noisy histogram of disjoint ranges after the other."""
        column = vault.schema[name]
        tree = Tree(points(column), heavy=allowance.noise is Noise.LAPLACE)
        each = allowance.split(weights(tree.points))
        most = self.fewest
        for number, paid in enumerate(each, 1):
            query = Ranges(name, tuple(edges_of(column, tree.edges())))
            counts, deviation = vault.spend(query, paid)[:-1], paid.deviation(query, vault.schema)
            tree.learn(counts, deviation**2)
            if number == 1:
                most = self._most(float(counts.sum()), deviation)
            if number < len(each):
                tree.cut(least=float(counts.clip(0).sum()) / (FEW * self.bins))
        leaves = tree.leaves()
        return cuts(leaves, self.bins, most) if leaves.mass.sum() > 0 else even_cuts(tree.points, most)

    def _most(self, rows: float, deviation: float) -> int:
        """How many bins so many noisy rows are worth: later steps count the bins, and pairs of them, under noise as well."""
        return min(self.bins, max(self.fewest, round(math.sqrt(max(rows, 0.0) / deviation))))


@dataclass(frozen=True, eq=False)
class Binned:
    """The fitted coder: edges per column, and where noisy counts are known, how values lie inside the bins."""

    original: Schema
    schema: Schema
    edges: dict[str, Floats] = field(default_factory=dict)
    inside: dict[str, Cuts] = field(default_factory=dict)
    stability: int = 1

    @classmethod
    def of(cls, schema: Schema, edges: dict[str, Floats]) -> Self:
        """Bins with these edges."""
        binned = [_binned(schema[name], cuts) for name, cuts in edges.items()]
        return cls(schema, schema.with_columns(*binned), edges)

    @classmethod
    def cut(cls, schema: Schema, inside: dict[str, Cuts]) -> Self:
        """Bins cut from noisy counts."""
        return replace(cls.of(schema, {name: edges_of(schema[name], c.edges) for name, c in inside.items()}), inside=inside)

    @property
    def cellwise(self) -> tuple[str, ...]:
        """The columns that are cut."""
        return tuple(self.edges)

    def apply(self, table: Table) -> Table:
        """Numbers to bins."""
        coded = []
        for name, edges in self.edges.items():
            if name not in table.schema:
                continue  # the rows of any columns may be asked for
            values = table.floats(name)
            codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
            coded.append((self.schema[name], np.where(np.isnan(values), -1, codes).astype(np.int32)))
        return table.with_columns(*coded)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """Bins to numbers: a piece of the bin by its mass, if there are pieces, and uniform inside (falling in a tail)."""
        drawn = []
        for name, edges in self.edges.items():
            if name not in table.schema:
                continue  # a core may release some of the columns only
            column, codes = self.original[name], table[name]
            known = codes >= 0
            places = np.where(known, codes, 0).astype(np.int64)
            if name in self.inside:
                places = self.inside[name].draw(places, rng)
                edges = edges_of(column, self.inside[name].pieces)
                within = self.inside[name].within(places, rng)
            else:
                within = rng.random(len(places))
            drawn.append((column, self._draw(column, edges, places, known, within)))
        return table.with_columns(*drawn)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The original columns, and the edges of each; or the cuts, from which the edges follow."""
        values = {"schema": self.original.portable().dump(), "columns": list(self.edges), "inside": bool(self.inside)}
        if not self.inside:
            return values, {f"{name}: edges": edges for name, edges in self.edges.items()}
        arrays = {f"{name}: {f.name}": getattr(cuts, f.name) for name, cuts in self.inside.items() for f in fields(Cuts)}
        return values, {name: array for name, array in arrays.items() if array is not None}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema, columns = Schema.parse(values["schema"]), values["columns"]
        if not values["inside"]:
            return cls.of(schema, {name: arrays[f"{name}: edges"] for name in columns})
        inside = {}
        for name in columns:
            edges, pieces, mass = (arrays[f"{name}: {part}"] for part in ("edges", "pieces", "mass"))
            inside[name] = Cuts(edges, pieces, mass, arrays.get(f"{name}: scale"))
        return cls.cut(schema, inside)

    def _draw(self, column: Column, edges: Floats, places: Integers, known: Mask, within: Floats) -> Array:
        step = column.step
        if step is None:
            values = edges[places] + within * (edges[places + 1] - edges[places])
        else:
            first = np.ceil(edges[:-1] / step)
            count = np.maximum(np.ceil(edges[1:] / step) - first, 1)
            values = (first[places] + np.floor(within * count[places])) * step
        return column.from_floats(np.where(known, values, np.nan))


def uniform_edges(column: Column, bins: int) -> Floats:
    """Equal bins over the domain; on a grid the edges lie halfway between grid points, so that rounding cannot move a value."""
    bounds = column.bounds
    if column.step is None:
        if bounds.high > bounds.low:
            return np.linspace(bounds.low, bounds.high, bins + 1)
        return np.array([bounds.low, bounds.low + 1])
    points = round((bounds.high - bounds.low) / column.step) + 1
    cuts = np.unique(np.round(np.linspace(0.0, float(points), min(bins, points) + 1)))
    return bounds.low + column.step * (cuts - 0.5)


def _binned(column: Column, edges: Floats) -> Column:
    """The column of bins: an ordinal whose levels are the intervals, as public as the edges are."""
    last = len(edges) - 2
    open_high = column.step is not None
    spans = [Interval(a, b, False, open_high or i < last) for i, (a, b) in enumerate(pairwise(edges))]
    levels = tuple(column.interval_cell(span).text for span in spans)
    domain = Levels(_distinct(levels), observed=column.observed)
    return replace(column, kind=Kind.ORDINAL, domain=domain, hierarchy=None, decimals=None, format=None)


def _distinct(levels: tuple[str, ...]) -> tuple[str, ...]:
    """Levels, numbered where rounding has given two of them the same text."""
    return levels if len(set(levels)) == len(levels) else tuple(f"{i}: {level}" for i, level in enumerate(levels))


def _quantile_edges(rows: Rows, name: str, bins: int) -> Floats:
    column = rows.schema[name]
    middle = rows.quantiles(name, np.linspace(0, 1, bins + 1)[1:-1])
    middle = middle[~np.isnan(middle)]
    ends = uniform_edges(column, 2)[[0, -1]]
    if column.step is None:
        return np.unique(np.clip(np.concatenate([ends, middle]), ends[0], ends[1]))
    # In places of the grid, where equal edges are equal: a bin between two roundings of one edge would hold nothing.
    places = np.round((middle - column.bounds.low) / column.step)
    # A value that is several quantiles is a spike: it gets a bin of its own.
    spikes = places[1:][np.diff(places) == 0] + 1
    last = round((column.bounds.high - column.bounds.low) / column.step) + 1
    cuts = np.unique(np.clip(np.concatenate([[0, last], places, spikes]), 0, last))
    return column.bounds.low + column.step * (cuts - 0.5)
