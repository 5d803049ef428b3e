"""The noise of a published mixture is as wide as its theorem says, and levels come by their shares."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.privacy.accountant import gdp_delta
from hushtable.privacy.noise import Entropy
from hushtable.privacy.vault import Vault
from hushtable.synthesize.published.clustmix import ClustMix, Noise
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

ROWS, DIMENSION = 100, 40
SCHEMA = Schema(tuple(Column(name=f"x{i}", kind=Kind.REAL, domain=Bounds(0, 1), required=True) for i in range(DIMENSION)))


@pytest.fixture(scope="module")
def errors() -> np.ndarray:
    """Noisy averages of all records, less the true ones."""
    rng = np.random.default_rng(0)
    table = Table(SCHEMA, {c.name: rng.random(ROWS) for c in SCHEMA})
    vault = Vault.of(table, entropy=Entropy.seeded(3))
    step = ClustMix(l=ROWS, epsilon0=1.0, delta0=1e-5, scaling="declared")
    result = np.concatenate([step.fit(vault, rng).vectors for _ in range(30)])
    return result - step._encoding(SCHEMA).vectors(table)[0].mean(axis=0)


@pytest.mark.parametrize(("wrong", "holds"), [(1.0, True), (0.7, False), (1.3, False)])
def test_the_noise_is_that_of_the_theorem(errors, wrong, holds):
    mu = 0.268  # of (1, 1e-5), a printed value of the Gaussian trade-off

    def check(factor):
        # 1,200 draws: the standard error of a standard deviation is 2 %.
        assert errors.std() == pytest.approx(factor * math.sqrt(DIMENSION) / (ROWS * mu), rel=0.08)

    judge(check, wrong, holds=holds)


def test_the_noise_is_the_least_that_the_claim_allows():
    noise = Noise.of(1.0, 1e-5, np.array([0, 1]), 14)
    assert noise.sigma(118) == pytest.approx(0.167, abs=0.001)
    mu = math.sqrt(2 * 14) / (118 * noise.sigma(118))
    assert gdp_delta(mu, 1.0) <= 1e-5 < gdp_delta(1.001 * mu, 1.0)
    least = noise.least(0.1)
    assert noise.sigma(least) <= 0.1 < noise.sigma(least - 1)
