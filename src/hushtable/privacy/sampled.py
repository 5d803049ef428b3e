"""Noise for sums over fresh Poisson samples (DP-SGD): how much of it an allowance buys."""

from __future__ import annotations

import math
from functools import lru_cache

from hushtable.errors import GuaranteeRefused, PlanError
from hushtable.privacy import accountant
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import SampledGaussian
from hushtable.privacy.unit import Budget
from hushtable.privacy.vault import require_sampled_units

GRID = 2.0**-12
"""Noisy sums are rounded to multiples of this part of the noise: far too fine to matter, and far coarser than a double."""
FLOAT_NOISE = (
    "float-noise: the gradients, their sums and the noise are floating-point numbers. Gradients are clipped a thousandth below the "
    "bound that the noise is measured by, and noisy sums are rounded to 1/4096 of the noise, so that no low bit leaves; that the "
    "rounding inside a sum stays below that thousandth is not proven"
)
"""What a step that trains on samples says in its plan."""
WIDEST, NARROWEST = 1e6, 0.2
"""Multipliers between which one is sought; below, the numerical accountant has no place for the event."""


def sampled_gaussian(allowance: Allowance, rate: float, steps: int) -> SampledGaussian:
    """The event of spending all of an allowance on so many sums of Poisson samples of this rate.

    Its Renyi price, at the one whole order that leaves most of the *whole* budget, is that of the allowance's rho. So it adds up
    with queries that are paid in rho, grows with rho, and together with them keeps within the budget in closed form; what the
    numerical accountant finds to be left is shared out by a larger rho (``pipeline.calibration``). GuaranteeRefused for a budget
    without delta and for a unit that cannot be sampled, PlanError for a budget that is too small for any noise.
    """
    require_sampled_units(allowance.unit)
    if allowance.rho is None or allowance.whole is None:
        raise GuaranteeRefused("Gaussian noise fails with a small probability, so training on samples needs a delta above 0")
    return SampledGaussian(_multiplier(allowance.rho, allowance.whole, rate, steps), rate, steps, GRID)


@lru_cache(maxsize=256)
def _multiplier(rho: float, whole: Budget, rate: float, steps: int) -> float:
    order, most = accountant.whole_order(whole.epsilon, whole.delta)
    # Between whole orders there may be one that leaves a little more, which the other steps count on.
    lost = accountant.zcdp_rho(whole.epsilon, whole.delta) - most
    # The best order moves a little where others pay a delta of their own, which a thousandth is kept for.
    price = order * max(0.999 * rho - lost, rho / 2)
    low, high = math.log(NARROWEST), math.log(WIDEST)
    if accountant.sampled_gaussian_renyi(rate, WIDEST, steps, order) > price:
        raise PlanError(
            f"a budget of rho = {rho:.3g} is too small for {steps} steps on samples: give a larger epsilon, or fewer steps"
        )
    for _ in range(60):
        middle = (low + high) / 2
        over = accountant.sampled_gaussian_renyi(rate, math.exp(middle), steps, order) > price
        low, high = (middle, high) if over else (low, middle)
    return math.exp(high)
