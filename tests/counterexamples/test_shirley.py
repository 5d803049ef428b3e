"""Copula-Shirley: a level that one person has is printed only if the person is there, and d columns cost d epsilon."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.vine_certified import Vine
from hushtable.synthesize.published.copula_shirley import CopulaShirley
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.chains import category

ROWS = 60
SCHEMA = Schema((category("sex", 2), category("job", 3), category("ill", 2)))


def town(holder: bool) -> Table:
    """Sixty people; the last one has the job that nobody else has, or not. Only that one record differs."""
    rng = np.random.default_rng(0)
    arrays = {"sex": rng.integers(0, 2, ROWS), "job": rng.integers(0, 2, ROWS), "ill": rng.integers(0, 2, ROWS)}
    arrays["job"][-1] = 2 if holder else 0
    return Table(SCHEMA, {name: array.astype(np.int32) for name, array in arrays.items()})


def runs_with_the_job(step, holder: bool, runs: int) -> int:
    recipe = Recipe(recipe="tried", steps=(step,))
    # Seeded noise voids the proof, which is what ``unproven`` lets pass; the test is then the same every day.
    options = {"epsilon": 1.0 if step.spends else None, "unit": Unit(relation=Relation.REPLACE_ONE), "unproven": True}
    tables = (release(town(holder), recipe, seed=run, entropy=Entropy.seeded(run), **options).table for run in range(runs))
    return sum(bool((table["job"] == 2).any()) for table in tables)


def test_a_unique_level_reappears_only_if_its_holder_is_there():
    """Seeing it once refutes every epsilon: without the holder it cannot be printed."""
    published = CopulaShirley(trees=1, families=("frank",))
    assert runs_with_the_job(published, holder=False, runs=20) == 0
    assert runs_with_the_job(published, holder=True, runs=20) >= 2


def test_the_certified_form_prints_the_level_in_both_worlds():
    """The level is declared, so it may come whoever is there, about equally often."""
    without, with_holder = (runs_with_the_job(Vine(), holder, runs=40) for holder in (False, True))
    assert without >= 8
    assert abs(without - with_holder) <= 8


def published(table: Table, seed: int, **knobs):
    vault = Vault.of(table, entropy=Entropy.seeded(seed), seed=seed)
    return CopulaShirley(**knobs).fit(vault, np.random.default_rng(seed))


def test_the_split_is_drawn_again_until_the_rare_value_is_in_the_half_that_is_counted():
    """A fair split would leave the one holder out every other time."""
    table = town(True)
    rare = (np.arange(ROWS) == ROWS - 1).astype(np.int32)
    table = table.with_column(SCHEMA["ill"], rare)
    seen = [1 in published(table, seed, trees=1).columns["ill"].values for seed in range(12)]
    assert all(seen)


def test_the_vine_is_a_function_of_raw_records():
    """With the same noise, and so the same noisy distribution functions, one record of the other half changes the vine."""
    one = published(town(False), 3, trees=1)
    differing = 0
    for row in range(ROWS):
        table = town(False)
        other = published(
            table.with_column(SCHEMA["sex"], np.where(np.arange(ROWS) == row, 1 - table["sex"], table["sex"])), 3, trees=1
        )
        same_margins = all(np.array_equal(one.columns[n].ends, other.columns[n].ends) for n in SCHEMA.names)
        differing += same_margins and one.vine != other.vine
    assert differing >= ROWS // 4


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_d_columns_cost_d_epsilon(epsilon):
    """The log-likelihood ratio of the noise on all counts, for a record replaced by one that differs everywhere."""
    step = CopulaShirley(epsilon=epsilon)
    model = published(town(True), 1, epsilon=epsilon, trees=1)
    scales = model.result()["noise_scale"]
    assert scales == dict.fromkeys(SCHEMA.names, 2 / epsilon) == dict.fromkeys(SCHEMA.names, step.scale)
    before, after = np.array([10.0, 20.0]), np.array([9.0, 21.0])
    drawn = np.array([30.0, 5.0])  # beyond both, where the ratio is largest
    ratio = sum((np.abs(drawn - after) - np.abs(drawn - before)).sum() / scale for scale in scales.values())
    assert ratio == pytest.approx(len(SCHEMA) * epsilon)
    assert ratio > model.result()["claimed_epsilon"]


def test_the_certified_form_pays_for_every_column():
    released = release(town(True), Recipe(recipe="tried", steps=(Vine(),)), epsilon=1.0, delta=0.0)
    spent = sum(entry.event.cost().epsilon for entry in released.guarantee.ledger)
    assert len(released.guarantee.ledger) == 3 + 1 + 2  # margins, the tree, its two tables
    assert 0.99 < spent <= 1.0
    assert released.guarantee.epsilon() <= 1.0 < math.inf
