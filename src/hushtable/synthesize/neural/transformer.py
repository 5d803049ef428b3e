"""The causal transformer over the tokens of a row, of the kind of REaLTabFormer."""

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
from hushtable.synthesize.neural.fields import Cut
from hushtable.synthesize.neural.q_delta import TABLES, Copying
from hushtable.synthesize.neural.tokenwise import Tokenwise
from hushtable.synthesize.refined import Refined, refined
from hushtable.table.arrays import Integers, Singles
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "a network is trained on the rows, and draws weighed against them"
_NET, _PURPOSE = "hushtable.synthesize.neural.transformer_net", "a transformer"
STRIKES = 2
"""Comparisons in a row that must show copies before training stops."""
CLIMB = 300
"""The most epochs of a training that is to memorize."""


@dataclass(frozen=True, kw_only=True)
class Transformer(Core):
    """A causal transformer: a row is a sentence of tokens, and each token is drawn given all before it.

    Promises nothing: the network is trained on the rows as they are, and only the audit can measure what it reveals. Tokens are the
    levels of a column, missing and generalized cells among them; numbers and dates are best written as digits first (the coder
    ``digits``), and are otherwise cut into cells. A tenth of the rows is held out, and the weights that predict them best are kept.
    Every few epochs drawn rows are compared with training rows by the Q-delta statistic: weights that draw nearer to them than
    other real rows lie are not kept, and two such comparisons in a row stop the training. Of the kind of REaLTabFormer (Solatorio
    and Dupriez 2023), with a smaller network, hidden columns, margins from the start, and refinement.
    """

    quick: ClassVar[Mapping[str, object]] = {"epochs": 1, "width": 4, "layers": 1, "heads": 1, "refine": 0}
    extra: ClassVar[str] = "neural"

    width: int = 64
    """Numbers that stand for a token in every layer."""
    layers: int = 2
    """Layers of attention."""
    heads: int = 4
    """Attention heads of a layer; they share the width evenly."""
    mask: float = 0.0
    """Target masking: the chance that a value is never shown, neither to learn it nor to learn from it. Which values these are is
    drawn once, so that hardly a row is seen whole."""
    dropout: float = 0.1
    """The chance that a column is hidden from those after it when training begins; it falls to 0 until it ends."""
    epochs: int = 8
    """The most passes over the rows."""
    rate: float = 3e-3
    """The largest learning rate; it rises and falls once."""
    batch: int = 128
    """Rows for each step of the descent, and at most one in 50."""
    patience: int = 4
    """Passes without a better prediction of the rows left out before it stops."""
    check: int = 5
    """Epochs from one comparison by Q-delta to the next; 0 compares never."""
    refine: int = 3
    """Rounds of refinement: boosted trees learn where rows are more common than draws, which are weighted by it, raked to the
    columns' counts and thinned; 0 leaves them as drawn."""
    bins: int = 64
    """The most cells of a number that is not written as digits, with one for missing values. A category of more levels is cut into
    as many groups of them, and each group into its levels."""
    parts: int = 16
    """The most parts of a number's cell that the network distinguishes."""
    least: int = 5
    """A number in cells that fewer rows share is replaced by a draw from a range that holds at least so many rows."""
    order: tuple[str, ...] = ()
    """Columns to draw first; the others follow: target, secrets, then as in the schema. Columns drawn first are fixed at no cost
    when rows are drawn under a condition."""

    def __post_init__(self) -> None:
        """Positive sizes, and heads that share the width."""
        sizes = ("width", "layers", "heads", "epochs", "batch", "patience", "parts", "least")
        check_knobs(
            self,
            **{name: (getattr(self, name) >= 1, "must be at least 1") for name in sizes},
            **{name: (0 <= getattr(self, name) < 1, "must be at least 0 and below 1") for name in ("mask", "dropout")},
            **{name: (getattr(self, name) >= 0, "must not be negative") for name in ("check", "refine")},
            rate=(0 < self.rate < math.inf, "must be positive"),
            bins=(self.bins >= 2, "must be at least 2"),
        )
        check_knobs(self, heads=(self.width % self.heads == 0, f"must divide the width of {self.width}"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that do not exist."""
        unknown = [name for name in self.order if name not in schema]
        if unknown:
            raise PlanError(f"transformer: there is no column {', '.join(unknown)}")
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Tokenwise | Refined:
        """Train the network, then learn how to weigh its draws."""
        table = vault.open(Raw(_WHY), _WHY)
        trained = 0.7 if self.refine else 1.0
        model = self._fit(table, rng, lambda share: vault.report(trained * share), vault.work)
        if not self.refine:
            return model
        return refined(model, table, self.refine, rng, lambda share: vault.report(trained + (1 - trained) * share))

    def _fit(self, table: Table, rng: np.random.Generator, report: Callable[[float], None], work: Path | None) -> Tokenwise:
        model, codes, shape = self._untrained(table)
        seed = int(rng.integers(2**31))
        keep = network("hushtable.learn.checkpoint", _PURPOSE).Checkpoint.of(work, self, table, seed)
        watch = _Comparison(model, table, seed)
        how = self._descent(table.rows)
        found = network(_NET, _PURPOSE).fitted(codes, shape, how, seed, report, keep, watch.over, self.check, STRIKES)
        told = training(found.curve, self.epochs) | watch.told(found.checks)
        return replace(model, weights=found.weights, training=told)

    def overfitted(
        self, train: Table, validation: Table, ratios: Sequence[float], rng: np.random.Generator
    ) -> list[tuple[float, Tokenwise]]:
        """Models along one training, with their loss on other rows: of the least loss, and as that rises to these ratios of it.

        The loss is what the network is trained to lower, so a ratio depends on how columns are written: a digit that nobody can
        guess is a part of it that hardly rises. Nothing is hidden or masked, nothing stops the training early, the rate stays, and
        numbers are repeated as they are: this is to memorize.
        """
        step = replace(self, dropout=0.0, mask=0.0, least=1)
        model, codes, shape = step._untrained(train)
        how = replace(step._descent(train.rows), epochs=CLIMB, patience=CLIMB, cycle=False)

        def judge(weights: dict[str, Singles]) -> float:
            return replace(model, weights=weights).loss(validation)

        found = network(_NET, _PURPOSE).overfitted(codes, shape, how, int(rng.integers(2**31)), judge, ratios)
        return [(loss, replace(model, weights=weights)) for loss, weights in found]

    def _untrained(self, table: Table) -> tuple[Tokenwise, Integers, Any]:
        """The model without its weights, the codes of the rows, and what the network is to be like."""
        if not table.rows:
            raise InputError("there are no rows to learn from", where="transformer")
        cut = Cut.of(table, self.order, self.least, self.bins, self.parts)
        shape = network(_NET, _PURPOSE).Shape(cut.counts, self.width, self.layers, self.heads, self.dropout, self.mask)
        return Tokenwise(cut.schema, cut.nested, {}, table.rows, {}, self.heads), cut.codes, shape

    def _descent(self, rows: int) -> Any:
        batch = int(np.clip(rows // 50, min(16, self.batch), self.batch))
        return network("hushtable.learn.loop", _PURPOSE).Descent(
            batch=batch, epochs=self.epochs, rate=self.rate, cycle=True, patience=self.patience
        )


class _Comparison:
    """A network in training, compared with copying by Q-delta."""

    def __init__(self, model: Tokenwise, table: Table, seed: int) -> None:
        self.model, self.table, self.seed = model, table, seed
        self.copying: Copying | None = None

    def over(self, rows: Integers) -> Callable[[dict[str, Singles], int], tuple[float, bool]] | None:
        """What compares with these rows, which are trained on; None where they are too few."""
        copying = self.copying = Copying.of(self.table.take(rows), np.random.default_rng([self.seed, 0]))
        if copying is None:
            return None

        def check(weights: dict[str, Singles], epoch: int) -> tuple[float, bool]:
            rng = np.random.default_rng([self.seed, epoch])
            model = replace(self.model, weights=weights)
            value = copying.value([model.sample(copying.size, rng) for _ in range(TABLES)], rng)
            return value, value > copying.threshold

        return check

    def told(self, checks: Sequence[tuple[int, float]]) -> dict[str, Any]:
        """The values by epoch and their threshold, for the card."""
        if self.copying is None or not checks:
            return {}
        values = {str(epoch): round(value, 4) for epoch, value in checks}
        return {"q_delta": values, "q_delta_threshold": round(self.copying.threshold, 4)}
