"""Rows that Spark's workers read, under a schema: decoded once, into blocks that the cluster keeps.

What is read: a file, a folder or a pattern of Parquet or text files that every worker sees by the same name, which DuckDB reads
there; or what Spark itself reads, named ``table::NAME`` or ``FORMAT::PATH`` (``delta::/data/visits``). Either is decoded as on one
machine: the words of a column are listed first, and what each means is said here, once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from hushtable.display import Progress, silent
from hushtable.engine import decoders
from hushtable.engine.compute import Compute
from hushtable.engine.decode import SHOWN, Decoder, Different, Each, Numbers, Words
from hushtable.engine.decoders import PLAIN, as_numbers, decoder_of, listed
from hushtable.engine.duckdb import READING, require_shape, rows_of
from hushtable.engine.source import DATABASES, INSIDE, SPAN, Source, Span, parquet, require_alike
from hushtable.engine.spark import Session, functions, session, told
from hushtable.engine.spark_feed import Feed, Files, Given, at_work, changed, numbers, only
from hushtable.engine.spark_jobs import FAULTS, Answers, Batches, answers, unpacked
from hushtable.engine.spark_rows import Blocks, Clustered
from hushtable.engine.spark_work import Bounding, Decoding, First, Listing, block_types
from hushtable.engine.store import stored
from hushtable.errors import InputError
from hushtable.table.arrays import Mask
from hushtable.table.columns import Bounds
from hushtable.table.files import ParquetColumn
from hushtable.table.layout import Layout
from hushtable.table.schema import Schema

TASKS = 512
"""Parts that a pass has at most, each read by one worker; on one machine four for each worker, as every one costs Spark 80 ms."""
PLAIN_TYPES = ("tinyint", "smallint", "int", "bigint", "float", "double", "string", "boolean", "date", "timestamp_ntz")
"""Types of Spark that come as they are; all others as what Spark writes for them."""


def read(
    given: str | Path,
    schema: Schema,
    compute: Compute,
    layout: Layout | None = None,
    progress: Progress = silent,
    least: int = 2,
    *,
    generalized: bool = False,
) -> Clustered:
    """The rows of a source under a schema, kept by the cluster; InputError lists every fault of every column."""
    opened, layout = session(compute), layout or Layout()
    progress(READING, 0.0)
    text = str(given)
    form, _, name = text.partition(INSIDE)
    raw = _table(opened, form, name, text) if _by_spark(text) else _files(opened, text, layout, _tasks(compute.engine))
    if isinstance(raw.feed, Given):
        layout.require_none(text)
    require_shape([column.name for column in raw.columns], raw.rows, schema, text, least)
    blocks = _Reading(opened, raw, schema, generalized).blocks()
    progress(READING, 1.0)
    ignored = tuple(column.name for column in raw.columns if column.name not in schema)
    return Clustered(blocks.schema, lambda: blocks, compute, ignored=ignored)


def files(given: str | Path, compute: Compute) -> tuple[Path, ...]:
    """What is read, as a worker sees it: files, or the name of a table of Spark."""
    return (Path(given),) if _by_spark(str(given)) else _listed(session(compute), str(given)).files


def _by_spark(text: str) -> bool:
    form, between, _ = text.partition(INSIDE)
    return bool(between) and not form.lower().endswith(DATABASES)


@dataclass(frozen=True, eq=False)
class _Raw:
    """Rows before they are decoded."""

    feed: Feed
    frame: Any
    """What the feed takes its rows from."""
    parts: int
    """Partitions of the frame."""
    columns: tuple[ParquetColumn, ...]
    rows: int
    abouts: Mapping[str, int]
    """About how many different values the first part of the rows has."""
    first: int
    """Rows of that part."""


@dataclass(frozen=True)
class _Listing:
    """The files that a name stands for, as a worker sees them."""

    given: str

    def __call__(self, batches: Batches) -> Answers:
        """Their names, sizes and times."""
        source = Source.of(self.given)
        if source.form == "duckdb":
            raise InputError("a DuckDB file is read with --engine duckdb; write it as Parquet for a cluster", where=self.given)
        files = [(str(path), *pin) for path, pin in zip(source.files, source.pins, strict=True)]
        yield 0, json.dumps([source.form, files]).encode()


@dataclass(frozen=True)
class _Shaping:
    """What each file holds: its columns, and spans of rows."""

    source: Source
    layout: Layout

    def __call__(self, batches: Batches) -> Answers:
        """By the number of the file."""
        for number in numbers(batches):
            own = only(self.source, self.source.files[number])
            with at_work(self.source.name) as (connection, folder):
                rows = parquet(own, self.layout, connection, folder)
                copied = own.form == "csv" or any(path not in own.files for path in rows.paths)
                counts = ", ".join(f"approx_count_distinct({column.pick})" for column in rows.columns)
                about: Sequence[int] = []
                if number == 0 and rows.spans:
                    about = connection.execute(f"SELECT {counts} FROM {rows_of(rows.spans[0])}").fetchall()[0]
                columns = [(column.name, column.pick, column.kind) for column in rows.columns]
                spans = [(span.start, span.stop) for span in rows.spans]
                yield number, json.dumps([columns, spans, rows.rows, copied, about]).encode()


def _tasks(engine: str) -> int:
    alone = re.fullmatch(r"local\[(\d+|\*)\]", engine)
    if alone is None:
        return TASKS
    return 4 * ((os.cpu_count() or 1) if alone[1] == "*" else int(alone[1]))


def _listed(opened: Session, text: str) -> Source:
    """The files that a name stands for where workers are."""
    whole = text if "://" in text else os.path.abspath(text)
    with told(text):
        asked = opened.range(0, 1, 1, 1)
    form, found = json.loads(answers(asked, _Listing(whole), text)[0][1])
    return Source(text, form, tuple(Path(path) for path, _, _ in found), pins=tuple((size, time) for _, size, time in found))


def _files(opened: Session, text: str, layout: Layout, tasks: int) -> _Raw:
    """Files that workers read."""
    source = _listed(opened, text)
    files = source.files
    with told(text):
        asked = opened.range(0, len(files), 1, min(len(files), tasks))
    shapes = [json.loads(answer) for _, answer in sorted(answers(asked, _Shaping(source, layout), text))]
    columns = [tuple(ParquetColumn(*column) for column in own) for own, *_ in shapes]
    require_alike(columns, files)
    copied = any(own for *_, own, _ in shapes)
    before = [0, *accumulate(rows for _, _, rows, *_ in shapes)]
    spans = tuple(
        Span(path, start, stop, first)
        for path, first, (_, parts, rows, *_) in zip(files, before[:-1], shapes, strict=True)
        for start, stop in ([(0, rows)] if copied and rows else parts)
    )
    parts = max(min(len(spans), tasks), 1)
    with told(text):
        frame = opened.range(0, len(spans), 1, parts)
    about, first = shapes[0][4], (shapes[0][1][0][1] if shapes[0][1] else 0)
    names = [column.name for column in columns[0]]
    abouts = dict(zip(names, about, strict=True)) if about else dict.fromkeys(names, 0)
    return _Raw(Files(source, layout, spans, copied), frame, parts, columns[0], before[-1], abouts, first)


@dataclass(frozen=True)
class _Sizing:
    """How many rows each partition has."""

    def __call__(self, batches: Batches) -> Answers:
        """By its number."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        yield context.partitionId(), str(sum(batch.num_rows for batch in batches)).encode()


def _table(opened: Session, form: str, name: str, text: str) -> _Raw:
    """A table that Spark reads."""
    # The name of a file system loses a stroke where it is taken for a path.
    name = re.sub(r"^(\w+):/(?!/)", r"\1://", name)
    with told(text):
        table = opened.read.table(name) if form == "table" else opened.read.format(form).load(name)
        sql = functions(table)
        own = [(column.name, column.dataType.simpleString()) for column in table.schema.fields]
        picks = [
            (column if kind in PLAIN_TYPES else column.cast("timestamp_ntz" if kind == "timestamp" else "string")).alias(
                f"c{place}"
            )
            for place, (label, kind) in enumerate(own)
            for column in [sql.col("`" + label.replace("`", "``") + "`")]
        ]
        frame = table.select(*picks)
        kinds = frame.limit(0).toArrow()
        names = [f"c{place}" for place in range(len(own))]
        counts = [sql.approx_count_distinct(place).alias(place) for place in names]
        (first,) = frame.limit(SPAN).agg(sql.count(sql.lit(1)).alias("rows"), *counts).collect()
    with closing(duckdb.connect()) as connection:
        connection.register("given", kinds)
        described = connection.execute("DESCRIBE SELECT * FROM given").fetchall()
    columns = tuple(
        ParquetColumn(label.strip(), place, str(row[1])) for (label, _), place, row in zip(own, names, described, strict=True)
    )
    sizes = {number: int(answer) for number, answer in answers(frame, _Sizing(), text)}
    parts = max(sizes, default=-1) + 1
    starts = tuple(accumulate((sizes.get(number, 0) for number in range(parts)), initial=0))
    abouts = {column.name: int(first[column.pick]) for column in columns}
    return _Raw(Given(text, starts), frame, max(parts, 1), columns, starts[-1], abouts, int(first["rows"]))


@dataclass(frozen=True, eq=False)
class _Reading:
    """One reading of raw rows under a schema."""

    opened: Session
    raw: _Raw
    schema: Schema
    generalized: bool
    expressions: dict[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """What faults are reported of."""
        return self.raw.feed.name

    @cached_property
    def columns(self) -> Mapping[str, ParquetColumn]:
        """Of the source, by name."""
        return {column.name: column for column in self.raw.columns}

    def blocks(self) -> Blocks:
        """Decode all rows; the faults of all columns come at once, and before that nothing is handed out."""
        cells = {name: decoder_of(self, self.schema[name]) for name in stored(self.schema)}
        # Free text is read where it is needed; that it is there, if it must be, is seen now.
        checked = {c.name: Each(self.schema, c, self.where) for c in self.schema if c.name not in cells and c.required}
        own: dict[str, Decoder] = cells | checked
        by_words = {name for name, decoder in own.items() if isinstance(decoder, Words)}
        picks = {name: self.expressions.get(name, self.columns[name].pick) for name in own if name not in by_words}
        words = {name: (self._number(name), self.columns[name], self._present(name)) for name in by_words}
        unread = {name: decoder.unread for name, decoder in own.items() if isinstance(decoder, Words)}
        schema = replace(self.schema, columns=tuple(cells[c.name].column if c.name in cells else c for c in self.schema))
        with told(self.where):
            work = Decoding(self.raw.feed, own, tuple(cells), picks, words)
            frame = self.raw.frame.mapInArrow(work, block_types(len(cells))).persist()
        blocks = Blocks(
            schema,
            frame,
            self.raw.parts,
            self.where,
            self.raw.feed,
            picks | {c.name: c.pick for c in self.raw.columns},
            self.raw.frame,
        )
        notes = blocks.listed()
        for number, note in notes:
            if number < 0:
                raise InputError(unpacked(note.partition(b"\0")[2]))
        for _, note in notes:
            found = json.loads(note) if note else {"faults": {}, "unread": {}}
            for name, faults in found["faults"].items():
                own[name].faults.add(unpacked(faults.encode()))
            for name, count in found["unread"].items():
                unread[name] -= count
        if faults := [fault for c in self.schema if c.name in own for fault in own[c.name].faults.found.values()]:
            raise InputError(faults)
        if any(unread.values()) or blocks.rows != self.raw.rows:
            raise changed(self.where)
        return blocks

    def bounds(self, decoder: Numbers | Each) -> Sequence[Bounds]:
        """The least and the greatest number of each part of the rows that has any."""
        name = decoder.column.name
        work = Bounding(self.raw.feed, decoder, self.expressions.get(name, self.columns[name].pick))
        found = [json.loads(answer) for _, answer in answers(self.raw.frame, work, self.where)]
        return [Bounds(low, high, observed=True) for low, high in found]

    def values(self, own: ParquetColumn) -> Different | None:
        """The different values of a column; None where there are too many."""
        if own.name not in self._words:
            return None
        number, (words, held) = self._number(own.name), self._words[own.name]
        with closing(duckdb.connect()) as connection:
            import pyarrow

            connection.register("found", pyarrow.table({"w": pyarrow.array(words, pyarrow.string()), "n": held}))
            connection.execute(f"CREATE TEMP TABLE words{number} AS SELECT w, w::{own.kind} AS v, n FROM found")
            values, counts = listed(connection, number)

        def first(wrong: Mask) -> tuple[int, ...]:
            work = First(self.raw.feed, number, own, self._present(own.name), wrong, SHOWN)
            rows = sorted(row for row, _ in answers(self.raw.frame, work, self.where))
            return tuple(rows[:SHOWN])

        return Different(values, counts, first)

    def _present(self, name: str) -> NDArray[np.object_]:
        words, _ = self._words[name]
        return np.array([word for word in words if word is not None] + [None], object)[:-1]

    def _number(self, name: str) -> int:
        return [column.name for column in self.raw.columns].index(name)

    @cached_property
    def _words(self) -> dict[str, tuple[NDArray[np.object_], NDArray[np.int64]]]:
        """The words of all columns that are read by them, and how many rows hold each: brought together by the cluster."""
        most = decoders.WORDS
        asked = {
            self._number(name): self.columns[name]
            for name in stored(self.schema)
            if self.columns[name].kind in PLAIN
            and not as_numbers(self.columns[name], self.schema[name])
            and not (self.raw.rows > most and 2 * self.raw.abouts[name] > self.raw.first)
        }
        if not asked:
            return {}
        with told(self.where):
            sql = functions(self.raw.frame)
            parts = self.raw.frame.mapInArrow(Listing(self.raw.feed, asked), "place int, word string, held bigint")
            summed = parts.groupBy("place", "word").agg(sql.sum("held").alias("held")).persist()
            try:
                sizes = {row.place: row["count"] for row in summed.groupBy("place").count().collect()}
                few = [place for place in asked if sizes.get(place, 0) <= most]
                found = summed.filter(sql.col("place").isin([*few, FAULTS])).toArrow()
            finally:
                summed.unpersist()
        places = found["place"].to_numpy()
        words, held = found["word"].to_numpy(zero_copy_only=False), found["held"].to_numpy()
        if faults := [fault for answer in words[places == FAULTS] for fault in unpacked(answer.encode())]:
            raise InputError(dict.fromkeys(faults))
        return {asked[place].name: (words[places == place], held[places == place].astype(np.int64)) for place in few}
