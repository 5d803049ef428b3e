"""All columns together: maximum mean discrepancy and Frechet distance between the release and the training rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from hushtable.evidence.finding import Finding, Utility
from hushtable.measures.bins import Fresh
from hushtable.measures.catalogue import FRECHET, MMD
from hushtable.measures.features import Features, Points, features
from hushtable.measures.jackknife import variance
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Singles

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

EXACT = 2000
"""Up to so many rows of each table the kernel of all pairs is summed; beyond, random features stand for it."""
GROUPS = 20
"""Random groups of rows, left out one by one for the interval."""
FEWEST = 5
"""With fewer groups than this there is no interval."""
PAIRS = 20_000
"""Pairs of real rows whose distances set the bandwidth."""


@dataclass(frozen=True, kw_only=True)
class Joint(Utility):
    """Maximum mean discrepancy with a Gaussian kernel, and the Frechet distance of mean and covariance.

    Both on the features of all columns (``features``). The bandwidth is the median distance of pairs of real rows (training
    and control), so that all releases of a table are measured with one kernel. Squared discrepancies are estimated without
    bias (Gretton et al. 2012, lemma 6), below zero counting as zero. The interval is a jackknife over groups of rows (Student's t),
    to which the error of the random features is added. For a release whose rows come from the training rows one by one it is
    rather too wide: it takes both for independent samples.
    """

    frequencies: int = 2048
    """Random Fourier features (Rahimi and Recht 2007), a cosine and a sine each, for tables of more than 2,000 rows. The
    standard error of the squared discrepancy is its spread over frequencies divided by the square root of their number: with
    2,048 about a twentieth of it on a census of 15 columns (a fortieth of the discrepancy), and part of the interval."""

    def __post_init__(self) -> None:
        """Check the knob."""
        check_knobs(self, frequencies=(self.frequencies >= 2, "must be at least 2"))

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Two findings; the baselines are the control rows."""
        from threadpoolctl import threadpool_limits

        seen = features(case)
        # Sums over several threads differ in the last bit from those over another number of them.
        with threadpool_limits(1):
            return [self._discrepancy(seen, Fresh.of(case), rng), _frechet(case)]

    def _discrepancy(self, seen: Features, fresh: Fresh, rng: np.random.Generator) -> Finding:
        width = bandwidth(seen, rng)
        exact = max(map(len, seen.points.values())) <= EXACT
        frequencies = None if exact else rng.standard_normal((seen.width, self.frequencies)) / width
        sums = kernel_sums(seen.points, width, frequencies, rng)
        value, control = (math.sqrt(max(0.0, sums.discrepancy(which, "train"))) for which in ("release", "control"))
        how = "all pairs of rows" if exact else f"{self.frequencies:,} random frequencies"
        return MMD.finding(
            value,
            baseline=fresh.near(0.0, control),
            interval=sums.interval("release", "train"),
            n=len(seen.points["release"]),
            note=f"Gaussian kernel of bandwidth {width:.3g} (in standard deviations), {how}; control rows lie at "
            f"{control:.3g}{fresh.note}",
        )


def bandwidth(seen: Features, rng: np.random.Generator) -> float:
    """The median distance of pairs of real rows; where most are equal the mean distance of the others, 1 if all are."""
    real = [seen.points[which].some(PAIRS, rng) for which in ("train", "control")]
    rows = np.concatenate(real)
    one = rng.integers(0, len(rows), PAIRS)
    other = (one + rng.integers(1, len(rows), PAIRS)) % len(rows)
    distances = np.concatenate(
        [
            np.linalg.norm(rows[one[at : at + 2048]] - rows[other[at : at + 2048]], axis=1).astype(np.float64)
            for at in range(0, PAIRS, 2048)
        ]
    )
    median = float(np.median(distances))
    apart = distances[distances > 1e-6]
    return median if median > 1e-6 else float(apart.mean()) if len(apart) else 1.0


@dataclass(frozen=True, eq=False)
class KernelSums:
    """A kernel with k(x, x) = 1 summed over groups of rows: all that the discrepancy of two tables and its jackknife need."""

    owner: NDArray[np.str_]
    """The table of each group."""
    sizes: Floats
    """The rows of each group."""
    sums: Floats
    """groups x groups: the sum of the kernel over all pairs of rows."""
    waves: NDArray[np.complex128] | None = None
    """groups x frequencies: what the sums are made of, where the kernel is approximated."""

    def discrepancy(self, one: str, other: str) -> float:
        """The squared maximum mean discrepancy of two tables, unbiased."""
        (n, within), (m, beside) = self._table(one), self._table(other)
        across = self.sums[np.ix_(self.owner == one, self.owner == other)].sum()
        return float(_mean_of_pairs(within.sum(), n) + _mean_of_pairs(beside.sum(), m) - 2 * across / (n * m))

    def left_out(self, one: str, other: str) -> Floats:
        """The same without each group of the first table in turn."""
        (n, within), (m, beside) = self._table(one), self._table(other)
        across = self.sums[np.ix_(self.owner == one, self.owner == other)].sum(axis=1)
        left = n - self.sizes[self.owner == one]
        rest_within = within.sum() - 2 * within.sum(axis=1) + np.diag(within)
        rest = _mean_of_pairs(beside.sum(), m) - 2 * (across.sum() - across) / (left * m)
        return np.asarray(_mean_of_pairs(rest_within, left) + rest)

    def _table(self, which: str) -> tuple[float, Floats]:
        """The number of its rows, and the sums within it."""
        own = self.owner == which
        return float(self.sizes[own].sum()), self.sums[np.ix_(own, own)]

    def interval(self, one: str, other: str, level: float = 0.95) -> tuple[float, float] | None:
        """Of the discrepancy itself (not squared); None where there are too few rows."""
        groups = [int((self.owner == which).sum()) for which in (one, other)]
        if min(groups) < FEWEST:
            return None
        total = self._wave_variance(one, other) + variance(self.left_out(one, other)) + variance(self.left_out(other, one))
        radius = float(stdtrit(min(groups) - 1, (1 + level) / 2)) * math.sqrt(total)
        value = self.discrepancy(one, other)
        low, high = (math.sqrt(max(0.0, end)) for end in (value - radius, value + radius))
        return low, high

    def _wave_variance(self, one: str, other: str) -> float:
        """What drawing other frequencies would change: they are independent, and the estimate is the mean over them."""
        if self.waves is None:
            return 0.0
        x, y = (self.waves[self.owner == which].sum(axis=0) for which in (one, other))
        n, m = (self.sizes[self.owner == which].sum() for which in (one, other))
        terms = (np.abs(x) ** 2 - n) / (n * (n - 1)) + (np.abs(y) ** 2 - m) / (m * (m - 1)) - 2 * (x * y.conj()).real / (n * m)
        return float(terms.var(ddof=1)) / len(terms)


def _mean_of_pairs(total: Floats | float, rows: Floats | float) -> Floats | float:
    """The mean over pairs of different rows, of a sum that also holds each row with itself."""
    return (total - rows) / (rows * (rows - 1))


def kernel_sums(points: Mapping[str, Points], width: float, frequencies: Floats | None, rng: np.random.Generator) -> KernelSums:
    """The Gaussian kernel of this bandwidth summed over random groups of the rows of each table.

    Exactly over all pairs of rows, or, with ``frequencies``, as the mean over them of cosines of the differences.
    """
    parts = {which: np.array_split(rng.permutation(len(p)), max(1, min(GROUPS, len(p) // 2))) for which, p in points.items()}
    owner = np.array([which for which, groups in parts.items() for _ in groups])
    sizes = np.array([len(group) for groups in parts.values() for group in groups], np.float64)
    groups = [(points[which], group) for which, groups in parts.items() for group in groups]
    if frequencies is None:
        return KernelSums(owner, sizes, _pair_sums(groups, sizes, width))
    single = frequencies.astype(np.float32)
    waves = np.stack([_waves(p, group, single) for p, group in groups])
    return KernelSums(owner, sizes, (waves @ waves.conj().T).real / waves.shape[1], waves)


def _pair_sums(groups: Sequence[tuple[Points, Integers]], sizes: Floats, width: float) -> Floats:
    rows = np.concatenate([points.spread(group) for points, group in groups]).astype(np.float64)
    squares = (rows**2).sum(axis=1)
    starts = np.cumsum(np.append(0, sizes[:-1])).astype(np.int64)
    sums = np.empty((len(groups), len(groups)))
    for at, (start, size) in enumerate(zip(starts, sizes.astype(np.int64), strict=True)):
        part = slice(start, start + size)
        apart = squares[part, None] + squares[None, :] - 2 * rows[part] @ rows.T
        kernel = np.exp(-np.maximum(apart, 0.0) / (2 * width**2))
        kernel[np.arange(size), start + np.arange(size)] = 1.0
        sums[at] = np.add.reduceat(kernel.sum(axis=0), starts)
    return sums


def _waves(points: Points, group: Integers, frequencies: Singles) -> NDArray[np.complex128]:
    """The sum over rows of exp(i w.x) for each frequency w."""
    total = np.zeros(frequencies.shape[1], np.complex128)
    for at in range(0, len(group), 2048):
        phases = points.spread(group[at : at + 2048]) @ frequencies
        total += np.cos(phases).sum(axis=0, dtype=np.float64) + 1j * np.sin(phases).sum(axis=0, dtype=np.float64)
    return total


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and covariance of a cloud of points."""

    mean: Floats
    covariance: Floats


def moments(case: Case) -> dict[str, Moments]:
    """Mean and covariance of the features of each table, made once."""
    by_table: dict[str, Moments] = case.once(
        "moments", lambda: {which: moments_of(points) for which, points in features(case).points.items()}
    )
    return by_table


def moments_of(points: Points) -> Moments:
    """Of all rows, block by block."""
    n, total = len(points), np.zeros(points.width)
    for block in points.blocks():
        total += block.sum(axis=0, dtype=np.float64)
    mean, products = total / n, np.zeros((points.width, points.width))
    for block in points.blocks():
        centred = block - mean
        products += centred.T @ centred
    return Moments(mean, products / (n - 1))


def frechet_distance(one: Moments, other: Moments) -> float:
    """The 2-Wasserstein distance of two normal distributions, the root of |m - m'|^2 + tr(S + S' - 2 (S S')^1/2).

    Dowson and Landau 1982; the Frechet inception distance is its square, of other features.
    The trace of the root is the sum of the singular values of S^1/2 S'^1/2: symmetric, and real for singular covariances
    (a constant column, an indicator that follows from others), which need no shrinking.
    """
    shared = np.linalg.svd(_root(one.covariance) @ _root(other.covariance), compute_uv=False).sum()
    spread = float(np.trace(one.covariance) + np.trace(other.covariance) - 2 * shared)
    return math.sqrt(max(0.0, float(((one.mean - other.mean) ** 2).sum()) + max(0.0, spread)))


def _root(covariance: Floats) -> Floats:
    values, axes = np.linalg.eigh(covariance)
    return np.asarray((axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T)


def _frechet(case: Case) -> Finding:
    known = moments(case)
    value, control = (frechet_distance(known[which], known["train"]) for which in ("release", "control"))
    fresh = Fresh.of(case)
    shift = float(np.linalg.norm(known["release"].mean - known["train"].mean))
    return FRECHET.finding(
        value,
        baseline=fresh.near(0.0, control),
        n=case.release.rows,
        note=f"in standard deviations of the real rows, over {len(case.columns)} columns; the means alone lie {shift:.3g} apart, "
        f"control rows {control:.3g}{fresh.note}",
    )
