"""PrivBayes with better scores: a Bayesian network from noisy tables, its parents chosen by what those so far do not explain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hushtable.errors import PlanError
from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.rows import rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import noise_note, require_counted, sizes_of
from hushtable.synthesize.marginal.further import affordable
from hushtable.synthesize.marginal.histograms import measured_one
from hushtable.synthesize.marginal.measurement import rows_of, without_missing
from hushtable.synthesize.marginal.workload import target_of
from hushtable.synthesize.network import structure
from hushtable.synthesize.network.grown import Grown
from hushtable.synthesize.network.tables import Network, without_last
from hushtable.table.schema import Schema

CLASSES = 10
"""A target with at most so many cells is a parent of every other column."""
FIRST, CHOICES, TABLES = 0.45, 0.05, 0.5
"""The shares of the budget for the first tables, the choices and the tables with parents."""
WIDEST = 1 << 18
"""The most cells of a column."""
SURE = 4
"""How many times as many further tables as there are must be affordable: no later fit smooths the shares of a network."""


@dataclass(frozen=True, kw_only=True)
class PrivBayes(PrivateCore):
    """A Bayesian network whose parents are chosen privately, and rows drawn column by column: PrivBayes with better scores.

    First every column is counted once (together with the target, if there is one of few cells: it is a parent of all), with
    noise. Then, column by column, the exponential mechanism chooses the next column and its parents among those already
    there: by the L1 distance between their joint counts and what the released tables expect if the column depended on the target
    alone, less the noise that measuring it would bring. One record changes one cell, so it changes such a distance by at
    most 1 (2 if it is replaced), whereas mutual information, which was published, changes by ln n/n of its range. The chosen
    joint table is counted with noise, drawn towards what was expected as far as the noise is larger than what it hides, and
    made to agree with the first tables. Where the noise leaves room for more tables than one for each column, by the noisy number
    of rows, the budget is spread over more: the exponential mechanism chooses which column and which one before it the network
    gets most wrong (L1, given the target), their table is counted, and the earlier becomes a parent of the later, whose shares are
    fitted to this table and to those before. All but the counts and the choices is post-processing. What the joint cells
    of parents hold is counted in rows drawn from the network so far, which is released as well.
    Zhang, Cormode, Procopiuc, Srivastava and Xiao 2017, with the accounting of Bun and Steinke 2016; McKenna et al. 2022
    for the penalty.
    """

    degree: int = 2
    """The most parents of a column in one table, the target included: 1 to 3; fewer where more would only add noise."""
    further: float = 3.0
    """The most tables beyond one for each column, in numbers of columns; fewer where they are mostly noise, none at degree 1."""
    target: str = ""
    """The column that the release is made for: a parent of all others if it has at most 10 cells; empty: the role target's."""
    cells: int = 20_000
    """The most cells of a joint table; a larger set of parents is not considered."""

    def __post_init__(self) -> None:
        """Ranges."""
        check_knobs(
            self,
            degree=(1 <= self.degree <= 3, "must be 1, 2 or 3"),
            further=(0 <= self.further <= 10, "must lie between 0 and 10"),
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
            first, rest = self._parts(budget, len(schema), len(top))
            # With further tables, for which the same is spent in smaller parts, the noise decides how many there are.
            choosing, counting = _tables(rest, self._rounds(len(schema), len(top)))
            one = Histogram(schema.names[:1])
            events = rows_event(budget, schema)
            events += tuple(part.event(one, schema) for part in (*first, *counting))
            events += tuple(Exponential(part.choice) for part in choosing)
        caveats = [f"a column depends on at most {self.degree} others in one table; dependence on more of them at once is lost"]
        target = target_of(schema, self.target, "privbayes")
        if target and sizes_of(schema)[target] > CLASSES:
            caveats.append(f"the target {target} has more than {CLASSES} cells, so it is treated like any other column")
        if len(schema) > structure.FEW:
            caveats.append(
                f"parents are chosen among at most {structure.LIMIT // 4} sets at a time, drawn at random if they are more"
            )
        adaptive = self.further > 0 and self.degree > 1 and self._rounds(len(schema), len(top)) > 0
        return Plan(
            schema=schema, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, caveats=tuple(caveats), adaptive=adaptive
        )

    def fit(self, vault: Vault, rng: np.random.Generator) -> Network:
        """Count every column, then choose and count column by column."""
        schema, top = vault.schema, self._top(vault.schema)
        sizes = sizes_of(schema)
        allowance = vault.paid()
        first, rest = self._parts(allowance, len(schema), len(top))
        named = [name for name in schema.names if name not in top]
        more = min(self.degree - len(top), 2) + 1
        vault.foresee([(*top, *names) for way in range(1, more + 1) for names in combinations(named, way)])
        tables = [measured_one(vault, (*top, name), part) for name, part in zip(named, first, strict=True)]
        total = rows_of(vault, allowance, tables)
        grown = Grown.of(tables, sizes, top, total, rng)
        rounds = self._rounds(len(schema), len(top))
        choosing, counting = _tables(rest, rounds + self._more(schema, rest, rounds, total))
        alone = len(named) - rounds
        # The greedy choice is Prim's: where it starts does not matter for which tables are chosen.
        for name in named[:alone]:
            grown.add(name, top, None, rng)
        for number, (choice, count) in enumerate(zip(choosing[:rounds], counting, strict=False), 1):
            outside = [name for name in named if name not in grown.pool]
            inside = [name for name in grown.pool if name not in top]
            pairs = structure.up_to(sizes, top, inside, outside, self.degree, self.cells, rng)
            sigma = count.deviation(Histogram(schema.names[:1]), schema)
            child, parents = pairs[vault.choose(grown.scores(pairs, sigma), choice)]
            grown.add(child, parents, measured_one(vault, (*parents, child), count), rng)
            vault.report(number / len(choosing))
        batch = max(rounds // 2, 1)
        for start in range(rounds, len(choosing), batch):
            self._extend(vault, grown, choosing[start : start + batch], counting[start : start + batch])
            grown.redraw(rng)
            vault.report(min(start + batch, len(choosing)) / len(choosing))
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

    def _extend(self, vault: Vault, grown: Grown, choosing: list[Allowance], counting: list[Allowance]) -> None:
        """Choose tables that the network gets wrong, one by one, measure them, and add their parents."""
        sigma = counting[0].deviation(Histogram(vault.schema.names[:1]), vault.schema)
        pairs = grown.open_pairs(self.cells)
        # Where no further parent fits, the first tables are measured again.
        again = tuple((name, grown.top) for name in grown.base)
        scores = grown.errors(pairs or again, sigma)
        left = list(range(len(scores.candidates)))
        tables = []
        for choice, count in zip(choosing, counting, strict=True):
            pick = left[vault.choose(scores.among(left), choice)]
            tables.append(measured_one(vault, scores.candidates[pick], count))
            left = [i for i in left if i != pick] or left
        for table in tables if pairs else ():
            grown.extend(table)

    def _rounds(self, columns: int, top: int) -> int:
        """How many tables with parents there are at least: one for each column but the first."""
        return 0 if self.degree == top else max(columns - 1 - top, 0)

    def _more(self, schema: Schema, rest: Allowance, rounds: int, total: float) -> int:
        """How many further tables are worth their noise, beside as many others: of the target and two columns of middling size."""
        if not rounds or self.degree == 1:
            return 0
        sizes, top = sizes_of(schema), self._top(schema)
        middling = float(np.median([size for name, size in sizes.items() if name not in top]))
        cells = middling**2 * math.prod(sizes[name] for name in top)
        tables = affordable(_tables(rest, 1)[1][0], cells, schema, total) / SURE
        return int(np.clip(tables - rounds, 0, math.ceil(self.further * len(schema))))

    def _parts(self, allowance: Allowance, columns: int, top: int) -> tuple[list[Allowance], Allowance]:
        """What each first table, and all choices and tables with parents together, may spend."""
        if not self._rounds(columns, top):
            return allowance.split([1.0] * (columns - top)), allowance
        first, rest = allowance.split([FIRST, CHOICES + TABLES])
        return first.split([1.0] * (columns - top)), rest

    def _summary(self, grown: Grown, sigma: float) -> dict[str, Any]:
        summary: dict[str, Any] = {"noise_of_a_cell": round(sigma, 2), "rows": round(grown.total)}
        first = next(iter(grown.base.values())).sigma
        return summary | noise_note({name: table.counts.size for name, table in grown.base.items()}, first, grown.total)


def _tables(rest: Allowance, count: int) -> tuple[list[Allowance], list[Allowance]]:
    """What each choice and each table with parents may spend, if there are so many."""
    choosing, counting = rest.split([CHOICES, TABLES])
    return choosing.split([1.0] * count) if count else [], counting.split([1.0] * count) if count else []
