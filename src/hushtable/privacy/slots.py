"""A fixed list of queries, each of which a run may make once: what they cost together is known before a row is read.

The price of the list holds in whatever order its queries are made, and however many are left out. Each is dominated by a pair of
distributions that is fixed beforehand. Such pairs compose where a query is asked in view of the answers to those before (Zhu,
Dong and Wang 2022, theorem 10), and that noisy answers decide which query of the list comes next, or that none does, is covered by
the concurrent composition of mechanisms with a trade-off function each (Vadhan and Zhang 2023). Answers must not decide the *price*
of a query: then only a currency that adds up, as zCDP does, bounds the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from hushtable.privacy import pld
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Event, Exponential

ROUNDING = 1e-5
"""``noise.gaussian_variance`` rounds the variance up by at most 2^-16 of it."""


class Slots:
    """The queries of a list that are not made yet, by the step that may make them."""

    def __init__(self, queries: Iterable[tuple[str, Event]]) -> None:
        self._left = list(queries)

    def take(self, step: str, happened: Event) -> bool:
        """Use up the cheapest slot of this step that covers the query; False if there is none. What costs nothing needs none."""
        cost = happened.cost()
        if cost.rho == 0 and cost.delta == 0:
            return True
        fits = [i for i, (owner, slot) in enumerate(self._left) if owner == step and covers(slot, happened)]
        if not fits:
            return False
        # In the order by which they cover: a price in rho may round the other way.
        del self._left[min(fits, key=lambda i: pld.gaussian_mu(self._left[i][1]) or self._left[i][1].cost().rho)]
        return True


def covers(slot: Event, happened: Event) -> bool:
    """Whether a query is dominated by what a slot is priced for, but for rounding in the last digits.

    A choice, or pure noise, with a smaller epsilon is, and so is a Gaussian of a smaller mu. Integer Gaussian noise that is not
    accounted for as a continuous one must be as planned: that wider noise is dominated by narrower noise is not proven for it.
    """
    mu = pld.gaussian_mu(dearest(slot))
    if mu and pld.gaussian_mu(happened):
        return pld.gaussian_mu(happened) <= mu * (1 + 1e-9)
    if isinstance(slot, Exponential) and isinstance(happened, Exponential):
        return happened.epsilon <= slot.epsilon * (1 + 1e-9)
    if isinstance(slot, DiscreteLaplace) and isinstance(happened, DiscreteLaplace):
        return happened.cost().epsilon <= slot.cost().epsilon * (1 + 1e-9)
    if isinstance(slot, DiscreteGaussian) and isinstance(happened, DiscreteGaussian):
        alike = slot.ones == happened.ones and happened.sensitivity <= slot.sensitivity * (1 + 1e-9)
        return alike and math.isclose(slot.sigma, happened.sigma, rel_tol=1e-9)
    return slot == happened


def dearest(slot: Event) -> Event:
    """What a slot is priced for: the dearest query that it covers, rounding in the last digits aside.

    Where one unit changes an answer by more than 1, a step may measure in units of the number of rows, which a plan does not know
    even where it is public. The scale is then rounded to other integers, by at most ``ROUNDING`` of it.
    """
    if isinstance(slot, DiscreteGaussian) and not slot.ones:
        return replace(slot, sigma=slot.sigma * (1 - ROUNDING))
    return slot
