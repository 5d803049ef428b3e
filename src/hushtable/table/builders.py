"""Hierarchies built one by one, and what each would make of the rows: the people in every group, and values without a parent.

A preview is read off the rows and is for whoever holds them. So is a hierarchy by frequency: until somebody declares it, its
column carries the mark.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hushtable.errors import Fault, InputError
from hushtable.table import naming
from hushtable.table.arrays import Array, Integers
from hushtable.table.cell import ANY_TEXT
from hushtable.table.columns import CODED, FREE, MISSING_CODE, NUMBERS, Column, Facet, Kind
from hushtable.table.disk import whole_file
from hushtable.table.hierarchy import DateTree, FileTree, Hierarchy, IntervalTree, PrefixTree, lint, parse
from hushtable.table.table import Table
from hushtable.table.trees import build, derive, is_number, uncovered

Tree = TypeVar("Tree", bound=Hierarchy)
FEW = 5
"""How many people a group has is not said below this."""
MOST = 1_000
"""So many groups of a level are listed."""
AGES = (5.0, 10.0, 20.0)
OLDEST = 130
COARSER = 5
"""A group of the second level by frequency has so many times the people of one of the first."""
OTHER = "other"
UNITS = ("month", "quarter", "year", "5 years", "decade")


@dataclass(frozen=True)
class Group:
    """A group of values on one level."""

    label: str
    people: int | None
    """Who hold one of its values; None where they are fewer than five and not none."""


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a hierarchy makes of one column of a table. It was read off the rows."""

    column: Column
    """With the hierarchy."""
    levels: tuple[tuple[Group, ...], ...]
    """The groups of each level, level 0 being the values themselves; the first thousand of each."""
    sizes: tuple[int, ...]
    """How many groups each level has."""
    orphans: tuple[str, ...]
    """Values that the rows or the domain hold, and the hierarchy has no group for."""
    missing: int | None
    """People without a value, on every level but the last; None where they are few."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Why the hierarchy cannot be used as it is."""
        where = f"hierarchy of {self.column.name}"
        return (Fault(where, "has no line for some values", len(self.orphans)),) if self.orphans else ()

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the rows."""
        levels = [[asdict(group) for group in level] for level in self.levels]
        return {
            "private": "read off raw rows: for whoever holds them alone",
            "column": self.column.name,
            "levels": levels,
            "sizes": list(self.sizes),
            "orphans": list(self.orphans),
            "missing": self.missing,
        }


def intervals(column: Column, widths: Sequence[float] = ()) -> IntervalTree:
    """Numbers in nested intervals of these widths, or of those suggested: bands of 5, 10 and 20 years for an age."""
    _require(column, NUMBERS - {Kind.DATE}, "intervals are of numbers")
    return _checked(column, lambda: IntervalTree(tuple(map(float, widths)) or suggested_widths(column)))


def suggested_widths(column: Column) -> tuple[float, ...]:
    """Widths that nest and that people use: 5, 10 and 20 for an age; for other numbers those derived from the domain."""
    bounds = column.bounds
    if naming.matches(column.name, naming.QUASI) and "age" in column.name.lower() and bounds.low >= 0 and bounds.high <= OLDEST:
        return AGES
    derived = derive(column)
    return derived.widths if isinstance(derived, IntervalTree) else ()


def prefix(column: Column, lengths: Sequence[int] = ()) -> PrefixTree:
    """Codes cut to these many first characters; one character less on each level where none are given."""
    _require(column, CODED, "prefixes are of codes")
    longest = max(map(len, column.levels), default=1)
    return _checked(column, lambda: PrefixTree(tuple(lengths) or tuple(range(max(longest - 1, 1), 0, -1))))


def calendar(column: Column, units: Sequence[str] = UNITS) -> DateTree:
    """Dates in these calendar units."""
    _require(column, frozenset({Kind.DATE}), "calendar units are of dates")
    return _checked(column, lambda: DateTree(tuple(units)))


def groups(column: Column, levels: Sequence[Mapping[str, Sequence[str]]], path: str = "") -> FileTree:
    """Groups made by hand: on the first level label to values, on each further one label to labels of the level before.

    A value that no group has is left out, which a preview says. InputError lists what is in two groups, or is no value.
    """
    _require(column, CODED | NUMBERS, "groups are of values")
    faults, parents = list[Fault](), list[dict[str, str]]()
    known: set[str] | None = set(column.levels) if column.kind in CODED else None
    for number, level in enumerate(levels, 1):
        where, above = f"groups of {column.name}, level {number}", dict[str, str]()
        for label, members in level.items():
            for member in members:
                strange = (member not in known) if known is not None else not is_number(column, member)
                if strange:
                    faults.append(Fault(where, f"{member!r} is no {'value' if number == 1 else 'group of the level before'}"))
                elif member in above:
                    faults.append(Fault(where, f"{member!r} lies in both {above[member]!r} and {label!r}"))
                above.setdefault(member, label)
        parents.append(above)
        known = set(level)
    if not parents:
        faults.append(Fault(f"groups of {column.name}", "there are none"))
    if faults:
        raise InputError(faults)
    rows = []
    for leaf in _in_order(column, parents[0]):
        line = [leaf]
        for above in parents:
            line.append(above.get(line[-1], line[-1]))
        rows.append((*line, ANY_TEXT))
    return _tree(column, rows, path)


def file(path: str | Path) -> FileTree:
    """A hierarchy file as ARX writes them: a line for each value, ever coarser labels to the right."""
    found = parse(str(path), None)
    assert isinstance(found, FileTree)
    return found


def by_frequency(table: Table, name: str, least: int = 20, path: str = "") -> FileTree:
    """Groups of at least so many people, as far as there are: rare values become ``other``, those of an order their neighbours.

    A second level does the same for five times as many. It was read off the rows: the column that has it carries the mark.
    """
    column = table.schema[name]
    _require(column, CODED, "a suggestion by frequency is for values of a list")
    if least < 1:
        raise InputError(f"expected at least 1 person in a group, got {least}", where=f"hierarchy of {name}")
    people = _people(table, table[name], len(column.levels))
    rows: list[tuple[str, ...]] = [(level,) for level in column.levels]
    held, labels = people, list(column.levels)
    for size in (least, COARSER * least):
        of = _neighbours(held, size) if column.kind is Kind.ORDINAL else _rare(held, size)
        counts = np.bincount(of, held).astype(np.int64)
        new = [_label([labels[i] for i in np.flatnonzero(of == group)], column) for group in range(len(counts))]
        below = {label: new[of[place]] for place, label in enumerate(labels)}
        rows = [(*row, below[row[-1]]) for row in rows]
        held, labels = counts, new
        if len(labels) == 1:
            break
    width = len(rows[0]) if len(set(labels)) > 1 else len(rows[0]) - 1
    return _tree(column, [(*row[:width], ANY_TEXT) for row in rows], path)


def preview(table: Table, name: str, hierarchy: Hierarchy | None = None, *, observed: bool = False) -> Preview:
    """What a hierarchy, or the one that the column has or would be given, makes of the rows.

    A row is a person where none is known. ``observed`` says that the hierarchy was read off the rows.
    """
    column = table.schema[name]
    _require(column, CODED | NUMBERS, "only values can become coarser")
    if hierarchy is not None:
        mark = frozenset({Facet.HIERARCHY})
        column = replace(column, hierarchy=hierarchy, drafted=column.drafted | mark if observed else column.drafted - mark)
    values, own = np.unique(table[name], return_inverse=True)
    present = ~column.is_missing(values)
    words = np.array([_word(column, value) if there else "" for value, there in zip(values, present, strict=True)], object)
    lone = set(uncovered(column, [word for word, there in zip(words, present, strict=True) if there]))
    lone |= set(uncovered(column, column.levels)) if column.kind in CODED else set()
    covered = present & np.array([word not in lone for word in words], bool)
    listed, sizes = [_values(table, column, values, own, words)], [len(column.levels) if column.coded else int(present.sum())]
    for level in build(column):
        codes = np.full(len(values), MISSING_CODE, np.int32)
        codes[covered] = level.index(column, values[covered])
        if level.top:
            codes[~present] = 0
        people = _people(table, codes[own], len(level.cells))
        listed.append(tuple(Group(cell.text, _few(int(n))) for cell, n in zip(level.cells[:MOST], people, strict=False)))
        sizes.append(len(level.cells))
    gone = _people(table, np.where(present[own], MISSING_CODE, 0), 1)
    return Preview(
        column=column, levels=tuple(listed), sizes=tuple(sizes), orphans=tuple(_in_order(column, lone)), missing=_few(int(gone[0]))
    )  # fmt: skip


def write_tree(tree: FileTree, path: Path) -> None:
    """Write a hierarchy file, whole or not at all."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(tree.rows)
    with whole_file(path) as partial:
        partial.write_text(text.getvalue(), encoding="utf-8")


def _values(table: Table, column: Column, values: Array, own: Integers, words: Array) -> tuple[Group, ...]:
    """The values themselves; of a list those that nobody has, too."""
    if column.kind in CODED:
        people = _people(table, table[column.name], len(column.levels))
        return tuple(Group(level, _few(int(n))) for level, n in zip(column.levels[:MOST], people, strict=False))
    people = _people(table, own, len(values))
    shown = [(word, n) for word, n in zip(words, people, strict=True) if word]
    return tuple(Group(str(word), _few(int(n))) for word, n in shown[:MOST])


def _people(table: Table, codes: Array, count: int) -> Integers:
    """How many people hold each code; -1 counts nowhere."""
    inside = codes >= 0
    groups_of = codes[inside].astype(np.int64)
    if table.persons is not None:
        groups_of = np.unique(np.stack([groups_of, table.persons[inside]], 1), axis=0)[:, 0]
    return np.bincount(groups_of, minlength=count).astype(np.int64)


def _few(people: int) -> int | None:
    return None if 0 < people < FEW else people


def _word(column: Column, value: Any) -> str:
    return column.levels[int(value)] if column.coded else column.write(value)


def _rare(people: Integers, least: int) -> Integers:
    """Each of at least so many people by itself, the others together; if they are too few, with the next rarest."""
    rare = people < least
    for place in np.argsort(people, kind="stable"):
        if not rare.any() or people[rare].sum() >= least:
            break
        rare[place] = True
    of = np.cumsum(~rare) - 1
    return np.asarray(np.where(rare, (~rare).sum(), of), np.int64)


def _neighbours(people: Integers, least: int) -> Integers:
    """Runs of neighbours of at least so many people; what is left at the end joins the last run."""
    of, group, held = np.zeros(len(people), np.int64), 0, 0
    for place, count in enumerate(people.tolist()):
        of[place], held = group, held + count
        if held >= least:
            group, held = group + 1, 0
    return np.minimum(of, max(group - 1, 0)) if held < least else of


def _label(members: Sequence[str], column: Column) -> str:
    if len(members) == 1:
        return members[0]
    if column.kind is Kind.ORDINAL:
        return f"{members[0].split(' to ')[0]} to {members[-1].split(' to ')[-1]}"
    return OTHER if OTHER not in column.levels else f"({OTHER})"


def _in_order(column: Column, words: Mapping[str, str] | set[str]) -> list[str]:
    """In the order of the domain."""
    if column.kind in CODED:
        return [level for level in column.levels if level in words]
    return sorted(words, key=column.number)


def _tree(column: Column, rows: Sequence[tuple[str, ...]], path: str) -> FileTree:
    path = path or f"hierarchies/{column.name}.csv"
    if faults := lint(rows, f"hierarchy {path}"):
        raise InputError(faults)
    return FileTree(path, tuple(rows))


def _require(column: Column, kinds: frozenset[Kind], what: str) -> None:
    if column.kind not in kinds or column.generalized or (column.domain is None and column.kind not in FREE):
        got = "generalized" if column.generalized else str(column.kind)
        raise InputError(f"{what}, and the column is {got}", where=f"hierarchy of {column.name}")


def _checked(column: Column, make: Callable[[], Tree]) -> Tree:
    try:
        return make()
    except ValueError as error:
        raise InputError(str(error), where=f"hierarchy of {column.name}") from None
