"""The noise of marginals that are measured in equal parts is what their measurements say, for every relation and noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

import hushtable.privacy.vault as door
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.privsyn import PrivSyn, _Run
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.statistical.fit import ACCEPT, REJECT

SIZES = {"a": 40, "b": 400, "c": 1500}


def p_value(delta: float, relation: Relation) -> float:
    """That the errors of the first marginals have the stated deviation: the mean of their squares is then near 1."""
    rng = np.random.default_rng(0)
    schema = Schema(
        tuple(
            Column(name=name, kind=Kind.CATEGORY, domain=Levels(tuple(f"{name}{i}" for i in range(size))), required=True)
            for name, size in SIZES.items()
        )
    )
    table = Table(schema, {name: rng.integers(0, size, 500).astype(np.int32) for name, size in SIZES.items()})
    budget, unit = Budget(1.0, delta), Unit(relation=relation)
    vault = Vault.of(table, unit=unit, budget=budget, entropy=Entropy.seeded(1)).named("privsyn", Allowance.of(budget, unit))
    run = _Run(PrivSyn(), vault, rng)
    run._measure(run.first, run.course.counts[0])
    assert [m.columns for m in run.measured] == [("a",), ("b",), ("c",)]
    assert run.measured[0].sigma > 1.4 * run.measured[2].sigma, "of many cells, in more parts"
    squares = np.concatenate([((m.counts - table.counts(m.columns)) / m.sigma) ** 2 for m in run.measured])
    # Of sums of noise with no more weight in the tails than one of Laplace (kurtosis 6), squares vary by at most 5.
    z = (squares.mean() - 1) / np.sqrt((2.0 if delta else 5.0) / len(squares))
    return float(2 * norm.sf(abs(z)))


@pytest.mark.parametrize("relation", list(Relation))
def test_the_noise_of_a_marginal_in_parts_is_as_stated_and_no_less_nor_more(relation, monkeypatch):
    assert p_value(1e-6, relation) > ACCEPT
    gaussian = door.discrete_gaussian
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        monkeypatch.setattr(door, "discrete_gaussian", lambda v, count, coins, f=factor: gaussian(v * f**2, count, coins))
        assert p_value(1e-6, relation) < REJECT


def test_the_noise_of_a_pure_budget_is_as_stated_and_no_less_nor_more(monkeypatch):
    assert p_value(0.0, Relation.ADD_REMOVE) > ACCEPT
    laplace = door.discrete_laplace
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        monkeypatch.setattr(door, "discrete_laplace", lambda s, count, coins, f=factor: laplace(s * f, count, coins))
        assert p_value(0.0, Relation.ADD_REMOVE) < REJECT
