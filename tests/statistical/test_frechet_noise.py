"""The noise of a private Frechet mean is as wide as the card says: that width is accepted, 0.7 and 1.3 times it is not."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.anonymize.private.frechet import Frechet, Tangent
from hushtable.numerics import ball
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

ROWS, DIMENSION, RUNS = 400, 40, 30
SCHEMA = Schema(tuple(Column(name=f"x{i}", kind=Kind.REAL, domain=Bounds(-1, 1), required=True) for i in range(DIMENSION)))


@pytest.fixture(scope="module")
def means() -> tuple[np.ndarray, float]:
    """Private means of one table in the tangent space of the origin, less the true one; and the noise of a sum that is told."""
    rng = np.random.default_rng(0)
    table = Table(SCHEMA, {c.name: rng.uniform(-0.5, 0.5, ROWS) for c in SCHEMA})
    unit, budget = Unit(relation=Relation.REPLACE_ONE), Budget(2.0, 1e-6)
    step, allowance = Frechet(clusters=1, tangent=Tangent.ORIGIN), Allowance.of(budget, unit)
    vault = Vault.of(table, unit=unit, entropy=Entropy.seeded(3)).named("frechet", allowance)
    models = [step.fit(vault, rng) for _ in range(RUNS)]
    origin = np.zeros(DIMENSION)
    true = ball.log(origin, models[0].space.points(table)).mean(0)
    return np.array([ball.log(origin, one.points)[0] for one in models]) - true, models[0].result()["noise_of_a_sum"]


@pytest.mark.parametrize(("wrong", "holds"), [(1.0, True), (0.7, False), (1.3, False)])
def test_a_mean_is_as_noisy_as_its_sum_divided_by_the_rows(means, wrong, holds):
    errors, noise = means

    def check(factor):
        measured = float(errors.std()) * ROWS
        # 1,200 draws: the standard error of a standard deviation is 2 %.
        assert measured == pytest.approx(factor * noise, rel=0.08)

    judge(check, wrong, holds=holds)


def test_the_noise_is_that_of_the_gaussian_mechanism(means):
    """Delta = 2r/N under replace-one, so the mean has noise Delta / sqrt(2 rho) in every coordinate."""
    errors, _ = means
    reach = 2 * np.arctanh(0.5)
    rho = Allowance.of(Budget(2.0, 1e-6), Unit()).rho
    assert errors.std() == pytest.approx(2 * reach / ROWS / np.sqrt(2 * rho), rel=0.08)
    assert abs(errors.mean()) < 4 * errors.std() / np.sqrt(errors.size)
