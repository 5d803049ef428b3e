"""The columns of a file, one at a time: CSV (plain or gzip) and Parquet, read by DuckDB."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from hushtable.errors import InputError
from hushtable.table.arrays import Array
from hushtable.table.layout import INDEX, Layout
from hushtable.table.values import Source

_NO_TEXT = "\x1f\x1f"
"""A null string no file holds, so that an empty cell reaches us as an empty text."""


def form_of(path: Path) -> str:
    """The format that the name of a file promises: parquet, gzip or csv."""
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        return "parquet"
    if name.endswith((".csv.gz", ".tsv.gz", ".txt.gz")):
        return "gzip"
    if name.endswith((".csv", ".tsv", ".txt")):
        return "csv"
    raise InputError(f"cannot recognize the format of {path.name!r}; expected .csv, .csv.gz or .parquet", where="file")


SIGNATURES = {
    b"PK\x03\x04": "is a spreadsheet or a zip archive, not a CSV file: save it as 'CSV UTF-8' and give that",
    b"\xd0\xcf\x11\xe0": "is an old Excel file, not a CSV file: save it as 'CSV UTF-8' and give that",
    b"PAR1": "is a Parquet file: let its name end in .parquet",
    b"\x1f\x8b": "is a gzip file: let its name end in .csv.gz",
}
_NO_PARQUET = "is not a readable Parquet file"
SAMPLE = 30
"""Lines below the first by which the delimiter is told."""
_NOT_UTF8 = (
    "the file is not UTF-8; a file of a Windows program is often --encoding cp1252, one of an old system --encoding latin-1 "
    "(Python: encoding=...)"
)


@contextmanager
def opened(path: Path, layout: Layout | None = None) -> Iterator[tuple[list[str], Source]]:
    """The column names of a file and a function that fetches one column.

    A file without a header has the names of its layout, or column_1, column_2 and so on.
    """
    layout = layout or Layout()
    form = form_of(path)
    if not path.is_file():
        raise InputError("is a folder, not a file" if path.is_dir() else "the file does not exist", where=path.name)
    if path.stat().st_size == 0:
        raise InputError("the file is empty", where=path.name)
    connection = duckdb.connect()
    try:
        if form == "parquet":
            layout.require_none(path.name)
            names = _parquet(connection, path)
        else:
            names = load_csv(connection, path, layout, lambda rows: f"CREATE TABLE source AS {rows}")
        yield names, lambda name: _fetch(connection, names.index(name))
    finally:
        connection.close()


def _fetch(connection: duckdb.DuckDBPyConnection, position: int) -> Array:
    return plain(connection.execute(f"SELECT c{position} AS v FROM source").fetchnumpy()["v"])


def plain(column: Any) -> Array:
    """A column as DuckDB hands it out, its nulls written into it."""
    if not isinstance(column, np.ma.MaskedArray):
        return np.asarray(column)
    values, mask = column.data, np.ma.getmaskarray(column)
    if values.dtype.kind in "fM":
        values = values.copy()
        values[mask] = "NaT" if values.dtype.kind == "M" else np.nan
        return values
    # Nulls among integers: as objects, so that an integer stays an integer.
    objects = values.astype(object)
    objects[mask] = None
    return objects


def quoted(path: Path) -> str:
    """A path for DuckDB, which would take ``*``, ``?`` and ``[`` for a pattern and read other files too."""
    return re.sub(r"([*?\[])", r"[\1]", str(path)).replace("'", "''")


def _parquet(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    columns = parquet_columns(connection, path)
    picks = ", ".join(f"{column.pick} AS c{i}" for i, column in enumerate(columns))
    try:
        connection.execute(f"CREATE TABLE source AS SELECT {picks} FROM {parquet_rows(path)}")
    except duckdb.Error:
        raise InputError(_NO_PARQUET, where=path.name) from None
    return [column.name for column in columns]


@dataclass(frozen=True)
class ParquetColumn:
    """A column of a Parquet file."""

    name: str
    """As the file has it."""
    pick: str
    """What DuckDB is asked for; numbers that no numpy type holds come as texts."""
    kind: str
    """DuckDB's type of what it is asked for."""


def parquet_rows(path: Path, options: str = "") -> str:
    """The rows of a Parquet file, for DuckDB."""
    return f"read_parquet('{quoted(path)}', hive_partitioning=false{options})"


def parquet_columns(connection: duckdb.DuckDBPyConnection, path: Path) -> list[ParquetColumn]:
    """The columns of a Parquet file."""
    try:
        nodes = connection.execute(f"SELECT name, num_children FROM parquet_schema('{quoted(path)}')").fetchall()
        described = connection.execute(f"DESCRIBE SELECT * FROM {parquet_rows(path)}").fetchall()
    except duckdb.Error:
        # DuckDB's message may quote the content; ours must not.
        raise InputError(_NO_PARQUET, where=path.name) from None
    names = _top_names([(str(name), children or 0) for name, children in nodes])
    return [_picked(own, str(name), str(kind)) for own, (name, kind, *_) in zip(names, described, strict=True)]


def _picked(own: str, name: str, kind: str) -> ParquetColumn:
    column = '"' + name.replace('"', '""') + '"'
    wide = kind.startswith(("DECIMAL", "HUGEINT", "UHUGEINT"))
    return ParquetColumn(own, f"{column}::VARCHAR" if wide else column, "VARCHAR" if wide else kind)


def _top_names(nodes: list[tuple[str, int]]) -> list[str]:
    """The column names as the file has them (DuckDB renames a column A beside a column a); nodes stand in depth-first order."""
    names, below = [], 0
    for name, children in nodes[1:]:
        if below == 0:
            names.append(name.strip())
        else:
            below -= 1
        below += children
    return names


def load_csv(connection: duckdb.DuckDBPyConnection, path: Path, layout: Layout, into: Callable[[str], str]) -> list[str]:
    """Run a statement (``into`` a query) on the rows of a text file, c0, c1 and so on, all of them texts; the column names."""
    form = form_of(path)
    with _as_utf8(path, form, layout.encoding) as (readable, packed):
        first = _first_line(readable, packed, path, layout)
        width = len(first.cells)
        if layout.names and len(layout.names) != width:
            raise InputError(f"has {width} columns, but {len(layout.names)} names were given", where=path.name)
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
        rows = (
            f"SELECT * FROM read_csv('{quoted(readable)}', auto_detect=false, "
            f"header={str(layout.headed and not first.short).lower()}, skip={first.skipped + first.short}, "
            f"delim='{_mark(first.delimiter)}', quote='%s', escape='%s', "
            f"nullstr='{_NO_TEXT}', columns={{{types}}}, hive_partitioning=false, "
            f"compression='{'gzip' if packed == 'gzip' else 'none'}', new_line='{first.ending}', max_line_size=10000000)"
        )
        try:
            connection.execute(into(rows.replace("%s", '"')))
        except duckdb.IOException:
            raise InputError("the file cannot be read, or the disk is full", where=path.name) from None
        except duckdb.Error as error:
            # Between tabs a quotation mark is often just one: then each stands for itself.
            if first.delimiter != "\t" or not _loads(connection, into(rows.replace("%s", ""))):
                raise InputError(_csv_fault(str(error), width), where=path.name) from None
    if layout.names:
        return list(layout.names)
    return first.cells if layout.headed else [f"column_{i}" for i in range(1, width + 1)]


def _mark(delimiter: str) -> str:
    """A character inside a text of DuckDB."""
    return delimiter.replace("'", "''")


def _loads(connection: duckdb.DuckDBPyConnection, statement: str) -> bool:
    try:
        connection.execute(statement)
    except duckdb.Error:
        return False
    return True


@contextmanager
def _as_utf8(path: Path, form: str, encoding: str) -> Iterator[tuple[Path, str]]:
    """A file that holds the same text in UTF-8, and its form: the file itself, or a copy that only its owner can read."""
    with path.open("rb") as stream:
        start = stream.read(512)
    for signature, reason in SIGNATURES.items():
        if start.startswith(signature) and form != "gzip":
            raise InputError(reason, where=path.name)
    if not encoding and start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    if not encoding and form == "csv" and 2 * start.count(b"\0") > len(start) - 2:
        raise InputError("the file seems to be UTF-16 without its mark: give --encoding utf-16-le (or utf-16-be)", where=path.name)
    if not encoding or codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii"):
        yield path, form
        return
    # It holds the rows: for its owner alone, and gone as soon as they are read.
    handle, name = tempfile.mkstemp(suffix=".csv")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as copy:
            opener = gzip.open if form == "gzip" else open
            with opener(path, "rt", encoding=encoding, newline="") as source:
                while text := source.read(1 << 20):
                    copy.write(text)
        yield Path(name), "csv"
    except UnicodeError:
        raise InputError(f"the file is not {encoding}; give another --encoding", where=path.name) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError("the gzip file is damaged or cut short, or is not gzip", where=path.name) from None
    finally:
        Path(name).unlink(missing_ok=True)


def _csv_fault(message: str, width: int) -> str:
    """What DuckDB found, without the line it quotes: that line may be somebody's record."""
    message = re.sub(r"Original Line:.*\n(?=Expected Number of Columns|Invalid unicode|Value with)", "", message, flags=re.DOTALL)
    message = message.split("\nPossible")[0].split("\n\n")[0]
    line = re.match(r"Invalid Input Error: CSV Error on Line: (\d+)", message)
    place = f"line {line.group(1)}: " if line else ""
    if "Invalid unicode" in message:
        return f"{place}{_NOT_UTF8}"
    if match := re.search(r"^Expected Number of Columns: \d+ Found: (\d+)", message, re.MULTILINE):
        return f"{place}expected {width} values, as in the header, found {match.group(1)}"
    if "unterminated quote" in message:
        return f"{place}a quotation mark is never closed"
    if "invalid state" in message:
        return "lines end in different ways (some with a carriage return, some without), or a quotation mark is misplaced"
    return f"{place}the file is not a readable CSV"


@dataclass(frozen=True)
class _FirstLine:
    """What stands in the first line, and how all lines are cut."""

    cells: list[str]
    delimiter: str
    ending: str
    """How lines end, as DuckDB is told (it would take the line break in a quoted name for it)."""
    skipped: int
    """Lines before it: a spreadsheet may write the delimiter into a line of its own."""
    short: bool = False
    """Whether it names all columns but a first one, which numbers the rows."""


def _first_line(path: Path, form: str, shown: Path, layout: Layout) -> _FirstLine:
    """The first line of a UTF-8 file; errors are about the file that is shown."""
    try:
        skipped, header, following = _records(path, form)
        record = header.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"line 1: {_NOT_UTF8}", where=shown.name) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError("the gzip file is damaged or cut short, or is not gzip", where=shown.name) from None
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", where=shown.name) from None
    if not record.strip():
        raise InputError("the first line is empty; expected column names", where=shown.name)
    bare = re.sub(r'"[^"]*"', "", record + following.decode("utf-8", errors="replace"))
    delimiter = layout.delimiter or skipped[-1:] or delimiter_of(bare, tabs=".tsv" in shown.name.lower())
    cells = [cell.strip() for cell in next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter))]
    ending = re.search(r"\r\n?|\n", bare)
    below = next(csv.reader(io.StringIO(following.decode("utf-8", errors="replace"), newline=""), delimiter=delimiter), [])
    short = layout.index and len(below) == len(cells) + 1
    if layout.index:
        cells = [INDEX, *cells] if short else [cells[0] or INDEX, *cells[1:]]
    return _FirstLine(cells, delimiter, repr(ending.group())[1:-1] if ending else r"\n", 1 if skipped else 0, short)


def records_of(text: str, delimiter: str) -> list[list[str]]:
    """The cells of the lines of a text."""
    return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]


def delimiter_of(text: str, *, tabs: bool) -> str:
    """What cuts the first line into most pieces, first of all if it cuts the lines below into as many.

    A comma between digits may be a decimal one, so any other mark that cuts all lines alike comes before it.
    """
    header, *rows = re.split(r"\r\n?|\n", text)
    rows = [row for row in rows[:SAMPLE] if row] or [""]
    order = ("\t", ",", ";", "|") if tabs else (",", ";", "\t", "|")

    def rank(mark: str) -> tuple[bool, float, bool, int]:
        count = header.count(mark)
        alike = sum(0 < count == row.count(mark) for row in rows) / len(rows)
        decimal = mark == "," and not re.search(r"[^\d],|,[^\d]", "\n".join((header, *rows)))
        return 0 < count == rows[0].count(mark), alike, not decimal, count

    return max(order, key=rank)


_SEPARATOR = re.compile(rb'(?:\xef\xbb\xbf)?"?sep=([,;|\t])"?\r?\n?', re.IGNORECASE)


def _records(path: Path, form: str) -> tuple[str, bytes, bytes]:
    """The line in which a spreadsheet wrote ``sep=;``, if there is one; the first record; and lines that follow.

    The first record has several lines where a quoted name holds a line break. A gzip file is read to its end, where its checksum
    stands.
    """
    with gzip.open(path) if form == "gzip" else path.open("rb") as stream:
        record = first = stream.readline()
        separator = _SEPARATOR.fullmatch(first)
        if separator:
            record = first = stream.readline()
        while record.count(b'"') % 2 and len(record) < 100_000 and (line := stream.readline()):
            record += line
        following = b"".join(stream.readline() for _ in range(SAMPLE))
        while form == "gzip" and stream.read(1 << 20):
            pass
    return separator[1].decode() if separator else "", record if record.count(b'"') % 2 == 0 else first, following
