"""Noise for one coordinate on each of M: a table of M numbers in [-1, 1] with Laplace(2/epsilon) noise on each costs M epsilon."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.audits.mechanism.guessing import judge

EPSILON, COORDINATES, RUNS = 0.5, 8, 400


def released(record: float, scale: float, rng: np.random.Generator) -> list[dict[str, float]]:
    """The one row that differs, noised, many times."""
    noisy = record + rng.laplace(0.0, scale, (RUNS, COORDINATES))
    return [{f"coordinate {j}": float(v) for j, v in enumerate(row)} for row in noisy]


def audited(scale: float) -> float:
    rng = np.random.default_rng(3)
    return judge(released(1.0, scale, rng), released(-1.0, scale, rng), delta=0.0, tail=0.025, also=None).epsilon.value


@pytest.mark.parametrize(
    ("scale", "refuted"),
    [(2 / EPSILON, True), (2 * COORDINATES / EPSILON, False)],
    ids=["published: noise for one coordinate", "certified: noise for the whole row"],
)
def test_two_worlds_refute_the_epsilon_of_one_coordinate_for_the_whole_row(scale, refuted):
    assert (audited(scale) > EPSILON) is refuted


def test_the_exact_ratio_is_m_epsilon():
    """All M values at the far end: each is e^epsilon likelier in one world."""
    scale, far = 2 / EPSILON, np.full(COORDINATES, 5.0)
    ratio = (np.abs(far + 1) - np.abs(far - 1)).sum() / scale
    assert ratio == pytest.approx(COORDINATES * EPSILON)
