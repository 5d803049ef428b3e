"""Rows opened where they are to be worked on: in memory where they fit, else on disk, or on a cluster where one is named."""

from __future__ import annotations

from pathlib import Path

import duckdb as database

from hushtable.display import Progress, silent
from hushtable.engine import duckdb
from hushtable.engine.compute import PER_ROW, Compute
from hushtable.engine.source import DATABASES, Source
from hushtable.table import io
from hushtable.table.files import form_of, quoted
from hushtable.table.layout import Layout
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema

PEEK = 1 << 20
"""Bytes of a text file by which its lines are guessed."""
PACKED = 8
"""So many times a packed text is longer than its file, about."""


def open_rows(
    given: str | Path,
    schema: Schema,
    *,
    compute: Compute | None = None,
    layout: Layout | None = None,
    progress: Progress = silent,
    least: int = 2,
    generalized: bool = False,
) -> Rows:
    """The rows of a file, a folder or pattern of files, or a table of a DuckDB file, under a schema.

    Without a named engine they are in memory where they take no more than half of what may be used.
    """
    compute, layout = compute or Compute(), layout or Layout()
    if compute.on_spark:
        # Whoever needs no cluster waits for none of this.
        from hushtable.engine import spark_read

        return spark_read.read(given, schema, compute, layout, progress, least, generalized=generalized)
    path = Path(given)
    memory = compute.engine == "memory"
    alone = path.is_file() and not path.name.lower().endswith(DATABASES)
    if alone and (memory or (compute.engine == "auto" and fits(Source.of(path), compute))):
        return io.read(path, schema, layout=layout, generalized=generalized, least=least)
    source = Source.of(given)
    small = memory or (compute.engine == "auto" and fits(source, compute))
    rows = duckdb.read(source, schema, compute, layout, progress, least, generalized=generalized)
    return rows.whole("--engine memory") if small else rows


def files(given: str | Path, compute: Compute) -> tuple[Path, ...]:
    """What rows are read from, as whoever reads them sees it."""
    if compute.on_spark:
        # Whoever needs no cluster waits for none of this.
        from hushtable.engine import spark_source

        return spark_source.files(given, compute)
    return Source.of(given).files


def fits(source: Source, compute: Compute) -> bool:
    """Whether so many rows take no more than half of the memory that may be used, as far as the files show without being read."""
    return about(source) * PER_ROW <= compute.limit // 2


def about(source: Source) -> int:
    """How many rows there are: exactly, or of text about."""
    if source.form == "csv":
        return sum(_lines(path) for path in source.files)
    connection = database.connect()
    try:
        if source.form == "parquet":
            counts = "SELECT coalesce(sum(num_rows), 0)::BIGINT FROM parquet_file_metadata('{}')"
            return sum(int(connection.execute(counts.format(quoted(path))).fetchall()[0][0]) for path in source.files)
        # A table of a DuckDB file takes about as many bytes as its file.
        return source.bytes // 16
    except database.Error:
        # Whoever reads it says what is wrong with it.
        return 0
    finally:
        connection.close()


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        start = file.read(PEEK)
    size = path.stat().st_size * (PACKED if form_of(path) == "gzip" else 1)
    return int(size * max(start.count(b"\n"), 1) / max(len(start), 1))
