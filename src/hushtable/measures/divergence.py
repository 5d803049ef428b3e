"""How far two distributions of one column lie apart: distances of shares, of counts and of samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from hushtable.table.arrays import Floats, Integers

LEAST = 5.0
"""The fewest rows that a cell of the chi-square test may expect (Cochran 1954)."""
ENOUGH = 10.0
"""How many rows a range of numbers should expect, so that its total is hardly ever below ``LEAST``."""


def total_variation(one: Floats, other: Floats) -> float:
    """Half the sum of the differences of two vectors of shares, from 0 to 1."""
    return min(1.0, float(np.abs(one - other).sum()) / 2)


def jensen_shannon(one: Floats, other: Floats) -> float:
    """The root of the Jensen-Shannon divergence to base 2, a metric from 0 to 1 (Endres and Schindelin 2003)."""
    middle = (one + other) / 2
    divergence = sum(float((p[p > 0] * np.log2(p[p > 0] / middle[p > 0])).sum()) for p in (one, other)) / 2
    return float(np.sqrt(min(1.0, max(0.0, divergence))))


def relative_entropy(real: Integers, other: Integers) -> float:
    """Kullback and Leibler's divergence of the other counts from the real ones, in nats.

    Half a row is added to every cell that either holds (Krichevsky and Trofimov 1981), so that a value which one side lacks
    costs much but not infinitely much; equal counts give 0.
    """
    held = (real > 0) | (other > 0)
    p, q = ((counts[held] + 0.5) / (counts[held] + 0.5).sum() for counts in (real, other))
    return max(0.0, float((p * np.log(p / q)).sum()))


@dataclass(frozen=True)
class ChiSquare:
    """Pearson's test that two vectors of counts are drawn from one distribution."""

    statistic: float
    freedom: int
    p: float


def two_samples(one: Integers, other: Integers) -> ChiSquare | None:
    """The test on the cells that either holds, those that expect fewer than ``LEAST`` rows put together.

    Which cells are put together depends on the totals alone, and given the totals the test is as it was. None where fewer than
    two cells are left: then there is nothing to compare.
    """
    counts = np.array([one, other], dtype=np.float64)
    sizes, totals = counts.sum(axis=1), counts.sum(axis=0)
    if not sizes.all():
        return None
    order = np.argsort(totals, kind="stable")
    order = order[totals[order] > 0]
    # The smaller table expects the fewest rows; the rarest cells are pooled until even it expects enough of the pool.
    smaller = sizes.min() / sizes.sum()
    rare = int(np.searchsorted(totals[order] * smaller, LEAST))
    if rare:
        rare = max(rare, int(np.searchsorted(np.cumsum(totals[order]) * smaller, LEAST)) + 1)
        pooled = counts[:, order[:rare]].sum(axis=1, keepdims=True)
        counts = np.hstack([pooled, counts[:, order[rare:]]])
    else:
        counts = counts[:, order]
    freedom = counts.shape[1] - 1
    if freedom < 1:
        return None
    expected = np.outer(sizes, counts.sum(axis=0)) / sizes.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return ChiSquare(statistic, freedom, float(chdtrc(freedom, statistic)))


def wider(real: Integers, other: Integers, ranges: int) -> tuple[Integers, Integers]:
    """Both counts with the first ``ranges`` cells, quantile bins of the real side, put together with their neighbours.

    The real side is spread evenly over its own quantiles, so a total that is small shows an other side that is small: to put such
    bins together by their totals would choose the differences that the test is about. They are put together beforehand by what
    the real side holds of them, until each expects ``ENOUGH`` rows in the smaller table.
    """
    least = ENOUGH * real.sum() / max(1, min(real.sum(), other.sum()))
    groups, group, held = [], 0, 0
    for count in real[:ranges].tolist():
        groups.append(group)
        held += count
        if held >= least:
            group, held = group + 1, 0
    # What is left at the end is too little for a range of its own.
    ids = np.minimum(groups, max(0, group - 1))
    one, two = (np.append(np.bincount(ids, weights=counts[:ranges]), counts[ranges:]).astype(np.int64) for counts in (real, other))
    return one, two


def transported(one: Floats, other: Floats) -> tuple[float, float]:
    """Kolmogorov and Smirnov's and Wasserstein's (1-) distance of two sorted samples; NaN if one is empty."""
    if not len(one) or not len(other):
        return np.nan, np.nan
    # Both are sorted, so a stable sort only merges them.
    points = np.sort(np.concatenate([one, other]), kind="stable")
    points = points[np.append(True, np.diff(points) > 0)]
    cumulative = [np.searchsorted(sample, points, side="right") / len(sample) for sample in (one, other)]
    gap = np.abs(cumulative[0] - cumulative[1])
    return float(gap.max()), float((gap[:-1] * np.diff(points)).sum())
