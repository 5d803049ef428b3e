"""Two doors to the rows: what each asks, what it writes down, and that nothing moves before it is paid for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.encode.bins import Bins
from hushtable.errors import BudgetExceeded, GuaranteeRefused, InputError
from hushtable.pipeline.run import release
from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.event import (
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    PostProcessing,
    Raw,
    SampledGaussian,
    Transform,
    Zcdp,
)
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.query import Histogram, Ranges, Sum, Total
from hushtable.privacy.taint import Taint
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Margins
from tests.tables import observed
from tests.unit.privacy.cases import SCHEMA, Says, Touched, people, recipe, sealed

PAID = [
    DiscreteGaussian(2.0, 1.0, 1),
    DiscreteLaplace(2.0, 1.0),
    Zcdp(0.1),
    Approximate(0.5, 1e-9),
    SampledGaussian(1.0, 0.1, 9),
]
COUNTS = Histogram(("town",))


def test_measure_adds_noise_of_the_scale_it_writes_down():
    table = people()
    for query in (COUNTS, Histogram(("age", "ill")), Ranges("age", (0.0, 50.0, 100.0)), Total(), Sum("age", 1.0)):
        for noise, kind in ((Noise.GAUSSIAN, DiscreteGaussian), (Noise.LAPLACE, DiscreteLaplace)):
            vault = Vault.of(table).named("count")
            np.testing.assert_array_equal(vault.measure(query, 1e-3, noise), query.answer(table))  # next to no noise at all
            assert (vault.measure(query, 1e12, noise) != query.answer(table)).any()
            small, large = (e.event for e in vault.ledger.entries)
            assert type(small) is type(large) is kind
            assert {e.step for e in vault.ledger.entries} == {"count"}
            assert getattr(large, "sigma" if kind is DiscreteGaussian else "scale") == pytest.approx(1e12)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_measure_refuses_a_scale_that_is_none(scale):
    with pytest.raises(InputError, match="scale"):
        Vault(_table=sealed().seal()).measure(COUNTS, scale)


def test_an_overdraft_is_refused_before_a_row_moves():
    vault = Vault(_table=sealed().seal(), budget=Budget(1.0, 1e-6))
    for ask in (
        lambda: vault.measure(COUNTS, 0.5),
        lambda: vault.measure(COUNTS, 0.5, Noise.LAPLACE),
        lambda: vault.open(Zcdp(1.0), "select"),
        lambda: vault.open(Approximate(0.5, 1e-5), "select"),
    ):
        with pytest.raises(BudgetExceeded, match="No row was read"):
            ask()
    assert vault.ledger.entries == ()
    assert vault.ledger.secure
    with pytest.raises(Touched):
        vault.measure(COUNTS, 50.0)  # the seal itself works


def test_an_overdraft_counts_what_was_spent_before():
    vault = Vault.of(people(), budget=Budget(1.0, 0.0))
    vault.measure(COUNTS, 2.0, Noise.LAPLACE)
    vault.measure(COUNTS, 2.0, Noise.LAPLACE)
    assert vault.ledger.epsilon(0.0) == pytest.approx(1.0)
    with pytest.raises(BudgetExceeded):
        vault.measure(COUNTS, 100.0, Noise.LAPLACE)
    with pytest.raises(BudgetExceeded):
        Vault.of(people(), budget=Budget(1.0, 0.0)).measure(COUNTS, 1000.0, Noise.GAUSSIAN)  # no delta, no Gaussian


def test_measure_refuses_an_observed_domain_before_a_row_moves():
    table = sealed()
    object.__setattr__(table, "schema", observed(SCHEMA))
    vault = Vault(_table=table.seal()).named("margins")
    with pytest.raises(GuaranteeRefused, match=r"margins(.|\n)*town: observed: \[domain\]"):
        vault.measure(COUNTS, 10.0)
    assert vault.ledger.entries == ()


def test_a_raw_look_makes_epsilon_infinite_and_names_the_step():
    vault = Vault.of(people(), budget=Budget(1.0, 1e-6)).named("microaggregate")
    vault.measure(COUNTS, 30.0)
    assert vault.open(Raw("microaggregation reads the rows"), "groups").rows == 200
    assert vault.ledger.epsilon(1e-6) == math.inf
    assert [(e.step, e.event.why) for e in vault.ledger.culprits] == [("microaggregate", "microaggregation reads the rows")]


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_post_processing_of_raw_rows_is_a_raw_look(rows):
    vault = Vault.of(people(), unit=Unit(rows=rows)).named("decoder")
    vault.open(PostProcessing("decodes"), "decodes")
    assert isinstance(vault.ledger.entries[0].event, Raw)
    assert "calls itself post-processing" in vault.ledger.culprits[0].why
    assert vault.ledger.epsilon(1e-6) == math.inf


@pytest.mark.parametrize("taint", [Taint.DP, Taint.KANON])
@pytest.mark.parametrize("unit", [Unit(), Unit(rows=3), Unit(relation=Relation.REPLACE_ONE)], ids=["record", "person", "exchanged"])
@pytest.mark.parametrize("happened", [*PAID, Raw("reads"), PostProcessing("p"), Transform("t")], ids=lambda e: type(e).__name__)
def test_every_look_at_a_released_table_is_post_processing(taint, happened, unit):
    vault = Vault.of(people(), unit=unit, budget=Budget(1e-6, 0.0)).released(people(50), taint).named("next")
    assert vault.open(happened, "w").rows == 50
    assert vault.measure(COUNTS, 0.01).sum() == 50
    assert all(isinstance(e.event, PostProcessing) for e in vault.ledger.entries)
    assert vault.ledger.epsilon(0.0) == 0.0


def test_the_way_back_to_the_raw_rows_is_written_under_the_step_that_took_it():
    vault = Vault.of(people()).named("mdav").released(people(50), Taint.KANON).named("transition")
    assert vault.origin.open(Raw("draws raw values"), "draws raw values").rows == 200
    assert [(e.step, e.why) for e in vault.ledger.culprits] == [("transition", "draws raw values")]


def test_a_step_without_an_allowance_cannot_spend():
    with pytest.raises(GuaranteeRefused, match=r"margins.*no budget"):
        Vault.of(people()).named("margins").paid()
    allowance = Allowance.of(Budget(1.0, 1e-6), Unit())
    vault = Vault.of(people(), budget=Budget(1.0, 1e-6)).named("margins", allowance)
    vault.spend(COUNTS, vault.paid())
    assert vault.ledger.epsilon(1e-6) == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("budget", [Budget(0.7, 1e-6), Budget(0.7, 0.0), Budget(900.0, 1e-6)])
def test_an_allowance_spends_what_it_says_and_its_parts_no_more_than_the_whole(rows, budget):
    unit = Unit(rows=rows)
    vault = Vault.of(people(), unit=unit, budget=budget).named("margins")
    for part in Allowance.of(budget, unit).split([1, 2, 3]):
        for query in (COUNTS,):
            vault.spend(query, part)
    assert vault.ledger.within(budget)
    if budget.epsilon < 100:
        assert vault.ledger.epsilon(budget.delta) > 0.99 * budget.epsilon


def first_row_everywhere(table, rng):
    return table.take(np.zeros(table.rows, np.int64))


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(
    "opens", [(Transform("shuffles"),), (Transform("shuffles"), Zcdp(0.0)), (Zcdp(0.0), Transform("shuffles"))]
)
def test_a_transform_never_yields_differential_privacy(opens, rows):
    """Alone, beside a paid look, or before a noisy core: rows changed into rows are as raw as before."""
    for steps in ((Says(opens=opens),), (Says(opens=opens, makes=first_row_everywhere), Bins(), Margins())):
        spends = len(steps) > 1
        output = release(people(), recipe(*steps), epsilon=3.0 if spends else None, unit=Unit(rows=rows), unproven=True)
        assert output.guarantee.epsilon() == math.inf
        assert output.guarantee.assurance is Assurance.NONE
        assert output.guarantee.culprits


def test_noise_on_rows_that_nobody_bounds_names_the_noisy_step():
    copies = Says(opens=(Transform("copies one row"),), makes=first_row_everywhere)
    output = release(people(), recipe(copies, Bins(), Margins()), epsilon=3.0, unproven=True)
    assert output.guarantee.culprits[0].step == "margins"
    assert "bounds nobody's part" in output.guarantee.explain()
    # The twin that believed the noise would have promised this, of a table that is one person's row two hundred times over.
    assert np.bincount(output.table["town"] + 1).max() > 0.7 * output.table.rows


def test_open_writes_the_event_as_it_is_for_a_single_record():
    for happened in PAID:
        vault = Vault.of(people())
        assert vault.open(happened, "w") is vault._table
        assert vault.ledger.entries[0].event == happened


def test_seeded_entropy_is_remembered_at_either_door():
    for look in (lambda v: v.measure(COUNTS, 5.0), lambda v: v.open(Zcdp(0.1), "own noise from the vault's entropy")):
        vault = Vault.of(people(), entropy=Entropy.seeded(1))
        assert vault.ledger.secure
        look(vault)
        assert not vault.ledger.secure


def test_post_processing_never_touches_the_rows_again():
    """Sealed after the fit: sampling the model reads nothing."""
    table = sealed()
    allowance = Allowance.of(Budget(1.0, 1e-6), Unit())
    model = Margins().fit(Vault(_table=table).named("margins", allowance), np.random.default_rng(0))
    table.seal()
    assert model.sample(50, np.random.default_rng(1)).rows == 50
    other = sealed()
    other.seal()
    with pytest.raises(Touched):
        Margins().fit(Vault(_table=other).named("margins", allowance), np.random.default_rng(0))


def test_reading_raw_rows_after_anonymizing_loses_every_promise():
    promise = Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=("age", "town"))
    for happened in (Raw("reads back"), Transform("reads back")):
        back = Says(opens=(happened,), back=True, effect=Effect.NOTHING)
        output = release(people(), recipe(Microaggregate(k=5), back))
        assert promise not in output.guarantee.promises
        assert output.guarantee.assurance is Assurance.NONE
