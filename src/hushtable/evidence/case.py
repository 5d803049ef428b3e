"""A case: what an audit sees. Three tables of one meaning, and what is expensive to compute, computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import Fault, InputError
from hushtable.evidence.joint import jointly
from hushtable.evidence.known import Known
from hushtable.evidence.looks import Offered
from hushtable.evidence.neighbours import search as neighbours
from hushtable.evidence.neighbours.search import Encoding, Neighbours, Points
from hushtable.evidence.persons import People
from hushtable.evidence.reading import ordinary
from hushtable.evidence.shortlist import Shortlist
from hushtable.table.arrays import Floats, Integers
from hushtable.table.cell import Cell, Interval
from hushtable.table.columns import CODED, FREE, Cells, Column, Kind, Role
from hushtable.table.table import Table, identities
from hushtable.table.words import text_columns

Item = TypeVar("Item")
Generator = Callable[[Table, int], Table]
"""Makes a release of other rows with a seed: the recipe that the audited release was made with."""


@dataclass(frozen=True, eq=False)
class Case:
    """The rows a release was made from, the release, and rows of the same kind that it was not made from.

    Columns that the release does not have, identifiers and keys are left out of all three. Who holds the rows of ``train`` and
    of ``control`` is known from ``Table.persons``, on both sides or on neither; nobody may stand on both.
    """

    train: Table
    release: Table
    control: Table
    generator: Generator | None = field(default=None, repr=False)
    """How the release was made, for attacks that make it again; None if that is not known."""
    attackers: tuple[Known, ...] = ()
    """What each attacker holds; when empty, each audit is run once and chooses for itself."""
    known: Known | None = field(default=None, repr=False)
    """What the attacker at hand holds; None before there is one (``knowing``)."""
    shortlist: Shortlist | None = field(default=None, repr=False)
    """Where the tables are larger than memory: how large they are, and what was counted in them.

    ``train`` and ``control`` then hold people who were picked at random, and ``release`` the rows that come into question for them:
    only audits that say what they look for in it (``Audit.looks``) may be run."""
    _cache: dict[object, object] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """The three must be different tables with columns in common."""
        faults = []
        for name, table in self.tables.items():
            if table.rows < 2:
                faults.append(Fault(name, f"an audit needs at least two rows, got {table.rows}"))
        if not self.columns:
            faults.append(Fault("release", "has no column in common with the training rows"))
        faults += _unlike(self.tables)
        missing = [n for n in self.release.schema.names if n in self.train.schema and n not in self.control.schema]
        if (self.train.persons is None) != (self.control.persons is None):
            which = "train" if self.train.persons is None else "control"
            faults.append(Fault(which, "does not say who holds its rows, but the other side does: identify persons in both"))
        if missing:
            faults.append(Fault("control", f"lacks columns of the release: {', '.join(missing)}"))
        if not faults and _same(self.train, self.control, self.columns) and _same_texts(self.train, self.control):
            faults.append(Fault("control", "holds the same rows as the training table; it must hold other people"))
        if faults:
            raise InputError(faults)
        for name, table in zip(("train", "control"), jointly(self.train, self.control), strict=True):
            object.__setattr__(self, name, table)

    @property
    def tables(self) -> dict[str, Table]:
        """By name."""
        return {"train": self.train, "release": self.release, "control": self.control}

    @property
    def totals(self) -> dict[str, int]:
        """By name how many rows there are, of which the tables may hold a part."""
        return (
            {which: table.rows for which, table in self.tables.items()} if self.shortlist is None else dict(self.shortlist.totals)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are compared, as far as the attacker holds them."""
        if self.known is None or self.known.whole:
            return self.compared
        return self.known.columns

    @property
    def compared(self) -> tuple[str, ...]:
        """All columns that the three tables can be compared on, whoever attacks."""
        schema = self.train.schema
        return tuple(
            name
            for name in neighbours.comparable([self.train, self.release, self.control])
            if schema[name].role is not Role.IDENTIFIER and schema[name].kind is not Kind.TEXT
        )

    def knowing(self, known: Known | None) -> Case:
        """The same case for an attacker who holds no more than this; all that is computed serves both."""
        if known == self.known:
            return self
        # Not made anew: three tables that differ may well agree in the few columns that somebody holds.
        limited = copy(self)
        object.__setattr__(limited, "known", known)
        return limited

    @property
    def limited(self) -> bool:
        """Whether the attacker holds less than all columns."""
        return self.known is not None and not self.known.whole

    @property
    def holding(self) -> str:
        """What the attacker knows of whoever is attacked, in words."""
        return (self.known or Known()).noun

    def people(self, which: str) -> People:
        """Who holds the rows of ``train`` or of ``control``: what every rate and every test is about."""
        return self.once(("people", which), lambda: People.of(self.tables[which]))

    @property
    def sides(self) -> tuple[People, People]:
        """The people of ``train`` and those of ``control``."""
        return self.people("train"), self.people("control")

    def encoding(self, columns: Sequence[str] | None = None) -> Encoding:
        """One encoding for all three tables.

        Ranges are those of training and control rows together: a scale that came from one side alone, or drifted with the
        release, would distinguish the sides.
        """
        names = tuple(columns) if columns is not None else self.columns
        tables = [self.train, self.control, self.release]
        return self.once(("encoding", names), lambda: Encoding.of(tables, names, scale=2))

    def points(self, which: str, columns: Sequence[str] | None = None) -> Points:
        """One table encoded."""
        names = tuple(columns) if columns is not None else self.columns
        return self.once(("points", which, names), lambda: self.encoding(names).points(self.tables[which]))

    def nearest(self, queries: str, targets: str, k: int = 1, columns: Sequence[str] | None = None) -> Neighbours:
        """The k nearest ``targets`` of each of the ``queries``; in the table itself those of other people."""
        names = tuple(columns) if columns is not None else self.columns

        def search() -> Neighbours:
            ours, theirs = self.points(queries, names), self.points(targets, names)
            if queries != targets:
                return neighbours.search(ours, theirs, self.encoding(names), k)
            return neighbours.search_others(ours, self.encoding(names), k, self.people(queries))

        return self.once(("nearest", queries, targets, k, names), search)

    def nearest_without(self, queries: str, targets: str) -> Integers:
        """For each query row and each of ``columns`` the nearest target when that one column is not known."""

        def search() -> Integers:
            encoding = self.encoding()
            nearest = neighbours.search_without(self.points(queries), self.points(targets), encoding, skip_self=queries == targets)
            return nearest.index[:, [encoding.names.index(name) for name in self.columns]]

        return self.once(("without", queries, targets, self.columns), search)

    @property
    def generalized(self) -> bool:
        """Whether the release holds intervals, sets or ``*``."""
        return any(self.release.schema[name].generalized for name in self.columns)

    def read_as_values(self) -> Case:
        """The case with generalized cells of the release read as values drawn from them; itself if there are none."""
        if not self.generalized:
            return self
        read = self.once("as values", lambda: replace(self, release=self.ordinary(), known=None, _cache={}))
        return read.knowing(self.known)

    def ordinary(self) -> Table:
        """The release with generalized cells read as values drawn from them (always the same draw)."""
        if self.shortlist is not None:
            return self.shortlist.read
        return self.once("ordinary", lambda: ordinary(self.release, np.random.default_rng(0)))

    def row_ids(self, columns: Sequence[str] | None = None) -> dict[str, Integers]:
        """A number for each row of each table, equal exactly where all these columns are equal; all compared ones by default.

        A generalized cell equals a value only if it stands for that value alone.
        """
        names = tuple(columns) if columns is not None else self.columns

        def combined() -> dict[str, Integers]:
            values = (np.concatenate(list(self.value_ids(name).values())) for name in names)
            return _by_table(self.tables, identities(values, sum(t.rows for t in self.tables.values())))

        return self.once(("row ids", names), combined)

    def occurrences(self, which: str, where: str, columns: Sequence[str]) -> Integers:
        """For each row of the people of a side, how many rows of a whole table are equal on these columns."""
        if self.shortlist is not None:
            return self.shortlist.equal[tuple(columns)].occurrences(which, where)
        ids = self.row_ids(columns)
        return np.bincount(ids[where], minlength=int(ids[which].max()) + 1)[ids[which]]

    def offered(self, look: Offered) -> dict[str, Floats] | None:
        """For each person the share of all released values that is right; None where all of these are in memory."""
        if self.shortlist is None:
            return None
        return {which: count / self.totals["release"] for which, count in self.shortlist.offered[look].counts.items()}

    def value_ids(self, name: str) -> dict[str, Integers]:
        """The same for one column: a number from 0 for each of its values, none left out."""

        def numbered() -> dict[str, Integers]:
            values = np.concatenate([_exact(table, name) for table in self.tables.values()])
            return _by_table(self.tables, np.unique(values, return_inverse=True)[1])

        return self.once(("value ids", name), numbered)

    def once(self, key: object, make: Callable[[], Item]) -> Item:
        """What ``make`` returns, computed once for all audits of this case that ask for the same key."""
        if key not in self._cache:
            self._cache[key] = make()
        return cast("Item", self._cache[key])


def _unlike(tables: dict[str, Table]) -> list[Fault]:
    """Columns that mean one thing in the training rows and another in the release or in the control.

    Not identifiers: a number may be released as its digest, and they are compared as they are written.
    """
    schema = tables["train"].schema
    return [
        Fault(f"{which}, column {name}", f"is {other.schema[name].kind}, but {schema[name].kind} in the training rows")
        for which, other in tables.items()
        for name in schema.names
        if name in other.schema
        and schema[name].role is not Role.IDENTIFIER
        and _family(schema[name].kind) != _family(other.schema[name].kind)
    ]


def _family(kind: Kind) -> str:
    """Kinds whose values can be compared with one another."""
    if kind in CODED:
        return "levels"
    if kind in FREE:
        return "texts"
    return "dates" if kind is Kind.DATE else "numbers"


def _by_table(tables: dict[str, Table], ids: Integers) -> dict[str, Integers]:
    ends = np.cumsum([table.rows for table in tables.values()])[:-1]
    return dict(zip(tables, np.split(ids, ends), strict=True))


def _exact(table: Table, name: str) -> NDArray[np.str_]:
    """Each value as a text that is the same in every table; a cell of several values is marked as such."""
    column, array = table.schema[name], table[name]
    if isinstance(column.domain, Cells):
        words = [_cell_text(column, cell) for cell in column.domain.cells]
    elif column.numeric:
        values, codes = np.unique(array, return_inverse=True)
        missing = column.is_missing(values)
        return np.array(["" if m else repr(float(v)) for v, m in zip(values, missing, strict=True)])[codes]
    else:
        words = [f"={word}" for word in table.words(name)]
    return np.array([*words, ""])[array.astype(np.int64)]


def _cell_text(column: Column, cell: Cell) -> str:
    if isinstance(cell.span, Interval) and cell.span.low == cell.span.high:
        return repr(float(cell.span.low))
    if isinstance(cell.span, frozenset) and len(cell.span) == 1:
        return f"={next(iter(cell.span))}"
    return f"~{cell.text}"


def _same(one: Table, other: Table, columns: Sequence[str]) -> bool:
    """Whether two tables hold the same rows, in any order."""
    if one.rows != other.rows:
        return False
    encoding = Encoding.of([one, other], columns)
    return bool(np.array_equal(_sorted(encoding.points(one)), _sorted(encoding.points(other)), equal_nan=True))


def _same_texts(one: Table, other: Table) -> bool:
    """Whether two tables hold the same free texts: people who agree in a label or two may still have written others."""
    sides = (
        [sorted(map(str, table.strings(column.name))) for column in text_columns(one.schema, other.schema)]
        for table in (one, other)
    )
    return next(sides) == next(sides)


def _sorted(points: Points) -> Floats:
    rows = np.hstack([part.astype(np.float64) for part in points.cells])
    return rows[np.lexsort(rows.T)]
