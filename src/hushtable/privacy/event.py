"""Privacy events: what was done to the rows, as values. The accountant says elsewhere what they cost.

Each event is stated for the neighbouring relation of its ledger, with the sensitivity of one *unit* already in it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from hushtable.privacy import accountant
from hushtable.privacy.accountant import Cost
from hushtable.privacy.stability import failure


@dataclass(frozen=True)
class Event:
    """Something that happened to private rows."""

    def cost(self) -> Cost:
        """What it costs; an event that does not say costs everything."""
        return accountant.NEVER

    def __str__(self) -> str:
        """Name and parameters."""
        inner = ", ".join(f"{f.name}={_short(getattr(self, f.name))}" for f in fields(self))
        return f"{type(self).__name__}({inner})"

    def to_json(self) -> dict[str, Any]:
        """A plain mapping that ``from_json`` reads back."""
        return {"event": type(self).__name__, **asdict(self)}


def _refuse(event: Event, **holds: bool) -> None:
    """A parameter out of range is a ValueError: a negative price would pay for other queries."""
    wrong = [name for name, held in holds.items() if not held]
    if wrong:
        raise ValueError(f"out of range in {event}: {', '.join(wrong)}")


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Raw(Event):
    """Rows read without any protection. Epsilon becomes infinite, and ``why`` names the culprit."""

    why: str


@dataclass(frozen=True)
class PostProcessing(Event):
    """Something already released that is read: free, and written down all the same."""

    why: str

    def cost(self) -> Cost:
        """Nothing."""
        return accountant.FREE


@dataclass(frozen=True)
class Transform(Event):
    """Rows changed into other rows that stay locked away (a secret sample). Free, because nothing leaves by it.

    Whatever such a step hands on is as raw as before: if it is released, the release counts as rows read raw.
    """

    why: str

    def cost(self) -> Cost:
        """Nothing."""
        return accountant.FREE


@dataclass(frozen=True)
class DiscreteGaussian(Event):
    """Integer Gaussian noise on integers: rho = sensitivity^2 / (2 sigma^2)."""

    sigma: float
    sensitivity: float
    """L2 sensitivity of the whole answer to one unit."""
    ones: int = 0
    """If one unit changes exactly this many coordinates by 1 at most: what the exact accounting needs; 0 if unknown."""

    def __post_init__(self) -> None:
        """Positive noise; so many ones cannot change more than their root in L2."""
        few = self.ones == 0 or 0 <= self.sensitivity**2 <= self.ones * (1 + 1e-9)
        _refuse(self, sigma=0 < self.sigma < math.inf, sensitivity=self.sensitivity >= 0, ones=self.ones >= 0 and few)

    def cost(self) -> Cost:
        """Canonne-Kamath-Steinke 2020, theorem 14. No mu: the discrete Gaussian is not exactly a Gaussian."""
        return accountant.zcdp(self.sensitivity**2 / (2 * self.sigma**2))


@dataclass(frozen=True)
class StabilityHistogram(Event):
    """Integer Gaussian noise on the counts of the cells that hold a row, published from a threshold on."""

    sigma: float
    sensitivity: float
    """L2 sensitivity to one unit of the counts of cells that both neighbours have."""
    threshold: int
    rows: int = 1
    """How many rows one unit can hold in cells of its own."""

    def __post_init__(self) -> None:
        """Positive noise, and a threshold above what one unit reaches without noise."""
        few = 1 <= self.rows < self.threshold
        _refuse(self, sigma=0 < self.sigma < math.inf, sensitivity=self.sensitivity >= 0, threshold=few)

    def cost(self) -> Cost:
        """Approximate zCDP (Bun-Steinke 2016, section 8): delta is worked out from the threshold, never stated."""
        return accountant.zcdp(self.sensitivity**2 / (2 * self.sigma**2), failure(self.sigma, self.threshold, self.rows))


@dataclass(frozen=True)
class Gaussian(Event):
    """Continuous Gaussian noise on floating-point numbers: mu = sensitivity / sigma, but for rounding, which voids the proof.

    No step of this package uses it. Steps of others may, and so may the cards that they wrote.
    """

    sigma: float
    sensitivity: float

    def __post_init__(self) -> None:
        """Positive noise."""
        _refuse(self, sigma=0 < self.sigma < math.inf, sensitivity=self.sensitivity >= 0)

    def cost(self) -> Cost:
        """Dong-Roth-Su 2019."""
        return accountant.gdp(self.sensitivity / self.sigma)


@dataclass(frozen=True)
class DiscreteLaplace(Event):
    """Integer Laplace noise on integers: pure epsilon = sensitivity / scale."""

    scale: float
    sensitivity: float
    """L1 sensitivity of the whole answer to one unit."""

    def __post_init__(self) -> None:
        """Positive noise."""
        _refuse(self, scale=0 < self.scale < math.inf, sensitivity=self.sensitivity >= 0)

    def cost(self) -> Cost:
        """Dwork-McSherry-Nissim-Smith 2006; Ghosh-Roughgarden-Sundararajan 2009."""
        return accountant.pure(self.sensitivity / self.scale)


@dataclass(frozen=True)
class Exponential(Event):
    """A choice with probability proportional to exp(epsilon u / (2 sensitivity of u))."""

    epsilon: float

    def __post_init__(self) -> None:
        """No negative price."""
        _refuse(self, epsilon=self.epsilon >= 0)

    def cost(self) -> Cost:
        """Pure epsilon (McSherry-Talwar 2007) and epsilon^2/8-zCDP (Cesar-Rogers 2021)."""
        return accountant.pure(self.epsilon, rho=self.epsilon**2 / 8)


@dataclass(frozen=True)
class Approximate(Event):
    """Any mechanism proven to be (epsilon, delta)-DP."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """No negative price."""
        _refuse(self, epsilon=self.epsilon >= 0, delta=0 <= self.delta <= 1)

    def cost(self) -> Cost:
        """As stated; delta is paid outright."""
        return accountant.pure(self.epsilon, delta=self.delta)


@dataclass(frozen=True)
class Zcdp(Event):
    """Any mechanism proven to be rho-zCDP."""

    rho: float

    def __post_init__(self) -> None:
        """No negative price."""
        _refuse(self, rho=self.rho >= 0)

    def cost(self) -> Cost:
        """As stated."""
        return accountant.zcdp(self.rho)


@dataclass(frozen=True)
class SampledGaussian(Event):
    """``steps`` Gaussian sums, each on a fresh Poisson sample (DP-SGD)."""

    multiplier: float
    """The standard deviation of the noise beside the most by which one unit changes a sum."""
    rate: float
    steps: int
    grid: float = 0.0
    """Each noisy sum was rounded to multiples of this part of the noise before anything else saw it, which takes the low bits of
    floating-point noise away; 0: it was not, and these bits void the proof."""

    def __post_init__(self) -> None:
        """Positive noise, a rate, at least one step."""
        fine = self.grid == 0 or 2.0**-30 <= self.grid < math.inf
        _refuse(
            self, multiplier=0 < self.multiplier < math.inf, rate=0 < self.rate <= 1, steps=self.steps >= 1, grid=fine
        )  # fmt: skip

    def cost(self) -> Cost:
        """Mironov-Talwar-Zhang 2019, for add-remove."""
        return Cost(curve=accountant.sampled_gaussian_curve(self.rate, self.multiplier, self.steps))


@dataclass(frozen=True)
class BestOfRuns(Event):
    """The best of a random number of runs, each rho-zCDP with its score, the number truncated negative binomial."""

    rho: float
    eta: float
    gamma: float

    def __post_init__(self) -> None:
        """No negative price; a distribution that there is."""
        _refuse(self, rho=0 <= self.rho < math.inf, eta=self.eta > -1, gamma=0 < self.gamma < 1)

    def cost(self) -> Cost:
        """Papernot-Steinke 2022, theorem 2; the number is drawn in floats, and a delta is paid for how far off they are."""
        mean = accountant.mean_of_random(self.eta, self.gamma)
        curve = accountant.best_of_random_curve(accountant.ALPHAS * self.rho, self.eta, self.gamma, mean)
        return Cost(curve=curve, delta=1e-12)


_KINDS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        Raw,
        PostProcessing,
        Transform,
        DiscreteGaussian,
        StabilityHistogram,
        Gaussian,
        DiscreteLaplace,
        Exponential,
        Approximate,
        Zcdp,
        SampledGaussian,
        BestOfRuns,
    )
}


def from_json(mapping: dict[str, Any]) -> Event:
    """Read an event back; an unknown kind is a ValueError, never a free event."""
    values = dict(mapping)
    kind = _KINDS.get(values.pop("event", ""))
    if kind is None:
        raise ValueError(f"unknown privacy event {mapping.get('event')!r}")
    return kind(**values)


def private(event: Event) -> bool:
    """Whether the event protects the rows at all."""
    cost = event.cost()
    return cost.delta < 1 and (min(cost.epsilon, cost.rho, cost.mu) < math.inf or bool((cost.curve < math.inf).any()))


def paid(event: Event) -> bool:
    """Whether it is a mechanism that protects the rows and has its price, neither free nor raw."""
    return not isinstance(event, (PostProcessing, Transform)) and private(event)
