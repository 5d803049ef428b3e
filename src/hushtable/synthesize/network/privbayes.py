"""PrivBayes with better scores: a Bayesian network from noisy tables, its parents chosen by what those so far do not explain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.errors import PlanError
from hushtable.numerics.simplex import on_simplex
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.rows import rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import MEAN, noise_note, require_counted, sizes_of
from hushtable.synthesize.marginal.histograms import measured_one
from hushtable.synthesize.marginal.measurement import Measurement, combined, rows_of, without_missing
from hushtable.synthesize.marginal.score import MarginalScores
from hushtable.synthesize.marginal.workload import target_of
from hushtable.synthesize.network import structure
from hushtable.synthesize.network.scores import Pair
from hushtable.synthesize.network.tables import Network, Node, raked, shrunk, without_last
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema

FEWEST, MOST = 1 << 12, 1 << 16
"""How many rows are drawn from the network so far, to count the joint cells of parents in: four times the noisy total."""
CLASSES = 10
"""A target with at most so many cells is a parent of every other column."""
FIRST, CHOICES, TABLES = 0.45, 0.05, 0.5
"""The shares of the budget for the first tables, the choices and the tables with parents."""
WIDEST = 1 << 18
"""The most cells of a column."""


@dataclass(frozen=True, kw_only=True)
class PrivBayes(PrivateCore):
    """A Bayesian network whose parents are chosen privately, and rows drawn column by column: PrivBayes with better scores.

    First every column is counted once (together with the target, if there is one of few cells: it is a parent of all), with
    noise. Then, column by column, the exponential mechanism chooses the next column and its parents among those already
    there: by the L1 distance between their joint counts and what the released tables expect if the column depended on the target
    alone, less the noise that measuring it would bring. One record changes one cell, so it changes such a distance by at
    most 1 (2 if it is replaced), whereas mutual information, which was published, changes by ln n/n of its range. The chosen
    joint table is counted with noise, drawn towards what was expected as far as the noise is larger than what it hides, and
    made to agree with the first tables. All but the counts and the choices is post-processing. What the joint cells
    of parents hold is counted in rows drawn from the network so far, which is released as well.
    Zhang, Cormode, Procopiuc, Srivastava and Xiao 2017, with the accounting of Bun and Steinke 2016; McKenna et al. 2022
    for the penalty.
    """

    degree: int = 2
    """The most parents of a column, the target included: 1, 2 or 3. A column gets fewer where more would only add noise."""
    target: str = ""
    """The column that the release is made for: a parent of all others if it has at most 10 cells; empty: the role target's."""
    cells: int = 20_000
    """The most cells of a joint table; a larger set of parents is not considered."""

    def __post_init__(self) -> None:
        """Ranges."""
        check_knobs(
            self,
            degree=(1 <= self.degree <= 3, "must be 1, 2 or 3"),
            cells=(4 <= self.cells <= 1 << 22, "must lie between 4 and 2^22"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, those of too many cells, and a target that is no column."""
        require_counted(schema, "privbayes")
        top = self._top(schema)
        wide = [name for name, size in sizes_of(schema).items() if size > WIDEST]
        if wide:
            raise PlanError(f"privbayes: {', '.join(wide)} has more than {WIDEST} cells; put a 'bins' step before it")
        events: tuple[Event, ...] = ()
        if budget is not None:
            first, choosing, counting = self._parts(budget, len(schema), len(top))
            one = Histogram(schema.names[:1])
            events = rows_event(budget, schema)
            events += tuple(part.event(one, schema) for part in (*first, *counting))
            events += tuple(Exponential(part.choice) for part in choosing)
        caveats = [f"a column depends directly on at most {self.degree} others; dependence on more of them at once is lost"]
        target = target_of(schema, self.target, "privbayes")
        if target and sizes_of(schema)[target] > CLASSES:
            caveats.append(f"the target {target} has more than {CLASSES} cells, so it is treated like any other column")
        if len(schema) > structure.FEW:
            caveats.append(
                f"parents are chosen among at most {structure.LIMIT // 4} sets at a time, drawn at random if they are more"
            )
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Network:
        """Count every column, then choose and count column by column."""
        schema, top = vault.schema, self._top(vault.schema)
        sizes = sizes_of(schema)
        allowance = vault.paid()
        first, choosing, counting = self._parts(allowance, len(schema), len(top))
        named = [name for name in schema.names if name not in top]
        tables = [measured_one(vault, (*top, name), part) for name, part in zip(named, first, strict=True)]
        total = rows_of(vault, allowance, tables)
        grown = Grown.of(tables, sizes, top, total, rng)
        alone = len(named) - len(choosing)
        # The greedy choice is Prim's: where it starts does not matter for which tables are chosen.
        for name in named[:alone]:
            grown.add(name, top, None, rng)
        for number, (choice, count) in enumerate(zip(choosing, counting, strict=True), 1):
            outside = [name for name in named if name not in grown.pool]
            inside = [name for name in grown.pool if name not in top]
            pairs = structure.up_to(sizes, top, inside, outside, self.degree, self.cells, rng)
            sigma = count.deviation(Histogram(schema.names[:1]), schema)
            child, parents = pairs[vault.choose(grown.scores(pairs, sigma), choice)]
            grown.add(child, parents, measured_one(vault, (*parents, child), count), rng)
            vault.report(number / len(choosing))
        noise = counting or first
        return Network(
            schema,
            tuple(without_last(grown.nodes, without_missing(schema, grown.base.values()))),
            max(2, round(grown.total)),
            self._summary(grown, noise[0].deviation(Histogram(schema.names[:1]), schema)),
        )

    def _top(self, schema: Schema) -> tuple[str, ...]:
        """The target, if it is to be a parent of every other column."""
        target = target_of(schema, self.target, "privbayes")
        return (target,) if target and len(schema) > 1 and sizes_of(schema)[target] <= CLASSES else ()

    def _parts(self, allowance: Allowance, columns: int, top: int) -> tuple[list[Allowance], list[Allowance], list[Allowance]]:
        """What each first table, each choice and each table with parents may spend."""
        rounds = columns - 1 - top
        if rounds < 1 or self.degree == top:
            return allowance.split([1.0] * (columns - top)), [], []
        first, choosing, counting = allowance.split([FIRST, CHOICES, TABLES])
        each = [1.0] * rounds
        return first.split([1.0] * (columns - top)), choosing.split(each), counting.split(each)

    def _summary(self, grown: Grown, sigma: float) -> dict[str, Any]:
        summary: dict[str, Any] = {"noise_of_a_cell": round(sigma, 2), "rows": round(grown.total)}
        first = next(iter(grown.base.values())).sigma
        return summary | noise_note({name: table.counts.size for name, table in grown.base.items()}, first, grown.total)


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
