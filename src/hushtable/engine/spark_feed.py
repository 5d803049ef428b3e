"""Where workers take raw rows from, some at a time: files that they see by the same names, or a table that Spark hands them.

Either way DuckDB gives out the values of a column, on the worker, so that a value means what it means on one machine.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import duckdb
import numpy as np

from hushtable.engine.compute import Compute
from hushtable.engine.duckdb import connect, rows_of
from hushtable.engine.source import Source, Span, parquet
from hushtable.engine.spark import CHANGED
from hushtable.engine.spark_jobs import Batches
from hushtable.engine.store import private_folder
from hushtable.errors import InputError
from hushtable.table.arrays import Array
from hushtable.table.layout import Layout

READ = 1 << 18
"""Rows of a table that are read at a time."""
MEMORY = 1 << 30
"""Bytes that DuckDB may use on a worker, half of them for itself."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows that are read at a time."""

    connection: duckdb.DuckDBPyConnection
    relation: str
    """They, for DuckDB."""
    start: int
    """How many rows of all come before them."""
    rows: int

    def fetch(self, picks: Sequence[str]) -> list[Array]:
        """Values, as DuckDB hands them out."""
        if not picks:
            return []
        names = ", ".join(f"{pick} AS c{number}" for number, pick in enumerate(picks))
        found = self.connection.execute(f"SELECT {names} FROM {self.relation}").fetchnumpy()
        return [np.ma.asanyarray(found[f"c{number}"]) for number in range(len(picks))]


class Feed(Protocol):
    """Raw rows as a worker reads them."""

    @property
    def name(self) -> str:
        """Of what is read, as a person gave it."""
        ...

    def chunks(self, batches: Batches) -> Iterator[Chunk]:
        """The rows of one partition, in order; InputError where they are not what they were."""
        ...


@dataclass(frozen=True)
class Files:
    """Files, span by span: the rows of the frame are the numbers of spans."""

    source: Source
    layout: Layout
    spans: tuple[Span, ...]
    copied: bool
    """Whether a file is read as a whole, into Parquet: it is text, or has a column of a name that DuckDB needs."""

    @property
    def name(self) -> str:
        """Of all files."""
        return self.source.name

    def chunks(self, batches: Batches) -> Iterator[Chunk]:
        """The spans that one partition has."""
        with at_work(self.name) as (connection, folder):
            for number in numbers(batches):
                span = self.spans[number]
                own = only(self.source, span.path)
                own.require_unchanged()
                if self.copied:
                    inner = parquet(own, self.layout, connection, folder)
                    if inner.rows != span.stop:
                        raise changed(self.name)
                    for part in inner.spans:
                        yield Chunk(connection, rows_of(part), span.before + part.start, part.stop - part.start)
                    for copy in folder.glob("*.parquet"):
                        copy.unlink()
                else:
                    yield Chunk(connection, rows_of(span), span.before + span.start, span.stop - span.start)
                own.require_unchanged()


@dataclass(frozen=True)
class Given:
    """A table that Spark reads: the rows of the frame are the rows of the table, its columns c0, c1 and so on."""

    name: str
    starts: tuple[int, ...] | None = None
    """How many rows come before each partition; only the number in the partition is known when absent."""

    def chunks(self, batches: Batches) -> Iterator[Chunk]:
        """The rows of one partition."""
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        before, after = self._places(context.partitionId())
        with at_work(self.name) as (connection, _):
            for held in _gathered(batches):
                rows = pyarrow.Table.from_batches(held)
                connection.register("given", rows)
                yield Chunk(connection, "given", before, rows.num_rows)
                connection.unregister("given")
                before += rows.num_rows
        if after is not None and before != after:
            raise changed(self.name)

    def _places(self, partition: int) -> tuple[int, int | None]:
        """How many rows come before a partition, and how many with it; the last ones may be without a row."""
        if self.starts is None:
            return 0, None
        last = len(self.starts) - 1
        return self.starts[min(partition, last)], self.starts[min(partition + 1, last)]


def only(source: Source, path: Path) -> Source:
    """One file of a source, with its pin."""
    place = source.files.index(path)
    return replace(source, files=(path,), pins=(source.pins[place],))


class Changed(InputError):
    """The rows are not what they were."""


def changed(name: str) -> Changed:
    """The rows of a source are not."""
    return Changed(CHANGED, where=name)


def numbers(batches: Batches) -> Iterator[int]:
    """The numbers that the rows of a range are."""
    for batch in batches:
        yield from batch.column(0).to_pylist()


@contextmanager
def at_work(name: str) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """DuckDB on a worker, and a private folder that goes afterwards; its messages, which may quote values, stay there."""
    folder = private_folder(None)
    connection = connect(Compute(memory=MEMORY, workers=1), folder)
    try:
        yield connection, folder
    except duckdb.Error:
        raise InputError("cannot be read: a file is damaged, or memory or disk ran out", where=name) from None
    finally:
        connection.close()
        shutil.rmtree(folder, ignore_errors=True)


def _gathered(batches: Batches) -> Iterator[list[Any]]:
    """Batches in groups of about so many rows."""
    held, rows = list[Any](), 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= READ:
            yield held
            held, rows = [], 0
    if held:
        yield held
