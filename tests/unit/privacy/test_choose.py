"""The third door: a choice with the coins inside, its price, and what dominates it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.errors import BudgetExceeded, GuaranteeRefused, InputError
from hushtable.privacy import pld
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import DiscreteGaussian, Exponential
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True)
class Counts:
    """Each level is as good as it is frequent."""

    columns: tuple[str, ...] = ("letter",)
    least: int = 1

    def answer(self, table):
        return table.counts(self.columns)

    def largest(self, schema, rows):
        return rows

    def change(self, schema, relation):
        return self.least


def letters(observed: bool = False) -> Table:
    column = Column(name="letter", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c"), observed=observed), required=True)
    return Table(Schema((column,)), {"letter": np.array([0] * 6 + [1] * 4, np.int32)})


def vault(table: Table, epsilon: float | None = 100.0, **more) -> Vault:
    return Vault.of(table, budget=Budget(epsilon, 0.0) if epsilon else None, **more).named("test")


def test_a_choice_is_written_down_with_its_price():
    opened = vault(letters(), entropy=Entropy.seeded(1))
    opened.choose(Counts(), Allowance(epsilon=0.5))
    (entry,) = opened.ledger.entries
    assert entry.event == Exponential(0.5)


def test_candidates_come_with_the_stated_odds():
    opened = vault(letters(), None, entropy=Entropy.seeded(7))
    drawn = np.bincount([opened.choose(Counts(), Allowance(epsilon=1.0)) for _ in range(600)], minlength=3)
    weights = np.exp(np.array([6, 4, 0]) / 2)
    expected = weights / weights.sum() * 600
    assert ((drawn - expected) ** 2 / expected).sum() < 13.8
    doubled = np.exp(np.array([6, 4, 0]) * 1.0)
    wrong = doubled / doubled.sum() * 600
    assert ((drawn - wrong) ** 2 / wrong).sum() > 13.8


def test_a_person_with_three_rows_flattens_the_odds():
    unit = Unit(rows=3)
    opened = vault(letters(), None, entropy=Entropy.seeded(3), unit=unit)
    drawn = np.bincount([opened.choose(Counts(), Allowance(epsilon=3.0, unit=unit)) for _ in range(600)], minlength=3)
    weights = np.exp(np.array([6, 4, 0]) / 2)
    expected = weights / weights.sum() * 600
    assert ((drawn - expected) ** 2 / expected).sum() < 13.8


def test_a_choice_on_an_observed_domain_and_an_overdraft_are_refused():
    with pytest.raises(GuaranteeRefused, match="letter"):
        vault(letters(observed=True)).choose(Counts(), Allowance(epsilon=1.0))
    with pytest.raises(BudgetExceeded):
        vault(letters(), 0.5).choose(Counts(), Allowance(epsilon=1.0))
    with pytest.raises(InputError, match="at least 1"):
        vault(letters()).choose(Counts(least=0), Allowance(epsilon=1.0))


def test_the_allowance_of_a_choice_costs_what_it_says():
    assert Exponential(Allowance(rho=0.02).choice).cost().rho == pytest.approx(0.02)
    assert Exponential(Allowance(epsilon=0.3).choice).cost().epsilon == 0.3


@pytest.mark.skipif(not pld.available(), reason="needs the extra dp")
def test_no_exponential_mechanism_loses_more_than_its_distribution_says():
    from dp_accounting.pld import privacy_loss_distribution as library

    rng = np.random.default_rng(0)
    for epsilon in (0.1, 1.0, 3.0):
        dominating = pld._bounded_range(library, epsilon, 1e-4)
        for _ in range(60):
            scores = rng.integers(0, 12, 6)
            other = scores + rng.integers(-1, 2, 6)
            p, q = (np.exp(epsilon * s / 2) / np.exp(epsilon * s / 2).sum() for s in (scores, other))
            for e in (-0.5 * epsilon, 0.0, 0.2 * epsilon, 0.5 * epsilon, 0.8 * epsilon):
                delta = np.maximum(p - math.exp(e) * q, 0).sum()
                assert delta <= dominating.get_delta_for_epsilon(e) + 1e-12
        # It is less than what any pure mechanism of this epsilon may lose.
        response = (math.exp(epsilon) - 1) / (math.exp(epsilon) + 1)
        assert dominating.get_delta_for_epsilon(0.0) < 0.75 * response


@pytest.mark.skipif(not pld.available(), reason="needs the extra dp")
def test_choices_and_counts_compose_below_their_sum():
    events = [Exponential(0.1)] * 4 + [DiscreteGaussian(30.0, 1.0, 1)] * 4
    assert 0.1 < pld.epsilon(events, 1e-6) < 4 * 0.1 + pld.epsilon(events[4:], 1e-6)


def test_the_relation_reaches_the_scores():
    seen = []

    class Asked(Counts):
        def change(self, schema, relation):
            seen.append(relation)
            return 2

    vault(letters(), unit=Unit(relation=Relation.REPLACE_ONE)).choose(Asked(), Allowance(epsilon=1.0))
    assert seen == [Relation.REPLACE_ONE]
