"""The neighbour search equals brute force on made-up tables, and one pass without each column equals many searches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.evidence.case import Case
from hushtable.evidence.neighbours.search import ONE, Encoding, nearest, search, search_without
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.oracle.test_neighbours import generalized as coarse
from tests.oracle.test_neighbours import mixed
from tests.random_tables import generalized, rows_of, tables


def brute(queries: Table, targets: Table, encoding: Encoding) -> np.ndarray:
    """Every part of every distance, rows x rows x columns, in whole multiples of 2^-40 and straight from the cells."""
    a, b = encoding.points(queries).cells, encoding.points(targets).cells
    starts = encoding.set_starts
    codes = a.codes[:, None] != b.codes[None]
    sets = [(a.sets[:, None, s:e] & b.sets[None, :, s:e] == 0).all(axis=2) for s, e in pairwise(starts)]
    with np.errstate(invalid="ignore"):
        gaps = np.maximum(np.maximum(a.low[:, None] - b.high[None], b.low[None] - a.high[:, None]), 0)
        numbers = np.minimum(1.0, gaps * encoding.inverse) * ONE + 0.5
    lost_a, lost_b = np.isnan(a.low)[:, None], np.isnan(b.low)[None]
    any_a, any_b = (np.isinf(p.low) & np.isinf(p.high) for p in (a, b))
    numbers = np.where(lost_a != lost_b, ONE, numbers)
    numbers = np.where((lost_a & lost_b) | any_a[:, None] | any_b[None], 0, numbers).astype(np.int64)
    levels = np.concatenate([codes, np.stack(sets, axis=2) if sets else codes[:, :, :0]], axis=2)
    return np.concatenate([levels * ONE, numbers], axis=2)


def first(totals: np.ndarray, k: int, *, skip_self: bool) -> np.ndarray:
    """The k smallest of each row, ties to the smaller index."""
    if skip_self:
        totals = totals.copy()
        np.fill_diagonal(totals, np.iinfo(np.int64).max)
    return np.argsort(totals, axis=1, kind="stable")[:, :k]


def agree(queries: Table, targets: Table, k: int, *, skip_self: bool = False) -> None:
    encoding = Encoding.of([queries, targets])
    ours, theirs, parts = encoding.points(queries), encoding.points(targets), brute(queries, targets, encoding)
    totals = parts.sum(axis=2)
    result, index = search(ours, theirs, encoding, k, skip_self=skip_self), first(totals, k, skip_self=skip_self)
    np.testing.assert_array_equal(result.index, index)
    exact = np.take_along_axis(totals, index, axis=1) / ONE / len(encoding.names)
    np.testing.assert_array_equal(result.distance, exact)
    without = search_without(ours, theirs, encoding, skip_self=skip_self)
    for c in range(len(encoding.names)):
        index = first(totals - parts[:, :, c], 1, skip_self=skip_self)
        np.testing.assert_array_equal(without.index[:, c], index[:, 0])
        exact = np.take_along_axis(totals - parts[:, :, c], index, axis=1) / ONE / max(len(encoding.names) - 1, 1)
        np.testing.assert_array_equal(without.distance[:, c], exact[:, 0])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_random_tables_of_every_kind(data):
    targets = data.draw(tables(width=5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = data.draw(st.integers(1, 40))
    queries = Table(targets.schema, {c.name: rows_of(c, rows, rng) for c in targets.schema})
    if data.draw(st.booleans()):
        targets = data.draw(generalized(targets))
    if data.draw(st.booleans()):
        queries = data.draw(generalized(queries))
    agree(queries, targets, data.draw(st.integers(1, targets.rows)))


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_random_tables_in_themselves(data):
    table = data.draw(tables(width=4).filter(lambda t: t.rows > 1))
    table = data.draw(generalized(table))
    agree(table, table, data.draw(st.integers(1, table.rows - 1)), skip_self=True)


def numbers(rows: int, seed: int, scales: tuple[float, ...]) -> Table:
    """Normal numbers, exponentiated: the larger the scale, the more of them lie together at one end of the range."""
    rng = np.random.default_rng(seed)
    columns = [Column(name=f"x{i}", kind=Kind.REAL, domain=Bounds(0.0, float(np.exp(3 * s)))) for i, s in enumerate(scales)]
    return Table(Schema(tuple(columns)), {f"x{i}": np.exp(np.minimum(rng.normal(0, s, rows), 3 * s)) for i, s in enumerate(scales)})


def wide(rows: int, seed: int, columns: int, levels: int) -> Table:
    rng = np.random.default_rng(seed)
    names = tuple(f"l{i}" for i in range(levels))
    result = tuple(Column(name=f"c{i}", kind=Kind.CATEGORY, domain=Levels(names)) for i in range(columns))
    return Table(Schema(result), {c.name: rng.integers(0, levels, rows).astype(np.int32) for c in result})


LARGE = {
    "many blocks": lambda n, s: mixed(n, s, categories=4, numbers=2),
    "ties everywhere": lambda n, s: mixed(n, s, categories=2, levels=3, numbers=1),
    "skewed": lambda n, s: numbers(n, s, (0.1, 1.0, 4.0, 9.0)),
    "more differing columns than a count holds": lambda n, s: wide(n, s, 90, 6),
    "more levels than buckets": lambda n, s: wide(n, s, 4, 300),
    "generalized": coarse,
    "all alike": lambda n, s: mixed(n, 1, missing=0.0).take(np.zeros(n, np.int64)),
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_several_blocks_of_rows(make):
    queries, targets = make(200, 1), make(300, 2)
    agree(queries, targets, 1)
    agree(queries, targets, 7)
    agree(targets, targets, 3, skip_self=True)


def test_enough_rows_for_several_groups_of_blocks_and_chunks_of_queries():
    queries, targets = mixed(300, 3, categories=3, numbers=3), mixed(6000, 4, categories=3, numbers=3)
    assert len(Encoding.of([targets]).points(targets).blocks.boxes.masks) > 1
    agree(queries, targets, 2)


def test_numbers_far_outside_the_declared_range():
    targets = numbers(300, 5, (1.0, 2.0))
    narrow = Schema(tuple(Column(name=c.name, kind=Kind.REAL, domain=Bounds(0.0, 0.1)) for c in targets.schema))
    queries = Table(narrow, {c.name: np.random.default_rng(6).uniform(0, 0.1, 200) for c in narrow})
    agree(queries, targets, 3)
    agree(targets, queries, 3)


def test_a_case_equals_one_search_for_each_column_left_out():
    case = Case(mixed(80, 6, categories=2, numbers=2), coarse(70, 7), mixed(60, 8, categories=2, numbers=2))
    for queries, targets in (("train", "release"), ("control", "release"), ("train", "train")):
        nearest_rows = case.nearest_without(queries, targets)
        for c, name in enumerate(case.columns):
            rest = tuple(other for other in case.columns if other != name)
            np.testing.assert_array_equal(nearest_rows[:, c], case.nearest(queries, targets, 1, rest).index[:, 0])


def test_no_column_and_no_query():
    table = mixed(5, 0)
    np.testing.assert_array_equal(nearest(table, table, 2, columns=[]).index, np.tile([0, 1], (5, 1)))
    assert nearest(table.take(np.arange(0)), table).index.shape == (0, 1)


def test_brute_force_sees_a_search_that_prunes_too_much(monkeypatch):
    """The twin: sketches that claim a greater distance than there is must be noticed."""
    honest = Encoding._hulls
    monkeypatch.setattr(Encoding, "_hulls", lambda self, low, high: tuple(end * np.float32(1.5) for end in honest(self, low, high)))
    with pytest.raises(AssertionError):
        agree(mixed(300, 1, categories=2), mixed(500, 2, categories=2), 1)


def test_the_order_of_the_queries_does_not_matter():
    queries, targets = mixed(600, 9), mixed(500, 10)
    shuffle = np.random.default_rng(0).permutation(600)
    np.testing.assert_array_equal(nearest(queries.take(shuffle), targets, 3).index, nearest(queries, targets, 3).index[shuffle])
