"""A list of queries, each made at most once: what it covers, and what it does not."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import BudgetExceeded
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Exponential, PostProcessing, Zcdp
from hushtable.privacy.ledger import Ledger
from hushtable.privacy.noise import gaussian_variance
from hushtable.privacy.query import Histogram, Total
from hushtable.privacy.slots import ROUNDING, Slots, covers, dearest
from hushtable.privacy.unit import Budget
from hushtable.privacy.vault import Vault
from tests.unit.privacy.cases import people

NARROW, WIDE, MANY = DiscreteGaussian(5.0, 1.0, 1), DiscreteGaussian(200.0, 1.0, 1), DiscreteGaussian(40.0, 8.0)


@pytest.mark.parametrize(
    ("slot", "happened", "holds"),
    [
        (Exponential(0.2), Exponential(0.2), True),
        (Exponential(0.2), Exponential(0.1), True),
        (Exponential(0.2), Exponential(0.21), False),
        (DiscreteLaplace(4.0, 1.0), DiscreteLaplace(5.0, 1.0), True),
        (DiscreteLaplace(4.0, 1.0), DiscreteLaplace(4.0, 2.0), False),
        (NARROW, DiscreteGaussian(5.0 * (1 + 1e-12), 1.0, 1), True),
        (NARROW, DiscreteGaussian(5.1, 1.0, 1), False),  # wider, and dominated for all we know: not proven
        (NARROW, DiscreteGaussian(5.0, 2**0.5, 2), False),
        (WIDE, DiscreteGaussian(300.0, 1.0, 1), True),
        (WIDE, DiscreteGaussian(300.0, 2**0.5, 2), True),
        (WIDE, DiscreteGaussian(200.0, 2**0.5, 2), False),
        (MANY, DiscreteGaussian(4000.0, 800.0), True),  # in other units
        (MANY, DiscreteGaussian(39.9, 8.0), False),
        (DiscreteGaussian(5.0, 1.0), DiscreteGaussian(5.0, 1.0), True),
        (DiscreteGaussian(5.0, 1.0), DiscreteGaussian(5.0, 3.0), False),  # as wide, and more is changed
        (Zcdp(0.1), Zcdp(0.1), True),
        (Zcdp(0.1), Exponential(0.1), False),
        (Exponential(0.2), DiscreteLaplace(10.0, 1.0), False),
    ],
)
def test_a_slot_covers_what_it_dominates(slot, happened, holds):
    assert covers(slot, happened) is holds


def test_a_slot_is_priced_for_the_dearest_query_that_it_covers():
    assert covers(MANY, dearest(MANY))
    assert dearest(MANY).cost().rho > MANY.cost().rho
    assert not covers(MANY, DiscreteGaussian(MANY.sigma * (1 - 3 * ROUNDING), MANY.sensitivity))
    assert dearest(WIDE) == WIDE
    assert dearest(Exponential(0.1)) == Exponential(0.1)


def test_each_slot_is_used_once_by_its_own_step_and_the_cheapest_first():
    slots = Slots([("a", Exponential(0.3)), ("a", Exponential(0.1)), ("b", Exponential(0.3))])
    assert slots.take("a", Exponential(0.05))  # the small one
    assert slots.take("a", Exponential(0.3))
    assert not slots.take("a", Exponential(0.05))
    assert not slots.take("c", Exponential(0.05))
    assert slots.take("c", PostProcessing("free"))
    assert slots.take("c", DiscreteGaussian(1.0, 0.0))
    assert slots.take("b", Exponential(0.3))
    assert not slots.take("b", Exponential(0.3))


def test_equal_prices_of_different_kinds_do_not_take_each_others_place():
    one, two = DiscreteGaussian(167.462, 6**0.5, 6), DiscreteGaussian(180.8801, 7**0.5, 7)
    for order in ((one, two), (two, one)):
        slots = Slots([("a", one), ("a", two)])
        assert all(slots.take("a", happened) for happened in order)


def test_a_vault_refuses_what_is_not_on_its_list_before_a_row_moves():
    table, query = people(), Histogram(("ill",))
    planned = DiscreteGaussian(float(gaussian_variance(2.0)) ** 0.5, 1.0, 1)
    ledger = Ledger(slots=Slots([("step", planned)]))
    vault = Vault(_table=table, budget=Budget(10.0, 1e-6), ledger=ledger).named("step")
    vault.measure(query, 2.0)
    for ask in (
        lambda: vault.measure(query, 2.0),
        lambda: vault.measure(Total(), 1e5),
        lambda: vault.named("x").measure(query, 2.0),
    ):
        with pytest.raises(BudgetExceeded, match="none of the queries"):
            ask()
    assert len(ledger.entries) == 1
    assert np.isfinite(ledger.epsilon(1e-6))
