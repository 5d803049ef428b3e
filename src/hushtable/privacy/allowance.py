"""What one step may spend, in the currency that adds up, and the noise that it buys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from hushtable.errors import GuaranteeRefused, PlanError
from hushtable.privacy import accountant
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Event, StabilityHistogram
from hushtable.privacy.noise import gaussian_variance, laplace_scale
from hushtable.privacy.query import Changes, Occupied, Query, Scores, require_exact
from hushtable.privacy.stability import threshold
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.table.schema import Schema

WIDEST = 2.0**49
"""Scales of noise are below this: with its tails it then stays far inside 64 bits."""


class Noise(StrEnum):
    """Which integer noise is added to an answer."""

    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """Either ``rho`` (zCDP, when the budget has a delta) or a pure ``epsilon`` (when it has none)."""

    unit: Unit = field(default_factory=Unit)
    """Whom it protects; ``rows`` already counts how many encoded rows one person can change."""
    rho: float | None = None
    epsilon: float | None = None
    budget: Budget | None = None
    """The same as (epsilon, delta), for a mechanism that pays a delta of its own; such parts add up as they are."""
    whole: Budget | None = None
    """The budget that this is a part of."""

    @classmethod
    def of(cls, budget: Budget, unit: Unit, rate: float = 1.0) -> Allowance:
        """The whole budget; on a secret sample taken at ``rate`` a step may spend more for the same price."""
        inside = Budget(accountant.before_sampling(budget.epsilon, rate), min(budget.delta / rate, 0.5))
        if budget.delta == 0:
            return cls(unit=unit, epsilon=inside.epsilon, budget=inside, whole=inside)
        return cls(unit=unit, rho=accountant.zcdp_rho(inside.epsilon, inside.delta), budget=inside, whole=inside)

    @property
    def noise(self) -> Noise:
        """Gaussian where a delta allows it, else Laplace."""
        return Noise.LAPLACE if self.rho is None else Noise.GAUSSIAN

    def split(self, weights: Sequence[float]) -> list[Allowance]:
        """Parts in these proportions; together they cost no more than the whole."""
        total = sum(weights)
        # Shaved by one part in 10^12 so that rounding in the sum cannot overdraw.
        shares = [w / total * (1 - 1e-12) for w in weights]
        return [
            replace(
                self,
                rho=None if self.rho is None else self.rho * s,
                epsilon=None if self.epsilon is None else self.epsilon * s,
                budget=None if self.budget is None or not s else Budget(self.budget.epsilon * s, self.budget.delta * s),
            )
            for s in shares
        ]

    def outright(self) -> tuple[Allowance, float]:
        """What is left of the rho when half of its part of delta is paid outright, and that delta.

        With a share s of the budget: s rho(delta/2) and s delta/2. The largest rho for a delta is concave in it, so together with
        others, who pay (1 - s) rho(delta), it fits rho(delta - s delta/2). (The ledger adds up what was really spent.)
        """
        if self.rho is None or self.whole is None or self.budget is None:
            raise GuaranteeRefused("a threshold on counts fails with a small probability, so it needs a delta: give one above 0")
        less = accountant.zcdp_rho(self.whole.epsilon, self.whole.delta / 2) / accountant.zcdp_rho(
            self.whole.epsilon, self.whole.delta
        )
        return replace(self, rho=self.rho * less, budget=None), self.budget.delta / 2

    def discovery(self, cells: Occupied, schema: Schema, delta: float) -> StabilityHistogram:
        """The event of spending all of it, and this delta, on which cells there are."""
        return discovery(cells, schema, self.unit, self.scale(cells, schema), delta)

    def scale(self, query: Changes, schema: Schema) -> float:
        """The noise scale that spends all of it on one answer: sigma of a Gaussian, b of a Laplace."""
        l1, l2, _ = change(query, schema, self.unit)
        if self.rho is not None:
            return max(l2 / math.sqrt(2 * self.rho), 1e-3)
        assert self.epsilon is not None
        return max(l1 / self.epsilon, 1e-3)

    def deviation(self, query: Changes, schema: Schema) -> float:
        """The standard deviation of that noise, in each number of the answer."""
        return self.scale(query, schema) * (math.sqrt(2) if self.noise is Noise.LAPLACE else 1.0)

    @property
    def choice(self) -> float:
        """The epsilon of the exponential mechanism that spends all of it on one choice: rho = epsilon^2/8."""
        return math.sqrt(8 * self.rho) if self.rho is not None else float(self.epsilon or 0.0)

    def event(self, query: Query, schema: Schema) -> Event:
        """The event of spending all of it on one answer."""
        return price(query, schema, self.unit, self.scale(query, schema), self.noise)


def change(query: Changes, schema: Schema, unit: Unit) -> tuple[float, float, int]:
    """L1 and L2 change of an answer by one *unit*, and over how many coordinates of at most 1 (0 if they change by more).

    A person with several rows may be replaced by one with fewer, so under replace-one each of the rows is exchanged or
    goes, whichever changes more: the number of rows is then not public either.
    """
    l1, l2, ones = query.sensitivity(schema, unit.relation)
    if unit.rows == 1:
        return l1, l2, ones
    alone1, alone2, _ = query.sensitivity(schema, Relation.ADD_REMOVE)
    return max(l1, alone1) * unit.rows, max(l2, alone2) * unit.rows, 0


def score_change(scores: Scores, schema: Schema, unit: Unit) -> int:
    """The most by which one *unit* changes any one of the scores; PlanError where a score could leave 64 bits."""
    require_exact(scores, schema)
    one = scores.change(schema, unit.relation)
    return one if unit.rows == 1 else max(one, scores.change(schema, Relation.ADD_REMOVE)) * unit.rows


def price(query: Query, schema: Schema, unit: Unit, scale: float, noise: Noise) -> Event:
    """What an answer with noise of this scale costs; the scale is first rounded up to what is really drawn.

    PlanError where the answer, or the noise, could leave the whole numbers of 64 bits.
    """
    require_exact(query, schema)
    if scale >= WIDEST:
        raise PlanError(f"noise of scale {scale:.3g} is wider than can be drawn (2^49): give a larger epsilon")
    l1, l2, ones = change(query, schema, unit)
    if noise is Noise.GAUSSIAN:
        return DiscreteGaussian(float(gaussian_variance(scale)) ** 0.5, l2, ones)
    return DiscreteLaplace(float(laplace_scale(scale)), l1)


def discovery(cells: Occupied, schema: Schema, unit: Unit, scale: float, delta: float) -> StabilityHistogram:
    """What it costs to publish which cells hold rows, with noise of this scale, from the threshold that delta sets."""
    variance = gaussian_variance(scale)
    sigma = math.sqrt(variance)
    # A sigma that rounding made larger than it is would make the price smaller.
    sigma = sigma if Fraction(sigma) ** 2 <= variance else math.nextafter(sigma, 0.0)
    return StabilityHistogram(sigma, change(cells, schema, unit)[1], threshold(sigma, delta, unit.rows), unit.rows)
