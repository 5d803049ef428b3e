"""DOMIAS with the densities of a normalizing flow: membership by how much denser the release is around a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hushtable.audits.membership import Clouds, Halves, ScoreAttack, Scores, domias, flat
from hushtable.evidence.finding import Finding
from hushtable.learn import network
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, kw_only=True, eq=False)
class FlowDensity:
    """A density by maximum likelihood of a flow; takes the place of kernels."""

    hidden: int
    layers: int
    bends: int
    noise: float
    rate: float
    batch: int
    epochs: int
    steps: int
    flow: object = None

    def fit(self, points: Floats, rng: np.random.Generator) -> FlowDensity:
        """Of these points (rows x dimensions)."""
        module = network("hushtable.audits.neural.flow", "DOMIAS with a flow")
        from hushtable.learn.loop import Descent  # imports torch: heavy, and an extra

        descent = Descent(rate=self.rate, batch=self.batch, epochs=self.epochs, steps=self.steps)
        knobs = {name: getattr(self, name) for name in ("hidden", "layers", "bends", "noise")}
        return replace(self, flow=module.fit(points, descent=descent, seed=int(rng.integers(2**31)), **knobs))

    def logpdf(self, points: Floats) -> Floats:
        """Its natural logarithm at each point."""
        logs: Floats = network("hushtable.audits.neural.flow", "DOMIAS with a flow").logpdf(self.flow, points)
        return logs


@dataclass(frozen=True, kw_only=True)
class DomiasFlow(ScoreAttack):
    """Membership by the ratio of two densities, that of the release and that of a reference (van Breugel et al. 2023).

    The densities are block neural autoregressive flows on the principal axes of the rows, in place of the kernels of
    ``membership``, and judged like them: half of the control is the reference, the other half and all training rows are
    scored, and people far from the reference, by one rule for both sides, also by themselves.
    """

    costly: ClassVar[bool] = True
    dimensions: int = 8
    """Principal axes on which densities are estimated."""
    outliers: float = 0.1
    """The share of people who count as outliers."""
    hidden: int = 16
    """Units for each axis in each hidden layer."""
    layers: int = 2
    """Hidden layers of each bend."""
    bends: int = 1
    """Maps one after the other."""
    noise: float = 0.05
    """Spread of the noise, new in every pass, that turns levels and whole numbers into points with a density."""
    rate: float = 1e-2
    """Learning rate."""
    batch: int = 256
    """Rows to a step."""
    epochs: int = 100
    """Passes over the rows for each density."""
    steps: int = 4000
    """Most gradient steps for each density."""

    def __post_init__(self) -> None:
        """Counts are positive, shares are shares."""
        super().__post_init__()
        counts = {
            n: (getattr(self, n) >= 1, "must be at least 1")
            for n in ("dimensions", "hidden", "layers", "bends", "batch", "epochs", "steps")
        }
        sizes = {n: (getattr(self, n) > 0, "must be positive") for n in ("noise", "rate")}
        check_knobs(self, outliers=(0 < self.outliers < 1, "must lie between 0 and 1"), **counts, **sizes)

    def scores(self, case: Case, rng: np.random.Generator) -> Iterator[Scores | Finding]:
        """The ratio on everybody, and on outliers."""
        halves = Halves.of(case, rng, 1)
        clouds = Clouds.of(halves, self.dimensions)
        if clouds.flat:
            yield flat("flow ratio", case)
            return
        density = FlowDensity(**{name: getattr(self, name) for name in FlowDensity.__dataclass_fields__ if name != "flow"})
        yield from domias(halves, clouds, density, rng, outliers=self.outliers, name="flow ratio")
