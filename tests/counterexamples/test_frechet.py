"""Noise sized for the Frechet mean but put on every record: neither the records nor their mean have the epsilon claimed.

The mean recomputed from N noisy records is about a Gaussian mechanism with mu = epsilon sqrt(N/2); noise put on the sum of
clipped tangent vectors, in whole numbers, keeps its mu.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.special import ndtri

from hushtable.anonymize.private.frechet_queries import TangentSums
from hushtable.anonymize.published.frechet_noise import PUBLISHED, published_noise
from hushtable.numerics import ball
from hushtable.numerics.ball_map import BallMap
from hushtable.privacy.accountant import pure_to_gdp
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

ROWS, EPSILON, RUNS = 200, 0.1, 1000
SCHEMA = Schema((Column(name="x", kind=Kind.REAL, domain=Bounds(-1, 1), required=True),))
SPACE = BallMap(SCHEMA)
WORLDS = [Table(SCHEMA, {"x": np.append(np.tile([-1.0, 1.0], ROWS // 2)[1:], last)}) for last in (-1.0, 1.0)]
"""Two tables that differ in one record, which lies at one end of the domain or at the other."""


@cache
def published(table: Table) -> np.ndarray:
    """The mean in the tangent space, recomputed from noisy records, many times."""
    points, rng = SPACE.points(table), np.random.default_rng(8)
    return np.array([ball.log(np.zeros(1), published_noise(points, EPSILON, rng)).mean() for _ in range(RUNS)])


def certified(table: Table) -> np.ndarray:
    """The mean of a noisy sum, at the mu that pure epsilon gives."""
    look = TangentSums(SPACE, np.zeros((1, 1)), np.zeros((1, 1)), SPACE.reach, 1)
    unit = Unit(relation=Relation.REPLACE_ONE)
    sigma = look.sensitivity(SCHEMA, unit.relation)[1] / pure_to_gdp(EPSILON)
    vault = Vault.of(table, unit=unit, entropy=Entropy.seeded(9))
    return np.array([look.read(vault.measure(look, sigma))[1][0, 0] / ROWS for _ in range(RUNS // 8)])


def mu_at_least(one: np.ndarray, other: np.ndarray) -> float:
    """A lower bound on mu from two worlds, at a threshold halfway: errors plus three standard errors."""
    middle = (np.mean(one) + np.mean(other)) / 2
    high = np.mean(other) > np.mean(one)
    errors = [np.mean((one > middle) == high), np.mean((other <= middle) == high)]
    worst = [error + 3 * math.sqrt(max(error * (1 - error), 1 / len(one)) / len(one)) for error in errors]
    return float(-ndtri(worst[0]) - ndtri(worst[1]))


@pytest.mark.parametrize(("mechanism", "holds"), [(certified, True), (published, False)])
def test_the_mean_has_the_epsilon_that_is_claimed(mechanism, holds):
    def check(mechanism):
        assert mu_at_least(*(mechanism(world) for world in WORLDS)) <= pure_to_gdp(EPSILON)

    judge(check, mechanism, holds=holds)


def test_the_true_mu_of_the_published_mean_grows_with_the_root_of_the_rows():
    one, other = (published(world) for world in WORLDS)
    measured = abs(other.mean() - one.mean()) / np.sqrt((one.var() + other.var()) / 2)
    assert measured == pytest.approx(EPSILON * math.sqrt(ROWS / 2), rel=0.1)
    assert "sqrt(N/2)" in PUBLISHED.gaps[1]


def test_a_noisy_record_gives_itself_away():
    """One record moves by 2r under noise of scale 2r/(N epsilon): N epsilon, not epsilon. Its sign is nearly certain."""
    rng = np.random.default_rng(10)
    last = np.array([published_noise(SPACE.points(world), EPSILON, rng)[-1, 0] for world in WORLDS for _ in range(500)])
    right = np.mean(np.append(last[:500] < 0, last[500:] > 0))
    assert right > 0.99
    assert right > 1 / (1 + math.exp(-EPSILON))
