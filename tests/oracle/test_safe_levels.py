"""The scores of all candidates against counting each one by itself, and what one row can change of them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from hushtable.anonymize.private.safe_levels import LIMIT, WEIGHTS, Candidates, Ladder, _count
from hushtable.checks import example
from hushtable.errors import PlanError
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.hierarchy import FileTree, IntervalTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

SCHEMA = Schema(
    (
        Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 7), hierarchy=IntervalTree((2.0, 4.0))),
        Column(name="town", kind=Kind.CATEGORY, domain=Levels(("north", "south", "west"))),
        Column(name="pay", kind=Kind.REAL, domain=Bounds(0.0, 10.0), hierarchy=IntervalTree((5.0,))),
    )
)


def people(rows: int, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    pay = np.round(rng.normal(5, 2, rows).clip(0, 10), 1)
    pay[rng.random(rows) < 0.2] = np.nan
    return Table(
        SCHEMA, {"age": rng.integers(0, 8, rows) // 3, "town": rng.integers(-1, 3, rows).astype(np.int32) // 2, "pay": pay}
    )


def slow(candidates: Candidates, table: Table, least: int) -> np.ndarray:
    scores = []
    for node, precision in zip(candidates.nodes, candidates.precision, strict=True):
        columns = zip(candidates.ladders, node.tolist(), strict=True)
        released = table.with_columns(*((a.at(level), a.cells(level, table[a.column.name])) for a, level in columns))
        sizes = np.bincount(released.groups(released.schema.names)[0])
        scores.append(int(np.maximum(sizes - least + 1, 0).sum()) * int(precision))
    return np.array(scores)


@pytest.mark.parametrize("least", [1, 2, 5, 40])
def test_the_fast_scores_are_the_slow_ones(least):
    candidates, table = Candidates.of(SCHEMA, {}), people(60)
    assert len(candidates.nodes) == 4 * 2 * 3
    assert np.array_equal(candidates.scores(table, least), slow(candidates, table, least))


@pytest.mark.parametrize("holds", [True, False])
def test_one_row_more_never_lowers_a_score_and_raises_none_by_more_than_one(holds):
    """The twin counts the rows in full cells, as one would: it moves by a whole cell."""
    candidates, least = Candidates.of(SCHEMA, {}), 4

    def rows_in_full_cells(table: Table) -> np.ndarray:
        one, other = (slow(candidates, table, size) for size in (least, least + 1))
        return one + (least - 1) * (one - other)

    def check(score) -> None:
        table = people(30, 1)
        whole = score(table)
        for row in range(table.rows):
            change = whole - score(table.take(np.delete(np.arange(table.rows), row)))
            assert change.min() >= 0
            assert change.max() <= WEIGHTS

    judge(check, (lambda t: candidates.scores(t, least)) if holds else rows_in_full_cells, holds=holds)


def test_what_a_candidate_keeps_is_read_off_the_hierarchies_alone():
    candidates = Candidates.of(SCHEMA, {})
    precision = dict(zip(map(tuple, candidates.nodes.tolist()), (candidates.precision / WEIGHTS).tolist(), strict=True))
    assert precision[0, 0, 0] == 1
    assert precision[3, 1, 2] == 0
    assert precision[1, 0, 0] == pytest.approx(1 - 0.25 / 3, abs=1e-4)
    assert precision[0, 1, 1] == pytest.approx(1 - 1.5 / 3, abs=1e-4)


def test_a_small_lattice_is_taken_whole_and_a_large_one_in_a_public_part():
    small = Candidates.of(SCHEMA, {"age": "2"})
    assert {tuple(node) for node in small.nodes.tolist()} == set(product([2], [0, 1], [0, 1, 2]))
    large = Candidates.of(example().schema, {})
    nodes = large.nodes
    assert 5000 < len(nodes) <= LIMIT < math.prod(ladder.top + 1 for ladder in large.ladders)
    assert len(np.unique(nodes, axis=0)) == len(nodes) == _count(large.ladders, large.most)
    assert all(ladder.open[0] == 0 and ladder.open[-1] == ladder.top for ladder in large.ladders)


def test_many_columns_leave_few_of_them_open_at_a_time():
    columns = tuple(Column(name=f"c{i}", kind=Kind.CATEGORY, domain=Levels(("a", "b"))) for i in range(30))
    many = Candidates.of(Schema(columns), {"c0": "0"})
    assert len(many.nodes) <= LIMIT
    assert many.most == 3
    assert (many.nodes[:, 0] == 0).all()
    assert ((many.nodes[:, 1:] == 0).sum(axis=1) <= 3).all()


def test_thinning_keeps_the_finest_the_middle_and_the_top():
    ladder = Candidates.of(SCHEMA, {}).ladders[0]
    whole = Ladder(ladder.column, ladder.levels, (0, 1, 2, 3))
    assert [whole.thinned(count).open for count in (1, 2, 3)] == [(0, 3), (0, 1, 3), (0, 1, 2, 3)]
    assert Ladder(ladder.column, ladder.levels, (2,)).thinned(1).open == (2,)


def test_what_cannot_be_mapped_without_the_rows_is_refused_by_name():
    tree = FileTree("town.csv", (("north", "up", "*"), ("south", "down", "*")))
    age = FileTree("age.csv", tuple((str(a), "young", "*") for a in range(7)))
    pay = FileTree("pay.csv", (("1.0", "low", "*"),))
    wrong = replace(
        SCHEMA,
        columns=tuple(replace(c, hierarchy=h) for c, h in zip(SCHEMA, (age, tree, pay), strict=True)),
    )
    with pytest.raises(PlanError) as error:
        Candidates.of(wrong, {"nobody": "1", "age": "1"})
    for reason in (
        "'nobody'",
        "age has a hierarchy with no line for '7'",
        "town has a hierarchy with no line for 'west'",
        "pay has",
    ):
        assert reason in str(error.value)
    with pytest.raises(PlanError, match=r"age has the levels 0 to 3 \(or \*\), not '9'"):
        Candidates.of(SCHEMA, {"age": "9"})
    with pytest.raises(PlanError, match="generalized"):
        Candidates.of(Schema((SCHEMA["town"].generalize(()),)), {})
