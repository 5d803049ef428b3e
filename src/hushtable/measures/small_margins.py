"""Margins of two and three columns, group by group: how far they lie from the training rows, and how far a bootstrap does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import gammaln

from hushtable.measures.bins import Coded
from hushtable.measures.contingency import joint
from hushtable.table.arrays import Floats, Integers

Margin = tuple[int, ...]
"""The places of its columns."""
SIDES = ("release", "control")


def some_margins(columns: int, size: int, most: int, seed: int) -> list[Margin]:
    """All margins of so many columns each, or as many as wanted, drawn by a seed and so the same for every release of a table."""
    total = np.prod([columns - i for i in range(size)]) / np.prod(np.arange(1, size + 1))
    if total <= most:
        return list(combinations(range(columns), size))
    rng = np.random.default_rng(seed)
    drawn: set[Margin] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(rng.choice(columns, size, replace=False).tolist())))
    return sorted(drawn)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Coded rows of the three tables, each in one of some groups."""

    sizes: tuple[int, ...]
    """The cells of each column."""
    codes: Mapping[str, Sequence[Integers]]
    """By table (train, release, control), then by column: the cell of each row."""
    groups: Mapping[str, Integers]
    """By table: the group of each row."""
    rows: Mapping[str, Floats]
    """By table: the rows of each group."""

    @classmethod
    def of(cls, cells: Coded, columns: Sequence[str], groups: Mapping[str, Integers] | None = None) -> Grouped:
        """These columns; rows of group -1 are left out. Without groups all rows are one."""
        if groups is None:
            groups = {which: np.zeros(len(next(iter(own.values()))), np.int64) for which, own in cells.codes.items()}
        inside = {which: np.flatnonzero(group >= 0) for which, group in groups.items()}
        number = 1 + max(int(group.max(initial=0)) for group in groups.values())
        # Cells that no row holds are left out, so that most margins of three columns are small enough to lay out.
        held = [np.flatnonzero(sum(cells.counts(which, name) for which in cells.codes)) for name in columns]
        place = [np.zeros(cells.size(name), np.int64) for name in columns]
        for one, own in zip(place, held, strict=True):
            one[own] = np.arange(len(own))
        codes = {
            which: [one[own[name][inside[which]]] for one, name in zip(place, columns, strict=True)]
            for which, own in cells.codes.items()
        }
        kept = {which: group[inside[which]] for which, group in groups.items()}
        rows = {which: np.bincount(group, minlength=number).astype(np.float64) for which, group in kept.items()}
        return cls(tuple(map(len, held)), codes, kept, rows)

    def cells(self, which: str, margin: Margin) -> Integers:
        """The cell of each row in a margin, those of another group being other cells."""
        cell = self.groups[which]
        for at in margin:
            cell = cell * self.sizes[at] + self.codes[which][at]
        return cell


@dataclass(eq=False)
class Distances:
    """Total variations of the margins of one size from the training rows, for each group, with what their intervals need."""

    margins: Sequence[Margin]
    variation: dict[str, Floats]
    """By table (release, control): margins x groups."""
    bootstrap: Floats
    """Groups: the mean over margins that a bootstrap of the training rows is expected to have."""
    pull: dict[str, Floats]
    """By table (train, release): by how much each row moves the mean, to first order and but for the size of its group."""


def distances(grouped: Grouped, margins: Sequence[Margin], drawn: Floats) -> Distances:
    """Over these margins; ``drawn`` is how many rows a bootstrap has of each group."""
    count = len(drawn)
    variation = {which: np.zeros((len(margins), count)) for which in SIDES}
    pull = {which: np.zeros(len(grouped.groups[which])) for which in ("train", "release")}
    bootstrap, offsets, expected = np.zeros(count), *_expected(grouped.rows["train"], drawn)
    for at, margin in enumerate(margins):
        size = int(np.prod([grouped.sizes[i] for i in margin]))
        cells = {which: grouped.cells(which, margin) for which in grouped.codes}
        index, counts = joint(cells, count * size)
        group = index // size
        share = {which: own / np.maximum(grouped.rows[which][group], 1) for which, own in counts.items()}
        for which in SIDES:
            apart = np.bincount(group, np.abs(share[which] - share["train"]), count) / 2
            # A group without a row has nothing in common with the real one.
            variation[which][at] = np.where(grouped.rows[which] > 0, apart, 1.0)
        bootstrap += np.bincount(group, expected[offsets[group] + counts["train"]], count) / (2 * len(margins))
        side = np.sign(share["release"] - share["train"]) / (2 * len(margins))
        for which, sign in (("release", 1), ("train", -1)):
            pull[which] += sign * _gathered(side, index, cells[which], count * size)
    return Distances(margins, variation, bootstrap, pull)


def _gathered(values: Floats, index: Integers, cells: Integers, size: int) -> Floats:
    """For each row what stands at its cell."""
    if size <= 4 * len(cells):
        laid = np.zeros(size)
        laid[index] = values
        return np.asarray(laid[cells])
    return np.asarray(values[np.searchsorted(index, cells)])


def _expected(rows: Floats, drawn: Floats) -> tuple[Integers, Floats]:
    """For each group and each count of its rows in a cell, how far the share of that cell is expected to move in a bootstrap.

    The count in a bootstrap of n rows is binomial, and its mean absolute deviation is 2 v C(n, v) p^v (1 - p)^(n - v + 1) with
    v = floor(n p) + 1 (De Moivre 1730; Diaconis and Zabell 1991): nothing needs to be drawn. Also where each group begins.
    """
    tables = []
    for total, n in zip(rows, np.maximum(drawn, 1.0), strict=True):
        p = np.arange(1, int(total)) / max(total, 1.0)
        v = np.floor(n * p + 1e-9) + 1
        log = np.log(2 * v) + gammaln(n + 1) - gammaln(v + 1) - gammaln(n - v + 1) + v * np.log(p) + (n - v + 1) * np.log1p(-p)
        # A cell that no row or every row holds does not move.
        tables.append(np.concatenate([[0.0], np.exp(log) / n, [0.0]]))
    return np.cumsum([0, *map(len, tables[:-1])]), np.concatenate(tables)
