"""The columns of a file, one at a time: CSV (plain or gzip) and Parquet, read by DuckDB."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np

from hushtable.errors import InputError
from hushtable.table.arrays import Array
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


@contextmanager
def opened(path: Path) -> Iterator[tuple[list[str], Source]]:
    """The column names of a file and a function that fetches one column."""
    form = form_of(path)
    if not path.is_file():
        raise InputError("is a folder, not a file" if path.is_dir() else "the file does not exist", where=path.name)
    if path.stat().st_size == 0:
        raise InputError("the file is empty", where=path.name)
    connection = duckdb.connect()
    try:
        if form == "parquet":
            names = _parquet(connection, path)
        else:
            names = _csv(connection, path, form)
        yield names, lambda name: _fetch(connection, names.index(name))
    finally:
        connection.close()


def _fetch(connection: duckdb.DuckDBPyConnection, position: int) -> Array:
    column = connection.execute(f"SELECT c{position} AS v FROM source").fetchnumpy()["v"]
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


def _quoted(path: Path) -> str:
    """A path for DuckDB, which would take ``*``, ``?`` and ``[`` for a pattern and read other files too."""
    return re.sub(r"([*?\[])", r"[\1]", str(path)).replace("'", "''")


def _parquet(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    source = f"read_parquet('{_quoted(path)}', hive_partitioning=false)"
    try:
        nodes = connection.execute(f"SELECT name, num_children FROM parquet_schema('{_quoted(path)}')").fetchall()
        described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        picks = ", ".join(_pick(i, str(name), str(kind)) for i, (name, kind, *_) in enumerate(described))
        connection.execute(f"CREATE TABLE source AS SELECT {picks} FROM {source}")
    except duckdb.Error:
        # DuckDB's message may quote the content; ours must not.
        raise InputError("is not a readable Parquet file", where=path.name) from None
    return _top_names([(str(name), children or 0) for name, children in nodes])


def _pick(i: int, name: str, kind: str) -> str:
    """One column under our own name; numbers that no numpy type holds come as texts."""
    column = '"' + name.replace('"', '""') + '"'
    return f"{column}::VARCHAR AS c{i}" if kind.startswith(("DECIMAL", "HUGEINT", "UHUGEINT")) else f"{column} AS c{i}"


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


def _csv(connection: duckdb.DuckDBPyConnection, path: Path, form: str) -> list[str]:
    names, delimiter, ending = _header(path, form)
    types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    try:
        connection.execute(
            f"CREATE TABLE source AS SELECT * FROM read_csv('{_quoted(path)}', auto_detect=false, header=true, "
            f"delim='{delimiter}', quote='\"', escape='\"', nullstr='{_NO_TEXT}', columns={{{types}}}, hive_partitioning=false, "
            f"compression='{'gzip' if form == 'gzip' else 'none'}', new_line='{ending}', max_line_size=10000000)"
        )
    except duckdb.Error as error:
        raise InputError(_csv_fault(str(error), len(names)), where=path.name) from None
    return names


def _csv_fault(message: str, width: int) -> str:
    """What DuckDB found, without the line it quotes: that line may be somebody's record."""
    message = re.sub(r"Original Line:.*\n(?=Expected Number of Columns|Invalid unicode|Value with)", "", message, flags=re.DOTALL)
    message = message.split("\nPossible")[0].split("\n\n")[0]
    line = re.match(r"Invalid Input Error: CSV Error on Line: (\d+)", message)
    place = f"line {line.group(1)}: " if line else ""
    if "Invalid unicode" in message:
        return f"{place}the file is not UTF-8; save it as UTF-8 and try again"
    if match := re.search(r"^Expected Number of Columns: \d+ Found: (\d+)", message, re.MULTILINE):
        return f"{place}expected {width} values, as in the header, found {match.group(1)}"
    if "unterminated quote" in message:
        return f"{place}a quotation mark is never closed"
    if "invalid state" in message:
        return "lines end in different ways (some with a carriage return, some without), or a quotation mark is misplaced"
    return f"{place}the file is not a readable CSV"


def _header(path: Path, form: str) -> tuple[list[str], str, str]:
    """The column names, the delimiter, and how lines end (DuckDB would take the line break in a quoted name for it)."""
    try:
        header, following = _records(path, form)
        record = header.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("line 1: the file is not UTF-8; save it as UTF-8 and try again", where=path.name) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError("the gzip file is damaged or cut short, or is not gzip", where=path.name) from None
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", where=path.name) from None
    if not record.strip():
        raise InputError("the first line is empty; expected column names", where=path.name)
    bare = re.sub(r'"[^"]*"', "", record + following.decode("utf-8", errors="replace"))
    delimiter = _delimiter(bare, tabs=".tsv" in path.name.lower())
    names = next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter))
    ending = re.search(r"\r\n?|\n", bare)
    return [name.strip() for name in names], delimiter, repr(ending.group())[1:-1] if ending else r"\n"


def _delimiter(text: str, *, tabs: bool) -> str:
    """What cuts the header into most pieces, first of all if it cuts the next line into as many."""
    header, row, *_ = (*re.split(r"\r\n?|\n", text), "")
    order = ("\t", ",", ";", "|") if tabs else (",", ";", "\t", "|")
    return max(order, key=lambda mark: (0 < header.count(mark) == row.count(mark), header.count(mark)))


def _records(path: Path, form: str) -> tuple[bytes, bytes]:
    """The header, of several lines where a quoted name holds a line break, and the line that follows.

    A gzip file is read to its end, where its checksum stands.
    """
    with gzip.open(path) if form == "gzip" else path.open("rb") as stream:
        record = first = stream.readline()
        while record.count(b'"') % 2 and len(record) < 100_000 and (line := stream.readline()):
            record += line
        following = stream.readline()
        while form == "gzip" and stream.read(1 << 20):
            pass
    return record if record.count(b'"') % 2 == 0 else first, following
