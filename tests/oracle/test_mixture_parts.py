"""The parts of mixtures against slow or independent computations: assignments, kernels, gradients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from hushtable.synthesize.mixture.inducing import RIDGE, Descent, adapt, loss
from hushtable.synthesize.mixture.kernel import BIAS, WEIGHT, tangent_kernel
from hushtable.synthesize.published.clustmix_clusters import assign, constrained_means, constrained_mixture, means


def cheapest(costs, least):
    """The least cost by an assignment problem: so many places of each cluster, and for the rest wherever it is cheapest."""
    rows, count = costs.shape
    free = [costs.min(axis=1, keepdims=True)] * (rows - count * least)
    places = np.concatenate([np.repeat(costs, least, axis=1), *free], axis=1)
    return places[linear_sum_assignment(places)].sum()


@pytest.mark.parametrize("seed", range(150))
def test_assignments_are_the_cheapest_that_keep_the_sizes(seed):
    rng = np.random.default_rng(seed)
    count, least = rng.integers(1, 7), rng.integers(1, 7)
    shape = (count * least + rng.integers(0, 9), count)
    # Whole numbers have ties, large ones try the slack for rounding.
    costs = (rng.random(shape), rng.integers(0, 3, shape).astype(float), rng.normal(0, 1e6, shape))[seed % 3]
    labels = assign(costs, least)
    assert np.bincount(labels, minlength=count).min() >= least
    assert costs[np.arange(len(costs)), labels].sum() == pytest.approx(cheapest(costs, least), rel=1e-9, abs=1e-6)


def test_every_cluster_of_a_mixture_has_its_size_and_k_means_never_gets_worse():
    rng = np.random.default_rng(0)
    points = rng.random((400, 5))
    for least in (2, 7, 60, 400):
        result = constrained_mixture(points, 400 // least, least, rng)
        assert np.bincount(result.labels, minlength=400 // least).min() >= least
    labels = rng.permutation(np.arange(400) % 8)
    before = ((points - means(points, labels, 8)[labels]) ** 2).sum()
    assert constrained_means(points, labels, 8, 40).cost < before


def test_a_mixture_knows_clusters_of_different_width_which_k_means_does_not():
    rng = np.random.default_rng(2)
    narrow, wide = rng.normal(0, 0.1, (100, 6)), rng.normal(0.9, 1.0, (100, 6))
    points, truth = np.concatenate([narrow, wide]), np.repeat([0, 1], 100)
    result = constrained_mixture(points, 2, 80, rng, 4)
    assert result.mixture
    agree = max((result.labels == truth).mean(), (result.labels != truth).mean())
    by_means = constrained_means(points, result.labels, 2, 80).labels
    assert agree > 0.98 > max((by_means == truth).mean(), (by_means != truth).mean())


def test_records_that_are_all_the_same_fall_back_to_k_means():
    result = constrained_mixture(np.ones((50, 3)), 5, 10, np.random.default_rng(0))
    assert not result.mixture
    assert np.bincount(result.labels).tolist() == [10] * 5


def test_the_kernel_is_that_of_random_networks():
    """One and two hidden layers: expectations over Gaussian weights, by drawing them."""
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 3))
    signals = np.array([[x @ x, x @ z], [z @ x, z @ z]]) * WEIGHT / 3 + BIAS
    tangent = signals[0, 1]
    for depth in (1, 2):
        drawn = rng.multivariate_normal([0, 0], signals, 400_000)
        gates = (drawn > 0).all(axis=1).mean()
        units = np.maximum(drawn, 0)
        signals = WEIGHT * units.T @ units / len(units) + BIAS
        tangent = signals[0, 1] + WEIGHT * tangent * gates
        assert tangent_kernel(x[None], z[None], depth).value[0, 0] == pytest.approx(tangent, rel=0.01)


@pytest.mark.parametrize("depth", [1, 3])
def test_the_gradient_is_the_derivative_of_the_loss(depth):
    rng = np.random.default_rng(depth)
    points, targets = rng.normal(size=(5, 3)), rng.normal(size=(9, 3))
    y, goal = rng.normal(size=(5, 2)), rng.normal(size=(9, 2))
    _, gradient = loss(points, y, targets, goal, depth, 0.1)
    for place in np.ndindex(*points.shape):
        step = np.zeros_like(points)
        step[place] = 1e-5
        up, down = (loss(points + s, y, targets, goal, depth, 0.1)[0] for s in (step, -step))
        assert gradient[place] == pytest.approx((up - down) / 2e-5, abs=1e-7)


def test_adapted_points_teach_a_kernel_machine_more_and_alpha_holds_them_back():
    rng = np.random.default_rng(0)
    targets = rng.random((600, 2))
    truth = ((targets[:, 0] - 0.5) ** 2 + (targets[:, 1] - 0.5) ** 2 < 0.11).astype(int)
    points, labels = targets[:12], truth[:12]
    middle, unit = targets.mean(0), targets.std(0)

    def scores(x):
        x, z = (x - middle) / unit, (targets - middle) / unit
        own = tangent_kernel(x, x, 3).value
        ridged = own + RIDGE * np.trace(own) / len(x) * np.eye(len(x))
        return tangent_kernel(z, x, 3).value @ np.linalg.solve(ridged, np.eye(2)[labels] - 0.5)

    def error(x):
        return ((scores(x) - (np.eye(2)[truth] - 0.5)) ** 2).mean()

    def run(alpha):
        return adapt(points, labels, targets, truth, Descent(alpha, 80, 200), np.random.default_rng(1))

    moved = {alpha: run(alpha) for alpha in (0.0, 0.99, 1.0)}
    assert error(moved[0.0]) < 0.5 * error(points)
    right = [(scores(x).argmax(1) == truth).mean() for x in (points, moved[0.0])]
    assert right[1] > right[0] + 0.05
    far = {a: float(((x - points) ** 2).sum()) for a, x in moved.items()}
    assert far[1.0] == 0 < far[0.99] < far[0.0] / 2
    assert moved[0.0].min() >= 0
    assert moved[0.0].max() <= 1
