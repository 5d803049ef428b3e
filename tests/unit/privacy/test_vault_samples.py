"""Secret samples: cheaper looks where a theorem covers the sampling, and no proof where one row moves several."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hushtable.anonymize.sample import Method, Sample
from hushtable.encode.bins import Bins
from hushtable.errors import BudgetExceeded
from hushtable.pipeline.run import release
from hushtable.privacy import accountant
from hushtable.privacy.event import DiscreteLaplace, Raw, Transform, Zcdp
from hushtable.privacy.guarantee import Assurance, Void
from hushtable.privacy.noise import Entropy
from hushtable.privacy.query import Histogram
from hushtable.privacy.unit import Relation, Unit
from hushtable.privacy.vault import Scheme, Vault, amplifying_rate, unstable
from hushtable.synthesize.marginal.independent import Margins
from tests.unit.privacy.cases import Says, people, recipe

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
COVERED = {(Scheme.POISSON, ADD), (Scheme.FIXED, REPLACE)}
STEADY = {*COVERED, (Scheme.POISSON, REPLACE), (Scheme.NONE, ADD), (Scheme.NONE, REPLACE)}
HALF = people().take(np.arange(100))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("scheme", list(Scheme))
def test_a_sample_amplifies_only_where_the_theorem_covers_it(scheme, relation):
    unit = Unit(relation=relation)
    expected = 0.5 if (scheme, relation) in COVERED else 1.0
    assert amplifying_rate(0.5, scheme, unit, seeded=False) == expected
    assert amplifying_rate(0.5, scheme, unit, seeded=True) == 1.0
    assert amplifying_rate(0.5, scheme, replace(unit, rows=2), seeded=False) == 1.0
    assert (unstable(scheme, unit) == "") == ((scheme, relation) in STEADY)
    # Several rows may come for fewer, so that a fixed size is then no better under replace-one.
    assert (unstable(scheme, replace(unit, rows=2)) == "") == (scheme in (Scheme.NONE, Scheme.POISSON))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("scheme", [Scheme.POISSON, Scheme.FIXED, Scheme.OTHER])
def test_a_look_at_a_sample_is_written_with_its_rate_or_as_raw(scheme, relation):
    vault = Vault.of(people(), unit=Unit(relation=relation)).sampled(HALF, 0.5, scheme).named("margins")
    vault.measure(Histogram(("town",)), 2.0)
    (entry,) = vault.ledger.entries
    if (scheme, relation) in STEADY:
        amplified = (scheme, relation) in COVERED
        assert (entry.sample, entry.rate) == ((1, 0.5) if amplified else (0, 1.0))
        assert math.isfinite(vault.ledger.epsilon(1e-6))
    else:
        assert isinstance(entry.event, Raw)
        assert vault.ledger.epsilon(1e-6) == math.inf


def test_several_rows_a_seed_or_seeded_entropy_amplify_nothing():
    for vault in (
        Vault.of(people(), unit=Unit(rows=2)),
        replace(Vault.of(people()), seeded=True),
        Vault.of(people(), entropy=Entropy.seeded(1)),
    ):
        sampled = vault.sampled(HALF, 0.5, Scheme.POISSON)
        assert sampled.sample is None
        sampled.open(Zcdp(0.1), "w")
        assert sampled.ledger.entries[0].rate == 1.0


def test_rows_made_several_by_a_code_amplify_nothing():
    vault = replace(Vault.of(people()), stability=2)
    assert vault.sampled(HALF, 0.5, Scheme.POISSON).sample is None


def test_a_seeded_sample_voids_a_proof_where_rows_may_come_and_go():
    """A seeded coin belongs to a place. One row more in front moves every other row to another coin."""
    for unit, scheme, safe in (
        (Unit(), Scheme.POISSON, False),
        (Unit(relation=REPLACE), Scheme.POISSON, True),
        (Unit(relation=REPLACE), Scheme.FIXED, True),
        (Unit(relation=REPLACE, rows=2), Scheme.POISSON, False),
    ):
        vault = replace(Vault.of(people(), unit=unit), seeded=True).sampled(HALF, 0.5, scheme)
        assert vault.ledger.secure
        vault.open(Transform("nothing is paid for"), "w")
        assert vault.ledger.secure
        vault.measure(Histogram(("town",)), 5.0)
        assert vault.ledger.secure is safe


def test_with_a_known_seed_one_row_more_changes_the_whole_sample():
    """Why: the same seed on the table with and without its first row keeps other people."""
    with_first, without = people(400), people(400).take(np.arange(1, 400))
    sampled_rows = [
        release(table, recipe(Sample(beta=0.5)), seed=3).table.frame().value_counts() for table in (with_first, without)
    ]
    gap = sampled_rows[0].sub(sampled_rows[1], fill_value=0).abs().sum()
    assert gap > 100


def test_a_fixed_size_counts_at_the_rate_that_was_drawn():
    """Three of two hundred rows were asked for as one in a hundred: the rate is 1.5 in a hundred."""
    vault = Vault.of(people(), unit=Unit(relation=REPLACE))
    assert vault.sampled(people().take(np.arange(3)), 0.01, Scheme.FIXED).sample.rate == pytest.approx(0.015)
    assert vault.sampled(people().take(np.arange(1)), 0.01, Scheme.FIXED).sample.rate == pytest.approx(0.01)


def test_what_is_no_sample_of_the_rows_proves_nothing():
    for table in (people(300), people().select(["age", "town"])):
        vault = Vault.of(people()).sampled(table, 0.5, Scheme.POISSON)
        vault.measure(Histogram(("town",)), 5.0)
        assert vault.ledger.epsilon(1e-6) == math.inf
        assert "is called a sample" in vault.ledger.culprits[0].why


def test_two_samples_of_one_table_have_two_numbers_even_before_a_look():
    vault = Vault.of(people())
    one, two = vault.sampled(HALF, 0.1, Scheme.POISSON), vault.sampled(HALF, 0.9, Scheme.POISSON)
    for sampled in (one, two):
        sampled.open(DiscreteLaplace(1.0, 1.0), "w")
    assert [(e.sample, e.rate) for e in vault.ledger.entries] == [(1, 0.1), (2, 0.9)]
    assert vault.ledger.epsilon(0.0) == pytest.approx(sum(accountant.amplify(1.0, 0.0, q)[0] for q in (0.1, 0.9)))


def test_a_sample_of_a_sample_is_charged_with_the_outer_one():
    """True worlds: in both samples with 1/4, in the outer alone with 1/4. Adding two amplified prices would understate."""
    quarter = HALF.take(np.arange(50))
    epsilon = 3.0
    outer = Vault.of(people()).sampled(HALF, 0.5, Scheme.POISSON)
    inner = outer.sampled(quarter, 0.5, Scheme.POISSON)
    assert inner.sample.rate == 0.25
    for vault in (inner, outer):
        vault.open(DiscreteLaplace(1 / epsilon, 1.0), "w")
    true = math.log(0.25 * math.exp(2 * epsilon) + 0.25 * math.exp(epsilon) + 0.5)
    separately = sum(accountant.amplify(epsilon, 0.0, q)[0] for q in (0.5, 0.25))
    assert separately < true <= outer.ledger.epsilon(0.0)


def test_a_second_sample_of_a_sample_amplifies_nothing_more():
    outer = Vault.of(people()).sampled(HALF, 0.5, Scheme.POISSON)
    rates = [outer.sampled(HALF, 0.1, Scheme.POISSON).sample.rate for _ in range(3)]
    assert rates == [0.05, 0.5, 0.5]
    assert outer.sampled(HALF, 0.1, Scheme.OTHER).sample == outer.sample


@pytest.mark.parametrize("method", [Method.RANDOM, Method.STRATIFIED])
def test_a_recipe_whose_sampling_no_theorem_covers_is_not_proven(method):
    released = release(people(), recipe(Sample(beta=0.5, method=method), Bins(), Margins()), epsilon=1.0, unproven=True)
    assert released.guarantee.epsilon() == math.inf
    assert released.guarantee.assurance is Assurance.NONE
    assert released.guarantee.culprits[0].step == "margins"
    assert "sample" in released.guarantee.explain()


def test_a_poisson_sample_makes_the_noise_smaller_and_stays_proven():
    sampled = release(people(), recipe(Sample(beta=0.1), Bins(), Margins()), epsilon=1.0)
    whole = release(people(), recipe(Bins(), Margins()), epsilon=1.0)
    noise = [released.result["margins"]["noise_scale"]["age"] for released in (sampled, whole)]
    assert noise[0] < 0.5 * noise[1]
    for released in (sampled, whole):
        assert released.guarantee.assurance is Assurance.PROVEN
        assert 0.5 < released.guarantee.epsilon() <= 1.0
    seeded = release(people(), recipe(Sample(beta=0.1), Bins(), Margins()), epsilon=1.0, seed=1, unproven=True)
    assert Void.SEEDED_NOISE in seeded.guarantee.all_voids
    assert seeded.guarantee.epsilon() == math.inf


def test_a_core_that_lies_about_the_size_of_its_sample_overdraws():
    """It plans one row in a hundred and hands on half of them: the next look is charged for half."""
    liar = Says(
        opens=(Transform("sampling"),), makes=lambda table, rng: table.take(np.arange(100)), samples=Scheme.FIXED, beta=0.01
    )
    with pytest.raises(BudgetExceeded):
        release(people(), recipe(liar, Bins(), Margins()), epsilon=1.0, unit=Unit(relation=REPLACE))
