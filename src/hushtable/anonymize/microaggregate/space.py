"""The space that records are grouped in: distances over columns of every kind, and the centres that replace a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.numerics.manifold.ambient import unlike
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.table import Table


class Centre(StrEnum):
    """The value that replaces those of a group."""

    MEAN = "mean"
    MEDIAN = "median"
    MEDOID = "medoid"


class Scale(StrEnum):
    """The unit in which differences of a column are measured."""

    STANDARD = "standard"
    RANGE = "range"


@dataclass(frozen=True)
class Loss:
    """Squared errors: of the numbers, and over all columns (where codes count by their Gini impurity)."""

    within: float = 0.0
    whole: float = 0.0
    all_within: float = 0.0
    all_whole: float = 0.0
    numeric: bool = False

    def __add__(self, other: Loss) -> Loss:
        """Of two sets of columns together."""
        return Loss(
            self.within + other.within, self.whole + other.whole, self.all_within + other.all_within,
            self.all_whole + other.all_whole, self.numeric or other.numeric,
        )  # fmt: skip

    def summary(self, *, absolute: bool = True) -> dict[str, Any]:
        """For the card; the errors themselves only if ``absolute``.

        In four digits: with more, who knows all values but one could compute that one.
        """
        errors = {"loss_share": self.all_within / self.all_whole if self.all_whole else 0.0}
        if self.numeric:
            share = self.within / self.whole if self.whole else 0.0
            if absolute:
                errors |= {"sse": self.within, "sst": self.whole}
            errors["sse_share"] = share
        return {name: float(f"{value:.4g}") for name, value in errors.items()}


@dataclass(frozen=True, eq=False)
class Space:
    """The rows as points: numbers by squared difference, codes by a weight where they differ.

    Each column is scaled so that two random records differ by 2 in it on average (that is what the standard deviation
    does for a number), or, with ``Scale.RANGE``, so that the greatest difference is 1. A missing number sits at the
    mean and carries a code that differs from all present ones. A column with a weight of its own counts so many times.
    """

    numbers: Floats
    """Columns x rows."""
    codes: NDArray[np.int32]
    weights: Floats

    @classmethod
    def of(cls, table: Table, columns: tuple[str, ...], scale: Scale, weights: Mapping[str, float] | None = None) -> Space:
        """The rows of a table in these columns."""
        numbers, codes, costs = [], [], []
        for name in columns:
            column, array = table.schema[name], table[name]
            own = (weights or {}).get(name, 1.0)
            missing = column.is_missing(array)
            if column.kind is Kind.CATEGORY:
                codes.append(np.where(missing, len(column.levels), array).astype(np.int32))
                costs.append(own * (1.0 if scale is Scale.RANGE else unlike(codes[-1])))
                continue
            numbers.append(_scaled(column, array, missing, scale) * own**0.5)
            if missing.any():
                codes.append(missing.astype(np.int32))
                costs.append(own * (1.0 if scale is Scale.RANGE else unlike(codes[-1])))
        stacked = np.array(codes, dtype=np.int32).reshape(len(codes), table.rows)
        return cls(np.array(numbers).reshape(len(numbers), table.rows), stacked, np.array(costs))

    @property
    def rows(self) -> int:
        """How many points."""
        return int(self.numbers.shape[1])

    def take(self, rows: Integers) -> Space:
        """Some of the points."""
        return Space(self.numbers[:, rows], self.codes[:, rows], self.weights)

    def centres(self, groups: Integers) -> Space:
        """The mean and the modes of each group, as points."""
        sizes = np.bincount(groups)
        means = np.array([np.bincount(groups, row) / sizes for row in self.numbers]).reshape(len(self.numbers), len(sizes))
        modes = [_modes(row.astype(np.int64), groups, int(row.max()) + 1) for row in self.codes]
        return Space(means, np.array(modes, np.int32).reshape(len(modes), len(sizes)), self.weights)

    def distances(self, other: Space) -> Floats:
        """Squared, from each point to the one that has the same number in another space (or to its only one)."""
        total = np.zeros(max(self.rows, other.rows))
        for row, value in zip(self.numbers, other.numbers, strict=True):
            total += (row - value) ** 2
        for row, code, weight in zip(self.codes, other.codes, self.weights, strict=True):
            total += np.where(row != code, weight, 0.0)
        return total

    def medoids(self, groups: Integers) -> Integers:
        """For each group the row that has the least sum of squared distances to the others, the smaller on a tie.

        That sum is the size of the group times the squared distance to its mean, and for each code its weight times the
        number of members that have another one; so no pair of rows has to be compared.
        """
        sizes = np.bincount(groups)
        centres = self.centres(groups)
        numbers = Space(self.numbers, self.codes[:0], self.weights[:0])
        cost = sizes[groups] * numbers.distances(Space(centres.numbers[:, groups], self.codes[:0], self.weights[:0]))
        for row, weight in zip(self.codes, self.weights, strict=True):
            _, cell, counts = np.unique(groups * (int(row.max()) + 1) + row, return_inverse=True, return_counts=True)
            cost += weight * (sizes[groups] - counts[cell])
        order = np.lexsort((np.arange(self.rows), cost, groups))
        return np.asarray(order[np.cumsum(sizes) - sizes], dtype=np.int64)

    def errors(self, groups: Integers) -> Loss:
        """How much averaging takes away."""
        sizes = np.bincount(groups)
        within = whole = 0.0
        for row in self.numbers:
            means = np.bincount(groups, row) / sizes
            within += float(((row - means[groups]) ** 2).sum())
            whole += float(((row - row.mean()) ** 2).sum())
        all_within, all_whole = within, whole
        for row, weight in zip(self.codes, self.weights, strict=True):
            levels = int(row.max()) + 1
            cells, counts = np.unique(groups * levels + row, return_counts=True)
            all_within += weight / 2 * float(len(row) - (counts**2 / sizes[cells // levels]).sum())
            all_whole += weight / 2 * float(len(row) - (np.bincount(row) ** 2).sum() / len(row))
        return Loss(within, whole, float(all_within), float(all_whole), len(self.numbers) > 0)

    def loss(self, groups: Integers) -> dict[str, Any]:
        """The errors for the card: SSE of the numbers, and the loss over all columns (the same for codes by Gini)."""
        return self.errors(groups).summary()


def _scaled(column: Column, array: Array, missing: Mask, scale: Scale) -> Floats:
    values = np.where(missing, np.nan, array.astype(np.float64))
    if missing.all():
        return np.zeros(len(values))
    centred = np.nan_to_num(values - np.nanmean(values))
    if scale is Scale.STANDARD:
        spread = float(np.nanstd(values))
    elif isinstance(column.domain, Bounds):
        spread = column.domain.high - column.domain.low
    else:
        spread = len(column.levels) - 1.0
    return np.asarray(centred / spread if spread > 0 else np.zeros(len(values)))


def representatives(column: Column, array: Array, groups: Integers, centre: Centre) -> Array:
    """Each row's group's mean, median or mode; missing where most of the group is. A medoid is a row: see ``Space.medoids``."""
    missing = column.is_missing(array)
    sizes = np.bincount(groups)
    gone = np.bincount(groups, missing) * 2 > sizes
    if column.kind is Kind.CATEGORY:
        chosen_: Array = _modes(np.where(missing, -1, array).astype(np.int64), groups, len(column.levels))
        gone |= chosen_ < 0
    elif column.kind is Kind.ORDINAL or centre is Centre.MEDIAN:
        chosen_ = _medians(array.astype(np.float64), missing, groups, len(sizes))
    else:
        present = np.bincount(groups, ~missing)
        totals = np.bincount(groups, np.where(missing, 0.0, array.astype(np.float64)))
        chosen_ = totals / np.maximum(present, 1)
    if column.coded:
        return np.where(gone, -1, chosen_).astype(np.int32)[groups]
    return column.from_floats(np.where(gone, np.nan, chosen_).astype(np.float64))[groups]


def _modes(codes: Integers, groups: Integers, levels: int) -> Integers:
    """The most frequent present code of each group, the smaller on a tie; -1 where there is none."""
    present = codes >= 0
    cells, counts = np.unique(groups[present] * levels + codes[present], return_counts=True)
    owner, code = cells // levels, cells % levels
    order = np.lexsort((-code, counts, owner))
    best = np.full(int(groups.max()) + 1, -1, np.int64)
    best[owner[order]] = code[order]
    return best


def _medians(values: Floats, missing: Mask, groups: Integers, count: int) -> Floats:
    """The lower median of the present values of each group."""
    present = ~missing
    order = np.lexsort((values[present], groups[present]))
    ordered, owner = values[present][order], groups[present][order]
    sizes = np.bincount(owner, minlength=count)
    starts = np.cumsum(sizes) - sizes
    middle = np.minimum(starts + np.maximum(sizes - 1, 0) // 2, max(len(ordered) - 1, 0))
    return ordered[middle] if len(ordered) else np.zeros(count)
