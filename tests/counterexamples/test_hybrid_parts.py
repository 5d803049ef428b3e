"""The hybrid copula as published leaves out the parts in which nobody is: that a part exists reveals who is alone in it."""

from __future__ import annotations

import numpy as np

from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.hybrid import HybridCopula
from hushtable.synthesize.published.dpcopula_hybrid import PublishedHybrid
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

UNIT = Unit(relation=Relation.REPLACE_ONE)
BUDGET = Budget(1.0, 1e-6)
RUNS = 40


def ward(alone: bool) -> Table:
    """Two hundred people, none of whom is ill, or one of whom is."""
    rng = np.random.default_rng(0)
    columns = (
        Column(name="ill", kind=Kind.CATEGORY, domain=Levels(("no", "yes")), required=True),
        *(Column(name=name, kind=Kind.INTEGER, domain=Bounds(0, 3), required=True) for name in ("age", "stay")),
    )
    ill = np.zeros(200, np.int32)
    ill[0] = alone
    return Table(Schema(columns), {"ill": ill, "age": rng.integers(0, 4, 200), "stay": rng.integers(0, 4, 200)})


def times(step, alone: bool) -> int:
    """In how many runs the part of the ill has a share at all."""
    hits = 0
    for seed in range(RUNS):
        vault = Vault.of(ward(alone), unit=UNIT, entropy=Entropy.seeded(seed), seed=seed, budget=BUDGET if step.spends else None)
        model = step.fit(vault.named("step", Allowance.of(BUDGET, UNIT) if step.spends else None), np.random.default_rng(seed))
        hits += bool(model.shares[1] > 0)
    return hits


def test_as_published_a_part_exists_only_if_somebody_is_in_it():
    step = PublishedHybrid(parts=("ill",))
    assert times(step, alone=False) == 0
    assert times(step, alone=True) > RUNS / 4


def test_in_the_certified_form_an_empty_part_gets_its_noise_too():
    step = HybridCopula(parts=("ill",))
    without, with_one = times(step, alone=False), times(step, alone=True)
    assert without > RUNS / 4
    # Three standard deviations of the difference of two such counts, and what epsilon = 1 allows.
    assert with_one <= np.e * without + 3 * np.sqrt(RUNS / 2)
