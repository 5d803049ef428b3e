"""Anonymize, then sample: no differential privacy, by the exact delta. The other way round: a price below the published bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from hushtable.anonymize.private.safe import _full_cells
from hushtable.anonymize.private.safe_delta import exact_delta, largest_rate
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

TOWN = Schema((Column(name="town", kind=Kind.CATEGORY, domain=Levels(("north",)), required=True),))


def town(rows: int) -> Table:
    return Table(TOWN, {"town": np.zeros(rows, np.int32)})


def shown(rows: int, k: int, beta: float, *, sample_first: bool) -> np.ndarray:
    """The law of the number of released rows of one class."""
    sizes = np.arange(rows + 1)
    if sample_first:
        out = np.array([_full_cells(town(int(size)), k).rows for size in sizes])
        return np.bincount(out, binom.pmf(sizes, rows, beta), minlength=rows + 1)
    left = _full_cells(town(rows), k).rows
    return np.append(binom.pmf(np.arange(left + 1), left, beta), np.zeros(rows - left))


def delta(k: int, beta: float, epsilon: float, *, sample_first: bool) -> float:
    """The exact delta between a class of k and one of k - 1 rows, the worse way."""
    more, less = (shown(rows, k, beta, sample_first=sample_first) for rows in (k, k - 1))
    less = np.append(less, 0.0)
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for a, b in ((more, less), (less, more)))


@pytest.mark.parametrize(("k", "beta", "expected"), [(5, 0.1, 0.4095), (10, 0.5, 0.999), (3, 0.25, 0.578)])
@pytest.mark.parametrize("epsilon", [1.0, 5.0, 20.0])
def test_anonymize_then_sample_fails_with_one_less_nobody_is_sampled_for_every_epsilon(k, beta, expected, epsilon):
    exact = delta(k, beta, epsilon, sample_first=False)
    assert exact == pytest.approx(1 - (1 - beta) ** k)
    assert exact == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(("k", "beta"), [(5, 0.1), (10, 0.5), (3, 0.25)])
def test_sample_then_anonymize_stays_within_its_price(k, beta):
    exact = delta(k, beta, 1.0, sample_first=True)
    assert exact == pytest.approx(beta**k)
    assert exact <= exact_delta(k, beta, 1.0) < 0.1 * delta(k, beta, 1.0, sample_first=False)


def published(k: int, beta: float, epsilon: float) -> float:
    """d(k, beta, epsilon) of Li, Qardaji and Su 2012: max over n >= ceil(k/gamma - 1) of P[Bin(n, beta) > gamma n]."""
    gamma = (math.exp(epsilon) - 1 + beta) / math.exp(epsilon)
    sizes = np.arange(max(math.ceil(k / gamma - 1), 0), 60 * k)
    return float(binom.sf(np.floor(gamma * sizes + 1e-12), sizes, beta).max())


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0, 2.0])
def test_the_exact_price_is_below_the_published_bound(epsilon):
    for k in (2, 3, 5, 10, 20, 50):
        for part in (0.1, 0.3, 0.6, 1.0):
            beta = part * largest_rate(epsilon)
            assert exact_delta(k, beta, epsilon) <= published(k, beta, epsilon) * (1 + 1e-5)


def test_the_published_bound_is_several_times_the_price():
    ratios = [published(k, beta, 1.0) / exact_delta(k, beta, 1.0) for k, beta in ((5, 0.1), (10, 0.1), (20, 0.25), (50, 0.5))]
    assert all(2 < ratio < 30 for ratio in ratios), ratios
