"""Places, bitmaps and the search for lone rows equal a plain evaluation written from the definitions."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.audits import predicates, singling_out
from hushtable.audits.predicates import Book
from hushtable.audits.singling_out import _Attack
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.table.columns import Bounds, Cells, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.random_tables import generalized, tables

ANY, MISSING = "any", "missing"
SIGNS = (operator.eq, operator.ne, operator.lt, operator.le, operator.ge, operator.gt)


def members(table: Table, name: str, row: int) -> object:
    """What a cell stands for: a set of levels, a closed interval, missing, or anything."""
    column, code = table.schema[name], table[name][row]
    if column.is_missing(np.array([code]))[0]:
        return MISSING
    if isinstance(column.domain, Cells):
        span = column.domain.cells[int(code)].span
        return ANY if span is None else span if isinstance(span, frozenset) else (span.low, span.high)
    return frozenset({column.levels[int(code)]}) if column.coded else (float(code), float(code))


def meet(cell: object, condition: object) -> bool:
    """Whether a cell and what a condition allows have a value in common."""
    if ANY in (cell, condition):
        return True
    if MISSING in (cell, condition):
        return cell == condition
    if isinstance(cell, frozenset):
        return bool(cell & condition)
    return cell[0] <= condition[1] and condition[0] <= cell[1]


def described(release: Table, name: str, row: int, *, ranges: bool) -> object:
    """What a released row says of a person on one column."""
    cell, column = members(release, name, row), release.schema[name]
    if not ranges or not column.numeric or cell == MISSING:
        return cell
    median = np.nanmedian(release.floats(name))
    return (cell[0], math.inf) if cell[0] > median else (-math.inf, cell[0])


def fitting(table: Table, conditions: dict[str, object]) -> list[int]:
    return [i for i in range(table.rows) if all(meet(members(table, n, i), c) for n, c in conditions.items())]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Train, release and control of different sizes; perhaps a generalized release."""
    whole = draw(tables(width=4))
    assume(whole.rows >= 8)
    first, second = whole.rows // 2, whole.rows // 2 + whole.rows // 4
    train, control, release = (whole.take(np.arange(*ends)) for ends in ((0, first), (first, second), (second, whole.rows)))
    if draw(st.booleans()):
        release = draw(generalized(release))
    # Some released rows are training rows, where the kinds of cells allow it.
    elif draw(st.booleans()):
        release = Table.concat([release, train.take(np.arange(2))])
    try:
        return Case(train, release, control)
    except InputError:
        assume(False)
        raise


@settings(max_examples=60)
@given(cases(), st.integers(1, 4), st.booleans(), st.integers(0, 100))
def test_lone_descriptions_and_whom_they_fit(case, k, ranges, seed):
    k = min(k, len(case.columns))
    attack = _Attack.on(case, np.random.default_rng(seed))
    book = attack._book(singling_out._ranges if ranges else singling_out._values)
    result, sources = book.lone(attack._own, k, 6, attack.rng)
    assert len(np.unique(result, axis=0)) == len(result)
    met = {which: book.first_two(result, which) for which in ("train", "control")}
    for at, (predicate, source) in enumerate(zip(result, sources, strict=True)):
        names = [case.columns[c] for c in book.conditions.column[predicate]]
        assert len(set(names)) == k
        conditions = {n: described(case.release, n, source, ranges=ranges) for n in names}
        assert ANY not in conditions.values()
        assert fitting(case.release, conditions) == [source]
        for which, (first, second) in met.items():
            order = attack.order[which]
            fit = set(fitting(case.tables[which], conditions))
            fits = [place for place, row in enumerate(order) if row in fit]
            assert [first[at], second[at]] == [*fits, len(order), len(order)][:2]
    if k == len(case.columns):
        collected = [{n: described(case.release, n, i, ranges=ranges) for n in case.columns} for i in range(case.release.rows)]
        lone = [i for i, c in enumerate(collected) if ANY not in c.values() and fitting(case.release, c) == [i]]
        assert sorted(sources.tolist()) == lone


@settings(max_examples=40)
@given(cases())
def test_blind_conditions(case):
    """Every value of the release with every operator, each searched alone in the training rows."""
    attack = _Attack.on(case, np.random.default_rng(0))
    book = Book.of(places := attack.places, {}, attack.people, singling_out._guesses)
    every = np.arange(len(book.conditions.column), dtype=np.int32)[:, None]
    first, second = book.first_two(every, "train")
    got = {}
    for at, (one, two) in enumerate(zip(first, second, strict=True)):
        got.setdefault(case.columns[book.conditions.column[at]], []).append((int(one), int(two)))
    for name, cells in zip(case.columns, places.cells, strict=True):
        rows = [int(np.flatnonzero(cells.of_row == at)[0]) for at in np.flatnonzero(~(cells.anything | cells.missing))]
        plain = case.release.schema[name].numeric
        expected = []
        for sign in SIGNS if plain else SIGNS[:2]:
            for row in rows:
                fits = [
                    i for i in range(case.train.rows) if holds(members(case.train, name, i), members(case.release, name, row), sign)
                ]
                expected.append((*fits, case.train.rows, case.train.rows)[:2])
        assert got.get(name, []) == expected


def holds(cell: object, value: object, sign: object) -> bool:
    """An operator between a training value and a released cell."""
    if cell == MISSING:
        return False
    if sign is operator.eq:
        return meet(cell, value)
    if sign is operator.ne:
        return not meet(cell, value)
    return bool(sign(cell[0], value[0]))


@settings(max_examples=40)
@given(cases())
def test_one_column(case):
    attack = _Attack.on(case, np.random.default_rng(0))
    result = attack.by_one_column()
    expected = 0
    for name in case.columns:
        cells = [members(case.release, name, i) for i in range(case.release.rows)]
        asked = {c for c in cells if c != ANY and cells.count(c) == 1}
        numbers = [c[0] for c in cells if c != MISSING] if case.release.schema[name].numeric else []
        if numbers:
            asked |= {(-math.inf, min(numbers)), (max(numbers), math.inf)}
        expected += sum(len(fitting(case.release, {name: c})) == 1 for c in asked)
    assert result.n == expected or (result.value is None and expected == 0)


@pytest.mark.parametrize("levels", [3, 300])
def test_many_values_share_bitmaps_and_none_is_lost(levels):
    """More values than bitmaps, and a category of more levels than a byte holds."""
    rng = np.random.default_rng(levels)
    schema = Schema(
        (
            Column(name="x", kind=Kind.REAL, domain=Bounds(0.0, 1.0)),
            Column(name="c", kind=Kind.CATEGORY, domain=Levels(tuple(f"l{i}" for i in range(levels)))),
        )
    )
    train, control, release = (
        Table(schema, {"x": np.round(rng.random(n), 4), "c": rng.integers(-1, levels, n).astype(np.int32)}) for n in (700, 700, 700)
    )
    attack = _Attack.on(Case(train, release, control), np.random.default_rng(0))
    book = attack._book(singling_out._ranges)
    assert len(book.conditions.hull_column) < 4 * predicates.GROUPS < len(book.conditions.column)
    result, _ = book.lone(attack._own, 2, 1, attack.rng)
    first, second = book.first_two(result, "train")
    for predicate, one, two in zip(result, first, second, strict=True):
        conditions = book.conditions
        low, high = attack.places.low["train"], attack.places.high["train"]
        fits = np.all(
            [(low[:, c] <= conditions.high[d]) & (high[:, c] >= conditions.low[d])
             for d, c in zip(predicate, conditions.column[predicate], strict=True)], axis=0,
        )  # fmt: skip
        assert [one, two] == [*np.flatnonzero(fits), 700, 700][:2]
