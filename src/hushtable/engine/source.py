"""What rows are read from: Parquet or text files, one, a folder or a pattern of them, or a table of a DuckDB file."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from hushtable.errors import Fault, InputError
from hushtable.table import io
from hushtable.table.files import ParquetColumn, form_of, load_csv, parquet_columns, parquet_rows, quoted
from hushtable.table.layout import Layout

DATABASES = (".duckdb", ".ddb", ".db")
INSIDE = "::"
"""Between a DuckDB file and the name of a table in it."""
TAKEN = frozenset({"file_row_number", "file_index", "filename"})
SPAN = 1 << 18
"""Rows that are read at a time, about."""
LONG = 1 << 20
"""Groups of rows that are longer than this are read in parts."""


@dataclass(frozen=True)
class Source:
    """Files whose rows belong together, as they were when they were first looked at."""

    name: str
    """As a person gave it."""
    form: str
    """parquet, csv or duckdb."""
    files: tuple[Path, ...]
    table: str = ""
    """The table of a DuckDB file; its only one when empty."""
    pins: tuple[tuple[int, int], ...] = ()
    """Size and time of each file."""

    @classmethod
    def of(cls, given: str | Path) -> Source:
        """The files that a path, a folder or a pattern names; InputError where there are none, or several kinds of them."""
        text = str(given)
        file, _, table = text.partition(INSIDE)
        if Path(file).is_file():
            files, form = [Path(file)], _form(Path(file))
            if table and form != "duckdb":
                raise InputError(f"only a table of a DuckDB file is named by {INSIDE}", where=text)
        else:
            files = _listed(text)
            forms = sorted({_form(path) for path in files})
            if len(forms) > 1 or forms == ["duckdb"]:
                raise InputError(f"holds files of different kinds: {', '.join(forms)}; name those of one", where=text)
            form = forms[0]
        return cls(text, form, tuple(files), table, tuple(map(_pin, files)))

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(size for size, _ in self.pins)

    def require_unchanged(self) -> None:
        """InputError where a file is another one than at the start."""
        changed = [path.name for path, pin in zip(self.files, self.pins, strict=True) if not path.is_file() or _pin(path) != pin]
        if changed:
            raise InputError([Fault(name, "was changed while it was read; nothing was released") for name in changed])


@dataclass(frozen=True)
class Span:
    """Rows that are read at a time: of one Parquet file, from one to another."""

    path: Path
    start: int
    stop: int
    before: int
    """How many rows of all files come before the file."""


@dataclass(frozen=True)
class Parquet:
    """All rows of a source as Parquet files of the same columns."""

    columns: tuple[ParquetColumn, ...]
    spans: tuple[Span, ...]
    rows: int

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return [column.name for column in self.columns]

    @property
    def paths(self) -> list[Path]:
        """Of the files, in order."""
        return list(dict.fromkeys(span.path for span in self.spans))


def parquet(source: Source, layout: Layout, connection: duckdb.DuckDBPyConnection, work: Path) -> Parquet:
    """The rows of a source as Parquet files: those it has, or copies in a private folder."""
    if source.form == "parquet":
        layout.require_none(source.name)
        read = [_renamed(path, connection, work / f"{i:05d}.parquet") for i, path in enumerate(source.files)]
        paths, names = [path for path, _ in read], [own for _, own in read]
    elif source.form == "csv":
        copies = [_copied(path, layout, connection, work / f"{i:05d}.parquet") for i, path in enumerate(source.files)]
        paths, names = [path for path, _ in copies], [own for _, own in copies]
    else:
        layout.require_none(source.name)
        path, own = _renamed(_exported(source, connection, work / "table.parquet"), connection, work / "00000.parquet")
        paths, names = [path], [own]
    columns = [
        tuple(replace(column, name=name) for name, column in zip(own, parquet_columns(connection, path), strict=True))
        for own, path in zip(names, paths, strict=True)
    ]
    require_alike(columns, source.files)
    spans = list[Span]()
    rows = 0
    for path in paths:
        found = list(_spans(path, connection, rows))
        spans += found
        rows += found[-1].stop if found else 0
    return Parquet(columns[0], tuple(spans), rows)


def column_names(source: Source) -> list[str]:
    """The names of the columns, of text files those that the first one's first line holds."""
    if source.form != "duckdb":
        return io.column_names(source.files[0])
    with tempfile.TemporaryDirectory(prefix="hush-") as folder, duckdb.connect() as connection:
        none = _exported(source, connection, Path(folder) / "table.parquet", rows="LIMIT 0")
        return [column.name for column in parquet_columns(connection, none)]


def _listed(text: str) -> list[Path]:
    path = Path(text)
    if path.is_dir():
        found = [file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith((".", "_"))]
        if not found:
            raise InputError("is a folder without files", where=text)
        return found
    found = [Path(name) for name in sorted(glob.glob(text)) if Path(name).is_file()]
    if not found:
        pattern = any(mark in text for mark in "*?[")
        raise InputError("no file has a name of this pattern" if pattern else "the file does not exist", where=text)
    return found


def _form(path: Path) -> str:
    if path.name.lower().endswith(DATABASES):
        return "duckdb"
    return "parquet" if form_of(path) == "parquet" else "csv"


def _pin(path: Path) -> tuple[int, int]:
    known = path.stat()
    return known.st_size, known.st_mtime_ns


def _renamed(path: Path, connection: duckdb.DuckDBPyConnection, copy: Path) -> tuple[Path, list[str]]:
    """A Parquet file, or a copy of it where a column has the name by which DuckDB gives the numbers of rows; its column names."""
    columns = parquet_columns(connection, path)
    names = [column.name for column in columns]
    if not any(name.lower() in TAKEN for name in names):
        return path, names
    picks = ", ".join(f"{column.pick} AS c{i}" for i, column in enumerate(columns))
    connection.execute(f"COPY (SELECT {picks} FROM {parquet_rows(path)}) TO '{_text(copy)}' (FORMAT parquet)")
    return copy, names


def _text(path: Path) -> str:
    """A path inside a text of DuckDB, where it is no pattern."""
    return str(path).replace("'", "''")


def _copied(path: Path, layout: Layout, connection: duckdb.DuckDBPyConnection, copy: Path) -> tuple[Path, list[str]]:
    """A text file as Parquet, all of its cells texts; and its column names."""
    if not path.stat().st_size:
        raise InputError("the file is empty", where=path.name)
    names = load_csv(connection, path, layout, lambda rows: f"COPY ({rows}) TO '{_text(copy)}' (FORMAT parquet)")
    return copy, names


def _exported(source: Source, connection: duckdb.DuckDBPyConnection, copy: Path, rows: str = "") -> Path:
    """A table of a DuckDB file, or some of its rows, as Parquet: one snapshot, which nobody can change while it is read."""
    file = source.files[0]
    try:
        connection.execute(f"ATTACH '{_text(file)}' AS source (READ_ONLY)")
    except duckdb.Error:
        raise InputError("is not a readable DuckDB file", where=file.name) from None
    tables = [
        str(name)
        for (name,) in connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'source' AND table_schema = 'main' ORDER BY 1"
        ).fetchall()
    ]
    table = source.table or (tables[0] if len(tables) == 1 else "")
    if table not in tables:
        reason = f"has no table {source.table!r}" if source.table else "has several tables or none"
        raise InputError(f"{reason}; name one as {file.name}{INSIDE}TABLE: {', '.join(tables) or 'there is none'}", where=file.name)
    own = table.replace('"', '""')
    try:
        connection.execute(f"COPY (SELECT * FROM source.main.\"{own}\" {rows}) TO '{_text(copy)}' (FORMAT parquet)")
    except duckdb.Error:
        raise InputError(f"its table {table!r} cannot be read, or the disk is full", where=file.name) from None
    finally:
        connection.execute("DETACH source")
    return copy


def require_alike(columns: Sequence[tuple[ParquetColumn, ...]], files: tuple[Path, ...]) -> None:
    """InputError where a file has other columns than the first, or others in their order."""
    first = columns[0]
    faults = []
    for own, path in zip(columns[1:], files[1:], strict=False):
        if own != first:
            odd = sorted({c.name for c in own} ^ {c.name for c in first})
            types = [c.name for c in own if c.kind != next((o.kind for o in first if o.name == c.name), "")]
            if odd:
                what = f"other columns ({', '.join(odd[:3])})"
            else:
                what = f"columns of another type ({', '.join(types[:3])})" if types else "its columns in another order"
            faults.append(Fault(path.name, f"has {what} than {files[0].name}"))
    if faults:
        raise InputError(faults)


def _spans(path: Path, connection: duckdb.DuckDBPyConnection, before: int) -> Iterator[Span]:
    """Whole groups of rows of a file, so that none is read twice; very long groups in parts."""
    groups = [
        int(rows)
        for (rows,) in connection.execute(
            f"SELECT DISTINCT ON (row_group_id) row_group_num_rows FROM parquet_metadata('{quoted(path)}') ORDER BY row_group_id"
        ).fetchall()
    ]
    start = stop = 0
    for place, rows in enumerate(groups):
        stop += rows
        if stop - start >= SPAN or place == len(groups) - 1:
            while stop - start > LONG:
                yield Span(path, start, start + LONG, before)
                start += LONG
            if stop > start:
                yield Span(path, start, stop, before)
            start = stop
