"""What one record can change of the queries of the copulas: all neighbours of small domains, one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from hushtable.errors import GuaranteeRefused, InputError
from hushtable.numerics.concordance import concordance, concordance_of_counts, concordance_present
from hushtable.privacy.concordance import Concordance
from hushtable.privacy.unit import Relation
from hushtable.synthesize.copula.likelihood import STEPS, BlockCorrelations
from hushtable.synthesize.copula.marginals import PairTables
from hushtable.synthesize.copula.part_concordance import PartConcordance
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

X = Column(name="x", kind=Kind.ORDINAL, domain=Levels(("a", "b", "c")), required=True)
Y = Column(name="y", kind=Kind.INTEGER, domain=Bounds(0, 1))
P = Column(name="p", kind=Kind.CATEGORY, domain=Levels(("no", "yes")), required=True)
Q = replace(P, name="q")
GONE = -(2**63)
VALUES = {"x": (0, 1, 2), "y": (0, 1, GONE), "p": (0, 1), "q": (0, 1)}


def table_of(columns: tuple[Column, ...], records: tuple[tuple[int, ...], ...]) -> Table:
    return Table(Schema(columns), {c.name: np.array([r[i] for r in records], c.dtype) for i, c in enumerate(columns)})


@cache
def changes(query: object, columns: tuple[Column, ...], rows: int) -> tuple[float, float]:
    """The most that replacing the record at any one place changes the answer, L1 and L2, over all tables with so many rows."""
    options = list(product(*(VALUES[c.name] for c in columns)))
    answers = {t: query.answer(table_of(columns, t)) for t in product(options, repeat=rows)}
    one = two = 0.0
    for place in range(rows):
        groups: dict[tuple, list] = {}
        for records, answer in answers.items():
            groups.setdefault(records[:place] + records[place + 1 :], []).append(answer)
        for result in groups.values():
            stacked = np.stack(result).astype(np.float64)
            gaps = np.abs(stacked[:, None] - stacked[None])
            one = max(one, float(gaps.sum(2).max()))
            two = max(two, float(np.sqrt((gaps**2).sum(2)).max()))
    return one, two


@dataclass(frozen=True)
class Halved:
    """A query that says half of its sensitivity."""

    query: object

    def sensitivity(self, schema, relation):
        one, two, ones = self.query.sensitivity(schema, relation)
        return one / 2, two / 2, ones


SCORES = ((-1200, 30, 1100), (-700, 800, 0))
QUERIES = [
    (PartConcordance(("x", "q", "p"), 2, 3, (2, 3), (3, 1), (), 7), (X, Q, P), 3),
    (PartConcordance(("x", "q", "y"), 2, 2, (2, 2, 0), (1, 2, 1), ((1, 0, 2), ()), 3), (X, Q, Y), 2),
    (BlockCorrelations(("x", "q"), 4, 2, (SCORES[0], (-700, 800)), 5), (X, Q), 4),
    (BlockCorrelations(("x", "y", "p"), 2, 1, (*SCORES, (-500, 400)), 5), (X, Y, P), 2),
    (BlockCorrelations(("x", "y"), 2, 1, (SCORES[0] + (900, -20, -800), SCORES[1] + (300, -900, 0)), 5, "p"), (X, Y, P), 2),
    (BlockCorrelations(("x", "q"), 3, 2, (SCORES[0] * 2, (-700, 800) * 2), 5, "p"), (X, Q, P), 3),
    (PairTables(("x", "y"), ((0, 1, 1, 0, 1, 2), (0, 0, 1, 1, 0, 1)), "p"), (X, Y, P), 2),  # one pair, three times
    (Concordance(("x", "q"), 4, ((1, 2, 0), ())), (X, Q), 4),
    (PairTables(("x", "y", "p"), ((0, 1, 1), (0, 0, 1), (0, 1))), (X, Y, P), 2),
]


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(("query", "columns", "rows"), QUERIES, ids=[f"{type(q).__name__} {q.columns} {r}" for q, _, r in QUERIES])
def test_no_neighbour_changes_an_answer_by_more_than_it_says(query, columns, rows, holds):
    one, two = changes(query, columns, rows)

    def check(asked: object) -> None:
        bound = asked.sensitivity(Schema(columns), Relation.REPLACE_ONE)
        assert one <= bound[0] + 1e-9
        assert two <= bound[1] + 1e-9

    judge(check, query if holds else Halved(query), holds=holds)


def test_a_record_more_changes_one_cell_of_each_table():
    query = PairTables(("x", "y", "p"), ((0, 1, 1), (0, 0, 1), (0, 1)))
    columns, most = (X, Y, P), np.zeros(2)
    options = list(product(*(VALUES[c.name] for c in columns)))
    for rows in product(options, repeat=2):
        gap = query.answer(table_of(columns, rows)) - query.answer(table_of(columns, rows[:1]))
        most = np.maximum(most, [np.abs(gap).sum(), np.sqrt((gap**2).sum())])
    assert query.sensitivity(Schema(columns), Relation.ADD_REMOVE) == (most[0], pytest.approx(most[1]), 3)


def test_a_part_that_one_record_enters_and_another_leaves_changes_as_much_as_is_said():
    """Two parts of five records each; one moves from the lower end of the one to the upper end of the other."""
    wide = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 9), required=True)
    columns = (wide, replace(wide, name="z"), P)
    rows = tuple((v, v, p) for p in (0, 1) for v in (1, 2, 3, 4))
    query = PartConcordance(("x", "z", "p"), 2, 9, (5, 5), (1, 1), (), 0)
    there, here = (query.answer(table_of(columns, (*rows, last))) for last in ((0, 0, 0), (0, 9, 1)))
    assert np.abs(there - here).sum() == 8
    assert query.sensitivity(Schema(columns), Relation.REPLACE_ONE)[0] == 16


def test_a_block_may_turn_from_one_end_to_the_other():
    query = BlockCorrelations(("x", "p"), 1, 1, ((-1000, 0, 1000), (-1000, 1000)), 0)
    collected = [int(query.answer(table_of((X, P), (record,)))[0]) for record in ((0, 0), (0, 1))]
    assert collected == [STEPS, -STEPS]


def test_no_query_answers_for_another_relation_or_another_number_of_rows():
    table = table_of((X, Y, P), ((0, 0, 0), (1, 1, 1)))
    for query in (PartConcordance(("x", "y", "p"), 2, 5, (2, 2), (1, 1), (), 0), BlockCorrelations(("x", "y"), 5, 1, SCORES, 0)):
        with pytest.raises(GuaranteeRefused, match="replace_one"):
            query.sensitivity(table.schema, Relation.ADD_REMOVE)
        with pytest.raises(InputError, match="another number of rows"):
            query.answer(table)


def signs(one: np.ndarray, two: np.ndarray) -> int:
    """By looking at every pair of rows."""
    there = (one >= 0) & (two >= 0)
    a, b = one[there], two[there]
    return int((np.sign(a[:, None] - a) * np.sign(b[:, None] - b)).sum()) // 2


@pytest.mark.parametrize("seed", range(20))
def test_the_table_of_counts_and_the_sorted_rows_tell_the_same_as_all_pairs(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 60))
    one, two = rng.integers(-1, 1 + seed, rows), rng.integers(-1, 6, rows)
    there = (one >= 0) & (two >= 0)
    counts = np.zeros((seed + 2, 7), np.int64)
    np.add.at(counts, (one[there], two[there]), 1)
    assert concordance_of_counts(counts) == concordance(one[there], two[there]) == signs(one, two)
    assert concordance_present(one, two) == signs(one, two)


def test_ranks_put_codes_in_another_order():
    table = table_of((X, Y), ((0, 0), (1, 1), (2, 0), (1, GONE)))
    ranks = np.array([2, 0, 1])[table["x"]]
    assert Concordance(("x", "y"), 4, ((2, 0, 1), ())).answer(table) == signs(ranks, np.where(table["y"] < 0, -1, table["y"]))
    assert Concordance(("x", "y"), 4).answer(table) != Concordance(("x", "y"), 4, ((2, 0, 1), ())).answer(table)
