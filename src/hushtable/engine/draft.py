"""A first draft of a schema for tables of any size: kinds by the different values of all rows, roles by rows picked at random.

It is the draft that rows in memory have where so many rows are no more than are looked at together.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import duckdb
import numpy as np

from hushtable.display import Progress, silent
from hushtable.engine.compute import Compute
from hushtable.engine.decoders import WORDS
from hushtable.engine.duckdb import ROW_NUMBER, connect, listed_rows, read
from hushtable.engine.open import fits
from hushtable.engine.source import Parquet, Source, parquet
from hushtable.engine.spool import Spooled
from hushtable.engine.store import private_folder
from hushtable.errors import Fault, InputError
from hushtable.table import infer, io
from hushtable.table.dictionary import Dictionary
from hushtable.table.files import parquet_rows, plain
from hushtable.table.infer import Draft, Profiled
from hushtable.table.layout import OVERRIDES, Layout
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import Raw, repeated

LOOKED_AT = 1 << 18
"""So many rows are looked at together: who is singled out by what, and what follows from what."""
PLACE = '"hushtable place"'
"""The number of a row, under a name that no column has."""
PROFILES = "different values"
SEED = 0
"""The rows that are looked at are always the same ones: a draft is one and the same."""


def draft(
    given: str | Path,
    compute: Compute | None = None,
    layout: Layout | None = None,
    dictionary: Dictionary | str | Path | None = None,
    progress: Progress = silent,
) -> Draft:
    """Draft a schema for a file, a folder or pattern of files, or a table of a DuckDB file."""
    compute, layout = compute or Compute(), layout or Layout()
    if compute.on_spark:
        reason = "a schema is drafted with --engine memory or duckdb; of a table that Spark alone reads write some rows as Parquet"
        raise InputError(reason, where="--engine")
    known = Dictionary.load(dictionary) if isinstance(dictionary, (str, Path)) else dictionary
    source = Source.of(given)
    alone = Path(given).is_file() and source.form != "duckdb"
    if alone and (compute.engine == "memory" or (compute.engine == "auto" and fits(source, compute))):
        return io.drafted(given, layout, known)
    with ExitStack() as stack:
        folder = private_folder(compute.work)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        connection = stack.enter_context(connect(compute, folder))
        try:
            files = parquet(source, layout, connection, folder)
            _require_names(files, source)
            rows = OnDisk(connection, files, source, compute, layout, progress)
            return infer.drafted(rows, layout if source.form == "csv" else None, source.name, known)
        except duckdb.Error:
            # DuckDB's message may quote the content; ours must not.
            raise InputError("cannot be read: a file is damaged, or memory or disk ran out", where=source.name) from None


@dataclass(frozen=True, eq=False)
class OnDisk:
    """Rows of Parquet files that a schema is drafted for."""

    connection: duckdb.DuckDBPyConnection
    files: Parquet
    source: Source
    compute: Compute
    layout: Layout
    progress: Progress
    counted: dict[str, int] = field(default_factory=dict)
    """Of how many rows a column has no value, once they were read."""

    @property
    def names(self) -> Sequence[str]:
        """Of the columns."""
        return self.files.names

    @property
    def notes(self) -> Sequence[str]:
        """Where a part of the rows is looked at together, how large it is."""
        if self.files.rows <= LOOKED_AT:
            return []
        return [
            f"Kinds, domains and missing values were read off all {self.files.rows:,} rows. Roles, copies and what follows from "
            f"what were judged on {LOOKED_AT:,} of them, picked at random: fewer rows are unique among all than among these."
        ]

    @cached_property
    def all(self) -> str:
        """All rows, for DuckDB, each with its number."""
        starts = list({span.path: span.before for span in self.files.spans}.values())
        place = f"file_row_number + {starts}[file_index::BIGINT + 1]"
        return f"SELECT *, {place} AS {PLACE} FROM {listed_rows(self.files.paths, ROW_NUMBER)}"

    @cached_property
    def abouts(self) -> Mapping[str, int]:
        """About how many different values each column has."""
        counts = ", ".join(f"approx_count_distinct({column.pick})" for column in self.files.columns)
        found = self.connection.execute(f"SELECT {counts} FROM ({self.all})").fetchone() or ()
        return dict(zip(self.names, map(int, found), strict=True))

    def profiled(self, name: str) -> Profiled:
        """One column: its different values and how many rows hold each, in the order in which they first come."""
        place = self.names.index(name)
        self.progress(PROFILES, place / len(self.names))
        own, about = self.files.columns[place].pick, self.abouts[name]
        many = about > 1.2 * WORDS
        # Of very many values a part, picked by a hash of the value: each with all of its rows.
        some = f"WHERE hash({own}) % {2 * about // WORDS + 1} = 0" if many else ""
        found = self.connection.execute(
            f"SELECT {own} AS v, count(*) AS n, min({PLACE}) AS first FROM ({self.all}) {some} GROUP BY 1 ORDER BY first"
        ).fetchnumpy()
        raw, held = Raw.of(plain(found["v"])), np.asarray(found["n"]).astype(np.int64)
        counts = np.zeros(len(raw.words), np.int64)
        np.add.at(counts, raw.codes[raw.codes >= 0], held[raw.codes >= 0])
        profile = Profiled.of(name, raw, counts, self.files.rows)
        return replace(profile, first=self._first(own), distinct=about if many else None)

    def read(self, schema: Schema, where: str) -> Table:
        """Rows picked at random, all where there are few, under the domains of all rows."""
        source = replace(self.source, name=where)
        rows = read(source, schema, self.compute, self.layout, self.progress, generalized=False)
        self._count_missing(rows)
        if rows.rows > LOOKED_AT:
            places = np.sort(np.random.default_rng(SEED).choice(rows.rows, LOOKED_AT, replace=False, shuffle=False))
            rows = rows.take(places)
        return Table.concat(rows.batches())

    def missing(self, table: Table, name: str) -> int:
        """Of all rows."""
        return self.counted[name]

    def _count_missing(self, rows: Spooled) -> None:
        self.counted.update(dict.fromkeys(rows.schema.names, 0))
        for batch in rows.batches():
            for name in rows.schema.names:
                self.counted[name] += int(batch.missing(name).sum())

    def _first(self, pick: str) -> str:
        """The cell of the first row, where it is a text."""
        path = self.files.paths[0]
        found = self.connection.execute(f"SELECT {pick} AS v FROM {parquet_rows(path, ROW_NUMBER)} WHERE file_row_number = 0")
        raw = Raw.of(plain(found.fetchnumpy()["v"]))
        return raw.words[raw.codes[0]] if len(raw.codes) and raw.codes[0] >= 0 else ""


def _require_names(rows: Parquet, source: Source) -> None:
    """InputError where a column has no name, or two have the same; or where there are too few rows."""
    faults = [Fault(source.name, f"column {i} has no name in the header") for i, name in enumerate(rows.names, 1) if not name]
    if faults := [*faults, *repeated(rows.names, None, source.name)]:
        raise InputError([*faults, Fault(source.name, f"if the first line is no header but a record, give {OVERRIDES}")])
    if rows.rows < 2:
        count = "no rows" if rows.rows == 0 else "only one row"
        raise InputError(f"has {count}; a table needs at least two before anything in it can be hidden", where=source.name)
