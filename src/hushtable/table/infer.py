"""A first draft of a schema, from the rows: kinds, missing codes, identifiers, likely quasi-identifiers.

A draft is for a person to check. All of it is marked ``observed``, because it was read off private rows: not only which values
there are, but also that a column holds numbers, with how many decimals, or that a question mark means a missing value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable.errors import Fault, InputError
from hushtable.table import naming, roles
from hushtable.table.columns import DRAFTED, FREE, Column, Facet, Kind
from hushtable.table.dictionary import Declared, Dictionary
from hushtable.table.guess import Guess, Words
from hushtable.table.header import FirstLine, judge
from hushtable.table.kinds import align, guess_kind, number
from hushtable.table.layout import OVERRIDES, Layout
from hushtable.table.profile import following
from hushtable.table.schema import Schema
from hushtable.table.singling import Columns
from hushtable.table.table import Table
from hushtable.table.values import Raw, Source, make

MISSING_TEXTS = frozenset({"?", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "NULL", "null", "<NA>", "."})
SENTINELS = ("-1", "-7", "-8", "-9", "-99", "-999", "-9999", "99999", "999999")


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


@dataclass(frozen=True)
class Draft:
    """A drafted schema, and a line on each column for whoever checks it."""

    schema: Schema
    lines: tuple[DraftLine, ...]


def infer(names: Sequence[str], source: Source) -> Schema:
    """Draft a schema; its ``notes`` say what a person should check."""
    return examine(names, source).schema


def examine(
    names: Sequence[str], source: Source, layout: Layout | None = None, where: str = "table", dictionary: Dictionary | None = None
) -> Draft:
    """Draft a schema, with a reason for every column.

    With the layout of a text file its first line is judged too: InputError, without a value, where it looks like data. What a
    dictionary says of a column is declared and not drafted; InputError counts the rows that contradict it.
    """
    codes: set[str] = set()
    columns, cells = [], []
    for name in names:
        raw = Raw.of(source(name))
        counts = np.bincount(raw.codes[raw.codes >= 0], minlength=len(raw.words))
        blank = {word for word in raw.words if word in MISSING_TEXTS}
        codes |= blank
        present = [i for i, word in enumerate(raw.words) if word and word not in blank]
        columns.append(Words(name, tuple(raw.words[i] for i in present), counts[present], len(raw.codes)))
        cells.append(raw.words[raw.codes[0]] if len(raw.codes) and raw.codes[0] >= 0 else "")
    remarks = [] if layout is None else _judge_first(names, cells, columns, layout, where)
    guesses = align({column.name: guess_kind(column) for column in columns})
    declared = {} if dictionary is None else _declared(columns, guesses, dictionary)
    schema = Schema(
        tuple(declared[name].column if name in declared else guesses[name].column(name) for name in names),
        tuple(sorted(codes, key=lambda code: (code != "?", code))),
    )
    table = make(schema, names, source) if dictionary is None else _agreeing(schema, names, source, dictionary)
    proposed = roles.propose(table)
    drafted = []
    for column in table.schema:
        left = declared[column.name].left if column.name in declared else DRAFTED
        required = column.kind not in FREE and not table.missing(column.name).any() if Facet.REQUIRED in left else column.required
        role = proposed[column.name].role if Facet.ROLE in left else column.role
        drafted.append(replace(column, required=required, role=role, drafted=left))
    by = "" if dictionary is None else f"data dictionary {dictionary.source}"
    drawn = replace(table.schema, columns=tuple(drafted), drafted=True, declared_by=by)
    remarks += [] if dictionary is None else dictionary.notes(names)
    remarks += roles.notes(table, proposed)
    for words in columns:
        if words.name not in declared:
            remarks += [f"Column {words.name} {remark}" for remark in guesses[words.name].remarks]
            remarks += _sentinels(words, drawn[words.name])
        remarks += _weight(words, drawn[words.name])
    remarks += _copies(table)
    remarks += _follows(table.under(drawn))
    lines = tuple(
        _line(
            words,
            drawn[words.name],
            "data dictionary" if words.name in declared else guesses[words.name].reason,
            proposed[words.name].reason if Facet.ROLE in drawn[words.name].drafted else "data dictionary",
            int(table.missing(words.name).sum()),
        )
        for words in columns
    )
    return Draft(replace(drawn, notes=(*HEAD, *remarks)), lines)


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


def _agreeing(schema: Schema, names: Sequence[str], source: Source, dictionary: Dictionary) -> Table:
    """The rows under a schema that a dictionary declares in part; InputError counts those that contradict it."""
    try:
        return make(schema, names, source, where=f"data dictionary {dictionary.source}")
    except InputError as error:
        # Which columns are secret is not known yet: how many rows differ, and none of their values.
        raise InputError([replace(fault, values=()) for fault in error.faults]) from None


def _line(words: Words, column: Column, kind: str, role: str, missing: int) -> DraftLine:
    return DraftLine(column, len(set(words.words) - set(column.missing)), missing, kind, role)


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


def _follows(table: Table) -> list[str]:
    """Columns that another one determines in every row; of two that determine each other, the later one."""
    place = {name: number for number, name in enumerate(table.schema.names)}
    found = following(Columns(table, list(table.schema.released))) if table.rows else {}
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
    if column.kind not in (Kind.INTEGER, Kind.REAL):
        return []
    values = np.array([column.number(word) for word in profile.words if word not in column.missing], float)
    codes = []
    for code in SENTINELS:
        if float(code) in values:
            rest = values[values != float(code)]
            lone = len(rest) > 2 and (rest.min() >= 0 if float(code) < 0 else rest.max() < float(code) / 9)
            if lone:
                codes.append(code)
    return [
        f"Column {profile.name}: {code} may mean a missing value; if so, add missing: ['{code}'] to it, and mend its "
        "domain and 'required'."
        for code in codes
    ]
