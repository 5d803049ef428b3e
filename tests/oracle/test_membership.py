"""The tests behind membership scores hold exactly, counted over every way to hand out the labels; densities equal their sums."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from hushtable.audits.density import Kernels, Map
from hushtable.audits.shadow_features import RecordFeatures, _agreeing
from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence import roc
from hushtable.evidence.confidence import fisher
from tests.random_tables import tables

scores = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=8).map(np.array)


def auc_by_pairs(train: np.ndarray, control: np.ndarray) -> float:
    return float(np.mean([(a > b) + (a == b) / 2 for a in train for b in control]))


def worst_excess(pooled: np.ndarray, n: int, p: Callable[[np.ndarray, np.ndarray], float]) -> float:
    """By how much a test rejects more often than it says, at the level where it is worst, if all labellings are equally likely."""
    everyone = range(len(pooled))
    collected = []
    for inside in combinations(everyone, n):
        outside = [i for i in everyone if i not in inside]
        collected.append(p(pooled[list(inside)], pooled[outside]))
    collected = np.sort(collected)
    # Rounding must not tell apart what is equal.
    return max(float(np.mean(collected <= level * (1 + 1e-9))) - level for level in collected)


def rate_p(train: np.ndarray, control: np.ndarray, rate: float = 0.3) -> float:
    return roc.Threshold.at(control, rate).p(train)


def area_p(train: np.ndarray, control: np.ndarray) -> float:
    return roc.auc_p(roc.auc(train, control).value, len(train), len(control))


@given(scores, scores)
def test_the_area_is_a_count_of_pairs_and_its_interval_never_a_point(train, control):
    measured = roc.auc(train, control)
    assert measured.value == pytest.approx(auc_by_pairs(train, control), abs=1e-12)
    assert 0 <= measured.low <= measured.value <= measured.high <= 1
    assert measured.low < measured.high


@pytest.mark.parametrize("test", [rate_p, area_p])
@pytest.mark.parametrize("kinds", [2, 4, 1000])
def test_no_test_rejects_more_often_than_it_says(test, kinds):
    """All 462 labellings of eleven rows, with many ties, a few, and none."""
    for seed in range(2):
        pooled = np.random.default_rng(seed).integers(0, kinds, 11).astype(float)
        assert worst_excess(pooled, 6, test) <= 1e-9


def test_counting_ties_as_hits_would_reject_too_often():
    """The broken twin: rows that tie with the threshold count, on the training side alone."""

    def broken(train: np.ndarray, control: np.ndarray) -> float:
        threshold = roc.Threshold.at(control, 0.3)
        return fisher(int((train >= threshold.score).sum()), len(train), threshold.allowed, len(control))

    assert worst_excess(np.random.default_rng(0).integers(0, 3, 11).astype(float), 6, broken) > 0.05


def test_fishers_test_at_a_threshold_chosen_for_the_training_rows_would_reject_too_often():
    """The broken twin of the other kind: the threshold that looks worst is not the one that was set beforehand."""

    def broken(train: np.ndarray, control: np.ndarray) -> float:
        return min(fisher(int((train >= t).sum()), len(train), int((control >= t).sum()), len(control)) for t in train)

    assert worst_excess(np.random.default_rng(0).permutation(11).astype(float), 6, broken) > 0.05


def test_without_ties_the_rate_test_is_exact_and_the_area_test_exact_at_the_end():
    pooled = np.arange(10.0)
    for n in (3, 5, 7):
        sides = [(pooled[list(i)], np.delete(pooled, i)) for i in combinations(range(10), n)]
        outcomes = [(int((ours > roc.Threshold.at(others, 0.3).score).sum()), rate_p(ours, others)) for ours, others in sides]
        for hits, p in set(outcomes):
            assert p == pytest.approx(np.mean([other >= hits for other, _ in outcomes]), abs=1e-12)
        assert roc.auc_p(1.0, n, 10 - n) == pytest.approx(1 / comb(10, n), rel=1e-6)


def test_the_area_test_is_within_ten_of_the_normal_one_where_that_is_right():
    from scipy.special import ndtr

    for n, m, area in ((5000, 2500, 0.52), (5000, 2500, 0.55), (300, 3000, 0.6)):
        normal = ndtr(-(area - 0.5) * np.sqrt(12 * n * m / (n + m + 1)))
        assert normal < roc.auc_p(area, n, m) < 20 * normal
    assert roc.auc_p(0.5, 10, 10) == roc.auc_p(0.3, 10, 10) == 1


@given(scores, scores)
def test_the_curve_is_what_thresholds_give(train, control):
    curve = roc.curve(train, control)
    for false, true in zip(curve["fpr"], curve["tpr"], strict=True):
        threshold = roc.Threshold.at(control, false)
        assert true == pytest.approx(np.mean(train > threshold.score))
        assert np.mean(control > threshold.score) <= false + 1e-12


@pytest.mark.parametrize(("n", "dimensions"), [(1, 1), (3, 2), (1500, 5)])
def test_kernels_are_the_sum_they_stand_for(n, dimensions):
    rng = np.random.default_rng(n)
    centres, points = rng.normal(size=(n, dimensions)), 3 * rng.normal(size=(40, dimensions))
    model = Kernels().fit(centres, rng)
    squares = ((points[:, None] - centres[None]) ** 2).sum(axis=2) / (2 * model.width**2)
    norm = np.log(n) + dimensions * np.log(model.width * np.sqrt(2 * np.pi))
    assert model.width == pytest.approx(n ** (-1 / (dimensions + 4)))
    assert model.logpdf(points) == pytest.approx(logsumexp(-squares, axis=1) - norm, abs=1e-3)


def test_kernels_far_from_everything_stay_finite_and_too_many_are_thinned():
    rng = np.random.default_rng(0)
    model = Kernels(centres=100).fit(rng.normal(size=(1000, 2)), rng)
    assert len(model.points) == 100
    assert np.isfinite(model.logpdf(np.array([[1e4, -1e4]]))).all()
    with pytest.raises(InputError, match="fitted"):
        Kernels().logpdf(np.zeros((1, 2)))


def test_points_are_uncorrelated_and_of_unit_variance_and_no_more_than_asked_for():
    table = example(400)
    axes = Map.fit([table], table, table.schema.names, dimensions=5)
    points = axes.points(table)
    assert points.shape == (400, 5)
    assert np.cov(points.T, bias=True) == pytest.approx(np.eye(5), abs=1e-8)


def test_before_turning_any_two_levels_are_at_distance_one_and_missing_is_a_level():
    table = example(400).select(["town", "school"])
    wide = Map.fit([table], table, table.schema.names)
    for name in table.schema.names:
        block, codes = wide._block(table, name), table[name]
        for one in np.unique(codes):
            for other in np.unique(codes):
                gap = np.linalg.norm(block[codes == one][0] - block[codes == other][0])
                assert gap == pytest.approx(float(one != other))


def test_equal_rows_are_equal_points_and_densities_to_the_last_bit_wherever_they_stand():
    """Else a score could tell the table by the place of a row in it, and ties would be broken in favour of one side."""
    table, rng = example(3000), np.random.default_rng(0)
    axes = Map.fit([table], table, table.schema.names)
    points = axes.points(table)
    rows = rng.permutation(3000)[:1111]
    assert (axes.points(table.take(rows)) == points[rows]).all()
    kernels = Kernels().fit(points, rng)
    assert (kernels.logpdf(points[rows]) == kernels.logpdf(points)[rows]).all()


def test_where_nothing_varies_there_is_no_dimension():
    table = example(30).take(np.zeros(30, np.int64))
    assert Map.fit([table], table, table.schema.names).points(table).shape == (30, 0)


@settings(max_examples=25)
@given(tables(), st.integers(0, 5))
def test_agreeing_rows_are_counted_one_by_one(table, seed):
    rng = np.random.default_rng(seed)
    records = table.take(rng.integers(0, table.rows, 3))
    likeness = RecordFeatures.of(records, table, table.schema.names, 4, rng)
    ours, theirs = likeness._codes(records), likeness._codes(table)
    expected = [
        [sum(all(r[c] == t[c] for c in np.flatnonzero(subset)) for t in theirs) for subset in likeness.subsets] for r in ours
    ]
    assert (_agreeing(ours, theirs, likeness.subsets) == expected).all()
    features = likeness.features(table)
    assert np.isfinite(features).all()
    assert (features[:, 0] == 0).all()
    assert (features[:, 3:] >= np.log1p(1) - 1e-12).all()
