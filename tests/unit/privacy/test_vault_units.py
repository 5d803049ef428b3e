"""Persons who hold several rows, and codes that make several rows of one: the price grows with what one person can change."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.errors import GuaranteeRefused, InputError
from hushtable.pipeline.run import release
from hushtable.privacy.accountant import group
from hushtable.privacy.event import (
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    PostProcessing,
    Raw,
    SampledGaussian,
    Transform,
    Zcdp,
)
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.noise import Entropy
from hushtable.privacy.query import Histogram, Sum, Total
from hushtable.privacy.unit import Budget, Relation, Unit, default_delta
from hushtable.privacy.vault import Noise, Vault
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.cases import SCHEMA, Says, people, recipe, visits

COUNTS = Histogram(("town",))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("query", [COUNTS, Sum("age", 1.0)])
def test_three_rows_cost_three_times_the_sensitivity(relation, query):
    vault = Vault.of(people(), unit=Unit(rows=3, relation=relation))
    vault.measure(query, 40.0)
    vault.measure(query, 40.0, Noise.LAPLACE)
    one, two, _ = query.sensitivity(SCHEMA, relation)
    gaussian, laplace = (e.event for e in vault.ledger.entries)
    assert (gaussian.sensitivity, gaussian.ones) == (3 * two, 0)
    assert laplace.sensitivity == 3 * one


def test_the_number_of_rows_is_free_only_where_each_person_holds_one():
    """Under replace-one a person with three rows may be replaced by one with one: the total then changes by two."""
    free, dear = (Vault.of(people(), unit=Unit(rows=rows, relation=Relation.REPLACE_ONE)) for rows in (1, 3))
    for vault in (free, dear):
        vault.measure(Total(), 5.0, Noise.LAPLACE)
    assert free.ledger.epsilon(0.0) == 0.0
    assert dear.ledger.epsilon(0.0) >= 2 / 5.0


@pytest.mark.parametrize("happened", [DiscreteGaussian(9.0, 1.0, 1), DiscreteLaplace(9.0, 1.0), Zcdp(0.01), Exponential(0.1)])
def test_a_reviewed_look_is_charged_for_the_group(happened):
    vault = Vault.of(people(), unit=Unit(rows=3))
    vault.open(happened, "w")
    alone = Ledger([Entry("s", happened, "w")])
    for delta in (1e-9, 1e-4):
        exact = group(happened.cost(), 3)
        assert vault.ledger.epsilon(delta) >= 2.5 * alone.epsilon(delta)
        assert vault.ledger.rho() >= exact.rho * (1 - 1e-12) or exact.rho == math.inf


def test_continuous_noise_stays_continuous_noise_for_groups():
    """Priced in another currency, the ledger would no longer show what voids the proof."""
    vault = Vault.of(people(), unit=Unit(rows=3))
    vault.open(Gaussian(9.0, 1.0), "w")
    assert vault.ledger.entries[0].event == Gaussian(9.0, 3.0)


def test_a_delta_grows_with_the_group():
    vault = Vault.of(people(), unit=Unit(rows=3))
    vault.open(Approximate(0.5, 1e-9), "w")
    grown = vault.ledger.entries[0].event
    assert (grown.epsilon, grown.delta) == pytest.approx((1.5, 1e-9 * math.expm1(1.5) / math.expm1(0.5)))
    vault.open(Approximate(400.0, 1e-9), "too many for their delta")
    assert vault.ledger.epsilon(1e-6) == math.inf


@pytest.mark.parametrize(
    ("unit", "expected"), [(Unit(rows=3), "is not known"), (Unit(relation=Relation.REPLACE_ONE), "add-remove only")]
)
def test_a_price_that_nobody_knows_is_refused(unit, expected):
    vault = Vault.of(people(), unit=unit)
    with pytest.raises(GuaranteeRefused, match=expected):
        vault.open(SampledGaussian(1.0, 0.1, 10), "w")
    assert vault.ledger.entries == ()


@pytest.mark.parametrize("happened", [PostProcessing("p"), Transform("t"), Raw("r")])
def test_a_free_or_raw_look_does_not_become_a_paid_one_for_groups(happened):
    """Priced as a group, a free look would be a mechanism with epsilon 0, and raw rows would leave as proven."""
    vault = Vault.of(people(), unit=Unit(rows=2))
    vault.open(happened, "w")
    assert not vault.ledger.paid
    released = release(people(), recipe(Says(opens=(happened,))), unit=Unit(rows=2))
    assert released.guarantee.epsilon() == math.inf
    assert released.guarantee.assurance is Assurance.NONE


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("entropy", [Entropy(), Entropy.seeded(0)], ids=["system", "seeded"])
def test_no_person_keeps_more_rows_than_the_limit_and_the_others_keep_all(most, entropy):
    holders = [0] * 5 + [1] * 2 + [2] + [3] * 3 + [4] * 40
    table = visits(holders)
    bounded = Vault.of(table, unit=Unit(rows=most, by="who"), entropy=entropy).open(Raw("look"), "look")
    rows_held = np.bincount(bounded["who"], minlength=5)
    np.testing.assert_array_equal(rows_held, np.minimum(np.bincount(holders), most))
    assert set(bounded["age"].tolist()) <= set(table["age"].tolist())


def test_which_rows_stay_is_a_matter_of_chance():
    """Each of forty rows stays in one run of forty: over 4,000 runs a fair pick misses these bounds once in 10^9."""
    entropy = Entropy.seeded(4)
    table = visits([0] * 40)
    counts = np.zeros(40)
    for _ in range(4000):
        counts[Vault.of(table, unit=Unit(by="who"), entropy=entropy)._table["age"]] += 1
    assert counts.sum() == 4000
    assert counts.min() > 40
    assert counts.max() < 170


def test_rows_of_unknown_persons_are_left_out():
    """Sharing one place, one more of them would push out another's row: two changes for the price of one."""
    table = visits([0, 0, -1, -1, -1, 1])
    bounded = Vault.of(table, unit=Unit(rows=1, by="who")).open(Raw("look"), "look")
    assert sorted(bounded["who"].tolist()) == [0, 1]
    assert Vault.of(visits([-1, -1]), unit=Unit(by="who"))._table.rows == 0
    assert Vault.of(visits([]), unit=Unit(by="who"))._table.rows == 0


def test_persons_may_be_told_apart_by_any_column():
    table = people(50)
    bounded = Vault.of(table, unit=Unit(rows=2, by="age"))._table
    assert np.bincount(bounded["age"]).max() == 2
    real = Column(name="x", kind=Kind.REAL, domain=Bounds(0, 2))
    floats = Table(Schema((real,)), {"x": np.array([1.2, 1.7, 1.2, np.nan])})
    assert sorted(Vault.of(floats, unit=Unit(by="x"))._table["x"].tolist()) == [1.2, 1.7]


@dataclass(frozen=True)
class Doubled:
    """A code that writes every row twice."""

    schema: Schema = SCHEMA
    stability: int = 2

    def apply(self, table):
        return table.take(np.repeat(np.arange(table.rows), self.stability))


def test_a_code_that_doubles_rows_doubles_the_price():
    vault = Vault.of(people(), unit=Unit(rows=3)).through(Doubled()).through(Doubled())
    assert vault.measure(COUNTS, 0.001).sum() == 800
    assert vault.ledger.entries[0].event.sensitivity == 3 * 2 * 2
    vault.open(Zcdp(0.01), "w")
    assert vault.ledger.entries[1].event.rho == pytest.approx(0.01 * 144)


def test_a_code_cannot_claim_that_rows_change_nothing():
    with pytest.raises(InputError):
        Vault.of(people()).through(Doubled(stability=0)).measure(COUNTS, 5.0)


@pytest.mark.parametrize("rows", [0, -1])
def test_a_unit_holds_at_least_one_row(rows):
    with pytest.raises(InputError):
        Unit(rows=rows)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.0, 0.1), (-1.0, 0.1), (math.inf, 0.1), (math.nan, 0.1), (1.0, 1.0), (1.0, -1e-9)]
)
def test_a_budget_is_a_positive_epsilon_and_a_delta_below_one(epsilon, delta):
    with pytest.raises(InputError):
        Budget(epsilon, delta)


def test_the_default_delta_follows_a_declared_size_and_never_the_rows():
    assert default_delta() == 1e-6
    assert default_delta(100_000) == 1e-6
    assert default_delta(5_000_000) == 1e-9


def test_a_unit_in_words():
    assert str(Unit()) == "record"
    assert str(Unit(rows=3)) == "person (at most 3 rows)"


def test_a_seed_keeps_the_same_rows_and_one_person_more_moves_nobody_elses():
    holders = [0] * 5 + [1] * 7 + [2] * 3
    unit = Unit(rows=2, by="who")

    def bounded(table):
        rows = Vault.of(table, unit=unit, seed=3)._table
        return {(int(w), int(a)) for w, a in zip(rows["who"], rows["age"], strict=True)}

    table = visits(holders)
    assert bounded(table) == bounded(table)
    without = bounded(table.take(np.flatnonzero(table["who"] != 1)))
    assert without == {(who, age) for who, age in bounded(table) if who != 1}
    assert bounded(table) != {
        (int(w), int(a)) for w, a in zip(*(Vault.of(table, unit=unit, seed=4)._table[n] for n in ("who", "age")), strict=True)
    }
