"""A first draft of a schema for tables of any size: kinds by the different values of all rows, roles by rows picked at random.

It is the draft that rows in memory have where so many rows are no more than are looked at together, whatever the engine.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Protocol

import duckdb
import numpy as np

from hushtable.display import Progress, silent
from hushtable.engine.compute import Compute
from hushtable.engine.decoders import WORDS
from hushtable.engine.duckdb import ROW_NUMBER, connect, listed_rows, read
from hushtable.engine.open import fits
from hushtable.engine.source import Parquet, Source, parquet
from hushtable.engine.store import private_folder, stored
from hushtable.errors import Fault, InputError
from hushtable.table import infer, io
from hushtable.table.arrays import Array, Integers
from hushtable.table.dictionary import Dictionary
from hushtable.table.files import parquet_rows, plain
from hushtable.table.infer import Draft, Profiled
from hushtable.table.layout import OVERRIDES, Layout
from hushtable.table.rows import Columns, Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import Raw, repeated

LOOKED_AT = 1 << 18
"""So many rows are looked at together: who is singled out by what, and what follows from what."""
ESTIMATED = 1000
"""How many values there are is told from so many of them, about, where there are nearly too many to be listed."""
PLACE = '"hushtable place"'
"""The number of a row, under a name that no column has."""
PROFILES = "different values"
SEED = 0
"""The rows that are looked at are always the same ones: a draft is one and the same."""
Counts = tuple[Array, Integers]
"""Different values, in the order in which they first come, and how many rows hold each."""


def draft(
    given: str | Path,
    compute: Compute | None = None,
    layout: Layout | None = None,
    dictionary: Dictionary | str | Path | None = None,
    progress: Progress = silent,
) -> Draft:
    """Draft a schema for a file, a folder or pattern of files, a table of a DuckDB file, or one that Spark reads."""
    compute, layout = compute or Compute(), layout or Layout()
    known = Dictionary.load(dictionary) if isinstance(dictionary, (str, Path)) else dictionary
    if compute.on_spark:
        # Whoever needs no cluster waits for none of this.
        from hushtable.engine.spark_draft import on_cluster

        with on_cluster(given, compute, layout) as rows:
            return _drafted(rows, layout, known, progress)
    source = Source.of(given)
    alone = Path(given).is_file() and source.form != "duckdb"
    if alone and (compute.engine == "memory" or (compute.engine == "auto" and fits(source, compute))):
        return io.drafted(given, layout, known)
    with on_disk(source, compute, layout, progress) as files:
        return _drafted(files, layout, known, progress)


class Countable(Protocol):
    """Raw rows out of memory, whose different values are counted where they are."""

    @property
    def where(self) -> str:
        """Their name."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Of the columns."""
        ...

    @property
    def rows(self) -> int:
        """How many there are."""
        ...

    @property
    def text(self) -> bool:
        """Whether they come from text files."""
        ...

    @property
    def first(self) -> Sequence[str]:
        """The cells of the first row."""
        ...

    def sizes(self, part: int) -> Sequence[int]:
        """How many different values each column has, of one in so many: those that their hashes pick. 0 will do for far too few."""
        ...

    def different(self, parts: Sequence[int]) -> Callable[[int], Counts]:
        """The different values of each column by its number, of one in so many."""
        ...

    def read(self, schema: Schema, where: str) -> Rows:
        """The rows under a schema; faults are reported of ``where``."""
        ...


def _drafted(rows: Countable, layout: Layout, dictionary: Dictionary | None, progress: Progress) -> Draft:
    _require_names(rows)
    return infer.drafted(OutOfMemory(rows, progress), layout if rows.text else None, rows.where, dictionary)


@dataclass(frozen=True, eq=False)
class OutOfMemory:
    """Rows out of memory that a schema is drafted for."""

    raw: Countable
    progress: Progress
    lacking: dict[str, int] = field(default_factory=dict)
    """Of how many rows a column has no value, once they were read."""

    @property
    def names(self) -> Sequence[str]:
        """Of the columns."""
        return self.raw.names

    @property
    def notes(self) -> Sequence[str]:
        """Where a part of the rows is looked at together, how large it is."""
        if self.raw.rows <= LOOKED_AT:
            return []
        return [
            f"Kinds, domains and missing values were read off all {self.raw.rows:,} rows. Roles, copies and what follows from "
            f"what were judged on {LOOKED_AT:,} of them, picked at random: fewer rows are unique among all than among these."
        ]

    @cached_property
    def abouts(self) -> Sequence[int]:
        """About how many different values each column has; too few where they are few."""
        if self.raw.rows <= WORDS:
            return [0] * len(self.names)
        part = max(1, WORDS // ESTIMATED)
        return [part * size for size in self.raw.sizes(part)]

    @cached_property
    def parts(self) -> Sequence[int]:
        """Of very many values one in so many, picked by a hash of the value, each with all of its rows."""
        return [2 * about // WORDS + 1 if about > 1.2 * WORDS else 1 for about in self.abouts]

    @cached_property
    def different(self) -> Callable[[int], Counts]:
        """The different values of a column."""
        return self.raw.different(self.parts)

    def profiled(self, name: str) -> Profiled:
        """One column: its different values and how many rows hold each, in the order in which they first come."""
        place = self.names.index(name)
        self.progress(PROFILES, place / len(self.names))
        values, held = self.different(place)
        raw = Raw.of(values)
        counts = np.zeros(len(raw.words), np.int64)
        np.add.at(counts, raw.codes[raw.codes >= 0], held[raw.codes >= 0])
        profile = Profiled.of(name, raw, counts, self.raw.rows)
        # A first line is judged where there is one.
        first = self.raw.first[place] if self.raw.text else ""
        return replace(profile, first=first, distinct=self.abouts[place] if self.parts[place] > 1 else None)

    def read(self, schema: Schema, where: str) -> Table:
        """Rows picked at random, all where there are few, under the domains of all rows."""
        rows = self.raw.read(schema, where)
        cells = set(stored(schema))
        for names in (tuple(n for n in schema.names if n in cells), tuple(n for n in schema.names if n not in cells)):
            if names:
                self.lacking.update(zip(names, rows.fold(Lacking(names)).tolist(), strict=True))
        if rows.rows > LOOKED_AT:
            places = np.sort(np.random.default_rng(SEED).choice(rows.rows, LOOKED_AT, replace=False, shuffle=False))
            rows = rows.take(places)
        return Table.concat(list(rows.batches()))

    def missing(self, table: Table, name: str) -> int:
        """Of all rows."""
        return self.lacking[name]


@dataclass(frozen=True)
class Lacking:
    """In how many rows each column has no value."""

    reads: Columns
    additive: ClassVar[bool] = True

    def answer(self, table: Table) -> Integers:
        """In their order."""
        return np.array([table.missing(name).sum() for name in self.reads], np.int64)


@contextmanager
def on_disk(source: Source, compute: Compute, layout: Layout, progress: Progress) -> Iterator[OnDisk]:
    """The rows of files, or of copies of them in a private folder that is removed at the end."""
    folder = private_folder(compute.work)
    try:
        with connect(compute, folder) as connection:
            yield OnDisk(connection, parquet(source, layout, connection, folder), source, compute, layout, progress)
    except duckdb.Error:
        # DuckDB's message may quote the content; ours must not.
        raise InputError("cannot be read: a file is damaged, or memory or disk ran out", where=source.name) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, eq=False)
class OnDisk:
    """Rows of Parquet files."""

    connection: duckdb.DuckDBPyConnection
    files: Parquet
    source: Source
    compute: Compute
    layout: Layout
    progress: Progress

    @property
    def where(self) -> str:
        """Their name."""
        return self.source.name

    @property
    def names(self) -> Sequence[str]:
        """Of the columns."""
        return self.files.names

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.files.rows

    @property
    def text(self) -> bool:
        """Whether they come from text files."""
        return self.source.form == "csv"

    @cached_property
    def first(self) -> Sequence[str]:
        """The cells of the first row."""
        cells = ", ".join(f"({column.pick})::VARCHAR" for column in self.files.columns)
        rows = f"{parquet_rows(self.files.paths[0], ROW_NUMBER)} WHERE file_row_number = 0"
        return [(cell or "").strip() for cell in self.connection.execute(f"SELECT {cells} FROM {rows}").fetchall()[0]]

    @cached_property
    def all(self) -> str:
        """All rows, for DuckDB, each with its number."""
        starts = list({span.path: span.before for span in self.files.spans}.values())
        place = f"file_row_number + {starts}[file_index::BIGINT + 1]"
        return f"SELECT *, {place} AS {PLACE} FROM {listed_rows(self.files.paths, ROW_NUMBER)}"

    def sizes(self, part: int) -> Sequence[int]:
        """How many different values each column has, of one in so many."""
        picks = [column.pick for column in self.files.columns]
        # A rough count of all columns takes a fifth of the time.
        abouts = self._counted([f"approx_count_distinct({own})" for own in picks])
        large = [number for number, about in enumerate(abouts) if about > WORDS // 2]
        counts = [f"count(DISTINCT {picks[number]}) FILTER (WHERE hash({picks[number]}) % {part} = 0)" for number in large]
        found = dict(zip(large, self._counted(counts), strict=True)) if large else {}
        return [found.get(number, 0) for number in range(len(picks))]

    def _counted(self, counts: Sequence[str]) -> list[int]:
        return [*map(int, self.connection.execute(f"SELECT {', '.join(counts)} FROM ({self.all})").fetchall()[0])]

    def different(self, parts: Sequence[int]) -> Callable[[int], Counts]:
        """The different values of each column by its number, of one in so many."""

        def of(number: int) -> Counts:
            own, part = self.files.columns[number].pick, parts[number]
            some = f"WHERE hash({own}) % {part} = 0" if part > 1 else ""
            found = self.connection.execute(
                f"SELECT {own} AS v, count(*) AS n, min({PLACE}) AS first FROM ({self.all}) {some} GROUP BY 1 ORDER BY first"
            ).fetchnumpy()
            return plain(found["v"]), np.asarray(found["n"]).astype(np.int64)

        return of

    def read(self, schema: Schema, where: str) -> Rows:
        """The rows under a schema."""
        source = replace(self.source, name=where)
        return read(source, schema, self.compute, self.layout, self.progress, generalized=False)


def _require_names(rows: Countable) -> None:
    """InputError where a column has no name, or two have the same; or where there are too few rows."""
    faults = [Fault(rows.where, f"column {i} has no name in the header") for i, name in enumerate(rows.names, 1) if not name]
    if faults := [*faults, *repeated(rows.names, None, rows.where)]:
        raise InputError([*faults, Fault(rows.where, f"if the first line is no header but a record, give {OVERRIDES}")])
    if rows.rows < 2:
        count = "no rows" if rows.rows == 0 else "only one row"
        raise InputError(f"has {count}; a table needs at least two before anything in it can be hidden", where=rows.where)
