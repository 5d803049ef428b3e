"""A column that another one determines, with the public list of which value belongs to which: an area has one density.

In a schema::

    area:    {kind: category, domain: [north, south]}
    density: {kind: integer, domain: [0, 5000], determined_by: area, codes: {north: 12, south: 340}}

``codes`` may name a CSV file beside the schema: the determining value and the determined one in each line. An empty text is a
missing value; where the list has no line for a missing value, what it determines is missing too. Without ``codes`` (or with
``codes: discover``) that one column determines the other is public and by which list is not: a private release pays to learn it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hushtable.errors import Fault, InputError
from hushtable.table.disk import beside, read_text

DISCOVER = "discover"
"""Stands for a code list that is to be learnt."""
LISTED = "that the code list holds: "
"""What a card says before a code list that all its rows follow, among what is public."""
INLINE = 50
"""The longest code list that a schema file holds in the line of its column."""

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Dependency:
    """By which column another one is determined, and how; values are texts as they stand in a file, and "" is a missing one."""

    source: str
    codes: Pairs | None = None
    """A determining value and the determined one in each pair; None where the list is still to be learnt."""

    @cached_property
    def index(self) -> dict[str, str]:
        """Determining value to determined one; empty where the list is not known."""
        return dict(self.codes or ())

    def words(self, name: str) -> str:
        """Which list it is, for a card: two lists have the same words only if they are the same."""
        digest = hashlib.sha256(json.dumps(sorted(self.codes or ()), ensure_ascii=False).encode()).hexdigest()[:16]
        return f"{self.source} -> {name}, {len(self.codes or ())} values, sha256 {digest}"


def read_dependency(
    name: str, entry: Mapping[str, object], folder: Path | None, where: str, faults: list[Fault]
) -> Dependency | None:
    """What the entries ``determined_by`` and ``codes`` of a column say; what cannot be read is added to the faults."""
    source, codes = entry.get("determined_by"), entry.get("codes")
    if source is None or not isinstance(source, str):
        if source is not None or codes is not None:
            faults.append(Fault(f"{where}: determined_by", "expected the name of a column"))
        return None
    if codes is None or codes == DISCOVER:
        return Dependency(source)
    try:
        return Dependency(source, _pairs(name, source, codes, folder))
    except InputError as error:
        faults += [Fault(f"{where}: {fault.where}", fault.reason) for fault in error.faults]
    return None


def codes_text(name: str, dependency: Dependency) -> str:
    """The content of a file of codes, under the names of the two columns."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[dependency.source, name], *(dependency.codes or ())])
    return text.getvalue()


def _pairs(name: str, source: str, codes: object, folder: Path | None) -> Pairs:
    if isinstance(codes, str) and codes.endswith(".csv"):
        where = f"codes {codes}"
        rows = list(csv.reader(io.StringIO(read_text(beside(folder, codes, where), where), newline="")))
        if short := [number for number, row in enumerate(rows, 1) if len(row) == 1]:
            raise InputError(f"expected two values in every line, not one (line {short[0]})", where=where)
        pairs = [(row[0].strip(), row[1].strip()) for row in rows if row]
        pairs = pairs[1:] if pairs[:1] == [(source, name)] else pairs
    elif isinstance(codes, Mapping) and all(isinstance(text, str) for pair in codes.items() for text in pair):
        where, pairs = "codes", [(str(given), str(value)) for given, value in codes.items()]
    else:
        raise InputError(f"expected {{value: value}}, a file .csv, or {DISCOVER}", where="codes")
    if not pairs:
        raise InputError("holds no values", where=where)
    return once(pairs, where)


def once(pairs: Iterable[tuple[str, str]], where: str) -> Pairs:
    """The pairs, sorted; InputError where a value is said to determine two."""
    index: dict[str, str] = {}
    twice = 0
    for given, value in pairs:
        twice += index.setdefault(given, value) != value
    if twice:
        raise InputError(f"{twice} values are given two values each", where=where)
    return tuple(sorted(index.items()))
