"""A Bayesian network under construction: nodes from noisy tables, and parents added to them by further tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hushtable.numerics.simplex import on_simplex
from hushtable.synthesize.histogram_cells import MEAN
from hushtable.synthesize.marginal.measurement import Measurement, combined
from hushtable.synthesize.marginal.score import MarginalScores
from hushtable.synthesize.network.scores import Pair
from hushtable.synthesize.network.tables import Node, raked, shrunk
from hushtable.table.arrays import Floats, Integers

FEWEST, MOST = 1 << 12, 1 << 16
"""How many rows are drawn from the network so far, to count the joint cells of parents in: four times the noisy total."""
JOINT = 1 << 18
"""The most cells of a column and all its parents, those of further tables included."""
FITS = 20
"""How often the tables of a column are fitted in turn."""


@dataclass(eq=False)
class Grown:
    """A network under construction: released tables, the nodes estimated from them, and rows drawn from those. No private row."""

    sizes: Mapping[str, int]
    top: tuple[str, ...]
    base: dict[str, Measurement]
    """For each column its first table: with the target, or alone."""
    shares: dict[str, Floats]
    """Of each column, for each cell of the target."""
    total: float
    nodes: list[Node]
    pool: dict[str, Integers]

    @classmethod
    def of(
        cls, tables: list[Measurement], sizes: Mapping[str, int], top: tuple[str, ...], total: float, rng: np.random.Generator
    ) -> Grown:
        """From the first tables, which share the target as their first axis if there is one, and the number of rows."""
        precision = np.array([1 / (t.counts.shape[-1] * t.sigma**2) for t in tables])
        sums = np.array([t.counts.reshape(-1, t.counts.shape[-1]).sum(1) for t in tables])
        margin = on_simplex(precision @ sums / precision.sum(), total)
        shares = {}
        for table in tables:
            counts = table.counts.reshape(len(margin), -1)
            whole = on_simplex(counts.sum(0), total) / total
            shares[table.columns[-1]] = shrunk(counts, table.sigma, margin, whole) if top else whole[None, :]
        grown = cls(sizes, top, {t.columns[-1]: t for t in tables}, shares, total, [], {})
        for name in top:
            grown._grow(Node(name, (), (), margin[None, :] / total), rng)
        return grown

    @property
    def drawn(self) -> int:
        """How many rows the pool has."""
        return int(np.clip(4 * self.total, FEWEST, MOST))

    def parent_counts(self, parents: tuple[str, ...]) -> Floats:
        """How many rows each joint cell of some parents has; one axis each."""
        shape = tuple(self.sizes[name] for name in parents)
        at = Node("", parents, shape, np.empty(0)).place(self.pool, self.drawn)
        counts = np.bincount(at, minlength=math.prod(shape)).astype(np.float64)
        return counts.reshape(shape) * (self.total / self.drawn)

    def expected(self, child: str, parent_counts: Floats) -> Floats:
        """Counts of the parents' joint cells and the child, if the child depended on the target alone; one axis each."""
        shares = self.shares[child]
        return (parent_counts.reshape(len(shares), -1, 1) * shares[:, None, :]).reshape(*parent_counts.shape, -1)

    def scores(self, pairs: tuple[Pair, ...], sigma: float) -> MarginalScores:
        """How far the rows are from what is expected for each pair, less the noise its table would have."""
        counts = {parents: self.parent_counts(parents) for parents in dict.fromkeys(parents for _, parents in pairs)}
        models = [self.expected(child, counts[parents]) for child, parents in pairs]
        candidates = tuple((*parents, child) for child, parents in pairs)
        return MarginalScores(candidates, models, bias=[MEAN * sigma * model.size for model in models])

    def add(self, child: str, parents: tuple[str, ...], table: Measurement | None, rng: np.random.Generator) -> None:
        """A node for the child, from its table with the parents if there is one, else from its first table."""
        sizes = tuple(self.sizes[name] for name in parents)
        if table is None:
            shares = self.shares[child]
        elif parents == self.top:
            both = combined([self.base[child], table], {name: i for i, name in enumerate((*parents, child))})[0]
            expected = self.expected(child, self.parent_counts(parents)).reshape(-1, self.sizes[child])
            counts = both.counts.reshape(expected.shape)
            whole = on_simplex(counts.sum(0), self.total) / self.total
            shares = shrunk(counts, both.sigma, expected.sum(1), whole) if self.top else whole[None, :]
        else:
            expected = self.expected(child, self.parent_counts(parents)).reshape(-1, self.sizes[child])
            rows = expected.sum(1)
            prior = expected / np.maximum(rows, 1e-300)[:, None]
            shares = shrunk(table.counts.reshape(expected.shape), table.sigma, rows, prior)
            shares = raked(shares, rows, self.shares[child])
        self._grow(Node(child, parents, sizes, shares), rng)

    def _grow(self, node: Node, rng: np.random.Generator) -> None:
        self.nodes.append(node)
        self.pool[node.name] = node.draw(self.pool, self.drawn, rng)

    def open_pairs(self, cells: int) -> tuple[Pair, ...]:
        """Every column with the target and one that was there before it and is no parent yet, as far as their tables fit."""
        pairs: list[Pair] = []
        for place, node in enumerate(self.nodes):
            held = node.shares.size
            for before in self.nodes[:place]:
                size = self.sizes[before.name]
                table = size * self.sizes[node.name] * math.prod(self.sizes[name] for name in self.top)
                new = before.name not in (*self.top, *node.parents) and node.name not in self.top
                if new and table <= cells and held * size <= JOINT:
                    pairs.append((node.name, (*self.top, before.name)))
        return tuple(pairs)

    def errors(self, pairs: tuple[Pair, ...], sigma: float) -> MarginalScores:
        """How far the rows are from the network for each pair, less the noise its table would have and that of the drawn rows."""
        candidates = tuple((*parents, child) for child, parents in pairs)
        models = [self.parent_counts(columns) for columns in candidates]
        chance = self.total / self.drawn
        bias = [MEAN * (sigma * model.size + float(np.sqrt(model * chance).sum())) for model in models]
        return MarginalScores(candidates, models, bias=bias)

    def extend(self, table: Measurement) -> None:
        """Add the last but one column of a table to the parents of its last.

        The shares of the child are those that agree with its shares given the parents so far and with the table, and are
        otherwise as near to independence as can be (iterative proportional fitting, Deming and Stephan 1940); the table is first
        drawn towards what the network expects. All of it is post-processing of released tables.
        """
        *_, extra, child = table.columns
        place = next(i for i, node in enumerate(self.nodes) if node.name == child)
        node, size = self.nodes[place], self.sizes[child]
        if extra in node.parents:
            return
        parents = (*node.parents, extra)
        rows = self.parent_counts(parents).reshape(len(node.shares), self.sizes[extra])
        start = rows[:, :, None] * node.shares[:, None, :]
        top = len(self.shares[child])
        expected = start.reshape(top, -1, self.sizes[extra], size).sum(1).reshape(-1, size)
        known = expected.sum(1)
        prior = expected / np.maximum(known, 1e-300)[:, None]
        wanted = (known[:, None] * shrunk(table.counts.reshape(expected.shape), table.sigma, known, prior)).reshape(
            top, 1, self.sizes[extra], size
        )
        counts, before = start.copy(), start.sum(1)
        for _ in range(FITS):
            by_top = counts.reshape(top, -1, self.sizes[extra], size)
            counts = (by_top * _ratio(wanted, by_top.sum(1, keepdims=True))).reshape(start.shape)
            counts *= _ratio(before, counts.sum(1))[:, None, :]
            counts *= _ratio(rows, counts.sum(2))[:, :, None]
        sums = counts.sum(2, keepdims=True)
        shares = np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), np.broadcast_to(node.shares[:, None, :], counts.shape))
        sizes = (*node.sizes, self.sizes[extra])
        self.nodes[place] = Node(child, parents, sizes, on_simplex(shares.reshape(-1, size)))

    def redraw(self, rng: np.random.Generator) -> None:
        """Rows of the network as it is now."""
        pool: dict[str, Integers] = {}
        for node in self.nodes:
            pool[node.name] = node.draw(pool, self.drawn, rng)
        self.pool = pool


def _ratio(wanted: Floats, have: Floats) -> Floats:
    """By how much to multiply; 1 where there is nothing."""
    return np.asarray(np.where(have > 0, wanted / np.where(have > 0, have, 1.0), 1.0))
