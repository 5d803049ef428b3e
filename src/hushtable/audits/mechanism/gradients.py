"""Canaries with gradients of their own, which put the noise of the private descent to the test.

Each canary has a gradient along a coordinate that no other row has (Dirac canaries; Nasr et al. 2021, Steinke et al. 2023), longer
than any gradient may be, and a fair coin decides whether it is in the table. All of them are in every batch, so each coordinate of
a noisy sum is that of one canary: the clipping norm if it is in, 0 if it is out, and the noise. The difference of the means of both
kinds, over the spread within them, is what an attacker knows of a coin. Where the noise is as stated it follows a noncentral t
distribution, so the test is exact: it refutes true noise as rarely as its level says. It is the code of every private training
(``learn.private``) that is tested, at a stated multiplier: one run of many canaries, not a network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import nct

from hushtable.audits.mechanism.worlds import worlds
from hushtable.errors import HushError, InputError
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.event import SampledGaussian
from hushtable.privacy.noise import SYSTEM, Entropy
from hushtable.privacy.unit import Budget, Relation, default_delta
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    import torch

    from hushtable.learn.ghost import Sums
    from hushtable.learn.private import Descending, PrivateDescent

CANARIES = 1000
LONG = 1e3
"""The norm of the gradient of a canary before it is clipped, as a multiple of the clipping norm."""
LEVEL = 0.05
STRICT = 0.001
"""The error of the test where it is one of many of an audit: less than one in a thousand beside theirs."""
STEPS = 100
"""So many steps of a longer training are tried."""


@dataclass(frozen=True, kw_only=True)
class GradientTest:
    """What one run of canaries showed."""

    mu: float
    """Of Gaussian differential privacy, as the multiplier and the number of steps state it at rate 1."""
    shown: float
    """The mu that the coordinates show: the difference of the means over the spread."""
    p: float
    """How likely so large a difference is if the noise is as stated."""
    inside: int
    """Canaries that were in."""
    canaries: int

    @property
    def refuted(self) -> bool:
        """Whether the stated noise is refuted, with an error of ``LEVEL``."""
        return self.p <= LEVEL

    @property
    def surely(self) -> bool:
        """The same with an error of ``STRICT``."""
        return self.p <= STRICT

    @property
    def sentence(self) -> str:
        """What came out, in words."""
        found = "refuted: the noise is smaller than is stated" if self.surely else "not refuted"
        return (
            f"(d) {self.canaries:,} canaries with a gradient of their own, each in or out by a coin: the private descent shows mu "
            f"{self.shown:.3f}, its multiplier states {self.mu:.3f} at rate 1 (p {self.p:.2g}); {found}"
        )


def planned_canaries(recipe: Recipe, *, epsilon: float | None, delta: float | None, seed: int | None) -> list[GradientTest]:
    """A test at the multiplier of every private training that a recipe plans, in tables made for audits; none where it has none.

    It is the sum and its noise that are tested, at rate 1: what sampling adds is accounting, and is not.
    """
    pair = worlds("lone", Relation.ADD_REMOVE)
    at = default_delta(pair.within.schema.size) if delta is None else delta
    try:
        budget = None if epsilon is None else Budget(epsilon, at)
        course = plan(recipe, pair.within.schema, budget=budget, unit=pair.unit, seeded=seed is not None)
    except HushError:
        # The audit in two worlds says what is refused, and why.
        return []
    events = dict.fromkeys(entry.event for entry in course.ledger.entries if isinstance(entry.event, SampledGaussian))
    if find_spec("torch") is None:
        # Then the recipe does not run either, which the audit in two worlds says.
        return []
    return [gradient_canaries(event.multiplier, steps=min(event.steps, STEPS), seed=seed) for event in events]


def gradient_canaries(
    multiplier: float,
    *,
    steps: int = 1,
    canaries: int = CANARIES,
    seed: int | None = None,
    kind: type[Descending] | None = None,
) -> GradientTest:
    """Run the private descent with a stated multiplier on canaries, and test it. ``kind`` replaces its code, to test the test.

    The power is that of a mu near 1 or below: with a thousand canaries, mu 0.5 and half the noise it is practically certain.
    """
    # The descent needs torch, which takes seconds to load.
    from hushtable.learn.private import Descending, PrivateDescent

    faults = {"multiplier": not multiplier > 0, "steps": steps < 1, "canaries": canaries < 40}
    if wrong := [name for name, fault in faults.items() if fault]:
        raise InputError("must be positive, and at least 40 canaries are needed", where=", ".join(wrong))
    rng = np.random.default_rng(seed)
    inside = rng.random(canaries) < 0.5
    how = PrivateDescent(rate=1.0, steps=steps, multiplier=multiplier, clip=1.0)
    entropy = SYSTEM if seed is None else Entropy.seeded(int(rng.integers(2**62)))
    found = _noisy_mean(how, inside, entropy, kind or Descending)
    return difference_test(found, inside, mu=math.sqrt(steps) / multiplier)


def difference_test(found: Floats, inside: Mask, *, mu: float) -> GradientTest:
    """Test coordinates, of canaries that are in and of others, against noise whose spread is 1/mu of the clipping norm.

    The statistic of Student's test is noncentral with mu / sqrt(1/a + 1/b) where the noise is normal and as stated, and smaller in
    distribution where it is larger.
    """
    a, b = int(inside.sum()), int((~inside).sum())
    if min(a, b) < 2:
        return GradientTest(mu=mu, shown=0.0, p=1.0, inside=a, canaries=len(inside))
    ours, others = found[inside], found[~inside]
    pooled = math.sqrt((ours.var() * a + others.var() * b) / (a + b - 2))
    difference, width = float(ours.mean() - others.mean()), math.sqrt(1 / a + 1 / b)
    if pooled == 0:
        return GradientTest(mu=mu, shown=math.inf if difference > 0 else 0.0, p=float(difference <= 0), inside=a, canaries=a + b)
    shown = difference / pooled
    return GradientTest(mu=mu, shown=shown, p=float(nct.sf(shown / width, a + b - 2, mu / width)), inside=a, canaries=a + b)


@dataclass(frozen=True)
class _Dirac:
    """Gradients along one coordinate each."""

    parameter: torch.nn.Parameter
    coordinates: torch.Tensor

    def squared_norms(self) -> torch.Tensor:
        import torch

        return torch.full((len(self.coordinates),), LONG**2)

    def weighted(self, weights: torch.Tensor) -> Sums:
        import torch

        total = torch.zeros(len(self.parameter))
        return [(self.parameter, total.index_add(0, self.coordinates, LONG * weights))]


def _noisy_mean(how: PrivateDescent, inside: Mask, entropy: Entropy, kind: type[Descending]) -> Floats:
    """The mean over the steps of what the descent hands out."""
    import torch

    column = Column(name="canary", kind=Kind.INTEGER, domain=Bounds(0, len(inside) - 1))
    table = Table(Schema((column,)), {"canary": np.flatnonzero(inside).astype(column.dtype)})
    parameter = torch.nn.Parameter(torch.zeros(len(inside)))
    run = kind(how, Vault.of(table, entropy=entropy), [parameter], 1.0, "puts the noise of the descent to the test")
    coordinates = torch.from_numpy(run.table["canary"].astype(np.int64))
    total = np.zeros(len(inside))

    def gradients(rows: Integers) -> _Dirac:
        return _Dirac(parameter, coordinates[torch.from_numpy(rows)])

    for _ in run.batches():
        run.update(gradients)
        assert parameter.grad is not None
        total += parameter.grad.double().numpy()
    return total / how.steps
