"""MST: all columns and a spanning tree of pairs, measured with noise, and a graphical model fitted to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.preserve import Effect
from hushtable.privacy.rows import rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import CELLS, MEAN, noise_note, require_counted, sizes_of
from hushtable.synthesize.marginal.estimate import estimate
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.histograms import Histograms, measured
from hushtable.synthesize.marginal.measurement import rows_of, without_missing
from hushtable.synthesize.marginal.model import CountModel
from hushtable.synthesize.marginal.score import MarginalScores
from hushtable.synthesize.marginal.walls import require_possible, walls
from hushtable.synthesize.marginal.workload import TOGETHER
from hushtable.table.schema import Schema

Pair = tuple[str, str]

WALLED = 2_000_000
"""The most cells of a model in which the combinations that the schema declares to be impossible have no probability."""


@dataclass(frozen=True, kw_only=True)
class Mst(PrivateCore):
    """A maximum spanning tree of pairs: (epsilon, delta)-differential privacy, and pure epsilon where delta is zero.

    A third of the budget measures every column. A third chooses, by the exponential mechanism, one pair after the other that joins
    two parts of a growing tree: the pair whose counts are farthest (L1) from what independent columns would have, which one record
    changes by at most 1. A third measures the chosen pairs. One record changes one cell of each histogram by one. Fitting
    and drawing rows are post-processing. Keeps the dependence of the pairs along the tree. McKenna, Miklau and Sheldon 2021.
    """

    cells: int = 100_000
    """Pairs with more cells than this are no candidates: they would be mostly noise."""
    corrected: bool = True
    """Whether the distance that chance and noise alone would cause is subtracted; otherwise large tables are favoured."""

    def __post_init__(self) -> None:
        """All in range."""
        check_knobs(self, cells=(1 <= self.cells <= CELLS, f"must lie between 1 and {CELLS:,}"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, by name."""
        require_counted(schema, "mst")
        require_possible(schema, WALLED, "mst")
        events: tuple[Event, ...] = ()
        if budget is not None:
            single, choose, pair = self._parts(schema, budget)
            events = rows_event(budget, schema)
            events += (single.event(Histograms(_alone(schema)), schema), *(Exponential(part.choice) for part in choose))
            if choose:
                events += (pair.event(Histograms(_alone(schema)[: len(choose)]), schema),)
        caveat = "columns depend on one another in pairs along a tree only: dependence between three columns beyond that is lost"
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=(caveat,) if len(schema) > 1 else ())

    def fit(self, vault: Vault, rng: np.random.Generator) -> CountModel:
        """Measure the columns, choose the tree, measure its pairs; ``rng`` is not needed."""
        schema, allowance = vault.schema, vault.paid()
        sizes = sizes_of(schema)
        single, choose, pair = self._parts(schema, allowance)
        singles = measured(vault, _alone(schema), single)
        vault.report(0.2)
        total = rows_of(vault, allowance, singles)
        alone = estimate(sizes, singles, total=total)
        chosen = self._tree(vault, alone, choose, pair)
        vault.report(0.6)
        pairs = measured(vault, tuple(chosen), pair) if chosen else []
        zeros = walls(schema, WALLED, chosen, without_missing(schema, singles))
        model = estimate(sizes, [*singles, *pairs], total=alone.total, zeros=zeros, start=alone)
        vault.report(1.0)
        noise = {"single columns": round(singles[0].sigma, 2)}
        if pairs:
            noise["pairs"] = round(pairs[0].sigma, 2)
        summary: dict[str, Any] = {"measured": [" x ".join(columns) for columns in chosen], "noise_of_a_cell": noise}
        return CountModel(schema, model, summary | noise_note(sizes, singles[0].sigma, model.total))

    def _parts(self, schema: Schema, allowance: Allowance) -> tuple[Allowance, list[Allowance], Allowance]:
        """A third each for columns, choices and pairs; all for the columns where there is nothing to choose from."""
        sizes = sizes_of(schema)
        edges = _edges(sizes, self._candidates(sizes))
        if not edges:
            return allowance, [], allowance
        one, two, three = allowance.split([1.0, 1.0, 1.0])
        return one, two.split([1.0] * edges), three

    def _candidates(self, sizes: Mapping[str, int]) -> list[Pair]:
        """Pairs that are small enough; of more than memory holds together, the smallest."""
        small = [(a, b) for a, b in combinations(sizes, 2) if sizes[a] * sizes[b] <= self.cells]
        cells = np.array([sizes[a] * sizes[b] for a, b in small], np.float64)
        order = np.argsort(cells, kind="stable")
        return [small[i] for i in np.sort(order[np.cumsum(cells[order]) <= TOGETHER])]

    def _tree(self, vault: Vault, alone: Graphical, choices: Sequence[Allowance], pair: Allowance) -> list[Pair]:
        """Pairs that join the columns, each chosen among those that join two parts."""
        candidates = self._candidates(alone.sizes)
        if not choices:
            return []
        model = alone.project_all(candidates)
        sigma = pair.deviation(Histograms(tuple(candidates[: len(choices)])), vault.schema)
        # The distance expected for a pair of independent columns: a count of m varies by about sqrt(m), and noise adds to that.
        bias = [MEAN * float(np.sqrt(expected + sigma**2).sum()) for expected in model] if self.corrected else ()
        scores = MarginalScores(tuple(candidates), model, bias=bias)
        part = {name: name for name in alone.sizes}
        chosen: list[Pair] = []
        for choice in choices:
            joining = [i for i, (a, b) in enumerate(candidates) if part[a] != part[b]]
            a, b = candidates[joining[vault.choose(scores.among(joining), choice)]]
            chosen.append((a, b))
            part = _joined(part, a, b)
        return chosen


def _alone(schema: Schema) -> tuple[tuple[str, ...], ...]:
    return tuple((name,) for name in schema.names)


def _edges(sizes: Mapping[str, int], candidates: Sequence[Pair]) -> int:
    """How many pairs a spanning forest of the candidates has: the same whichever are chosen."""
    part = {name: name for name in sizes}
    edges = 0
    for a, b in candidates:
        if part[a] != part[b]:
            edges += 1
            part = _joined(part, a, b)
    return edges


def _joined(part: Mapping[str, str], a: str, b: str) -> dict[str, str]:
    """The parts of a forest after two of them were joined."""
    return {name: part[a] if p == part[b] else p for name, p in part.items()}
