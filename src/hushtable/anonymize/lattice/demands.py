"""Which classes of a node satisfy k-anonymity by persons, l-diversity and t-closeness. Those that do not are suppressed.

A class of k persons, or of l distinct values in its rows, stays one when it is merged with others. So for these the suppressed
rows of a node are also suppressed at every node below it, and a search may rely on that. For entropy, recursive diversity and
t-closeness it is false: a class that holds may fail once it is merged with one that failed. There only what they imply (at least
l distinct values) is relied upon. Where people hold several rows it is false of l by persons too, which is never
more than l by rows.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.anonymize.lattice.nodes import Classes, Lattice
from hushtable.errors import InputError
from hushtable.privacy.preserve import Promise, Syntactic
from hushtable.privacy.spread import Spread
from hushtable.table.arrays import Floats, Integers, Mask

_TEXT = re.compile(r"(.+):(distinct|entropy|recursive|equal|ordered):(\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?))?")
DENSE = 4_000_000
"""The most counters held at once; above that the values of classes are sorted."""
_SLACK = 1e-9
"""Rounding of shares; the same as where promises are measured."""


@dataclass(frozen=True)
class Demand:
    """l-diversity (distinct, entropy, recursive) or t-closeness (equal, ordered) of one secret column."""

    secret: str
    variant: str
    value: float
    c: float = 2.0

    @classmethod
    def parse(cls, text: str) -> Demand:
        """Read ``secret:variant:value``, for recursive ``secret:recursive:l:c``."""
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise InputError(
                f"expected secret:variant:value with variant distinct, entropy, recursive, equal or ordered, got {text!r}",
                where="demands",
            )
        secret, variant, value, c = match.groups()
        return cls(secret, variant, float(value), float(c or 2.0))

    @property
    def close(self) -> bool:
        """Whether it is t-closeness."""
        return self.variant in ("equal", "ordered")

    @property
    def distinct(self) -> int:
        """How many distinct values a class needs at least if it is to hold: the part that merging cannot undo."""
        return 0 if self.close else math.ceil(self.value - _SLACK)

    def holds(self, spread: Spread) -> Mask:
        """For which classes it does."""
        if self.variant == "distinct":
            return np.asarray(spread.distinct() >= self.value - _SLACK)
        if self.variant == "entropy":
            return np.asarray(spread.entropy() >= self.value - _SLACK)
        if self.variant == "recursive":
            return np.asarray(spread.recursive(self.c) >= self.value - _SLACK)
        return np.asarray(spread.distances(ordered=self.variant == "ordered") <= self.value + _SLACK)

    def promise(self, quasi: tuple[str, ...]) -> Promise:
        """What is promised of the released table."""
        kind = Syntactic.T_CLOSENESS if self.close else Syntactic.L_DIVERSITY
        c = self.c if self.variant == "recursive" else 0.0
        return Promise(kind=kind, value=self.value, quasi=quasi, secret=self.secret, variant=self.variant, c=c)


@dataclass(frozen=True, eq=False)
class Judgement:
    """The judgement on the classes of a node: which of them stay, and how many rows are suppressed."""

    classes: Mask
    suppressed: int
    floor: int
    """So many rows are suppressed at this node and at every node below it."""
    starred: bool = False
    """Whether the suppressed rows may stay as ``*``: together they are a class that holds, or there are none."""
    people: int = 0
    """How many persons hold the suppressed rows."""


@dataclass(frozen=True, eq=False)
class Judge:
    """Decides which classes of a node stay.

    t-closeness compares with the rows that are released. If suppressed rows are dropped, that is what stays: a class that
    is too far from it goes, and the rest is compared again, until none goes. If they are kept as ``*`` it is the whole
    table, provided that the suppressed rows together are a class that holds: an outsider who misses somebody in every
    class knows that they are among these.
    """

    lattice: Lattice
    demands: tuple[Demand, ...] = ()
    reference: dict[str, tuple[Floats, ...]] = field(default_factory=dict)
    """For each secret the distribution of the table that its classes are compared with, where that is known beforehand: by rows,
    and by persons where they are known."""
    patient: bool = False
    """Rows of classes that do not hold are not suppressed yet: whether they would hold together does not matter."""

    @classmethod
    def of(cls, lattice: Lattice, demands: tuple[Demand, ...], *, star: bool) -> Judge:
        """Compare with the whole table, whose suppressed rows stay as ``*``, or with the rows that stay."""
        secrets = {d.secret for d in demands} if star else ()
        return cls(lattice, demands, {name: _wholes(lattice, name) for name in secrets})

    @cached_property
    def _whole(self) -> dict[str, tuple[Floats, ...]]:
        return {name: _wholes(self.lattice, name) for name in self.lattice.secrets}

    @property
    def merges(self) -> bool:
        """Whether classes that hold make one that holds: not where a person in both may share a value with all of the others."""
        return not self.demands or self.lattice.holders is None

    def keep(self, classes: Classes, k: int) -> Judgement:
        """Judge the classes of a node for one k."""
        large = classes.persons >= k
        if not self.demands:
            gone, people = int(classes.sizes[~large].sum()), self._people(classes, ~large)
            return Judgement(large, gone, gone, starred=gone == 0 or people >= k, people=people)
        spreads = {secret: self._spreads(classes, large, secret) for secret in {d.secret: None for d in self.demands}}
        floor, diverse = large.copy(), np.ones(int(large.sum()), bool)
        for demand in self.demands:
            floor[large] &= spreads[demand.secret][0].distinct() >= demand.distinct
            if not demand.close:
                diverse &= _all_hold(demand, spreads[demand.secret])
        near, starred = self._near(classes, large, diverse, spreads, k)
        stays = large.copy()
        stays[large] = near
        gone, floored = (int(classes.sizes[~some].sum()) for some in (stays, floor))
        return Judgement(stays, gone, floored, starred, self._people(classes, ~stays))

    def _people(self, classes: Classes, members: Mask) -> int:
        """How many persons these classes have together."""
        if self.lattice.holders is None:
            return int(classes.sizes[members].sum())
        return int(self.lattice.persons(np.where(members[classes.of], 0, -1), 1)[0])

    def _near(
        self, classes: Classes, large: Mask, candidates: Mask, spreads: dict[str, tuple[Spread, ...]], k: int
    ) -> tuple[Mask, bool]:
        """Which of the large classes are close enough to what is released, and whether the rest holds together as one class."""
        close = [d for d in self.demands if d.close]
        if self.reference:
            stays = candidates.copy()
            for demand in close:
                stays &= _all_hold(demand, spreads[demand.secret])
            gone = np.ones(len(large), bool)
            gone[large] = ~stays
            if self.patient or not gone.any() or self._one_class(classes, gone, k):
                return stays, True
        # Suppressed rows are dropped: each time some go, what the others are compared with changes.
        while close and candidates.any():
            stays = candidates.copy()
            for demand in close:
                stays &= _all_hold(demand, self._among(spreads[demand.secret], classes, large, candidates, demand.secret))
            if np.array_equal(stays, candidates):
                break
            candidates = stays
        return candidates, False

    def _one_class(self, classes: Classes, members: Mask, k: int) -> bool:
        """Whether these classes, taken as one, hold."""
        together = self.lattice.group([members[classes.of].astype(np.int32)], [2])
        alone = np.zeros(len(together.sizes), bool)
        alone[together.of[members[classes.of]]] = True
        holds = (_all_hold(d, self._spreads(together, alone, d.secret)).all() for d in self.demands)
        return bool(together.persons[alone].sum() >= k) and all(holds)

    def _spreads(self, classes: Classes, members: Mask, secret: str) -> tuple[Spread, ...]:
        """The secret's values in the classes that are members, numbered in their order: by rows, and by persons where known."""
        lattice, ranks, absent = self.lattice, self.lattice.secrets[secret], self.lattice.absent[secret]
        wholes = self.reference.get(secret, self._whole[secret])
        width, count = len(wholes[0]), int(members.sum())
        number = np.where(members, np.cumsum(members) - 1, -1)
        groups, values, counts = _tabulate(classes.of, number, ranks, lattice.counts, count, width)
        by_rows = Spread(groups, values, counts, wholes[0], absent)
        if lattice.holders is None:
            return (by_rows,)
        own = number[classes.of]
        cell = np.where(own >= 0, np.searchsorted(groups * width + values, own * width + ranks), -1)
        holders = lattice.holders.count(np.where(ranks != absent, own, -1), count)
        return by_rows, Spread(groups, values, lattice.holders.count(cell, len(groups)), wholes[1], absent, holders)

    def _among(
        self, spreads: tuple[Spread, ...], classes: Classes, large: Mask, candidates: Mask, secret: str
    ) -> tuple[Spread, ...]:
        """The spreads beside some of their classes only; values that none of these has are no steps of an order."""
        inside = large.copy()
        inside[large] = candidates
        wholes = _counts(self.lattice, secret, inside[classes.of])
        present = wholes[0] > 0
        rank = np.maximum(np.cumsum(present) - 1, 0)
        gone = spreads[0].absent
        absent = int(rank[gone]) if gone >= 0 and present[gone] else -1
        return tuple(
            replace(spread, values=rank[spread.values], whole=counts[present] / counts.sum(), absent=absent)
            for spread, counts in zip(spreads, wholes, strict=True)
        )


def _all_hold(demand: Demand, spreads: tuple[Spread, ...]) -> Mask:
    """For which classes a demand holds, however they are counted."""
    return np.asarray(np.logical_and.reduce([demand.holds(spread) for spread in spreads]), bool)


def _counts(lattice: Lattice, secret: str, inside: Mask) -> tuple[Integers, ...]:
    """How often each value of a secret stands in some of the tuples: by rows, and by persons where they are known."""
    ranks, width = lattice.secrets[secret], int(lattice.secrets[secret].max(initial=-1)) + 1
    rows = np.bincount(ranks[inside], lattice.counts[inside], minlength=width).astype(np.int64)
    return (rows,) if lattice.holders is None else (rows, lattice.holders.count(np.where(inside, ranks, -1), width))


def _wholes(lattice: Lattice, secret: str) -> tuple[Floats, ...]:
    """The share of each value in the whole table."""
    return tuple(c / max(int(c.sum()), 1) for c in _counts(lattice, secret, np.ones(len(lattice.counts), bool)))


def _tabulate(
    of: NDArray[np.int32], number: Integers, ranks: Integers, counts: Integers, classes: int, values: int
) -> tuple[Integers, Integers, Integers]:
    """(class, value, rows) of every value that a class has, in that order."""
    if classes * values <= DENSE:
        dense = _dense(of, number, ranks, counts, classes, values)
        cells = np.flatnonzero(dense)
        return cells // values, cells % values, dense[cells]
    inside = number[of] >= 0
    cells, place = np.unique(number[of[inside]] * values + ranks[inside], return_inverse=True)
    return cells // values, cells % values, np.bincount(place, counts[inside]).astype(np.int64)


@njit(cache=True)
def _dense(of, number, ranks, counts, classes, values):  # type: ignore[no-untyped-def]
    dense = np.zeros(classes * values, np.int64)
    for i in range(len(of)):
        at = number[of[i]]
        if at >= 0:
            dense[at * values + ranks[i]] += counts[i]
    return dense
