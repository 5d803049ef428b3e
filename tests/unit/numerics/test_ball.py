"""The Poincare ball: a metric, its logarithm and exponential, its Frechet mean; and the public map of a table into it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from hushtable.checks import awkward, example
from hushtable.errors import PlanError
from hushtable.numerics import ball
from hushtable.numerics.ball_map import BallMap, mappable
from hushtable.numerics.simplex import on_simplex
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from tests.unit.privacy.exact import judge

seeds = st.integers(0, 2**32 - 1)


def cloud(seed: int, count: int, dimension: int, spread: float = 1.0) -> np.ndarray:
    return ball.exp(np.zeros(dimension), spread * np.random.default_rng(seed).normal(size=(count, dimension)))


@given(seeds, st.integers(1, 40), st.floats(0.01, 6))
@settings(max_examples=40)
def test_the_distance_is_a_metric(seed, dimension, far):
    x, y, z = cloud(seed, 3, dimension, far / math.sqrt(dimension))
    d = ball.distance
    assert d(x, y) == d(y, x) > 0
    assert d(x, x) == 0
    assert d(x, z) <= (d(x, y) + d(y, z)) * (1 + 1e-9)


@pytest.mark.parametrize(("distance", "holds"), [(ball.distance, True), (ball.printed, False)])
@pytest.mark.parametrize("far", [0.1, 1.0, 5.0])
def test_the_printed_distance_is_no_metric(distance, holds, far):
    def check(distance):
        start, middle, end = ball.exp(np.zeros(2), np.array([[-far, 0.0], [0.0, 0.0], [far, 0.0]]))
        assert distance(start, end) <= (distance(start, middle) + distance(middle, end)) * (1 + 1e-9)

    judge(check, distance, holds=holds)


def test_the_printed_distance_is_this_function_of_the_true_one():
    x, y = cloud(1, 50, 5), cloud(2, 50, 5)
    assert ball.printed(x, y) == pytest.approx(np.arccosh(np.cosh(ball.distance(x, y) / 2) ** 2) / 2)
    assert (np.argsort(ball.printed(x, y)) == np.argsort(ball.distance(x, y))).all()


@given(seeds, st.integers(1, 30), st.floats(0.0, 4.0))
@settings(max_examples=40)
def test_exponential_undoes_the_logarithm_which_is_as_long_as_the_way(seed, dimension, far):
    base, point = cloud(seed, 2, dimension, far / math.sqrt(dimension))
    vector = ball.log(base, point)[0]
    assert np.linalg.norm(vector) == pytest.approx(float(ball.distance(base, point)), rel=1e-9, abs=1e-12)
    assert ball.exp(base, vector)[0] == pytest.approx(point, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("far", [1.0, 8.0, 16.0, 20.0])
def test_a_geodesic_through_the_origin_has_its_length_near_the_boundary_too(far):
    ends = ball.exp(np.zeros(3), np.array([[far, 0, 0], [far + 0.5, 0, 0], [-far, 0, 0]]))
    assert ball.distance(ends[0], ends[1]) == pytest.approx(0.5, rel=1e-6)
    assert ball.distance(ends[0], ends[2]) == pytest.approx(2 * far, rel=1e-6)
    assert ball.exp(ends[0], np.array([[-far, 0, 0]]))[0] == pytest.approx(np.zeros(3), abs=1e-6)
    assert np.isfinite(ball.exp(np.zeros(3), np.array([[1e6, 0, 0]]))).all()


def test_moving_along_a_vector_keeps_all_distances():
    """The exponential at another base is a translation: an isometry, so it carries circles to circles."""
    base = cloud(3, 1, 4)[0]
    circle = np.random.default_rng(4).normal(size=(20, 4))
    circle *= 1.3 / np.linalg.norm(circle, axis=1, keepdims=True)
    there, here = ball.exp(base, circle), ball.exp(np.zeros(4), circle)
    assert ball.distance(there[:-1], there[1:]) == pytest.approx(ball.distance(here[:-1], here[1:]))


@given(seeds, st.integers(1, 12), st.integers(1, 30), st.floats(0.01, 3.0))
@settings(max_examples=40)
def test_the_mean_is_where_its_bound_says(seed, dimension, count, spread):
    """A second start from another point ends within the sum of the two bounds: there is one mean only."""
    points = cloud(seed, count, dimension, spread)
    one = ball.mean(points)
    assert one.error <= 1e-9
    rough, error, _ = ball.means(points, np.zeros(count, np.int64), points[:1], tolerance=1e-3)
    assert float(ball.distance(rough[0], one.point)) <= float(error[0]) + one.error + 1e-12


def test_every_step_descends():
    points, labels = cloud(5, 60, 3, 2.0), np.zeros(60, np.int64)
    at, last = points[:1], math.inf
    for _ in range(30):
        at, _, _ = ball.means(points, labels, at, tolerance=0, steps=1)
        here = float(ball.inertia(points, labels, at)[0])
        assert here <= last * (1 + 1e-12)
        last = here


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_mean_is_the_one_a_general_optimizer_finds(dimension):
    points = cloud(6, 40, dimension, 1.2)

    def loss(vector):
        return float((ball.distance(ball.exp(np.zeros(dimension), vector), points) ** 2).sum())

    actual = minimize(loss, np.zeros(dimension), method="BFGS", options={"gtol": 1e-9})
    assert ball.mean(points).point == pytest.approx(ball.exp(np.zeros(dimension), actual.x)[0], abs=1e-5)


def test_the_mean_of_two_points_is_halfway():
    x, y = cloud(7, 2, 6, 2.0)
    assert ball.mean(np.stack([x, y])).point == pytest.approx(ball.exp(x, ball.log(x, y) / 2)[0])


def test_nothing_has_no_mean():
    with pytest.raises(ValueError, match="no mean"):
        ball.mean(np.empty((0, 3)))


def test_an_empty_group_keeps_its_centre():
    points, centres = cloud(8, 10, 2), cloud(9, 2, 2)
    moved, _, _ = ball.means(points, np.zeros(10, np.int64), centres)
    assert moved[1] == pytest.approx(centres[1])


def test_the_nearest_centre_is_the_nearest():
    points, centres = cloud(10, 200, 7), cloud(11, 9, 7)
    labels, far = ball.nearest(points, centres)
    all_of_them = ball.distance(points[:, None], centres[None])
    assert (labels == all_of_them.argmin(1)).all()
    assert far == pytest.approx(all_of_them.min(1))


@pytest.mark.parametrize("table", [example(), *awkward().values()], ids=lambda t: f"{t.rows} x {len(t.schema)}")
@pytest.mark.parametrize("radius", [0.1, 0.9, 0.999])
def test_the_map_puts_every_record_within_its_radius_and_back(table, radius):
    space = BallMap(table.schema, radius)
    points = space.points(table)
    assert points.shape == (table.rows, space.dimension)
    assert np.linalg.norm(points, axis=1).max() <= radius * (1 + 1e-12)
    for block in space.blocks:
        part, name = space.part(block, points), block.column.name
        shares = on_simplex(block.shares(part))
        missing = table.missing(name)
        if block.ordered:
            back = block.array(block.numbers(part, shares[:, 1]), shares[:, 1] > 0.5)
            assert back == pytest.approx(np.asarray(table[name]), nan_ok=True)
        else:
            level = shares.argmax(1)
            assert (np.where(missing, block.size - 1, table[name]) == level).all()
            assert shares.max(1) == pytest.approx(np.ones(table.rows))


def test_the_map_asks_the_schema_and_no_row():
    table = example()
    some = table.take(np.array([3, 50]))
    assert BallMap(some.schema).points(some) == pytest.approx(BallMap(table.schema).points(table)[[3, 50]])


def test_what_has_no_place_is_refused_by_name():
    odd = (
        Column(name="who", kind=Kind.KEY),
        Column(name="huge", kind=Kind.INTEGER, domain=Bounds(0, 2**60)),
        Column(name="open", kind=Kind.REAL),
        Column(name="fine", kind=Kind.CATEGORY, domain=Levels(("a",))),
    )
    with pytest.raises(PlanError, match="who, huge, open"):
        BallMap(Schema(odd))
    assert mappable(odd) == ("fine",)
    assert BallMap(Schema(odd[3:])).dimension == 2


@given(seeds, st.integers(1, 6))
@settings(max_examples=20)
def test_the_nearest_shares_are_shares(seed, levels):
    weights = np.random.default_rng(seed).normal(size=(20, levels))
    actual = on_simplex(weights)
    assert (actual >= 0).all()
    assert actual.sum(1) == pytest.approx(np.ones(20))
    others = np.random.default_rng(seed + 1).dirichlet(np.ones(levels), 200)
    best = ((weights[:, None] - others[None]) ** 2).sum(2).min(1)
    assert (((weights - actual) ** 2).sum(1) <= best + 1e-9).all()
