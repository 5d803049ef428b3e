"""How each column is read, from what its files hold of it: by its words, as numbers, or batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import duckdb
import numpy as np

from hushtable.engine.decode import Decoder, Different, Each, Numbers, Words
from hushtable.errors import Fault, InputError
from hushtable.table.arrays import Array, Integers
from hushtable.table.columns import CODED, FREE, Bounds, Cells, Column, Kind
from hushtable.table.files import ParquetColumn, plain
from hushtable.table.schema import Schema

WORDS = 1_000_000
"""The most different values by which a column is read."""
WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
NUMBERS = WHOLE | {"FLOAT", "DOUBLE"}
PLAIN = NUMBERS | {"VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP", "UBIGINT", "TIME", "INTERVAL", "UUID", "BLOB", "JSON"}
"""Types of which every value has one text, by which it is found again."""


class Reading(Protocol):
    """What is known of raw rows before they are read."""

    @property
    def schema(self) -> Schema:
        """Under which they are read."""
        ...

    @property
    def where(self) -> str:
        """What faults are reported of."""
        ...

    @property
    def generalized(self) -> bool:
        """Whether intervals, sets and ``*`` are read too."""
        ...

    @property
    def columns(self) -> Mapping[str, ParquetColumn]:
        """What there is, by name."""
        ...

    @property
    def expressions(self) -> dict[str, str]:
        """What DuckDB is asked for in the place of the value of a column."""
        ...

    def values(self, own: ParquetColumn) -> Different | None:
        """The different values of a column; None where there are too many."""
        ...

    def bounds(self, decoder: Numbers | Each) -> Sequence[Bounds]:
        """The least and the greatest number of each part of the rows that has any."""
        ...


def decoder_of(reading: Reading, column: Column) -> Decoder:
    """How a column is read."""
    own = reading.columns[column.name]
    if as_numbers(own, column):
        if own.kind == "FLOAT":
            # By its shortest text, 0.1, and not by the 0.10000000149 that it is as a longer number.
            reading.expressions[column.name] = f"({own.pick})::VARCHAR::DOUBLE"
        return _bounded(reading, Numbers(reading.schema, column, reading.where))
    if own.kind in PLAIN and (values := reading.values(own)) is not None:
        return Words(reading.schema, column, reading.where, values, generalized=reading.generalized)
    if column.kind in CODED and column.domain is None:
        found = f"has more than {WORDS:,} different values" if own.kind in PLAIN else f"holds values of the type {own.kind}"
        reason = f"{found}: declare its levels, or give it the kind key or text"
        raise InputError([Fault(f"{reading.where}, column {column.name}", reason)])
    return _bounded(reading, Each(reading.schema, column, reading.where))


def as_numbers(own: ParquetColumn, column: Column) -> bool:
    """Whether a column of typed numbers is read as such."""
    typed = own.kind in NUMBERS and column.kind in (Kind.INTEGER, Kind.REAL)
    return typed and column.hierarchy is None and not isinstance(column.domain, Cells)


def _bounded(reading: Reading, decoder: Numbers | Each) -> Decoder:
    """The decoder, with bounds that are read off the rows where the schema declares none."""
    column = decoder.column
    if column.domain is not None or column.kind in FREE:
        return decoder
    found = reading.bounds(decoder)
    low, high = min((own.low for own in found), default=0), max((own.high for own in found), default=0)
    decoder.column = replace(column, domain=Bounds(low, high, observed=True))
    return decoder


def text_of(own: ParquetColumn) -> str:
    """The text of a value, for DuckDB."""
    return f"({own.pick})::VARCHAR"


def listed(connection: duckdb.DuckDBPyConnection, number: int) -> tuple[Array, Integers]:
    """The values and counts of a table of words (w, v, n), in the order of the words, and None last."""
    found = connection.execute(
        f"SELECT v, n FROM (SELECT w, v, n FROM words{number} WHERE w IS NOT NULL UNION ALL SELECT NULL, NULL, "
        f"coalesce((SELECT n FROM words{number} WHERE w IS NULL), 0)) ORDER BY w NULLS LAST"
    ).fetchnumpy()
    return plain(found["v"]), np.asarray(found["n"]).astype(np.int64)


def placed(connection: duckdb.DuckDBPyConnection, own: ParquetColumn, number: int, words: int) -> str:
    """The place of a value among the words of a table of them, for DuckDB: in their order, what is none of them last."""
    if words:
        connection.execute(f"CREATE TYPE word{number} AS ENUM (SELECT w FROM words{number} WHERE w IS NOT NULL ORDER BY w)")
    # A failed try_cast costs a fifth of what a cast does; that none fails is seen at the end, by the rows without a value.
    narrow = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}[np.min_scalar_type(words + 1).itemsize]
    place = f"enum_code(TRY_CAST({text_of(own)} AS word{number}))" if words else "NULL"
    return f"coalesce({place}::{narrow}, {words})"
