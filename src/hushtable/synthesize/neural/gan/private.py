"""A GAN that keeps a privacy budget: paid tables to start from, and a critic that meets real rows in noisy sums only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hushtable.learn import network
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs, numbered
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, SampledGaussian
from hushtable.privacy.preserve import Effect
from hushtable.privacy.sampled import FLOAT_NOISE, sampled_gaussian
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import require_counted
from hushtable.synthesize.network.privbayes import PrivBayes
from hushtable.synthesize.neural.gan.forbidden import forbidden
from hushtable.synthesize.neural.gan.gan import Condition as Conditioned
from hushtable.synthesize.neural.gan.gan import Loss
from hushtable.synthesize.neural.gan.products import Products, correlations
from hushtable.synthesize.neural.gan.residual import Condition, Residual
from hushtable.synthesize.neural.gan.start import Start, classes, margin_events
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema

NAME = "private-gan"
PENALTIES = ("constraints", "correlation")
CORRELATED = 0.15
"""The part of the budget for the correlations, where they are a penalty."""


@dataclass(frozen=True, kw_only=True)
class PrivateGan(PrivateCore):
    """A generator against a critic that is trained with differential privacy.

    Counts of the columns, with the target if there is one of few cells, are released with integer noise; the generator adds to
    their logarithms what a network makes of noise and a condition, and starts with nothing. The critic takes a fixed number of
    steps. In each, every record is in the batch by a coin of its own; its gradient by all weights of the critic, that of the
    gradient penalty at its own point included, is clipped to ``clip``, normal noise is added to the sum, and the sum is divided by
    what the noisy number of rows leads one to expect (DP-SGD: Abadi et al. 2016). One record changes a sum by at most ``clip``. The
    critic mixes no rows: no packing, no batch norm. Generated rows are nobody's, so their gradients are not clipped, and all
    that the generator learns from the critic is post-processing, as is the raking of what it draws to the counts. Xie et al. 2018,
    Fang et al. 2022, with the accounting of sampled Gaussians.
    """

    quick: ClassVar[Mapping[str, object]] = {"steps": 2, "width": 4}
    extra: ClassVar[str] = "neural"

    loss: Loss = Loss.WGAN_GP
    """wgan-gp: Wasserstein distance with a penalty on the critic's slope; wgan-clip: with small weights; bce: cross-entropy."""
    condition: Conditioned = Conditioned.NONE
    """none: the target, if it has few cells; level: beside it records with rare levels are taken more often, by the noisy counts;
    network: the parents in a Bayesian network that is chosen and counted with noise (PrivBayes), by fixed random vectors."""
    penalties: tuple[str, ...] = ()
    """What the generator pays for, each with its weight: ``constraints=10``, that rows break what ``constraints`` say;
    ``correlation=1``, the difference to correlations that are counted with noise."""
    constraints: tuple[str, ...] = ()
    """Public knowledge about rows, such as ``age in 0..120`` or ``cigarettes = 0 if smoke = NO``. Rows of cells that break one are
    drawn again."""
    target: str = ""
    """The column that every other is counted with, if it has at most 10 cells; empty: the role target's."""
    tables: float = 0.5
    """The part of its budget for counts; the rest is for the critic."""
    steps: int = 200
    """Of the critic."""
    rate: float = 0.1
    """The chance of a record to be in a batch; with ``condition`` level, of a record with rare levels."""
    clip: float = 1.0
    """The largest gradient of a record."""
    width: int = 64
    """Of each of the two layers of a network."""
    pull: float = 0.2
    """How much the generator pays for going away from the counted tables (by relative entropy)."""

    def __post_init__(self) -> None:
        """Ranges."""
        odd = [item for item in self.penalties if item.partition("=")[0].strip() not in PENALTIES]
        check_knobs(
            self,
            penalties=(not odd, f"must read name=weight with name one of {', '.join(PENALTIES)}"),
            tables=(0 < self.tables < 1, "must lie between 0 and 1"),
            steps=(1 <= self.steps <= 1_000_000, "must lie between 1 and 1000000"),
            rate=(0 < self.rate <= 1, "must lie above 0 and be at most 1"),
            clip=(0 < self.clip < math.inf, "must be positive and finite"),
            width=(self.width >= 1, "must be at least 1"),
            pull=(self.pull >= 0, "must not be negative"),
        )
        numbered(self, "penalties")

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, and constraints that cannot be read; lists every query."""
        require_counted(schema, NAME)
        top = classes(schema, self.target, NAME)
        forbidden(self.constraints, schema, NAME)
        events: tuple[Event, ...] = ()
        if budget is not None:
            counted, related, trained = self._parts(budget, len(schema))
            if self.condition is Conditioned.NETWORK:
                events = self._privbayes.plan(schema, counted).events
            else:
                events = margin_events(schema, top, counted)
            if related is not None:
                events += (related.event(Products(schema.names), schema),)
            events += (sampled_gaussian(trained, self.rate, self.steps),)
        public = tuple(f"that for every record {text}" for text in self.constraints)
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=(FLOAT_NOISE,), public=public)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Residual:
        """Count, then train."""
        networks = network("hushtable.synthesize.neural.gan.private_net", "a private GAN")
        schema = vault.schema
        counted, related, trained = self._parts(vault.paid(), len(schema))
        happened = sampled_gaussian(trained, self.rate, self.steps)
        top = classes(schema, self.target, NAME)
        if self.condition is Conditioned.NETWORK:
            tables = vault.named(vault.step, counted)
            start = Start.of(self._privbayes.fit(tables, rng), top)
        else:
            start = Start.measured(vault, top, counted, rng)
        goal: Floats | None = None
        if related is not None:
            goal = correlations(start, vault.spend(Products(schema.names), related))
        masks = forbidden(self.constraints, schema, NAME)
        condition = Condition.random(start, rng)
        game = networks.Game(self, start, condition, networks.Extra(goal, masks), int(rng.integers(2**31)))
        layers = game.play(vault, happened)
        return Residual(start, condition, layers, self._summary(start, happened), masks)

    @property
    def _privbayes(self) -> PrivBayes:
        """The network that conditions are drawn from; its queries are fixed beforehand."""
        return PrivBayes(degree=2, further=0.0, target=self.target)

    def _parts(self, allowance: Allowance, columns: int) -> tuple[Allowance, Allowance | None, Allowance]:
        """What counts, correlations (if they are asked for) and the critic may spend."""
        if "correlation" in numbered(self, "penalties") and columns > 1:
            counted, related, trained = allowance.split([self.tables, CORRELATED, 1 - self.tables])
            return counted, related, trained
        counted, trained = allowance.split([self.tables, 1 - self.tables])
        return counted, None, trained

    def _summary(self, start: Start, happened: SampledGaussian) -> dict[str, Any]:
        own = {"steps": self.steps, "noise_of_a_gradient": round(happened.multiplier, 3), "rows": start.network.total}
        return start.network.summary | own
