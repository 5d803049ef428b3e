"""MMD without bias, intervals that cover as often as they say, an AUC that guesses on fresh rows; each with a twin that fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

from hushtable.measures import joint
from hushtable.measures.discriminator import auc, folds
from hushtable.measures.joint import KernelSums, kernel_sums
from tests.unit.measures.clouds import points

WIDTH = 1.5
TIMES = 200


def truth(shift: float, dimensions: int = 2) -> float:
    """The squared discrepancy of N(0, I) and N(shift e, I) under the Gaussian kernel."""
    scale = (WIDTH**2 / (WIDTH**2 + 2)) ** (dimensions / 2)
    return float(2 * scale * (1 - np.exp(-(shift**2) / (2 * (WIDTH**2 + 2)))))


def sums(seed: int, shift: float, n: int = 60, m: int = 80, frequencies: int = 0) -> KernelSums:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(m, 2)) + np.array([shift, 0])
    waves = rng.standard_normal((2, frequencies)) / WIDTH if frequencies else None
    return kernel_sums({"x": points(x), "y": points(y)}, WIDTH, waves, rng)


def biased(found: KernelSums) -> float:
    """The V-statistic: every row compared with itself as well."""
    x, y = found.owner == "x", found.owner == "y"
    n, m = found.sizes[x].sum(), found.sizes[y].sum()
    parts = (found.sums[np.ix_(x, x)].sum() / n**2, found.sums[np.ix_(y, y)].sum() / m**2, found.sums[np.ix_(x, y)].sum() / (n * m))
    return parts[0] + parts[1] - 2 * parts[2]


@pytest.mark.parametrize("shift", [0.0, 0.7])
@pytest.mark.parametrize("frequencies", [0, 64])
@pytest.mark.parametrize(("estimate", "holds"), [(lambda s: s.discrepancy("x", "y"), True), (biased, False)])
def test_the_squared_discrepancy_has_no_bias(monkeypatch, shift, frequencies, estimate, holds):
    monkeypatch.setattr(joint, "GROUPS", 2)
    result = np.array([estimate(sums(seed, shift, frequencies=frequencies)) for seed in range(TIMES)])
    error = result.std(ddof=1) / np.sqrt(TIMES)
    assert (abs(result.mean() - truth(shift)) < 3.5 * error) == holds


@pytest.mark.parametrize("frequencies", [0, 32])
def test_the_interval_covers_as_often_as_it_says(frequencies):
    """One that is half as sure does not, nor one that leaves out the error of a few frequencies."""
    shift, rows = 1.5, (200, 200) if frequencies else (60, 80)
    covered, twin = 0, 0
    for seed in range(150):
        result = sums(seed, shift, *rows, frequencies)
        low, high = result.interval("x", "y")
        covered += low**2 <= truth(shift) <= high**2
        low, high = replace(result, waves=None).interval("x", "y") if frequencies else result.interval("x", "y", 0.5)
        twin += low**2 <= truth(shift) <= high**2
    assert covered / 150 > 0.91 > twin / 150


@pytest.mark.parametrize(("widen", "holds"), [(1.0, True), (0.5, False)])
def test_the_interval_of_the_auc_covers_as_often_as_it_says(monkeypatch, widen, holds):
    monkeypatch.setattr("hushtable.evidence.roc.ndtri", lambda p: widen * ndtri(p))
    positive, area, covered = np.arange(200) < 80, 0.760249938906, 0  # of two normal scores one deviation apart
    for seed in range(TIMES):
        rate = auc(np.random.default_rng(seed).normal(positive), positive)
        covered += rate.low <= area <= rate.high
    assert (covered / TIMES > 0.91) == holds


def paired(x: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Folds that put as many of each row's copies on every side: chance repeats itself in all of them."""
    order = np.lexsort(x.T)
    fold = np.empty(len(x), np.int64)
    fold[order] = np.arange(len(x)) % count
    return fold


def by_count(x: np.ndarray, released: np.ndarray, fold: np.ndarray) -> float:
    """The AUC of the simplest model: the share released among the equal rows of the other folds."""
    belief = np.full(len(x), 0.5)
    for at in range(len(x)):
        seen = (fold != fold[at]) & (x[:, 0] == x[at, 0])
        belief[at] = released[seen].mean() if seen.any() else 0.5
    ups, downs = belief[released][:, None], belief[~released]
    return float((ups > downs).mean() + (ups == downs).mean() / 2)


@pytest.mark.parametrize("size", [5, 40], ids=["rare", "common"])
@pytest.mark.parametrize(("rule", "holds"), [(folds, True), (paired, False)])
def test_fresh_rows_of_few_combinations_are_not_told_apart_by_chance(rule, holds, size):
    """Neither split nor kept together may combinations of a few rows repeat in one fold what chance did in the other."""
    collected = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 400 // size, 400).astype(np.float64)[:, None]
        collected.append(by_count(x, np.arange(400) < 200, rule(x, 2, rng)))
    error = np.std(collected, ddof=1) / np.sqrt(len(collected))
    assert (abs(np.mean(collected) - 0.5) < max(3.5 * error, 1e-12)) == holds
