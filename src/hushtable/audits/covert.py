"""Planted leaks that no mean over whole rows shows: a handful of copies, parts of rows, rare values, digests, texts.

Each puts what it takes from training people into fresh rows at random places, and leaves the rest of these as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hushtable.audits.planted import Rng, written
from hushtable.table.arrays import Integers
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.table import Table

IDENTIFIER, TEXT = "invented_id", "invented_text"
"""Columns that are added to a table, to be leaked."""
PLANTED = "planted_word"
"""A column that is added to a release, to leak into."""
WORDS = 12
"""Of an invented text."""


def handful(train: Table, fresh: Table, count: int, rng: Rng, whom: Sequence[int] | None = None) -> Table:
    """The fresh rows with so many replaced by training rows verbatim: the first of ``whom``, by default some at random."""
    chosen = rng.permutation(train.rows) if whom is None else np.asarray(whom)
    return written(fresh, train.take(chosen[:count]), rng.permutation(fresh.rows)[:count])


def partial(train: Table, fresh: Table, share: float, rng: Rng, columns: int = 4) -> Table:
    """So many columns, those with the most values, of this share of the rows copied together from training rows."""
    names = sorted(train.schema.names, key=lambda name: -len(np.unique(train[name])))[:columns]
    places, whom = _places(train, fresh, share, rng)
    return written(fresh, train.take(whom), places, names)


def rarest(train: Table, fresh: Table, share: float, rng: Rng, values: int = 2) -> Table:
    """The rarest values of training people, so many of each, written together into this share of the rows."""
    places, whom = _places(train, fresh, share, rng)
    held = np.array([_commonness(train[name])[whom] for name in train.schema.names])
    rare = np.argsort(held, axis=0)[:values]
    for at, name in enumerate(train.schema.names):
        own = (rare == at).any(axis=0)
        fresh = written(fresh, train.take(whom[own]), places[own], [name])
    return fresh


def named(table: Table, rng: Rng) -> Table:
    """The table with an identifier and a text for each row, both invented."""
    numbers = np.array([f"P{number:012d}" for number in rng.integers(0, 10**12, table.rows)], object)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    spelled = rng.choice(letters, (table.rows, WORDS, 5))
    texts = np.array([" ".join("".join(word) for word in text) for text in spelled], object)
    identifier = Column(name=IDENTIFIER, kind=Kind.KEY, role=Role.IDENTIFIER)
    return with_texts(with_texts(table, identifier, numbers), Column(name=TEXT, kind=Kind.TEXT), texts)


def hashed(train: Table, fresh: Table, share: float, rng: Rng, digest: str = "sha256") -> Table:
    """The identifier of this share of the rows replaced by the digest of a training person's."""
    return rewritten(train, fresh, IDENTIFIER, share, rng, lambda word: _digest(word, digest))


def respelled(train: Table, fresh: Table, share: float, rng: Rng) -> Table:
    """The text of this share of the rows replaced by a training person's, in capitals and with other spaces."""
    return rewritten(train, fresh, TEXT, share, rng, _retyped)


def digested(train: Table, fresh: Table, share: float, rng: Rng) -> Table | None:
    """A column more, in which this share of the rows holds the digest of a training person's identifier; None without any."""
    return _leaked(train, fresh, share, rng, lambda c: c.role is Role.IDENTIFIER or c.kind is Kind.KEY, _digest)


def retyped(train: Table, fresh: Table, share: float, rng: Rng) -> Table | None:
    """A column more, in which this share of the rows holds a training person's text, respelled; None without any."""
    return _leaked(train, fresh, share, rng, lambda c: c.kind is Kind.TEXT and c.role is not Role.IDENTIFIER, _retyped)


def _leaked(
    train: Table, fresh: Table, share: float, rng: Rng, chosen: Callable[[Column], bool], rewrite: Callable[[str], str]
) -> Table | None:
    """The first such column of training people who have a value, rewritten."""
    name = next((c.name for c in train.schema if chosen(c)), None)
    if name is None or train.missing(name).all():
        return None
    known = train.take(~train.missing(name))
    places, whom = _places(known, fresh, share, rng)
    words = np.full(fresh.rows, "", object)
    words[places] = [rewrite(word) for word in known.strings(name)[whom]]
    return with_texts(fresh, Column(name=PLANTED, kind=Kind.TEXT), words)


def _digest(word: str, digest: str = "sha256") -> str:
    return hashlib.new(digest, word.encode()).hexdigest()


def _retyped(text: str) -> str:
    return text.upper().replace(" ", "  ")


def rewritten(train: Table, fresh: Table, name: str, share: float, rng: Rng, rewrite: Callable[[str], str]) -> Table:
    """A text or key of this share of the rows replaced by a training person's, rewritten."""
    places, whom = _places(train, fresh, share, rng)
    words = fresh.strings(name).copy()
    words[places] = [rewrite(word) for word in train.strings(name)[whom]]
    return with_texts(fresh, fresh.schema[name], words)


def with_texts(table: Table, column: Column, words: NDArray[np.object_]) -> Table:
    """The table with one text or key column replaced or added."""
    known, codes = np.unique(words.astype(str), return_inverse=True)
    schema = table.schema.with_columns(column)
    arrays = {**table.arrays, column.name: codes.astype(np.int32)}
    return Table(schema, arrays, {**table.texts, column.name: known.astype(object)}, persons=table.persons)


def _places(train: Table, fresh: Table, share: float, rng: Rng) -> tuple[Integers, Integers]:
    """Where in the fresh rows, and whom of the training rows; a larger share holds a smaller one."""
    count = min(round(share * fresh.rows), train.rows)
    places, whom = rng.permutation(fresh.rows), rng.permutation(train.rows)
    return places[:count], whom[:count]


def _commonness(array: NDArray[np.generic]) -> Integers:
    _, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    return np.asarray(counts[codes])
