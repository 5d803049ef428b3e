"""Distances of two distributions equal scipy's, and the chi-square test pools what it must and no more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import chi2_contingency, entropy, ks_2samp, wasserstein_distance

from hushtable.measures import divergence as ours


def draws(seed: int, size: int = 9, rows: tuple[int, int] = (300, 170)) -> tuple[np.ndarray, np.ndarray]:
    """Two vectors of counts, some cells of one or of both empty."""
    rng = np.random.default_rng(seed)
    one, other = (rng.multinomial(n, rng.dirichlet(np.full(size, 0.7))) for n in rows)
    one[rng.integers(size)] = 0
    one[3] = other[3] = 0
    return one, other


def brute(one: np.ndarray, other: np.ndarray, least: float = 5.0) -> list[tuple[int, int]]:
    """The cells of the test, by the letter: rarest first, while some cell expects too little it joins the next."""
    cells = sorted(((int(a), int(b)) for a, b in zip(one, other, strict=True) if a + b), key=sum)
    share = min(one.sum(), other.sum()) / (one.sum() + other.sum())
    if cells and sum(cells[0]) * share < least:
        pool = cells.pop(0)
        while cells and (sum(cells[0]) * share < least or sum(pool) * share < least):
            pool = (pool[0] + cells[0][0], pool[1] + cells.pop(0)[1])
        cells.insert(0, pool)
    return cells


@pytest.mark.parametrize("seed", range(8))
def test_shares_and_counts_as_scipy(seed):
    one, other = draws(seed)
    p, q = one / one.sum(), other / other.sum()
    assert ours.jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q, base=2), abs=1e-12)
    assert ours.total_variation(p, q) == pytest.approx(np.maximum(p - q, 0).sum(), abs=1e-12)
    held = (one + other) > 0
    assert ours.relative_entropy(one, other) == pytest.approx(entropy(one[held] + 0.5, other[held] + 0.5), abs=1e-12)


def test_relative_entropy_says_which_side_is_real():
    one, other = np.array([90, 10, 0]), np.array([50, 50, 0])
    assert ours.relative_entropy(one, other) == pytest.approx(entropy([90.5, 10.5], [50.5, 50.5]))
    assert ours.relative_entropy(other, one) == pytest.approx(entropy([50.5, 50.5], [90.5, 10.5]))
    assert ours.relative_entropy(one, other) != pytest.approx(ours.relative_entropy(other, one), rel=0.05)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rows", [(300, 170), (40, 900), (12, 12)])
def test_chi_square_as_scipy(seed, rows):
    one, other = draws(seed, rows=rows)
    cells, result = brute(one, other), ours.two_samples(one, other)
    if len(cells) < 2:
        assert result is None
        return
    reported = chi2_contingency(np.array(cells).T, correction=False)
    assert result.statistic == pytest.approx(reported.statistic)
    assert result.p == pytest.approx(reported.pvalue, rel=1e-9)
    assert result.freedom == reported.dof
    assert reported.expected_freq.min() >= ours.LEAST - 1e-9


def test_pools_are_made_and_tests_refused_in_these_cases():
    """Otherwise the comparison with scipy above would show little."""
    cases = [draws(seed, rows=rows) for seed in range(8) for rows in [(300, 170), (40, 900), (12, 12)]]
    sizes = [(len(brute(*pair)), int((sum(pair) > 0).sum())) for pair in cases]
    assert any(1 < retained < held for retained, held in sizes)
    assert any(retained == held for retained, held in sizes)
    assert any(retained < 2 for retained, _ in sizes)


@pytest.mark.parametrize("rows", [(300, 300), (900, 60), (12, 12)])
def test_ranges_grow_until_they_expect_enough_and_lose_no_row(rows):
    rng = np.random.default_rng(0)
    real, other = (rng.multinomial(n, [0.02] * 40 + [0.2]) for n in rows)
    one, two = ours.wider(real, other, 40)
    assert (one.sum(), two.sum()) == rows
    assert (one[-1], two[-1]) == (real[-1], other[-1]), "the last cell is no range"
    expected = one[:-1] * min(rows) / rows[0]
    assert len(expected) == 1 or (expected >= ours.ENOUGH).all()
    # Neighbours only: the running totals of the wide ranges are among those of the narrow ones.
    assert set(np.cumsum(one[:-1])) <= set(np.cumsum(real[:-1]))
    assert (expected < 2.5 * ours.ENOUGH).all(), "no wider than they must be"


@pytest.mark.parametrize("seed", range(4))
def test_samples_with_ties_as_scipy(seed):
    rng = np.random.default_rng(seed)
    one, other = np.sort(np.round(rng.normal(size=80), 1)), np.sort(np.round(rng.normal(0.3, 2, size=130), 1))
    ks, moved = ours.transported(one, other)
    assert ks == pytest.approx(ks_2samp(one, other).statistic)
    assert moved == pytest.approx(wasserstein_distance(one, other))
    assert ours.transported(one, one) == (0.0, 0.0)


def test_ends():
    apart, same = (np.array([1.0, 0.0]), np.array([0.0, 1.0])), (np.array([0.3, 0.7]),) * 2
    assert (ours.total_variation(*apart), ours.jensen_shannon(*apart)) == (1.0, 1.0)
    assert (ours.total_variation(*same), ours.jensen_shannon(*same)) == (0.0, 0.0)
    assert ours.relative_entropy(np.array([3, 4]), np.array([3, 4])) == 0.0
    assert np.isnan(ours.transported(np.array([]), np.array([1.0]))).all()
    assert ours.two_samples(np.array([0, 0]), np.array([5, 5])) is None
