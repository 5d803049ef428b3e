"""Rows as Spark's workers find them, before they are decoded: what a name stands for, its columns, and how many rows there are.

A name is that of a file, a folder or a pattern of Parquet or text files that every worker sees by the same name, which DuckDB reads
there; or of what Spark itself reads: ``table::NAME`` or ``FORMAT::PATH`` (``delta::/data/visits``).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb

from hushtable.engine.compute import Compute
from hushtable.engine.duckdb import rows_of
from hushtable.engine.source import DATABASES, INSIDE, SPAN, Source, Span, parquet, require_alike
from hushtable.engine.spark import Session, functions, session, translated
from hushtable.engine.spark_feed import Feed, Files, Given, at_work, numbers, only
from hushtable.engine.spark_jobs import Answers, Batches, answers
from hushtable.errors import InputError
from hushtable.table.files import ParquetColumn
from hushtable.table.layout import Layout

TASKS = 512
"""Parts that a pass has at most, each read by one worker; on one machine four for each worker, as every one costs Spark 80 ms."""
PLAIN_TYPES = ("tinyint", "smallint", "int", "bigint", "float", "double", "string", "boolean", "date", "timestamp", "timestamp_ntz")
"""Types of Spark that come as they are; all others as what Spark writes for them."""


@dataclass(frozen=True, eq=False)
class Undecoded:
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


def undecoded(given: str | Path, compute: Compute, layout: Layout) -> Undecoded:
    """The rows that a name stands for."""
    opened, text = session(compute), str(given)
    if not _by_spark(text):
        return _files(opened, text, layout, _tasks(compute.engine))
    layout.require_none(text)
    form, _, name = text.partition(INSIDE)
    return _table(opened, form, name, text)


def files(given: str | Path, compute: Compute) -> tuple[Path, ...]:
    """What is read, as a worker sees it: files, or the name of a table of Spark."""
    return (Path(given),) if _by_spark(str(given)) else _listed(session(compute), str(given)).files


def _by_spark(text: str) -> bool:
    form, between, _ = text.partition(INSIDE)
    return bool(between) and not form.lower().endswith(DATABASES)


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
    with translated(text):
        asked = opened.range(0, 1, 1, 1)
    form, found = json.loads(answers(asked, _Listing(whole), text)[0][1])
    return Source(text, form, tuple(Path(path) for path, _, _ in found), pins=tuple((size, time) for _, size, time in found))


def _files(opened: Session, text: str, layout: Layout, tasks: int) -> Undecoded:
    """Files that workers read."""
    source = _listed(opened, text)
    files = source.files
    with translated(text):
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
    with translated(text):
        frame = opened.range(0, len(spans), 1, parts)
    about, first = shapes[0][4], (shapes[0][1][0][1] if shapes[0][1] else 0)
    names = [column.name for column in columns[0]]
    abouts = dict(zip(names, about, strict=True)) if about else dict.fromkeys(names, 0)
    return Undecoded(Files(source, layout, spans, copied), frame, parts, columns[0], before[-1], abouts, first)


@dataclass(frozen=True)
class _Sizing:
    """How many rows each partition has."""

    def __call__(self, batches: Batches) -> Answers:
        """By its number."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        yield context.partitionId(), str(sum(batch.num_rows for batch in batches)).encode()


def _table(opened: Session, form: str, name: str, text: str) -> Undecoded:
    """A table that Spark reads."""
    # The name of a file system loses a stroke where it is taken for a path.
    name = re.sub(r"^(\w+):/(?!/)", r"\1://", name)
    with translated(text):
        table = opened.read.table(name) if form == "table" else opened.read.format(form).load(name)
        sql = functions(table)
        labels = [column.name for column in table.schema.fields]
        types = [column.dataType.simpleString() for column in table.schema.fields]
        # By their places: names may stand twice, and hold any mark.
        names = [f"c{place}" for place in range(len(labels))]
        typed = zip(names, types, strict=True)
        picks = [sql.col(name).cast(kind if kind in PLAIN_TYPES else "string").alias(name) for name, kind in typed]
        frame = table.toDF(*names).select(*picks)
        kinds = frame.limit(0).toArrow()
        counts = [sql.approx_count_distinct(place).alias(place) for place in names]
        (first,) = frame.limit(SPAN).agg(sql.count(sql.lit(1)).alias("rows"), *counts).collect()
    with closing(duckdb.connect()) as connection:
        connection.register("given", kinds)
        described = connection.execute("DESCRIBE SELECT * FROM given").fetchall()
    columns = tuple(
        ParquetColumn(label.strip(), name, str(row[1])) for label, name, row in zip(labels, names, described, strict=True)
    )
    sizes = {number: int(answer) for number, answer in answers(frame, _Sizing(), text)}
    parts = max(sizes, default=-1) + 1
    starts = tuple(accumulate((sizes.get(number, 0) for number in range(parts)), initial=0))
    abouts = {column.name: int(first[column.pick]) for column in columns}
    return Undecoded(Given(text, starts), frame, max(parts, 1), columns, starts[-1], abouts, int(first["rows"]))
