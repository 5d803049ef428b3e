"""Random mixing: public subsets, one row for each mixture, and the noise of what one record changes."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.checks import example
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.recipe import load
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.synthesize.mixture.dpmix import DPMix
from hushtable.table.columns import Column, Kind
from hushtable.table.schema import Schema
from tests.unit.synthesize.test_clustmix_certified import SCHEMA, fitted, people

RICH = Budget(200.0, 1e-6)


@pytest.mark.parametrize(("rounds", "rows"), [(1, 40), (3, 120)])
def test_every_mixture_is_one_row(rounds, rows):
    model, ledger = fitted(DPMix(least=100, rounds=rounds), people(4050), Budget(1.0, 1e-6))
    assert model.sample(None, np.random.default_rng(0)).rows == rows
    assert not ledger.culprits
    assert ledger.epsilon(1e-6) <= 1.0


def test_more_mixtures_of_a_record_are_noisier_by_the_root_of_their_number():
    one, nine = (fitted(DPMix(least=100, rounds=m), people())[0].result()["noise_of_a_share"] for m in (1, 9))
    assert nine == pytest.approx(3 * one, rel=0.01)
    small, large = (fitted(DPMix(least=least), people())[0].result()["noise_of_a_share"] for least in (50, 200))
    assert small == pytest.approx(4 * large, rel=0.01)


def test_without_much_noise_a_mixture_is_the_mean_of_its_records():
    table = people(2000)
    model, _ = fitted(DPMix(least=2000), table, RICH)
    assert model.shares["town"][0] == pytest.approx(table.counts(("town",)) / 2000, abs=0.01)
    assert model.shares["ill"][0, 1] == pytest.approx((table["ill"] == 1).mean(), abs=0.01)
    assert model.numbers["size"][0, 0] * 10 == pytest.approx(np.nanmean(table["size"]), abs=0.05)
    pairs, _ = fitted(DPMix(least=2), table, RICH)
    assert pairs.total == 1000
    assert pairs.shares["grade"].max(axis=1).mean() > 0.4  # means of two records, not of all


def test_subsets_are_drawn_from_the_generator_and_not_from_the_rows():
    one = fitted(DPMix(least=50), people(500), seed=1)[0]
    other = fitted(DPMix(least=50), people(500), seed=2)[0]
    assert one.result() == other.result()
    assert not np.allclose(one.shares["grade"], other.shares["grade"])


def test_what_it_refuses():
    with pytest.raises(GuaranteeRefused, match="replace_one"):
        DPMix().plan(SCHEMA, Allowance.of(Budget(1.0, 1e-6), Unit()))
    unit = Unit(relation=Relation.REPLACE_ONE)
    with pytest.raises(PlanError, match="note"):
        DPMix().plan(Schema((*SCHEMA.columns, Column(name="note", kind=Kind.TEXT))), Allowance.of(Budget(1.0, 1e-6), unit))
    with pytest.raises(InputError) as raised:
        DPMix(least=1, rounds=0, share=-1)
    assert len(raised.value.faults) == 3
    with pytest.raises(InputError, match="larger than the table"):
        fitted(DPMix(least=50), people(20))


def test_the_recipe_is_proven_for_replaced_records():
    released = ht.release(example(600), load("dpmix"), epsilon=1.0, unit=Unit(relation=Relation.REPLACE_ONE))
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.guarantee.epsilon() <= 1.0
