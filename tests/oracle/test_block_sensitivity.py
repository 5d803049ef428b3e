"""What one record can change of block sums, sorted sums and concordances: all neighbours of small domains, one by one."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.anonymize.private.blocks import BlockSums
from hushtable.anonymize.private.ranking_queries import RankSums
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.numerics.concordance import concordance
from hushtable.numerics.integers import GRID, Axes, block_sizes, hilbert, in_order
from hushtable.privacy.concordance import Concordance
from hushtable.privacy.unit import Relation
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

X = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 2), required=True)
Y = Column(name="y", kind=Kind.ORDINAL, domain=Levels(("a", "b", "c")))
C = Column(name="c", kind=Kind.CATEGORY, domain=Levels(("red", "green")))
B = Column(name="b", kind=Kind.CATEGORY, domain=Levels(("no", "yes")), required=True)
MISSING = -(2**63)


def options(column: Column) -> list[int]:
    """Every value that a column can hold."""
    values = list(range(3)) if column.kind is Kind.INTEGER else list(range(len(column.levels)))
    return values if column.required else [*values, MISSING if column.kind is Kind.INTEGER else -1]


def table_of(columns: tuple[Column, ...], records: tuple[tuple[int, ...], ...]) -> Table:
    arrays = zip(*records, strict=True)
    return Table(Schema(columns), {c.name: np.array(a, c.dtype) for c, a in zip(columns, arrays, strict=True)})


@cache
def worst(query: object, columns: tuple[Column, ...], rows: int) -> tuple[float, float]:
    """The largest L1 and L2 change of an answer over all pairs of tables that differ in one record."""
    answers = {
        records: query.answer(table_of(columns, records))
        for records in combinations_with_replacement(product(*map(options, columns)), rows)
    }
    # Tables that agree on all but one record are neighbours.
    near = defaultdict(dict)
    for records, answer in answers.items():
        for i in range(rows):
            near[records[:i] + records[i + 1 :]][records[i]] = answer
    one = two = 0.0
    for group in near.values():
        stacked = np.array(list(group.values()))
        changes = np.abs(stacked[:, None] - stacked[None]).astype(float)
        one, two = max(one, float(changes.sum(-1).max())), max(two, float((changes**2).sum(-1).max()))
    return one, math.sqrt(two)


@dataclass(frozen=True)
class Halved:
    """A query that says half of its sensitivity."""

    query: object

    def answer(self, table):
        return self.query.answer(table)

    def sensitivity(self, schema, relation):
        one, two, ones = self.query.sensitivity(schema, relation)
        return one / 2, two / 2, ones


QUERIES = [
    (BlockSums(("x", "c"), 2, 4), (X, C), 4),
    (BlockSums(("b", "c"), 2, 5), (B, C), 5),
    (BlockSums(("y", "b"), 2, 4), (Y, B), 4),
    (BlockSums(("y",), 3, 7), (Y,), 7),
    (BlockSums(("c",), 1, 3), (C,), 3),
    (RankSums("y", 2, 7), (Y,), 7),
    (RankSums("x", 1, 5), (X,), 5),
    (RankSums("x", 3, 10), (X,), 10),
    (Concordance(("x", "y"), 3), (X, Y), 3),
    (Concordance(("x", "b", "c"), 2), (X, B, C), 2),
]


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(("query", "columns", "rows"), QUERIES, ids=[f"{type(q).__name__} {q.columns} {r}" for q, _, r in QUERIES])
def test_no_neighbour_changes_an_answer_by_more_than_it_says(query, columns, rows, holds):
    one, two = worst(query, columns, rows)

    def check(asked: object) -> None:
        reported = asked.sensitivity(Schema(columns), Relation.REPLACE_ONE)
        assert one <= reported[0] + 1e-9
        assert two <= reported[1] + 1e-9

    judge(check, query if holds else Halved(query), holds=holds)


def test_the_sorted_list_moves_by_its_width_whatever_the_number_of_blocks():
    for k in (1, 2, 3, 5):
        assert worst(RankSums("x", k, 5), (X,), 5)[0] == GRID


def test_tau_a_reaches_its_bound_at_five_rows():
    wide = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 5), required=True)
    rest = [(1, 1), (2, 2), (3, 3), (4, 4)]
    columns = (wide, Column(name="z", kind=Kind.INTEGER, domain=Bounds(0, 5), required=True))
    collected = [Concordance(("x", "z"), 5).answer(table_of(columns, (*rest, last)))[0] for last in ((0, 0), (0, 5))]
    assert max(collected) - min(collected) == 2 * 4


def test_no_query_answers_for_another_relation_or_another_number_of_rows():
    schema, table = Schema((X, C)), table_of((X, C), ((0, 0), (1, 1)))
    for query in (BlockSums(("x", "c"), 2, 5), RankSums("x", 2, 5), Concordance(("x", "c"), 5)):
        with pytest.raises(GuaranteeRefused, match="replace_one"):
            query.sensitivity(schema, Relation.ADD_REMOVE)
        with pytest.raises(InputError, match="another number of rows"):
            query.answer(table)


records = st.lists(st.tuples(*(st.sampled_from(options(c)) for c in (X, Y, C, B))), min_size=2, max_size=9)


@settings(max_examples=30)
@given(records, st.randoms(use_true_random=False))
def test_answers_are_a_function_of_the_set_of_records(rows, random):
    columns = (X, Y, C, B)
    shuffled = list(rows)
    random.shuffle(shuffled)
    for k in (1, 2, 4):
        query = BlockSums(("x", "y", "c", "b"), k, len(rows))
        one, two = (query.answer(table_of(columns, tuple(r))) for r in (rows, shuffled))
        assert np.array_equal(one, two)
        widths = sum(Axes(c).width for c in columns)
        assert len(one) == widths * len(block_sizes(len(rows), k))
        for query in (RankSums("y", k, len(rows)), Concordance(("x", "y", "b"), len(rows))):
            one, two = (query.answer(table_of(columns, tuple(r))) for r in (rows, shuffled))
            assert np.array_equal(one, two)


def test_ties_on_the_curve_are_broken_by_the_records_and_never_by_their_place():
    """A missing value lies where the middle one does, and two close numbers in one cell of the curve."""
    fine = Column(name="f", kind=Kind.REAL, domain=Bounds(0.0, 1.0), required=True)
    for columns, one, two in (((Y,), (1,), (-1,)), ((fine,), (0.0001,), (0.0002,)), ((fine, C), (0.3, 0), (0.3001, 0))):
        query = BlockSums(tuple(c.name for c in columns), 1, 2)
        there, back = (query.answer(table_of(columns, pair)) for pair in ((one, two), (two, one)))
        assert np.array_equal(there, back)
        assert not np.array_equal(there[: len(there) // 2], there[len(there) // 2 :])


@settings(max_examples=30)
@given(records)
def test_the_sums_of_all_blocks_are_the_sum_of_the_records(rows):
    columns = (X, Y, C, B)
    table = table_of(columns, tuple(rows))
    order = in_order(table, [Axes(c) for c in columns])
    assert sorted(order.tolist()) == list(range(len(rows)))
    total = np.concatenate([Axes(c).encode(table[c.name]).sum(0) for c in columns])
    query = BlockSums(("x", "y", "c", "b"), 2, len(rows))
    assert np.array_equal(query.answer(table).reshape(-1, len(total)).sum(0), total)


def test_no_two_values_are_further_apart_than_the_axes_say():
    for column in (X, Y, C, B):
        axes = Axes(column)
        coded = axes.encode(np.array(options(column), column.dtype))
        apart = np.abs(coded[:, None] - coded[None]) / GRID
        assert apart.sum(-1).max() == pytest.approx(axes.change[0])
        assert (apart**2).sum(-1).max() == pytest.approx(axes.change[1])


@pytest.mark.parametrize(("axes", "bits"), [(1, 4), (2, 3), (2, 1), (3, 2), (4, 2), (5, 1)])
def test_the_curve_visits_every_point_once_and_steps_to_a_neighbour(axes, bits):
    points = np.array(list(product(range(1 << bits), repeat=axes)))
    digits = hilbert(list(points.T), bits)
    place = np.zeros(len(points), np.int64)
    for digit in digits:
        place = (place << axes) + digit
    assert sorted(place.tolist()) == list(range(len(points)))
    path = points[np.argsort(place)]
    assert (np.abs(np.diff(path, axis=0)).sum(1) == 1).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=25))
def test_concordance_equals_counting_pairs(pairs):
    one, two = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))
    slow = sum(int(np.sign(a[0] - b[0]) * np.sign(a[1] - b[1])) for a, b in combinations(pairs, 2))
    assert concordance(one, two) == slow
