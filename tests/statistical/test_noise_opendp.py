"""Our noise and OpenDP's are the same distribution. A right pair fails once in a billion runs (OpenDP cannot be seeded)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.privacy.noise import Entropy, discrete_gaussian, discrete_laplace, gaussian_variance, laplace_scale
from tests.statistical.fit import REJECT, two_sample

dp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
DRAWS = 25_000


def theirs(kind: str, scale: float) -> np.ndarray:
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i32"))
    space = (domain, dp.l1_distance(T="i32")) if kind == "laplace" else (domain, dp.l2_distance(T="f64"))
    mechanism = dp.m.make_laplace(*space, scale=scale) if kind == "laplace" else dp.m.make_gaussian(*space, scale=scale)
    return np.array(mechanism([0] * DRAWS))


def ours(kind: str, scale: float) -> np.ndarray:
    if kind == "laplace":
        return discrete_laplace(laplace_scale(scale), DRAWS, Entropy.seeded(3))
    return discrete_gaussian(gaussian_variance(scale), DRAWS, Entropy.seeded(3))


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.75, 12.0])
def test_two_samples_are_one_distribution_only_at_the_same_scale(kind, scale):
    if kind == "gaussian":
        scale = math.sqrt(gaussian_variance(scale))  # what we really draw
    reference = theirs(kind, scale)
    assert two_sample(ours(kind, scale), reference, scale) > 1e-9
    assert two_sample(ours(kind, 0.7 * scale), reference, scale) < REJECT
    assert two_sample(ours(kind, 1.3 * scale), reference, scale) < REJECT
