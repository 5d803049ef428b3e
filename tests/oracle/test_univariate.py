"""Univariate microaggregation: the shortest path finds what trying all partitions finds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from hushtable.anonymize.microaggregate import univariate


def cuts(n: int, k: int) -> Iterator[list[int]]:
    """All ways to cut n sorted values into runs of at least k, as sizes (of any size: that 2k - 1 is enough is a theorem)."""
    if n == 0:
        yield []
    for size in range(k, n + 1):
        for rest in cuts(n - size, k):
            yield [size, *rest]


def sse(values: np.ndarray, labels: np.ndarray) -> float:
    return float(sum(((values[labels == g] - values[labels == g].mean()) ** 2).sum() for g in np.unique(labels)))


def fixed(values: np.ndarray, k: int) -> np.ndarray:
    """The broken twin: runs of exactly k, the rest to the last one."""
    labels = np.empty(len(values), np.int64)
    labels[np.argsort(values, kind="stable")] = np.minimum(np.arange(len(values)) // k, len(values) // k - 1)
    return labels


def best(values: np.ndarray, k: int) -> float:
    ordered = np.sort(values)
    return min(sse(ordered, np.repeat(np.arange(len(sizes)), sizes)) for sizes in cuts(len(values), k))


SAMPLES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.lognormal(0, 2, n),
    "ties": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "outlier": lambda rng, n: np.append(rng.normal(size=n - 1), 1e9),
}


@pytest.mark.parametrize("shape", SAMPLES)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_partition_has_a_smaller_error(shape, k):
    rng = np.random.default_rng(k)
    for n in range(k, 17):
        values = SAMPLES[shape](rng, n)
        labels = univariate.optimal(values, k)
        sizes = np.bincount(labels)
        assert sizes.min() >= k
        assert sizes.max() < 2 * k
        assert sse(values, labels) == pytest.approx(best(values, k), rel=1e-9, abs=1e-12)


def test_equal_runs_are_not_optimal():
    values = np.array([0.0, 0.1, 0.2, 9.0, 9.1, 9.2, 9.3])
    assert sse(values, fixed(values, 2)) > best(values, 2) + 1
    np.testing.assert_array_equal(univariate.optimal(values, 2), [0, 0, 0, 1, 1, 2, 2])


def test_an_outlier_does_not_blur_the_other_groups():
    # With sums of squares 1e18 swallows the differences of the rest, and cuts fall anywhere.
    values = np.append(np.repeat([0.0, 1.0, 2.0, 3.0], 3), [1e9, 1e9 + 1, 1e9 + 2])
    np.testing.assert_array_equal(univariate.optimal(values, 3), np.repeat(np.arange(5), 3))


def test_a_million_values_take_seconds():
    labels = univariate.optimal(np.random.default_rng(0).normal(size=1_000_000), 10)
    assert np.bincount(labels).min() >= 10
