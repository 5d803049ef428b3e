"""Microaggregation: records in groups of at least k, each replaced by what its group has in common (A3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.anonymize import mdav
from hushtable.anonymize.anonymized import Anonymized
from hushtable.errors import InputError
from hushtable.pipeline.step import Core, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.vault import Vault
from hushtable.table.columns import CODED, Array, Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "microaggregation reads the rows"


class Centre(StrEnum):
    """What stands for the numbers of a group."""

    MEAN = "mean"
    MEDIAN = "median"


class Scale(StrEnum):
    """How columns are made comparable."""

    STANDARD = "standard"
    RANGE = "range"


@dataclass(frozen=True, kw_only=True)
class Microaggregate(Core):
    """MDAV for mixed tables: k-anonymity on the columns it replaces.

    Promises that every combination of the replaced columns is shared by at least k rows, and re-measures it on the
    table. One row can change every group, so there is no differential privacy. All other columns leave as they are.
    Domingo-Ferrer and Torra 2005.
    """

    k: int = 5
    """The least number of records in a group."""
    columns: tuple[str, ...] = ()
    """The columns to replace; all quasi-identifiers when empty."""
    centre: Centre = Centre.MEAN
    """mean or median for numbers and dates; ordinals take the median and categories the mode in any case."""
    scale: Scale = Scale.STANDARD
    """standard: differences over the standard deviation; range: over the width of the domain (Gower)."""

    def __post_init__(self) -> None:
        """K is at least 2: with 1 nothing is hidden."""
        check_knobs(self, k=(self.k >= 2, "must be at least 2"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that have no average: text, keys, cells."""
        columns = self._columns(schema)
        rest = [name for name in schema.names if name not in columns]
        caveats = ["k-anonymity says nothing about what the rows of a group have in common: look at l and t"]
        if rest:
            caveats.append(f"left as they were by the grouping: {', '.join(rest)}")
        promise = Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=columns)
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.EDIT_ROWS, promises=(promise,), caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Partition the rows and replace each group's values; ``rng`` is not needed."""
        table = vault.open(Raw(_WHY), _WHY)
        if table.rows < self.k:
            raise InputError(f"k = {self.k} is larger than the number of rows ({table.rows})", where="microaggregate.k")
        columns = self._columns(table.schema)
        space = _Space.of(table, columns, self.scale)
        groups = mdav.partition(space.numbers, space.codes, space.weights, self.k)
        vault.report(0.8)
        protected = (table.schema[name] for name in columns)
        released = table.with_columns(*((c, _representatives(c, table[c.name], groups, self.centre)) for c in protected))
        sizes = np.bincount(groups)
        result = {
            "k": self.k,
            "columns": list(columns),
            "groups": len(sizes),
            "smallest_group": int(sizes.min()),
            "largest_group": int(sizes.max()),
            **space.loss(groups),
        }
        return Anonymized(released, result)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        what = "a column that can be averaged (no text, key or generalized one)"
        return chosen(schema, self.columns, schema.quasi, "microaggregate", what, _can_be_averaged)


def _can_be_averaged(column: Column) -> bool:
    return not column.generalized and (column.numeric or column.kind in CODED)


@dataclass(frozen=True, eq=False)
class _Space:
    """The rows as points: numbers by squared difference, codes by a weight where they differ.

    Each column is scaled so that two random records differ by 2 in it on average (that is what the standard deviation
    does for a number), or, with ``Scale.RANGE``, so that the greatest difference is 1. A missing number sits at the
    mean and carries a code that differs from all present ones.
    """

    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table, columns: tuple[str, ...], scale: Scale) -> _Space:
        numbers, codes = [], []
        for name in columns:
            column, array = table.schema[name], table[name]
            missing = column.is_missing(array)
            if column.kind is Kind.CATEGORY:
                codes.append(np.where(missing, len(column.levels), array).astype(np.int32))
                continue
            numbers.append(_scaled(column, array, missing, scale))
            if missing.any():
                codes.append(missing.astype(np.int32))
        weights = np.array([_weight(c, scale) for c in codes])
        stacked = np.array(codes, dtype=np.int32).reshape(len(codes), table.rows)
        return cls(np.array(numbers).reshape(len(numbers), table.rows), stacked, weights)

    def loss(self, groups: NDArray[np.int64]) -> dict[str, Any]:
        """How much was averaged away: SSE of the numbers, and the loss over all columns (the same for codes by Gini)."""
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
        found: dict[str, Any] = {"loss_share": all_within / all_whole if all_whole else 0.0}
        if len(self.numbers):
            found |= {"sse": within, "sst": whole, "sse_share": within / whole if whole else 0.0}
        return found


def _scaled(column: Column, array: Array, missing: NDArray[np.bool_], scale: Scale) -> NDArray[np.float64]:
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


def _weight(codes: NDArray[np.int32], scale: Scale) -> float:
    if scale is Scale.RANGE:
        return 1.0
    shares = np.bincount(codes) / len(codes)
    unlike = float(1 - (shares**2).sum())
    return 2 / unlike if unlike > 0 else 0.0


def _representatives(column: Column, array: Array, groups: NDArray[np.int64], centre: Centre) -> Array:
    """Each row's group's mean, median or mode; missing where most of the group is."""
    missing = column.is_missing(array)
    sizes = np.bincount(groups)
    gone = np.bincount(groups, missing) * 2 > sizes
    if column.kind is Kind.CATEGORY:
        chosen_ = _modes(np.where(missing, -1, array).astype(np.int64), groups, len(column.levels))
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


def _modes(codes: NDArray[np.int64], groups: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    """The most frequent present code of each group, the smaller on a tie; -1 where there is none."""
    present = codes >= 0
    cells, counts = np.unique(groups[present] * levels + codes[present], return_counts=True)
    owner, code = cells // levels, cells % levels
    order = np.lexsort((-code, counts, owner))
    best = np.full(int(groups.max()) + 1, -1, np.int64)
    best[owner[order]] = code[order]
    return best


def _medians(values: NDArray[np.float64], missing: NDArray[np.bool_], groups: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """The lower median of the present values of each group."""
    kept = ~missing
    order = np.lexsort((values[kept], groups[kept]))
    ordered, owner = values[kept][order], groups[kept][order]
    sizes = np.bincount(owner, minlength=count)
    starts = np.cumsum(sizes) - sizes
    middle = np.minimum(starts + np.maximum(sizes - 1, 0) // 2, max(len(ordered) - 1, 0))
    return ordered[middle] if len(ordered) else np.zeros(count)
