"""The worst beside the mean: of a number of the whole table, the column, pair or group that is furthest from real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.evidence.finding import Better, Finding, Subject
from hushtable.table import lenient

MEAN = "mean "
"""Begins the name of a mean; the same without it is the name of that of one column."""


@dataclass(frozen=True)
class Worst:
    """Which part is the worst, and its number, in the unit of the mean."""

    scope: str
    value: float


def worst_part(mean: Finding, findings: Sequence[Finding]) -> Worst | None:
    """The worst part of a measure of utility of the whole table; None for one that is no mean, or whose parts are not known.

    Its parts are findings of the same audit for single columns or groups, or pairs of columns that it brought itself.
    """
    if mean.scope or mean.value is None or mean.subject is not Subject.UTILITY:
        return None
    names = (mean.name, mean.name.removeprefix(MEAN))
    parts = [Worst(f.scope, f.value) for f in findings if f.scope and f.name in names and f.value is not None] or _pairs(mean)
    pick = min if mean.better is Better.HIGHER else max
    return pick(parts, key=lambda part: part.value, default=None)


def _pairs(mean: Finding) -> list[Worst]:
    """The distance of each pair of columns: as it was measured, or the difference between both tables."""
    columns, distance, train, release = (mean.detail.get(key) for key in ("columns", "distance", "train", "release"))
    if not isinstance(columns, list):
        return []
    places = [(i, j) for i in range(len(columns)) for j in range(i)]
    if isinstance(distance, list):
        values = [_entry(distance, i, j) for i, j in places]
    else:
        both = [(_entry(train, i, j), _entry(release, i, j)) for i, j in places]
        values = [None if one is None or two is None else abs(one - two) for one, two in both]
    return [
        Worst(f"{columns[j]} and {columns[i]}", value) for (i, j), value in zip(places, values, strict=True) if value is not None
    ]


def _entry(matrix: object, i: int, j: int) -> float | None:
    """One number of a matrix as it was read from a file; None where there is none."""
    row = matrix[i] if isinstance(matrix, list) and i < len(matrix) else None
    return lenient.finite(row[j]) if isinstance(row, list) and j < len(row) else None
