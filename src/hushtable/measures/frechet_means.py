"""Frechet mean clustering as a measure: how far a release preserves the centre and the clusters of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.reading import floats_like
from hushtable.measures.bins import tables
from hushtable.measures.catalogue import BALL_CLUSTERS, FRECHET_MEAN
from hushtable.numerics import ball
from hushtable.numerics.ball import gaps_of
from hushtable.numerics.ball_map import BallMap, mappable
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case
    from hushtable.evidence.measure import Measure


@dataclass(frozen=True, eq=False)
class Clusters:
    """Centres, the cluster of each point, and the sum of squared distances to them."""

    centres: Floats
    labels: Integers
    inertia: float
    rounds: int


def clusters(
    points: Floats, count: int, rng: np.random.Generator, *, starts: int = 8, rounds: int = 100, tolerance: float = 1e-4
) -> Clusters:
    """Frechet mean clustering: to the nearest centre, then each centre to the Frechet mean of its points, until none moves.

    The best of several starts from points drawn at random. The sum of squared distances never grows from round to
    round; a cluster that lost all its points takes the point that lies furthest from its centre.
    """
    candidates = (_lloyd(points, _distinct(points, count, rng), rounds, tolerance) for _ in range(starts))
    return min(candidates, key=lambda one: one.inertia)


def _distinct(points: Floats, count: int, rng: np.random.Generator) -> Floats:
    """So many different points drawn at random, or all different points if there are fewer."""
    shuffled = points[rng.permutation(len(points))]
    if len(np.unique(shuffled[:count], axis=0)) == count:
        return shuffled[:count]
    _, first = np.unique(shuffled, axis=0, return_index=True)
    return shuffled[np.sort(first)[:count]]


def _lloyd(points: Floats, centres: Floats, rounds: int, tolerance: float) -> Clusters:
    taken, step = 0, math.inf
    while taken < rounds and step > tolerance:
        labels = _filled(*ball.nearest(points, centres), len(centres))
        moved, _, _ = ball.means(points, labels, centres, tolerance=tolerance / 10)
        taken, step, centres = taken + 1, float(ball.distance(moved, centres).max()), moved
    labels, far = ball.nearest(points, centres)
    return Clusters(centres, labels, float((far**2).sum()), taken)


def _filled(labels: Integers, far: Floats, count: int) -> Integers:
    """Labels in which no cluster is empty."""
    labels = labels.copy()
    for lost in np.flatnonzero(np.bincount(labels, minlength=count) == 0):
        shared = np.bincount(labels, minlength=count)[labels] > 1
        labels[np.argmax(np.where(shared, far, -1.0))] = lost
    return labels


def elbow(points: Floats, counts: Sequence[int], rng: np.random.Generator, *, starts: int = 4) -> tuple[int, Floats]:
    """The number of clusters after which more of them gain little, and the sums of squared distances for all numbers tried.

    The rule: with both axes stretched to [0, 1], the number that lies furthest below the line from the first to the last.
    """
    inertias = np.array([clusters(points, count, rng, starts=starts).inertia for count in counts])
    return int(counts[knee(np.asarray(counts, np.float64), inertias)]), inertias


def knee(counts: Floats, inertias: Floats) -> int:
    """Where a falling curve lies furthest below the line from its first to its last point (0 if it does nowhere)."""
    drop, width = inertias[0] - inertias[-1], counts[-1] - counts[0]
    if drop <= 0 or width <= 0:
        return 0
    return int(np.argmax((1 - (counts - counts[0]) / width) - (inertias - inertias[-1]) / drop))


def nmi(one: NDArray[np.integer], other: NDArray[np.integer]) -> float:
    """Normalized mutual information of two labellings, over the mean of their entropies; 1 if both are constant."""
    from sklearn.metrics import normalized_mutual_info_score

    return min(1.0, float(normalized_mutual_info_score(one, other)))


def agreement(measure: Measure, labels: Mapping[str, NDArray[np.integer]], note: str) -> Finding:
    """How far training rows fall into the same clusters by the centres of the release, beside those of the control."""
    ours, fresh = (nmi(labels["train"], labels[which]) for which in ("release", "control"))
    return measure.finding(ours, baseline=fresh, n=len(labels["train"]), note=note)


@dataclass(frozen=True)
class Silhouette:
    """The mean silhouette, the standard error of its sampling (0 if all points were taken), and how many points it rests on."""

    value: float
    error: float
    n: int


def silhouette(points: Floats, labels: Integers, rng: np.random.Generator, *, most: int = 2000) -> Silhouette:
    """The mean of (b - a) / max(a, b) in the ball: a to the own cluster, b to the nearest other one (Rousseeuw 1987).

    Beyond ``most`` points a random half as many are taken, each against all points: no table of all pairs. A cluster of
    one point counts as 0; fewer than two clusters have no silhouette (NaN).
    """
    _, labels = np.unique(labels, return_inverse=True)
    if int(labels.max(initial=0)) < 1:
        return Silhouette(math.nan, math.nan, 0)
    n = len(points)
    taken = np.arange(n) if n <= most else np.sort(rng.choice(n, most // 2, replace=False))
    points = np.ascontiguousarray(points)
    widths = _widths(points, gaps_of(points), labels.astype(np.int64), taken)
    error = 0.0 if len(taken) == n else float(widths.std(ddof=1) / math.sqrt(len(taken)))
    return Silhouette(float(widths.mean()), error, len(taken))


@njit(cache=True)
def _widths(points, gaps, labels, taken):  # type: ignore[no-untyped-def] # compiled
    count, sizes = labels.max() + 1, np.bincount(labels)
    widths = np.zeros(len(taken))
    for t in range(len(taken)):
        i = taken[t]
        sums = np.zeros(count)
        for j in range(len(points)):
            squared = 0.0
            for k in range(points.shape[1]):
                step = points[i, k] - points[j, k]
                squared += step * step
            sums[labels[j]] += 2.0 * math.asinh(math.sqrt(squared / (gaps[i] * gaps[j])))
        own = labels[i]
        if sizes[own] == 1:
            continue
        a, b = sums[own] / (sizes[own] - 1), np.inf
        for c in range(count):
            if c != own:
                b = min(b, sums[c] / sizes[c])
        widths[t] = (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return widths


@dataclass(frozen=True, kw_only=True)
class FrechetMeans(Utility):
    """How far the Frechet mean moved, and whether the release's clusters are those of the training rows.

    The tables are mapped into the Poincare ball by the training rows' schema. The second number is the agreement (NMI) of two
    groupings of the training rows: by the centres found in them, and by the centres found in the release.
    """

    clusters: int = 5
    """The number of clusters."""
    starts: int = 4
    """Random starts of each clustering."""
    most: int = 5_000
    """Rows beyond this number are sampled."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Distance of the means, and agreement of the clusters; the baselines are the control rows."""
        seen = case.train.schema.select(case.columns)
        names = mappable(seen)
        if not names:
            note = "no column can be mapped into the ball: it takes categories, ordinals, and numbers and dates with bounds"
            return [measure.finding(None, n=0, note=note) for measure in (FRECHET_MEAN, BALL_CLUSTERS)]
        space = BallMap(_optional(seen.select(names)))
        points = {
            which: space.points(_like(self._some(table, rng), case.train, space.schema)) for which, table in tables(case).items()
        }
        means = {which: ball.mean(these).point for which, these in points.items()}
        moved, fresh = (float(ball.distance(means["train"], means[which])) for which in ("release", "control"))
        groups = {which: clusters(these, self.clusters, rng, starts=self.starts).centres for which, these in points.items()}
        labels = {which: ball.nearest(points["train"], centres)[0] for which, centres in groups.items()}
        return [
            FRECHET_MEAN.finding(
                moved,
                baseline=fresh,
                n=len(points["release"]),
                note=f"geodesic distance of the Frechet means in the ball, over {len(names)} columns",
            ),
            agreement(
                BALL_CLUSTERS,
                labels,
                f"agreement (NMI) of training rows grouped by their own {self.clusters} centres and by those of the release",
            ),
        ]

    def _some(self, table: Table, rng: np.random.Generator) -> Table:
        return table if table.rows <= self.most else table.take(np.sort(rng.choice(table.rows, self.most, replace=False)))


def _optional(schema: Schema) -> Schema:
    """The schema with a place for missing in every column: a release may lack what training rows have, or hold other levels."""
    return replace(schema, columns=tuple(replace(column, required=False) for column in schema))


def _like(table: Table, reference: Table, schema: Schema) -> Table:
    """A table under the schema of the reference: levels by name, numbers within its bounds; unknown levels are missing."""
    arrays: dict[str, Array] = {}
    for column in schema:
        values = floats_like(table, column.name, reference)
        if column.numeric:
            arrays[column.name] = column.from_floats(values)
        else:
            arrays[column.name] = np.where(np.isnan(values), -1, np.nan_to_num(values)).astype(np.int32)
    return Table(schema, arrays)
