"""A first draft of a schema, from the rows: kinds, missing codes, identifiers, likely quasi-identifiers.

A draft is for a person to check. All of it is marked ``observed``, because it was read off private rows: not only which values
there are, but also that a column holds numbers, with how many decimals, or that a question mark means a missing value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import numpy as np

from hushtable.errors import Fault, InputError
from hushtable.table import naming, roles
from hushtable.table.arrays import Integers
from hushtable.table.columns import CODED, DRAFTED, FREE, Column, Facet, Kind
from hushtable.table.dictionary import Declared, Dictionary
from hushtable.table.guess import Guess, Words
from hushtable.table.header import FirstLine, judge
from hushtable.table.kinds import align, guess_kind, number
from hushtable.table.layout import OVERRIDES, Layout
from hushtable.table.profile import Follows, following
from hushtable.table.schema import Schema
from hushtable.table.singling import Columns
from hushtable.table.table import Table
from hushtable.table.values import Raw, Source, make

MISSING_TEXTS = frozenset({"?", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "NULL", "null", "<NA>", "."})
BELOW = frozenset({*range(-9, 0), -66, -77, -88, *range(-99, -94), *range(-999, -994), -9999})
ABOVE = frozenset({99, 999, 9999, 99999, 999999})
"""Numbers that questionnaires and registers write where there is no answer."""
APART = -5
"""Several of the first are codes only if they lie so far from all other numbers."""


@dataclass(frozen=True)
class DraftLine:
    """What the draft says of one column: no value of it."""

    column: Column
    distinct: int
    """Distinct values, missing ones left out."""
    missing: int
    """Rows without a value."""
    kind_reason: str
    role_reason: str
    """Why this role; empty where nothing spoke for another."""


class Suspicion(StrEnum):
    """What a person should look at in a column."""

    WORDS = "words"
    """Numbers or dates beside a few words, which are drafted as its missing codes."""
    SENTINELS = "sentinels"
    """Numbers that may mean a missing value, and are drafted as values."""
    WEIGHT = "weight"
    """How many people a row stands for."""
    HOUSEHOLD = "household"
    """It numbers households or families: who shares its value belongs together."""
    COPY = "copy"
    """It says the same as another column, for all rows or for 99 in 100."""


@dataclass(frozen=True)
class Remark:
    """What seems to be the matter with one column."""

    column: str
    what: Suspicion
    codes: tuple[str, ...] = ()
    """The words or numbers that seem to mean a missing value."""
    other: str = ""
    """The column that it seems to be a copy of."""


@dataclass(frozen=True)
class Draft:
    """A drafted schema, and a line on each column for whoever checks it."""

    schema: Schema
    lines: tuple[DraftLine, ...]
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, eq=False)
class Profiled:
    """A raw column as it is judged: by its different values."""

    words: Words
    """Missing codes left out; of very many values a part, picked at random, with all of their rows."""
    blank: frozenset[str]
    """Values that mean a missing one wherever they stand."""
    first: str
    """What the first row holds, if that is a text."""
    distinct: int | None = None
    """How many different values there are, about, where the words are a part of them."""

    @classmethod
    def of(cls, name: str, raw: Raw, counts: Integers, rows: int) -> Profiled:
        """From the different values, how many rows hold each, and how many rows there are; the first row's is not known yet."""
        blank = frozenset(word for word in raw.words if word in MISSING_TEXTS)
        present = [i for i, word in enumerate(raw.words) if word and word not in blank]
        return cls(Words(name, tuple(raw.words[i] for i in present), counts[present], rows), blank, "")


class Drafted(Protocol):
    """Raw rows that a schema is drafted for, wherever they are."""

    @property
    def names(self) -> Sequence[str]:
        """Of the columns."""
        ...

    def profiled(self, name: str) -> Profiled:
        """One column, over all rows."""
        ...

    def read(self, schema: Schema, where: str) -> Table:
        """The rows under a schema that leaves domains open, or a part of them under the domains of all; InputError lists faults."""
        ...

    def missing(self, table: Table, name: str) -> int:
        """How many of all rows have no value, once they were read."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What a person should know of how the rows were looked at."""
        ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """Rows that are in memory."""

    names: Sequence[str]
    source: Source
    notes: Sequence[str] = ()

    def profiled(self, name: str) -> Profiled:
        """One column."""
        raw = Raw.of(self.source(name))
        counts = np.bincount(raw.codes[raw.codes >= 0], minlength=len(raw.words))
        first = raw.words[raw.codes[0]] if len(raw.codes) and raw.codes[0] >= 0 else ""
        return replace(Profiled.of(name, raw, counts, len(raw.codes)), first=first)

    def read(self, schema: Schema, where: str) -> Table:
        """All rows."""
        return make(schema, self.names, self.source, where=where)

    def missing(self, table: Table, name: str) -> int:
        """Counted."""
        return int(table.missing(name).sum())


def infer(names: Sequence[str], source: Source) -> Schema:
    """Draft a schema; its ``notes`` say what a person should check."""
    return examine(names, source).schema


def examine(
    names: Sequence[str], source: Source, layout: Layout | None = None, where: str = "table", dictionary: Dictionary | None = None
) -> Draft:
    """Draft a schema of rows in memory, with a reason for every column, as ``drafted`` does."""
    return drafted(InMemory(names, source), layout, where, dictionary)


def drafted(rows: Drafted, layout: Layout | None = None, where: str = "table", dictionary: Dictionary | None = None) -> Draft:
    """Draft a schema, with a reason for every column.

    With the layout of a text file its first line is judged too: InputError, without a value, where it looks like data. What a
    dictionary says of a column is declared and not drafted; InputError counts the rows that contradict it.
    """
    names = rows.names
    decimal = "" if layout is None else layout.decimal
    profiles = [replace(p, words=replace(p.words, decimal=decimal)) for p in map(rows.profiled, names)]
    columns = [profile.words for profile in profiles]
    codes = {word for profile in profiles for word in profile.blank}
    remarks = [] if layout is None else _judge_first(names, [profile.first for profile in profiles], columns, layout, where)
    guesses = align({profile.words.name: _guessed(profile) for profile in profiles})
    declared = {} if dictionary is None else _declared(columns, guesses, dictionary)
    schema = Schema(
        tuple(declared[name].column if name in declared else guesses[name].column(name) for name in names),
        tuple(sorted(codes, key=lambda code: (code != "?", code))),
    )
    table = rows.read(schema, "table") if dictionary is None else _agreeing(rows, schema, dictionary)
    missing = {name: rows.missing(table, name) for name in names}
    proposed = roles.propose(table)
    drawn = _drawn(table.schema, declared, missing, proposed, "" if dictionary is None else f"data dictionary {dictionary.source}")
    remarks += [] if dictionary is None else dictionary.notes(names)
    remarks += rows.notes
    remarks += roles.notes(table, proposed)
    for words in columns:
        if words.name not in declared:
            remarks += [f"Column {words.name} {remark}" for remark in guesses[words.name].remarks]
            remarks += _sentinels(words, drawn[words.name])
        remarks += _weight(words, drawn[words.name])
    remarks += _copies(table)
    found = following(Columns(table, list(table.under(drawn).schema.released))) if table.rows else {}
    remarks += _follows(table.under(drawn), found)
    lines = tuple(
        _line(
            profile,
            drawn[profile.words.name],
            "data dictionary" if profile.words.name in declared else guesses[profile.words.name].reason,
            proposed[profile.words.name].reason if Facet.ROLE in drawn[profile.words.name].drafted else "data dictionary",
            missing[profile.words.name],
        )
        for profile in profiles
    )
    return Draft(replace(drawn, notes=(*HEAD, *remarks)), lines, tuple(_remarked(columns, guesses, drawn, found)))


def _remarked(
    columns: Sequence[Words], guesses: Mapping[str, Guess], schema: Schema, found: Mapping[str, tuple[Follows, ...]]
) -> Iterator[Remark]:
    """What seems to be the matter with each column, in their order."""
    place = {name: number for number, name in enumerate(schema.names)}
    for words in columns:
        column = schema[words.name]
        if column.kind in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.ORDINAL) and (
            codes := guesses[words.name].facets.get("missing")
        ):
            yield Remark(words.name, Suspicion.WORDS, codes=tuple(codes))
        if codes := _lone_codes(words, column):
            yield Remark(words.name, Suspicion.SENTINELS, codes=codes)
        if _weight(words, column):
            yield Remark(words.name, Suspicion.WEIGHT)
        if words.matches(naming.HOUSEHOLD):
            yield Remark(words.name, Suspicion.HOUSEHOLD)
        twins = [f.source for f in found.get(words.name, ()) if f.both and place[f.source] < place[words.name]]
        if twins:
            yield Remark(words.name, Suspicion.COPY, other=min(twins, key=place.__getitem__))


def _guessed(profile: Profiled) -> Guess:
    """The kind of a column; one of more values than can be listed is no list of levels."""
    guess = guess_kind(profile.words)
    if profile.distinct is None or guess.kind not in CODED:
        return guess
    remark = (
        f"has about {profile.distinct:,} different values, too many for a list of levels: drafted as a key, which is dropped. "
        "If it may be released, give it fewer values (a hierarchy, a coarser code) before."
    )
    return Guess(Kind.KEY, "too many values", remarks=(remark,))


def _drawn(
    schema: Schema, declared: Mapping[str, Declared], missing: Mapping[str, int], proposed: Mapping[str, roles.Proposal], by: str
) -> Schema:
    """The schema with roles, and with what no row lacks."""
    drafted = []
    for column in schema:
        left = declared[column.name].left if column.name in declared else DRAFTED
        required = column.kind not in FREE and not missing[column.name] if Facet.REQUIRED in left else column.required
        role = proposed[column.name].role if Facet.ROLE in left else column.role
        drafted.append(replace(column, required=required, role=role, drafted=left))
    return replace(schema, columns=tuple(drafted), drafted=True, declared_by=by)


def _declared(columns: Sequence[Words], guesses: Mapping[str, Guess], dictionary: Dictionary) -> dict[str, Declared]:
    """The columns as a dictionary declares them; every fault at once."""
    described = dictionary.describes([words.name for words in columns])
    declared, faults = {}, []
    for words in columns:
        if (said := described.get(words.name)) is None:
            continue
        present = words.without([word for word in words.words if word in said.missing])
        guess = (number(present) if said.numeric else None) or (guess_kind(present) if said.missing else guesses[words.name])
        try:
            declared[words.name] = said.apply(guess)
        except ValueError as error:
            faults.append(Fault(f"{dictionary.source}, column {words.name}", str(error)))
    if faults:
        raise InputError(faults)
    return declared


def _agreeing(rows: Drafted, schema: Schema, dictionary: Dictionary) -> Table:
    """The rows under a schema that a dictionary declares in part; InputError counts those that contradict it."""
    try:
        return rows.read(schema, f"data dictionary {dictionary.source}")
    except InputError as error:
        # Which columns are secret is not known yet: how many rows differ, and none of their values.
        raise InputError([replace(fault, values=()) for fault in error.faults]) from None


def _line(profile: Profiled, column: Column, kind: str, role: str, missing: int) -> DraftLine:
    distinct = len(set(profile.words.words) - set(column.missing)) if profile.distinct is None else profile.distinct
    return DraftLine(column, distinct, missing, kind, role)


def _judge_first(names: Sequence[str], cells: Sequence[str], columns: Sequence[Words], layout: Layout, where: str) -> list[str]:
    """What there is to say on the first line; InputError where it is not what it was taken for."""
    if not layout.judged:
        return []
    if not layout.headed:
        below = [
            (words.words, words.counts - np.array([word == cell for word in words.words], int))
            for words, cell in zip(columns, cells, strict=True)
        ]
        below = [(tuple(w for w, c in zip(words, counts, strict=True) if c), counts[counts > 0]) for words, counts in below]
        if judge(cells, below) is FirstLine.NAMES:
            raise InputError(
                "the first line looks like column names: add --header (Python: header=True) to put the given names in its place, "
                "or --no-header (header=False) if it is a record all the same",
                where=where,
            )
        return []
    verdict = judge(names, [(words.words, words.counts) for words in columns])
    if verdict is FirstLine.DATA:
        raise InputError(
            "the first line looks like a record and not like column names, which would be published: give "
            f"{OVERRIDES}. If it does hold names, give --header (header=True)",
            where=where,
        )
    if verdict is FirstLine.REPEATED:
        raise InputError("the column names stand again among the rows: take these lines out of the file", where=where)
    if verdict is FirstLine.UNKNOWN:
        return [
            "Whether the first line of the file holds names could not be told. It became the column names, which are published: "
            f"if it is somebody's record, draft again with {OVERRIDES}."
        ]
    return []


def _weight(words: Words, column: Column) -> list[str]:
    if not words.matches(naming.WEIGHT) or column.kind not in (Kind.INTEGER, Kind.REAL) or len(words.words) <= 2:
        return []
    return [
        f"Column {words.name} seems to be a survey weight: how many people a row stands for. It says nothing about a person but "
        f"can single out a record ({len(words.words):,} values in {words.rows:,} rows): leave it out with role: identifier, "
        "unless readers need it."
    ]


def _copies(table: Table) -> list[str]:
    """Columns that say the same as one before them, value for value."""
    seen: dict[bytes, str] = {}
    notes = []
    for column in table.schema:
        groups, count = table.groups([column.name])
        # Of columns with a value for every row, or with two values in few rows, nothing follows.
        if not 3 <= count <= table.rows // 2 or table.rows < 20:
            continue
        _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))
        known = seen.setdefault(order[codes].astype(np.int32).tobytes(), column.name)
        if known != column.name:
            notes.append(
                f"Column {column.name} says the same as {known}, value for value: leave one of them out, or give both one role."
            )
    return notes


def _follows(table: Table, found: Mapping[str, tuple[Follows, ...]]) -> list[str]:
    """Columns that another one determines in every row; of two that determine each other, the later one."""
    place = {name: number for number, name in enumerate(table.schema.names)}
    sources = {
        name: [f.source for f in follows if f.share == 1 and not (f.both and place[f.source] > place[name])]
        for name, follows in found.items()
    }
    kinds = (Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER)
    return [
        f"Column {name} follows from {source} in every row: if everybody knows how, add determined_by: {source} and a code list "
        "(codes) to it, and models will keep to it."
        for name, some in sources.items()
        for source in [source for source in some if table.schema[source].kind in kinds][:1]
    ]


HEAD = (
    "Drafted from the data: please check kinds and roles. Roles: identifier (dropped), quasi (known to others),",
    "secret (to be kept private), target (to be predicted), plain.",
    "'observed: true' marks a line read off the rows. A privacy budget is refused until you declare what is public knowledge:",
    "remove the marks, or let 'hush schema THIS-FILE --declare' remove them all once you have read every line.",
)


def _sentinels(profile: Words, column: Column) -> list[str]:
    """A lone extreme code such as -8 among positive numbers is probably a missing value in disguise."""
    return [
        f"Column {profile.name}: {code} may mean a missing value; if so, add missing: ['{code}'] to it, and mend its "
        "domain and 'required'."
        for code in _lone_codes(profile, column)
    ]


def _lone_codes(profile: Words, column: Column) -> tuple[str, ...]:
    if column.kind not in (Kind.INTEGER, Kind.REAL):
        return ()
    values = np.array([column.number(word) for word in profile.words if word not in column.missing], float)
    below = values[values < 0]
    found = set[float]()
    # Several in a row from -1 on are values like others.
    if len(below) and set(below) <= BELOW and (len(below) == 1 or below.max() <= APART) and np.sum(values >= 0) > 2:
        found |= set(below)
    above = ABOVE & set(values)
    rest = values[~np.isin(values, [*above, *found])]
    if above and len(rest) > 2 and rest.max() < min(above) / 9:
        found |= above
    return tuple(f"{code:.0f}" for code in sorted(found))
