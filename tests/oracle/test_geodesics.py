"""Distances along the neighbourhood graph, groups and embeddings made of them: fast equals slow, ours equals the reference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra, minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist, squareform

from hushtable.anonymize.microaggregate import space
from hushtable.anonymize.microaggregate.geodesic_groups import partition
from hushtable.checks import awkward, example
from hushtable.numerics.manifold import isomap, lle
from hushtable.numerics.manifold.ambient import Ambient, Scale, digests, distinct
from hushtable.numerics.manifold.geodesics import FAR, Paths
from hushtable.numerics.manifold.graph import Graph, neighbourhood
from hushtable.numerics.manifold.isomap import Isomap
from hushtable.numerics.manifold.lle import Lle


def cloud(seed: int, most: int = 200) -> np.ndarray:
    """Points at random, some on a grid so that distances tie, some in heaps far apart."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most))
    points = rng.normal(size=(n, 3))
    if seed % 3 == 1:
        points = rng.integers(0, 5, (n, 2)).astype(float)
    if seed % 3 == 2:
        points += 30.0 * rng.integers(0, 4, (n, 1))
    return np.unique(points, axis=0)


def pairs(graph: Graph) -> np.ndarray:
    return dijkstra(csr_array((graph.lengths, graph.ends, graph.starts), shape=(graph.size, graph.size)))


@pytest.mark.parametrize("seed", range(6))
def test_distances_equal_those_of_the_reference(seed):
    graph = neighbourhood(cloud(seed), 3)
    paths, truth = Paths.of(graph), pairs(graph)
    assert np.isfinite(truth).all()
    np.testing.assert_allclose(paths.matrix(np.arange(graph.size)), truth, atol=1e-8 * max(truth.max(), 1))
    assert truth.max() <= paths.diameter * paths.unit * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_a_search_that_stops_early_is_right_as_far_as_it_goes(seed):
    paths = Paths.of(neighbourhood(cloud(seed), 4))
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, paths.size)
    for wanted in (1, 5, 20):
        whole = paths.distances(0)
        near, order = paths.reach(0, weights, wanted)
        limit = near[order].max()
        assert weights[order].sum() >= min(wanted, weights.sum())
        np.testing.assert_array_equal(near, np.where(whole <= limit, whole, FAR))
        assert set(order) == set(np.flatnonzero(whole <= limit))
        assert weights[whole < limit].sum() < wanted


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("radius", [None, 0.8])
def test_components_are_joined_by_a_minimum_spanning_tree(seed, radius):
    points = cloud(seed, 120)
    n, k = len(points), min(2, len(points) - 1)
    far = squareform(pdist(points))
    linked = far <= radius if radius else np.argsort(np.argsort(far, axis=1, kind="stable"), axis=1) <= k
    linked |= linked.T
    graph = neighbourhood(points, k, radius)
    ours = np.zeros((n, n), bool)
    ours[np.repeat(np.arange(n), np.diff(graph.starts)), graph.ends] = True
    np.testing.assert_allclose(graph.lengths, far[ours], rtol=1e-12)
    if seed % 3 == 1:
        return  # on a grid neighbours tie, and which of them are linked is open
    count, labels = connected_components(linked)
    gaps = np.array([[far[np.ix_(labels == a, labels == b)].min() for b in range(count)] for a in range(count)])
    bridges = ours & ~linked
    assert graph.bridges == count - 1 == bridges.sum() // 2
    assert far[bridges].sum() / 2 == pytest.approx(minimum_spanning_tree(gaps).sum())
    assert (ours | np.eye(n, dtype=bool) | ~linked).all()


def printed(far: np.ndarray, squares: np.ndarray, k: int) -> np.ndarray:
    """M-MDAV on matrices of all pairs, the second group formed from what the first left, ties to the smaller row."""
    free, labels, label = np.arange(len(far)), np.empty(len(far), np.int64), 0
    while len(free) >= 2 * k:
        median = free[squares[np.ix_(free, free)].sum(axis=1).argmin()]
        centre = free[far[median, free].argmax()]
        both = len(free) >= 3 * k
        for side in range(2 if both else 1):
            nearest = np.lexsort((free, far[centre, free]))[:k]
            labels[free[nearest]] = label
            label, free = label + 1, np.delete(free, nearest)
            if side == 0 and both:
                centre = free[far[centre, free].argmax()]
    labels[free] = label
    return labels


@pytest.mark.parametrize("seed", range(24))
def test_groups_are_those_of_the_printed_algorithm(seed):
    rng = np.random.default_rng(seed)
    points = cloud(seed, 160)
    point_of = rng.integers(0, len(points), len(points) + 20)  # some points have several records, some none
    k = int(rng.integers(2, 8))
    paths = Paths.of(neighbourhood(points, 4))
    far = np.array([paths.distances(i) for i in range(paths.size)])[np.ix_(point_of, point_of)]
    # Where sums may tie, Python's whole numbers, cut as ours are: no rounding, no overflow. Else plain floats.
    cut = np.array((far >> paths.coarse(len(point_of))).tolist(), object) if seed % 3 == 1 else far * paths.unit
    actual = partition(paths, point_of, k, anchors=len(point_of), order=rng.permutation(len(point_of)))
    np.testing.assert_array_equal(actual, printed(far, cut * cut, k))


@pytest.mark.parametrize("anchors", [1, 7, 40])
def test_with_few_anchors_the_sums_are_those_of_the_anchors(anchors):
    """Whatever stands for all: the running sums equal sums from scratch, and in the end the medians are exact."""
    from hushtable.anonymize.microaggregate import geodesic_groups

    points = np.random.default_rng(3).normal(size=(150, 2))
    paths = Paths.of(neighbourhood(points, 5))
    far = np.array([paths.distances(i) for i in range(150)])
    free = geodesic_groups._Free(paths, np.arange(150), anchors, np.random.default_rng(4).permutation(150))
    while free.count > 10:
        standing = np.flatnonzero(free.anchored & ~free.gone)
        assert min(anchors, free.count) / 2 <= len(standing) <= anchors
        cut = far[:, standing] >> free.coarse
        np.testing.assert_array_equal(free.totals, (cut * cut).sum(axis=1))
        near, reached = paths.reach(free.farthest(free.from_median()), free.weights, 5)
        free.take(near, reached, 5)


@pytest.mark.parametrize("seed", range(6))
def test_medoids_have_the_least_sum_of_squares(seed):
    rng = np.random.default_rng(seed)
    points = cloud(3 * seed, 80)
    point_of = rng.integers(0, len(points), 90)
    groups = rng.permutation(np.arange(90) % 8)
    paths = Paths.of(neighbourhood(points, 3))
    far = paths.matrix(np.arange(paths.size))[np.ix_(point_of, point_of)]
    for group, medoid in enumerate(paths.medoids(point_of, groups)):
        members = np.flatnonzero(groups == group)
        sums = (far[np.ix_(members, members)] ** 2).sum(axis=1)
        assert groups[medoid] == group
        assert sums[members == medoid][0] == pytest.approx(sums.min(), rel=1e-9)


@pytest.mark.parametrize("table", [example(), *awkward().values()], ids=["example", *awkward()])
def test_the_ambient_space_has_the_distances_of_microaggregation(table):
    columns = tuple(c.name for c in table.schema)
    mixed = space.Space.of(table, columns, space.Scale.STANDARD)
    points = Ambient.of(table, columns, Scale.STANDARD).points(table)
    truth = sum((row[:, None] - row[None, :]) ** 2 for row in mixed.numbers)
    for row, weight in zip(mixed.codes, mixed.weights, strict=True):
        truth = truth + weight * (row[:, None] != row[None, :])
    np.testing.assert_allclose(cdist(points, points, "sqeuclidean"), truth, atol=1e-9)


def test_equal_rows_are_one_point():
    points = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0], [2.0, 3.0]])
    first, point_of = distinct(digests(points))
    np.testing.assert_array_equal(first, [0, 1])
    np.testing.assert_array_equal(point_of, [0, 1, 0, 1])


def roll(n: int = 300) -> np.ndarray:
    """A sheet rolled up: the length along it, and the height, are its true coordinates."""
    rng = np.random.default_rng(0)
    turn, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 20 * rng.random(n)
    return np.column_stack([turn * np.cos(turn), height, turn * np.sin(turn)])


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_isomap_is_that_of_scikit_learn(dimensions):
    from sklearn.manifold import Isomap as Reference

    points, others = roll(), roll(340)[300:] + 0.1
    reference = Reference(n_neighbors=8, n_components=dimensions).fit(points)
    paths = Paths.of(neighbourhood(points, 8))
    fitted, actual = Isomap.of(points, paths, np.ones(300, np.int64), 8, dimensions, np.random.default_rng(0))
    np.testing.assert_allclose(pdist(actual), pdist(reference.embedding_), rtol=1e-6, atol=1e-6)
    both = cdist(reference.transform(others), reference.embedding_)
    np.testing.assert_allclose(cdist(fitted.extend(others), actual), both, rtol=1e-5, atol=1e-5)


def test_a_point_with_several_records_counts_as_often():
    points, weights = roll(60), np.random.default_rng(1).integers(1, 4, 60)
    paths = Paths.of(neighbourhood(points, 6))
    _, actual = Isomap.of(points, paths, weights, 6, 2, np.random.default_rng(0))
    far = np.repeat(np.repeat(paths.matrix(np.arange(60)) ** 2, weights, axis=0), weights, axis=1)
    centre = np.eye(len(far)) - 1 / len(far)
    values, vectors = np.linalg.eigh(-0.5 * centre @ far @ centre)
    truth = vectors[:, -2:] * np.sqrt(values[-2:])
    np.testing.assert_allclose(pdist(np.repeat(actual, weights, axis=0)), pdist(truth), rtol=1e-6, atol=1e-6)


def test_landmarks_place_the_others_nearly_as_all_would(monkeypatch):
    points, weights = roll(), np.ones(300, np.int64)
    paths = Paths.of(neighbourhood(points, 8))
    _, whole = Isomap.of(points, paths, weights, 8, 2, np.random.default_rng(0))
    monkeypatch.setattr(isomap, "EXACT", 100)
    monkeypatch.setattr(isomap, "LANDMARKS", 60)
    fitted, some = Isomap.of(points, paths, weights, 8, 2, np.random.default_rng(0))
    assert len(fitted.landmarks) == 60
    assert np.corrcoef(pdist(whole), pdist(some))[0, 1] > 0.97
    np.testing.assert_allclose(fitted.extend(points[:5]), some[:5], atol=1e-6)


@pytest.mark.parametrize("count", [200, 520])
def test_lle_is_that_of_scikit_learn(count):
    from sklearn.manifold import LocallyLinearEmbedding

    points = roll(count)
    reference = LocallyLinearEmbedding(n_neighbors=10, n_components=2, eigen_solver="dense").fit_transform(points)
    _, actual = Lle.of(points, neighbourhood(points, 10), 10, None, 2, np.random.default_rng(0))
    np.testing.assert_allclose(np.abs((actual / np.sqrt(count)).T @ reference), np.eye(2), atol=1e-3)
    np.testing.assert_allclose(actual.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(actual.std(axis=0), 1, atol=1e-6)


def test_lle_of_some_places_the_others_among_them(monkeypatch):
    points = roll(600)
    monkeypatch.setattr(lle, "EXACT", 300)
    fitted, actual = Lle.of(points, neighbourhood(points, 10), 10, None, 2, np.random.default_rng(0))
    assert len(fitted.points) == 300
    # Neighbours on the sheet are neighbours in the embedding.
    near = np.argsort(cdist(points, points), axis=1)[:, 1:6]
    steps = np.sqrt(((actual[:, None, :] - actual[near]) ** 2).sum(axis=2)).mean()
    assert steps < 0.35 * pdist(actual).mean()
