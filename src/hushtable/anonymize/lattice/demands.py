"""What a class must be to stay: k rows, and l-diversity or t-closeness of secrets. Classes that are not are suppressed.

A class of k rows, or of l distinct values, stays one when it is merged with others. So for these the suppressed rows of a
node are also suppressed at every node below it, and a search may rely on that. For entropy, recursive diversity and
t-closeness it is false: a class that holds may fail once it is merged with one that failed. There only what they imply
(at least l distinct values) is relied upon.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.anonymize.lattice.nodes import Classes, Floats, Integers, Lattice
from hushtable.errors import InputError
from hushtable.privacy.criteria import Spread
from hushtable.privacy.preserve import Promise, Syntactic

_TEXT = re.compile(r"(.+):(distinct|entropy|recursive|equal|ordered):(\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?))?")
Mask = NDArray[np.bool_]
DENSE = 4_000_000
"""So many counters are kept at once; above that the values of classes are sorted."""
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

    def holds(self, spread: Spread) -> NDArray[np.bool_]:
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
class Kept:
    """Which classes stay, and how many rows are suppressed."""

    classes: NDArray[np.bool_]
    suppressed: int
    floor: int
    """So many rows are suppressed at this node and at every node below it."""
    starred: bool = False
    """Whether the suppressed rows may stay as ``*``: together they are a class that holds, or there are none."""


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
    reference: dict[str, Floats] = field(default_factory=dict)
    """For each secret the distribution of the table that its classes are compared with, where that is known beforehand."""
    patient: bool = False
    """Rows of classes that do not hold are not suppressed yet: whether they would hold together does not matter."""

    @classmethod
    def of(cls, lattice: Lattice, demands: tuple[Demand, ...], *, star: bool) -> Judge:
        """Compare with the whole table, whose suppressed rows stay as ``*``, or with the rows that stay."""
        secrets = {d.secret for d in demands} if star else ()
        return cls(lattice, demands, {name: _shares(lattice.secrets[name], lattice.counts) for name in secrets})

    @cached_property
    def _whole(self) -> dict[str, Floats]:
        return {name: _shares(ranks, self.lattice.counts) for name, ranks in self.lattice.secrets.items()}

    def keep(self, classes: Classes, k: int) -> Kept:
        """Judge the classes of a node for one k."""
        large = classes.sizes >= k
        if not self.demands:
            gone = int(classes.sizes[~large].sum())
            return Kept(large, gone, gone, starred=gone == 0 or gone >= k)
        spreads = {secret: self._spread(classes, large, secret) for secret in {d.secret: None for d in self.demands}}
        floor, diverse = large.copy(), np.ones(int(large.sum()), bool)
        for demand in self.demands:
            spread = spreads[demand.secret]
            floor[large] &= spread.distinct() >= demand.distinct
            if not demand.close:
                diverse &= demand.holds(spread)
        near, starred = self._near(classes, large, diverse, spreads, k)
        stays = large.copy()
        stays[large] = near
        return Kept(stays, int(classes.sizes[~stays].sum()), int(classes.sizes[~floor].sum()), starred)

    def _near(self, classes: Classes, large: Mask, kept: Mask, spreads: dict[str, Spread], k: int) -> tuple[Mask, bool]:
        """Which of the large classes are close enough to what is released, and whether the rest holds together as one class."""
        close = [d for d in self.demands if d.close]
        if self.reference:
            stays = kept.copy()
            for demand in close:
                stays &= demand.holds(spreads[demand.secret])
            gone = np.ones(len(large), bool)
            gone[large] = ~stays
            if self.patient or not gone.any() or self._one_class(classes, gone, k):
                return stays, True
        # Suppressed rows are dropped: each time some go, what the others are compared with changes.
        while close and kept.any():
            stays = kept.copy()
            for demand in close:
                stays &= demand.holds(_among(spreads[demand.secret], kept))
            if np.array_equal(stays, kept):
                break
            kept = stays
        return kept, False

    def _one_class(self, classes: Classes, members: Mask, k: int) -> bool:
        """Whether these classes, taken as one, hold."""
        rows = int(classes.sizes[members].sum())
        together = Classes(np.where(members[classes.of], 0, 1).astype(np.int32), np.array([rows, 0]))
        alone = np.array([True, False])
        return rows >= k and all(d.holds(self._spread(together, alone, d.secret)).all() for d in self.demands)

    def _spread(self, classes: Classes, kept: Mask, secret: str) -> Spread:
        """The secret's values in the classes that are kept, numbered in their order."""
        ranks = self.lattice.secrets[secret]
        whole = self.reference.get(secret, self._whole[secret])
        number = np.where(kept, np.cumsum(kept) - 1, -1)
        groups, values, counts = _tabulate(classes.of, number, ranks, self.lattice.counts, int(kept.sum()), len(whole))
        return Spread(groups, values, counts, whole, self.lattice.absent[secret])


def _shares(ranks: Integers, counts: Integers) -> Floats:
    return np.bincount(ranks, counts) / max(int(counts.sum()), 1)


def _among(spread: Spread, kept: Mask) -> Spread:
    """The spread beside the rows of some of its classes only; values that none of them has are no steps of an order."""
    inside = kept[spread.groups]
    counts = np.bincount(spread.values[inside], spread.counts[inside], minlength=len(spread.whole))
    present = counts > 0
    rank = np.maximum(np.cumsum(present) - 1, 0)
    absent = int(rank[spread.absent]) if spread.absent >= 0 and present[spread.absent] else -1
    return Spread(spread.groups, rank[spread.values], spread.counts, counts[present] / counts.sum(), absent)


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
