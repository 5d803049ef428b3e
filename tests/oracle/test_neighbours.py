"""The fast neighbour search equals a slow one written from the definition."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.evidence.neighbours.search import ONE, Encoding, nearest
from hushtable.table.cell import ANYTHING, Cell, Interval
from hushtable.table.columns import Bounds, Cells, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

LEVELS = tuple("abcdefg")


def mixed(rows: int, seed: int, categories: int = 9, levels: int = 7, numbers: int = 3, *, missing: float = 0.1) -> Table:
    """A table with many ties: few levels, whole numbers, missing values."""
    rng = np.random.default_rng(seed)
    names = tuple(f"l{i}" for i in range(levels))
    columns, arrays = [], {}
    for i in range(categories):
        columns.append(Column(name=f"c{i}", kind=Kind.CATEGORY, domain=Levels(names)))
        arrays[f"c{i}"] = np.where(rng.random(rows) < missing, -1, rng.integers(0, levels, rows)).astype(np.int32)
    for i in range(numbers):
        columns.append(Column(name=f"x{i}", kind=Kind.REAL, domain=Bounds(0.0, 10.0)))
        arrays[f"x{i}"] = np.where(rng.random(rows) < missing, np.nan, rng.integers(0, 11, rows).astype(float))
    return Table(Schema(tuple(columns)), arrays)


def generalized(rows: int, seed: int) -> Table:
    """Intervals, sets, stars and missing values over the same columns as ``mixed(…, categories=2, numbers=2)``."""
    rng = np.random.default_rng(seed)
    levels = tuple(f"l{i}" for i in range(7))
    columns, arrays = [], {}
    for i in range(2):
        plain = Column(name=f"c{i}", kind=Kind.CATEGORY, domain=Levels(levels))
        cells = (*(plain.set_cell(frozenset(s)) for s in (("l0",), ("l1", "l2"), ("l3", "l4", "l5", "l6"))), ANYTHING)
        columns.append(plain.generalize(cells))
        arrays[f"c{i}"] = rng.integers(-1, len(cells), rows).astype(np.int32)
    for i in range(2):
        plain = Column(name=f"x{i}", kind=Kind.REAL, domain=Bounds(0.0, 10.0))
        cells = (*(plain.interval_cell(Interval(a, b)) for a, b in ((0, 0), (1, 4), (3, 6), (7, 10))), ANYTHING)
        columns.append(plain.generalize(cells))
        arrays[f"x{i}"] = rng.integers(-1, len(cells), rows).astype(np.int32)
    return Table(Schema(tuple(columns)), arrays)


def members(table: Table, name: str, row: int) -> object:
    """What a cell stands for: a set of levels, an interval, None for missing, or "any"."""
    column, code = table.schema[name], table[name][row]
    if column.is_missing(np.array([code]))[0]:
        return None
    if isinstance(column.domain, Cells):
        span = column.domain.cells[int(code)].span
        return "any" if span is None else span if isinstance(span, frozenset) else (span.low, span.high)
    return frozenset({column.levels[int(code)]}) if column.coded else (float(code), float(code))


def slow_distance(one: Table, i: int, other: Table, j: int) -> int:
    """The sum over columns in whole multiples of 2^-40, as the search defines it."""
    total = 0
    for column in one.schema:
        a, b = members(one, column.name, i), members(other, column.name, j)
        if "any" in (a, b) or (a is None and b is None):
            continue
        if a is None or b is None:
            total += ONE
        elif isinstance(a, frozenset):
            total += 0 if a & b else ONE
        else:
            total += int(min(1.0, max(a[0] - b[1], b[0] - a[1], 0.0) * (1 / 10)) * ONE + 0.5)
    return total


def slow(queries: Table, targets: Table, k: int, *, skip_self: bool = False) -> tuple[np.ndarray, np.ndarray]:
    distances = np.array([[slow_distance(queries, i, targets, j) for j in range(targets.rows)] for i in range(queries.rows)])
    if skip_self:
        np.fill_diagonal(distances, np.iinfo(np.int64).max)
    index = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return index, np.take_along_axis(distances, index, axis=1) / ONE / len(queries.schema)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(
    ("queries", "targets"),
    [
        (mixed(40, 1), mixed(60, 2)),
        (mixed(40, 3, categories=17, numbers=0), mixed(50, 4, categories=17, numbers=0)),
        (mixed(40, 5, categories=0, numbers=4), mixed(50, 6, categories=0, numbers=4)),
        (mixed(40, 7, levels=300), mixed(50, 8, levels=300)),
        (mixed(30, 9, missing=0.6), mixed(30, 10, missing=0.6)),
        (mixed(40, 11, categories=2, numbers=2), generalized(50, 12)),
        (generalized(40, 13), mixed(50, 14, categories=2, numbers=2)),
        (generalized(30, 15), generalized(30, 16)),
    ],
)
def test_fast_search_equals_definition(queries, targets, k):
    nearest_rows = nearest(queries, targets, k)
    index, distance = slow(queries, targets, k)
    np.testing.assert_allclose(nearest_rows.distance, distance, atol=1e-12)
    np.testing.assert_array_equal(nearest_rows.index, index)


def test_search_in_itself_skips_the_row_itself():
    table = mixed(40, 20)
    nearest_rows = nearest(table, table, 2, skip_self=True)
    index, distance = slow(table, table, 2, skip_self=True)
    np.testing.assert_array_equal(nearest_rows.index, index)
    np.testing.assert_allclose(nearest_rows.distance, distance, atol=1e-12)


def test_ties_go_to_the_smaller_index():
    table = mixed(5, 0).take(np.zeros(5, np.int64))
    nearest_rows = nearest(table, table, 3)
    np.testing.assert_array_equal(nearest_rows.index, np.tile([0, 1, 2], (5, 1)))
    assert (nearest_rows.distance == 0).all()


def test_numbers_beyond_the_declared_range_count_as_one_at_most():
    column = Column(name="x", kind=Kind.REAL, domain=Bounds(0.0, 1.0))
    wide = replace(column, domain=Bounds(0.0, 50.0))
    near, far = (Table(Schema((c,)), {"x": np.array([v])}) for c, v in ((column, 0.0), (wide, 50.0)))
    assert nearest(near, far).distance[0, 0] == 1.0


def test_levels_are_matched_by_name_not_by_position():
    one = Table(Schema((Column(name="c", kind=Kind.CATEGORY, domain=Levels(("x", "y"))),)), {"c": np.array([0], np.int32)})
    other = Table(Schema((Column(name="c", kind=Kind.CATEGORY, domain=Levels(("y", "x"))),)), {"c": np.array([0, 1], np.int32)})
    nearest_rows = nearest(one, other)
    assert nearest_rows.index[0, 0] == 1
    assert nearest_rows.distance[0, 0] == 0


def test_too_many_neighbours_are_refused():
    table = mixed(3, 0)
    with pytest.raises(InputError, match="4 neighbours"):
        nearest(table, table, 4)
    with pytest.raises(InputError, match="3 neighbours"):
        nearest(table, table, 3, skip_self=True)


def test_the_scale_does_not_drift_with_the_release():
    train = mixed(30, 1, categories=0, numbers=1)
    assert Encoding.of([train, mixed(5, 2, categories=0, numbers=1)]).ranges == Encoding.of([train, train]).ranges


def test_sets_of_many_words_meet_where_a_level_is_in_both():
    """Three hundred levels take five words: cells that begin and end in any of them, values, missing values and ``*``."""
    rng = np.random.default_rng(3)
    levels = tuple(f"level {i:03d}" for i in range(300))
    column = Column(name="place", kind=Kind.CATEGORY, domain=Levels(levels))
    plain = Table(Schema((column,)), {"place": rng.integers(-1, 300, 150).astype(np.int32)})
    spans = [frozenset(rng.choice(levels, rng.integers(1, 5), replace=False).tolist()) for _ in range(40)]
    cells = (*(Cell(f"cell {i}", span) for i, span in enumerate(spans)), ANYTHING)
    codes = np.append(rng.integers(-1, 40, 60), [40]).astype(np.int32)
    coarse = Table(Schema((column.generalize(cells),)), {"place": codes})
    missing, every = frozenset({None}), frozenset((*levels, None))
    values = [missing if code < 0 else frozenset({levels[code]}) for code in plain["place"]]
    sets = [missing if code < 0 else every if code == 40 else spans[code] for code in codes]
    for (one, ours), (other, theirs) in combinations_with_replacement(((plain, values), (coarse, sets)), 2):
        nearest_rows = nearest(one, other)
        apart = np.array([[not a & b for b in theirs] for a in ours])
        assert nearest_rows.distance[:, 0].tolist() == apart.min(axis=1).tolist()
        assert nearest_rows.index[:, 0].tolist() == apart.argmin(axis=1).tolist()
