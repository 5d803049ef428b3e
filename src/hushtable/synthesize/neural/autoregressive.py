"""The autoregressive network: each column from its distribution given the columns before, which one network knows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.learn import network, training
from hushtable.pipeline.step import Core, Plan, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.cellwise import Cellwise
from hushtable.synthesize.neural.fields import Cut
from hushtable.synthesize.refined import Refined, refined
from hushtable.table.arrays import Integers, Singles
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "a network is trained on the rows, and draws weighed against them"
_NET, _PURPOSE = "hushtable.synthesize.neural.autoregressive_net", "an autoregressive network"
CLIMB, STEEP = 300, 0.01
"""The most epochs of a training that is to memorize, and the least learning rate: a smaller one takes twice as long."""


@dataclass(frozen=True, kw_only=True)
class Autoregressive(Core):
    """One network for the whole table: each column is drawn given those before it, in cells; draws are then refined.

    Promises nothing by itself: the network is fitted to the rows, and only the audit can measure what it reveals. It stops
    learning when a tenth of the rows, on which it is not trained, are predicted no better. A number is one of at most ``bins``
    cells (frequent values are cells of their own), one of ``parts`` parts of the cell, and inside them it is drawn by counts; one
    that fewer than ``least`` rows share is released by chance only. Generalized columns are drawn as cells, missing values as one
    more. After TabularARGN (Tiwald et al. 2025); column dropout, margins from the start, and refinement are what it is made
    better by.
    """

    quick: ClassVar[Mapping[str, object]] = {"epochs": 1, "hidden": 4, "embedding": 2, "refine": 1}
    extra: ClassVar[str] = "neural"

    bins: int = 64
    """The most cells of a number, with one for missing values. A category of more levels is cut into as many groups of them, and
    each group into its levels."""
    parts: int = 16
    """The most parts of a number's cell that the network distinguishes."""
    least: int = 5
    """A number that fewer rows share is replaced by a draw from a range that holds at least so many rows."""
    hidden: int = 96
    """Hidden units for each column, or part of one: so many for more than 24 cells, half of them for up to 8."""
    embedding: int = 12
    """Numbers that stand for a cell."""
    dropout: float = 0.3
    """The chance that a column is hidden from those after it when training begins; it falls to 0 until it ends."""
    epochs: int = 8
    """The most passes over the rows."""
    rate: float = 3e-3
    """The largest learning rate; it rises and falls once."""
    batch: int = 256
    """Rows for each step of the descent, and at most one in 50."""
    patience: int = 4
    """Passes without a better prediction of the rows left out before it stops."""
    refine: int = 3
    """Rounds of refinement: boosted trees learn where rows are more common than draws, which are weighted by it, raked to the
    columns' counts and thinned; 0 leaves them as drawn.

    It reads the rows as they are, like the network; the card says how many independent draws stand behind each released row."""
    order: tuple[str, ...] = ()
    """Columns to draw first; the others follow: target, secrets, then as in the schema. Columns drawn first are fixed at no cost
    when rows are drawn under a condition."""

    def __post_init__(self) -> None:
        """Positive sizes."""
        positive = {
            name: (getattr(self, name) >= 1, "must be at least 1") for name in ("parts", "least", "hidden", "embedding", "epochs")
        }
        check_knobs(
            self,
            **positive,
            bins=(self.bins >= 2, "must be at least 2"),
            dropout=(0 <= self.dropout < 1, "must be at least 0 and below 1"),
            rate=(0 < self.rate < math.inf, "must be positive"),
            batch=(self.batch >= 1, "must be at least 1"),
            patience=(self.patience >= 1, "must be at least 1"),
            refine=(self.refine >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that do not exist."""
        unknown = [name for name in self.order if name not in schema]
        if unknown:
            raise PlanError(f"autoregressive: there is no column {', '.join(unknown)}")
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Cellwise | Refined:
        """Train the network, then learn how to weigh its draws."""
        table = vault.open(Raw(_WHY), _WHY)
        trained = 0.7 if self.refine else 1.0
        model = self._fit(table, rng, lambda share: vault.report(trained * share), vault.work)
        if not self.refine:
            return model
        return refined(model, table, self.refine, rng, lambda share: vault.report(trained + (1 - trained) * share))

    def _fit(self, table: Table, rng: np.random.Generator, report: Callable[[float], None], work: Path | None) -> Cellwise:
        model, codes, shape = self._untrained(table)
        seed = _seed(rng)
        keep = network("hushtable.learn.checkpoint", _PURPOSE).Checkpoint.of(work, self, table, seed)
        weights, curve = network(_NET, _PURPOSE).fitted(codes, shape, self._descent(table.rows), seed, report, keep)
        return replace(model, weights=weights, training=training(curve, self.epochs))

    def overfitted(
        self, train: Table, validation: Table, ratios: Sequence[float], rng: np.random.Generator
    ) -> list[tuple[float, Cellwise]]:
        """Models along one training, with their loss on other rows: of the least loss, and as that rises to these ratios of it.

        The loss is what the network is trained to lower, so a ratio depends on how finely columns are cut. Nothing is dropped,
        nothing stops the training early, the rate is large and stays, and numbers are repeated as they are: this is to memorize.
        """
        step = replace(self, dropout=0.0, least=1)
        model, codes, shape = step._untrained(train)
        how = replace(step._descent(train.rows), epochs=CLIMB, patience=CLIMB, cycle=False, rate=max(self.rate, STEEP))

        def judge(weights: dict[str, Singles]) -> float:
            return replace(model, weights=weights).loss(validation)

        found = network(_NET, _PURPOSE).overfitted(codes, shape, how, _seed(rng), judge, ratios)
        return [(loss, replace(model, weights=weights)) for loss, weights in found]

    def _untrained(self, table: Table) -> tuple[Cellwise, Integers, Any]:
        """The model without its weights, the codes of the rows, and what the network is to be like."""
        if not table.rows:
            raise InputError("there are no rows to learn from", where="autoregressive")
        cut = Cut.of(table, self.order, self.least, self.bins, self.parts)
        shape = network(_NET, _PURPOSE).Shape(cut.counts, cut.ordered, self.embedding, self.hidden, self.dropout)
        return Cellwise(cut.schema, cut.nested, {}, table.rows, {}), cut.codes, shape

    def _descent(self, rows: int) -> Any:
        batch = int(np.clip(rows // 50, min(16, self.batch), self.batch))
        return network("hushtable.learn.loop", _PURPOSE).Descent(
            batch=batch, epochs=self.epochs, rate=self.rate, cycle=True, patience=self.patience
        )


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))
