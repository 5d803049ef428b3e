"""l-diversity and t-closeness of groups, by merging: k-anonymity first, and then no more than is needed.

Soria-Comas, Domingo-Ferrer, Sanchez and Martinez, "t-closeness through microaggregation: strict privacy with enhanced utility
preservation" (TKDE 2015), algorithm 1: while a group does not hold, the worst one is merged with the group whose centre is
nearest. l-diversity is asked for in the same way. All rows together are at distance 0 from the table, and no group can be
more diverse than the table, so it ends with groups that hold, or is refused at the outset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.anonymize.secrets import Diversity, moves
from hushtable.anonymize.space import Groups, Space
from hushtable.errors import Fault, InputError
from hushtable.privacy.criteria import Spread, ranks
from hushtable.table.table import Table

SLACK = 1e-10
"""Rounding that is forgiven; ten times less than the measurement of the release does."""


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What every group must keep of each secret; l = 0 and t = 1 ask for nothing."""

    l: float = 0.0  # noqa: E741
    diversity: Diversity = Diversity.DISTINCT
    c: float = 2.0
    t: float = 1.0

    def found(self, spread: Spread) -> NDArray[np.float64]:
        """The l of each group."""
        if self.diversity is Diversity.RECURSIVE:
            return spread.recursive(self.c).astype(np.float64)
        return np.asarray(spread.distinct() if self.diversity is Diversity.DISTINCT else spread.entropy(), dtype=np.float64)

    def lack(self, spread: Spread, *, ordered: bool) -> NDArray[np.float64]:
        """How much each group lacks: positive where it does not hold."""
        worst = np.zeros(len(spread.totals))
        if self.l > 0:
            worst = np.maximum(worst, 1 - self.found(spread) / self.l)
        if self.t < 1:
            worst = np.maximum(worst, spread.distances(ordered=ordered) - self.t)
        return np.where(worst > SLACK, worst, 0.0)


@dataclass(frozen=True, eq=False)
class _Secret:
    """The values of a secret as ranks, and the share of each in the whole table."""

    ranks: NDArray[np.int64]
    whole: NDArray[np.float64]
    ordered: bool
    absent: int
    """The rank of a missing value, -1 where there is none."""

    @classmethod
    def of(cls, table: Table, name: str) -> _Secret:
        own, count, absent = ranks(table, name)
        return cls(own, np.bincount(own, minlength=count) / max(len(own), 1), moves(table.schema[name]), absent)

    def spread(self, rows: NDArray[np.int64], groups: Groups) -> Spread:
        cells, counts = np.unique(groups * len(self.whole) + self.ranks[rows], return_counts=True)
        return Spread(cells // len(self.whole), cells % len(self.whole), counts, self.whole, self.absent)


def merge(
    space: Space,
    table: Table,
    groups: Groups,
    secrets: tuple[str, ...],
    demand: Demand,
    report: Callable[[float], None] = lambda share: None,
) -> Groups:
    """Groups that hold in every secret; InputError where not even all rows together do."""
    lines = [_Secret.of(table, name) for name in secrets]
    everything = np.arange(table.rows)
    _refuse(lines, secrets, demand, everything)
    lack = np.max([demand.lack(line.spread(everything, groups), ordered=line.ordered) for line in lines], axis=0)
    queue = [(-lack[g], g) for g in np.flatnonzero(lack).tolist()]
    heapify(queue)
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    centres, alive = space.centres(groups), np.ones(len(members), np.bool_)
    begun = max(len(queue), 1)
    while queue:
        _, g = heappop(queue)
        if not alive[g]:
            continue
        other = _nearest(centres.numbers, centres.codes, centres.weights, alive, g)
        rows = members[g] = np.concatenate([members[g], members[other]])
        alive[other], members[other] = False, rows[:0]
        one = np.zeros(len(rows), np.int64)
        merged = space.take(rows).centres(one)
        centres.numbers[:, g], centres.codes[:, g] = merged.numbers[:, 0], merged.codes[:, 0]
        left = max(float(demand.lack(line.spread(rows, one), ordered=line.ordered)[0]) for line in lines)
        if left > 0:
            heappush(queue, (-left, g))
        if len(queue) % 256 == 0:
            report(1 - len(queue) / begun)
    labels = np.empty(table.rows, np.int64)
    for label, g in enumerate(np.flatnonzero(alive).tolist()):
        labels[members[g]] = label
    return labels


def _refuse(lines: list[_Secret], secrets: tuple[str, ...], demand: Demand, rows: NDArray[np.int64]) -> None:
    """A group can be no more diverse than the whole table: distinct values, entropy and recursive diversity grow by merging."""
    if demand.l == 0:
        return
    faults = []
    for name, line in zip(secrets, lines, strict=True):
        most = float(demand.found(line.spread(rows, np.zeros(len(rows), np.int64)))[0])
        if most < demand.l - SLACK:
            reason = f"l = {demand.l:g} ({demand.diversity}) is more than the whole table has: at most {most:.4g} is possible"
            faults.append(Fault(f"microaggregate.l, column {name}", reason))
    if faults:
        raise InputError(faults)


@njit(cache=True)
def _nearest(numbers, codes, weights, alive, g):  # type: ignore[no-untyped-def]
    """The other group that is alive and whose centre is nearest, the earlier on a tie."""
    best, found = np.inf, -1
    for i in range(len(alive)):
        if not alive[i] or i == g:
            continue
        total = 0.0
        for j in range(numbers.shape[0]):
            total += (numbers[j, i] - numbers[j, g]) ** 2
        for j in range(codes.shape[0]):
            total += weights[j] if codes[j, i] != codes[j, g] else 0.0
        if total < best:
            best, found = total, i
    return found
