"""Syntactic criteria, measured on a table as it is: k-anonymity, k-map, l-diversity, t-closeness.

Rows belong to one class when all their quasi-identifiers are written alike: the same value, the same interval, the
same set, ``*``, or missing (which is a value like any other here). Rows whose quasi-identifiers are all ``*`` are a class
too, however they came to be: whoever misses somebody in every other class knows that they are among these.

Where the table knows which rows one person holds, all of this is about persons: k is the fewest persons of a class, and l and t
are the worse of what rows and persons give (``spread`` says how), so no number here is better than the same one by rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.privacy.spread import Secret, Spread, heads, holdings, weighted
from hushtable.table.arrays import Array, Integers, Mask
from hushtable.table.cell import Interval
from hushtable.table.columns import Cells, Column, Kind
from hushtable.table.rows import Rows
from hushtable.table.table import Table


class Counted(StrEnum):
    """Whom a criterion counts."""

    ROWS = "rows"
    PERSONS = "persons"


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of a table on some quasi-identifiers."""

    table: Table
    quasi: tuple[str, ...]
    counts: Integers | None = None
    """How many rows each row of the table stands for, where rows that are alike are held once; one when absent."""

    @classmethod
    def of(cls, rows: Rows, quasi: Sequence[str], secrets: Iterable[str] = ()) -> Classes:
        """Of rows wherever they are, to measure these secrets; unless persons are known, rows that are alike are held once."""
        if isinstance(rows, Table) and rows.persons is not None:
            return cls(rows, tuple(quasi))
        tuples = rows.distinct(dict.fromkeys((*quasi, *secrets)), rows.rows)
        return cls(tuples.table, tuple(quasi), tuples.counts)

    @cached_property
    def suppressed(self) -> Mask:
        """Rows whose quasi-identifiers are all ``*``, if others are not."""
        rows = np.ones(self.table.rows, bool)
        for name in self.quasi:
            column = self.table.schema[name]
            if not isinstance(column.domain, Cells):
                return np.zeros(self.table.rows, bool)
            stars = np.array([cell.anything for cell in column.domain.cells] + [False])
            rows &= stars[self.table[name].astype(np.int64)]
        return rows & ~rows.all()

    @property
    def suppressed_rows(self) -> int:
        """How many these are."""
        return int((self.suppressed if self.counts is None else self.counts[self.suppressed]).sum())

    @cached_property
    def groups(self) -> Integers:
        """The class of each row."""
        return self.table.groups(self.quasi)[0]

    @cached_property
    def sizes(self) -> Integers:
        """How many rows each class has."""
        return weighted(self.groups, self.counts)

    @cached_property
    def persons(self) -> Integers:
        """How many persons each class has: its rows, where every row is a person of its own."""
        return self.sizes if self.counts is not None else heads(self.groups, self.table.persons)

    @property
    def largest_share(self) -> float:
        """The greatest part of the rows of a class that one person holds: so often a guess at one of them is right."""
        if self.table.persons is None:
            return float((1 / self.sizes).max(initial=0.0))
        owner, rows = holdings(self.groups, self.table.persons)
        return float((rows / self.sizes[owner]).max(initial=0.0))

    def spreads(self, secret: str) -> tuple[Spread, ...]:
        """The secret's distribution in each class, beside that of the whole table: by rows, and by persons where they are known."""
        return Secret.of(self.table, secret, self.counts).spreads(self.groups)


class Grouped:
    """Rows whose classes are made once, however often they are asked for."""

    def __init__(self, rows: Rows, *, bounded: bool = False) -> None:
        """``bounded``: whether it is known that every row is a person of its own, since all others of theirs were left out."""
        self.rows = rows
        persons = bounded or (isinstance(rows, Table) and rows.persons is not None)
        self.counted = Counted.PERSONS if persons else Counted.ROWS
        self._made: dict[tuple[str, ...], Classes] = {}

    def classes(self, quasi: Sequence[str], secret: str | None = None) -> Classes:
        """On these quasi-identifiers, to measure a secret or none."""
        names = (*quasi, "") if secret is None else (*quasi, "", secret)
        if names not in self._made:
            self._made[names] = Classes.of(self.rows, quasi, () if secret is None else (secret,))
        return self._made[names]


def k_anonymity(classes: Classes) -> int:
    """The fewest persons of a class; 0 if there is none."""
    return int(classes.persons.min()) if len(classes.persons) else 0


def k_map(released: Table, population: Table, quasi: Sequence[str]) -> int:
    """The fewest people of the population that any released row could be.

    A released cell matches a person's value when it covers it: intervals and sets are matched as sets.
    """
    classes = Classes(released, tuple(quasi))
    if not released.rows:
        return 0
    _, first = np.unique(classes.groups, return_index=True)
    examples = released.take(first)
    fewest = population.rows if population.persons is None else len(np.unique(population.persons))
    # One packed bitmap of the population per (column, cell): a class is the AND of its cells.
    bitmaps = [_bitmaps(examples, population, name) for name in quasi]
    for row in range(examples.rows):
        joint = np.bitwise_and.reduce([maps[codes[row]] for maps, codes in bitmaps])
        fewest = min(fewest, _people(joint, population))
    return fewest


def _people(bitmap: NDArray[np.uint8], population: Table) -> int:
    """How many people the rows of a packed bitmap are."""
    if population.persons is None:
        return int(np.bitwise_count(bitmap).sum())
    return len(np.unique(population.persons[np.unpackbits(bitmap, count=population.rows).astype(bool)]))


def distinct_l(classes: Classes, secret: str) -> int:
    """The fewest different secret values in a class, missing ones not counted."""
    return min(int(s.distinct().min()) for s in classes.spreads(secret)) if len(classes.sizes) else 0


def entropy_l(classes: Classes, secret: str) -> float:
    """Exp of the least entropy of the secret in a class (so equal frequencies of l values give l)."""
    return min(float(s.entropy().min()) for s in classes.spreads(secret)) if len(classes.sizes) else 0.0


def recursive_l(classes: Classes, secret: str, c: float) -> int:
    """The largest l for which every class is recursively (c, l)-diverse: r_1 < c (r_l + r_(l+1) + ...)."""
    if c <= 0:
        raise InputError(f"recursive diversity needs c > 0, got {c}", where="c")
    return min(int(s.recursive(c).min()) for s in classes.spreads(secret)) if len(classes.sizes) else 0


def t_closeness(classes: Classes, secret: str, *, ordered: bool) -> float:
    """The largest distance between the secret's distribution in a class and in the whole table.

    Earth mover's distance with ground distance 1 between any two values (``ordered=False``: half the sum of absolute
    differences), or with ranks (``ordered=True``: cumulative differences over the number of values less one).
    Missing is a value; in an order it comes last.
    """
    column = classes.table.schema[secret]
    if ordered and not has_order(column):
        raise InputError(f"the values of a {column.kind} column have no order; use ordered=False", where=secret)
    distances = [float(s.distances(ordered=ordered).max()) for s in classes.spreads(secret)] if len(classes.sizes) else [0.0]
    return max(distances)


def reidentification(classes: Classes) -> dict[str, float]:
    """Probability caps of linking a person: prosecutor (worst class), marketer (average), share alone in their class."""
    persons = classes.persons
    if not len(persons):
        return {"prosecutor": 0.0, "marketer": 0.0, "unique": 0.0}
    members = int(persons.sum())
    alone = float((persons == 1).sum()) / members
    return {"prosecutor": 1 / k_anonymity(classes), "marketer": len(persons) / members, "unique": alone}


def measure(rows: Rows | Grouped, quasi: Iterable[str], secrets: Iterable[str] = ()) -> dict[str, Any]:
    """All criteria at once, as a card shows them, and whom they count.

    Where persons are counted the same by rows stands beside it: that much whoever has the file can measure again.
    """
    grouped = rows if isinstance(rows, Grouped) else Grouped(rows)
    quasi, secrets = tuple(quasi), tuple(secrets)
    if not quasi:
        raise InputError("k, l and t need at least one quasi-identifier", where="criteria")
    measured = {"counted": str(grouped.counted)} | _measured(grouped, quasi)
    if grouped.counted is Counted.PERSONS:
        by_rows = grouped
        if isinstance(grouped.rows, Table):
            by_rows = Grouped(grouped.rows.held_by(None))
        own = {"counted": str(Counted.ROWS)} | _measured(by_rows, quasi) | _of_secrets(by_rows, quasi, secrets)
        measured |= {"largest_share": grouped.classes(quasi).largest_share, "by_rows": own}
    return measured | _of_secrets(grouped, quasi, secrets)


def _measured(grouped: Grouped, quasi: tuple[str, ...]) -> dict[str, Any]:
    classes = grouped.classes(quasi)
    caps = reidentification(classes)
    return {
        "k": k_anonymity(classes),
        "quasi": list(quasi),
        "classes": len(classes.sizes),
        "suppressed": classes.suppressed_rows,
        "unique_share": caps["unique"],
        "marketer_risk": caps["marketer"],
    }


def _of_secrets(grouped: Grouped, quasi: tuple[str, ...], secrets: tuple[str, ...]) -> dict[str, Any]:
    measured: dict[str, Any] = {}
    for secret in secrets:
        classes = grouped.classes(quasi, secret)
        ordered = has_order(classes.table.schema[secret])
        measured[secret] = {
            "l_distinct": distinct_l(classes, secret),
            "l_entropy": entropy_l(classes, secret),
            "l_recursive_c2": recursive_l(classes, secret, 2.0),
            "t": t_closeness(classes, secret, ordered=ordered),
            "t_distance": "ordered" if ordered else "equal",
        }
    return {"secrets": measured} if measured else {}


def has_order(column: Column) -> bool:
    """Whether t-closeness can count how far values move."""
    return column.kind in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.ORDINAL)


def _bitmaps(released: Table, population: Table, name: str) -> tuple[NDArray[np.uint8], Integers]:
    """For each distinct released value of a column, which people match it; and each row's value."""
    values, codes = np.unique(released[name], return_inverse=True)
    ours, theirs = released.schema[name], population.schema[name]
    people = population[name]
    rows = [np.packbits(_covers(ours, value, theirs, people)) for value in values]
    return np.array(rows), codes


def _covers(ours: Column, value: Any, theirs: Column, people: Array) -> Mask:
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
