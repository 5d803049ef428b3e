"""Groups of people: those who share a level, a quarter of a number, or two of these; and how far each is from its real rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.groups import QUARTERS
from hushtable.measures.bins import Coded, coded, tables
from hushtable.measures.jackknife import LOTS
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import CODED, Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

BINS = 8
"""Quantile bins for numbers: few, for groups are small."""
WIDEST = 50
"""Bins of a column; of more levels the rarer ones count as one."""
COLUMNS = 16
"""Columns that are taken apart into groups: by role (quasi-identifier, secret, target), then other levels."""
CROSSED = 3
"""Of these, the columns of the fewest groups that are crossed with one another, quasi-identifiers first."""
MOST = 200
"""Groups of one partition, the largest."""
ROLES = (Role.QUASI, Role.SECRET, Role.TARGET, Role.PLAIN)


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups by one or two columns: the group of each row of each table, -1 for none."""

    columns: tuple[str, ...]
    labels: tuple[str, ...]
    groups: Mapping[str, Integers]
    """By table: train, release, control."""

    def rows(self, which: str) -> Integers:
        """How many rows of a table each group has."""
        return np.bincount(self.groups[which] + 1, minlength=len(self.labels) + 1)[1:]

    def large_enough(self, least: int, fresh: int) -> Partition:
        """Of groups that have enough training rows, and are not the whole table, the largest.

        Enough to expect ``fresh`` control rows, too. How many there are must not decide: groups of which the control happens to
        have many would be selected, and lie nearer to the training rows than they are.
        """
        train, everyone = self.rows("train"), len(self.groups["train"])
        enough = (train >= least) & (train * len(self.groups["control"]) >= fresh * everyone) & (train < everyone)
        own = np.sort(np.argsort(-train, kind="stable")[:MOST])
        own = own[enough[own]]
        place = np.full(len(self.labels) + 1, -1)
        place[own] = np.arange(len(own))
        return Partition(self.columns, tuple(self.labels[i] for i in own), {w: place[g] for w, g in self.groups.items()})

    def crossed(self, other: Partition) -> Partition:
        """Groups of people who share a group of both."""
        size = len(other.labels)
        labels = tuple(f"{a}, {b}" for a in self.labels for b in other.labels)
        groups = {w: np.where((g < 0) | (other.groups[w] < 0), -1, g * size + other.groups[w]) for w, g in self.groups.items()}
        return Partition(self.columns + other.columns, labels, groups)


def partitions(case: Case, least: int, fresh: int) -> list[Partition]:
    """By each column that has a role or levels, then by pairs; only groups of enough people, and no partition without one."""
    schema = case.train.schema
    named = [n for n in case.columns if schema[n].kind in CODED or schema[n].role is not Role.PLAIN]
    named = sorted(named, key=lambda name: ROLES.index(schema[name].role))[:COLUMNS]
    singles = [groups_by(case, name).large_enough(least, fresh) for name in named]
    singles = [partition for partition in singles if partition.labels]
    wide = sorted(
        (p for p in singles if len(p.labels) > 1), key=lambda p: (schema[p.columns[0]].role is not Role.QUASI, len(p.labels))
    )
    pairs = [a.crossed(b).large_enough(least, fresh) for a, b in combinations(wide[:CROSSED], 2)]
    return [*singles, *(pair for pair in pairs if pair.labels)]


def groups_by(case: Case, name: str) -> Partition:
    """By the levels of a column, or by the quarters of a number, and by missing."""
    column, own = case.train.schema[name], tables(case)
    if column.kind in CODED:
        cut = coded(case, BINS)
        labels = [f"{name} = {label}" for label in cut.bins[name].labels[:-1]]
        return Partition((name,), (*labels, f"{name} missing"), {which: cut.codes[which][name] for which in own})
    limits = case.train.quantiles(name, (0.25, 0.5, 0.75))
    groups = {}
    for which, table in own.items():
        values = table.floats(name)
        groups[which] = np.where(np.isnan(values), len(QUARTERS), np.searchsorted(limits, values, side="left"))
    return Partition((name,), (*(f"{name} {quarter}" for quarter in QUARTERS), f"{name} missing"), groups)


@dataclass(frozen=True, eq=False)
class Bars:
    """A column of the three tables in few bins: levels beyond the commonest count as one."""

    size: int
    codes: Mapping[str, Integers]

    @classmethod
    def of(cls, cut: Coded, name: str) -> Bars:
        """From the bins of the training rows."""
        size, codes = cut.size(name), {which: columns[name] for which, columns in cut.codes.items()}
        if size <= WIDEST:
            return cls(size, codes)
        place = np.full(size, WIDEST - 1)
        place[np.argsort(-cut.mass("train", name), kind="stable")[: WIDEST - 1]] = np.arange(WIDEST - 1)
        return cls(WIDEST, {which: place[code] for which, code in codes.items()})


@dataclass(frozen=True, eq=False)
class Draw:
    """How the rows of the three tables are compared: in parts of one size, and by lots, each of which is left out once."""

    parts: Mapping[str, Sequence[Integers]]
    """Of the training rows all; of the larger of release and control disjoint parts as large as the smaller."""
    lots: Mapping[str, Integers]
    """By table, the lot of each row."""

    @classmethod
    def of(cls, case: Case, most: int, rng: np.random.Generator) -> Draw:
        """By chance; at most so many parts."""
        size = min(case.release.rows, case.control.rows)
        parts = {"train": [np.arange(case.train.rows)]}
        for which in ("release", "control"):
            order = rng.permutation(case.tables[which].rows)
            parts[which] = [order[at * size : (at + 1) * size] for at in range(min(most, len(order) // size))]
        return cls(parts, {which: rng.permutation(table.rows) % LOTS for which, table in case.tables.items()})


def distances(partition: Partition, columns: Mapping[str, Bars], draw: Draw) -> dict[str, Floats]:
    """By table (release, control) and group, the mean over the other columns of the total variation from the training rows.

    The mean over parts of the table; 1 where a part has no row of the group, NaN if there is no other column. The first line is
    that of all rows, each further one leaves out a lot.
    """
    others = {name: bars for name, bars in columns.items() if name not in partition.columns}
    totals = {which: np.zeros((LOTS + 1, len(partition.labels))) for which in ("release", "control")}
    for bars in others.values():
        (truth,) = (_shares(partition, bars, draw, "train", rows) for rows in draw.parts["train"])
        for which, total in totals.items():
            for rows in draw.parts[which]:
                gap = np.abs(_shares(partition, bars, draw, which, rows) - truth).sum(2) / 2
                total += np.where(np.isnan(gap), 1.0, gap)
    return {w: total / (len(others) * len(draw.parts[w])) if others else total * np.nan for w, total in totals.items()}


def _shares(partition: Partition, bars: Bars, draw: Draw, which: str, rows: Integers) -> Floats:
    """The share of each bin within each group, of all rows and without each lot; NaN where the group has no row."""
    size = len(partition.labels) + 1
    cells = ((draw.lots[which] * size + partition.groups[which] + 1) * bars.size + bars.codes[which])[rows]
    counts = np.bincount(cells, minlength=LOTS * size * bars.size).reshape(LOTS, size, bars.size)[:, 1:]
    whole = counts.sum(0, keepdims=True)
    left = np.concatenate([whole, whole - counts]).astype(np.float64)
    held = left.sum(2, keepdims=True)
    return np.asarray(np.divide(left, held, out=np.full_like(left, np.nan), where=held > 0), dtype=np.float64)
