"""From raw values (texts or typed arrays) to a table under a schema; every fault is listed at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hushtable.errors import Fault, InputError
from hushtable.table.arrays import Array, Integers, Mask
from hushtable.table.cell import Cell
from hushtable.table.columns import CODED, FREE, MISSING_CODE, MISSING_INTEGER, Bounds, Cells, Column, Kind, Levels
from hushtable.table.layout import OVERRIDES
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.trees import read_cell, uncovered

Source = Callable[[str], Array]
"""Gives the raw values of one column by name."""


@dataclass(frozen=True, eq=False)
class Raw:
    """A raw column as its distinct values: ``words[codes]``, code -1 where the source has no value."""

    codes: Integers
    words: tuple[str, ...]
    moments: bool = False
    """Whether the source holds dates and not texts: the words are then in ISO form, whatever the column's format."""
    numbers: bool = False
    """Whether the source holds numbers and not texts: the words then have a point and no groups, whatever the column's format."""

    def rows(self, words: Mask) -> tuple[int, tuple[int, ...]]:
        """How many rows hold one of these words (the last stands for no value), and the first three, counted from 1."""
        rows = np.flatnonzero(words[self.codes])
        return len(rows), tuple(int(row) + 1 for row in rows[:3])

    @classmethod
    def of(cls, values: Array) -> Raw:
        """Collapse to distinct texts, stripped of surrounding blanks."""
        array = pd.Series(values).to_numpy() if not isinstance(values, np.ndarray) else values
        try:
            codes, uniques = pd.factorize(array, use_na_sentinel=True)
        except TypeError:
            # Lists and other values that cannot be hashed are compared as they are written.
            codes, uniques = pd.factorize(np.array([None if v is None else text_of(v) for v in array], object))
        moments = len(uniques) > 0 and all(isinstance(value, (date, np.datetime64)) for value in uniques)
        words = _moments(uniques) if moments else [text_of(value) for value in uniques]
        index: dict[str, int] = {}
        merged = np.array([index.setdefault(word, len(index)) for word in words] + [MISSING_CODE], np.int64)
        numbers = len(uniques) > 0 and not moments and all(isinstance(value, (int, float, np.number)) for value in uniques)
        return cls(merged[codes], tuple(index), moments, numbers)


def _moments(values: Iterable[Any]) -> list[str]:
    """Dates as ISO days, or all of them with the time where one has a time of day; UTC where they know their zone."""
    stamps = [pd.Timestamp(value) for value in values]
    stamps = [(s if s.tz is None else s.tz_convert("UTC").tz_localize(None)).floor("s") for s in stamps]
    days = all(s == s.normalize() for s in stamps)
    return [s.isoformat(sep=" ", timespec="seconds")[: 10 if days else None] for s in stamps]


def text_of(value: object) -> str:
    """How a value of a frame is written: whole floats without a point, dates in ISO form."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (float, np.floating)):
        # A float above 2^53 stands for many whole numbers: its digits would pretend to be one of them.
        exact = float(value).is_integer() and abs(float(value)) < 2**53
        return str(int(value)) if exact else str(value)
    if isinstance(value, (timedelta, np.timedelta64)):
        # Not as numpy writes it: that depends on the unit of the whole column.
        return str(pd.Timedelta(value))
    if isinstance(value, (date, np.datetime64)):
        return _moments([value])[0]
    return str(value).strip()


def make(schema: Schema, names: Sequence[str], source: Source, *, generalized: bool = False, where: str = "table") -> Table:
    """Build a table; InputError lists every fault of every column.

    With ``generalized`` a value outside the domain may be a cell (``[20, 29]``, ``{a, b}``, ``*``, a label of the
    hierarchy): that is how a release is read back.
    """
    faults = misnamed(names, schema, where)
    if faults:
        raise InputError(faults)
    columns, arrays, texts = [], {}, {}
    for column in schema:
        raw = Raw.of(source(column.name))
        reader = Reader.of(schema, column, where)
        columns.append(reader.read(raw, generalized=generalized))
        arrays[column.name] = reader.array
        if column.kind in FREE:
            texts[column.name] = reader.words
        faults += reader.faults
    if faults:
        raise InputError(faults)
    ignored = tuple(n for n in names if n not in schema)
    return Table(replace(schema, columns=tuple(columns)), arrays, texts, ignored)


def misnamed(names: Sequence[str], schema: Schema, where: str) -> list[Fault]:
    """A fault for each name that stands more than once, and for each column of the schema that is not there."""
    # Without one known name the first line is perhaps no header but somebody's record, and is not quoted.
    known = any(name in schema for name in names)
    has = (
        f"it has {', '.join(names)}"
        if known
        else f"none of the schema's names stands in its first line: is there a header? If not, give {OVERRIDES}"
    )
    lacking = [
        Fault(f"{where}, column {name}", f"named by the schema, but the table has no such column; {has}")
        for name in schema.names
        if name not in names
    ]
    return [*repeated(names, schema, where), *lacking]


def repeated(names: Sequence[str], schema: Schema | None, where: str) -> list[Fault]:
    """A fault for each name that stands more than once, quoted only if the schema proves that these are names."""
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names, 1):
        places.setdefault(name, []).append(i)
    quoted = schema is not None and any(name in schema for name in names)
    return [
        Fault(where, f"the column name {name!r} stands in the header more than once")
        if quoted
        else Fault(where, f"one name stands in the header more than once, for the columns {', '.join(map(str, columns))}")
        for name, columns in places.items()
        if name and len(columns) > 1
    ]


class Reader:
    """Reads one column: sets ``array`` (and ``words``) and collects ``faults``."""

    @classmethod
    def of(cls, schema: Schema, column: Column, where: str) -> Reader:
        """The reader of a column of a schema."""
        return cls(
            column, frozenset(code.strip() for code in (*schema.missing, *column.missing, "")), f"{where}, column {column.name}"
        )

    def __init__(self, column: Column, missing: frozenset[str], where: str) -> None:
        self.column, self.missing, self.where = column, missing, where
        counted = column.kind in (Kind.INTEGER, Kind.REAL)
        self.codes = frozenset(Decimal(code) for code in missing if counted and _PLAIN.match(code))
        self.faults: list[Fault] = []
        self.array: Array = np.empty(0)
        self.words: NDArray[np.object_] = np.empty(0, object)

    def read(self, raw: Raw, *, generalized: bool) -> Column:
        """The column with its domain filled in where the schema left it open."""
        present = np.array([not self._absent(word) for word in raw.words] + [False])
        if self.column.kind in FREE:
            self.words = np.array([*raw.words, ""], dtype=object)[:-1]
            self.array = np.where(present[raw.codes], raw.codes, MISSING_CODE).astype(np.int32)
            column = self.column
        elif isinstance(self.column.domain, Cells) or (generalized and self._needs_cells(raw, present)):
            column = self._cells(raw, present)
        elif self.column.kind in CODED:
            column = self._levels(raw, present)
        else:
            column = self._numbers(raw, present)
        if self.column.required:
            self._fault(raw, ~present, LACKING, values=False)
        return column

    def _absent(self, word: str) -> bool:
        """Whether it is a missing code, compared as numbers where the column holds numbers: -9 is -9.0."""
        return word in self.missing or bool(self.codes and _PLAIN.match(word) and Decimal(word) in self.codes)

    def _levels(self, raw: Raw, present: Mask) -> Column:
        domain = self.column.domain
        if not isinstance(domain, Levels):
            seen = [w for w, p in zip(raw.words, present, strict=False) if p]
            domain = Levels(tuple(sorted(seen, key=natural)) or ("missing",), observed=True)
        codes = np.array([domain.index.get(w, MISSING_CODE) for w in raw.words] + [MISSING_CODE], np.int32)
        self._fault(raw, present & (codes == MISSING_CODE), "values outside the declared domain")
        self.array = codes[raw.codes]
        column = replace(self.column, domain=domain)
        self._coverage(column, domain.levels)
        return column

    def _numbers(self, raw: Raw, present: Mask) -> Column:
        numbers, bad = self._parse(raw, present)
        self._fault(raw, bad, not_of(self.column))
        good = present & ~bad
        domain = self.column.domain
        if not isinstance(domain, Bounds):
            seen = numbers[good] if good.any() else np.zeros(1, numbers.dtype)
            domain = Bounds(seen.min().item(), seen.max().item(), observed=True)
        outside = good & ((numbers < domain.low) | (numbers > domain.high))
        self._fault(raw, outside, outside_of(self.column, domain))
        if self.column.kind is Kind.REAL:
            self.array = np.where(good, numbers, np.nan)[raw.codes]
        else:
            self.array = np.where(good, numbers, MISSING_INTEGER).astype(np.int64)[raw.codes]
        column = replace(self.column, domain=domain)
        self._coverage(column, [w for w, g in zip(raw.words, good & ~outside, strict=False) if g])
        return column

    def _parse(self, raw: Raw, present: Mask) -> tuple[Array, Mask]:
        whole = self.column.kind is not Kind.REAL
        numbers = np.zeros(len(raw.words) + 1, np.int64 if whole else np.float64)
        bad = np.zeros(len(numbers), bool)
        for i, word in enumerate(raw.words):
            if present[i]:
                try:
                    numbers[i] = self._number(word, raw)
                except (ValueError, OverflowError):
                    bad[i] = True
        return numbers, bad

    def _number(self, word: str, raw: Raw) -> float:
        if raw.moments:
            return self._moment(word)
        typed = raw.numbers and self.column.kind is not Kind.DATE
        return self.column.plain_number(word) if typed else self.column.number(word)

    def _moment(self, word: str) -> float:
        """A date of a source that holds dates; ValueError if the column's format could not write it."""
        if self.column.kind is not Kind.DATE:
            return self.column.number(word)
        seconds = datetime.fromisoformat(word).replace(tzinfo=UTC).timestamp()
        if self.column.number(self.column.write(seconds)) != seconds:
            raise ValueError("the format leaves out a part of the date")
        return seconds

    def _needs_cells(self, raw: Raw, present: Mask) -> bool:
        """Whether some value is no value of the domain itself."""
        domain = self.column.domain
        if isinstance(domain, Levels):
            return any(w not in domain.index for w, p in zip(raw.words, present, strict=False) if p)
        return bool(self._parse(raw, present)[1].any()) if self.column.kind not in CODED else False

    def _cells(self, raw: Raw, present: Mask) -> Column:
        declared = self.column.domain if isinstance(self.column.domain, Cells) else Cells((), self.column.base)
        cells: list[Cell] = list(declared.cells)
        index = dict(declared.index)
        spans = {cell.span: code for code, cell in reversed(list(enumerate(cells)))}
        codes = np.full(len(raw.words) + 1, MISSING_CODE, np.int32)
        for i, word in enumerate(raw.words):
            if present[i]:
                if word not in index:
                    try:
                        cell = read_cell(self.column, word)
                    except ValueError:
                        continue
                    # Cells are equal when their sets are: 20-29 and [20, 29] are one cell of an integer.
                    index[word] = spans.setdefault(cell.span, len(cells))
                    if index[word] == len(cells):
                        cells.append(cell)
                codes[i] = index[word]
        self._fault(raw, present & (codes == MISSING_CODE), "neither values of the domain nor generalized values")
        self.array = codes[raw.codes]
        return self.column.generalize(tuple(cells))

    def _coverage(self, column: Column, values: Sequence[str]) -> None:
        bare = uncovered(column, values)
        if bare:
            shown = tuple(bare[:3]) if column.shows_values else ()
            self.faults.append(Fault(self.where, "the hierarchy has no line for some values", len(bare), (), shown))

    def _fault(self, raw: Raw, words: Mask, reason: str, *, values: bool = True) -> None:
        """Record the rows whose word is marked, with three examples."""
        if not words.any():
            return
        count, rows = raw.rows(words)
        if not count:
            return
        shown: tuple[str, ...] = ()
        if values and self.column.shows_values:
            shown = tuple(raw.words[i] for i in np.flatnonzero(words[:-1])[:3])
        self.faults.append(Fault(self.where, reason, count, rows, shown))


LACKING = "has missing values, but is declared required"
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)\Z", re.ASCII)
_NOUN = {Kind.INTEGER: "whole numbers", Kind.REAL: "numbers", Kind.DATE: "dates (ISO 8601 days, unless 'format' says otherwise)"}


def not_of(column: Column) -> str:
    """What is wrong with values that are of another kind."""
    return f"values that are not {_NOUN[column.kind]}"


def outside_of(column: Column, domain: Bounds) -> str:
    """What is wrong with numbers beyond these bounds."""
    return f"values outside the declared domain [{column.write(domain.low)}, {column.write(domain.high)}]"


def natural(text: str) -> tuple[int, float, str]:
    """Numbers in order before words in order."""
    try:
        value = float(text)
    except ValueError:
        return (1, 0.0, text)
    return (0, value, text) if value == value else (1, 0.0, text)


def from_mapping(schema: Schema, columns: Mapping[str, object], *, generalized: bool = False) -> Table:
    """A table from columns given as sequences; handy in tests and small scripts."""
    arrays = {name: np.asarray(pd.Series(values, dtype=object)) for name, values in columns.items()}
    return make(schema, list(arrays), arrays.__getitem__, generalized=generalized)
