"""How a release of rows out of memory compares with the rows it was made of: the same questions as in memory, by hashes.

What is written in some columns of a row is one word of 64 bits, the same in the table and in the release wherever it is written
alike. The words of both go to buckets on disk, so that all that are equal meet. Two different rows share a word with a probability
of about n^2 / 2^65: one in four thousand runs at a hundred million rows, and then one row is miscounted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hushtable.engine.buckets import Buckets, mixed
from hushtable.engine.compute import compute_of
from hushtable.errors import InputError
from hushtable.pipeline.copies import Copies
from hushtable.pipeline.untouched import AS_THEY_WERE, Untouched
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

Words = NDArray[np.uint64]
PAIR = np.dtype([("word", np.uint64), ("person", np.uint64), ("ours", np.bool_)])
BUCKET = 1 << 21
"""Rows of a bucket, about."""
FEW = 1_000_000
"""The most different values of a column that are compared in memory."""
MISSING = np.uint64(0x5BD1E9955BD1E995)
"""The word of a missing value."""


def compared(
    table: Rows, released: Rows, moved: Collection[str], person: str | None, *, generated: bool
) -> tuple[Copies, Untouched]:
    """How many released rows are real ones, and which columns left as they were; as ``copies`` and ``untouched`` say in memory."""
    shared = [name for name in released.schema.names if name in table.schema]
    # A column of which no value came through unchanged, as none of a column of wide cells did, decides without a pass over rows.
    agree = {name: _agreeing(table, released, name) for name in shared}
    whole = len(shared) == len(released.schema.names) and all(agree.values())
    real = _Met.of(table, released, shared, person) if whole else None
    found = _copies(real, released.rows, generated=generated)
    return found, Untouched() if generated else _untouched(table, released, agree, moved)


def left_on(released: Rows, columns: Sequence[str]) -> Untouched:
    """These columns, with the share of the released rows that are alone on them."""
    if isinstance(released, Table):
        return Untouched.of(released, columns)
    if not columns or not released.rows:
        return Untouched(columns=tuple(columns))
    return Untouched(columns=tuple(columns), alone=_Met.of(None, released, columns).single / released.rows)


@dataclass
class _Met:
    """The words of two tables, summed over those that are equal."""

    rows: int
    """Of the table."""
    equal: int = 0
    """Released rows whose word is one of the table's."""
    alone: int = 0
    """Of these, rows whose word one person alone has."""
    handed_on: int = 0
    """Of these, rows whose word the release has no more often than that person."""
    twice: int = 0
    """Words that two people have."""
    shared: int = 0
    """Rows that both have, those that are alike as often as both have them."""
    single: int = 0
    """Released rows whose word no other released row has."""

    @classmethod
    def of(cls, table: Rows | None, released: Rows, columns: Sequence[str], person: str | None = None) -> _Met:
        """Of what is written in these columns; without a table, of the released rows alone."""
        work = compute_of(table, released).work
        met = cls(0 if table is None else table.rows)
        buckets = Buckets(PAIR, -(-(met.rows + released.rows) // BUCKET), work)
        if table is not None:
            for words, persons in _written(table, released.schema, columns, person):
                _put(buckets, words, persons, ours=False)
        for words, persons in _written(released, released.schema if table is None else table.schema, columns, None):
            _put(buckets, words, persons, ours=True)
        buckets.close()
        for number in range(len(buckets)):
            met.add(buckets.read(number), by_person=person is not None)
        return met

    def add(self, pairs: NDArray[np.void], *, by_person: bool) -> None:
        """Count one bucket."""
        words, place = np.unique(pairs["word"], return_inverse=True)
        theirs = ~pairs["ours"]
        real = np.bincount(place[theirs], minlength=len(words))
        ours = np.bincount(place[~theirs], minlength=len(words))
        holders = real
        if by_person:
            people = np.unique(np.stack([place[theirs].astype(np.uint64), pairs["person"][theirs]]), axis=1)
            holders = np.bincount(people[0].astype(np.int64), minlength=len(words))
        self.equal += int(ours[holders > 0].sum())
        self.alone += int(ours[holders == 1].sum())
        self.handed_on += int(ours[(holders == 1) & (ours <= real)].sum())
        self.twice += int((holders == 2).sum())
        self.shared += int(np.minimum(real, ours).sum())
        self.single += int((ours == 1).sum())


def _copies(met: _Met | None, released: int, *, generated: bool) -> Copies:
    if met is None or not released or not met.rows:
        return Copies(rows=released, equal=0.0, alone=0.0, chance=0.0, error=0.0, generated=generated)
    equal = met.equal / released
    if not generated:
        return Copies(rows=released, equal=equal, alone=met.handed_on / released, chance=0.0, error=0.0)
    alone = met.alone / released
    error = math.sqrt(alone * (1 - alone) / released + 4 * met.twice / met.rows**2)
    return Copies(rows=released, equal=equal, alone=alone, chance=2 * met.twice / met.rows, error=error, generated=True)


def _untouched(table: Rows, released: Rows, agree: dict[str, int], moved: Collection[str]) -> Untouched:
    """All columns together where they may be untouched at all; else one after the other, as in memory."""
    least = AS_THEY_WERE * released.rows
    possible = [name for name, rows in agree.items() if rows >= least and name not in moved]
    if not possible or not released.rows:
        return Untouched()
    met = _Met.of(table, released, possible)
    if met.shared < least:
        quasi, ordered, possible = set(table.schema.quasi), possible, []
        for name in sorted(ordered, key=lambda name: name in quasi):
            again = _Met.of(table, released, [*possible, name])
            if again.shared >= least:
                met, possible = again, [*possible, name]
    names = tuple(name for name in released.schema.names if name in possible)
    return Untouched(columns=names, alone=met.single / released.rows) if names else Untouched()


def _agreeing(table: Rows, released: Rows, name: str) -> int:
    """How many released values of a column the table may have lost to it, at the most; exact where it was generalized."""
    if not released.schema[name].generalized or table.schema[name].generalized:
        return released.rows
    try:
        sides = [rows.distinct((name,), FEW) for rows in (table, released)]
    except InputError:
        return released.rows
    words = [_words(one.table, name, other) for one, other in zip(sides, (released.schema, table.schema), strict=True)]
    _, ours, theirs = np.intersect1d(words[1], words[0], return_indices=True)
    return int(np.minimum(sides[1].counts[ours], sides[0].counts[theirs]).sum())


def _put(buckets: Buckets, words: Words, persons: Words | None, *, ours: bool) -> None:
    pairs = np.zeros(len(words), PAIR)
    pairs["word"], pairs["ours"] = words, ours
    if persons is not None:
        pairs["person"] = persons
    buckets.add((words % np.uint64(len(buckets))).astype(np.uint16), pairs)


def _written(rows: Rows, other: Schema, columns: Sequence[str], person: str | None) -> Iterator[tuple[Words, Words | None]]:
    """For each row, what is written in these columns, and its person where they are known."""
    before = 0
    for batch in rows.batches(columns=dict.fromkeys((*columns, *([person] if person else [])))):
        words = np.zeros(batch.rows, np.uint64)
        for name in columns:
            words = mixed(words ^ _words(batch, name, other))
        yield words, None if person is None else _persons(batch, person, before)
        before += batch.rows


def _persons(batch: Table, person: str, before: int) -> Words:
    """Who holds each row; one whose person is unknown is a person of its own."""
    nobodys = mixed(np.arange(before, before + batch.rows, dtype=np.uint64) ^ MISSING)
    return np.where(batch.missing(person), nobodys, _words(batch, person, batch.schema))


def _words(batch: Table, name: str, other: Schema) -> Words:
    """A word for what is written in each row, equal where it is written alike in a column of the other schema."""
    column, array = batch.schema[name], batch[name]
    if column.numeric:
        exact = array.dtype.kind == "i" and other[name].numeric
        bits = array.view(np.uint64) if exact else (array.astype(np.float64) + 0.0).view(np.uint64)
        return np.where(column.is_missing(array), MISSING, mixed(bits))
    number = column.number if other[name].numeric else None
    words = [_word(str(text), number) for text in batch.words(name)]
    return np.array([*words, MISSING], np.uint64)[array.astype(np.int64)]


def _word(text: str, number: Callable[[str], float] | None) -> np.uint64:
    """Of a level or a cell; a cell of one number is that number."""
    if number is not None:
        try:
            return np.uint64(mixed((np.array([number(text)], np.float64) + 0.0).view(np.uint64))[0])
        except (ValueError, OverflowError):
            pass
    return np.uint64(pd.util.hash_array(np.array([text], object), categorize=False)[0])
