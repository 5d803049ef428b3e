"""Generalization hierarchies: how the values of a column climb, level by level, to ``*``.

Four ways to declare one, all public and all written in a line of the schema:

- a file with one column per level (``hierarchy: hierarchies/age.csv``), as ARX writes them;
- ``{intervals: [5, 10, 20]}``: numbers in ever wider, nested intervals;
- ``{prefix: [4, 3, 2]}``: codes cut to their first characters;
- ``{dates: [month, quarter, year]}``: calendar units.

A hierarchy is a tree: a value has one line, a group lies under one group of the next level, and the last
level has one value. ``lint`` names what breaks that. A missing value stays missing until the last level.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

from hushtable.errors import Fault, InputError
from hushtable.table.cell import ANY_TEXT
from hushtable.table.disk import beside, read_text

Number = TypeVar("Number", int, float)
DATE_UNITS = ("week", "month", "quarter", "year", "5 years", "decade")
_HEADER = re.compile(r"^level[-_ ]?\d+$", re.IGNORECASE)


class Hierarchy(Protocol):
    """A declared hierarchy; ``trees.build`` turns it into levels for one column."""

    def spec(self) -> str | dict[str, list[str]]:
        """What stands in the schema file."""
        ...


@dataclass(frozen=True)
class FileTree:
    """A table with the leaf in the first column and ever coarser labels to the right."""

    path: str
    rows: tuple[tuple[str, ...], ...]

    def spec(self) -> str:
        """The path, as written in the schema."""
        return self.path

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return len(self.rows[0]) - 1

    @cached_property
    def groups(self) -> tuple[dict[str, tuple[str, ...]], ...]:
        """For each level above the leaves: label to the leaves under it, in file order."""
        levels = []
        for level in range(1, self.height + 1):
            under: dict[str, list[str]] = {}
            for row in self.rows:
                under.setdefault(row[level], []).append(row[0])
            levels.append({label: tuple(leaves) for label, leaves in under.items()})
        return tuple(levels)

    @cached_property
    def widest(self) -> dict[str, tuple[str, ...]]:
        """Label to the leaves under it; a label used on several levels means its widest group."""
        widest: dict[str, tuple[str, ...]] = {}
        for level in self.groups:
            widest.update(level)
        return widest


@dataclass(frozen=True)
class IntervalTree:
    """Numbers in nested intervals of growing width, counted from the lower bound of the domain."""

    widths: tuple[float, ...]

    def __post_init__(self) -> None:
        """Each width must be a multiple of the one before, else the levels do not nest."""
        for narrow, wide in zip((0.0, *self.widths), self.widths, strict=False):
            if not math.isfinite(wide):
                raise ValueError(f"interval widths must be numbers, got {wide:g}")
            if wide <= narrow:
                raise ValueError(f"interval widths must grow, got {wide:g} after {narrow:g}")
            if narrow and abs(wide / narrow - round(wide / narrow)) > 1e-9:
                raise ValueError(f"interval width {wide:g} is no multiple of {narrow:g}: the levels would not nest")
        if not self.widths:
            raise ValueError("an interval hierarchy needs at least one width")

    def spec(self) -> dict[str, list[str]]:
        """The widths."""
        return {"intervals": [repr(float(w)).removesuffix(".0") for w in self.widths]}


@dataclass(frozen=True)
class RoundTree(IntervalTree):
    """Nested intervals that begin at multiples of their widths, as people count: 0-4, 5-9; 1990-1999. Derived, never declared."""


@dataclass(frozen=True)
class PrefixTree:
    """Codes cut to their first characters, the rest masked (``73139`` to ``7313*``)."""

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        """Prefixes must get shorter."""
        if not self.lengths or any(length < 1 for length in self.lengths):
            raise ValueError("a prefix hierarchy needs lengths of at least 1")
        if any(short >= long for long, short in zip(self.lengths, self.lengths[1:], strict=False)):
            raise ValueError(f"prefix lengths must fall, got {list(self.lengths)}")

    def spec(self) -> dict[str, list[str]]:
        """The lengths."""
        return {"prefix": [str(n) for n in self.lengths]}


@dataclass(frozen=True)
class DateTree:
    """Dates in calendar units of growing length."""

    units: tuple[str, ...]

    def __post_init__(self) -> None:
        """Units must be known, grow, and nest (a week does not lie inside a month)."""
        unknown = [u for u in self.units if u not in DATE_UNITS]
        if unknown or not self.units:
            raise ValueError(f"date units are {', '.join(DATE_UNITS)}; got {', '.join(self.units) or 'none'}")
        order = [DATE_UNITS.index(u) for u in self.units]
        if order != sorted(set(order)):
            raise ValueError(f"date units must grow, got {list(self.units)}")
        if "week" in self.units and len(self.units) > 1:
            raise ValueError("weeks do not nest in months or years: use week alone, or leave it out")

    def spec(self) -> dict[str, list[str]]:
        """The units."""
        return {"dates": list(self.units)}


def parse(spec: object, folder: Path | None) -> Hierarchy:
    """Read the ``hierarchy`` entry of a schema; ValueError or InputError says what is wrong."""
    if isinstance(spec, str):
        return read_file(spec, folder)
    if isinstance(spec, Mapping) and len(spec) == 1:
        (key, values), *_ = spec.items()
        items = [str(v) for v in values] if isinstance(values, list) else [str(values)]
        if key == "intervals":
            return IntervalTree(_numbers(float, items, "intervals are widths"))
        if key == "prefix":
            return PrefixTree(_numbers(int, items, "prefixes are lengths"))
        if key == "dates":
            return DateTree(tuple(items))
    raise ValueError("a hierarchy is a file name, or one of {intervals: [..]}, {prefix: [..]}, {dates: [..]}")


def _numbers(kind: type[Number], items: Sequence[str], what: str) -> tuple[Number, ...]:
    try:
        return tuple(kind(item) for item in items)
    except ValueError:
        raise ValueError(f"{what}, numbers such as 5; got {', '.join(items)}") from None


def read_file(path: str, folder: Path | None) -> FileTree:
    """Read and lint a level-per-column file (comma, semicolon or tab; with or without a ``level0,...`` header)."""
    text = read_text(beside(folder, path, f"hierarchy {path}"), f"hierarchy {path}")
    try:
        rows = _split(text)
    except csv.Error as error:
        raise InputError(f"is not a readable table: {error}", where=f"hierarchy {path}") from None
    header = bool(rows) and all(_HEADER.match(cell) for cell in rows[0])
    rows = rows[header:]
    faults = lint(rows, f"hierarchy {path}", first=1 + header)
    if faults:
        raise InputError(faults)
    return FileTree(path, tuple(rows))


def _split(text: str) -> list[tuple[str, ...]]:
    """The cells of each line, by the delimiter that cuts all lines into the same, largest number of pieces."""
    best: tuple[int, list[tuple[str, ...]]] = (-1, [])
    for delimiter in (";", ",", "\t"):
        lines = csv.reader(io.StringIO(text), delimiter=delimiter)
        rows = [tuple(cell.strip() for cell in row) for row in lines if row]
        widths = {len(row) for row in rows}
        widest = max(widths, default=0)
        score = 2 * widest if len(widths) == 1 and widest > 1 else widest
        best = max(best, (score, rows), key=lambda pair: pair[0])
    return best[1]


def lint(rows: Sequence[tuple[str, ...]], where: str, *, first: int = 1) -> list[Fault]:
    """Everything that keeps these rows from being a tree, each with the offending value; ``first`` numbers the lines."""
    if not rows:
        return [Fault(where, "the file is empty")]
    width = len(rows[0])
    ragged = [i for i, row in enumerate(rows, first) if len(row) != width]
    if ragged:
        reason = f"lines have different numbers of levels (the first has {width})"
        return [Fault(where, reason, len(ragged), tuple(ragged[:3]))]
    if width < 2:
        return [Fault(where, "there is only one level; a hierarchy has at least the value and one group above it")]
    faults = []
    lines: dict[str, int] = {}
    for i, row in enumerate(rows, first):
        if row[0] in lines:
            faults.append(Fault(where, f"value {row[0]!r} stands on line {lines[row[0]]} and again on line {i}"))
        lines.setdefault(row[0], i)
    for level in range(1, width - 1):
        parents: dict[str, str] = {}
        reported: set[str] = set()
        for row in rows:
            parent = parents.setdefault(row[level], row[level + 1])
            if parent != row[level + 1] and row[level] not in reported:
                reported.add(row[level])
                both = f"{parent!r} and {row[level + 1]!r} on level {level + 1}"
                faults.append(Fault(where, f"no tree: {row[level]!r} on level {level} lies under both {both}"))
    for level in range(1, width - 1):
        under: dict[str, set[str]] = {}
        for row in rows:
            under.setdefault(row[level], set()).add(row[0])
        strange = sorted(label for label, leaves in under.items() if label in lines and label not in leaves)
        # A reader could not distinguish the group from the value.
        faults += [Fault(where, f"{label!r} on level {level} is a value too, and does not lie under itself") for label in strange]
    tops = {row[-1] for row in rows}
    if len(tops) > 1:
        shown = ", ".join(repr(t) for t in sorted(tops)[:3])
        faults.append(Fault(where, f"the last level must be one value such as {ANY_TEXT!r}, but has {len(tops)}: {shown}"))
    return faults
