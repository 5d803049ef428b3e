"""Groups merged until each has k persons, l-diverse and t-close secrets, and no more than is needed for that.

Soria-Comas, Domingo-Ferrer, Sanchez and Martinez, "t-closeness through microaggregation: strict privacy with enhanced utility
preservation" (TKDE 2015), algorithm 1: while a group does not hold, the worst one is merged with the group whose centre is
nearest. l-diversity, and k persons where people hold several rows, are asked for in the same way. In the end all rows are one
group, at distance 0 from the table: if not even that one holds, it is refused at the outset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import numpy as np
from numba import njit

from hushtable.anonymize.microaggregate.space import Space
from hushtable.anonymize.secrets import Diversity, moves
from hushtable.errors import Fault, InputError
from hushtable.privacy.spread import Secret, Spread, heads
from hushtable.table.arrays import Floats, Integers
from hushtable.table.table import Table

SLACK = 1e-10
"""Rounding that is forgiven; ten times less than the measurement of the release does."""


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What is demanded of every group: k persons, and l and t of each secret; k = 1, l = 0 and t = 1 ask for nothing."""

    k: int = 1
    l: float = 0.0  # noqa: E741
    diversity: Diversity = Diversity.DISTINCT
    c: float = 2.0
    t: float = 1.0

    def diversity_of(self, spread: Spread) -> Floats:
        """The l of each group, by rows or by persons."""
        if self.diversity is Diversity.RECURSIVE:
            return spread.recursive(self.c).astype(np.float64)
        return np.asarray(spread.distinct() if self.diversity is Diversity.DISTINCT else spread.entropy(), dtype=np.float64)

    def lack(self, spread: Spread, *, ordered: bool) -> Floats:
        """How much each group lacks: positive where it does not hold."""
        worst = np.zeros(len(spread.totals))
        if self.l > 0:
            worst = np.maximum(worst, 1 - self.diversity_of(spread) / self.l)
        if self.t < 1:
            worst = np.maximum(worst, spread.distances(ordered=ordered) - self.t)
        return np.where(worst > SLACK, worst, 0.0)


@dataclass(frozen=True, eq=False)
class _Judge:
    """What groups of the rows of a table lack."""

    demand: Demand
    persons: Integers | None
    secrets: dict[str, Secret] = field(default_factory=dict)
    ordered: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, secrets: tuple[str, ...], demand: Demand) -> _Judge:
        ordered = {name: moves(table.schema[name]) for name in secrets}
        return cls(demand, table.persons, {name: Secret.of(table, name) for name in secrets}, ordered)

    def lack(self, rows: Integers, groups: Integers) -> Floats:
        """For each group of these rows the most that it lacks: positive where it does not hold."""
        persons = heads(groups, None if self.persons is None else self.persons[rows])
        worst = np.maximum(0.0, 1 - persons / self.demand.k)
        for name, secret in self.secrets.items():
            for spread in secret.spreads(groups, rows):
                worst = np.maximum(worst, self.demand.lack(spread, ordered=self.ordered[name]))
        return worst

    def refuse(self) -> None:
        """InputError where not even all rows together are so diverse: all other demands they do keep."""
        faults = []
        for name, secret in self.secrets.items():
            together = secret.spreads(np.zeros(len(secret.ranks), np.int64))
            most = min(float(self.demand.diversity_of(spread)[0]) for spread in together)
            if most < self.demand.l - SLACK:
                reason = f"l = {self.demand.l:g} ({self.demand.diversity}) is more than the whole table has"
                faults.append(Fault(f"microaggregate.l, column {name}", f"{reason}: at most {most:.4g} is possible"))
        if faults:
            raise InputError(faults)


def merge(
    space: Space,
    table: Table,
    groups: Integers,
    secrets: tuple[str, ...],
    demand: Demand,
    report: Callable[[float], None] = lambda share: None,
) -> Integers:
    """Groups that hold what is demanded; InputError where not even all rows together do."""
    judge = _Judge.of(table, secrets, demand)
    judge.refuse()
    lack = judge.lack(np.arange(table.rows), groups)
    if not lack.any():
        return groups
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
        left = float(judge.lack(rows, one)[0])
        if left > 0:
            heappush(queue, (-left, g))
        if len(queue) % 256 == 0:
            report(1 - len(queue) / begun)
    labels = np.empty(table.rows, np.int64)
    for label, g in enumerate(np.flatnonzero(alive).tolist()):
        labels[members[g]] = label
    return labels


@njit(cache=True)
def _nearest(numbers, codes, weights, alive, g):  # type: ignore[no-untyped-def]
    """The other group that is alive and whose centre is nearest, the earlier on a tie."""
    best, other = np.inf, -1
    for i in range(len(alive)):
        if not alive[i] or i == g:
            continue
        total = 0.0
        for j in range(numbers.shape[0]):
            total += (numbers[j, i] - numbers[j, g]) ** 2
        for j in range(codes.shape[0]):
            total += weights[j] if codes[j, i] != codes[j, g] else 0.0
        if total < best:
            best, other = total, i
    return other
