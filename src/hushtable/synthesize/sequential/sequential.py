"""Sequential synthesis (synthpop): one column after another, each from its distribution given those before."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from hushtable.encode.cells import Grid
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.step import Arrays, Core, Given, Plan, check_knobs, given_arrays
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.refined import Refined, refined
from hushtable.synthesize.sequential.conditionals import Conditional, Growth, Linear, Marginal, Tree
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "trees are grown on the rows, and draws weighed against them"
LEARNERS: dict[str, type[Any]] = {"tree": Tree, "linear": Linear, "margin": Marginal}


@dataclass(frozen=True, kw_only=True)
class Sequential(Core):
    """Trees in sequence: each column is drawn from the leaf that the columns before it lead to; draws are then refined.

    Promises nothing by itself: leaves hold counts of real values, and only the audit can measure what they reveal.
    Trained on an anonymized table it keeps that table's k-anonymity as a derived one, and reads nothing but that table. A number
    that fewer than ``least`` rows share is released by chance only. Nowok, Raab and Dibben 2016 (synthpop); Reiter 2005.
    synthpop's own trees are ``min_leaf: 5, prune: 0, shrink: 0, refine: 0``: they raise several times as many alarms in an audit.
    """

    min_leaf: int = 20
    """The least number of rows in a leaf, and at least one row in 5,000; 0 takes one row in 150, and at least 5.

    Smaller leaves keep rarer structure and repeat more rows. Larger ones cost accuracy where columns depend closely."""
    prune: float = 3.0
    """What a branch must add to the log-likelihood of rows left out of the tree, in nats; 0 keeps all branches.

    So a column that hardly depends on the others has few leaves, and one that follows from them keeps its many."""
    shrink: int = 300
    """The largest weight, in rows, of the node above in each node's distribution of levels. For each column that weight is taken
    under which rows left out are likeliest; 0 draws from the leaf alone."""
    least: int = 5
    """A number that fewer rows share is replaced by a draw from a range that holds at least so many rows. Leaves pool numbers
    into ranges of as many of their own rows, apart from what lies alone between frequent values, unless ``shrink`` is 0."""
    refine: int = 3
    """Rounds of refinement: boosted trees learn where rows are more common than draws, which are weighted by it, raked to the
    columns' counts and thinned; 0 leaves them as drawn.

    It reads the rows as they are, like the trees; the card says how many independent draws stand behind each released row.
    Where a column is drawn from its margin by request, only counts are followed."""
    order: tuple[str, ...] = ()
    """Columns to draw first; the others follow: target, secrets, then as in the schema."""
    methods: tuple[str, ...] = ()
    """Other learners by column, as ``age=linear``; tree, linear (normal scores or logit) or margin."""

    def __post_init__(self) -> None:
        """Positive sizes, known methods."""
        odd = [m for m in self.methods if m.partition("=")[2] not in LEARNERS]
        check_knobs(
            self,
            min_leaf=(self.min_leaf >= 0, "must not be negative"),
            least=(self.least >= 1, "must be at least 1"),
            prune=(0 <= self.prune < math.inf, "must be finite and not negative"),
            shrink=(self.shrink >= 0, "must not be negative"),
            refine=(self.refine >= 0, "must not be negative"),
            methods=(not odd, f"must read column=method with method one of {', '.join(LEARNERS)}"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that do not exist."""
        named = (*self.order, *(m.partition("=")[0] for m in self.methods))
        unknown = [name for name in named if name not in schema]
        if unknown:
            raise PlanError(f"sequential: there is no column {', '.join(unknown)}")
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Chain | Refined:
        """Grow one tree per column; the trees do not depend on one another, so they grow side by side."""
        table = vault.open(Raw(_WHY), _WHY)
        rest = [name for name in table.schema.names if name not in self.order]
        first = [name for role in (Role.TARGET, Role.SECRET) for name in rest if table.schema[name].role is role]
        order = (*self.order, *first, *(name for name in rest if name not in first))
        min_leaf = max(self.min_leaf, table.rows // 5000) if self.min_leaf else max(5, table.rows // 150)
        growth = Growth(min_leaf, self.prune, self.shrink, self.least if self.shrink else 1)
        grids = {name: Grid.of(table.schema[name], table[name], self.least) for name in order}
        cells = {name: grids[name].encode(table[name]) for name in order}
        methods = dict(m.split("=", 1) for m in self.methods)
        done = 0

        def learn(place: int) -> tuple[str, Conditional]:
            nonlocal done
            name, before = order[place], order[:place]
            method = methods.get(name, "tree") if before else "margin"
            if method == "margin":
                learner: Conditional = Marginal.fit(cells[name], grids[name])
            else:
                inputs = [cells[b] for b in before], [grids[b] for b in before]
                learner = LEARNERS[method].fit(cells[name], grids[name], *inputs, growth)
            done += 1
            vault.report(done / len(order) / (2 if self.refine else 1))
            return method, learner

        with ThreadPoolExecutor(2) as pool:
            learnt = list(pool.map(learn, range(len(order))))
        schema = table.schema.with_columns(*(grid.hidden() for grid in grids.values()))
        grids = {name: replace(grid, column=schema[name]) for name, grid in grids.items()}
        chain = Chain(
            schema,
            order,
            tuple(m for m, _ in learnt),
            [c for _, c in learnt],
            [grids[n] for n in order],
            table.rows,
            min_leaf,
        )
        if not self.refine:
            return chain
        # A discriminator would learn the dependence back that a column drawn from its margin is to lose.
        rounds = 0 if "margin" in methods.values() else self.refine
        return refined(chain, table, rounds, rng, lambda share: vault.report((1 + share) / 2))


@dataclass(frozen=True, eq=False)
class Chain:
    """The fitted sequence."""

    schema: Schema
    order: tuple[str, ...]
    methods: tuple[str, ...]
    learners: list[Conditional]
    grids: list[Grid] = field(repr=False)
    rows: int
    min_leaf: int

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default as many as it was trained on; ``given`` may fix the columns that are drawn first."""
        rows = self.rows if n is None else n
        arrays = given_arrays(self.schema, given, rows)
        if set(arrays) - set(self.order[: len(arrays)]):
            raise InputError(f"only the columns drawn first can be fixed: {', '.join(self.order)}, in this order", where="given")
        drawn: list[Integers] = []
        for name, learner, grid in zip(self.order, self.learners, self.grids, strict=True):
            if name in arrays:
                drawn.append(grid.encode(arrays[name]))
                continue
            drawn.append(learner.sample(rows, rng) if isinstance(learner, Marginal) else learner.draw(drawn, rng))
            arrays[name] = grid.decode(drawn[-1], rng)
        return Table(self.schema, {name: arrays[name] for name in self.schema.names})

    def log_likelihood(self, table: Table, spread: float = 1e-3) -> Floats:
        """The log-probability of each row, in nats: its mean over rows not trained on distinguishes learning from memorizing.

        So that a value that nobody in the leaf holds is not impossible, each leaf gets this part of one more row, spread evenly
        over all values of the column. A number counts where it is read into a cell, not also in a range around it.
        """
        seen: list[Integers] = []
        total = np.zeros(table.rows)
        for name, learner, grid in zip(self.order, self.learners, self.grids, strict=True):
            cells = grid.encode(table[name])
            own, rows = learner.support(cells, seen)
            total += np.log((own * grid.shares(table[name], cells) + spread / grid.values) / (rows + spread))
            seen.append(cells)
        return total

    def result(self) -> dict[str, Any]:
        """The order and the methods; no statistic of the rows."""
        return {"order": list(self.order), "methods": list(self.methods), "min_leaf": self.min_leaf}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Counts and thresholds; no row can be put together from them."""
        arrays: Arrays = {}
        for place, (learner, grid) in enumerate(zip(self.learners, self.grids, strict=True)):
            own = learner.parts() | {"low": grid.low, "high": grid.high}
            arrays |= {f"{place}/{key}": array for key, array in own.items()}
        values = {
            "schema": self.schema.portable().dump(),
            "order": self.order,
            "methods": self.methods,
            "rows": self.rows,
            "min_leaf": self.min_leaf,
        }
        return values, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema, order = Schema.parse(values["schema"]), tuple(values["order"])
        own: list[dict[str, Any]] = [{} for _ in order]
        for key, array in arrays.items():
            place, _, part = key.partition("/")
            own[int(place)][part] = array
        grids = [Grid(schema[name], parts.pop("low"), parts.pop("high")) for name, parts in zip(order, own, strict=True)]
        learners = [LEARNERS[m].from_parts(own[i], grids[:i]) for i, m in enumerate(values["methods"])]
        return cls(schema, order, tuple(values["methods"]), learners, grids, values["rows"], values["min_leaf"])
