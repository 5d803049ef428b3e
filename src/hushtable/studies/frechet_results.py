"""The results of the study of Frechet means: clusters of a release, how far its mean moves, and how many clusters there are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hushtable.api.store import Result
from hushtable.measures.frechet_means import clusters, elbow, knee, nmi, silhouette
from hushtable.numerics import ball
from hushtable.numerics.ball_map import BallMap
from hushtable.numerics.manifold.geodesics import Paths
from hushtable.numerics.manifold.graph import neighbourhood
from hushtable.numerics.manifold.graph_mean import manifold_distance
from hushtable.studies.frechet_ways import K_ANONYMITY, Data, Outcome, load, way
from hushtable.table.arrays import Floats


def scored(name: str, kind: str, epsilon: float, run: int) -> Result:
    """Clusters of the released rows against their classes, and of the real rows by the release's centres."""
    data, rng = load(name), np.random.default_rng([run, 0])
    return scores(data, way(kind, epsilon=epsilon, groups=data.groups)(data, rng), rng)


def scores(data: Data, outcome: Outcome, rng: np.random.Generator) -> Result:
    """NMI and silhouette of the release, where it has rows of people; both of the real rows, how far the mean moved, the proof."""
    real = _points(data)
    grouped = clusters(outcome.points, data.groups, rng, starts=4)
    rows = len(np.unique(outcome.points, axis=0)) > data.groups
    own = {}
    if rows and outcome.classes is not None:
        own["nmi"] = nmi(grouped.labels, outcome.classes)
    if rows:
        own["silhouette"] = silhouette(outcome.points, grouped.labels, rng).value
    labels, _ = ball.nearest(real, grouped.centres)
    own["nmi_real"] = nmi(labels, data.truth)
    own["silhouette_real"] = silhouette(real, labels, rng).value
    # Where all rows are in one cluster there is no silhouette.
    known = {key: value for key, value in own.items() if not math.isnan(value)}
    return {**known, "moved": distance_of_means(real, outcome.points), "proof": outcome.proof}


def by_epsilon(name: str, kind: str, epsilons: Sequence[float], run: int) -> Result:
    """How far the mean of a release moves, for each epsilon."""
    data, rng = load(name), np.random.default_rng([run, 1])
    return {"moved": [distance_of_means(_points(data), way(kind, epsilon=e)(data, rng).points) for e in epsilons]}


def by_k(name: str, ks: Sequence[int]) -> Result:
    """How far the mean of a k-anonymous release moves, for each k."""
    data, rng = load(name), np.random.default_rng(0)
    return {"moved": [distance_of_means(_points(data), way(K_ANONYMITY, k=k)(data, rng).points) for k in ks]}


def by_size(name: str, kind: str, epsilon: float, sizes: Sequence[int], run: int) -> Result:
    """How far the mean of a release of so many of the rows lies from that of all."""
    data, rng, moved = load(name), np.random.default_rng([run, 2]), []
    for size in sizes:
        some = np.sort(np.random.default_rng([run, size]).choice(data.table.rows, size, replace=False))
        part = Data(data.name, data.table.take(some), data.epsilon)
        moved.append(distance_of_means(_points(data), way(kind, epsilon=epsilon)(part, rng).points))
    return {"moved": moved}


def elbowed(name: str, most: int) -> Result:
    """The inertia by the number of clusters, and where it bends."""
    counts = range(1, most + 1)
    _, inertias = elbow(_points(load(name)), counts, np.random.default_rng(0), starts=2)
    bend = counts[knee(np.array(counts, float), np.asarray(inertias))]
    return {"inertia": [float(one) for one in inertias], "bend": bend}


def on_the_graph(name: str) -> Result:
    """How far the mean of k-anonymous rows moves in the ball, and along the neighbourhood graph of the records."""
    data = load(name)
    real = _points(data)
    records = np.unique(real, axis=0)
    anonymous = way(K_ANONYMITY)(data, np.random.default_rng(0)).points
    means = ball.mean(real).point, ball.mean(anonymous).point
    along = manifold_distance(Paths.of(neighbourhood(records, 10)), records, *means)
    return {"straight": float(ball.distance(*means)), "along": float(along)}


def distance_of_means(one: Floats, other: Floats) -> float:
    """The geodesic distance in the ball between two Frechet means."""
    return float(ball.distance(ball.mean(one).point, ball.mean(other).point))


def _points(data: Data) -> Floats:
    return BallMap(data.features.schema).points(data.features)
