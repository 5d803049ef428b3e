"""Neighbouring tables that tell apart averages of clusters which claim to be differentially private."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SQUARE = Schema(
    (
        *(Column(name=n, kind=Kind.REAL, domain=Bounds(0.0, 1.0), required=True) for n in ("x", "y")),
        Column(name="class", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")), required=True),
    )
)


def square(l: int, first: tuple[float, float] = (0.0, 0.0)) -> Table:  # noqa: E741
    """l/2 records of one class on each corner of the unit square; the first record lies elsewhere."""
    points = np.repeat(np.array(list(product((0.0, 1.0), repeat=2))), l // 2, axis=0)
    points[0] = first
    return _table(points, np.zeros(len(points)))


def flipped(l: int) -> tuple[Table, Table]:  # noqa: E741
    """Two tables that differ in one record, whose best clusters of l records lie across one another."""
    return square(l, (0.0, 0.2)), square(l, (0.2, 0.0))


def counted(l: int, missing: int = 0) -> Table:  # noqa: E741
    """2l records of one class, less so many, beside 2l records of another."""
    rng = np.random.default_rng(0)
    rows = 4 * l - missing
    return _table(rng.random((rows, 2)), np.arange(rows) >= 2 * l - missing)


def moved(one: np.ndarray, two: np.ndarray) -> float:
    """The least L2 distance of two sets of centres, however they are paired."""
    return min(float(np.sqrt(((one - two[list(order)]) ** 2).sum())) for order in permutations(range(len(two))))


def _table(points: np.ndarray, labels: np.ndarray) -> Table:
    return Table(SQUARE, {"x": points[:, 0].copy(), "y": points[:, 1].copy(), "class": labels.astype(np.int32)})
