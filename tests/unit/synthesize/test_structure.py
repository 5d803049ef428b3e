"""Bayesian networks found by hill climbing."""

from __future__ import annotations

import time
from itertools import combinations, product

import numpy as np
import pytest

from hushtable.synthesize.neural import structure
from hushtable.synthesize.neural.structure import Cells, Dependence, Scores, hill_climb, learn, ordered
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.chains import category

COLUMNS = 4


def graphs(columns):
    """Every directed graph without cycles."""
    for choice in product(range(3), repeat=columns * (columns - 1) // 2):
        parents = [[] for _ in range(columns)]
        for (one, two), way in zip(combinations(range(columns), 2), choice, strict=True):
            if way:
                parents[two if way == 1 else one].append(one if way == 1 else two)
        graph = tuple(tuple(sorted(own)) for own in parents)
        if not structure._cycle(graph):
            yield graph


def drawn(graph, rows, rng, size=3):
    """Rows of a network with this graph and random tables."""
    codes = np.zeros((rows, len(graph)), np.int64)
    for child in ordered(graph):
        at = np.zeros(rows, np.int64)
        for parent in graph[child]:
            at = at * size + codes[:, parent]
        steps = rng.dirichlet(np.full(size, 0.5), size ** len(graph[child])).cumsum(axis=1)[at]
        codes[:, child] = (rng.random(rows)[:, None] > steps[:, :-1]).sum(axis=1)
    return codes


def test_it_finds_what_trying_every_graph_finds():
    every = list(graphs(COLUMNS))
    assert len(every) == 543  # Robinson's count
    for seed in range(12):
        rng = np.random.default_rng(seed)
        scores = Scores.of(drawn(every[rng.integers(len(every))], 500, rng))
        assert scores.total(hill_climb(scores, 3)) == pytest.approx(max(map(scores.total, every)))


def test_the_score_is_schwarzs():
    codes = np.random.default_rng(0).integers(0, 2, (300, 2))
    expected = 0.0
    for level in (0, 1):
        counts = np.bincount(codes[codes[:, 0] == level, 1], minlength=2)
        expected += (counts * np.log(counts / counts.sum())).sum()
    assert Scores.of(codes).family(1, (0,)) == pytest.approx(expected - np.log(300) / 2 * 2)


def test_parents_too_many_to_pay_for_are_not_counted():
    codes = np.random.default_rng(0).integers(0, 40, (200, 4))
    scores = Scores.of(codes)
    # 64,000 shares of 200 rows; the refusal must still rank below every set that is counted.
    assert scores.family(0, (1, 2, 3)) < scores.family(0, ())
    assert hill_climb(scores, 3) == ((),) * 4


def test_unrelated_columns_have_no_edge_and_parents_are_bounded():
    rng = np.random.default_rng(1)
    assert hill_climb(Scores.of(rng.integers(0, 3, (2000, 5))), 3) == ((),) * 5
    codes = rng.integers(0, 2, (3000, 4))
    flipped = rng.random(3000) < 0.05
    codes = np.column_stack([codes, codes.sum(axis=1) % 2 ^ flipped, codes[:, :3].sum(axis=1)])
    assert len(hill_climb(Scores.of(codes), 3)[5]) == 3
    assert max(map(len, hill_climb(Scores.of(codes), 2))) <= 2


def test_a_union_of_graphs_that_goes_round_loses_its_weakest_edge(monkeypatch):
    rng = np.random.default_rng(2)
    codes = drawn(((), (0,), (1,)), 600, rng)
    parts = iter([((), (0,), (1,)), ((2,), (), ())])
    monkeypatch.setattr(structure, "hill_climb", lambda scores, most: next(parts))
    # 0 -> 1 -> 2 of the first part and 2 -> 0 of the second; the last is not in the network that the rows are of.
    assert learn(codes, 3, 300) == ((), (0,), (1,))
    parts = iter([((), (0,), ()), ((1,), (), ())])
    two_ways = learn(codes, 3, 300)
    assert sorted(map(len, two_ways)) == [0, 0, 1]


def test_chunks_agree_with_the_whole_where_there_are_rows_enough():
    codes = drawn(((), (0,), (0,), (1,)), 6000, np.random.default_rng(3))
    whole, union = learn(codes, 3, 6000), learn(codes, 3, 2000)

    def edges(graph):
        return {frozenset((parent, child)) for child, parents in enumerate(graph) for parent in parents}

    assert edges(whole) == {frozenset(pair) for pair in ((0, 1), (0, 2), (1, 3))}
    assert edges(whole) <= edges(union)
    assert not structure._cycle(union)


def test_columns_become_few_cells(small):
    for column in small.schema:
        if column.name not in small.schema.released:
            continue
        cells = Cells.of(column, small[column.name], 5)
        codes = cells.codes(small[column.name])
        assert codes.min() >= 0
        assert codes.max() < cells.count
        assert (codes[small.missing(column.name)] == cells.count - 1).all()
        assert not (codes[~small.missing(column.name)] == cells.count - 1).any()
        if column.numeric:
            assert cells.count <= 6


def test_rare_levels_of_a_wide_category_share_a_cell():
    column = category("place", 1000)
    array = np.concatenate([np.repeat(np.arange(500, 520), 30), np.arange(1000)]).astype(np.int32)
    cells = Cells.of(column, array, 5)
    assert cells.count == structure.LEVELS + 1
    assert len(np.unique(cells.codes(np.arange(500, 520, dtype=np.int32)))) == 20


def chain(rows, seed=0):
    names = "abcd"
    codes = drawn(((), (0,), (1,), ()), rows, np.random.default_rng(seed))
    schema = Schema(tuple(category(name, 3) for name in names))
    return Table(schema, {name: codes[:, place].astype(np.int32) for place, name in enumerate(names)})


def test_parents_are_drawn_from_the_networks_own_tables():
    table = chain(4000)
    found = Dependence.of(table, bins=5, most=3, chunk=10_000)
    names = [own.column.name for own in found.cells]
    assert {"abcd".index(name) for name in names} == {parent for parents in found.graph for parent in parents}
    assert "d" not in names
    assert found.graph[3] == ()
    again = Dependence.from_arrays(table.schema, found.arrays())
    one, two = (own.draw(4000, np.random.default_rng(1)) for own in (found, again))
    assert np.array_equal(one, two)
    real = found.codes(table)
    assert real.shape == one.shape == (4000, len(names))
    for place, size in enumerate(found.sizes):
        shares = [np.bincount(codes[:, place], minlength=size) / 4000 for codes in (one, real)]
        assert np.abs(shares[0] - shares[1]).max() < 0.03
    given = found.draw(500, np.random.default_rng(2), {names[0]: 1})
    assert (given[:, 0] == 1).all()


def test_a_table_without_dependence_has_nothing_to_condition_on():
    table = chain(40).select(("d",))
    found = Dependence.of(table, bins=5, most=3, chunk=100)
    assert found.draw(7, np.random.default_rng(0)).shape == (7, 0)
    assert found.codes(table).shape == (40, 0)


def test_fifteen_columns_of_thirty_thousand_rows_take_seconds():
    rng = np.random.default_rng(5)
    graph = ((), *(((place - 1) // 2,) for place in range(1, 15)))
    codes = drawn(graph, 30_000, rng, size=6)
    begun = time.process_time()
    learn(codes, 3, 10_000)
    assert time.process_time() - begun < 5
