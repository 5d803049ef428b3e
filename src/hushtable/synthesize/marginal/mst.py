"""MST: all columns and a spanning tree of pairs, measured with noise, then what the tree gets wrong, in a graphical model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.rows import rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import CELLS, MEAN, noise_note, require_counted, sizes_of
from hushtable.synthesize.marginal.estimate import estimate
from hushtable.synthesize.marginal.further import Batch, Further, batches
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.histograms import Histograms, measured_each
from hushtable.synthesize.marginal.measurement import rows_of, without_missing
from hushtable.synthesize.marginal.model import CountModel
from hushtable.synthesize.marginal.score import MarginalScores
from hushtable.synthesize.marginal.walls import code_walls, require_possible, walls
from hushtable.synthesize.marginal.workload import TOGETHER, target_of, workload
from hushtable.table.schema import Schema

Columns = tuple[str, ...]

WALLED = 2_000_000
"""The most cells of a model in which the combinations that the schema declares to be impossible have no probability."""
GROWN = 400_000
"""The most cells of the model that further margins may make."""
CLASSES = 10
"""Every other column is counted together with a target of at most so many cells."""
SHARES = (0.45, 0.1, 0.45)
"""Of what the tree gets: for the columns, the choices and the pairs."""


@dataclass(frozen=True, kw_only=True)
class Mst(PrivateCore):
    """A maximum spanning tree of pairs, and more where it pays: (epsilon, delta)-differential privacy, pure epsilon at delta zero.

    First every column is measured. Then the exponential mechanism chooses, one after the other, pairs that join two parts of a
    growing tree: the pair whose counts are farthest (L1) from what the columns alone would have, which one record changes by at
    most 1. The chosen pairs are measured. One record changes one cell of each histogram by one. McKenna, Miklau and Sheldon 2021
    end there, and so does this with ``further`` 0 and no target. Beyond them, every column is counted together with a target of few
    cells as well, and the tree is one of what the target does not explain. The rest of the budget measures further
    pairs, and triples with the target, that the tree gets most wrong, as far as they are worth their noise (``further.Further``).
    How many queries there are, and what each may spend, follows from the number of columns, and whether one is a target, alone:
    where there are fewer pairs to measure than that, some are measured again. Fitting and drawing rows are post-processing.
    """

    keeps_groups = True
    cells: int = 100_000
    """Margins with more cells than this are no candidates: they would be mostly noise."""
    corrected: bool = True
    """Whether the distance that chance and noise alone would cause is subtracted; otherwise large tables are favoured."""
    target: str = ""
    """The column that the release is made for: all others are counted with it if it has at most 10 cells; empty: by its role."""
    favour: float = 4.0
    """The weight of a further margin that contains the target, relative to the others."""
    further: float = 0.4
    """The share of the budget for margins beyond the tree; 0: the tree alone."""

    def __post_init__(self) -> None:
        """All in range."""
        check_knobs(
            self,
            cells=(1 <= self.cells <= CELLS, f"must lie between 1 and {CELLS:,}"),
            favour=(0 < self.favour <= 100, "must lie in (0, 100]"),
            further=(0 <= self.further < 1, "must lie in [0, 1)"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, by name, and a target that is no column."""
        require_counted(schema, "mst")
        require_possible(schema, WALLED, "mst")
        events: tuple[Event, ...] = ()
        if budget is not None:
            single, choose, pair, beyond = self._parts(schema, budget)
            events = rows_event(budget, schema)
            one = Histogram(schema.names[:1])
            events += tuple(part.event(one, schema) for part in single.split([1.0] * len(self._first(schema))))
            events += tuple(Exponential(part.choice) for part in choose)
            events += tuple(part.event(one, schema) for part in pair.split([1.0] * len(choose)))
            events += tuple(event for batch in beyond for event in batch.events(schema))
        caveat = "columns depend on one another as in the measured pairs and triples only: dependence between more of them is lost"
        return Plan(
            schema=schema, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, caveats=(caveat,) if len(schema) > 1 else ()
        )

    def fit(self, vault: Vault, rng: np.random.Generator) -> CountModel:
        """Measure the columns, choose the tree, measure its pairs, and go on; ``rng`` thins out too many candidates."""
        schema, allowance = vault.schema, vault.paid()
        sizes, target = sizes_of(schema), target_of(schema, self.target, "mst")
        single, choose, pair, beyond = self._parts(schema, allowance)
        candidates = workload(schema, 2, target, self.favour)
        small = {c: weight for c, weight in candidates.items() if math.prod(sizes[name] for name in c) <= self.cells}
        vault.foresee([*self._first(schema), *self._candidates(schema), *small])
        singles = measured_each(vault, self._first(schema), single)
        vault.report(0.2)
        total = rows_of(vault, allowance, singles)
        alone = estimate(sizes, singles, total=total)
        chosen = self._tree(vault, alone, choose, pair)
        vault.report(0.4)
        pairs = measured_each(vault, chosen, pair) if chosen else []
        # What a code list explains of the codes need not be measured again.
        lists = code_walls(schema, WALLED)
        model = estimate(sizes, [*singles, *pairs], total=total, zeros=lists, start=alone)
        grown = Further(vault, small, model, [*singles, *pairs], GROWN)
        grown.grow(beyond, rng)
        zeros = walls(schema, WALLED, [m.columns for m in grown.measured], without_missing(schema, singles))
        model = estimate(sizes, grown.measured, total=total, zeros=zeros, start=grown.model)
        vault.report(1.0)
        noise = {"single columns": round(singles[0].sigma, 2)}
        if pairs:
            noise["pairs"] = round(pairs[0].sigma, 2)
        summary: dict[str, Any] = {"measured": [" x ".join(c) for c in dict.fromkeys(chosen)], "noise_of_a_cell": noise}
        if grown.chosen:
            summary["further"] = [" x ".join(columns) for columns in grown.chosen]
        return CountModel(schema, model, summary | noise_note(sizes, singles[0].sigma, model.total))

    def _top(self, schema: Schema) -> str:
        """The target, if every other column is counted together with it."""
        target = target_of(schema, self.target, "mst")
        return target if target and len(schema) > 1 and sizes_of(schema)[target] <= CLASSES else ""

    def _first(self, schema: Schema) -> list[Columns]:
        """What is measured first: every column, and each with the target if that has few cells, else the others twice.

        How many cells a target of binned numbers has is not known beforehand: the number of queries does not depend on it.
        """
        top, target = self._top(schema), target_of(schema, self.target, "mst")
        more = (tuple(n for n in schema.names if n in (name, top)) for name in schema.names if target and name != target)
        return [*((name,) for name in schema.names), *more]

    def _parts(self, schema: Schema, allowance: Allowance) -> tuple[Allowance, list[Allowance], Allowance, list[Batch]]:
        """What the columns, each choice of the tree, its pairs and the batches beyond it may spend: all on a single column."""
        edges = len(schema) - 1
        if not edges:
            return allowance, [], allowance, []
        first, choose, pair = ((1 - self.further) * share for share in SHARES)
        if not self.further:
            one, two, three = allowance.split([first, choose, pair])
            return one, two.split([1.0] * edges), three, []
        one, two, three, four = allowance.split([first, choose, pair, self.further])
        return one, two.split([1.0] * edges), three, batches(four, len(schema))

    def _candidates(self, schema: Schema) -> list[Columns]:
        """Pairs for the tree that are small enough; of more than memory holds together, the smallest."""
        sizes, top = sizes_of(schema), self._top(schema)
        small = [(a, b) for a, b in combinations(sizes, 2) if top not in (a, b) and sizes[a] * sizes[b] <= self.cells]
        cells = np.array([sizes[a] * sizes[b] for a, b in small], np.float64)
        order = np.argsort(cells, kind="stable")
        return [small[i] for i in np.sort(order[np.cumsum(cells[order]) <= TOGETHER])]

    def _tree(self, vault: Vault, alone: Graphical, choices: Sequence[Allowance], pair: Allowance) -> list[Columns]:
        """Pairs that join the columns, each chosen among those that join two parts.

        Where a code list or the target joins some, or pairs are too large, the tree has fewer edges than there are choices: then
        one of the chosen pairs is chosen again, and without any pair one of what was measured first.
        """
        if not choices:
            return []
        candidates = self._candidates(vault.schema) or self._first(vault.schema)
        model = alone.project_all(candidates)
        sigma = pair.deviation(Histograms((vault.schema.names[:1],) * len(choices)), vault.schema)
        # The distance expected for a pair of independent columns: a count of m varies by about sqrt(m), and noise adds to that.
        bias = [MEAN * float(np.sqrt(expected + sigma**2).sum()) for expected in model] if self.corrected else ()
        scores = MarginalScores(tuple(candidates), model, bias=bias)
        part = _parts_known(vault.schema)
        picked: list[int] = []
        for choice in choices:
            joining = [i for i, columns in enumerate(candidates) if len({part[name] for name in columns}) > 1]
            open_ = joining or list(dict.fromkeys(picked)) or list(range(len(candidates)))
            picked.append(open_[vault.choose(scores.among(open_), choice)])
            part = _joined(part, candidates[picked[-1]][0], candidates[picked[-1]][-1])
        return [candidates[i] for i in picked]


def _parts_known(schema: Schema) -> dict[str, str]:
    """The parts of the forest before anything is chosen: a code list joins two columns, and nothing of the pair is measured."""
    part = {name: name for name in schema.names}
    for a, b in code_walls(schema, WALLED):
        part = _joined(part, a, b)
    return part


def _joined(part: Mapping[str, str], a: str, b: str) -> dict[str, str]:
    """The parts of a forest after two of them were joined."""
    return {name: part[a] if p == part[b] else p for name, p in part.items()}
