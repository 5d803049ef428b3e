"""Noise that costs the epsilon asked for by the numerical accountant, where a plan says every query beforehand.

Steps split a rho that is converted from (epsilon, delta) in closed form. That conversion is not tight: what they plan costs less by
privacy loss distributions. So the recipe is planned with more rho, by a factor found by search, of which every part gets its share.
The factor follows from the recipe, the schema and the budget alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.errors import HushError
from hushtable.pipeline.step import Coder
from hushtable.privacy import accountant, pld
from hushtable.privacy.event import Event
from hushtable.privacy.slots import dearest
from hushtable.privacy.taint import Taint
from hushtable.privacy.unit import Budget
from hushtable.table.columns import Levels
from hushtable.table.schema import Schema

if TYPE_CHECKING:
    from hushtable.pipeline.plan import Course, Planned

MARGIN = 1e-6
"""So much of epsilon is left unspent: more than rounding, of the noise that is really drawn too, could add."""
CLOSE = 2e-3
"""A factor is good enough where it leaves no more of epsilon unspent than this."""
TRIES = 8
ROOT = 0.55
"""Epsilon grows about with this power of rho: where the search begins."""


def calibrated(planned: Callable[[float], Course], budget: Budget) -> Course:
    """The plan with the largest rho, within ``CLOSE``, that the budget covers; as it is where its queries are not fixed."""
    best = planned(1.0)
    spent = price(best, budget) if fixed(best) else math.inf
    # An epsilon so small that delta alone covers everything costs nothing, whatever the factor.
    if not 0 < spent <= (goal := budget.epsilon * (1 - MARGIN)):
        return best
    first, low, high = spent_rho(best, budget), 1.0, math.inf
    # Sums of samples are planned at a whole order of Renyi's divergence, beside the best one.
    exact = 1e-3 if math.isfinite(best.ledger.rho()) else 1e-2
    # What a Gaussian alone could have; choices allow a little less.
    allowed = accountant.gdp_mu(budget.epsilon, budget.delta) ** 2 / 2
    factor = max(allowed / accountant.zcdp_rho(budget.epsilon, budget.delta), 1 + CLOSE)
    for _ in range(TRIES):
        if spent > goal * (1 - CLOSE) or high - low < CLOSE:
            break
        try:
            course = planned(factor)
        except HushError:
            break
        # A step that does not take what it is given, or plans other queries with it, is no matter of scale.
        if not math.isclose(spent_rho(course, budget), factor * first, rel_tol=exact) or not fixed(course):
            break
        cost = price(course, budget)
        if cost <= goal:
            best, spent, low = course, cost, factor
        else:
            high = factor
        aim = factor * (goal * (1 - CLOSE / 2) / max(cost, spent)) ** (1 / ROOT)
        factor = aim if low < aim < high else (low + high) / 2
    return best


def spent_rho(course: Course, budget: Budget) -> float:
    """The rho of all planned queries; of those that have none, the one whose Renyi price at one order is theirs.

    (Sums of samples are planned by their price at this order: ``privacy.sampled``.)
    """
    order, _ = accountant.whole_order(budget.epsilon, budget.delta)
    place = int(np.flatnonzero(order == accountant.ALPHAS)[0])
    costs = [entry.event.cost() for entry in course.ledger.paid]
    return sum(cost.rho if math.isfinite(cost.rho) else float(cost.curve[place]) / order for cost in costs)


def price(course: Course, budget: Budget) -> float:
    """What all planned queries cost together, by the numerical accountant; infinite where it cannot place one of them."""
    return pld.epsilon([dearest(entry.event) for entry in course.ledger.paid], budget.delta)


def fixed(course: Course) -> bool:
    """Whether the ledger of the plan lists every query that a run may make, with its price, and none at a secret sample."""
    entries = course.ledger.paid
    if not entries or course.culprits or any(entry.rate < 1 for entry in entries):
        return False
    for planned in course.steps:
        filtered = planned.plan.adaptive and not planned.plan.slots
        behind = planned.step.spends and planned.taint is not Taint.RAW and not planned.plan.behind
        if filtered or behind or planned.step.learns_domains:
            return False
    return all(_planned_alike(segment) for segment in course.segments)


def _planned_alike(segment: Sequence[Planned]) -> bool:
    """Whether steps after a coder that pays plan the same queries for however few or many levels it finds.

    (The vault refuses a query that is not on the list; this is to not begin what would end so.)
    """
    for number, coder in enumerate(segment):
        if not (isinstance(coder.step, Coder) and coder.step.spends):
            continue
        try:
            for here in _sizes(coder):
                for later in segment[number + 1 :]:
                    plan = later.step.plan(here, later.allowance)
                    if _sorted(plan.events) != _sorted(later.plan.events):
                        return False
                    here = plan.schema
        except HushError:
            return False
    return True


def _sizes(coder: Planned) -> Iterator[Schema]:
    """The schema that a coder leaves, with one level in each column that it makes, and with twice as many as it plans."""
    before, schema = coder.schema, coder.plan.schema
    made = [column for column in schema if column.coded and (column.name not in before or before[column.name] != column)]
    for few in (True, False):
        counts = [1 if few else 2 * len(column.levels) + 2 for column in made]
        levels = [Levels(tuple(map(str, range(count)))) for count in counts]
        yield schema.with_columns(*(replace(column, domain=domain) for column, domain in zip(made, levels, strict=True)))


def _sorted(events: Sequence[Event]) -> list[str]:
    return sorted(map(repr, events))
