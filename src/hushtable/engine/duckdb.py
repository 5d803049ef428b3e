"""Rows of Parquet, text or DuckDB files, read once by DuckDB, some at a time, into a store of packed cells."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import duckdb
import numpy as np

from hushtable.display import Progress, silent
from hushtable.engine import decoders
from hushtable.engine.compute import Compute
from hushtable.engine.decode import SHOWN, Decoder, Different, Each, Numbers, Words
from hushtable.engine.decoders import decoder_of, listed, placed, text_of
from hushtable.engine.packing import Cells
from hushtable.engine.source import Parquet, Source, Span, parquet
from hushtable.engine.spool import Spooled
from hushtable.engine.store import Store, private_folder, stored
from hushtable.errors import InputError
from hushtable.table.arrays import Array, Mask
from hushtable.table.columns import Bounds
from hushtable.table.files import ParquetColumn, parquet_rows, plain, quoted
from hushtable.table.layout import Layout
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import make, misnamed

READING = "reading"
ROW_NUMBER = ", file_row_number=true"


def connect(compute: Compute, folder: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB with its part of the memory. It loads nothing from anywhere: a privacy tool calls nobody."""
    return duckdb.connect(
        config={
            "threads": compute.threads,
            "memory_limit": f"{compute.limit // 2 >> 20}MB",
            "temp_directory": str(folder / "spill"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": True,
        }
    )


def read(
    source: Source,
    schema: Schema,
    compute: Compute | None = None,
    layout: Layout | None = None,
    progress: Progress = silent,
    least: int = 2,
    *,
    generalized: bool = False,
) -> Spooled:
    """The rows of a source under a schema, in a store on disk; InputError lists every fault of every column.

    ``generalized`` also accepts intervals, sets and ``*``, as in a release.
    """
    compute, layout = compute or Compute(), layout or Layout()
    folder = private_folder(compute.work)
    connection = connect(compute, folder)
    try:
        rows = parquet(source, layout, connection, folder)
        require_shape(rows.names, rows.rows, schema, source.name, least)
        reading = _Reading(connection, rows, schema, source, generalized)
        store = reading.store(folder, progress)
        source.require_unchanged()
    except duckdb.Error:
        # DuckDB's message may quote the content; ours must not.
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError("cannot be read: a file is damaged, or memory or disk ran out", where=source.name) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        connection.close()
    ignored = tuple(name for name in rows.names if name not in schema)
    return Spooled(store.schema, lambda: store, compute, ignored=ignored)


def require_shape(names: Sequence[str], rows: int, schema: Schema, where: str, least: int) -> None:
    """InputError where columns are missing, or rows."""
    if faults := misnamed(names, schema, where):
        raise InputError(faults)
    if rows < least:
        count = "no rows" if rows == 0 else "only one row"
        raise InputError(f"has {count}; a table needs at least two before anything in it can be hidden", where=where)


@dataclass(frozen=True, eq=False)
class _Reading:
    """One reading of Parquet files under a schema."""

    connection: duckdb.DuckDBPyConnection
    rows: Parquet
    schema: Schema
    source: Source
    generalized: bool
    expressions: dict[str, str] = field(default_factory=dict)
    """Of a column that is read by its words: the place of a value among them."""

    @property
    def where(self) -> str:
        """What faults are reported of."""
        return self.source.name

    @cached_property
    def columns(self) -> Mapping[str, ParquetColumn]:
        """Of the files, by name."""
        return {column.name: column for column in self.rows.columns}

    @cached_property
    def all(self) -> str:
        """All rows, for DuckDB."""
        return f"SELECT * FROM {listed_rows(self.rows.paths)}"

    def store(self, folder: Path, progress: Progress) -> Store:
        """Decode all rows; the faults of all columns come at once, and before that nothing is handed out."""
        progress(READING, 0.0)
        cells = {name: decoder_of(self, self.schema[name]) for name in stored(self.schema)}
        # Free text is read where it is needed; that it is there, if it must be, is seen now.
        checked = {c.name: Each(self.schema, c, self.where) for c in self.schema if c.name not in cells and c.required}
        decoders = cells | checked
        schema = replace(self.schema, columns=tuple(cells[c.name].column if c.name in cells else c for c in self.schema))

        def parts() -> Iterator[tuple[int, Cells]]:
            for place, span in enumerate(self.rows.spans):
                part = self._span(span, decoders)
                if not any(decoder.faults.found for decoder in decoders.values()):
                    yield span.stop - span.start, part
                progress(READING, (place + 1) / len(self.rows.spans))
            if faults := [f for c in self.schema if c.name in decoders for f in decoders[c.name].faults.found.values()]:
                raise InputError(faults)
            if any(isinstance(decoder, Words) and decoder.unread for decoder in decoders.values()):
                raise InputError("was changed while it was read; nothing was released", where=self.where)

        return Store.write(schema, parts(), folder, _Texts(self.rows, self.schema, self.source))

    def bounds(self, decoder: Numbers | Each) -> Sequence[Bounds]:
        """The least and the greatest number of each span that has any."""
        name = decoder.column.name
        return [own for span in self.rows.spans if (own := decoder.bounds(self._fetch(span, {name: decoder})[name]))]

    def values(self, own: ParquetColumn) -> Different | None:
        """The different values of a column; None where there are too many."""
        run, number = self.connection.execute, self.rows.names.index(own.name)
        span = self.rows.spans[0]
        (about,) = run(f"SELECT approx_count_distinct({own.pick}) FROM {rows_of(span)}").fetchall()[0]
        if self.rows.rows > decoders.WORDS and 2 * about > span.stop - span.start:
            return None
        run(
            f"CREATE OR REPLACE TEMP TABLE words{number} AS SELECT {text_of(own)} AS w, any_value({own.pick}) AS v, count(*) AS n "
            f"FROM ({self.all}) GROUP BY ALL LIMIT {decoders.WORDS + 1}"
        )
        values, counts = listed(self.connection, number)
        if len(values) > decoders.WORDS + 1:
            return None
        expression = self.expressions[own.name] = placed(self.connection, own, number, len(values) - 1)

        def first(wrong: Mask) -> tuple[int, ...]:
            return self._first_rows(f"{expression} IN ({', '.join(map(str, np.flatnonzero(wrong)))})")

        return Different(values, counts, first)

    def _first_rows(self, condition: str) -> tuple[int, ...]:
        """The numbers of the first three rows of which this is true."""
        rows = list[int]()
        for path, before in {span.path: span.before for span in self.rows.spans}.items():
            rows += [
                int(row) + before + 1
                for (row,) in self.connection.execute(
                    f"SELECT file_row_number FROM {parquet_rows(path, ROW_NUMBER)} WHERE {condition} ORDER BY 1 LIMIT {SHOWN}"
                ).fetchall()
            ]
            if len(rows) >= SHOWN:
                break
        return tuple(rows[:SHOWN])

    def _span(self, span: Span, decoders: Mapping[str, Decoder]) -> Cells:
        raw = self._fetch(span, decoders)
        return {name: decoder.read(raw[name], span.before + span.start) for name, decoder in decoders.items()}

    def _fetch(self, span: Span, decoders: Mapping[str, Decoder]) -> dict[str, Array]:
        """The raw values of these columns, or where they stand among their words."""
        if not decoders:
            return {}
        picks = ", ".join(
            f"{self.expressions.get(name, self.columns[name].pick)} AS c{number}" for number, name in enumerate(decoders)
        )
        found = self.connection.execute(f"SELECT {picks} FROM {rows_of(span)}").fetchnumpy()
        # Numbers stay masked where they are missing; what is no number is a text, a date or nothing.
        return {
            name: plain(found[f"c{number}"]) if isinstance(decoder, Each) else np.ma.asanyarray(found[f"c{number}"])
            for number, (name, decoder) in enumerate(decoders.items())
        }


@dataclass(frozen=True, eq=False)
class _Texts:
    """Reads free text and keys from the files, some rows at a time."""

    rows: Parquet
    schema: Schema
    source: Source

    def __call__(self, names: tuple[str, ...], start: int, stop: int) -> Table:
        """These columns, from one row to another."""
        self.source.require_unchanged()
        columns = [column for column in self.rows.columns if column.name in names]
        picks = ", ".join(f"{column.pick} AS c{number}" for number, column in enumerate(columns))
        parts: dict[str, list[Array]] = {column.name: [] for column in columns}
        connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
        try:
            for path, (before, rows) in self._files().items():
                first, last = max(start - before, 0), min(stop - before, rows)
                if first < last:
                    found = connection.execute(f"SELECT {picks} FROM {rows_between(path, first, last)}").fetchnumpy()
                    for number, column in enumerate(columns):
                        parts[column.name].append(plain(found[f"c{number}"]))
        except duckdb.Error:
            raise InputError("cannot be read: a file is damaged, or memory ran out", where=self.source.name) from None
        finally:
            connection.close()
        return make(self.schema.select(names), names, lambda name: np.concatenate(parts[name]), where=self.source.name)

    def _files(self) -> dict[Path, tuple[int, int]]:
        """How many rows come before each file, and how many it has."""
        files = dict[Path, tuple[int, int]]()
        for span in self.rows.spans:
            files[span.path] = (span.before, span.stop)
        return files


def listed_rows(paths: Sequence[Path], options: str = "") -> str:
    """The rows of several Parquet files, for DuckDB."""
    # As one list: a query of many parts, one for each file, needs memory for all of them at once.
    names = ", ".join(f"'{quoted(path)}'" for path in paths)
    return f"read_parquet([{names}], hive_partitioning=false{options})"


def rows_between(path: Path, start: int, stop: int) -> str:
    """Rows of a Parquet file, for DuckDB."""
    return f"{parquet_rows(path, ROW_NUMBER)} WHERE file_row_number BETWEEN {start} AND {stop - 1}"


def rows_of(span: Span) -> str:
    """The rows of a span, for DuckDB."""
    return rows_between(span.path, span.start, span.stop)
