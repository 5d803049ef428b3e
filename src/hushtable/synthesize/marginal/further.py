"""Further margins, in batches: those that a fitted model gets most wrong are chosen, measured together, and fitted.

What one record can change is what ``score.MarginalScores`` and ``histograms.Histograms`` state; all the rest here are functions
of public facts and of noisy answers. How many choices and measurements there are, and what each may spend, follows from the
number of columns alone. What is measured follows from the noise beside the (noisy) number of rows: where one measurement
of a margin would be mostly noise, fewer margins are measured several times, and where that would not do either, those that
the model has already.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np

from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.query import Histogram
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import MEAN, sizes_of
from hushtable.synthesize.marginal import junction
from hushtable.synthesize.marginal.estimate import Stopping, estimate
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.histograms import Histograms, measured
from hushtable.synthesize.marginal.measurement import Measurement
from hushtable.synthesize.marginal.score import MarginalScores
from hushtable.synthesize.marginal.workload import some
from hushtable.table.schema import Schema

Columns = tuple[str, ...]

BATCHES = (0.5, 0.5, 1.0, 2.0)
"""How many margins each batch chooses, in numbers of columns: few at first, while each changes what the others are worth."""
CHOICES = 0.12
"""The share of a batch for its choices."""
REPEATS = (1, 2, 4)
"""How often a margin may be measured in a batch."""
TOLERATED, CROWDED = 0.45, 64
"""The L1 error, as a share of the rows, that noise may leave in a margin of up to ``CROWDED`` cells that is worth measuring."""
LIMIT = 500
"""The most margins that one choice is made among."""
ROUGH = Stopping(steps=100)
"""A fit between two batches: there the model only has to rank the margins."""


@dataclass(frozen=True)
class Batch:
    """What the choices of a batch may spend, one by one, and what its measurements may spend together."""

    choices: tuple[Allowance, ...]
    counts: Allowance

    def events(self, schema: Schema) -> tuple[Event, ...]:
        """The choices, and one query of as many margins."""
        return (*(Exponential(part.choice) for part in self.choices), self.counts.event(self._query(schema.names[:1]), schema))

    def deviation(self, schema: Schema) -> float:
        """The noise of a cell that is measured once."""
        return self.counts.deviation(self._query(schema.names[:1]), schema)

    def _query(self, columns: Columns) -> Histograms:
        return Histograms((columns,) * len(self.choices))


def batches(allowance: Allowance, columns: int) -> list[Batch]:
    """The batches of a table of so many columns; each margin has the same part of the budget."""
    sizes = [max(1, math.ceil(columns * share)) for share in BATCHES]
    planned = []
    for size, part in zip(sizes, allowance.split([float(size) for size in sizes]), strict=True):
        choose, counts = part.split([CHOICES, 1 - CHOICES])
        planned.append(Batch(tuple(choose.split([1.0] * size)), counts))
    return planned


def burden(sigma: float, cells: float, total: float) -> float:
    """How much noise a margin of so many cells would have beside what is tolerated: above 1 it is not worth measuring.

    The fit compares, cell by cell, what a margin adds with the noise: of dependence in k cells among m, what counts is about
    sigma sqrt(k m). Up to ``CROWDED`` cells all may take part; in larger margins most are nearly empty.
    """
    return MEAN * sigma * math.sqrt(cells * min(cells, CROWDED)) / (TOLERATED * total)


def affordable(part: Allowance, cells: float, schema: Schema, total: float) -> float:
    """How many margins of so many cells an allowance can measure, all of them worth it."""
    one = burden(part.deviation(Histogram(schema.names[:1]), schema), cells, total)
    return 1 / one if part.noise is Noise.LAPLACE else one**-2


def repeats(sigma: float, cells: Sequence[int], total: float) -> int:
    """How often a margin of middling size must be measured to be worth it; 0: more often than is possible."""
    ratio = burden(sigma, float(np.median(cells)), total)
    return next((times for times in REPEATS if ratio <= math.sqrt(times)), 0)


class Further:
    """A model that grows batch by batch: what was measured so far, and the fit to it."""

    def __init__(
        self, vault: Vault, weights: Mapping[Columns, int], model: Graphical, known: Sequence[Measurement], cells: int
    ) -> None:
        """``weights`` are the candidates, ``known`` what the model was fitted to, ``cells`` the most that it may have."""
        self.vault, self.weights, self.model, self.measured, self.cells = vault, weights, model, list(known), cells
        self.sizes = sizes_of(vault.schema)
        self.chosen: list[Columns] = []

    def grow(self, planned: Sequence[Batch], rng: np.random.Generator) -> None:
        """Batch after batch; what is not worth its noise leaves its part to what was measured before. The last fit is left."""
        for number, batch in enumerate(planned, 1):
            margins = self._choose(batch, rng)
            groups = (*margins, *islice(cycle(self._again(batch)), len(batch.choices) - len(margins)))
            self.chosen += [columns for columns in dict.fromkeys(margins) if columns not in self.chosen]
            self.measured += measured(self.vault, groups, batch.counts)
            if number < len(planned):
                zeros, total = self.model.zeros, self.model.total
                self.model = estimate(self.sizes, self.measured, total=total, zeros=zeros, start=self.model, stopping=ROUGH)

    def _again(self, batch: Batch) -> list[Columns]:
        """What is measured again: what is worth its noise; where nothing is, the smaller half."""
        sigma = batch.deviation(self.vault.schema)
        sizes = {m.columns: m.counts.size for m in self.measured}
        worth = [columns for columns, cells in sizes.items() if repeats(sigma, [cells], self.model.total)]
        return worth or sorted(sizes, key=sizes.__getitem__)[: (len(sizes) + 1) // 2]

    def _choose(self, batch: Batch, rng: np.random.Generator) -> list[Columns]:
        """The margins to measure, each as often as it takes: the first of the chosen ones. Every choice is made."""
        held = list(dict.fromkeys(m.columns for m in self.measured))
        sigma = batch.deviation(self.vault.schema)
        fresh = [c for c in self.weights if c not in held and math.prod(self.sizes[n] for n in c) <= self.cells]
        candidates = self._fitting(held, some(self.sizes, fresh, LIMIT, rng)) or held
        expected = self.model.project_all(candidates)
        times = repeats(sigma, [table.size for table in expected], self.model.total)
        bias = [MEAN * sigma / math.sqrt(max(times, 1)) * table.size for table in expected]
        scores = MarginalScores(tuple(candidates), expected, [self.weights.get(c, 1) for c in candidates], bias)
        open_, picked = list(range(len(candidates))), []
        for part in batch.choices:
            pick = open_[self.vault.choose(scores.among(open_), part)]
            picked.append(candidates[pick])
            left = {candidates[i]: i for i in open_ if i != pick}
            open_ = [left[c] for c in self._fitting([*held, *picked], list(left))] or open_
        return [columns for columns in picked[: len(picked) // times] for _ in range(times)] if times else []

    def _fitting(self, held: Sequence[Columns], margins: Sequence[Columns]) -> list[Columns]:
        """Those with which the model has at most ``cells`` cells."""
        room = junction.cells_with(self.sizes, [*held, *self.model.zeros], margins) if margins else ()
        return [c for c, size in zip(margins, room, strict=True) if size <= self.cells]
