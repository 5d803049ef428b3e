"""A release that is larger than memory, as it is seen by some people: the rows that come into question, and what was counted.

Made in two passes over the release: the first finds which rows come into question (``looks``), the second fetches them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hushtable.display import Progress, silent
from hushtable.evidence.copies import Copies, copies
from hushtable.evidence.looks import (
    Copied,
    Equal,
    EqualSoFar,
    Look,
    Nearest,
    NearestSoFar,
    Offered,
    OfferedSoFar,
    Part,
    Without,
)
from hushtable.evidence.neighbours.search import Neighbours
from hushtable.evidence.reading import ordinary
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

PART = 1 << 19
"""Rows of a release that are compared with everybody at a time: the larger the parts, the more of each is skipped unseen."""


@dataclass(frozen=True, eq=False)
class Shortlist:
    """What a case knows of the whole tables of which it holds a part."""

    totals: Mapping[str, int]
    """The rows of all training people, of the release, and of all control people."""
    places: Integers
    """For each released row that the case holds, its number in the release; rising."""
    held: Schema
    """Of the rows that it holds."""
    read: Table
    """These rows, with cells of several values read as values drawn from them."""
    near: Mapping[Look, NearestSoFar] = field(default_factory=dict, repr=False)
    equal: Mapping[tuple[str, ...], EqualSoFar] = field(default_factory=dict, repr=False)
    offered: Mapping[Offered, OfferedSoFar] = field(default_factory=dict, repr=False)
    copies: Copies | None = None
    """Of all rows, if anybody looked for copies."""

    def nearest(self, which: str, columns: tuple[str, ...], count: int, *, values: bool) -> Neighbours:
        """Of everybody on a side the nearest released rows, by their place among those that are held, and how far they are."""
        values = values and self.generalized(columns)
        state = next(
            state
            for look, state in self.near.items()
            if isinstance(look, Nearest) and (look.columns, look.values) == (columns, values) and look.count >= count
        )
        found = state.neighbours(which)
        return Neighbours(np.searchsorted(self.places, found.index[:, :count]), found.distance[:, :count])

    def without(self, which: str, columns: tuple[str, ...]) -> Integers:
        """Of everybody on a side the nearest released row without each of these columns."""
        state = self.near[Without(columns)]
        places = [state.encoding.names.index(name) for name in columns]
        return np.searchsorted(self.places, state.neighbours(which).index[:, places])

    def generalized(self, columns: Sequence[str]) -> bool:
        """Whether cells of these columns stand for several values."""
        return any(self.held[name].generalized for name in columns)


def parts(release: Rows, columns: Sequence[str]) -> Iterator[Part]:
    """Some columns of the release, part by part; what is drawn for a cell is always the same."""
    start = 0
    for number, rows in enumerate(release.batches(PART, columns)):
        yield Part(start, rows, ordinary(rows, np.random.default_rng([0, number])))
        start += rows.rows


def head(release: Rows) -> Table:
    """The first two released rows: what a case is made with before it is known which rows come into question."""
    return Table.concat(release.take(np.arange(min(2, release.rows))).batches())


def shortlisted(
    wholes: Mapping[str, Rows],
    people: Mapping[str, Table],
    looks: Iterable[Look],
    progress: Progress = silent,
    work: Path | None = None,
) -> tuple[Table, Shortlist]:
    """The released rows that these looks name for these people, and what was counted on the way.

    ``wholes`` are the train, release and control rows that the people are a part of; ``work`` is a folder for what does not fit
    into memory.
    """
    release, every = wholes["release"], merged(looks, wholes["release"].schema)
    columns = {
        which: tuple(dict.fromkeys(name for look in every for name in look.columns if name in rows.schema))
        for which, rows in wholes.items()
    }
    near: dict[Look, NearestSoFar] = {
        look: NearestSoFar(look, people, release.schema) for look in every if isinstance(look, (Nearest, Without))
    }
    equal = {look.columns: EqualSoFar(look, people) for look in every if isinstance(look, Equal)}
    offered = {look: OfferedSoFar(look, people) for look in every if isinstance(look, Offered)}
    rows = 0
    for part in parts(release, columns["release"]):
        for state in near.values():
            state.see(part)
        for answer in offered.values():
            answer.see(part)
        for one in equal.values():
            one.see("release", part.rows, part.start)
        rows += part.rows.rows
        progress("released rows", rows / release.rows)
    for which in ("train", "control") if equal else ():
        for batch in wholes[which].batches(columns=columns[which]):
            for one in equal.values():
                one.see(which, batch)
    named = [np.arange(min(2, release.rows)), *(state.rows for state in near.values()), *(one.rows for one in equal.values())]
    places = np.unique(np.concatenate(named))
    held, read = _fetched(release, places, columns["release"])
    totals = {which: table.rows for which, table in wholes.items()}
    copied = next((look for look in every if isinstance(look, Copied)), None)
    counted = None if copied is None else copies(wholes, copied.columns, work, progress)
    return held, Shortlist(totals, places, held.schema, read, near, equal, offered, counted)


def merged(looks: Iterable[Look], schema: Schema) -> list[Look]:
    """The looks without those that others include: of searches on the same columns the one for most rows is enough.

    ``schema`` is that of the release: where its cells are values, there is nothing else to read them as.
    """
    every = list(dict.fromkeys(looks))
    most = dict[tuple[tuple[str, ...], bool], int]()
    for look in every:
        if isinstance(look, Nearest):
            own = look.columns, look.values and any(schema[name].generalized for name in look.columns)
            most[own] = max(look.count, most.get(own, 0))
    searches = [Nearest(columns, count, values=values) for (columns, values), count in most.items()]
    return [*searches, *(look for look in every if not isinstance(look, Nearest))]


def _fetched(release: Rows, places: Integers, columns: Sequence[str]) -> tuple[Table, Table]:
    """These rows with all columns, as they are and as values."""
    held = Table.concat(release.take(places).batches())
    cells = [name for name in columns if release.schema[name].generalized]
    if not cells:
        return held, held
    drawn = list[Table]()
    for part in parts(release, columns):
        begin, end = np.searchsorted(places, [part.start, part.start + part.rows.rows])
        drawn.append(part.read.take(places[begin:end] - part.start))
    read = Table.concat(drawn)
    return held, held.with_columns(*((read.schema[name], read[name]) for name in cells))
