"""Records on the corners of a square: one of them flips every group of MDAV, and moves insensitive blocks as little as promised."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest

from hushtable.anonymize.microaggregate import mdav
from hushtable.anonymize.private.blocks import BlockSums, diameter
from hushtable.anonymize.published.beta_k_eps import BetaKEps
from hushtable.numerics.integers import GRID, axes_of, block_sizes
from hushtable.pipeline.plan import plan
from hushtable.privacy.unit import Relation
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.cases import recipe

SQUARE = Schema(tuple(Column(name=n, kind=Kind.REAL, domain=Bounds(0.0, 1.0), required=True) for n in ("x", "y")))


def corners(k: int) -> np.ndarray:
    """k/2 records on each corner of the unit square."""
    return np.repeat(np.array(list(product((0.0, 1.0), repeat=2))), k // 2, axis=0)


def neighbours(points: np.ndarray, k: int) -> list[np.ndarray]:
    """The same records with one of a corner replaced."""
    others = []
    for row, place in product(range(0, len(points), k // 2), product((0.0, 0.2, 0.8, 1.0), repeat=2)):
        other = points.copy()
        other[row] = place
        others.append(other)
    return others


def mdav_centres(points: np.ndarray, k: int) -> np.ndarray:
    labels = mdav.partition(np.ascontiguousarray(points.T), np.empty((0, len(points)), np.int32), np.empty(0), k)
    return np.array([points[labels == label].mean(0) for label in range(labels.max() + 1)])


def moved(one: np.ndarray, two: np.ndarray) -> float:
    """The least L2 distance of two sets of centres, however they are paired."""
    return min(float(np.sqrt(((one - two[list(order)]) ** 2).sum())) for order in permutations(range(len(two))))


@pytest.mark.parametrize("k", [4, 6, 10, 20, 50])
def test_one_record_moves_the_centres_of_mdav_by_most_of_the_square_for_every_k(k):
    points = corners(k)
    centres = mdav_centres(points, k)
    worst = max(moved(centres, mdav_centres(other, k)) for other in neighbours(points, k))
    assert worst > 0.7
    claimed = 2 / k  # the L1 sensitivity of a record over k, on which the published noise rests
    assert worst > 1.9 * claimed


@pytest.mark.parametrize("k", [4, 6, 10, 20, 50])
def test_insensitive_blocks_stay_within_their_bound(k):
    points = corners(k)
    query = BlockSums(("x", "y"), k, len(points))
    axes = axes_of(SQUARE, ("x", "y"))
    sizes = block_sizes(len(points), k)[:, None]

    def means(records: np.ndarray) -> np.ndarray:
        table = Table(SQUARE, {"x": records[:, 0], "y": records[:, 1]})
        return query.answer(table).reshape(len(sizes), -1) / sizes / GRID

    bound = math.sqrt(len(sizes) * diameter(axes)[1]) / k
    assert query.sensitivity(SQUARE, Relation.REPLACE_ONE)[1] == pytest.approx(bound * k * GRID)
    worst = max(float(np.sqrt(((means(points) - means(other)) ** 2).sum())) for other in neighbours(points, k))
    assert 0 < worst <= bound + 1e-9


def test_the_published_form_says_so():
    course = plan(recipe(BetaKEps()), SQUARE)
    assert course.culprits
    (claim,) = course.steps[0].plan.claims
    assert "square" in claim.gaps[0]
