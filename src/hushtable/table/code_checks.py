"""Code lists held against the columns of their schema: every fault at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hushtable.display import meant
from hushtable.errors import Fault
from hushtable.table.code_list import Dependency
from hushtable.table.columns import CODED, FREE, Bounds, Column, Facet, Kind, Levels

MOST = 1_000_000
"""The most whole numbers of a domain that a code list is held against."""


def held_value(column: Column, text: str) -> float | None:
    """What a text stands for in the array of a column; None for a missing value, and for one that it cannot hold."""
    if not text:
        return None
    if isinstance(column.domain, Levels):
        return column.domain.index.get(text)
    try:
        return column.number(text)
    except (ValueError, OverflowError):
        return None


def by_value(column: Column, by: Dependency) -> dict[float | str, str]:
    """The list by what its determining texts stand for: a number, a level, or "" for a missing value; ValueError if nothing."""
    return {(column.number(given) if given and column.kind not in CODED else given): value for given, value in by.index.items()}


def resolved(columns: Sequence[Column], missing: tuple[str, ...], where: str, faults: list[Fault]) -> tuple[Column, ...]:
    """The columns of a schema with the code lists they name, missing codes read as such; every fault is added to the list.

    Where a list is given and the levels of a category are not, they are those of the list.
    """
    index, before = {column.name: column for column in columns}, len(faults)
    dependent = [(c.name, c.determined_by) for c in columns if c.determined_by is not None]
    for name, by in dependent:
        place = f"{where}, column {name}: determined_by"
        if by.source not in index:
            faults.append(Fault(place, f"there is no column {by.source!r}{meant(by.source, index)}"))
        elif _circular(index, name):
            faults.append(Fault(place, "it is determined by itself in the end"))
        else:
            faults += _kinds(index[by.source], index[name], place)
    if len(faults) > before:
        return tuple(columns)
    for name, by in dependent:
        by = _plain(by, index[by.source], index[name], missing)
        index[by.source] = _with_levels(index[by.source], by.index, observed=Facet.DETERMINED in index[name].drafted)
        index[name] = replace(index[name], determined_by=by)
        index[name] = _with_levels(index[name], by.index.values(), observed=Facet.DETERMINED in index[name].drafted)
    for column in index.values():
        if column.determined_by is not None:
            faults += _coverage(index[column.determined_by.source], column, f"{where}, column {column.name}: codes")
    return tuple(index.values())


def readable(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns without the dependencies that no longer hold of what they became: encoded as something else, or gone."""
    index = {column.name: column for column in columns}
    lost = [
        column.name
        for column in columns
        if (by := column.determined_by) is not None
        and (by.source not in index or _kinds(index[by.source], column, "") or _coverage(index[by.source], column, ""))
    ]
    return tuple(replace(column, determined_by=None) if column.name in lost else column for column in columns)


def _circular(index: Mapping[str, Column], name: str) -> bool:
    """Whether what determines a column is, in the end, the column itself."""
    seen, at = set[str](), index[name].determined_by
    while at is not None and at.source in index and at.source not in seen:
        seen.add(at.source)
        at = index[at.source].determined_by
    return name in seen


def _plain(by: Dependency, parent: Column, child: Column, missing: tuple[str, ...]) -> Dependency:
    """The dependency whose missing values are empty texts, however a file writes them."""
    if by.codes is None:
        return by
    blank, empty = {*missing, *parent.missing}, {*missing, *child.missing}
    pairs = {"" if given in blank else given: "" if value in empty else value for given, value in by.codes}
    return Dependency(by.source, tuple(sorted(pairs.items())))


def _kinds(parent: Column, child: Column, where: str) -> list[Fault]:
    faults = []
    if parent.kind not in CODED and parent.kind is not Kind.INTEGER:
        faults.append(Fault(where, f"{parent.name} is {parent.kind}: categories, ordinals and whole numbers determine others"))
    if child.kind in FREE:
        faults.append(Fault(where, f"a {child.kind} column is not determined by another"))
    return faults


def _with_levels(column: Column, texts: Iterable[str], *, observed: bool) -> Column:
    """A category whose levels nobody gave, with those of a code list: as public as the list is."""
    levels = tuple(sorted({text for text in texts if text}))
    return replace(column, domain=Levels(levels, observed)) if levels and column.kind in CODED and column.domain is None else column


def _coverage(parent: Column, child: Column, where: str) -> list[Fault]:
    """Values of the one that have no value in the list, and values of the list that the other cannot hold.

    Domains that were read off the rows are cut down to what a table holds, so nothing is asked of them.
    """
    by, faults = child.determined_by, list[Fault]()
    if by is None or by.codes is None:
        return []
    try:
        given = by_value(parent, by)
    except (ValueError, OverflowError):
        return [Fault(where, f"holds what is no value of {parent.name}, which is {parent.kind}")]
    values = _values(parent)
    if bare := [value for value in values if value not in given]:
        faults.append(Fault(where, f"has no value for values of {parent.name}", len(bare), (), tuple(map(str, bare[:3]))))
    used = {text for key, text in given.items() if not values or key in values or key == ""}
    if child.domain is not None and not child.observed and not child.generalized:
        strange = sorted(text for text in used if text and not _holds(child, text))
        if strange:
            faults.append(Fault(where, f"holds values outside of the domain of {child.name}", len(strange), (), tuple(strange[:3])))
    if child.required and ("" in used or (not parent.required and "" not in given)):
        faults.append(Fault(where, f"leaves {child.name} missing for some values of {parent.name}, and it is required"))
    return faults


def _values(column: Column) -> dict[float | str, None]:
    """The declared values of a column, in order; none where they were read off the rows, or are not known, or are too many."""
    if isinstance(column.domain, Levels) and not column.observed:
        return dict.fromkeys(column.domain.levels)
    if isinstance(column.domain, Bounds) and not column.observed and column.domain.high - column.domain.low < MOST:
        return dict.fromkeys(range(int(column.domain.low), int(column.domain.high) + 1))
    return {}


def _holds(column: Column, text: str) -> bool:
    value = held_value(column, text)
    return value is not None and not column.outside(np.array([value], column.dtype)).any()
