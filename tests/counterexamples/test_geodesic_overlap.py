"""M-MDAV as printed forms both groups from the same records, and never empties what is left; ours is a partition, and ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hushtable.anonymize.microaggregate.geodesic import Centre, Geodesic
from hushtable.anonymize.microaggregate.geodesic_groups import partition
from hushtable.numerics.manifold.geodesics import Paths
from hushtable.numerics.manifold.graph import neighbourhood
from hushtable.pipeline.run import release
from hushtable.privacy.criteria import Classes, k_anonymity
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.cases import recipe
from tests.unit.privacy.exact import judge

Groups = list[list[int]]


def shapes(rows: int) -> dict[str, np.ndarray]:
    """Records that are all alike, in a line, at random, in two heaps that no link joins, and one far from all others."""
    rng = np.random.default_rng(rows)
    return {
        "identical": np.zeros((rows, 2)),
        "line": np.arange(rows, dtype=float).reshape(rows, 1),
        "random": rng.normal(size=(rows, 3)),
        "two heaps": np.where(np.arange(rows) % 2, 0.0, 9.0).reshape(rows, 1) + 0.1 * rng.random((rows, 1)),
        "outlier": np.where(np.arange(rows) == 0, 1e9, 0.0).reshape(rows, 1),
    }


def located(points: np.ndarray) -> tuple[Paths, np.ndarray]:
    places, point_of = np.unique(points, axis=0, return_inverse=True)
    return Paths.of(neighbourhood(places, 2)), point_of.ravel().astype(np.int64)


def ours(points: np.ndarray, k: int) -> Groups:
    paths, point_of = located(points)
    labels = partition(paths, point_of, k, anchors=len(points), order=np.arange(len(points)))
    return [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]


def as_printed(points: np.ndarray, k: int) -> Groups:
    """Both groups from the same records, and in the branch of 2k to 3k nothing is taken away: it would repeat for ever."""
    paths, point_of = located(points)
    far = paths.matrix(np.arange(paths.size))[np.ix_(point_of, point_of)]
    free, groups = np.arange(len(points)), []
    for _ in range(len(points)):
        if not len(free):
            return groups
        median = free[(far[np.ix_(free, free)] ** 2).sum(axis=1).argmin()]
        r = free[far[median, free].argmax()]
        nearest = [free[np.argsort(far[x, free], kind="stable")[:k]] for x in (r, free[far[r, free].argmax()])]
        if len(free) >= 3 * k:
            groups += [group.tolist() for group in nearest]
            free = np.setdiff1d(free, np.concatenate(nearest))
        elif len(free) >= 2 * k:
            groups += [nearest[0].tolist(), np.setdiff1d(free, nearest[0]).tolist()]
        else:
            groups.append(free.tolist())
            free = free[:0]
    raise AssertionError("it does not end")


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(("algorithm", "holds"), [(ours, True), (as_printed, False)])
def test_every_record_is_in_one_group_of_k_to_2k_less_one(algorithm, holds, k):
    def check(algorithm: Callable[[np.ndarray, int], Groups]) -> None:
        for rows in range(k, 5 * k + 1):
            for name, points in shapes(rows).items():
                groups = algorithm(points, k)
                assert sorted(np.concatenate(groups)) == list(range(rows)), (name, rows)
                assert all(k <= len(group) < 2 * k for group in groups), (name, rows)

    judge(check, algorithm, holds=holds)


@pytest.mark.parametrize("centre", Centre)
def test_the_released_table_is_k_anonymous_for_every_number_of_rows(centre):
    age = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99))
    for rows in range(3, 16):
        for ages in (np.full(rows, 7), np.arange(rows), np.random.default_rng(rows).integers(0, 100, rows)):
            table = Table(Schema((age,)), {"age": ages.astype(np.int64)})
            released = release(table, recipe(Geodesic(k=3, neighbours=2, centre=centre)))
            assert k_anonymity(Classes(released.table, ("age",))) >= 3
            assert released.table.rows == rows
