"""GANs with noise on the critic's gradients as they were published: DPGAN, DP-CTGAN, DP-PCGAN, DP-CSGAN and DP-BNGAN.

The idea holds (``private`` is its certified form): a generator that learns from a private critic only is private. What surrounds
the critic in the publications, and in the libraries that their figures come from, reads the rows as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.errors import InputError
from hushtable.learn import network
from hushtable.pipeline.step import Plan, check_knobs, numbered
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.gan.constraints import read_constraints
from hushtable.synthesize.neural.gan.gan import Adversarial, Condition, Gan, Loss
from hushtable.table.schema import Schema

NAME = "gan-published"
_WHY = "numbers are scaled by the least and largest value of the rows, and batches are shuffled rows"

GAPS = (
    "numbers are scaled by the least and the largest value that the rows hold (or by modes fitted to them), which no noise covers: "
    "whoever has the largest value sets the largest that can be drawn",
    "batches are parts of shuffled rows, and are accounted for as if each row were in a batch by a coin of its own",
    "which levels there are, and the shares of levels that training starts from, are those of the rows",
    "the noise comes from a generator with a seed and is added in floating-point numbers",
    "delta is one over the number of rows, which allows a random record to be published",
)
PENALTY_GAP = (
    "the gradient penalty is evaluated between real rows and generated ones, and its gradient is neither clipped nor noisy"
)
LEVEL_GAP = (
    "rows are drawn by the logarithms of the exact counts of their levels: rare rows are in more batches than are accounted for, "
    "and the generator is given the exact counts"
)
CONSTRAINT_GAP = (
    "thresholds that were determined by analysis of the rows are no public constraints, and weights were tuned on the rows"
)
NETWORK_GAPS = (
    "which column depends on which is searched for on the rows as they are, and leaves with the shape of the networks",
    "2 is the most that one number of the vectors changes, and a row changes many: Laplace noise of the scale 2/epsilon on M "
    "numbers costs M times epsilon",
    "in training the generator is given the vectors of real rows' own levels, and in drawing those of the network's exact tables",
    "the reconstruction loss, which the publication states and then does not use, compares generated rows with real ones",
    "the epsilons of vectors and critic are added, and the delta of the critic is forgotten",
    "how many levels there are decides the sizes of the vectors",
)
CORRELATION_GAP = "the correlations that the generator is to keep are the exact ones of the rows, declared to be public"


@dataclass(frozen=True, kw_only=True)
class PublishedGan(Gan):
    """A GAN whose critic has clipped and noisy gradients on real rows, with everything around it as in the publications.

    Each row's gradient is clipped to ``bound`` and normal noise is added to their sum, as much as (epsilon, 1/n) asks for if
    batches were Poisson samples. That the release is then private is not proven (the gaps are printed), so epsilon is infinite;
    ``private-gan`` is the form that is. Xie et al. 2018, Fang et al. 2022. Clip, noise and steps are our choice where a publication
    gives none.
    """

    quick: ClassVar[Mapping[str, object]] = {"epochs": 1, "width": 4, "noise": 4, "layers": 1, "batch": 64}

    epsilon: float = 1.0
    """The epsilon that the publication says the release is protected with; with the condition ``network`` the vectors of its
    levels have noise for as much again, and the claim is the sum."""
    bound: float = 1.0
    """The largest gradient of a row."""
    refine: int = 0
    """No refinement: it would read the rows."""

    def __post_init__(self) -> None:
        """A positive epsilon; one row at a time."""
        check_knobs(
            self,
            epsilon=(1e-3 <= self.epsilon <= 1e6, "must lie between 0.001 and 1e6"),
            bound=(0 < self.bound < math.inf, "must be positive and finite"),
            refine=(self.refine == 0, "must be 0"),
            pac=(self.pac == 1, "must be 1"),
        )
        super().__post_init__()

    @property
    def vector_epsilon(self) -> float:
        """As much again as the critic has: BNGAN's 2 is 1 and 1."""
        return self.epsilon

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """States the claim, and the gaps in its proof."""
        public = super().plan(schema, budget).public
        wanted = numbered(self, "penalties")
        more = {
            PENALTY_GAP: self.loss is Loss.WGAN_GP,
            LEVEL_GAP: self.condition is Condition.LEVEL,
            CONSTRAINT_GAP: "constraints" in wanted,
            CORRELATION_GAP: "correlation" in wanted,
        }
        own = NETWORK_GAPS if self.condition is Condition.NETWORK else ()
        claimed = self.epsilon + (self.vector_epsilon or 0.0 if own else 0.0)
        gaps = (*GAPS, *(gap for gap, there in more.items() if there), *own)
        claim = Claim(f"differential privacy with epsilon = {claimed:g}", gaps)
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE, public=public, claims=(claim,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Adversarial:
        """Scale by the rows, and train on shuffled batches."""
        table = vault.open(Raw(_WHY), _WHY)
        if not table.rows:
            raise InputError("a network needs at least one row", where=NAME)
        constraints = read_constraints(self.constraints, table.schema, NAME)
        networks = network("hushtable.synthesize.neural.gan.published_net", "a GAN")
        learnt = networks.train(self, table, constraints, int(rng.integers(2**31)), vault.report, vault.work)
        return Adversarial(**learnt, constraints=constraints, rows=table.rows)
