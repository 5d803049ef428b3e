"""The noise of the sums behind mixtures is as wide as stated: that width is accepted, half, 0.7 and 1.3 times it are not."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.mixture.clustmix_certified import ClustMixCertified
from hushtable.synthesize.mixture.groups import deviation
from hushtable.synthesize.mixture.integer_encoding import STEPS, IntegerEncoding
from hushtable.synthesize.mixture.sums import GroupSums, PartitionSums
from hushtable.synthesize.mixture.trees import Tree, projections
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

LEVELS = Levels(tuple(map(str, range(40))))
SCHEMA = Schema(
    (
        *(Column(name=f"c{i}", kind=Kind.CATEGORY, domain=LEVELS, required=True) for i in range(5)),
        Column(name="y", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")), required=True),
    )
)
ROWS = 500
RNG = np.random.default_rng(0)
TABLE = Table(SCHEMA, {c.name: RNG.integers(0, len(c.levels), ROWS).astype(np.int32) for c in SCHEMA})
ENCODING, ALL = IntegerEncoding.of(SCHEMA, "", "test"), IntegerEncoding.of(SCHEMA, "", "test", classed=False)
QUERIES = {
    Relation.ADD_REMOVE: PartitionSums(ENCODING, projections(ENCODING, 2, np.random.default_rng(1)), 300),
    Relation.REPLACE_ONE: GroupSums(ALL, np.arange(2 * ROWS).reshape(2, -1) % 5, 5),
}


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize(("wrong", "holds"), [(1.0, True), (0.5, False), (0.7, False), (1.3, False)])
def test_sums_are_as_noisy_as_is_told(relation, delta, wrong, holds):
    unit, budget, query = Unit(relation=relation), Budget(1.0, delta), QUERIES[relation]
    allowance = Allowance.of(budget, unit)
    vault = Vault.of(TABLE, unit=unit, budget=budget, entropy=Entropy.seeded(7)).named("test", allowance)
    errors = vault.spend(query, allowance) - query.answer(TABLE)
    assert not vault.ledger.culprits
    assert vault.ledger.epsilon(delta) <= 1.0

    def check(factor):
        # More than 1,500 draws: the standard error of the deviation is 2 %, of the heavier Laplace one 3 %.
        assert errors.std() / STEPS == pytest.approx(factor * deviation(allowance, query, SCHEMA), rel=0.1)

    judge(check, wrong, holds=holds)


def test_the_card_tells_the_noise_of_the_mechanism():
    """Five columns and the weight: sqrt(5 / 0.95) / sqrt(2 rho), where no tree is grown and 0.7 rho is for the leaves."""
    budget = Budget(1.0, 1e-6)
    allowance = Allowance.of(budget, Unit())
    vault = Vault.of(TABLE, budget=budget, entropy=Entropy.seeded(7)).named("test", allowance)
    stated = ClustMixCertified(depth=0).fit(vault, np.random.default_rng(0)).result()["noise_of_a_count"]
    assert stated == pytest.approx(np.sqrt(5 / 0.95 / (2 * 0.7 * allowance.rho)), rel=0.01)


def test_the_number_of_rows_is_unbiased_and_noisy():
    budget = Budget(1.0, 1e-6)
    allowance = Allowance.of(budget, Unit())
    single = PartitionSums(ENCODING, Tree.single(ENCODING), 500)
    totals = []
    for seed in range(16):
        vault = Vault.of(TABLE, budget=budget, entropy=Entropy.seeded(seed)).named("test", allowance)
        totals.append(ClustMixCertified(depth=0).fit(vault, np.random.default_rng(0)).total)
    spread = float(np.std(totals))
    assert abs(np.mean(totals) - ROWS) < 4 * spread / np.sqrt(16)
    assert spread > 0.5 * deviation(allowance, single, SCHEMA)
