"""The normalizing flow: an exact density, of any shape, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the neural attacks need torch")

from hushtable.audits.neural import flow as flows  # noqa: E402
from hushtable.learn.loop import Descent, seeded  # noqa: E402

pytestmark = pytest.mark.neural
KNOBS = {"hidden": 12, "layers": 2, "bends": 1, "noise": 0.03}


def moons(rows: int, seed: int) -> np.ndarray:
    """Two half circles, each around the end of the other."""
    rng = np.random.default_rng(seed)
    angle, second = rng.uniform(0, np.pi, rows), rng.integers(0, 2, rows)
    points = np.stack([np.where(second, 1 - np.cos(angle), np.cos(angle)), np.where(second, 0.5 - np.sin(angle), np.sin(angle))], 1)
    return (points + rng.normal(0, 0.08, points.shape) - [0.5, 0.25]) / [0.87, 0.5]


@pytest.fixture(scope="module")
def fitted() -> flows.Flow:
    return flows.fit(moons(1200, 0), descent=Descent(rate=2e-2, batch=256, epochs=30), seed=0, **KNOBS)


def test_it_is_a_density(fitted):
    grid = np.linspace(-7, 7, 120)
    points = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
    total = np.exp(flows.logpdf(fitted, points)).sum() * (grid[1] - grid[0]) ** 2
    assert total == pytest.approx(1, abs=0.01)


def test_it_bends_where_a_gaussian_cannot(fitted):
    train, fresh = moons(1200, 0), moons(1000, 1)
    centred, covariance = fresh - train.mean(axis=0), np.cov(train.T)
    squares = (centred @ np.linalg.inv(covariance) * centred).sum(axis=1)
    gaussian = -squares / 2 - np.log(np.linalg.det(2 * np.pi * covariance)) / 2
    assert flows.logpdf(fitted, fresh).mean() > gaussian.mean() + 0.5


@pytest.mark.parametrize("broken", [False, True])
def test_the_volume_is_the_determinant_of_the_jacobian(broken):
    """Against automatic differentiation of the map itself; the broken twin forgets what the identity adds."""
    with seeded(3):
        bend = flows.Bend(3, hidden=4, layers=2).double()
    points = torch.from_numpy(np.random.default_rng(0).normal(size=(5, 3)))
    _, logs = bend(points)
    if broken:
        logs = logs + torch.nn.functional.logsigmoid(bend.gate)
    for point, log in zip(points, logs.sum(1), strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda x: bend(x[None])[0][0], point)
        assert torch.allclose(jacobian.triu(1), torch.zeros(3, 3, dtype=torch.float64))
        assert (float(jacobian.det().log()) == pytest.approx(float(log.detach()), abs=1e-9)) != broken


def test_the_same_seed_gives_the_same_bits_and_leaves_no_trace_behind():
    points, descent = moons(200, 0), Descent(batch=64, epochs=3)
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    one, two, other = (flows.fit(points, descent=descent, seed=seed, **KNOBS) for seed in (0, 0, 1))
    assert np.array_equal(flows.logpdf(one, points), flows.logpdf(two, points))
    assert not np.array_equal(flows.logpdf(one, points), flows.logpdf(other, points))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)
