"""People in place of rows: one attempt, one score and one label for each person, however many rows they hold.

An audit asks whether the release treats training people unlike control people. Its exact null is that, given the release, the
two are exchangeable: any of them might as well have stood on the other side. That holds for *people* drawn alike, never for
rows of one person, who stand on one side together. So what an attack learns row by row is first reduced to one number a
person, by a rule that cannot know the side: a person is hit if any of their rows is, and scores as high as their highest row.
Who holds more rows gives more chances away; as how many they hold belongs to the person, it is alike on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import Fault, InputError
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class People:
    """Who holds the rows of a table. Without ``persons`` every row is a person of its own, and nothing is reduced."""

    rows: int
    persons: Integers | None = None
    """For each row the number of its person, from 0 on, none left out."""

    @classmethod
    def of(cls, table: Table) -> People:
        """Of all rows of a table."""
        return cls(table.rows) if table.persons is None else cls(table.rows, _numbered(table.persons))

    def among(self, rows: Integers | Mask) -> People:
        """Of these rows alone, those who hold none of them left out."""
        chosen = np.arange(self.rows)[rows]
        return People(len(chosen)) if self.persons is None else People(len(chosen), _numbered(self.persons[chosen]))

    @cached_property
    def who(self) -> Integers:
        """For each row its person."""
        return np.arange(self.rows) if self.persons is None else self.persons

    @cached_property
    def first(self) -> Integers:
        """The first row of each person: the one that stands for them where a row is named."""
        return np.arange(self.rows) if self.persons is None else np.unique(self.persons, return_index=True)[1]

    @property
    def count(self) -> int:
        """How many there are."""
        return self.rows if self.persons is None else len(self.first)

    @cached_property
    def held(self) -> Integers:
        """How many rows each person holds."""
        return np.ones(self.rows, np.int64) if self.persons is None else np.bincount(self.persons)

    @property
    def independent(self) -> float:
        """How many independent rows these are worth at least, were all rows of a person alike (Kish): rows^2 / sum of squares."""
        return float(self.rows**2 / max(1, int((self.held**2).sum())))

    def alone(self, ids: Integers) -> Mask:
        """For each row, whether its value (a number from 0 for each) is held by nobody but its own person."""
        if self.persons is None:
            return np.asarray(np.bincount(ids)[ids] == 1)
        _, first = np.unique(ids * self.count + self.who, return_index=True)
        return np.asarray(np.bincount(ids[first])[ids] == 1)

    def any(self, hit: Mask) -> Mask:
        """Who is hit: those of whom any row is."""
        return hit if self.persons is None else np.bincount(self.persons, weights=hit) > 0

    def most(self, scores: Floats) -> Floats:
        """The highest score of each person."""
        return scores if self.persons is None else scores[self.strongest(scores)]

    def least(self, scores: Floats) -> Floats:
        """The lowest score of each person."""
        return scores if self.persons is None else scores[self.strongest(-scores)]

    def strongest(self, scores: NDArray[np.generic]) -> Integers:
        """The row of each person with the highest score, the first of those that tie."""
        if self.persons is None:
            return np.arange(self.rows)
        order = np.lexsort((-scores.astype(np.float64), self.persons))
        return order[np.flatnonzero(np.diff(self.persons[order], prepend=-1))]

    def mean(self, values: Floats) -> Floats:
        """The mean over the rows of each person."""
        return values if self.persons is None else np.bincount(self.persons, weights=values) / self.held

    def chance(self, chances: Floats | float) -> Floats | float:
        """The chance that any row of each person is hit, where each row is by itself with its own chance, or all with one."""
        if self.persons is None:
            return chances
        with np.errstate(divide="ignore"):
            missed = np.bincount(self.persons, weights=np.log1p(-np.broadcast_to(chances, self.rows)))
        return -np.expm1(missed)

    def rows_of(self, order: Integers) -> Integers:
        """The rows of these persons, one person after another. A random order of people is ``rng.permutation(people.count)``."""
        if self.persons is None:
            return order
        place = np.full(self.count, -1)
        place[order] = np.arange(len(order))
        rows = np.argsort(place[self.persons], kind="stable")
        return rows[self.rows - int(self.held[order].sum()) :]

    def standing_for(self, rows: Integers) -> Integers:
        """For each of these rows the first one of its person; -1 stays."""
        return rows if self.persons is None else np.where(rows >= 0, self.first[self.persons[rows]], -1)


def held_by(train: Table, control: Table, key: str) -> tuple[Table, Table]:
    """Both tables with persons identified by a key column; InputError where one lacks it, or where a person is in both.

    Rows without a key are left out: taken for people of their own, they would be rows of one person that count as many.
    """
    faults = [
        Fault(name, f"there is no column {key!r} to identify persons by")
        for name, table in (("train", train), ("control", control))
        if key not in table.schema
    ]
    if not faults:
        train, control = (table.take(~table.missing(key)) for table in (train, control))
        sides = {"train": train, "control": control}
        faults += [Fault(name, f"no row has a {key} to identify persons by") for name, table in sides.items() if not table.rows]
        ours, others = (np.unique(table.strings(key).astype(str)) for table in (train, control))
        if both := len(np.intersect1d(ours, others)):
            reason = f"holds persons of the training table ({key}); it must hold other people, with all of their rows"
            faults.append(Fault("control", reason, both))
    if faults:
        raise InputError(faults)
    return train.held_by(key), control.held_by(key)


def _numbered(persons: Integers) -> Integers:
    return np.unique(persons, return_inverse=True)[1].astype(np.int64)
