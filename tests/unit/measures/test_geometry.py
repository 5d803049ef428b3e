"""K-Stress: the sum over all pairs, an interval that covers it when pairs are drawn, and the misprint that it is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from hushtable.errors import InputError
from hushtable.measures import geometry
from hushtable.measures.geometry import k_stress


def cloud(n: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 5))
    return points, points[:, :2] + 0.1 * rng.normal(size=(n, 2))


def plain(points: np.ndarray, moved: np.ndarray) -> float:
    d, delta = pdist(points), pdist(moved)
    return float(np.sqrt(((d - delta) ** 2).sum() / (d**2).sum()))


def misprinted(points: np.ndarray, moved: np.ndarray) -> float:
    """With the square on delta alone."""
    d, delta = pdist(points), pdist(moved)
    return float(np.sqrt(np.abs((d - delta**2).sum()) / (d**2).sum()))


def test_it_is_the_sum_over_all_pairs():
    points, moved = cloud()
    result = k_stress(points, moved, np.random.default_rng(0))
    assert result.value == pytest.approx(plain(points, moved))
    assert result.value != pytest.approx(misprinted(points, moved), rel=0.01)
    assert result.low == result.high == result.value


def test_turning_costs_nothing_and_one_point_for_all_costs_everything():
    points, _ = cloud()
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))
    assert k_stress(points, points @ turn + 3, np.random.default_rng(0)).value == pytest.approx(0, abs=1e-9)
    assert k_stress(points, np.zeros((80, 2)), np.random.default_rng(0)).value == pytest.approx(1)


def test_a_unit_that_means_nothing_can_be_left_out():
    points, moved = cloud()
    grown = k_stress(points, 1000 * moved, np.random.default_rng(0), scaled=True).value
    best = min(plain(points, factor * moved) for factor in np.linspace(0.5, 3, 2501))
    assert grown == pytest.approx(best, rel=1e-5)
    assert k_stress(points, np.zeros((80, 2)), np.random.default_rng(0), scaled=True).value == 1.0


@pytest.mark.parametrize(("widen", "holds"), [(1.0, True), (0.4, False)])
def test_the_interval_of_drawn_pairs_covers_as_often_as_it_says(monkeypatch, widen, holds):
    monkeypatch.setattr(geometry, "PAIRS", 400)
    monkeypatch.setattr(geometry, "NORMAL", widen * geometry.NORMAL)
    points, moved = cloud()
    truth, times = plain(points, moved), 300
    rates = [k_stress(points, moved, np.random.default_rng(seed)) for seed in range(times)]
    covered = sum(rate.low <= truth <= rate.high for rate in rates) / times
    assert (covered > 0.91) == holds
    assert np.mean([rate.value for rate in rates]) == pytest.approx(truth, rel=0.01)


@pytest.mark.parametrize(
    "moved", [np.zeros((3, 2)), np.zeros(4), np.full((4, 2), np.nan)], ids=["fewer rows", "no matrix", "not a number"]
)
def test_what_cannot_be_compared_is_refused(moved):
    with pytest.raises(InputError, match="k_stress"):
        k_stress(np.arange(8.0).reshape(4, 2), moved, np.random.default_rng(0))
    with pytest.raises(InputError, match="all records are equal"):
        k_stress(np.zeros((4, 2)), np.zeros((4, 2)), np.random.default_rng(0))
