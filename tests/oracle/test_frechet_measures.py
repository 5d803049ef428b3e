"""Graph means against all pairs, silhouettes against scikit-learn's, clusters against what they must not do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from hushtable.errors import InputError
from hushtable.measures.frechet_means import clusters, elbow, knee, silhouette
from hushtable.numerics import ball
from hushtable.numerics.manifold.geodesics import Paths
from hushtable.numerics.manifold.graph import Graph, neighbourhood
from hushtable.numerics.manifold.graph_mean import graph_distance, graph_mean, manifold_distance


def all_pairs(graph: Graph) -> np.ndarray:
    links = csr_array((graph.lengths, graph.ends, graph.starts), shape=(graph.size, graph.size))
    return dijkstra(links, directed=False)


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 4), st.integers(1, 4), st.booleans())
@settings(max_examples=25)
def test_the_graph_mean_is_the_best_of_all_pairs(seed, count, dimension, near, weighted):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, dimension))
    graph = neighbourhood(points, near)
    weights = rng.integers(0, 4, count) + (np.arange(count) == 0) if weighted else None
    result = graph_mean(Paths.of(graph), weights)
    energies = (all_pairs(graph) ** 2) @ (np.ones(count) if weights is None else weights)
    assert energies[result.node] <= energies.min() * (1 + 1e-6) + 1e-12
    assert result.energy == pytest.approx(energies.min(), rel=1e-6, abs=1e-12)
    assert result.searches <= count


def test_the_graph_mean_needs_few_searches_on_a_line():
    line = np.arange(2000, dtype=float)[:, None]
    result = graph_mean(Paths.of(neighbourhood(line, 2)))
    assert result.node in (999, 1000)
    assert result.searches < 100


def test_distances_of_means_run_along_the_graph():
    turns = np.linspace(0, np.pi, 200)
    arc = np.stack([np.cos(turns), np.sin(turns)], 1)
    paths = Paths.of(neighbourhood(arc, 2))
    assert graph_distance(paths, 0, 199) == pytest.approx(np.pi, rel=1e-3)
    off = manifold_distance(paths, arc, arc[0] * 1.1, arc[-1] * 1.2)
    assert off == pytest.approx(np.pi + 0.3, rel=1e-3)
    assert manifold_distance(paths, arc, arc[5] * 1.01, arc[5] * 1.02) == pytest.approx(0.01)


def test_a_mean_of_nothing_is_refused():
    paths = Paths.of(neighbourhood(np.arange(5.0)[:, None], 2))
    with pytest.raises(InputError, match="weights"):
        graph_mean(paths, np.zeros(5))


def heaps(seed: int, count: int = 4, size: int = 30, dimension: int = 5) -> np.ndarray:
    """Far apart, each in a direction of its own."""
    rng = np.random.default_rng(seed)
    middles = ball.exp(np.zeros(dimension), 1.5 * np.eye(dimension)[:count])
    return np.vstack([ball.exp(middle, 0.1 * rng.normal(size=(size, dimension))) for middle in middles])


def test_the_silhouette_is_that_of_all_pairs():
    from sklearn.metrics import silhouette_score

    points = heaps(1)
    labels = np.random.default_rng(0).integers(0, 3, len(points))
    labels[labels == 2] = 7
    labels[0] = 9
    matrix = ball.distance(points[:, None], points[None])
    result = silhouette(points, labels, np.random.default_rng(0))
    assert result.value == pytest.approx(silhouette_score(matrix, labels, metric="precomputed"))
    assert result.error == 0
    assert np.isnan(silhouette(points, np.zeros(len(points), int), np.random.default_rng(0)).value)


def test_a_sampled_silhouette_is_near_the_whole_one():
    points = heaps(2, size=100)
    labels = np.arange(len(points)) // 50
    whole, some = (silhouette(points, labels, np.random.default_rng(1), most=most) for most in (10**6, 300))
    assert some.n == 150
    assert abs(some.value - whole.value) < 4 * some.error


def test_clusters_find_heaps_and_the_elbow_counts_them():
    points = heaps(3)
    result = clusters(points, 4, np.random.default_rng(0))
    assert all(len(set(result.labels[i : i + 30])) == 1 for i in range(0, 120, 30))
    for j, centre in enumerate(result.centres):
        assert float(ball.distance(centre, ball.mean(points[result.labels == j]).point)) < 1e-3
    assert result.inertia == pytest.approx(float((ball.distance(points, result.centres[result.labels]) ** 2).sum()))
    best, curve = elbow(points, range(1, 9), np.random.default_rng(0))
    assert best == 4
    assert (np.diff(curve) < 1e-9).all()


def test_more_clusters_than_different_points_are_as_many_as_there_are():
    points = np.repeat(heaps(4, count=2, size=1), 10, axis=0)
    result = clusters(points, 5, np.random.default_rng(0))
    assert len(result.centres) == 2
    assert result.inertia == pytest.approx(0, abs=1e-12)


def test_a_straight_curve_has_no_knee():
    assert knee(np.arange(1.0, 6), np.arange(5.0, 0, -1)) == 0
    assert knee(np.arange(1.0, 6), np.ones(5)) == 0
    assert knee(np.arange(1.0, 6), np.array([10.0, 2, 1.5, 1, 0.5])) == 1
