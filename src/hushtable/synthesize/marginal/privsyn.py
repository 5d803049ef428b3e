"""PrivSyn: many noisy marginals, chosen by noisy distances, and rows that match all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.rows import rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import CELLS, noise_note, require_counted, sizes_of
from hushtable.synthesize.marginal import junction
from hushtable.synthesize.marginal.dense import dense, shared
from hushtable.synthesize.marginal.estimate import Stopping, estimate
from hushtable.synthesize.marginal.histograms import measured_one
from hushtable.synthesize.marginal.measurement import Measurement, combined, rows_of, without_missing
from hushtable.synthesize.marginal.pooled import ROUGH, STEPS, Fit, PooledModel
from hushtable.synthesize.marginal.score import MarginalDistances
from hushtable.synthesize.marginal.walls import require_possible, walls
from hushtable.synthesize.marginal.workload import ROOM, first_look, matched_marginals, shortened, some, target_of, within
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema

Columns = tuple[str, ...]

SHARES = (0.6, 0.4)
"""The parts of the rounds in what is not for the first look."""
SURE = 0.5
"""So many standard deviations of its noise are taken off a noisy distance."""
PARTS = 16
"""Budgets are shared out among marginals in so many equal parts for each column, within ``FEWEST`` and ``MOST``."""
FEWEST, MOST = 48, 480
EACH = 4
"""The fewest parts for each column, whatever ``MOST`` says, and all that Laplace noise has: an average of answers loses there."""


@dataclass(frozen=True, kw_only=True)
class PrivSyn(PrivateCore):
    """Noisy marginals that are chosen in few rounds, and rows that match all of them: (epsilon, delta)-differential privacy.

    First every column is measured, with the target if there is one of few classes. Then, in each of two rounds, the distances (L1)
    between all candidate marginals and the model so far are measured with noise, those are chosen whose error exceeds what
    their own noise would leave, and are measured, with more budget for those of more cells. One record changes one cell of a
    marginal by one, and the whole part of each distance by at most one. As many marginals as a junction tree has room for are
    fitted exactly; for the others rows drawn from it are weighted (maximum entropy), and the rows that leave are exchanged until
    the counts of all pairs of columns are as expected. Fitting and drawing are post-processing. The budget is cut into equal
    parts, of which every measurement takes whole ones, so all queries are fixed beforehand and are priced together by the
    numerical accountant. After Zhang, Wang, Li, Honorio, Backes, He, Chen and Zhang 2021 (PrivSyn), who choose once, among pairs.
    """

    quick: ClassVar[Mapping[str, object]] = {"candidates": 5}
    keeps_groups = True
    target: str = ""
    """The column that the release is made for (a class to predict); when empty, the one with the role target, if any."""
    favour: float = 1.0
    """The weight of a marginal that contains the target, relative to the others."""
    first: float = 0.4
    """The share of the budget for the single columns, with the target, at the start."""
    choices: float = 0.1
    """The share of a round's budget for the distances; the rest is for measuring."""
    cells: int = 200_000
    """The most cells of the junction tree; marginals beyond it are fitted by weights of rows."""
    largest: int = 100_000
    """Marginals with more cells than this are no candidates: they would be mostly noise."""
    candidates: int = 2000
    """The most marginals to choose from in a round: all pairs, and those of two columns and the target; of more, some by chance."""

    def __post_init__(self) -> None:
        """All in range."""
        check_knobs(
            self,
            favour=(0 < self.favour <= 100, "must lie in (0, 100]"),
            first=(0 < self.first < 1, "must lie between 0 and 1"),
            choices=(0 < self.choices < 1, "must lie between 0 and 1"),
            cells=(1 <= self.cells <= CELLS, f"must lie between 1 and {CELLS:,}"),
            largest=(1 <= self.largest <= CELLS, f"must lie between 1 and {CELLS:,}"),
            candidates=(1 <= self.candidates <= 100_000, "must lie between 1 and 100,000"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, and a target that is no column."""
        require_counted(schema, "privsyn")
        target_of(schema, self.target, "privsyn")
        require_possible(schema, self.cells, "privsyn")
        if budget is None:
            return Plan(schema=schema, effect=Effect.GENERATE, reads=Reads.COUNTS, adaptive=True, slots=True)
        course = self._course(schema, budget)
        one = Histogram(schema.names[:1])
        events = (
            *rows_event(budget, schema),
            *(each.event(one, schema) for each in (course.part,) * course.parts),
            *(each.event(self._distances(schema), schema) for each in course.choices),
        )
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, adaptive=True, slots=True)

    def fit(self, vault: Vault, rng: np.random.Generator) -> PooledModel:
        """Measure the columns, then in rounds what the model gets wrong; ``rng`` draws rows from the model, and candidates."""
        return _Run(self, vault, rng).go()

    def _distances(self, schema: Schema) -> MarginalDistances:
        """The query of a round, without candidates: its price depends on how many answers it has, and on nothing else."""
        count = math.comb(len(schema), 2)
        if target_of(schema, self.target, "privsyn"):
            count += math.comb(len(schema) - 1, 2)
        return MarginalDistances((), (), min(self.candidates, count))

    def _course(self, schema: Schema, budget: Allowance) -> _Course:
        """How the budget is shared out, by the number of columns and the kind of noise alone: every column gets a part."""
        fine = int(np.clip(PARTS * len(schema), FEWEST, MOST)) if budget.noise is Noise.GAUSSIAN else 0
        parts = max(fine, EACH * len(schema))
        if len(schema) == 1:
            return _Course(budget.split([1.0] * parts)[0], (parts,), ())
        rest = 1 - self.first
        choices = [rest * share * self.choices for share in SHARES]
        shares = [self.first, *(rest * share * (1 - self.choices) for share in SHARES)]
        least = (len(schema), *(1 for _ in SHARES))
        counts = tuple(max(round(parts * share / sum(shares)), few) for share, few in zip(shares, least, strict=True))
        split = budget.split([*choices, *[sum(shares) / sum(counts)] * sum(counts)])
        return _Course(split[-1], counts, tuple(split[: len(SHARES)]))


@dataclass(frozen=True)
class _Course:
    """Equal parts for measurements, how many of them the first look and each round have, and what each round's choice may spend."""

    part: Allowance
    counts: tuple[int, ...]
    choices: tuple[Allowance, ...]

    @property
    def parts(self) -> int:
        """Of all rounds."""
        return sum(self.counts)


class _Run:
    """One run of the mechanism: what was measured, and the model so far."""

    def __init__(self, knobs: PrivSyn, vault: Vault, rng: np.random.Generator) -> None:
        self.knobs, self.vault, self.schema, self.rng = knobs, vault, vault.schema, rng
        self.allowance = vault.paid()
        self.course = knobs._course(self.schema, self.allowance)
        self.sizes = sizes_of(self.schema)
        self.target = target_of(self.schema, knobs.target, "privsyn")
        self.measured: list[Measurement] = []
        self.first = first_look(self.sizes, self.target, knobs.largest)
        self.ranked: list[Columns] = []
        """The chosen marginals, the largest error of each round first."""

    def go(self) -> PooledModel:
        """The whole mechanism."""
        self.vault.foresee([*self.first, *self._small(2), *self._small(3)])
        self._measure(self.first, self.course.counts[0])
        self.total = rows_of(self.vault, self.allowance, self.measured)
        self.zeros = walls(self.schema, self.knobs.cells, known=without_missing(self.schema, self.measured))
        fit = self._fitted(ROUGH if self.course.choices else STEPS)
        for number, (choice, parts) in enumerate(zip(self.course.choices, self.course.counts[1:], strict=True), 1):
            self.vault.report(number / (len(SHARES) + 1))
            chosen = self._chosen(fit, choice, parts)
            # Where nothing exceeds its noise, the columns are measured once more, as many as there are parts for.
            self._measure(chosen or self.first[:parts], parts)
            self.ranked = list(dict.fromkeys([*self.ranked, *chosen]))
            fit = self._fitted(STEPS if number == len(SHARES) else ROUGH)
        return fit.model(self.schema, self._matched(), self._summary(fit))

    def _measure(self, marginals: Sequence[Columns], parts: int) -> None:
        """Spend so many equal parts; a marginal that gets several is measured as often, and the answers are averaged."""
        for columns, times in zip(marginals, shared([self._cells(c) for c in marginals], parts).tolist(), strict=True):
            answers = [measured_one(self.vault, columns, self.course.part) for _ in range(times)]
            self.measured += combined(answers, {name: i for i, name in enumerate(self.schema.names)})

    def _fitted(self, stopping: Stopping) -> Fit:
        """A junction tree of the first marginals and as many others as it has room for; then the weights of rows for all."""
        inside = list(self.first)
        for columns in self.ranked:
            if junction.cells(self.sizes, [*inside, columns, *self.zeros]) <= self.knobs.cells:
                inside.append(columns)
        cliques = [set(clique) for clique in junction.triangulated(self.sizes, [*inside, *self.zeros]).cliques]
        held = [m for m in self.measured if any(set(m.columns) <= clique for clique in cliques)]
        graphical = estimate(self.sizes, held, total=self.total, zeros=self.zeros)
        return Fit.of(graphical, self.measured, self.rng, stopping)

    def _chosen(self, fit: Fit, choice: Allowance, parts: int) -> list[Columns]:
        """The marginals to measure next, by their noisy distances from the model."""
        candidates = self._candidates()
        expected = fit.project_all(candidates)
        query = MarginalDistances(tuple(candidates), expected, self.knobs._distances(self.schema).count)
        errors: Floats = self.vault.spend(query, choice)[: len(candidates)].astype(np.float64)
        # Of many noisy distances the largest are so by their noise: what is surely there counts.
        errors -= SURE * choice.deviation(query, self.schema)
        weights = np.array([self.knobs.favour if self.target in columns else 1.0 for columns in candidates])
        sigma = self.course.part.deviation(Histogram(self.schema.names[:1]), self.schema) / math.sqrt(parts)
        return within(self.sizes, [candidates[i] for i in dense(candidates, errors, expected, weights, sigma)], ROOM)[:parts]

    def _candidates(self) -> list[Columns]:
        """All pairs, and those of two columns and the target; some of them, by public coins, where there are too many."""
        limit = self.knobs._distances(self.schema).count
        found: list[Columns] = []
        for way in (2, 3):
            found += some(self.sizes, self._small(way), limit - len(found), self.rng, CELLS - sum(map(self._cells, found)))
        return found

    def _small(self, way: int) -> list[Columns]:
        """Sets of so many columns, of three those with the target, that are small enough to be measured."""
        columns = (c for c in combinations(self.schema.names, way) if way == 2 or self.target in c)
        return [c for c in columns if self._cells(c) <= self.knobs.largest]

    def _matched(self) -> list[Columns]:
        """The marginals that drawn rows are to match: what was measured, and all pairs."""
        return matched_marginals(self.sizes, [*self.ranked, *self.first], self.knobs.largest)

    def _cells(self, columns: Columns) -> int:
        return math.prod(self.sizes[name] for name in columns)

    def _summary(self, fit: Fit) -> dict[str, Any]:
        merged = combined(self.measured, {name: i for i, name in enumerate(self.schema.names)})
        deviations = sorted(m.sigma for m in merged)
        summary: dict[str, Any] = {
            "measured": shortened([" x ".join(columns) for columns in self.ranked], 60),
            "noise_of_a_cell": {"least": round(deviations[0], 2), "most": round(deviations[-1], 2)},
            "cells_of_the_model": fit.graphical.tree.cells,
            "rows_of_the_pool": len(fit.weights),
        }
        return summary | noise_note(self.sizes, deviations[-1], self.total)
