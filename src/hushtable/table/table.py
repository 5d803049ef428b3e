"""A table: a public schema and private rows, immutable, checked when it is made.

It answers what is asked of rows wherever they are (``table.rows``); an engine answers the same for rows that are not in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hushtable.display import Shown
from hushtable.errors import Fault, InputError, MissingExtra
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.coins import coins, identified, key_of
from hushtable.table.columns import FREE, MISSING_CODE, Bounds, Column, Facet, Kind
from hushtable.table.rows import BATCH, Code, Columns, Question, Tuples, require_person
from hushtable.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from hushtable.table.counting import Kept

CELL_LIMIT = 50_000_000
"""The largest histogram we are ready to build."""
WHOLE = 2**62
"""Keys below this cannot wrap."""


@dataclass(frozen=True, eq=False)
class Table(Shown):
    """Rows under a schema. ``arrays`` are coded as ``columns.py`` says, and cannot be written to."""

    schema: Schema
    arrays: Mapping[str, Array]
    texts: Mapping[str, NDArray[np.object_]] = field(default_factory=dict)
    """For text and key columns: the strings their codes stand for."""
    ignored: tuple[str, ...] = ()
    """Columns of the source that the schema does not name; they were left out."""
    persons: Integers | None = field(default=None, repr=False)
    """For each row the number of the person who holds it; None where every row is a person of its own.

    It follows the rows through ``take``, ``select`` and ``with_columns``, is never written, and is lost where a table is made anew.
    """

    _kept: Kept | None = field(default=None, init=False, repr=False)
    """Histograms that were asked for before."""

    def __post_init__(self) -> None:
        """Check the arrays against the schema, list every fault at once, and freeze them."""
        lengths = {name: len(array) for name, array in self.arrays.items()}
        if set(lengths) != set(self.schema.names) or len(set(lengths.values())) > 1:
            raise InputError(f"columns and schema differ, or columns have different lengths: {lengths}", where="table")
        faults = [fault for column in self.schema for fault in _faults(column, self.arrays[column.name], self.texts)]
        if faults:
            raise InputError(faults)
        if self.persons is not None:
            if self.persons.shape != (self.rows,):
                raise InputError(f"{len(self.persons)} persons for {self.rows} rows", where="table")
            object.__setattr__(self, "persons", _frozen(self.persons))
        for part in ("arrays", "texts"):
            frozen = {name: _frozen(array) for name, array in getattr(self, part).items()}
            object.__setattr__(self, part, MappingProxyType(frozen))

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is copied or reaches another process: through the same checks, and frozen again."""
        return Table, (self.schema, dict(self.arrays), dict(self.texts), self.ignored, self.persons)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.arrays.values()))) if self.arrays else 0

    def __len__(self) -> int:
        """Number of rows."""
        return self.rows

    def __getitem__(self, name: str) -> Array:
        """The coded array of one column."""
        return self.arrays[self.schema[name].name]

    def __repr__(self) -> str:
        """Shape only: rows never enter a repr."""
        drafted = "; its schema was drafted from the rows, check it" if self.schema.notes else ""
        return f"Table({self.rows:,} rows: {', '.join(self.schema.names)}{drafted})"

    def missing(self, name: str) -> Mask:
        """Which rows miss this value."""
        return self.schema[name].is_missing(self[name])

    def floats(self, name: str) -> Floats:
        """A numeric or date column as floats, NaN where missing."""
        return self.schema[name].floats(self[name])

    def strings(self, name: str) -> NDArray[np.object_]:
        """The column as it is written: text, None where missing."""
        column, array = self.schema[name], self[name]
        if column.numeric:
            values, inverse = np.unique(array, return_inverse=True)
            words = np.array(
                [None if m else column.write(v) for v, m in zip(values, column.is_missing(values), strict=True)], object
            )
            return words[inverse]
        words = np.array([*self.words(name), None], dtype=object)
        return np.asarray(words[array.astype(np.int64)], dtype=object)

    def words(self, name: str) -> NDArray[np.object_]:
        """What the codes of a coded, text or key column stand for."""
        column = self.schema[name]
        if not column.coded:
            return self.texts[name]
        words = np.empty(len(column.levels), object)
        words[:] = column.levels
        return words

    def take(self, rows: NDArray[np.integer] | Mask | slice) -> Table:
        """These rows, by position or by mask."""
        persons = None if self.persons is None else _sealed(self.persons[rows])
        return replace(self, arrays={name: _sealed(array[rows]) for name, array in self.arrays.items()}, persons=persons)

    def select(self, names: Iterable[str]) -> Table:
        """These columns."""
        schema = self.schema.select(names)
        texts = {n: t for n, t in self.texts.items() if n in schema}
        return Table(schema, {n: self.arrays[n] for n in schema.names}, texts, persons=self.persons)

    def with_column(self, column: Column, array: Array) -> Table:
        """The table with one column replaced or added."""
        return self.with_columns((column, array))

    def with_columns(self, *columns: tuple[Column, Array]) -> Table:
        """The table with these columns replaced or added, all checked at once."""
        schema = self.schema.with_columns(*(column for column, _ in columns))
        texts = {name: words for name, words in self.texts.items() if schema[name].kind in FREE}
        arrays = {**self.arrays, **{column.name: array for column, array in columns}}
        return Table(schema, arrays, texts, persons=self.persons)

    def with_text(self, column: Column, strings: Iterable[str | None]) -> Table:
        """The table with one column of free text replaced or added, which knows its own strings only, sorted; None is missing."""
        words = np.array(list(strings), object)
        present = np.array([word is not None for word in words], bool)
        own, codes = np.unique(words[present].astype(object), return_inverse=True)
        array = np.full(len(words), MISSING_CODE, column.dtype)
        array[present] = codes
        arrays, texts = {**self.arrays, column.name: array}, {**self.texts, column.name: own}
        return Table(self.schema.with_columns(column), arrays, texts, persons=self.persons)

    def under(self, schema: Schema) -> Table:
        """The same rows under a schema that differs in roles, marks or notes only; checked like a new table."""
        return self if schema is self.schema else replace(self, schema=schema)

    def declared(self, by: str = "", facets: Iterable[str] = tuple(Facet)) -> Table:
        """The table under its schema declared: whoever says so answers for it that it was not learnt from the rows alone."""
        return self.under(self.schema.declared(by, facets))

    def held_by(self, key: str | None) -> Table:
        """The table with persons identified by a key column (every row a person of its own without one).

        A row whose key is missing is a person of its own.
        """
        if key is None:
            return replace(self, persons=None)
        require_person(key, self.schema)
        nobodys = self.rows + np.arange(self.rows)
        _, persons = np.unique(np.where(self.missing(key), nobodys, self.groups([key])[0]), return_inverse=True)
        return replace(self, persons=_sealed(persons.astype(np.int64)))

    def sizes(self, columns: Iterable[str]) -> tuple[int, ...]:
        """For each column the number of cells a histogram has, a last one for missing unless it is required."""
        return histogram_sizes(self.schema, columns)

    def counts(self, columns: Iterable[str]) -> Integers:
        """The joint histogram over the whole declared domain, one axis per column, missing last on each axis."""
        columns = tuple(columns)
        sizes = self.sizes(columns)
        flat = np.zeros(self.rows, np.int64)
        for name, size in zip(columns, sizes, strict=True):
            flat = flat * size + self.cells(name)
        return np.bincount(flat, minlength=int(np.prod(sizes))).reshape(sizes)

    def histograms(self, sets: Sequence[Columns]) -> Sequence[Integers]:
        """The joint histogram of each of these sets, as ``counts`` gives it, in one pass; kept for the next question."""
        # Compiled code, which takes a third of a second to import.
        from hushtable.table.counting import Kept

        if self._kept is None:
            object.__setattr__(self, "_kept", Kept())
        assert self._kept is not None
        sizes = {name: self.sizes((name,))[0] for columns in sets for name in columns}
        for columns in sets:
            self.sizes(columns)

        def blocks(names: Columns) -> Iterator[dict[str, Integers]]:
            for batch in self.batches(columns=names):
                yield {name: batch.cells(name) for name in names}

        return self._kept.histograms(sets, sizes, lambda own: own.over(blocks(own.names)))

    def fold(self, question: Question) -> Integers:
        """The answer to a question, additive or not: all rows are here."""
        return question.answer(self)

    def distinct(self, columns: Iterable[str], limit: int) -> Tuples:
        """The different tuples of some columns, in order of their codes, and how many rows hold each."""
        own = self.select(columns)
        numbers, count = own.groups(own.schema.names)
        if count > limit:
            raise InputError(
                f"there are {count:,} different tuples of {', '.join(own.schema.names)}, more than {limit:,}", where="table"
            )
        first = np.full(count, self.rows, np.int64)
        np.minimum.at(first, numbers, np.arange(self.rows))
        table = replace(own.take(first), persons=None)
        order = np.lexsort([table[name] for name in reversed(table.schema.names)])
        return Tuples(table.take(order), np.bincount(numbers, minlength=count)[order])

    def bounded(self, key: str, most: int, words: Callable[[int], NDArray[np.uint64]], seed: int | None) -> Table:
        """At most so many rows of each person, picked at random, and none whose person is unknown."""
        table = self.held_by(key)
        known = np.flatnonzero(~table.missing(key))
        _, persons = np.unique(table[key][known], return_inverse=True)
        # A coin goes with a person and the number of the row among its own: one person more moves nobody else's.
        own = _places(np.argsort(persons, kind="stable"), persons)
        holders = identified(table[key], table.texts.get(key))[known]
        drawn = coins(key_of(words, seed), holders, own)
        return table.take(np.sort(known[_places(np.lexsort((drawn, persons)), persons) < most]))

    def within(self, key: str, most: int) -> int:
        """How many rows ``bounded`` leaves."""
        groups, _ = self.groups([key])
        return int(np.minimum(np.bincount(groups[~self.missing(key)]), most).sum())

    def encoded(self, code: Code) -> Table:
        """The rows as a code writes them."""
        return code.apply(self)

    def digest(self) -> bytes:
        """A digest of the rows."""
        own = hashlib.sha256()
        for name in self.schema.names:
            own.update(np.ascontiguousarray(self[name]).tobytes() + b"\0")
        for name, words in self.texts.items():
            own.update("\0".join((name, *map(str, words))).encode("utf-8", "surrogatepass"))
        return own.digest()

    def whole(self, why: str) -> Table:
        """The table itself: it is in memory."""
        return self

    def cells(self, name: str) -> Integers:
        """For each row, its cell in the histogram of one column."""
        column, array = self.schema[name], self[name]
        size = self.sizes((name,))[0]
        if column.kind is Kind.INTEGER and not column.generalized:
            codes = array.astype(np.int64) - int(column.bounds.low)
        else:
            codes = array.astype(np.int64)
        return np.where(column.is_missing(array), size - 1, codes)

    def quantiles(self, name: str, shares: Iterable[float]) -> Floats:
        """Values below which these shares of the present values lie (an actual value, the lower one)."""
        values = self.floats(name)
        present = values[~np.isnan(values)]
        if not len(present):
            return np.full(len(list(shares)), np.nan)
        return np.quantile(present, list(shares), method="lower")

    def batches(self, size: int = BATCH, columns: Iterable[str] | None = None) -> Iterator[Table]:
        """The rows in order, ``size`` at a time, all columns or some of them."""
        own = self if columns is None else self.select(columns)
        for start in range(0, self.rows, size):
            yield own.take(slice(start, start + size))

    def groups(self, columns: Iterable[str]) -> tuple[Integers, int]:
        """A group number for each row, equal where all these columns are equal (missing equals missing)."""
        codes = identities((self[name] for name in columns), self.rows)
        return codes, int(codes.max(initial=-1)) + 1

    def frame(self) -> pd.DataFrame:
        """A pandas frame with the usual dtypes."""
        import pandas as pd

        return pd.DataFrame({name: self._series(name) for name in self.schema.names})

    def to_pandas(self) -> pd.DataFrame:
        """The same as ``frame``, under the name that other libraries use."""
        return self.frame()

    def to_arrow(self) -> pa.Table:
        """An Arrow table; needs pyarrow."""
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtra("pyarrow", "frames", "an Arrow table") from None
        return pa.Table.from_pandas(self.frame(), preserve_index=False)

    def to_polars(self) -> pl.DataFrame:
        """A polars frame; needs polars and pyarrow."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra("polars", "frames", "a polars frame") from None
        return pl.DataFrame(self.to_arrow())

    def _series(self, name: str) -> object:
        import pandas as pd

        column, array = self.schema[name], self[name]
        if column.coded:
            ordered = column.kind is Kind.ORDINAL and not column.generalized
            return pd.Categorical.from_codes(array.astype(np.int32), categories=pd.Index(list(column.levels)), ordered=ordered)
        if not column.numeric:
            return pd.Series(self.strings(name), dtype=object)
        missing = column.is_missing(array)
        if column.kind is Kind.INTEGER:
            if not missing.any():
                return array
            return pd.arrays.IntegerArray(np.where(missing, 0, array).astype(np.int64), missing)
        if column.kind is Kind.DATE:
            moments = np.where(missing, 0, array).astype("datetime64[s]")
            moments[missing] = np.datetime64("NaT")
            return moments
        return array

    @classmethod
    def empty(cls, schema: Schema) -> Table:
        """No rows of a schema."""
        texts = {column.name: np.empty(0, object) for column in schema if column.kind in FREE}
        return cls(schema, {column.name: np.empty(0, column.dtype) for column in schema}, texts)

    @classmethod
    def concat(cls, tables: Iterable[Table]) -> Table:
        """Tables of one schema, one below the other; InputError names the columns whose kind or domain differs."""
        tables = list(tables)
        first = tables[0]
        faults = [
            Fault("table", f"column {name!r} has another kind or domain in table {i}, or is not there")
            for i, table in enumerate(tables[1:], 2)
            for name in dict.fromkeys((*first.schema.names, *table.schema.names))
            if not _alike(first.schema, table.schema, name)
        ]
        if faults:
            raise InputError(faults)
        arrays = {n: np.concatenate([t[n] for t in tables]) for n in first.schema.names}
        texts = dict(first.texts)
        for name in texts:
            words: dict[str, int] = {}
            moved = [np.array([words.setdefault(w, len(words)) for w in t.texts[name]] + [MISSING_CODE], np.int32) for t in tables]
            arrays[name] = np.concatenate([codes[t[name]] for codes, t in zip(moved, tables, strict=True)])
            texts[name] = np.array([*words, None], object)[:-1]
        return Table(first.schema, arrays, texts)


def identities(columns: Iterable[Array], rows: int) -> Integers:
    """A number from 0 for each row, equal exactly where all these columns are equal, and rising with the first of them.

    The columns are digits of one key; where keys have no more room they are numbered anew, and sorting waits for the last of them.
    """
    keys, room = np.zeros(rows, np.int64), 1
    for column in columns:
        digits, base = _digits(column)
        if room * base >= WHOLE:
            keys, room = _ranks(keys)
        keys, room = keys * base + digits, room * base
    if room > _small(rows):
        return _ranks(keys)[0]
    there = np.zeros(room, np.bool_)
    there[keys] = True
    return (np.cumsum(there) - 1)[keys]


def _digits(column: Array) -> tuple[Integers, int]:
    """Small whole numbers that are equal, and rise, where the values do, and one more than the largest that may be."""
    if len(column) and column.dtype.kind in "iub":
        low, high = int(column.min()), int(column.max())
        if high - low < _small(len(column)):
            # Whole 64 bits do not fit beside a sign, and the differences of a few bits not into these.
            own = column if column.dtype.kind == "u" else column.astype(np.int64)
            return (own - low).astype(np.int64), high - low + 1
    return _ranks(column)


def _ranks(column: Array) -> tuple[Integers, int]:
    """The place of each value among the different ones, and how many these are; all NaN are one value."""
    import pandas as pd

    codes, words = pd.factorize(column, sort=True, use_na_sentinel=False)
    return codes.astype(np.int64, copy=False), max(len(words), 1)


def _small(rows: int) -> int:
    """A table of so many places is worth its memory beside so many rows."""
    return 4 * rows + 65_536


def _faults(column: Column, array: Array, texts: Mapping[str, NDArray[np.object_]]) -> Iterator[Fault]:
    """What is wrong with the array of one column; rows are named, values are not."""
    where = f"table, column {column.name}"
    if array.dtype != column.dtype:
        yield Fault(where, f"holds {array.dtype} numbers where a {column.kind} column holds {column.dtype}")
        return
    if column.kind not in FREE and column.domain is None:
        yield Fault(where, "has no domain: declare levels or bounds, or read the rows with hushtable.read")
        return
    if column.kind in FREE and column.name not in texts:
        yield Fault(where, f"is {column.kind}, but the texts its codes stand for are not given")
        return
    wrong = column.outside(array, len(texts[column.name]) if column.kind in FREE else None)
    if wrong.any():
        yield _fault(where, "values outside the domain", wrong)
    if column.required and (missing := column.is_missing(array)).any():
        yield _fault(where, "has missing values, but is declared required", missing)


def _fault(where: str, reason: str, rows: Mask) -> Fault:
    return Fault(where, reason, int(rows.sum()), tuple(int(r) + 1 for r in np.flatnonzero(rows)[:3]))


def _alike(one: Schema, other: Schema, name: str) -> bool:
    if name not in one or name not in other:
        return False
    return (one[name].kind, one[name].domain) == (other[name].kind, other[name].domain)


def _frozen(array: Array) -> Array:
    """The array itself if nobody can write to it, else a copy that nobody can."""
    safe = not array.flags.writeable and (array.base is None or not _writeable(array.base))
    return array if safe else _sealed(array.copy())


def _writeable(base: object) -> bool:
    """Whether somebody may hold a door to the memory that a read-only view shows."""
    return not isinstance(base, np.ndarray) or base.flags.writeable or (base.base is not None and _writeable(base.base))


def _sealed(array: Array) -> Array:
    array.setflags(write=False)
    return array


def _places(order: NDArray[np.intp], persons: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each row its number among the rows of its person, when the rows are taken in this order."""
    ordered = persons[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    places = np.empty(len(order), np.intp)
    places[order] = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.append(starts, len(ordered))))
    return places


def histogram_sizes(schema: Schema, columns: Iterable[str]) -> tuple[int, ...]:
    """For each column the number of histogram cells; InputError where a column cannot be counted."""
    sizes = []
    for name in columns:
        column = schema[name]
        if column.coded:
            size = len(column.levels)
        elif column.kind is Kind.INTEGER and isinstance(column.domain, Bounds):
            size = int(column.domain.high - column.domain.low) + 1
        else:
            raise InputError(f"a {column.kind} column must be cut into bins before it can be counted", where=name)
        sizes.append(size if column.required else size + 1)
    if float(np.prod([float(s) for s in sizes])) > CELL_LIMIT:
        raise InputError(f"a histogram of {' x '.join(map(str, sizes))} cells is too large", where="table")
    return tuple(sizes)
