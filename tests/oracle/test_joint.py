"""Numbers about all columns together equal their definitions, and the libraries that have them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.spatial.distance import cdist, pdist
from scipy.stats import ks_2samp, multivariate_normal

from hushtable.measures import geometry
from hushtable.measures.discriminator import auc
from hushtable.measures.geometry import partners
from hushtable.measures.joint import Moments, frechet_distance, kernel_sums, moments_of
from hushtable.measures.structure import axes_kept
from tests.unit.measures.clouds import points

SEEDS = range(3)


def clouds(seed: int, sizes: tuple[int, ...] = (60, 45), width: int = 4) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [np.float32(rng.normal(0.3 * i, 1 + 0.2 * i, size=(n, width))).astype(np.float64) for i, n in enumerate(sizes)]


def unbiased(x: np.ndarray, y: np.ndarray, width: float) -> float:
    """Lemma 6 of Gretton et al. 2012, pair by pair."""

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.exp(-cdist(a, b, "sqeuclidean") / (2 * width**2))

    def within(a: np.ndarray) -> float:
        return (kernel(a, a).sum() - len(a)) / (len(a) * (len(a) - 1))

    return within(x) + within(y) - 2 * kernel(x, y).mean()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_discrepancy_is_the_sum_over_pairs(seed):
    x, y = clouds(seed)
    sums = kernel_sums({"x": points(x), "y": points(y)}, 1.7, None, np.random.default_rng(0))
    assert sums.discrepancy("x", "y") == pytest.approx(unbiased(x, y, 1.7), abs=1e-12)
    assert sums.discrepancy("y", "x") == pytest.approx(sums.discrepancy("x", "y"))


def test_leaving_a_group_out_is_leaving_its_rows_out():
    x, y = clouds(0)
    rng = np.random.default_rng(3)
    sums = kernel_sums({"x": points(x), "y": points(y)}, 1.0, None, rng)
    order = np.random.default_rng(3).permutation(len(x))
    first = np.array_split(order, 20)[0]
    assert sums.left_out("x", "y")[0] == pytest.approx(unbiased(np.delete(x, first, axis=0), y, 1.0), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_features_come_as_near_as_their_own_error_says(seed):
    x, y = clouds(seed, (300, 250))
    rng = np.random.default_rng(seed)
    waves = kernel_sums({"x": points(x), "y": points(y)}, 2.0, rng.standard_normal((4, 2048)) / 2.0, rng)
    error = waves._wave_variance("x", "y") ** 0.5
    truth = unbiased(x, y, 2.0)
    assert abs(waves.discrepancy("x", "y") - truth) < 3.5 * error
    assert error < 0.05 * truth


def test_random_features_of_another_bandwidth_are_seen():
    x, y = clouds(0, (300, 250))
    rng = np.random.default_rng(0)
    waves = kernel_sums({"x": points(x), "y": points(y)}, 2.0, rng.standard_normal((4, 2048)) / 4.0, rng)
    error = waves._wave_variance("x", "y") ** 0.5
    assert abs(waves.discrepancy("x", "y") - unbiased(x, y, 2.0)) > 3.5 * error


@pytest.mark.parametrize("seed", SEEDS)
def test_moments_equal_numpy(seed):
    (x,) = clouds(seed, (9000,))
    result = moments_of(points(x))
    assert result.mean == pytest.approx(x.mean(axis=0), abs=1e-6)
    assert result.covariance == pytest.approx(np.cov(x.T), abs=1e-6)


def definition(one: Moments, other: Moments) -> float:
    root = sqrtm(one.covariance @ other.covariance).real
    gap = ((one.mean - other.mean) ** 2).sum()
    return float(np.sqrt(gap + np.trace(one.covariance + other.covariance - 2 * root)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_frechet_distance_equals_its_definition(seed):
    one, other = (Moments(cloud.mean(axis=0), np.cov(cloud.T)) for cloud in clouds(seed))
    assert frechet_distance(one, other) == pytest.approx(definition(one, other), rel=1e-8)
    assert frechet_distance(one, other) == pytest.approx(frechet_distance(other, one), rel=1e-10)
    assert frechet_distance(one, one) == pytest.approx(0, abs=1e-6)


def test_singular_covariances_have_the_distance_of_their_limit():
    x, y = clouds(1)
    flat = x.copy()
    flat[:, 3] = flat[:, 0] - flat[:, 1]
    one, other = (Moments(cloud.mean(axis=0), np.cov(cloud.T)) for cloud in (flat, y))
    near = Moments(one.mean, one.covariance + 1e-9 * np.eye(4))
    assert frechet_distance(one, other) == pytest.approx(definition(near, other), rel=1e-4)
    line = Moments(np.zeros(1), np.zeros((1, 1)))
    assert frechet_distance(line, Moments(np.array([3.0]), np.array([[16.0]]))) == pytest.approx(5)


@pytest.mark.parametrize("seed", SEEDS)
def test_partners_are_the_best_of_all_pairings(seed):
    x, y = clouds(seed, (6, 6))
    best = min(((x - y[list(order)]) ** 2).sum() for order in permutations(range(6)))
    assert ((x - partners(x, y)) ** 2).sum() == pytest.approx(best)
    assert partners(x, x[::-1]) == pytest.approx(x)


def by_pairs(score: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """AUC and DeLong's variance from the matrix of comparisons, one more row above and below all others on each side."""
    ends = [-np.inf, np.inf]
    ups, downs = np.append(score[positive], ends), np.append(score[~positive], ends)
    wins = (ups[:, None] > downs) + 0.5 * (ups[:, None] == downs)
    return float(wins[:-2, :-2].mean()), wins.mean(axis=1).var(ddof=1) / len(ups) + wins.mean(axis=0).var(ddof=1) / len(downs)


@pytest.mark.parametrize("seed", SEEDS)
def test_auc_equals_sklearn_and_its_interval_delong(seed):
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(seed)
    positive = rng.random(200) < 0.4
    score = np.round(rng.normal(0.8 * positive), 1)
    value, variance = by_pairs(score, positive)
    rate = auc(score, positive)
    assert rate.value == pytest.approx(roc_auc_score(positive, score)) == pytest.approx(value)
    assert rate.high - rate.low == pytest.approx(2 * 1.959963984540054 * variance**0.5)


@pytest.mark.parametrize("seed", SEEDS)
def test_axes_kept_is_the_ratio_of_explained_variances(seed):
    from sklearn.decomposition import PCA

    rng = np.random.default_rng(seed)
    x, y = (rng.normal(size=(200, 5)) @ rng.normal(size=(5, 5)) for _ in range(2))
    axes = PCA(2).fit(y).components_
    expected = (x - x.mean(axis=0)) @ axes.T
    whole = PCA(2).fit(x).explained_variance_.sum()
    assert axes_kept(np.cov(x.T), np.cov(y.T), 2) == pytest.approx(expected.var(axis=0, ddof=1).sum() / whole)
    assert axes_kept(np.cov(x.T), np.cov(x.T), 2) == pytest.approx(1)


@pytest.mark.parametrize(("drawn", "error"), [(100_000, 1e-9), (10_000, 0.03)])
def test_distances_between_records_are_those_of_all_pairs(monkeypatch, drawn, error):
    monkeypatch.setattr(geometry, "DRAWN", drawn)
    x, y, z = clouds(0, (150, 150, 150))
    result = geometry._distances({"train": x, "release": y, "control": z}, np.random.default_rng(0))
    assert result.value == pytest.approx(ks_2samp(pdist(x), pdist(y)).statistic, abs=error)
    assert result.baseline == pytest.approx(ks_2samp(pdist(x), pdist(z)).statistic, abs=error)
    assert sum(result.detail["train"]) == pytest.approx(1, abs=1e-3)


def test_the_population_value_of_normal_clouds():
    """The kernel's mean over two normal clouds has a closed form, which the kernel's sums approach."""
    rng, shift, width = np.random.default_rng(0), np.array([1.0, 0.0]), 1.5
    x, y = rng.normal(size=(1500, 2)), rng.normal(size=(1500, 2)) + shift
    scale = 2 * np.pi * width**2
    same, apart = (scale * multivariate_normal(gap, (width**2 + 2) * np.eye(2)).pdf(np.zeros(2)) for gap in (np.zeros(2), shift))
    sums = kernel_sums({"x": points(x), "y": points(y)}, width, None, rng)
    assert sums.discrepancy("x", "y") == pytest.approx(2 * (same - apart), rel=0.1)
