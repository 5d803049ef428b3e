"""Microaggregation: the pruned search forms exactly the groups of the published algorithm."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.anonymize.microaggregate import mdav
from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.anonymize.microaggregate.space import Scale, Space
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy.criteria import Classes, k_anonymity
from hushtable.privacy.vault import Vault


def textbook(numbers: np.ndarray, codes: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
    """MDAV as printed, the second group formed from what the first left, ties to the smaller row."""
    free, labels, label = np.arange(numbers.shape[1]), np.empty(numbers.shape[1], np.int64), 0

    def distances(point: np.ndarray, modes: np.ndarray) -> np.ndarray:
        total = np.zeros(len(free))
        for row, value in zip(numbers, point, strict=True):
            total += (row[free] - value) ** 2
        for row, value, weight in zip(codes, modes, weights, strict=True):
            total += np.where(row[free] != value, weight, 0.0)
        return total

    while len(free) >= 2 * k:
        modes = np.array([np.bincount(row[free]).argmax() for row in codes], dtype=np.int64)
        d = distances(numbers[:, free].mean(axis=1), modes)
        centre = free[d == d.max()].min()
        both = len(free) >= 3 * k
        for side in range(2 if both else 1):
            d = distances(numbers[:, centre], codes[:, centre])
            nearest = np.lexsort((free, d))[:k]
            labels[free[nearest]] = label
            label += 1
            remaining = np.ones(len(free), bool)
            remaining[nearest] = False
            d, free = d[remaining], free[remaining]
            if side == 0 and both:
                centre = free[d == d.max()].min()
    labels[free] = label
    return labels


@pytest.mark.parametrize("seed", range(60))
def test_groups_equal_the_textbook(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 1200)), int(rng.integers(2, 12))
    k = min(k, n)
    p = int(rng.integers(0, 4))
    q = int(rng.integers(0 if p else 1, 4))
    # Whole numbers make ties, normals make none, more than 64 levels make bits collide.
    numbers = rng.integers(0, 30, (p, n)).astype(float) if seed % 2 else rng.normal(size=(p, n))
    codes = rng.integers(0, rng.integers(1, 90), (q, n)).astype(np.int32)
    weights = rng.random(q) * 2
    actual = mdav.partition(numbers, codes, weights, k)
    np.testing.assert_array_equal(actual, textbook(numbers, codes, weights, k))


def test_groups_equal_the_textbook_over_several_slices_and_trees():
    # More than a thousand rounds in one tree, and several trees.
    rng = np.random.default_rng(1)
    numbers, codes = rng.normal(size=(2, 9000)), rng.integers(0, 4, (1, 9000)).astype(np.int32)
    shares = []
    actual = mdav.partition(numbers, codes, np.ones(1), 2, shares.append)
    np.testing.assert_array_equal(actual, textbook(numbers, codes, np.ones(1), 2))
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1


def test_adult_has_the_textbook_sse(adult):
    names = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")
    part = adult.take(np.arange(3000))
    z = np.array([(v - v.mean()) / v.std() for v in (part.floats(n) for n in names)])
    labels = textbook(z, np.zeros((0, 3000), np.int32), np.zeros(0), 10)
    means = np.array([np.bincount(labels, row) / np.bincount(labels) for row in z])
    sse = ((z - means[:, labels]) ** 2).sum()
    release = Microaggregate(k=10, columns=names).fit(Vault.of(part), np.random.default_rng(0))
    ours = Space.of(part, names, Scale.STANDARD).errors(release.table.groups(names)[0]).within
    assert ours == pytest.approx(sse, rel=1e-9)
    assert release.result()["sse"] == pytest.approx(sse, rel=5e-4)
    assert k_anonymity(Classes(release.table, names)) >= 10


@pytest.mark.parametrize("centre", ["mean", "median"])
@pytest.mark.parametrize("k", [2, 5, 40])
def test_released_groups_share_all_values_and_have_k_members(small, k, centre):
    released = release(small, Recipe(recipe="x", steps=(Microaggregate(k=k, centre=type(Microaggregate().centre)(centre)),)))
    assert k_anonymity(Classes(released.table, released.table.schema.quasi)) >= k


def test_representatives_are_mean_median_and_mode():
    from hushtable.anonymize.microaggregate.space import Centre, representatives
    from hushtable.table.columns import Bounds, Column, Kind, Levels

    groups = np.array([0, 0, 0, 1, 1, 1])
    whole = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 100))
    gone = np.iinfo(np.int64).min
    np.testing.assert_array_equal(
        representatives(whole, np.array([1, 2, 6, 4, gone, gone]), groups, Centre.MEAN), [3, 3, 3, gone, gone, gone]
    )
    np.testing.assert_array_equal(
        representatives(whole, np.array([1, 2, 6, 4, 8, gone]), groups, Centre.MEDIAN), [2, 2, 2, 4, 4, 4]
    )
    levels = Column(name="c", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")))
    codes = np.array([2, 2, 0, -1, 1, 0], np.int32)
    np.testing.assert_array_equal(representatives(levels, codes, groups, Centre.MEAN), [2, 2, 2, 0, 0, 0])
    order = Column(name="o", kind=Kind.ORDINAL, domain=Levels(("a", "b", "c", "d")))
    codes = np.array([0, 1, 3, -1, -1, 2], np.int32)
    np.testing.assert_array_equal(representatives(order, codes, groups, Centre.MEAN), [1, 1, 1, -1, -1, -1])


def test_the_loss_of_codes_is_the_gini_impurity():
    from hushtable.anonymize.microaggregate.space import Space

    codes = np.array([[0, 0, 1, 1]], np.int32)
    space = Space(np.zeros((0, 4)), codes, np.array([4.0]))
    assert space.loss(np.array([0, 0, 1, 1]))["loss_share"] == 0.0
    assert space.loss(np.array([0, 1, 0, 1]))["loss_share"] == pytest.approx(1.0)
    assert space.loss(np.array([0, 0, 0, 0]))["loss_share"] == pytest.approx(1.0)
