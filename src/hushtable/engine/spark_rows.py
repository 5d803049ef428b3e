"""Rows that a cluster keeps as blocks of packed cells, and that answer what is asked of rows: sums and tuples come back, rows stay.

A block that is lost with its worker is decoded again from the source. Every pass counts the rows that it saw: where the source is
another one by then, the run stops.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.engine.compute import Compute
from hushtable.engine.order import quantiles
from hushtable.engine.packing import Packing
from hushtable.engine.spark import UNUSED, functions, translated, unpersist_unused
from hushtable.engine.spark_feed import Feed, changed
from hushtable.engine.spark_jobs import ANSWER, answers, checked, guarded, in_order, summed, task
from hushtable.engine.spark_work import (
    CUT,
    NUMBERS,
    Choosing,
    Chosen,
    Counting,
    Digesting,
    Encoding,
    Fetching,
    Folding,
    Holding,
    Keeping,
    Stored,
    Tallying,
    block_types,
    fetched_texts,
    places_of,
)
from hushtable.engine.spool import require_additive, require_room, require_stored, risen
from hushtable.engine.store import stored
from hushtable.engine.tuples import spelt, too_many, width
from hushtable.errors import InputError, PlanError
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.coins import key_of
from hushtable.table.counting import Kept, Pass
from hushtable.table.rows import BATCH, Code, Columns, Question, Tuples, require_person
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

BUCKET = 1 << 20
"""Rows of persons that are looked at together by one worker, about."""


@dataclass(eq=False)
class Blocks:
    """Blocks that the cluster keeps, and that are let go with the object."""

    schema: Schema
    """Of all columns; those of free text and keys are in no block."""
    frame: Any
    parts: int
    """Partitions of the frame."""
    where: str
    feed: Feed | None = None
    """Where columns of free text and keys are read."""
    picks: Mapping[str, str] = field(default_factory=dict)
    raw: Any = None
    """The frame of raw rows that the feed takes."""
    sizes: dict[int, int] = field(default_factory=dict, init=False)
    """How many rows each block has, by the number of its first."""
    checksums: dict[int, int] = field(default_factory=dict, init=False)
    """Of what is stored of them."""
    free: dict[str, dict[int, int]] = field(default_factory=dict, init=False)
    """Of columns of free text and keys, where nothing else says that they are the same when they are read again."""

    def __post_init__(self) -> None:
        """Let the cluster forget them after the object; at the end of the process the session goes with all it keeps."""
        for frame in (self.frame, *([] if self.raw is None else [self.raw])):
            # Objects are collected at any moment, in the midst of a word with the cluster too: they are let go with the next one.
            weakref.finalize(self, UNUSED.append, frame).atexit = False
        unpersist_unused()

    def listed(self) -> list[tuple[int, bytes]]:
        """What stands beside the blocks, in order, which are made by being asked."""
        with translated(self.where):
            rows = self.frame.select(*NUMBERS, "note").collect()
        held = [row for row in sorted(rows, key=lambda row: row.start) if row["size"]]
        self.sizes = {int(row.start): int(row["size"]) for row in held}
        self.checksums = {int(row.start): int(row.checksum) for row in held}
        return [(int(row.start), bytes(row.note)) for row in sorted(rows, key=lambda row: row.start)]

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(self.sizes.values())

    def part(self, names: Sequence[str]) -> Any:
        """The blocks of some columns."""
        unpersist_unused()
        places = {name: f"c{number}" for number, name in enumerate(stored(self.schema))}
        return self.frame.select(*NUMBERS, *(places[name] for name in names))


@dataclass(frozen=True, eq=False)
class Clustered:
    """Rows on a cluster under a schema: all columns of blocks or some of them, all of their rows or those that are chosen."""

    schema: Schema
    at: Callable[[], Blocks]
    """Where the rows are; made when it is first asked for."""
    compute: Compute = field(default_factory=Compute)
    chosen: NDArray[np.uint8] | None = field(default=None, repr=False)
    """One bit for each row of the blocks; all of them when absent."""
    known: int | None = None
    """How many rows the blocks have, where that is known before they are made."""
    ignored: tuple[str, ...] = ()
    counts: Kept = field(default_factory=Kept, repr=False)

    def __repr__(self) -> str:
        """Shape only: rows never enter a repr."""
        return f"Clustered({self.rows:,} rows: {', '.join(self.schema.names)})"

    @property
    def blocks(self) -> Blocks:
        """Where the rows are."""
        return self.at()

    @cached_property
    def rows(self) -> int:
        """How many there are."""
        if self.chosen is not None:
            return int(np.bitwise_count(self.chosen).sum())
        return self.blocks.rows if self.known is None else self.known

    def histograms(self, sets: Sequence[Columns]) -> Sequence[Integers]:
        """The joint histogram of each of these sets, in one pass; kept for the next question."""
        sizes = {name: histogram_sizes(self.schema, (name,))[0] for columns in sets for name in columns}
        for columns in sets:
            histogram_sizes(self.schema, columns)

        def count(own: Pass) -> Integers:
            return self._summed(Counting(self._stored(own.names), own), self.blocks.part(own.names), (int(own.cells[-1]),))

        return self.counts.histograms(sets, sizes, count)

    def fold(self, question: Question) -> Integers:
        """The answer to an additive question, summed over the workers; PlanError where it is not additive."""
        asked = require_additive(question)
        nothing = asked.answer(Table.empty(self.schema.select(asked.reads)))
        # A question that reads no column counts rows, of which one column is enough.
        names = tuple(self.schema.select(asked.reads).names) if asked.reads else self._any
        cells = set(stored(self.blocks.schema))
        if cells.issuperset(names):
            return nothing + self._summed(Folding(self._stored(names), asked), self.blocks.part(names), nothing.shape)
        if not cells.isdisjoint(names):
            raise PlanError(f"{type(asked).__name__} reads free text and keys beside other columns: --engine duckdb answers it")
        return nothing + self._summed(Folding(self._fetching(names), asked), self.blocks.raw, nothing.shape, self.rows)

    def distinct(self, columns: Iterable[str], limit: int) -> Tuples:
        """The different tuples of some columns, in order of their codes, and how many rows hold each."""
        schema = self.schema.select(columns)
        require_stored(schema)
        if not self.rows:
            return Tuples(Table.empty(schema), np.zeros(0, np.int64))
        words = [f"k{number}" for number in range(width(schema))]
        work = Tallying(self._stored(tuple(schema.names)), len(words), limit)
        with translated(self.blocks.where):
            sql = functions(self.blocks.frame)
            parts = self.blocks.part(schema.names).mapInArrow(
                guarded(work), ", ".join(f"{name} bigint" for name in ("tuples", *words))
            )
            found = parts.groupBy(*words).agg(sql.sum("tuples").alias("tuples"), sql.min("tuples").alias("least")).limit(limit + 1)
            tuples_found = found.toArrow()
        counts = tuples_found["tuples"].to_numpy().astype(np.int64)
        if len(counts) > limit or (tuples_found["least"].to_numpy() < 0).any():
            raise too_many(limit, schema)
        if int(counts.sum()) != self.rows:
            raise changed(self.blocks.where)
        return spelt(np.stack([tuples_found[word].to_numpy().astype(np.int64) for word in words], axis=1), counts, schema)

    def quantiles(self, name: str, shares: Iterable[float]) -> Floats:
        """Values below which these shares of the present values lie: actual values, the lower ones."""
        return quantiles(self.fold, name, shares)

    def batches(self, size: int = BATCH, columns: Iterable[str] | None = None) -> Iterator[Table]:
        """The rows in order, at most ``size`` at a time, all columns or some: one block after the other comes to the driver."""
        schema = self.schema if columns is None else self.schema.select(columns)
        own = tuple(stored(schema))
        free = tuple(name for name in schema.names if name not in own)
        cells, texts = (
            _Held(self._read(own or self._any)) if own or not free else None,
            _Held(self._fetched(free)) if free else None,
        )
        at = 0
        while at < self.rows:
            rows = min(size, *(part.left(at) for part in (cells, texts) if part))
            arrays = {name: cells.arrays[name][cells.cut(at, rows)] for name in own} if cells else {}
            if texts is not None:
                assert texts.table is not None
                arrays |= {name: texts.arrays[name][texts.cut(at, rows)] for name in free}
            yield Table(
                schema, {name: arrays[name] for name in schema.names}, dict(texts.table.texts) if texts and texts.table else {}
            )
            at += rows

    def take(self, rows: NDArray[np.integer] | Mask | slice) -> Clustered:
        """Those rows, by mask or by rising positions: rows out of memory keep their order."""
        return replace(self, chosen=risen(rows, self.blocks.rows, self.chosen), counts=Kept())

    def select(self, names: Iterable[str]) -> Clustered:
        """Those columns."""
        return replace(self, schema=self.schema.select(names))

    def under(self, schema: Schema) -> Clustered:
        """The same rows under a schema that differs in roles, marks or notes only."""
        return replace(self, schema=schema)

    def encoded(self, code: Code) -> Clustered:
        """The rows as a code writes them: by the workers, block by block, once somebody asks for them."""
        # No code reads free text or keys, which are no cells: they stay behind.
        read = self.schema.select(stored(self.schema))
        schema = code.apply(Table.empty(read)).schema

        def write() -> Blocks:
            names = tuple(read.names)
            blocks, own = self.blocks, self._stored(names)
            with translated(blocks.where):
                types = block_types(len(stored(schema)))
                frame = blocks.part(names).mapInArrow(guarded(Encoding(own, code, schema)), types).persist()
            written = Blocks(schema, frame, blocks.parts, blocks.where)
            if any(note for _, note in written.listed()):
                raise PlanError(CUT)
            if written.rows != self.rows:
                raise changed(blocks.where)
            return written

        return Clustered(schema, cache(write), self.compute, known=self.rows)

    def bounded(self, key: str, most: int, words: Callable[[int], NDArray[np.uint64]], seed: int | None) -> Clustered:
        """At most so many rows of each person, picked at random, and none whose person is unknown.

        The driver draws a key, from which the coins of all rows follow wherever they are.
        """
        rows, wide = self._holders(key)
        inside = np.zeros(self.rows, np.bool_)
        buckets = max(1, -(-self.rows // BUCKET))
        with translated(self.blocks.where):
            together = rows.repartition(buckets, "one", "two").mapInArrow(task(Keeping(most, key_of(words, seed), wide)), ANSWER)
        for row in in_order(together, self.blocks.where):
            for answer in checked([(int(row.number), bytes(row.bytes))], self.blocks.where):
                inside[places_of(answer)] = True
        return self.take(inside)

    def within(self, key: str, most: int) -> int:
        """How many rows ``bounded`` leaves."""
        rows, _ = self._holders(key)
        with translated(self.blocks.where):
            held, sql = rows.groupBy("one", "two").count(), functions(rows)
            (found,) = held.agg(sql.sum(sql.least(sql.col("count"), sql.lit(most))).alias("rows")).collect()
        return int(found.rows or 0)

    def digest(self) -> bytes:
        """A digest of the rows as they are stored, and of which of them there are: of what workers make of each block."""
        own = hashlib.sha256("\0".join(self.schema.names).encode())
        names = tuple(stored(self.schema))
        for start, part in sorted(answers(self.blocks.part(names), Digesting(self._stored(names)), self.blocks.where)):
            own.update(start.to_bytes(8, "little") + part)
        return own.digest()

    def whole(self, why: str) -> Table:
        """All rows in memory; PlanError where they do not fit into what the run may use."""
        require_room(self.rows, self.schema, self.compute, why)
        return replace(Table.concat([Table.empty(self.schema), *self.batches()]), ignored=self.ignored)

    @property
    def _any(self) -> Columns:
        """A column, one that is stored where there is any."""
        return tuple(stored(self.schema) or stored(self.blocks.schema) or self.schema.names)[:1]

    @cached_property
    def _inside(self) -> Chosen:
        return Chosen(self.chosen)

    def _stored(self, names: Columns) -> Stored:
        schema = self.schema if set(names) <= set(self.schema.names) else self.blocks.schema
        return Stored(schema.select(names), self._inside, self.blocks.checksums, self.blocks.where)

    def _summed(self, work: Any, frame: Any, shape: tuple[int, ...], rows: int | None = None) -> Integers:
        """The sum over all partitions, of which so many rows are seen: those of all blocks where nothing is said."""
        total, seen = summed(frame, work, shape, self.blocks.parts, self.blocks.where)
        if seen != (self.blocks.rows if rows is None else rows):
            raise changed(self.blocks.where)
        return total

    def _read(self, names: Columns) -> Iterator[tuple[int, int, Table]]:
        """The chosen rows of each block, in order."""
        own = self._stored(names)
        with translated(self.blocks.where):
            frame = self.blocks.part(names).mapInArrow(guarded(Choosing(own)), block_types(len(names)))
        for start, rows, _, _, *cells in in_order(frame, self.blocks.where):
            parts = zip(own.schema, cells, strict=True)
            yield start, rows, own.table({column.name: np.frombuffer(bytes(part), Packing(column).dtype) for column, part in parts})

    def _fetched(self, names: Columns) -> Iterator[tuple[int, int, Table]]:
        """The same of columns of free text and keys."""
        schema = self.schema.select(names)
        with translated(self.blocks.where):
            frame = self.blocks.raw.mapInArrow(task(self._fetching(names)), ANSWER)
        for row in in_order(frame, self.blocks.where):
            for start, answer in checked([(int(row.number), bytes(row.bytes))], self.blocks.where):
                table = fetched_texts(answer, schema)
                yield start, table.rows, table

    def _fetching(self, names: Columns) -> Fetching:
        blocks = self.blocks
        if blocks.feed is None:
            raise PlanError(
                f"column {', '.join(names)}: free text and keys are read where they lie, with --engine memory or duckdb"
            )
        known = {name: blocks.free[name] for name in names if name in blocks.free}
        return Fetching(blocks.feed, self.schema.select(names), {name: blocks.picks[name] for name in names}, self._inside, known)

    def _holders(self, key: str) -> tuple[Any, int]:
        """Who holds each row, and in how many words that is said."""
        require_person(key, self.schema)
        free = key not in stored(self.schema)
        rows, frame = (self._fetching((key,)), self.blocks.raw) if free else (self._stored((key,)), self.blocks.part((key,)))
        with translated(self.blocks.where):
            return frame.mapInArrow(guarded(Holding(key, rows)), "one bigint, two bigint, place bigint"), 2 if free else 1


class _Held:
    """Tables that come one after the other, cut anew."""

    def __init__(self, parts: Iterator[tuple[int, int, Table]]) -> None:
        self.parts, self.start, self.stop = parts, 0, 0
        self.table: Table | None = None

    def left(self, at: int) -> int:
        """How many rows there are at hand from this one on."""
        if at == self.stop:
            start, rows, self.table = next(self.parts, (at, 0, None))
            if start != at or not rows:
                raise InputError("came in another order than before, or was changed while it was read", where="rows")
            self.start, self.stop = start, start + rows
        return self.stop - at

    @property
    def arrays(self) -> Mapping[str, Array]:
        """Of the table at hand."""
        assert self.table is not None
        return self.table.arrays

    def cut(self, at: int, rows: int) -> slice:
        """These rows of it."""
        return slice(at - self.start, at - self.start + rows)
