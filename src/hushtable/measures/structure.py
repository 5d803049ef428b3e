"""Principal axes and clusters of a table, and how much of them a release preserves."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from hushtable.evidence.finding import Finding
from hushtable.measures.catalogue import AXES, CLUSTERS_KEPT, SILHOUETTE
from hushtable.measures.features import alike
from hushtable.measures.frechet_means import agreement
from hushtable.measures.joint import Moments
from hushtable.numerics.fitting import fit
from hushtable.table.arrays import Floats, Integers, Singles

STARTS = 12
"""Starts of k-means on the training rows, the best of which counts; other tables also start from its centres and need fewer."""
ROUNDS = 50
"""Rounds of k-means at most: rows without clusters never settle."""
AS_GOOD = 1.01
"""Solutions of k-means whose sums of squares differ by no more than this factor are as good."""
SILHOUETTE_ROWS = 1500
"""Rows of each table whose silhouette is taken."""
NAMES = {"train": "the training table", "release": "the release"}
FLAT = 1e-10
"""A direction with less than this share of the largest variance has none."""


def axes_kept(own: Floats, other: Floats, axes: int) -> float:
    """The variance under covariance ``own`` along the first axes of ``other``, over that along its own first axes.

    1 if the axes span the same directions, at least 0. An axis along which ``other`` does not vary counts as none; NaN where
    ``own`` does not vary.
    """
    best = np.linalg.eigvalsh(own)[::-1][:axes].sum()
    if not best > 0:
        return math.nan
    values, directions = np.linalg.eigh(other)
    first = directions[:, ::-1][:, :axes][:, values[::-1][:axes] > FLAT * max(values[-1], 1e-300)]
    return min(1.0, max(0.0, float(np.einsum("ij,ik,kj->", first, own, first) / best)))


def axes_finding(moments: Mapping[str, Moments], axes: int, n: int) -> Finding:
    """How far the release's main directions are those of the training rows; the baseline has those of the control rows."""
    axes = min(axes, len(moments["train"].covariance))
    for which in ("train", "release"):
        if not np.trace(moments[which].covariance) > 0:
            return AXES.finding(None, n=n, note=f"all rows of {NAMES[which]} are equal, so there are no principal axes")
    value, fresh = (axes_kept(moments["train"].covariance, moments[which].covariance, axes) for which in ("release", "control"))
    spread = np.linalg.eigvalsh(moments["train"].covariance)[::-1]
    explained = max(0.0, float(spread[:axes].sum() / spread.sum()))
    return AXES.finding(
        value,
        baseline=fresh,
        n=n,
        note=f"the first {axes} principal axes of the real rows explain {explained:.0%} of their variance, those of the release "
        f"{value * explained:.0%}",
    )


def centres_of(points: Singles, count: int, seed: int, near: Floats | None = None) -> Floats:
    """The centres of k-means (Lloyd 1982, started as Arthur and Vassilvitskii 2007 propose), fewer if fewer points differ.

    Tables often have several solutions that are as good. With ``near`` the one that is found from these centres is taken if its
    sum of squares exceeds the best by no more than a hundredth, so that two tables do not differ by which of them came first.
    """
    from sklearn.cluster import KMeans

    different = len(alike(points)[1])
    best = KMeans(
        min(count, different), n_init=STARTS if near is None else STARTS // 3, tol=1e-3, max_iter=ROUNDS, random_state=seed
    )
    fit(best, points)
    if near is not None and len(near) <= different:
        there = KMeans(len(near), init=near, n_init=1, tol=1e-3, max_iter=ROUNDS, random_state=seed)
        fit(there, points)
        best = there if there.inertia_ <= AS_GOOD * best.inertia_ else best
    return np.asarray(best.cluster_centers_, np.float64)


def assigned(points: Singles, centres: Floats) -> Integers:
    """The nearest centre of each point."""
    return np.asarray(((centres**2).sum(axis=1) - 2 * points @ centres.T).argmin(axis=1))


def clarity(points: Singles, labels: Integers, rng: np.random.Generator) -> float:
    """The mean silhouette (Rousseeuw 1987) of some of the points; NaN if they are all in one cluster or each in its own."""
    from sklearn.metrics import silhouette_score

    rows = (
        np.arange(len(points))
        if len(points) <= SILHOUETTE_ROWS
        else np.sort(rng.choice(len(points), SILHOUETTE_ROWS, replace=False))
    )
    if not 2 <= len(np.unique(labels[rows])) < len(rows):
        return math.nan
    return float(silhouette_score(points[rows], labels[rows]))


def cluster_findings(points: Mapping[str, Singles], count: int, rng: np.random.Generator) -> list[Finding]:
    """Whether k-means finds in the release the clusters that it finds in the training rows, and as clear ones.

    Both sets of centres put the training rows into clusters, and the normalized mutual information says how far they agree.
    """
    n = len(points["release"])
    flat = [which for which in ("train", "release") if not np.ptp(points[which], axis=0).any()]
    if flat:
        note = f"all rows of {' and of '.join(NAMES[which] for which in flat)} are equal, so there are no clusters"
        return [measure.finding(None, n=n, note=note) for measure in (CLUSTERS_KEPT, SILHOUETTE)]
    seed = int(rng.integers(2**31))
    own = centres_of(points["train"], count, seed)
    centres = {which: own if which == "train" else centres_of(these, count, seed, own) for which, these in points.items()}
    labels = {which: assigned(points["train"], these) for which, these in centres.items()}
    clear = {which: clarity(these, assigned(these, centres[which]), rng) for which, these in points.items()}
    gap, fresh_gap = (abs(clear[which] - clear["train"]) for which in ("release", "control"))
    silhouettes = f"silhouette {clear['release']:.3f} in the release, {clear['train']:.3f} in the training rows"
    return [
        agreement(
            CLUSTERS_KEPT,
            labels,
            f"training rows put into {len(centres['train'])} clusters, by their own centres and by those of the release (NMI)",
        ),
        SILHOUETTE.finding(
            gap,
            baseline=fresh_gap,
            n=n,
            note=silhouettes if math.isfinite(gap) else "too few rows differ for a silhouette of clusters",
        ),
    ]
