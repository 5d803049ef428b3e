"""What one record can change of the distances of marginals: every table of a few rows over small domains, with every neighbour."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.privacy.query import require_exact
from hushtable.privacy.unit import Relation
from hushtable.synthesize.marginal.score import GRID, MarginalDistances
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

A = Column(name="a", kind=Kind.CATEGORY, domain=Levels(("x", "y")), required=True)
B = Column(name="b", kind=Kind.CATEGORY, domain=Levels(("u", "v")))
SCHEMA = Schema((A, B))
RECORDS = list(product((0, 1), (0, 1, -1)))
CANDIDATES = (("a",), ("b", "a"), ("b",))
SHAPES = ((2,), (3, 2), (3,))
SEEDS = range(9)


def table_of(records) -> Table:
    array = np.array(records, np.int32).reshape(-1, 2)
    return Table(SCHEMA, {"a": array[:, 0].copy(), "b": array[:, 1].copy()})


def exact(query: MarginalDistances, table: Table) -> np.ndarray:
    """The distances as they are, before anything is rounded."""
    return np.array([np.abs(table.counts(c) - m).sum() for c, m in zip(query.candidates, query.model, strict=True)])


class Unfloored(MarginalDistances):
    """In parts of a row: a record changes each by GRID of them."""

    def answer(self, table):
        return np.rint(GRID * exact(self, table)).astype(np.int64)


class Unrounded(MarginalDistances):
    """Expected counts as they are: sums of floats near a whole number fall on either side of it."""

    def answer(self, table):
        return np.floor(exact(self, table)).astype(np.int64)


class Doubled(MarginalDistances):
    """A record counts in two cells of each."""

    def answer(self, table):
        return super().answer(table_of([*zip(table["a"], table["b"], strict=True)] * 2))


def query_of(seed: int, kind: type[MarginalDistances] = MarginalDistances, count: int = 3) -> MarginalDistances:
    rng = np.random.default_rng(seed)
    decimals = (16, 0, 1)[seed % 3]
    return kind(CANDIDATES, [rng.uniform(0, 2, shape).round(decimals) for shape in SHAPES], count)


def changes(query: MarginalDistances, rows: int = 4) -> dict[Relation, np.ndarray]:
    """By how much each answer differs between any two neighbours of so many rows or fewer."""
    answers = {r: query.answer(table_of(r)) for n in range(rows + 1) for r in combinations_with_replacement(sorted(RECORDS), n)}
    more, replaced = [], []
    for records, answer in answers.items():
        if len(records) == rows:
            continue
        grown = np.array([answers[tuple(sorted((*records, one)))] for one in RECORDS])
        more.append(np.abs(grown - answer))
        replaced.append(np.abs(grown[:, None] - grown[None]).reshape(-1, len(answer)))
    return {Relation.ADD_REMOVE: np.concatenate(more), Relation.REPLACE_ONE: np.concatenate(replaced)}


def broken(query: MarginalDistances) -> list[str]:
    """Where some neighbours change the answers by more than is stated."""
    wrong = []
    for relation, apart in changes(query).items():
        l1, l2, ones = query.sensitivity(SCHEMA, relation)
        found = apart.sum(axis=1).max(), np.sqrt((apart**2).sum(axis=1)).max()
        if found[0] > l1 + 1e-9 or found[1] > l2 + 1e-9:
            wrong.append(f"{relation}: {found} against {(l1, l2)}")
        if ones and (apart.max() > 1 or (apart > 0).sum(axis=1).max() > ones):
            wrong.append(f"{relation}: {apart.max()} in one of {ones}")
    return wrong


@pytest.mark.parametrize("seed", SEEDS)
def test_no_neighbour_changes_the_distances_by_more_than_stated(seed):
    assert broken(query_of(seed)) == []


def test_the_bounds_are_reached():
    apart = changes(query_of(1))
    for relation, found in apart.items():
        l1, l2, _ = query_of(1).sensitivity(SCHEMA, relation)
        assert found.sum(axis=1).max() == l1
        assert np.sqrt((found**2).sum(axis=1)).max() == pytest.approx(l2)


@pytest.mark.parametrize("kind", [Unfloored, Unrounded, Doubled])
def test_distances_that_change_by_more_are_found(kind):
    assert any(broken(query_of(seed, kind)) for seed in SEEDS)


def test_the_answer_is_the_whole_part_of_the_distance_and_further_ones_are_zero():
    rng = np.random.default_rng(0)
    table, query = table_of([RECORDS[i] for i in rng.integers(0, 6, 200)]), query_of(2, count=7)
    result = query.answer(table)
    assert result[3:].tolist() == [0] * 4
    assert (np.abs(result[:3] + 0.5 - exact(query, table)) <= 0.5 + 6 / GRID).all()
    assert query.columns == ("a", "b")
    for relation in Relation:
        # What is stated depends on the number of answers alone: a plan knows it before there are candidates.
        assert MarginalDistances((), (), 7).sensitivity(SCHEMA, relation) == query.sensitivity(SCHEMA, relation)


@pytest.mark.parametrize("huge", [1e12, 1e300])
def test_released_numbers_that_are_too_large_are_cut_down_and_change_nothing_of_what_a_record_can(huge):
    query = MarginalDistances((("a",), ("a", "b")), [np.array([huge, 1.0]), np.full((2, 3), huge)], 2)
    require_exact(query, SCHEMA)
    less, more = (query.answer(table_of(records)) for records in (RECORDS, [*RECORDS, RECORDS[0]]))
    assert 0 <= more.max() <= query.largest(SCHEMA, len(RECORDS) + 1)
    assert np.abs(more - less).max() <= 1


def test_what_has_no_answer_is_refused():
    with pytest.raises(InputError, match="each candidate"):
        MarginalDistances((("a",), ("b",)), [np.zeros(2)], 2)
    with pytest.raises(InputError, match="each candidate"):
        MarginalDistances((("a",), ("b",)), [np.zeros(2), np.zeros(3)], 1)
    with pytest.raises(InputError, match="finite"):
        MarginalDistances((("a",),), [np.array([np.nan, 0.0])], 1)
    with pytest.raises(InputError, match="another shape"):
        MarginalDistances((("a", "b"),), [np.zeros((2, 2))], 1).answer(table_of(RECORDS))
