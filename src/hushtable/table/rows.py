"""What is asked of rows, wherever they are: in memory (``Table``), on disk, or on a cluster (``hushtable.engine``).

Nearly every question is a sum over the rows of something that is known of a few of them. Such a question is *additive*: its answer
for many rows is the sum of its answers for parts of them, in whole numbers, so that every engine gives the same bits. A question is
*counted* if its answer is a function of joint histograms; engines count these in one pass and keep them. It is *derived* if it asks
such questions itself, or goes through the rows batch by batch. Whatever is none of these depends on all rows at once, and only
rows in memory answer it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hushtable.display import meant
from hushtable.errors import InputError
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema

if TYPE_CHECKING:
    from hushtable.table.table import Table

Columns = tuple[str, ...]
BATCH = 1 << 18
"""Rows that are worked on at a time, where nothing else is asked for."""


class Question(Protocol):
    """Something that can be asked of a table."""

    def answer(self, table: Table) -> Integers:
        """The exact answer."""
        ...


@runtime_checkable
class Additive(Question, Protocol):
    """A question whose answer for all rows is the sum of its answers for parts of them."""

    additive: ClassVar[bool]
    """Said by the question; one that forgets to say it is asked of rows in memory only."""

    @property
    def reads(self) -> Columns:
        """The columns that it reads; empty where it only counts rows."""
        ...


@runtime_checkable
class Counted(Question, Protocol):
    """A question whose answer is a function of joint histograms."""

    @property
    def counted(self) -> tuple[Columns, ...]:
        """The columns of each histogram."""
        ...

    def finish(self, counts: Sequence[Integers]) -> Integers:
        """The answer, from one array of counts for each: an axis for each column, missing last on each."""
        ...


@runtime_checkable
class Derived(Question, Protocol):
    """A question that is answered by asking other ones, of any rows; the answer is the same wherever they are."""

    def over(self, rows: Rows) -> Integers:
        """The exact answer."""
        ...


class Code(Protocol):
    """What rows are encoded by, each row by itself."""

    @property
    def schema(self) -> Schema:
        """Of the encoded rows."""
        ...

    def apply(self, table: Table) -> Table:
        """Encode some of them."""
        ...


@runtime_checkable
class Cellwise(Code, Protocol):
    """A code that changes some columns, each cell by itself, and leaves all others as they are."""

    @property
    def cellwise(self) -> tuple[str, ...]:
        """The columns that it changes; a table of some of these alone it encodes as it does any other."""
        ...


@dataclass(frozen=True, eq=False)
class Tuples:
    """The different tuples of some columns, in lexicographic order of their codes, and how many rows hold each."""

    table: Table
    """One row for each."""
    counts: Integers


@runtime_checkable
class Rows(Protocol):
    """Rows under a schema, wherever they are. ``Table`` is one kind of them."""

    @property
    def schema(self) -> Schema:
        """Public."""
        ...

    @property
    def rows(self) -> int:
        """How many there are: exact, and private."""
        ...

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that were read with them and that the schema does not name."""
        ...

    def histograms(self, sets: Sequence[Columns]) -> Sequence[Integers]:
        """The joint histogram of each of these sets of columns, all in one pass: an axis for each column, missing last on each."""
        ...

    def fold(self, question: Question) -> Integers:
        """The answer to an additive question, summed over the rows."""
        ...

    def distinct(self, columns: Iterable[str], limit: int) -> Tuples:
        """The different tuples; InputError where there are more than ``limit``."""
        ...

    def quantiles(self, name: str, shares: Iterable[float]) -> Floats:
        """Values below which these shares of the present values lie: actual values, the lower ones."""
        ...

    def batches(self, size: int = BATCH, columns: Iterable[str] | None = None) -> Iterator[Table]:
        """The rows in order, ``size`` at a time, all columns or some of them."""
        ...

    def take(self, rows: Any) -> Rows:
        """Those rows, by position or by mask."""
        ...

    def select(self, names: Iterable[str]) -> Rows:
        """Those columns."""
        ...

    def under(self, schema: Schema) -> Rows:
        """The same rows under a schema that differs in roles, marks or notes only."""
        ...

    def encoded(self, code: Code) -> Rows:
        """The rows as a code writes them."""
        ...

    def bounded(self, key: str, most: int, words: Callable[[int], NDArray[np.uint64]], seed: int | None) -> Rows:
        """At most so many rows of each person that a key column identifies, picked at random, and none whose person is unknown.

        ``words`` gives so many uniform words of 64 bits, which decide; with a seed, its own. Which rows of a person stay depends on
        that person's rows and coins alone, and not on where the rows are. (Rows of unknown persons cannot share a place: one person
        more would then push the row of another one out.)
        """
        ...

    def within(self, key: str, most: int) -> int:
        """How many rows ``bounded`` leaves."""
        ...

    def digest(self) -> bytes:
        """What tells these rows from others, of which nothing can be learnt about them without a guess of all."""
        ...

    def whole(self, why: str) -> Table:
        """All of them in memory; PlanError, which says what needs them (``why``), where they do not fit."""
        ...


def answered(question: Question, rows: Rows) -> Integers:
    """The exact answer of these rows."""
    if isinstance(question, Counted):
        return question.finish(rows.histograms(question.counted))
    if isinstance(question, Derived):
        return question.over(rows)
    return rows.fold(question)


def require_person(key: str, schema: Schema) -> None:
    """InputError where there is no such column to identify persons by."""
    if key not in schema:
        near, names = meant(key, schema.names), ", ".join(schema.names)
        raise InputError(f"there is no column {key!r} to identify persons by{near}; the table has {names}", where="person")


def is_additive(question: Question) -> TypeGuard[Additive]:
    """Whether a question may be asked of parts of the rows, and the answers added."""
    return bool(getattr(question, "additive", False))
