"""The battery on steps that are proven for one record replaced by another, or for budgets with a delta only."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hushtable.anonymize.private import blocks
from hushtable.anonymize.private.blocks import Blocks, BlockSums
from hushtable.checks import private
from hushtable.checks.fitting import allowance, unit
from hushtable.errors import GuaranteeRefused
from hushtable.privacy.unit import Relation
from hushtable.synthesize.marginal.independent import Margins


class Understated(BlockSums):
    """Says a hundredth of its sensitivity."""

    def sensitivity(self, schema, relation):
        one, two, ones = super().sensitivity(schema, relation)
        return one / 100, two / 100, ones


def test_a_step_is_tried_under_the_relation_it_is_proven_for():
    assert unit(Blocks()).relation is Relation.REPLACE_ONE
    assert unit(Margins()).relation is Relation.ADD_REMOVE
    assert allowance(Blocks()).unit.fixes_rows


def test_a_sensitivity_that_is_too_small_for_replaced_rows_is_found(monkeypatch):
    assert private._sensitivity(Blocks(k=10)) == ""
    monkeypatch.setattr(blocks, "BlockSums", Understated)
    assert "its sensitivity says" in private._sensitivity(Blocks(k=10))


@dataclass(frozen=True, kw_only=True)
class NeverEnough(Blocks):
    """Refuses every budget."""

    def fit(self, vault, rng):
        raise GuaranteeRefused("not for this budget")


def test_only_a_budget_without_delta_may_be_refused():
    with pytest.raises(GuaranteeRefused):
        private._pays(NeverEnough())
