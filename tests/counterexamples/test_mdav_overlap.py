"""MDAV that forms its two groups from the same records overlaps; ours is a partition into groups of k to 2k - 1, and ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hushtable.anonymize.microaggregate import mdav
from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.pipeline.run import release
from hushtable.privacy.criteria import Classes, k_anonymity
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.cases import recipe
from tests.unit.privacy.exact import judge

Groups = list[list[int]]


def shapes(rows: int) -> dict[str, np.ndarray]:
    """Records that are all alike, in a line, at random, in two heaps, and one far from all others."""
    rng = np.random.default_rng(rows)
    return {
        "identical": np.zeros((2, rows)),
        "line": np.arange(rows, dtype=float).reshape(1, rows),
        "random": rng.normal(size=(3, rows)),
        "two heaps": np.where(np.arange(rows) % 2, 0.0, 9.0).reshape(1, rows),
        "outlier": np.where(np.arange(rows) == 0, 1e9, 0.0).reshape(1, rows),
    }


def ours(numbers: np.ndarray, k: int) -> Groups:
    codes, weights = np.empty((0, numbers.shape[1]), np.int32), np.empty(0)
    labels = mdav.partition(numbers, codes, weights, k)
    return [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]


def overlapping(numbers: np.ndarray, k: int) -> Groups:
    """Picks both groups before it takes either away, as the algorithm is often printed and coded."""
    free, groups = np.arange(numbers.shape[1]), []

    def nearest(record: int) -> list[int]:
        distances = ((numbers[:, free] - numbers[:, [record]]) ** 2).sum(0)
        return free[np.argsort(distances, kind="stable")[:k]].tolist()

    while len(free) >= 3 * k:
        centre = numbers[:, free].mean(1, keepdims=True)
        one = free[((numbers[:, free] - centre) ** 2).sum(0).argmax()]
        two = free[((numbers[:, free] - numbers[:, [one]]) ** 2).sum(0).argmax()]
        pair = [nearest(one), nearest(two)]
        groups += pair
        free = np.setdiff1d(free, np.concatenate(pair))
    return [*groups, free.tolist()] if len(free) else groups


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize(("algorithm", "holds"), [(ours, True), (overlapping, False)])
def test_every_record_is_in_one_group_of_k_to_2k_less_one(algorithm, holds, k):
    def check(algorithm: Callable[[np.ndarray, int], Groups]) -> None:
        for rows in range(k, 5 * k + 1):
            for name, numbers in shapes(rows).items():
                groups = algorithm(numbers, k)
                assert sorted(np.concatenate(groups)) == list(range(rows)), (name, rows)
                assert all(k <= len(group) < 2 * k for group in groups), (name, rows)

    judge(check, algorithm, holds=holds)


@pytest.mark.parametrize("k", [2, 5])
def test_codes_alone_and_mixed_with_numbers_are_partitioned_too(k):
    for rows in range(k, 5 * k + 1):
        rng = np.random.default_rng(rows)
        for numbers in (np.empty((0, rows)), rng.normal(size=(1, rows))):
            for codes in (np.zeros((1, rows), np.int32), rng.integers(0, 3, (2, rows)).astype(np.int32)):
                sizes = np.bincount(mdav.partition(numbers, codes, np.ones(len(codes)), k))
                assert sizes.sum() == rows
                assert sizes.min() >= k
                assert sizes.max() < 2 * k


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_released_table_is_k_anonymous_for_every_number_of_rows(k):
    age = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99))
    for rows in range(k, 5 * k + 1):
        for ages in (np.full(rows, 7), np.arange(rows), np.random.default_rng(rows).integers(0, 100, rows)):
            released = release(Table(Schema((age,)), {"age": ages.astype(np.int64)}), recipe(Microaggregate(k=k)))
            assert k_anonymity(Classes(released.table, ("age",))) >= k
            assert released.table.rows == rows
