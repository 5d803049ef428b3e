"""Several histograms asked for in one query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.privacy.allowance import Allowance
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.measurement import Measurement
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes


@dataclass(frozen=True)
class Histograms:
    """Counts of the joint cells of each of some groups of columns, one histogram behind the other.

    What one record can change: it lies in exactly one cell of each of the m histograms, so adding or removing it changes
    m counts by 1: m in L1, sqrt(m) in L2. Replacing a record changes at most two counts of each by 1: 2m, and sqrt(2m).
    The noise that an allowance buys is the same as if it were split evenly among m queries.
    """

    groups: tuple[tuple[str, ...], ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """All columns of the groups."""
        return tuple(dict.fromkeys(name for group in self.groups for name in group))

    @property
    def counted(self) -> tuple[tuple[str, ...], ...]:
        """The groups."""
        return self.groups

    def finish(self, counts: Sequence[Integers]) -> Integers:
        """Row-major within each group."""
        return np.concatenate([own.ravel() for own in counts])

    def answer(self, table: Table) -> Integers:
        """Row-major within each group."""
        return self.finish([table.counts(group) for group in self.groups])

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once in each."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """One cell of each histogram, or two."""
        for group in self.groups:
            histogram_sizes(schema, group)
        ones = len(self.groups) * (1 if relation is Relation.ADD_REMOVE else 2)
        return float(ones), math.sqrt(ones), ones


def measured(vault: Vault, groups: tuple[tuple[str, ...], ...], part: Allowance) -> list[Measurement]:
    """A noisy histogram of each group, all together for this allowance."""
    shapes = [histogram_sizes(vault.schema, group) for group in groups]
    noisy = np.split(vault.spend(Histograms(groups), part), np.cumsum([math.prod(shape) for shape in shapes])[:-1])
    sigma = part.deviation(Histograms(groups), vault.schema)
    return [
        Measurement(group, counts.astype(np.float64).reshape(shape), sigma)
        for group, counts, shape in zip(groups, noisy, shapes, strict=True)
    ]


def measured_one(vault: Vault, columns: tuple[str, ...], part: Allowance) -> Measurement:
    """A noisy histogram of one group, for all of this allowance."""
    return measured(vault, (columns,), part)[0]


def measured_each(vault: Vault, groups: Sequence[tuple[str, ...]], part: Allowance) -> list[Measurement]:
    """A noisy histogram of each group, one query after the other, in equal parts of this allowance.

    The noise is that of ``measured``. For groups whose number a plan does not know: what one record can change of a query does
    not depend on it.
    """
    return [measured_one(vault, group, each) for group, each in zip(groups, part.split([1.0] * len(groups)), strict=True)]
