"""Rows that are on disk and answer what is asked of rows, batch after batch, within the memory they are given."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray

from hushtable.engine.compute import Compute
from hushtable.engine.mapped import mapped
from hushtable.engine.order import quantiles
from hushtable.engine.packing import Cells
from hushtable.engine.persons import People, count, kept
from hushtable.engine.store import Store, StoredRows, private_folder, stored
from hushtable.engine.tuples import tuples
from hushtable.errors import PlanError
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.coins import identified, key_of
from hushtable.table.counting import Kept
from hushtable.table.rows import BATCH, Additive, Cellwise, Code, Columns, Question, Tuples, is_additive, require_person
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

HELD = 5
"""So many times what the arrays of a table take is needed to work on it in memory."""


@dataclass(frozen=True, eq=False)
class Spooled:
    """Rows on disk under a schema: all columns of a store or some of them, all of its rows or those that are chosen."""

    schema: Schema
    at: Callable[[], StoredRows]
    """Where the rows lie; written when it is first asked for."""
    compute: Compute = field(default_factory=Compute)
    chosen: NDArray[np.uint8] | None = field(default=None, repr=False)
    """One bit for each row of the store; all of them when absent."""
    known: int | None = None
    """How many rows the store has, where that is known before it is written."""
    ignored: tuple[str, ...] = ()
    counts: Kept = field(default_factory=Kept, repr=False)

    @classmethod
    def of(cls, table: Table, compute: Compute | None = None) -> Spooled:
        """The rows of a table, written to disk; columns of free text and keys are read from the table itself."""
        compute = compute or Compute()

        def texts(names: tuple[str, ...], start: int, stop: int) -> Table:
            return table.select(names).take(slice(start, stop))

        def write() -> Store:
            return Store.of(table.batches(), table.schema, private_folder(compute.work), texts)

        return cls(table.schema, cache(write), compute, ignored=table.ignored)

    def __repr__(self) -> str:
        """Shape only: rows never enter a repr."""
        return f"Spooled({self.rows:,} rows: {', '.join(self.schema.names)})"

    @property
    def store(self) -> StoredRows:
        """Where the rows lie."""
        return self.at()

    @cached_property
    def rows(self) -> int:
        """How many there are."""
        if self.chosen is not None:
            return int(np.bitwise_count(self.chosen).sum())
        return self.store.rows if self.known is None else self.known

    def histograms(self, sets: Sequence[Columns]) -> Sequence[Integers]:
        """The joint histogram of each of these sets, in one pass; kept for the next question."""
        sizes = {name: histogram_sizes(self.schema, (name,))[0] for columns in sets for name in columns}
        for columns in sets:
            histogram_sizes(self.schema, columns)
        return self.counts.histograms(sets, sizes, lambda own: own.over(self.cells(own.names), self.compute.threads))

    def cells(self, columns: Columns) -> Iterator[Cells]:
        """A pass over what is stored of some columns."""
        for start, stop, inside in self._spans(BATCH):
            yield {name: self._stored(name, start, stop, inside) for name in columns}

    def fold(self, question: Question) -> Integers:
        """The answer to an additive question, summed over the batches; PlanError where it is not additive."""
        question = require_additive(question)
        # A question that reads no column counts rows, of which one column is enough.
        answer = question.answer(self._empty(question.reads))
        for batch in self.batches(BATCH, question.reads or self._any):
            answer = answer + question.answer(batch)
        return answer

    def distinct(self, columns: Iterable[str], limit: int) -> Tuples:
        """The different tuples of some columns, in order of their codes, and how many rows hold each."""
        schema = self.schema.select(columns)
        require_stored(schema)
        return tuples(self.cells(schema.names), schema, limit)

    def quantiles(self, name: str, shares: Iterable[float]) -> Floats:
        """Values below which these shares of the present values lie: actual values, the lower ones."""
        return quantiles(self.fold, name, shares)

    def batches(self, size: int = BATCH, columns: Iterable[str] | None = None) -> Iterator[Table]:
        """The rows in order, at most ``size`` at a time, all columns or some of them."""
        schema = self.schema if columns is None else self.schema.select(columns)
        own = stored(schema)
        free = tuple(name for name in schema.names if name not in own)
        for start, stop, inside in self._spans(size):
            arrays = {name: self.store.packings[name].unpack(self._stored(name, start, stop, inside)) for name in own}
            if not free:
                yield Table(schema, arrays)
                continue
            written = self._texts(free, start, stop)
            written = written if inside is None else written.take(inside)
            yield Table(schema, {**arrays, **written.arrays}, written.texts)

    def take(self, rows: NDArray[np.integer] | Mask | slice) -> Spooled:
        """Those rows, by mask or by rising positions: rows on disk keep their order."""
        return replace(self, chosen=risen(rows, self.store.rows, self.chosen), counts=Kept())

    def select(self, names: Iterable[str]) -> Spooled:
        """Those columns."""
        return replace(self, schema=self.schema.select(names))

    def under(self, schema: Schema) -> Spooled:
        """The same rows under a schema that differs in roles, marks or notes only."""
        return replace(self, schema=schema)

    def encoded(self, code: Code) -> Spooled:
        """The rows as a code writes them: by lists of what becomes of each cell, else written anew when somebody asks for them."""
        schema = code.apply(self._empty(self.schema.names)).schema
        if isinstance(code, Cellwise):
            changed = cache(lambda: mapped(self.store, self.schema, code, self.compute.work))
            return Spooled(schema, changed, self.compute, self.chosen, self.known)

        def batches() -> Iterator[Table]:
            for batch in self.batches():
                table = code.apply(batch)
                if table.schema != schema or table.rows != batch.rows:
                    raise PlanError("a code that looks at all rows at once encodes rows in memory only: --engine memory")
                yield table

        def write() -> Store:
            return Store.of(batches(), schema, private_folder(self.compute.work))

        return Spooled(schema, cache(write), self.compute, known=self.rows)

    def bounded(self, key: str, most: int, words: Callable[[int], NDArray[np.uint64]], seed: int | None) -> Spooled:
        """At most so many rows of each person, picked at random, and none whose person is unknown."""
        return self.take(kept(self._holders(key), self.rows, most, key_of(words, seed), self.compute.limit // 4))

    def within(self, key: str, most: int) -> int:
        """How many rows ``bounded`` leaves."""
        return count(self._holders(key), self.rows, most, self.compute.limit // 4)

    def _holders(self, key: str) -> People:
        require_person(key, self.schema)
        return partial(self._people, key)

    def digest(self) -> bytes:
        """A digest of the rows as they are stored, and of which of them there are."""
        own = hashlib.sha256()
        for name in self.schema.names:
            for part in self.cells((name,)) if name in self.store.packings else ():
                own.update(np.ascontiguousarray(part[name]).tobytes())
            own.update(b"\0")
        return own.digest()

    def whole(self, why: str) -> Table:
        """All rows in memory; PlanError where they do not fit into what the run may use."""
        require_room(self.rows, self.schema, self.compute, why)
        batches = list(self.batches())
        return replace(Table.concat(batches) if batches else Table.empty(self.schema), ignored=self.ignored)

    @property
    def _any(self) -> Columns:
        """A column that takes few bytes."""
        packed = [name for name in self.schema.names if name in self.store.packings]
        return (min(packed, key=lambda name: self.store.packings[name].dtype.itemsize),) if packed else self.schema.names[:1]

    def _empty(self, names: Iterable[str]) -> Table:
        return Table.empty(self.schema.select(names))

    def _spans(self, size: int) -> Iterator[tuple[int, int, Mask | None]]:
        """From which row of the store to which, and which of them are there; none without a row."""
        for start in range(0, self.store.rows, size):
            stop = min(start + size, self.store.rows)
            inside = None if self.chosen is None else self._bits(start, stop)
            if inside is None or inside.any():
                yield start, stop, None if inside is None or inside.all() else inside

    def _bits(self, start: int, stop: int) -> Mask:
        assert self.chosen is not None
        first = start // 8
        bits = np.unpackbits(self.chosen[first : -(-stop // 8)])[start - 8 * first :]
        return bits[: stop - start].view(np.bool_)

    def _stored(self, name: str, start: int, stop: int, inside: Mask | None) -> Array:
        cells = self.store.cells(name, start, stop)
        return cells if inside is None else cells[inside]

    def _texts(self, names: Columns, start: int, stop: int) -> Table:
        assert self.store.texts is not None
        return self.store.texts(names, start, stop)

    def _people(self, key: str) -> Iterator[tuple[NDArray[np.uint64], Mask]]:
        column = self.schema[key]
        for start, stop, inside in self._spans(BATCH):
            if key not in self.store.packings:
                words, known = self.store.people(key, start, stop)
            else:
                array = self.store.array(key, start, stop)
                words, known = identified(array, None), ~column.is_missing(array)
            yield (words, known) if inside is None else (words[inside], known[inside])


def require_additive(question: Question) -> Additive:
    """The question; PlanError where parts of the rows do not answer it."""
    if not is_additive(question):
        raise PlanError(f"{type(question).__name__} depends on all rows at once: --engine memory answers it where the rows fit")
    return question


def require_room(rows: int, schema: Schema, compute: Compute, why: str) -> None:
    """PlanError where so many rows do not fit into what the run may use."""
    needed = rows * sum(column.dtype.itemsize for column in schema) * HELD
    if needed > compute.limit:
        have = compute.limit / 2**30
        raise PlanError(
            f"{why} needs all {rows:,} rows in memory, about {needed / 2**30:.1f} GB, and {have:.1f} GB may be used: give "
            "more (--memory), or name a recipe that runs on tables of any size"
        )


def risen(rows: NDArray[np.integer] | Mask | slice, stored: int, chosen: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
    """Which of so many stored rows are those, by mask or by rising positions, of the ones that are chosen; a bit for each."""
    if isinstance(rows, np.ndarray) and rows.dtype != np.bool_ and (np.diff(rows) <= 0).any():
        raise PlanError("rows out of memory stay in their order, each at most once: --engine memory puts them in another")
    inside = np.zeros(stored if chosen is None else int(np.bitwise_count(chosen).sum()), np.bool_)
    inside[rows] = True
    if chosen is not None:
        # A byte for each row, and no number of any.
        own, mine = np.unpackbits(chosen, count=stored).view(np.bool_), inside
        inside = np.zeros(stored, np.bool_)
        inside[own] = mine
    return np.packbits(inside)


def require_stored(schema: Schema) -> None:
    """PlanError where a column is free text or a key."""
    if free := [name for name in schema.names if name not in stored(schema)]:
        raise PlanError(f"column {', '.join(free)}: free text and keys are compared in memory only: --engine memory")
