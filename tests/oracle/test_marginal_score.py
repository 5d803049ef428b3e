"""What one record can change of a score: every table of a few rows over small domains, with every neighbour."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from hushtable.errors import InputError, PlanError
from hushtable.privacy.query import require_exact
from hushtable.privacy.unit import Relation
from hushtable.synthesize.marginal.histograms import Histograms
from hushtable.synthesize.marginal.score import GRID, MarginalScores
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

A = Column(name="a", kind=Kind.CATEGORY, domain=Levels(("x", "y")), required=True)
B = Column(name="b", kind=Kind.CATEGORY, domain=Levels(("u", "v")))
SCHEMA = Schema((A, B))
RECORDS = list(product((0, 1), (0, 1, -1)))
CANDIDATES = (("a",), ("b", "a"), ("a", "b"))


def table_of(records) -> Table:
    array = np.array(records, np.int32).reshape(-1, 2)
    return Table(SCHEMA, {"a": array[:, 0].copy(), "b": array[:, 1].copy()})


def scores(seed: int, **more) -> MarginalScores:
    rng = np.random.default_rng(seed)
    model = [rng.uniform(0, 3, shape) for shape in ((2,), (3, 2), (2, 3))]
    return MarginalScores(CANDIDATES, model, **more)


def largest_changes(query: MarginalScores, rows: int = 3) -> tuple[int, int]:
    """The largest change of any score by a record more, and by a record replaced."""
    answers = {r: query.answer(table_of(r)) for n in range(rows + 1) for r in combinations_with_replacement(sorted(RECORDS), n)}
    more = replaced = 0
    for records, answer in answers.items():
        if len(records) == rows:
            continue
        grown = np.array([answers[tuple(sorted((*records, one)))] for one in RECORDS])
        more = max(more, int(np.abs(grown - answer).max()))
        replaced = max(replaced, int(np.ptp(grown, axis=0).max()))
    return more, replaced


@pytest.mark.parametrize(("weights", "bias"), [((), ()), ((1, 5, 2), (0.3, 100.0, 7.7)), ((0, 3, 1), ())])
@pytest.mark.parametrize("seed", range(3))
def test_no_neighbour_changes_a_score_by_more_than_stated(seed, weights, bias):
    query = scores(seed, weights=weights, bias=bias)
    more, replaced = largest_changes(query)
    assert more <= query.change(SCHEMA, Relation.ADD_REMOVE) == GRID * max(weights, default=1)
    assert replaced <= query.change(SCHEMA, Relation.REPLACE_ONE)
    # The bound is reached, so that half of it would be refuted by the same search.
    assert more > query.change(SCHEMA, Relation.ADD_REMOVE) / 2
    assert replaced > query.change(SCHEMA, Relation.REPLACE_ONE) / 2


def test_the_score_is_the_distance_that_the_formula_says():
    rng = np.random.default_rng(0)
    records = [RECORDS[i] for i in rng.integers(0, 6, 200)]
    table, query = table_of(records), scores(1, weights=(1, 2, 3), bias=(1.0, 2.0, 3.0))
    result = query.answer(table) / GRID
    for i, (columns, expected, weight) in enumerate(zip(CANDIDATES, query.model, (1, 2, 3), strict=True)):
        exact = weight * (np.abs(table.counts(columns) - expected).sum() - weight)
        assert result[i] == pytest.approx(exact, abs=weight * expected.size / GRID)
    np.testing.assert_array_equal(query.among([2, 0]).answer(table), query.answer(table)[[2, 0]])


@pytest.mark.parametrize("groups", [(("a",),), (("a",), ("b",)), (("a",), ("b",), ("b", "a"))])
def test_no_neighbour_changes_histograms_by_more_than_stated(groups):
    query = Histograms(groups)
    answers = {one: query.answer(table_of([RECORDS[0], one])) for one in RECORDS}
    alone = query.answer(table_of([RECORDS[0]]))
    for relation, pairs in (
        (Relation.ADD_REMOVE, [(alone, answer) for answer in answers.values()]),
        (Relation.REPLACE_ONE, list(product(answers.values(), repeat=2))),
    ):
        changes = np.abs([(a - b) for a, b in pairs])
        l1, l2, ones = query.sensitivity(SCHEMA, relation)
        assert changes.max() == 1
        assert changes.sum(axis=1).max() == l1 == ones
        assert np.sqrt((changes**2).sum(axis=1).max()) == pytest.approx(l2)


@pytest.mark.parametrize("huge", [1e12, 1e17, 1e300])
def test_released_numbers_that_are_too_large_are_cut_down_and_change_nothing_of_what_a_record_can(huge):
    score = MarginalScores(
        (("a",), ("a", "b")), [np.array([huge, 1.0]), np.full((2, 3), huge)], weights=(25_600, 1), bias=(huge, -huge)
    )
    require_exact(score, SCHEMA)
    less, more = (score.answer(table_of(records)) for records in (RECORDS, [*RECORDS, RECORDS[0]]))
    assert np.abs(more).max() <= score.largest(SCHEMA, len(RECORDS) + 1)
    assert 0 < np.abs(more.astype(object) - less.astype(object)).max() <= score.change(SCHEMA, Relation.ADD_REMOVE)


def test_numbers_that_could_wrap_around_are_refused():
    with pytest.raises(PlanError, match="below 2"):
        require_exact(MarginalScores((("a",),), [np.zeros(2)], weights=(1 << 30,)), SCHEMA)
    with pytest.raises(InputError, match="finite"):
        MarginalScores((("a",),), [np.array([np.nan, 0.0])])
    with pytest.raises(InputError, match="whole numbers"):
        MarginalScores((("a",),), [np.zeros(2)], weights=(0,))
    with pytest.raises(InputError, match="candidates"):
        MarginalScores((), [])
    with pytest.raises(InputError, match="another shape"):
        MarginalScores((("a", "b"),), [np.zeros((2, 2))]).answer(table_of(RECORDS))
