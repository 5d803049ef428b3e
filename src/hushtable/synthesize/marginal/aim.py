"""AIM: adaptive private marginals. Rounds of choosing a marginal by the AIM score, measuring it, and fitting a graphical model.

The AIM score is ``aim_score`` here; how it is computed on the rows in whole numbers, and what one record can change of it, is
``score.MarginalScores``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.rows import public_rows, rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import CELLS, MEAN, noise_note, require_counted, sizes_of, usable_total
from hushtable.synthesize.marginal import junction
from hushtable.synthesize.marginal.estimate import estimate
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.histograms import measured_one
from hushtable.synthesize.marginal.measurement import Measurement, noisy_total, total_noise, without_missing
from hushtable.synthesize.marginal.pooled import PooledModel
from hushtable.synthesize.marginal.score import MarginalScores
from hushtable.synthesize.marginal.walls import require_possible, walls
from hushtable.synthesize.marginal.workload import first_look, impossible, matched_marginals, shortened, some, target_of, workload
from hushtable.table.arrays import Floats
from hushtable.table.rules import IMPOSSIBLE
from hushtable.table.schema import Schema

Columns = tuple[str, ...]

ROUNDS = 160
"""The most rounds that are planned where no other number is asked for."""
FIRST = 100_000
"""A pair with the target of more cells is not measured unasked, and none with more is matched by the rows that are drawn."""
ROOM = 4
"""What the schema declares to be impossible may take this part of the cells of the model; the rest is for what is measured."""


@dataclass(frozen=True, kw_only=True)
class Aim(PrivateCore):
    """The adaptive iterative mechanism: (epsilon, delta)-differential privacy.

    First every column is measured, with the target if that has few classes. Then, round by round, the margin that the model gets
    most wrong is chosen by the exponential mechanism, measured with integer noise, and the model is fitted again to everything
    measured so far. The score of a margin is w (|M(D) - M(p)|_1 - sqrt(2/pi) sigma cells): the error beyond what measuring it would
    leave. One record changes one cell of M(D) by one, so a score by at most the largest w; a margin has sensitivity 1. Where a
    measurement improved the model by no more than its noise, the next ones get more budget (annealing). A margin with which the
    model would grow beyond its limit is no candidate (which ones are follows from public sizes and released answers), and the
    summary names those. Everything else is post-processing: fitting, drawing rows, and exchanging them until the counts of all
    pairs are as the model expects. McKenna, Mullins, Sheldon and Miklau 2022.
    """

    keeps_groups = True
    way: int = 2
    """Margins of so many columns are candidates; of one more where they contain the target."""
    target: str = ""
    """The column that the release is made for (a class to predict); when empty, the one with the role target, if any."""
    favour: float = 4.0
    """The weight of a margin that contains the target, relative to the others."""
    rounds: int = 0
    """The most rounds, which bounds the time; annealing makes them fewer. 0: sixteen times the number of columns, at most 160."""
    margins: float = 0.35
    """The share of the budget for the single columns, with a target of few classes, at the start."""
    choices: float = 0.1
    """The share of a round's budget for choosing; the rest is for measuring."""
    cells: int = 1_000_000
    """The most cells that the cliques of the model may have together; it grows to it as the budget is spent."""
    candidates: int = 800
    """The most margins to choose from in a round; of more, or of too many cells, some are drawn at random in every round."""
    zeros: tuple[str, ...] = field(default=(), metadata={"between": ";"})
    """Impossible combinations, as public knowledge: "sex=Male, relation=Wife"; separate several by ;. None is ever released."""

    def __post_init__(self) -> None:
        """All in range."""
        check_knobs(
            self,
            way=(1 <= self.way <= 4, "must lie between 1 and 4"),
            favour=(0 < self.favour <= 100, "must lie in (0, 100]"),
            rounds=(self.rounds >= 0, "must be positive, or 0 to follow the number of columns"),
            margins=(0 < self.margins < 1, "must lie between 0 and 1"),
            choices=(0 < self.choices < 1, "must lie between 0 and 1"),
            cells=(1 <= self.cells <= CELLS, f"must lie between 1 and {CELLS:,}"),
            candidates=(self.candidates >= 1, "must be positive"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, a target that is no column, and zeros that name no value."""
        require_counted(schema, "aim")
        target_of(schema, self.target, "aim")
        require_possible(schema, self.cells // ROOM, "aim", impossible(schema, self.zeros, "aim"))
        events: tuple[Event, ...] = ()
        if budget is not None:
            first, rest = budget.split([self.margins, 1 - self.margins] if len(schema) > 1 else [1.0, 0.0])
            choose, measure = rest.split([self.choices, 1 - self.choices])
            events = (
                *rows_event(budget, schema),
                *(
                    part.event(Histogram((c.name,)), schema)
                    for c, part in zip(schema, first.split([1.0] * len(schema)), strict=True)
                ),
                *((Exponential(choose.choice), measure.event(Histogram(schema.names[:1]), schema)) if len(schema) > 1 else ()),
            )
        public = tuple(f"{IMPOSSIBLE}{zero}" for zero in self.zeros)
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, adaptive=True, public=public)

    def fit(self, vault: Vault, rng: np.random.Generator) -> PooledModel:
        """Measure the columns, then what the model gets wrong, until the budget is spent; ``rng`` thins out too many candidates."""
        return _Run(self, vault, rng).go()


def aim_score(candidates: Sequence[Columns], weights: Sequence[int], expected: Sequence[Floats], sigma: float) -> MarginalScores:
    """The AIM score of each candidate r: w_r (|M_r(D) - M_r(p)|_1 - sqrt(2/pi) sigma cells_r).

    M_r(D) are its counts in the rows, M_r(p) those that the model expects, and the last term is the L1 error that the noise of
    measuring it would leave: a candidate is worth measuring for what it gets wrong beyond that.
    """
    return MarginalScores(tuple(candidates), expected, weights, [MEAN * sigma * table.size for table in expected])


class _Run:
    """One run of the mechanism: what was measured, the model so far, and what is left of the budget."""

    def __init__(self, knobs: Aim, vault: Vault, rng: np.random.Generator) -> None:
        self.knobs, self.vault, self.schema, self.rng = knobs, vault, vault.schema, rng
        self.allowance = vault.paid()
        self.sizes = sizes_of(self.schema)
        self.total = float(max(public_rows(vault, self.allowance), 1)) if self.allowance.unit.fixes_rows else None
        self.target = target_of(self.schema, knobs.target, "aim")
        self.first = first_look(self.sizes, self.target, FIRST)
        self.candidates = workload(self.schema, knobs.way, self.target, knobs.favour)
        self.measured: list[Measurement] = []
        self.spent = 0.0

    def go(self) -> PooledModel:
        """The whole mechanism."""
        self.vault.foresee([*self.first, *self._small(self.knobs.cells)])
        for columns in self.first:
            self._measure(columns, (self.knobs.margins if self.candidates else 1.0) / len(self.first))
        if self.total is None:
            self.total = usable_total(noisy_total(self.measured), total_noise(self.measured))
        known = {**impossible(self.schema, self.knobs.zeros, "aim"), **without_missing(self.schema, self.measured)}
        self.zeros = walls(self.schema, self.knobs.cells // ROOM, known=known)
        self.model = self._estimate(None)
        rounds = self.knobs.rounds or min(16 * len(self.schema), ROUNDS)
        size = (1 - self.spent) / rounds
        while self.spent < 1 - 1e-9:
            open_ = self._open(self.spent) or self._open(1.0)
            if not open_:
                self._again()
                break
            if self.spent + 2 * size > 1:
                size = 1 - self.spent
            if not self._round(open_, size):
                size *= 2.0
            self.vault.report(self.spent)
        groups = matched_marginals(self.sizes, [m.columns for m in self.measured], FIRST)
        shares = {group: counts / self.model.total for group, counts in zip(groups, self.model.project_all(groups), strict=True)}
        return PooledModel(self.schema, self.model, {}, np.empty(0), shares, self._summary())

    def _round(self, open_: list[Columns], size: float) -> bool:
        """Choose, measure and fit; whether the measurement moved the model by more than its own noise."""
        part = self._part(size)
        choose, measure = part.split([self.knobs.choices, 1 - self.knobs.choices])
        sigma = measure.deviation(Histogram(open_[0]), self.schema)
        before = self.model.project_all(open_)
        scores = aim_score(open_, [self.candidates[c] for c in open_], before, sigma)
        place = self.vault.choose(scores, choose)
        self._measure(open_[place], size * (1 - self.knobs.choices))
        self.spent += size * self.knobs.choices
        self.model = self._estimate(self.model)
        return float(np.abs(self.model.project(open_[place]) - before[place]).sum()) > scores.bias[place]

    def _again(self) -> None:
        """No candidate is left: the rest of the budget goes into the single columns."""
        rest = (1 - self.spent) / len(self.first)
        for columns in self.first:
            self._measure(columns, rest)
        self.model = self._estimate(self.model)

    def _open(self, grown: float) -> list[Columns]:
        """The margins to choose from: those that still fit into the model, whose limit grows with what was spent."""
        limit = int(self.knobs.cells * grown)
        return self._fitting(some(self.sizes, self._small(limit), self.knobs.candidates, self.rng), limit)

    def _fitting(self, margins: list[Columns], limit: int) -> list[Columns]:
        """Those with which the model has at most so many cells."""
        cells = junction.cells_with(self.sizes, [*(m.columns for m in self.measured), *self.zeros], margins)
        return [c for c, size in zip(margins, cells, strict=True) if size <= limit]

    def _small(self, limit: int) -> list[Columns]:
        return [c for c in self.candidates if math.prod(self.sizes[n] for n in c) <= limit]

    def _crowded(self, small: Iterable[Columns]) -> list[Columns]:
        """Margins of a size that could be measured, but not beside those that were; of at most ``candidates`` of them."""
        measured = {m.columns for m in self.measured}
        others = [c for c in small if c not in measured][: self.knobs.candidates]
        fitting = set(self._fitting(others, self.knobs.cells))
        return [c for c in others if c not in fitting]

    def _measure(self, columns: Columns, share: float) -> None:
        self.measured.append(measured_one(self.vault, columns, self._part(share)))
        self.spent += share

    def _part(self, share: float) -> Allowance:
        return self.allowance if share >= 1 else self.allowance.split([share, 1 - share])[0]

    def _estimate(self, start: Graphical | None) -> Graphical:
        return estimate(self.sizes, self.measured, total=self.total, zeros=self.zeros, start=start)

    def _summary(self) -> dict[str, Any]:
        # A rest of the budget that no candidate had room for went into single columns.
        pairs = [m for m in self.measured[len(self.first) :] if len(m.columns) > 1]
        small = dict.fromkeys(self._small(self.knobs.cells))
        lost = [c for c in self.candidates if c not in small]
        noise = {"single columns": round(self.measured[0].sigma, 2)}
        if pairs:
            noise |= {"first": round(pairs[0].sigma, 2), "last": round(pairs[-1].sigma, 2)}
        summary: dict[str, Any] = {
            "measured": [" x ".join(m.columns) for m in pairs],
            "noise_of_a_cell": noise,
            "cells_of_the_model": self.model.tree.cells,
        }
        if lost:
            summary["too_large_to_measure"] = shortened([" x ".join(columns) for columns in lost])
        if crowded := self._crowded(small):
            summary["no_room_in_the_model"] = shortened([" x ".join(columns) for columns in crowded])
        return summary | noise_note(self.sizes, self.measured[0].sigma, self.model.total)
