"""What an attack looks for in a release that is larger than memory: the released rows that come into question for some people.

Each look is a fold over parts of the release. For every person it keeps the nearest rows so far, or the first equal one, and how
many there are; when all parts have been seen, these are the nearest of all rows. An attack that rests on nothing else comes to the
same result on the rows that its looks name as on the whole release. The people may be a sample; the release never is: a
single leaked copy would be overlooked wherever its row was left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hushtable.evidence.neighbours.search import Encoding, Points, search, search_without
from hushtable.evidence.reading import alike, ordinary
from hushtable.evidence.row_keys import Keys, row_keys
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

FAR = np.inf


@dataclass(frozen=True)
class Nearest:
    """The nearest released rows of everybody, on some columns."""

    columns: tuple[str, ...]
    count: int = 1
    values: bool = False
    """Whether cells of several values are read as values drawn from them, and not as sets."""


@dataclass(frozen=True)
class Without:
    """The nearest released row of everybody when one of these columns is not known, for each of them."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class Equal:
    """The first released row that is equal on these columns; and how many rows are, in each of the three tables."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class Offered:
    """How many released values are right about each person: within a share of the truth and a margin."""

    name: str
    share: float
    margin: float

    @property
    def columns(self) -> tuple[str, ...]:
        """The one."""
        return (self.name,)


@dataclass(frozen=True)
class Copied:
    """How many rows of each table equal rows of another on these columns: of all rows, whoever is asked."""

    columns: tuple[str, ...]


Look = Nearest | Without | Equal | Offered | Copied


class Part(NamedTuple):
    """Some released rows that follow one another."""

    start: int
    """The number of the first."""
    rows: Table
    read: Table
    """The same, with cells of several values read as values drawn from them."""


class NearestSoFar:
    """The state of ``Nearest`` and of ``Without``: numbers of released rows, nearest first, those of equal distance in order."""

    def __init__(self, look: Nearest | Without, people: Mapping[str, Table], schema: Schema) -> None:
        """Nothing seen yet; ``schema`` is that of the release."""
        self.look = look
        released = Table.empty(schema.select(look.columns))
        if isinstance(look, Nearest) and look.values:
            released = ordinary(released, np.random.default_rng(0))
        tables = [people["train"], people["control"], released]
        self.encoding = Encoding.of(tables, look.columns, scale=2)
        self.people = {which: self.encoding.points(table) for which, table in people.items()}
        width = look.count if isinstance(look, Nearest) else len(self.encoding.names)
        self.index = {which: np.full((points.rows, width), -1) for which, points in self.people.items()}
        self.distance = {which: np.full((points.rows, width), FAR) for which, points in self.people.items()}

    def see(self, part: Part) -> None:
        """Keep what is nearer than all before."""
        look = self.look
        targets = self.encoding.points(part.read if isinstance(look, Nearest) and look.values else part.rows)
        for which, points in self.people.items():
            if isinstance(look, Without):
                self._each_nearest(which, points, targets, part.start)
            else:
                self._several(which, points, targets, part.start, min(look.count, targets.rows))

    @property
    def rows(self) -> Integers:
        """The released rows that are near somebody."""
        named = np.unique(np.concatenate([index.ravel() for index in self.index.values()]))
        return named[named >= 0]

    def _several(self, which: str, points: Points, targets: Points, start: int, count: int) -> None:
        found = search(points, targets, self.encoding, count)
        index = np.hstack([self.index[which], found.index + start])
        distance = np.hstack([self.distance[which], found.distance])
        # Stable: of rows at one distance the earlier ones stay in front.
        order = np.argsort(distance, axis=1, kind="stable")[:, : self.index[which].shape[1]]
        self.index[which] = np.take_along_axis(index, order, axis=1)
        self.distance[which] = np.take_along_axis(distance, order, axis=1)

    def _each_nearest(self, which: str, points: Points, targets: Points, start: int) -> None:
        found = search_without(points, targets, self.encoding)
        nearer = found.distance < self.distance[which]
        self.index[which] = np.where(nearer, found.index + start, self.index[which])
        self.distance[which] = np.where(nearer, found.distance, self.distance[which])


class EqualSoFar:
    """The state of ``Equal``."""

    def __init__(self, look: Equal, people: Mapping[str, Table]) -> None:
        """Nothing seen yet."""
        self.columns = look.columns
        own = {which: row_keys(table, look.columns) for which, table in people.items()}
        self.keys: Keys = np.unique(np.concatenate(list(own.values())))
        self.place = {which: np.searchsorted(self.keys, keys) for which, keys in own.items()}
        self.first = np.full(len(self.keys), -1)
        self.counts = {which: np.zeros(len(self.keys), np.int64) for which in ("train", "release", "control")}

    def see(self, which: str, rows: Table, start: int = 0) -> None:
        """Count rows of one of the tables, and note the first released one; a table may lack a key that people are known by."""
        if any(name not in rows.schema for name in self.columns):
            return
        keys = row_keys(rows, self.columns)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        same = np.flatnonzero(self.keys[place] == keys)
        self.counts[which] += np.bincount(place[same], minlength=len(self.keys))
        if which == "release":
            found, first = np.unique(place[same], return_index=True)
            new = self.first[found] < 0
            self.first[found[new]] = start + same[first[new]]

    @property
    def rows(self) -> Integers:
        """The first released row of everybody who has one."""
        return self.first[self.first >= 0]

    def occurrences(self, which: str, where: str) -> Integers:
        """For each row of the people of a side, how many rows of a table are equal."""
        return self.counts[where][self.place[which]]


class OfferedSoFar:
    """The state of ``Offered``."""

    def __init__(self, look: Offered, people: Mapping[str, Table]) -> None:
        """Nothing seen yet."""
        self.look, self.people = look, people
        self.counts = {which: np.zeros(table.rows, np.int64) for which, table in people.items()}

    def see(self, part: Part) -> None:
        """Count."""
        *truths, offered = alike([*self.people.values(), part.read], self.look.name)
        values = np.sort(offered[~np.isnan(offered)])
        for which, truth in zip(self.people, truths, strict=True):
            low, high = accepted(truth, self.look.share, self.look.margin)
            self.counts[which] += right(values, len(offered) - len(values), low, high)


def accepted(truth: Floats, share: float, margin: float) -> tuple[Floats, Floats]:
    """The least and the greatest guess that is right."""
    reach = share * np.abs(truth) + margin
    return truth - reach, truth + reach


def right(values: Floats, missing: int, low: Floats, high: Floats) -> Integers:
    """How many of these sorted values lie within each pair of bounds; of missing values where the bounds are."""
    count = np.searchsorted(values, high, side="right") - np.searchsorted(values, low, side="left")
    return np.where(np.isnan(low), missing, count)
