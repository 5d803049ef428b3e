"""Reading and writing: CSV (plain or gzip), Parquet, and pandas, polars or Arrow frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from hushtable.errors import Fault, InputError
from hushtable.table.arrays import Array
from hushtable.table.dictionary import Dictionary
from hushtable.table.disk import whole_file
from hushtable.table.files import form_of, opened
from hushtable.table.infer import Draft, examine
from hushtable.table.layout import OVERRIDES, Layout
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import Source, make, repeated


def read(
    source: object,
    schema: Schema | str | Path | None = None,
    *,
    generalized: bool = False,
    least: int = 2,
    header: bool | None = None,
    names: Sequence[str] | str | Path | None = None,
    encoding: str | None = None,
    layout: Layout | None = None,
) -> Table:
    """Read a file or a frame of at least so many rows under a schema, or under a drafted one where none is given.

    ``generalized`` also accepts intervals, sets and ``*``, as in a release. A text file without a header needs ``header=False``
    (its columns are then column_1, column_2, ...) or ``names``, a list or a file of them; ``encoding`` is that of a file that is
    not UTF-8. ``layout`` says all of that, and more of how a text file is written. InputError lists every fault.
    """
    said = Layout.of(header, names, encoding)
    if layout is not None and said != Layout():
        raise InputError("says all of it: leave out header, names and encoding", where="layout")
    layout = layout or said
    if isinstance(schema, (str, Path)):
        schema = Schema.load(schema)
    if isinstance(source, Table):
        layout.require_none("table")
        return source if schema is None else make(schema, source.schema.names, source.strings, generalized=generalized)
    if isinstance(source, (str, Path)):
        path = Path(source)
        with opened(path, layout) as (columns, column):
            _shape(path.name, columns, column, schema, least)
            schema = schema or examine(columns, column, _judged(path, layout), path.name).schema
            return make(schema, columns, column, generalized=generalized, where=path.name)
    layout.require_none("table")
    columns, column = _frame(source)
    _shape("table", columns, column, schema, least)
    return make(schema or examine(columns, column).schema, columns, column, generalized=generalized)


def draft(
    source: object,
    *,
    header: bool | None = None,
    names: Sequence[str] | str | Path | None = None,
    encoding: str | None = None,
    dictionary: str | Path | None = None,
) -> Schema:
    """Draft a schema for a file or a frame; ``header``, ``names`` and ``encoding`` as for ``read``.

    ``dictionary`` is the file of a data dictionary, CSV or JSON: what it says is declared and not read off the rows.
    """
    return drafted(source, Layout.of(header, names, encoding), dictionary).schema


def drafted(source: object, layout: Layout | None = None, dictionary: Dictionary | str | Path | None = None) -> Draft:
    """Draft a schema for a file or a frame, with a reason for every column; a data dictionary declares what it describes."""
    layout = layout or Layout()
    known = Dictionary.load(dictionary) if isinstance(dictionary, (str, Path)) else dictionary
    if isinstance(source, (str, Path)):
        path = Path(source)
        with opened(path, layout) as (names, column):
            _shape(path.name, names, column)
            return examine(names, column, _judged(path, layout), path.name, known)
    layout.require_none("table")
    names, column = _frame(source)
    _shape("table", names, column)
    return examine(names, column, dictionary=known)


def _judged(path: Path, layout: Layout) -> Layout | None:
    """The layout of a text file, whose first line is to be judged; a Parquet file has names of its own."""
    return None if form_of(path) == "parquet" else layout


def column_names(path: str | Path) -> list[str]:
    """The column names of a file."""
    with opened(Path(path)) as (names, _):
        return names


def write(table: Table, path: str | Path) -> None:
    """Write ``.csv``, ``.csv.gz`` or ``.parquet``; the file appears whole or not at all.

    A missing value is written as the first missing code of the schema, or as an empty cell.
    """
    path = Path(path)
    form = form_of(path)
    if path.is_dir() or not path.parent.is_dir():
        reason = "is a folder, not a file" if path.is_dir() else "cannot be written: the folder does not exist"
        raise InputError(reason, where=path.name)
    frame = _typed(table, path.name) if form == "parquet" else _lines(table)
    # What has levels is a code for each row here, and a text in the file.
    picked = "*" if form != "parquet" else ", ".join(_written(table, name) for name in table.schema.names)
    connection = duckdb.connect()
    try:
        with whole_file(path) as partial:
            connection.register("released", frame)
            target = str(partial).replace("'", "''")
            if form == "parquet":
                options = "FORMAT parquet, COMPRESSION zstd"
            else:
                delimiter = "\t" if ".tsv" in path.name.lower() else ","
                options = f"FORMAT csv, HEADER false, DELIMITER '{delimiter}', COMPRESSION {'gzip' if form == 'gzip' else 'none'}"
                # A name with a mark in it must not look like several names of another delimiter, nor like a byte order mark.
                marked = [f"c{i}" for i, name in enumerate(table.schema.names) if set(name) & set(",;|\t\ufeff")]
                options += f", FORCE_QUOTE ({', '.join(marked)})" if marked else ""
            connection.execute(f"COPY (SELECT {picked} FROM released) TO '{target}' ({options})")
    except duckdb.Error:
        # DuckDB's message may quote the content; ours must not.
        raise InputError("cannot be written: a value is no valid text, or the disk refused", where=path.name) from None
    finally:
        connection.close()


def _lines(table: Table) -> pd.DataFrame:
    """The lines of a CSV file as texts, the first of them the header (DuckDB would rename a column A beside a column a)."""
    code = table.schema.missing[0].strip() if table.schema.missing else ""
    # In a file of one column an empty line is no line at all: there the empty text is quoted.
    blank = code if code or len(table.schema) == 1 else None
    lines = {}
    for i, name in enumerate(table.schema.names):
        lines[f"c{i}"] = np.append(np.array([name], object), table.strings(name))
        lines[f"c{i}"][1:][table.missing(name)] = blank
    return pd.DataFrame(lines, dtype=object)


def _typed(table: Table, where: str) -> pd.DataFrame:
    """The rows with numbers as numbers and dates as dates."""
    folded = [name.lower() for name in table.schema.names]
    alike = [name for name in table.schema.names if folded.count(name.lower()) > 1]
    if alike:
        reason = f"the columns {', '.join(alike)} differ only in capitals, which Parquet readers mix up: write .csv instead"
        raise InputError(reason, where=where)
    return table.frame()


def _written(table: Table, name: str) -> str:
    """A column in the words of DuckDB."""
    own = '"' + name.replace('"', '""') + '"'
    return f"{own}::VARCHAR AS {own}" if table.schema[name].coded else own


def _shape(where: str, names: Sequence[str], column: Source, schema: Schema | None = None, least: int = 2) -> None:
    if not names:
        raise InputError("has no columns", where=where)
    faults = [Fault(where, f"column {i} has no name in the header") for i, name in enumerate(names, 1) if not name]
    faults += repeated(names, schema, where)
    if faults:
        faults.append(Fault(where, f"if the first line is no header but a record, give {OVERRIDES}"))
        if not names[0] and all(names[1:]):
            faults.append(Fault(where, "if the first column is the row index that pandas writes, write the file with index=False"))
        raise InputError(faults)
    rows = len(column(names[0]))
    if rows < least:
        count = "no rows" if rows == 0 else "only one row"
        raise InputError(f"has {count}; a table needs at least two before anything in it can be hidden", where=where)


def _frame(source: object) -> tuple[list[str], Source]:
    """Names and columns of a pandas, polars or Arrow frame."""
    kind = f"{type(source).__module__.split('.')[0]}.{type(source).__name__}"
    frame: Any = source
    fetch: Callable[[int], Array]
    if isinstance(source, pd.DataFrame):
        columns, fetch = source.columns, lambda i: _plain(source.iloc[:, i])
    elif kind == "polars.DataFrame":
        columns, fetch = frame.columns, lambda i: _objects(frame.to_series(i).to_list())
    elif kind in ("pyarrow.Table", "pyarrow.RecordBatch"):
        columns, fetch = frame.schema.names, lambda i: _objects(frame.column(i).to_pylist())
    else:
        reason = f"cannot read a {type(source).__name__}; expected a file, or a pandas, polars or Arrow frame"
        raise InputError(reason, where="table")
    names = [str(name).strip() for name in columns]
    return names, lambda name: fetch(names.index(name))


def _objects(values: list[Any]) -> Array:
    return np.fromiter(values, dtype=object, count=len(values))


def _plain(series: pd.Series[Any]) -> Array:
    # Extension types as objects: a nullable or an Arrow integer would come as a rounded float.
    return np.asarray(series.to_numpy() if isinstance(series.dtype, np.dtype) else series.astype(object).to_numpy())
