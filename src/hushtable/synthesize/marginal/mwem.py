"""MWEM: in rounds, the margin that the model answers worst is chosen and measured, and the model is updated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hushtable.errors import PlanError
from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram, Total
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import MEAN, noise_note, require_counted, sizes_of, usable_total
from hushtable.synthesize.marginal import junction
from hushtable.synthesize.marginal.estimate import UNTIL_NOISE, Stopping, estimate
from hushtable.synthesize.marginal.further import affordable
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.histograms import measured_one
from hushtable.synthesize.marginal.measurement import Measurement, noisy_total, total_noise, without_missing
from hushtable.synthesize.marginal.model import CountModel
from hushtable.synthesize.marginal.score import MarginalScores
from hushtable.synthesize.marginal.walls import code_walls, require_possible, walls
from hushtable.synthesize.marginal.workload import some, target_of, workload
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema

Columns = tuple[str, ...]

DENSE = 1 << 20
"""The most cells of a domain on which weights are kept one by one."""
PASSES = 20
"""How often the weights are updated for each measurement, old ones included, in a round."""
ROUGH = Stopping(steps=40)
"""A fit between two rounds: there the model only has to rank the margins."""
LIMIT = 500
"""The most margins that one choice is made among."""
COUNT, MARGINS = 0.02, 0.2
"""The shares of the budget for the number of rows and for the single columns; the rounds get the rest."""
CLASSIC, CHOICES = 0.5, 0.12
"""The share of a round for its choice: as published, and on a graphical model, where every candidate's error is large beside it."""
ROUNDS, MOST = 4, 100
"""The most rounds: in numbers of columns, and at all."""


@dataclass(frozen=True, kw_only=True)
class Mwem(PrivateCore):
    """Multiplicative weights with the exponential mechanism, on a graphical model so that it can handle many columns.

    The number of rows is measured, and by default every column. Then in each round the exponential mechanism chooses the
    margin that the model answers worst in L1 (``MarginalScores``: one record changes that by at most its weight, replaced by at
    most twice that), the margin is measured with integer noise, and the model is fitted to everything measured so far. There
    are as many rounds as leave each margin more signal than noise, by the noisy number of rows; an eighth of a round
    pays for its choice, and margins with the target weigh more, as in AIM. ``classic`` keeps a weight for every cell of the whole
    domain and updates them as published, half of a round for the choice, starting from equal weights, with every measurement
    so far again in each round; the result is the last weights (the theorem is about the average over the rounds).
    Everything but the choices and the counts is post-processing.
    Hardt, Ligett and McSherry 2012; McKenna, Sheldon and Miklau 2019 for the graphical model.
    """

    keeps_groups = True
    rounds: int = 0
    """How many margins are chosen; 0: as many as are worth it, at most 4 for each column and 100 (classic: 2 for each)."""
    way: int = 2
    """How many columns a margin has; one more where it contains the target (not classic)."""
    target: str = ""
    """The column that the release is made for; when empty, the one with the role target, if any (not classic)."""
    favour: float = 4.0
    """The weight of a margin that contains the target, relative to the others (not classic)."""
    classic: bool = False
    """Whether weights are kept for every cell of the domain (at most 2^20), as published."""
    cells: int = 200_000
    """The most cells of the graphical model; margins that would make it larger are not chosen."""

    def __post_init__(self) -> None:
        """Ranges."""
        check_knobs(
            self,
            rounds=(0 <= self.rounds <= 1000, "must lie between 1 and 1000, or be 0 to follow from the columns and the noise"),
            way=(1 <= self.way <= 3, "must be 1, 2 or 3"),
            favour=(0 < self.favour <= 100, "must lie in (0, 100]"),
            cells=(4 <= self.cells <= 1 << 24, "must lie between 4 and 2^24"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, a target that is none, and a domain too large for weights of every cell."""
        require_counted(schema, "mwem")
        require_possible(schema, self.cells, "mwem")
        candidates = self._workload(schema)
        sizes = sizes_of(schema)
        whole = math.prod(float(size) for size in sizes.values())
        if self.classic and whole > DENSE:
            raise PlanError(
                f"mwem: the domain has {whole:.3g} cells, and the classic update keeps a weight for each (at most {DENSE}); "
                "leave 'classic' out, or keep fewer columns or bins"
            )
        wide = [name for name, size in sizes.items() if size > self.cells]
        if wide:
            raise PlanError(f"mwem: {', '.join(wide)} alone has more than {self.cells} cells; cut it into bins, or raise 'cells'")
        events: tuple[Event, ...] = ()
        if budget is not None:
            count, single, rest = self._parts(budget, len(schema))
            one = Histogram(schema.names[:1])
            # Where the noise decides how many rounds there are, one stands for all of them.
            choosing, counting = self._rounds(rest, self._fixed(len(schema)) or 1)
            events = (count.event(Total(), schema), *(part.event(one, schema) for part in (*single, *counting)))
            events += tuple(Exponential(part.choice) for part in choosing)
        caveats = [f"built to answer margins of {self.way} columns; dependence between more columns at once is lost"]
        if len(candidates) > LIMIT:
            caveats.append(f"margins are chosen among at most {LIMIT} candidates at a time, drawn at random")
        adaptive = not self._fixed(len(schema))
        return Plan(
            schema=schema, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, caveats=tuple(caveats), adaptive=adaptive
        )

    def fit(self, vault: Vault, rng: np.random.Generator) -> CountModel:
        """Choose, measure and update, round by round."""
        schema, sizes = vault.schema, sizes_of(vault.schema)
        count, single, rest = self._parts(vault.paid(), len(schema))
        margins = {c: w for c, w in self._workload(schema).items() if math.prod(sizes[n] for n in c) <= self.cells}
        vault.foresee([*((name,) for name in schema.names), *margins])
        rows = vault.spend(Total(), count).astype(np.float64).reshape(())
        # Classic weights start without any column measured.
        measured = [measured_one(vault, (name,), part) for name, part in zip(schema.names, single, strict=False)]
        counted = [Measurement((), rows, count.deviation(Total(), schema)), *measured]
        total = usable_total(noisy_total(counted), total_noise(counted))
        weights: Weights | None = Weights.even(sizes, total) if self.classic else None
        model = weights.graphical() if weights else estimate(sizes, measured, total=total)
        choosing, counting = self._rounds(rest, self._fixed(len(schema)) or self._affordable(schema, rest, list(margins), total))
        # What a code list explains of the codes need not be measured again.
        lists = code_walls(schema, self.cells)
        for number, (choice, part) in enumerate(zip(choosing, counting, strict=True), 1):
            limit = self.cells * number // len(choosing)
            candidates = self._candidates(sizes, list(margins), [*lists, *(m.columns for m in measured)], limit, rng)
            sigma = part.deviation(Histogram(schema.names[:1]), schema)
            expected = model.project_all(candidates)
            bias = [MEAN * sigma * table.size for table in expected]
            scores = MarginalScores(tuple(candidates), expected, [margins.get(c, 1) for c in candidates], bias)
            measured.append(measured_one(vault, candidates[vault.choose(scores, choice)], part))
            if weights:
                model = weights.update(measured)
            else:
                last = number == len(choosing)
                zeros = (
                    walls(schema, self.cells, [m.columns for m in measured], without_missing(schema, measured)) if last else lists
                )
                model = estimate(sizes, measured, total=total, zeros=zeros, start=model, stopping=UNTIL_NOISE if last else ROUGH)
            vault.report(number / len(choosing))
        sigma = counting[0].deviation(Histogram(schema.names[:1]), schema)
        return CountModel(schema, model, self._summary(measured, len(choosing), model, sigma))

    def _workload(self, schema: Schema) -> dict[Columns, int]:
        """The margins to choose from, with their weights: sets of ``way`` columns, and of one more with the target."""
        way = min(self.way, len(schema))
        if self.classic:
            return dict.fromkeys(combinations(schema.names, way), 1)
        margins = workload(schema, way, target_of(schema, self.target, "mwem"), self.favour)
        return {c: w for c, w in margins.items() if len(c) >= way} or dict.fromkeys(combinations(schema.names, way), 1)

    def _fixed(self, columns: int) -> int:
        """How many rounds there are, where that is known beforehand; else 0."""
        return self.rounds or (2 * columns if self.classic else 0)

    def _affordable(self, schema: Schema, rest: Allowance, margins: list[Columns], total: float) -> int:
        """As many rounds as leave a margin of middling size worth measuring."""
        sizes = sizes_of(schema)
        cells = float(np.median([math.prod(sizes[name] for name in c) for c in margins] or [1]))
        most, fewest = min(ROUNDS * len(schema), MOST), max(1, len(schema) // 2)
        return int(np.clip(affordable(self._rounds(rest, 1)[1][0], cells, schema, total), fewest, most))

    def _parts(self, allowance: Allowance, columns: int) -> tuple[Allowance, list[Allowance], Allowance]:
        """What the number of rows, each column and all rounds together may spend."""
        margins = 1e-9 if self.classic else MARGINS
        count, single, rest = allowance.split([COUNT, margins, 1 - COUNT - margins])
        return count, [] if self.classic else single.split([1.0] * columns), rest

    def _rounds(self, rest: Allowance, rounds: int) -> tuple[list[Allowance], list[Allowance]]:
        """What each choice and each measurement may spend."""
        share = CLASSIC if self.classic else CHOICES
        choosing, counting = rest.split([share, 1 - share])
        return choosing.split([1.0] * rounds), counting.split([1.0] * rounds)

    def _candidates(
        self, sizes: Mapping[str, int], margins: list[Columns], held: list[Columns], limit: int, rng: np.random.Generator
    ) -> list[Columns]:
        """Margins that fit into the model, whose limit grows round by round: released and public facts, and public coins."""
        small = some(sizes, margins, LIMIT, rng)
        room = np.zeros(len(small)) if self.classic else junction.cells_with(sizes, held, small)
        fitting = [c for c, size in zip(small, room, strict=True) if size <= limit]
        # A margin that is there already always fits: it is measured again.
        return fitting or list(dict.fromkeys(held)) or [(name,) for name in sizes]

    def _summary(self, measured: list[Measurement], rounds: int, model: Graphical, sigma: float) -> dict[str, Any]:
        chosen = [" x ".join(m.columns) for m in measured[-rounds:]]
        summary: dict[str, Any] = {"margins": chosen, "noise_of_a_cell": round(sigma, 2), "rows": round(model.total)}
        return summary | noise_note(model.sizes, measured[0].sigma if measured else sigma, model.total)


@dataclass(eq=False)
class Weights:
    """A weight for every cell of the domain."""

    sizes: Mapping[str, int]
    total: float
    now: Floats

    @classmethod
    def even(cls, sizes: Mapping[str, int], total: float) -> Weights:
        """All the same."""
        shape = tuple(sizes.values())
        return cls(sizes, total, np.full(shape, total / math.prod(shape)))

    def update(self, measured: list[Measurement]) -> Graphical:
        """Multiply each weight by exp((measured - expected)/(2 total)) of its cell, for every measurement, several times over."""
        names = list(self.sizes)
        for _ in range(PASSES):
            for m in measured:
                axes = [names.index(name) for name in m.columns]
                margin = self.now.sum(axis=tuple(i for i in range(len(names)) if i not in axes))
                shape = [size if i in axes else 1 for i, size in enumerate(self.now.shape)]
                # The columns of a margin are in the order of the schema, so its axes are in the order of the weights.
                self.now *= np.exp((m.counts - margin) / (2 * self.total)).reshape(shape)
                self.now *= self.total / self.now.sum()
        return self.graphical()

    def graphical(self) -> Graphical:
        """As a model with one potential for all columns."""
        return Graphical(self.sizes, {tuple(self.sizes): np.log(np.maximum(self.now, 1e-300))}, self.total)
