"""What workers do with rows: decode them into blocks of packed cells, and answer questions from blocks.

A block is one row of a data frame: the number of its first row, how many there are, a checksum, and a string of bytes for each
column. Where a block that was lost is made again, the checksum says whether of the same rows. Nothing here draws a coin, and
nothing depends on how rows lie in partitions but the order in which whole numbers are added.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from hushtable.engine.decode import Decoder, Each, Faults, Numbers, Words
from hushtable.engine.decoders import placed
from hushtable.engine.packing import Cells, Packing
from hushtable.engine.persons import chosen as staying
from hushtable.engine.spark_feed import Changed, Chunk, Feed, changed
from hushtable.engine.spark_jobs import FAULTS, ROWS, Answers, Batches, packed, partial_sums
from hushtable.engine.store import stored
from hushtable.engine.tuples import tallied
from hushtable.errors import InputError
from hushtable.table.arrays import Array, Integers, Mask
from hushtable.table.coins import Words as Identity
from hushtable.table.coins import identified
from hushtable.table.counting import Pass
from hushtable.table.files import ParquetColumn, plain
from hushtable.table.rows import Additive, Code
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import make

NUMBERS = ("start", "size", "checksum")
"""Of a block, beside its bytes."""
BLOCK = 1 << 17
"""Rows of a block, at most."""
LISTED = "place int, word string, held bigint, first bigint"
"""What ``Listing`` gives out."""
CUT = "a code that looks at all rows at once encodes rows in memory only: --engine memory"


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a block, those of them that are chosen."""

    start: int
    """How many chosen rows come before them."""
    seen: int
    """How many rows the block has, chosen or not."""
    rows: int
    cells: Cells


@dataclass(frozen=True, eq=False)
class Chosen:
    """Which rows there are, by one bit for each; all where there are no bits."""

    bits: NDArray[np.uint8] | None = None

    def before(self, start: int) -> int:
        """How many of the rows before this one there are."""
        if self.bits is None:
            return start
        whole, rest = divmod(start, 8)
        count = int(np.bitwise_count(self.bits[:whole]).sum())
        return count + int(np.unpackbits(self.bits[whole : whole + 1])[:rest].sum()) if rest else count

    def among(self, start: int, stop: int) -> Mask | None:
        """Which of these rows there are; None where all."""
        if self.bits is None:
            return None
        first = start // 8
        inside = np.unpackbits(self.bits[first : -(-stop // 8)])[start - 8 * first :][: stop - start].view(np.bool_)
        return None if inside.all() else inside


@dataclass(frozen=True, eq=False)
class Stored:
    """Some columns of blocks, in the order of the frame, and which rows."""

    schema: Schema
    """Of these columns."""
    chosen: Chosen = field(default_factory=Chosen)
    checksums: Mapping[int, int] = field(default_factory=dict)
    """Of each block, by the number of its first row."""
    where: str = "rows"

    def blocks(self, batches: Batches) -> Iterator[Block]:
        """The blocks of one partition."""
        for batch in batches:
            numbers, strings = batch.columns[:3], batch.columns[3:]
            for place, (start, rows, checksum) in enumerate(zip(*(own.to_pylist() for own in numbers), strict=True)):
                yield self.block(start, rows, checksum, [own[place].as_buffer() for own in strings])

    def block(self, start: int, rows: int, checksum: int, strings: Sequence[Any]) -> Block:
        """The chosen rows of one block, from what is stored of each column; Changed where it was made again, of other rows."""
        if self.checksums.get(start) != checksum:
            raise changed(self.where)
        inside = self.chosen.among(start, start + rows)
        cells = dict[str, Array]()
        for column, own in zip(self.schema, strings, strict=True):
            array = np.frombuffer(own, Packing(column).dtype)
            cells[column.name] = array if inside is None else array[inside]
        return Block(self.chosen.before(start), rows, rows if inside is None else int(inside.sum()), cells)

    def table(self, cells: Cells) -> Table:
        """Rows of a block as they are in memory."""
        return Table(self.schema, {column.name: Packing(column).unpack(cells[column.name]) for column in self.schema})


@dataclass(frozen=True, eq=False)
class Counting:
    """Joint histograms."""

    stored: Stored
    own: Pass

    def __call__(self, batches: Batches) -> Answers:
        """Partial sums."""
        seen = [0]

        def cells() -> Iterator[Cells]:
            for block in self.stored.blocks(batches):
                seen[0] += block.seen
                if block.rows:
                    yield block.cells

        counts = self.own.over(cells())
        yield from partial_sums(counts, seen[0])


@dataclass(frozen=True, eq=False)
class Folding:
    """An additive question."""

    rows: Stored | Fetching
    question: Additive

    def __call__(self, batches: Batches) -> Answers:
        """Partial sums."""
        total, seen = self.question.answer(Table.empty(self.rows.schema)), 0
        for rows, table in self._tables(batches):
            seen += rows
            if table is not None and table.rows:
                total = total + self.question.answer(table)
        yield from partial_sums(total, seen)

    def _tables(self, batches: Batches) -> Iterator[tuple[int, Table | None]]:
        """The chosen rows, and how many were seen: of blocks also those that are not chosen."""
        if isinstance(self.rows, Fetching):
            for _, table in self.rows.tables(batches):
                yield table.rows, table
            return
        for block in self.rows.blocks(batches):
            yield block.seen, self.rows.table(block.cells) if block.rows else None


@dataclass(frozen=True, eq=False)
class Digesting:
    """A digest of what is stored of each block."""

    stored: Stored

    def __call__(self, batches: Batches) -> Answers:
        """By the number of its first row."""
        for block in self.stored.blocks(batches):
            own = hashlib.sha256()
            for name in self.stored.schema.names:
                own.update(np.ascontiguousarray(block.cells[name]).tobytes() + b"\0")
            if block.rows:
                yield block.start, own.digest()


@dataclass(frozen=True, eq=False)
class Choosing:
    """The chosen rows of blocks."""

    stored: Stored

    def __call__(self, batches: Batches) -> Batches:
        """Blocks of them, none without a row."""
        for block in self.stored.blocks(batches):
            if block.rows:
                cells = [np.ascontiguousarray(block.cells[name]).tobytes() for name in self.stored.schema.names]
                yield block_of(block.start, block.rows, b"", cells)


@dataclass(frozen=True, eq=False)
class Tallying:
    """The different tuples of each partition, as keys of some words, and their counts; a count of -1 where there are too many."""

    stored: Stored
    width: int
    limit: int

    def __call__(self, batches: Batches) -> Batches:
        """Keys and counts, for the cluster to add."""
        import pyarrow

        try:
            cells = (block.cells for block in self.stored.blocks(batches) if block.rows)
            keys, counts = tallied(cells, self.stored.schema, self.limit)
        except Changed:
            raise
        except InputError:
            for _ in batches:
                pass
            keys, counts = np.zeros((1, self.width), np.int64), np.array([-1])
        names = ["tuples", *(f"k{number}" for number in range(self.width))]
        columns = [counts, *(np.ascontiguousarray(keys[:, number]) for number in range(self.width))]
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array(column) for column in columns], names=names)


@dataclass(frozen=True, eq=False)
class Encoding:
    """Rows as a code writes them, each by itself."""

    stored: Stored
    code: Code
    schema: Schema
    """Of what it writes."""

    def __call__(self, batches: Batches) -> Batches:
        """Blocks."""
        for block in self.stored.blocks(batches):
            if not block.rows:
                continue
            written = self.code.apply(self.stored.table(block.cells))
            if written.schema != self.schema or written.rows != block.rows:
                yield block_of(block.start, block.rows, json.dumps({"refused": CUT}).encode(), [b""] * len(stored(self.schema)))
                continue
            cells = [Packing(written.schema[name]).pack(written[name]).tobytes() for name in stored(self.schema)]
            yield block_of(block.start, block.rows, b"", cells)


@dataclass(frozen=True, eq=False)
class Decoding:
    """Raw rows as blocks, under a schema; faults and rows without a word stand beside them."""

    feed: Feed
    decoders: Mapping[str, Decoder]
    """Of all columns that are looked at."""
    kept: tuple[str, ...]
    """The columns that are stored."""
    picks: Mapping[str, str]
    """What DuckDB is asked for, of columns that are not read by their words."""
    words: Mapping[str, tuple[int, ParquetColumn, NDArray[np.object_]]]
    """The words of the others, and a number for each."""
    free: Mapping[str, str] = field(default_factory=dict)
    """What DuckDB is asked for, of columns of free text and keys that nothing but a checksum says are read the same again."""

    def __call__(self, batches: Batches) -> Batches:
        """Blocks; of a part with a fault none but its faults."""
        held: object = None
        picks = dict(self.picks)
        try:
            for chunk in self.feed.chunks(batches):
                if chunk.connection is not held:
                    held = chunk.connection
                    picks |= {name: _placed(chunk, *own) for name, own in self.words.items()}
                yield from self._read(chunk, picks)
        except InputError as error:
            yield block_of(-1, 0, json.dumps({"refused": ""}).encode() + b"\0" + packed(error.faults), [b""] * len(self.kept))
        for _ in batches:
            pass

    def _read(self, chunk: Chunk, picks: Mapping[str, str]) -> Batches:
        asked = {**self.free, **{name: picks[name] for name in self.decoders}}
        raw = dict(zip(asked, chunk.fetch([*asked.values()]), strict=True))
        cells, faults, unread = dict[str, Array](), dict[str, str](), dict[str, int]()
        for name, decoder in self.decoders.items():
            before = decoder.unread if isinstance(decoder, Words) else 0
            given = plain(raw[name]) if isinstance(decoder, Each) else np.ma.asanyarray(raw[name])
            broken = isinstance(decoder, Words) and bool(decoder.faults.found)
            cells[name] = decoder.read(given, chunk.start)
            if isinstance(decoder, Words):
                unread[name] = before - decoder.unread
            elif decoder.faults.found:
                faults[name] = packed(decoder.faults.found.values()).decode()
                decoder.faults = Faults()
                broken = True
            if broken:
                cells[name] = np.empty(0)
        whole = not faults and all(len(cells[name]) == chunk.rows for name in self.kept)
        free = {name: checksums(plain(raw[name]), chunk.start) for name in self.free}
        note = json.dumps({"faults": faults, "unread": unread, "free": free}).encode()
        for start in range(0, chunk.rows, BLOCK):
            stop = min(start + BLOCK, chunk.rows)
            strings = [np.ascontiguousarray(cells[name][start:stop]).tobytes() if whole else b"" for name in self.kept]
            yield block_of(chunk.start + start, stop - start, b"" if start else note, strings)


@dataclass(frozen=True, eq=False)
class Listing:
    """The words of columns, how many rows hold each and the first that does, in each part of the rows."""

    feed: Feed
    columns: Mapping[int, ParquetColumn]
    parts: Mapping[int, int]
    """Of which columns only one word in so many is listed, as its hash says: each with all of its rows."""

    def __call__(self, batches: Batches) -> Batches:
        """The number of the column, a word, a count, and the number of a row; among them how many rows were seen."""
        try:
            for chunk in self.feed.chunks(batches):
                yield _listed(ROWS, [duckdb.__version__ if self.parts else None], [chunk.rows], [chunk.start])
                for number, own in self.columns.items():
                    part = self.parts.get(number, 1)
                    rows = f"(SELECT {own.pick} AS v, row_number() OVER () - 1 AS place FROM {chunk.relation})"
                    found = chunk.connection.execute(
                        f"SELECT v::VARCHAR AS w, count(*)::BIGINT AS n, min(place)::BIGINT AS first FROM {rows} "
                        f"{f'WHERE hash(v) % {part} = 0' if part > 1 else ''} GROUP BY 1"
                    ).fetchnumpy()
                    counts, first = np.asarray(found["n"]), np.asarray(found["first"]) + chunk.start
                    yield _listed(number, plain(found["w"]).tolist(), counts, first)
        except InputError as error:
            yield _listed(FAULTS, [packed(error.faults).decode()], [1], [0])
        for _ in batches:
            pass


@dataclass(frozen=True, eq=False)
class Beginning:
    """The cells of the first row, as texts."""

    feed: Feed
    picks: Sequence[str]

    def __call__(self, batches: Batches) -> Answers:
        """By the number of the column."""
        for chunk in self.feed.chunks(batches):
            cells = ", ".join(f"({pick})::VARCHAR" for pick in self.picks)
            for row in chunk.connection.execute(f"SELECT {cells} FROM {chunk.relation} LIMIT 1").fetchall():
                for number, cell in enumerate(row):
                    yield number, (cell or "").strip().encode()
            return


@dataclass(frozen=True, eq=False)
class First:
    """The numbers of the first rows that hold one of some words."""

    feed: Feed
    number: int
    own: ParquetColumn
    words: NDArray[np.object_]
    wrong: Mask
    """Which of the words, and last whether a missing value."""
    most: int

    def __call__(self, batches: Batches) -> Answers:
        """Each by itself, counted from 1."""
        found, held, expression = 0, None, ""
        for chunk in self.feed.chunks(batches):
            if chunk.connection is not held:
                held, expression = chunk.connection, _placed(chunk, self.number, self.own, self.words)
            places = np.ma.getdata(chunk.fetch([expression])[0])
            for row in np.flatnonzero(self.wrong[places])[: self.most - found]:
                found += 1
                yield chunk.start + int(row) + 1, b""


@dataclass(frozen=True, eq=False)
class Bounding:
    """The least and the greatest number of each part of the rows."""

    feed: Feed
    decoder: Numbers | Each
    pick: str

    def __call__(self, batches: Batches) -> Answers:
        """By the number of its first row."""
        for chunk in self.feed.chunks(batches):
            raw = chunk.fetch([self.pick])[0]
            found = self.decoder.bounds(plain(raw) if isinstance(self.decoder, Each) else np.ma.asanyarray(raw))
            if found is not None:
                yield chunk.start, json.dumps([found.low, found.high]).encode()


@dataclass(frozen=True, eq=False)
class Fetching:
    """Columns of free text and keys as they are in memory, and which rows."""

    feed: Feed
    schema: Schema
    picks: Mapping[str, str]
    chosen: Chosen
    checksums: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """Of what columns held when the blocks were made, by the number of the first row; files need none, for they are pinned."""

    def tables(self, batches: Batches) -> Iterator[tuple[int, Table]]:
        """Tables, each with the number of its first row among those that are chosen."""
        for chunk in self.feed.chunks(batches):
            inside = self.chosen.among(chunk.start, chunk.start + chunk.rows)
            raw = dict(zip(self.picks, map(plain, chunk.fetch([*self.picks.values()])), strict=True))
            if any(checksums(raw[name], chunk.start).items() - known.items() for name, known in self.checksums.items()):
                raise changed(self.feed.name)
            table = make(self.schema, tuple(self.picks), raw.__getitem__, where=self.feed.name)
            table = table if inside is None else table.take(inside)
            for start in range(0, table.rows, BLOCK):
                yield self.chosen.before(chunk.start) + start, table.take(slice(start, start + BLOCK))

    def __call__(self, batches: Batches) -> Answers:
        """By the number of its first row."""
        for start, table in self.tables(batches):
            own = {}
            for name in table.schema.names:
                places, codes = np.unique(table[name], return_inverse=True)
                words = np.append(table.texts[name], np.array([None], object))
                own[name] = (words[places].tolist(), codes.tolist())
            yield start, zlib.compress(json.dumps(own).encode(), 1)


@dataclass(frozen=True, eq=False)
class Holding:
    """Who holds each row, by two words, and its number: rows of unknown persons left out."""

    key: str
    rows: Stored | Fetching

    def __call__(self, batches: Batches) -> Batches:
        """For the cluster to bring together by person."""
        import pyarrow

        for start, table in self._tables(batches):
            known = np.flatnonzero(~table.missing(self.key))
            words = identified(table[self.key], table.texts.get(self.key))[known].view(np.int64)
            columns = [words[:, 0], words[:, -1], known + start]
            arrays = [pyarrow.array(np.ascontiguousarray(column)) for column in columns]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=["one", "two", "place"])

    def _tables(self, batches: Batches) -> Iterator[tuple[int, Table]]:
        if isinstance(self.rows, Fetching):
            yield from self.rows.tables(batches)
            return
        for block in self.rows.blocks(batches):
            if block.rows:
                yield block.start, self.rows.table(block.cells)


@dataclass(frozen=True, eq=False)
class Keeping:
    """Which rows stay where at most so many of each person do; all rows of a person are in one partition."""

    most: int
    key: Identity
    width: int
    """Words that identify a person."""

    def __call__(self, batches: Batches) -> Answers:
        """The places of those that stay, as the gaps between them."""
        parts = [[column.to_numpy() for column in batch.columns] for batch in batches]
        if not parts:
            return
        one, two, places = (np.concatenate([part[number] for part in parts]) for number in range(3))
        # They come in any order; coins go with the number of a row among its person's own.
        order = np.argsort(places, kind="stable")
        persons = np.stack([one, two][: self.width], axis=1)[order].view(np.uint64)
        left = places[order][staying(np.ascontiguousarray(persons), self.most, self.key)]
        gaps = np.diff(left, prepend=0)
        narrow = gaps.astype(np.min_scalar_type(int(gaps.max(initial=0))))
        yield narrow.dtype.itemsize, zlib.compress(narrow.tobytes(), 1)


def checksums(values: Array, start: int) -> dict[int, int]:
    """Of so many values as a block has rows, by the number of the first."""
    parts = {start + first: values[first : first + BLOCK].tolist() for first in range(0, len(values), BLOCK)}
    return {first: zlib.crc32(json.dumps(own, default=str).encode()) for first, own in parts.items()}


def places_of(answer: tuple[int, bytes]) -> Integers:
    """The places that ``Keeping`` answers with."""
    wide, gaps = answer
    return np.cumsum(np.frombuffer(zlib.decompress(gaps), f"u{wide}").astype(np.int64))


def fetched_texts(answer: bytes, schema: Schema) -> Table:
    """The table that ``Fetching`` answers with."""
    arrays, texts = dict[str, Array](), dict[str, NDArray[np.object_]]()
    for name, (words, codes) in json.loads(zlib.decompress(answer)).items():
        # A missing one has the least code, and comes first.
        gone = int(words[:1] == [None])
        texts[name] = np.array([*words[gone:], None], object)[:-1]
        arrays[name] = (np.asarray(codes, np.int64) - gone).astype(schema[name].dtype)
    return Table(schema, arrays, texts)


def block_of(start: int, rows: int, note: bytes, strings: list[bytes]) -> Any:
    """One row of a frame of blocks."""
    import pyarrow

    checksum = reduce(lambda known, own: zlib.crc32(own, known), strings, zlib.crc32(str(rows).encode()))
    arrays = [pyarrow.array([number], pyarrow.int64()) for number in (start, rows, checksum)]
    arrays += [pyarrow.array([own], pyarrow.binary()) for own in (note, *strings)]
    return pyarrow.RecordBatch.from_arrays(arrays, names=block_names(len(strings)))


def block_names(columns: int) -> list[str]:
    """The columns of a frame of blocks."""
    return [*NUMBERS, "note", *(f"c{number}" for number in range(columns))]


def block_types(columns: int) -> str:
    """The same with their types, for Spark."""
    return ", ".join(f"{name} {'bigint' if name in NUMBERS else 'binary'}" for name in block_names(columns))


def _listed(number: int, words: Sequence[str | None], held: Sequence[int] | Integers, first: Sequence[int] | Integers) -> Any:
    import pyarrow

    columns = [
        pyarrow.array([number] * len(words), pyarrow.int32()),
        pyarrow.array(words, pyarrow.string()),
        pyarrow.array(held, pyarrow.int64()),
        pyarrow.array(first, pyarrow.int64()),
    ]
    return pyarrow.RecordBatch.from_arrays(columns, names=["place", "word", "held", "first"])


def _placed(chunk: Chunk, number: int, own: ParquetColumn, words: NDArray[np.object_]) -> str:
    """The place of a value among some words, for DuckDB on a worker."""
    import pyarrow

    chunk.connection.register("listed", pyarrow.table({"w": pyarrow.array(words, pyarrow.string())}))
    chunk.connection.execute(f"CREATE OR REPLACE TEMP TABLE words{number} AS SELECT w FROM listed")
    chunk.connection.unregister("listed")
    return placed(chunk.connection, own, number, len(words))
