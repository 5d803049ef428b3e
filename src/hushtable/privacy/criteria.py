"""Syntactic criteria, measured on a table as it is: k-anonymity, k-map, l-diversity, t-closeness.

Rows belong to one class when all their quasi-identifiers are written alike: the same value, the same interval, the
same set, ``*``, or missing (which is a value like any other here). Rows whose quasi-identifiers are all ``*`` are a class
too, however they came to be: whoever misses somebody in every other class knows that they are among these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.table.cell import Cell, Interval
from hushtable.table.columns import Array, Cells, Column, Kind, Levels
from hushtable.table.table import Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of a table on some quasi-identifiers."""

    table: Table
    quasi: tuple[str, ...]
    person: str | None = None
    """A key column: a class then counts the persons in it, not the rows."""

    @cached_property
    def suppressed(self) -> NDArray[np.bool_]:
        """Rows whose quasi-identifiers are all ``*``, if others are not."""
        rows = np.ones(self.table.rows, bool)
        for name in self.quasi:
            column = self.table.schema[name]
            if not isinstance(column.domain, Cells):
                return np.zeros(self.table.rows, bool)
            stars = np.array([cell.anything for cell in column.domain.cells] + [False])
            rows &= stars[self.table[name].astype(np.int64)]
        return rows & ~rows.all()

    @cached_property
    def groups(self) -> Integers:
        """The class of each row."""
        return self.table.groups(self.quasi)[0]

    @cached_property
    def sizes(self) -> Integers:
        """How many rows, or persons, each class has."""
        groups = self.groups
        if self.person is not None:
            pairs = np.unique(np.stack([groups, self.table[self.person].astype(np.int64)]), axis=1)
            groups = pairs[0]
        return np.bincount(groups)

    def spread(self, secret: str) -> Spread:
        """The secret's distribution in each class, beside that of the whole table."""
        own, count, absent = ranks(self.table, secret)
        whole = np.bincount(own, minlength=count) / max(len(own), 1)
        cells, counts = np.unique(self.groups * count + own, return_counts=True)
        return Spread(cells // count, cells % count, counts, whole, absent)


@dataclass(frozen=True, eq=False)
class Spread:
    """The values of a secret in each class, sparse, sorted by class and then by value; no class is empty."""

    groups: Integers
    values: Integers
    """Ranks of the values, where they have an order."""
    counts: Integers
    whole: Floats
    """The share of each value among all rows."""
    absent: int = -1
    """The rank that stands for a missing value; it counts in t, but not in l."""

    @cached_property
    def totals(self) -> Integers:
        """The rows of each class."""
        return np.bincount(self.groups, self.counts).astype(np.int64)

    @cached_property
    def _told(self) -> tuple[Integers, Integers]:
        """Class and rows of the values that are no missing ones: not to answer is no value that hides another."""
        told = self.values != self.absent
        return self.groups[told], self.counts[told]

    def distinct(self) -> Integers:
        """How many different values each class has."""
        return np.bincount(self._told[0], minlength=len(self.totals))

    def entropy(self) -> Floats:
        """Exp of the entropy of each class: equal frequencies of l values give l; 0 where there is no value."""
        groups, counts = self._told
        shares = counts / np.bincount(groups, counts, minlength=len(self.totals))[groups]
        found = np.exp(np.bincount(groups, -shares * np.log(shares), minlength=len(self.totals)))
        return np.where(self.distinct() > 0, found, 0.0)

    def recursive(self, c: float) -> Integers:
        """For each class the largest l with r_1 < c (r_l + r_(l+1) + ...), its counts in falling order; 0 if there is none."""
        groups, counts = self._told
        order = np.lexsort((-counts, groups))
        groups, counts = groups[order], counts[order]
        first = np.diff(groups, prepend=-1) != 0
        starts, which = np.flatnonzero(first), np.cumsum(first) - 1
        before = np.cumsum(counts) - counts
        totals = np.bincount(which, counts)
        tails = totals[which] - (before - before[starts][which])
        return np.bincount(groups, counts[starts][which] < c * tails, minlength=len(self.totals)).astype(np.int64)

    def distances(self, *, ordered: bool) -> Floats:
        """The earth mover's distance of each class from the whole table."""
        if len(self.whole) < 2:
            return np.zeros(len(self.totals))
        shares = self.counts / self.totals[self.groups]
        if ordered:
            return _ordered_distances(self.groups, self.values, shares, np.cumsum(self.whole)) / (len(self.whole) - 1)
        # Values absent from a class contribute their share of the whole table: one less what is present.
        whole = self.whole[self.values]
        return np.asarray((1 + np.bincount(self.groups, np.abs(shares - whole) - whole)) / 2, dtype=np.float64)


def k_anonymity(classes: Classes) -> int:
    """The size of the smallest class; 0 if there is none."""
    return int(classes.sizes.min()) if len(classes.sizes) else 0


def k_map(released: Table, population: Table, quasi: Sequence[str]) -> int:
    """The fewest people of the population that any released row could be.

    A released cell matches a person's value when it covers it: intervals and sets are matched as sets.
    """
    classes = Classes(released, tuple(quasi))
    if not released.rows:
        return 0
    _, first = np.unique(classes.groups, return_index=True)
    examples = released.take(first)
    fewest = population.rows
    # One packed bitmap of the population per (column, cell): a class is the AND of its cells.
    bitmaps = [_bitmaps(examples, population, name) for name in quasi]
    for row in range(examples.rows):
        joint = np.bitwise_and.reduce([maps[codes[row]] for maps, codes in bitmaps])
        fewest = min(fewest, int(np.bitwise_count(joint).sum()))
    return fewest


def distinct_l(classes: Classes, secret: str) -> int:
    """The fewest different secret values in a class, missing ones not counted."""
    return int(classes.spread(secret).distinct().min()) if len(classes.sizes) else 0


def entropy_l(classes: Classes, secret: str) -> float:
    """Exp of the least entropy of the secret in a class (so equal frequencies of l values give l)."""
    return float(classes.spread(secret).entropy().min()) if len(classes.sizes) else 0.0


def recursive_l(classes: Classes, secret: str, c: float) -> int:
    """The largest l for which every class is recursively (c, l)-diverse: r_1 < c (r_l + r_(l+1) + ...)."""
    if c <= 0:
        raise InputError(f"recursive diversity needs c > 0, got {c}", where="c")
    return int(classes.spread(secret).recursive(c).min()) if len(classes.sizes) else 0


def t_closeness(classes: Classes, secret: str, *, ordered: bool) -> float:
    """The largest distance between the secret's distribution in a class and in the whole table.

    Earth mover's distance with ground distance 1 between any two values (``ordered=False``: half the sum of absolute
    differences), or with ranks (``ordered=True``: cumulative differences over the number of values less one).
    Missing is a value; in an order it comes last.
    """
    column = classes.table.schema[secret]
    if ordered and not has_order(column):
        raise InputError(f"the values of a {column.kind} column have no order; use ordered=False", where=secret)
    return float(classes.spread(secret).distances(ordered=ordered).max()) if len(classes.sizes) else 0.0


def _ordered_distances(groups: Integers, values: Integers, shares: Floats, cumulative: Floats) -> Floats:
    """For each class the sum over all ranks of |its cumulative share - the table's|, without visiting every rank.

    Between two values of a class its cumulative share c is constant, and the table's grows past c at one place, so
    two differences of prefix sums give the whole stretch.
    """
    count = len(cumulative)
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    running = np.cumsum(shares)
    own = running - (running - shares)[starts][groups]
    following = np.append(values[1:], count)
    following[np.append(starts[1:], len(values)) - 1] = count
    begin = np.concatenate([values, np.zeros(len(starts), np.int64)])
    end = np.concatenate([following, values[starts]])
    level = np.concatenate([own, np.zeros(len(starts))])
    which = np.concatenate([groups, np.arange(len(starts))])
    prefix = np.concatenate([[0.0], np.cumsum(cumulative)])
    split = np.clip(np.searchsorted(cumulative, level), begin, end)
    below = level * (split - begin) - (prefix[split] - prefix[begin])
    above = (prefix[end] - prefix[split]) - level * (end - split)
    return np.asarray(np.bincount(which, below + above), dtype=np.float64)


def reidentification(classes: Classes) -> dict[str, float]:
    """Probability caps of linking a row to a person: prosecutor (worst class), marketer (average), share unique."""
    if not len(classes.sizes):
        return {"prosecutor": 0.0, "marketer": 0.0, "unique": 0.0}
    members = int(classes.sizes.sum())
    alone = float((classes.sizes == 1).sum()) / members
    return {"prosecutor": 1 / k_anonymity(classes), "marketer": len(classes.sizes) / members, "unique": alone}


def measure(table: Table, quasi: Iterable[str], secrets: Iterable[str] = (), person: str | None = None) -> dict[str, Any]:
    """All criteria at once, as a card shows them."""
    quasi = tuple(quasi)
    if not quasi:
        raise InputError("k, l and t need at least one quasi-identifier", where="criteria")
    classes = Classes(table, quasi, person)
    caps = reidentification(classes)
    found: dict[str, Any] = {
        "k": k_anonymity(classes),
        "quasi": list(quasi),
        "classes": len(classes.sizes),
        "suppressed": int(classes.suppressed.sum()),
        "unique_share": caps["unique"],
        "marketer_risk": caps["marketer"],
    }
    for secret in secrets:
        column = table.schema[secret]
        ordered = has_order(column)
        found.setdefault("secrets", {})[secret] = {
            "l_distinct": distinct_l(classes, secret),
            "l_entropy": entropy_l(classes, secret),
            "l_recursive_c2": recursive_l(classes, secret, 2.0),
            "t": t_closeness(classes, secret, ordered=ordered),
            "t_distance": "ordered" if ordered else "equal",
        }
    return found


def has_order(column: Column) -> bool:
    """Whether t-closeness can count how far values move."""
    return column.kind in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.ORDINAL)


def ranks(table: Table, name: str) -> tuple[Integers, int, int]:
    """Each row's value as a rank, cells by their middle, missing last; how many ranks there are, and that of missing (or -1)."""
    column = table.schema[name]
    values, codes = np.unique(table[name], return_inverse=True)
    missing = column.is_missing(values)
    keys = np.where(missing, np.inf, values.astype(np.float64))
    if isinstance(column.domain, Cells):
        middles = [_middle(cell, column) for cell in column.domain.cells] + [np.inf]
        keys = np.array([middles[int(v)] for v in values])
    order = np.argsort(keys, kind="stable")
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values))
    return rank[codes], len(values), len(values) - 1 if missing.any() else -1


def _middle(cell: Cell, column: Column) -> float:
    if isinstance(cell.span, Interval):
        return (max(cell.span.low, -1e300) + min(cell.span.high, 1e300)) / 2
    if cell.span is None or not isinstance(column.base, Levels):
        return 0.0
    index = column.base.index
    return float(np.mean([index[level] for level in cell.span]))


def _bitmaps(released: Table, population: Table, name: str) -> tuple[NDArray[np.uint8], Integers]:
    """For each distinct released value of a column, which people match it; and each row's value."""
    values, codes = np.unique(released[name], return_inverse=True)
    ours, theirs = released.schema[name], population.schema[name]
    people = population[name]
    rows = [np.packbits(_covers(ours, value, theirs, people)) for value in values]
    return np.array(rows), codes


def _covers(ours: Column, value: Any, theirs: Column, people: Array) -> NDArray[np.bool_]:
    missing = theirs.is_missing(people)
    if bool(ours.is_missing(np.array([value]))[0]):
        return missing
    if isinstance(theirs.domain, Cells):
        # The people are generalized themselves: one of them matches only where our cell covers all that theirs does.
        mine = ours.domain.cells[int(value)].span if isinstance(ours.domain, Cells) else _point(ours, value)
        inside = np.array([_within(cell.span, mine) for cell in theirs.domain.cells] + [mine is None])
        return np.asarray(inside[people.astype(np.int64)], dtype=np.bool_)
    if isinstance(ours.domain, Cells):
        span = ours.domain.cells[int(value)].span
        if span is None:
            return np.ones(len(people), bool)
        if isinstance(span, Interval):
            numbers = people.astype(np.float64)
            low = numbers > span.low if span.open_low else numbers >= span.low
            high = numbers < span.high if span.open_high else numbers <= span.high
            return np.asarray(~missing & low & high, dtype=np.bool_)
        members = np.array([level in span for level in theirs.levels] + [False])
        return np.asarray(members[people.astype(np.int64)], dtype=np.bool_)
    if ours.kind in (Kind.CATEGORY, Kind.ORDINAL):
        level = ours.levels[int(value)]
        return np.asarray(people == (theirs.levels.index(level) if level in theirs.levels else -2), dtype=np.bool_)
    return np.asarray(~missing & (people == value), dtype=np.bool_)


def _point(column: Column, value: Any) -> Interval | frozenset[str]:
    """A value that is not generalized, as the set that holds it alone."""
    return frozenset([column.levels[int(value)]]) if column.coded else Interval(float(value), float(value))


def _within(inner: Interval | frozenset[str] | None, outer: Interval | frozenset[str] | None) -> bool:
    """Whether one set of values lies in another."""
    if outer is None or inner == outer:
        return True
    if isinstance(inner, Interval) and isinstance(outer, Interval):
        low = inner.low > outer.low or (inner.low == outer.low and (inner.open_low or not outer.open_low))
        high = inner.high < outer.high or (inner.high == outer.high and (inner.open_high or not outer.open_high))
        return low and high
    return isinstance(inner, frozenset) and isinstance(outer, frozenset) and inner <= outer
