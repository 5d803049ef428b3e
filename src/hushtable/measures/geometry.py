"""Geometry of the table: how much of the distances between records, principal axes and clusters a release preserves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist, pdist
from scipy.special import stdtrit

from hushtable.errors import InputError
from hushtable.evidence.confidence import NORMAL, Rate
from hushtable.evidence.finding import Finding, Utility
from hushtable.measures import structure
from hushtable.measures.catalogue import DISTANCES, K_STRESS
from hushtable.measures.divergence import transported
from hushtable.measures.features import features
from hushtable.measures.joint import moments
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Singles

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

PAIRS = 1_000_000
"""Up to so many pairs of records all are compared, else so many are drawn."""
DRAWN = 100_000
"""Pairs of records of each table whose distances are compared; all of them where there are no more."""
BESIDE = 50
"""With fewer control rows the pairing has no baseline: it would rest on other numbers of rows than the release's."""


def k_stress(original: Floats | Singles, moved: Floats | Singles, rng: np.random.Generator, *, scaled: bool = False) -> Rate:
    """K-Stress, sqrt(sum (d - delta)^2 / sum d^2) over pairs of records: 0 if every distance is kept.

    ``original`` and ``moved`` hold the same records in the same order, a row each, so a release can be compared only before
    its rows are shuffled. ``scaled`` takes the best common factor of the new distances, for embeddings whose unit means nothing
    (with it the stress is at most 1). With all pairs the interval is the value itself; else 95 %, from the pairs drawn.
    Kargupta et al. 2005; Garg and Torra 2023 misprint it, Garg 2025 (equation 3.1) has it right.
    """
    original, moved = np.asarray(original, np.float64), np.asarray(moved, np.float64)
    n = len(original)
    if original.ndim != 2 or moved.ndim != 2 or len(moved) != n or n < 2:
        raise InputError(
            f"expected two matrices with the same two or more rows, got {original.shape} and {moved.shape}", where="k_stress"
        )
    if not (np.isfinite(original).all() and np.isfinite(moved).all()):
        raise InputError("coordinates must be finite numbers", where="k_stress")
    drawn = n * (n - 1) // 2 > PAIRS
    if drawn:
        pairs = _pairs(n, PAIRS, rng)
        before, after = _lengths(original, *pairs), _lengths(moved, *pairs)
    else:
        before, after = pdist(original), pdist(moved)
    if scaled:
        square = float(after @ after)
        after = after * (float(before @ after) / square if square > 0 else 0.0)
    lost, whole = (before - after) ** 2, before**2
    if not whole.any():
        raise InputError("all records are equal: there is no distance to preserve", where="k_stress")
    return _root(lost, whole, interval=drawn)


def _pairs(n: int, count: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Pairs of different records, each as likely as any other."""
    one = rng.integers(0, n, count)
    return one, (one + rng.integers(1, n, count)) % n


def _lengths(points: Floats | Singles, one: Integers, other: Integers) -> Floats:
    lengths = np.empty(len(one))
    step = max(1, 2**22 // max(1, points.shape[1]))
    for start in range(0, len(one), step):
        part = slice(start, start + step)
        lengths[part] = np.sqrt(((points[one[part]] - points[other[part]]) ** 2).sum(axis=1))
    return lengths


def _root(lost: Floats, whole: Floats, *, interval: bool) -> Rate:
    """The square root of a ratio of means, with the error of the ratio in first order."""
    ratio = float(lost.sum() / whole.sum())
    if not interval:
        return Rate(math.sqrt(ratio), math.sqrt(ratio), math.sqrt(ratio))
    error = NORMAL * float((lost - ratio * whole).std()) / (math.sqrt(len(lost)) * float(whole.mean()))
    return Rate(math.sqrt(ratio), math.sqrt(max(0.0, ratio - error)), math.sqrt(ratio + error))


@dataclass(frozen=True, kw_only=True)
class Geometry(Utility):
    """What a release preserves of the geometry of the table: distances between records, principal axes, and clusters.

    All on the features of all columns (``features``), of a sample where there are many rows. A release has no order of rows, so
    for the K-Stress records get the partners that lie nearest in all (the one-to-one pairing with the least sum of squared
    distances). Partners are looked for among as many released rows as there are training rows: of a sampled table most records
    have lost the row that was made from them, and the K-Stress shows how the two clouds differ, not how single records moved.
    After Garg and Torra 2023, who compare an embedding with what it embeds.
    """

    most: int = 10_000
    """Rows of each table; beyond this number they are sampled."""
    paired: int = 500
    """Rows of each table that are paired."""
    draws: int = 4
    """Times that other rows are paired, where there are enough; the K-Stress is the mean over them."""
    axes: int = 5
    """Principal axes."""
    clusters: int = 5
    """Clusters of k-means."""

    def __post_init__(self) -> None:
        """Check the knobs."""
        check_knobs(
            self,
            most=(self.most >= 2, "must be at least 2"),
            paired=(2 <= self.paired <= 5000, "must lie between 2 and 5,000"),
            draws=(self.draws >= 1, "must be at least 1"),
            axes=(self.axes >= 1, "must be at least 1"),
            clusters=(self.clusters >= 2, "must be at least 2"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Five findings on distances, axes and clusters; the baselines are the control rows."""
        from threadpoolctl import threadpool_limits

        seen = features(case)
        some = {which: points.some(self.most, rng) for which, points in seen.points.items()}
        # Sums over several threads differ in the last bit from those over another number of them.
        with threadpool_limits(1):
            return [
                self._stress(some, rng),
                _distances(some, rng),
                structure.axes_finding(moments(case), self.axes, case.release.rows),
                *structure.cluster_findings(some, self.clusters, rng),
            ]

    def _stress(self, some: dict[str, Singles], rng: np.random.Generator) -> Finding:
        sides = ("release", "control") if len(some["control"]) >= BESIDE else ("release",)
        least = min(len(some[which]) for which in ("train", *sides))
        count = min(self.paired, least)
        mixed = {which: some[which][rng.permutation(len(some[which]))] for which in ("train", *sides)}
        stresses: dict[str, list[float]] = {which: [] for which in sides}
        for at in range(0, count * min(self.draws, least // count), count):
            part = slice(at, at + count)
            if not np.ptp(mixed["train"][part], axis=0).any():
                continue
            for which in sides:
                moved = partners(mixed["train"][part], mixed[which][part])
                stresses[which].append(k_stress(mixed["train"][part], moved, rng).value)
        if not stresses["release"]:
            return K_STRESS.finding(None, n=count, note="all training rows are equal, so there is no distance to preserve")
        value = float(np.mean(stresses["release"]))
        fresh = float(np.mean(stresses["control"])) if "control" in sides else None
        return K_STRESS.finding(
            value,
            baseline=fresh,
            interval=_student(stresses["release"]),
            n=count * len(stresses["release"]),
            note=f"{count:,} training rows and as many released ones, paired so that partners lie near"
            + (f", {len(stresses['release'])} times" if len(stresses["release"]) > 1 else "")
            + (
                f"; with control rows in their place: {fresh:.3g}"
                if fresh is not None
                else "; the control has too few rows for a baseline"
            ),
        )


def _student(values: list[float]) -> tuple[float, float] | None:
    """The 95 % interval of a mean that is not below 0; None for a single value."""
    if len(values) < 2:
        return None
    radius = float(stdtrit(len(values) - 1, 0.975)) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return max(0.0, float(np.mean(values)) - radius), float(np.mean(values)) + radius


def partners(one: Singles, other: Singles) -> Singles:
    """The rows of the other table in the order that lies nearest to the first: least sum of squared distances."""
    from scipy.optimize import linear_sum_assignment

    _, order = linear_sum_assignment(cdist(one, other, "sqeuclidean"))
    return other[order]


def _distances(some: dict[str, Singles], rng: np.random.Generator) -> Finding:
    lengths = {which: np.sort(_between(rows, rng)) for which, rows in some.items()}
    value, fresh = (transported(lengths[which], lengths["train"])[0] for which in ("release", "control"))
    middle = {which: float(np.median(these)) for which, these in lengths.items()}
    return DISTANCES.finding(
        value,
        baseline=fresh,
        n=len(some["release"]),
        note=f"half of the pairs of released rows lie closer than {middle['release']:.3g}, of training rows than "
        f"{middle['train']:.3g} (standard deviations of the real rows)",
        detail=_histogram(lengths),
    )


def _between(rows: Singles, rng: np.random.Generator) -> Floats:
    """The distances of all pairs of rows, or of as many as are compared."""
    if len(rows) * (len(rows) - 1) // 2 <= DRAWN:
        return np.asarray(pdist(rows))
    return _lengths(rows, *_pairs(len(rows), DRAWN, rng))


def _histogram(lengths: dict[str, Floats], bins: int = 30) -> dict[str, list[float]]:
    """Shares of pairs by distance; what lies beyond nearly all of them is in the last bin, so no extreme is disclosed."""
    top = float(np.ceil(10 * np.quantile(lengths["train"], 0.99)) / 10) or 1.0
    edges = np.linspace(0, top, bins + 1)
    shares = {
        which: np.bincount(np.minimum(lengths[which] / top * bins, bins - 1).astype(np.int64), minlength=bins) / len(lengths[which])
        for which in ("train", "release")
    }
    return {"edges": np.round(edges, 4).tolist(), **{which: np.round(part, 5).tolist() for which, part in shares.items()}}
