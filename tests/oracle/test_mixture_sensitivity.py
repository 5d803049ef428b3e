"""What one record can change of the sums behind mixtures: all neighbours of small domains, one by one, for both relations."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from hushtable.errors import GuaranteeRefused, InputError
from hushtable.privacy.unit import Relation
from hushtable.synthesize.mixture.dependence_scores import DependenceScores
from hushtable.synthesize.mixture.embedding import Embedding
from hushtable.synthesize.mixture.integer_encoding import IntegerEncoding
from hushtable.synthesize.mixture.sums import GroupSums, OrderedSums, PartitionSums
from hushtable.synthesize.mixture.trees import BALANCE, CellCounts, Cuts, CutScores, Tree, projections
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

SCHEMA = Schema(
    (
        Column(name="r", kind=Kind.REAL, domain=Bounds(-1.0, 3.0)),
        Column(name="c", kind=Kind.CATEGORY, domain=Levels(("red", "green"))),
        Column(name="y", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")), required=True),
    )
)
VALUES = ((-1.0, 0.7, 3.0, math.nan), (0, 1, -1), (0, 1))
RECORDS = tuple(product(*VALUES))
FEW = (RECORDS[0], RECORDS[1], RECORDS[7], RECORDS[12], RECORDS[17], RECORDS[23])
ENCODING = IntegerEncoding.of(SCHEMA, "", "test")
ALL = IntegerEncoding.of(SCHEMA, "", "test", classed=False)
CUTS = Cuts(ENCODING)
TREE = Tree.single(ENCODING).split(0, CUTS.weights(9), 0).split(1, CUTS.weights(len(CUTS.places) - 1), 0)
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


def table_of(records) -> Table:
    arrays = [np.array([r[i] for r in records]) for i in range(len(SCHEMA))]
    return Table(SCHEMA, {c.name: a.astype(c.dtype) for c, a in zip(SCHEMA, arrays, strict=True)})


def lengths(changes: np.ndarray) -> tuple[float, float]:
    changes = np.abs(changes.astype(float))
    return float(changes.sum(-1).max()), math.sqrt(float((changes**2).sum(-1).max()))


@cache
def worst(query, relation: Relation) -> tuple[float, float]:
    """The largest L1 and L2 change over all tables of at most two rows and their neighbours."""
    answers = {t: query.answer(table_of(t)) for rows in (0, 1, 2) for t in combinations_with_replacement(RECORDS, rows)}
    collected = []
    for rest in (t for t in answers if len(t) < 2):
        more = np.array([answers[tuple(sorted((*rest, r), key=RECORDS.index))] for r in RECORDS])
        pairs = more - answers[rest] if relation is ADD else (more[:, None] - more[None]).reshape(len(RECORDS) ** 2, -1)
        collected.append(lengths(pairs))
    return max(f[0] for f in collected), max(f[1] for f in collected)


def embedding() -> Embedding:
    return Embedding.drawn(ENCODING, 7, 0.7, np.random.default_rng(2))


QUERIES = [
    PartitionSums(ENCODING, TREE, 700),
    PartitionSums(ENCODING, projections(ENCODING, 2, np.random.default_rng(0)), 300),
    PartitionSums(ALL, Tree.single(ALL), 300),
    PartitionSums(embedding(), Tree.single(ENCODING), 400),
    CellCounts(TREE),
]


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("query", QUERIES, ids=lambda q: type(q).__name__)
@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.5, False)])
def test_no_neighbour_changes_more_than_is_stated_and_some_change_more_than_half_of_it(query, relation, factor, holds):
    def check(part):
        one, two, _ = query.sensitivity(SCHEMA, relation)
        most = worst(query, relation)
        assert most[0] <= part * one
        assert most[1] <= part * two

    judge(check, factor, holds=holds)


def test_the_sums_of_one_cell_are_tight():
    """Without a number every bound is reached: w and the columns for one record more, two levels for one replaced."""
    schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), required=True) for n in "uv"))
    encoding = IntegerEncoding.of(schema, "", "test")
    query = PartitionSums(encoding, Tree.single(encoding), 5)
    one, other = (Table(schema, {n: np.array([v], np.int32) for n in "uv"}) for v in (0, 2))
    assert lengths(query.answer(one)) == pytest.approx(query.sensitivity(schema, ADD)[:2])
    assert lengths(query.answer(one) - query.answer(other)) == pytest.approx(query.sensitivity(schema, REPLACE)[:2])


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.4, False)])
def test_one_record_changes_each_round_of_groups_once(factor, holds):
    rounds = np.array([[0, 0, 1], [1, 0, 0]])
    query = GroupSums(ALL, rounds, 2)
    answers = {t: query.answer(table_of(t)) for t in product(FEW, repeat=3)}

    def check(part):
        one, two, _ = query.sensitivity(SCHEMA, REPLACE)
        for rest in product(FEW, repeat=2):
            for place in range(3):
                near = np.array([answers[(*rest[:place], r, *rest[place:])] for r in FEW])
                most = lengths((near[:, None] - near[None]).reshape(len(FEW) ** 2, -1))
                assert most[0] <= part * one
                assert most[1] <= part * two

    judge(check, factor, holds=holds)


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.4, False)])
def test_one_record_changes_each_block_by_the_difference_of_two(factor, holds):
    query = OrderedSums(ALL, 5, 2, "y")
    answers = {t: query.answer(table_of(t)) for t in combinations_with_replacement(FEW, 5)}
    near = defaultdict(dict)
    for records, answer in answers.items():
        for i in range(5):
            near[records[:i] + records[i + 1 :]][records[i]] = answer

    def check(part):
        one, two, _ = query.sensitivity(SCHEMA, REPLACE)
        for group in near.values():
            stacked = np.array(list(group.values()))
            most = lengths((stacked[:, None] - stacked[None]).reshape(-1, stacked.shape[1]))
            assert most[0] <= part * one
            assert most[1] <= part * two

    judge(check, factor, holds=holds)


def test_blocks_depend_on_the_records_and_not_on_how_they_lie():
    query = OrderedSums(ALL, 6, 2, "y")
    rng = np.random.default_rng(1)
    first = query.answer(table_of(FEW))
    for _ in range(10):
        assert (query.answer(table_of([FEW[i] for i in rng.permutation(6)])) == first).all()


@pytest.mark.parametrize("query", [GroupSums(ALL, np.zeros((1, 3), np.int64), 1), OrderedSums(ALL, 3, 2)])
def test_sums_by_place_are_for_a_public_number_of_rows(query):
    with pytest.raises(GuaranteeRefused, match="replace_one"):
        query.sensitivity(SCHEMA, ADD)
    with pytest.raises(InputError, match="another number of rows"):
        query.answer(table_of(FEW))


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.4, False)])
def test_a_record_changes_the_scores_of_all_leaves_together_as_little_as_is_told(relation, balanced, factor, holds):
    weights = np.array([[BALANCE, 3], [2, BALANCE]])
    scores = CutScores(TREE, (0, 2), CUTS, weights, balanced)
    answers = {t: scores.answer(table_of(t)) for rows in (0, 1, 2) for t in combinations_with_replacement(RECORDS, rows)}

    def check(part):
        bound = part * scores.change(SCHEMA, relation)
        for rest in (t for t in answers if len(t) < 2):
            more = np.array([answers[tuple(sorted((*rest, r), key=RECORDS.index))] for r in RECORDS])
            change = more - answers[rest] if relation is ADD else more[:, None] - more[None]
            assert np.abs(change).max(-1).sum(-1).max() <= bound

    judge(check, factor, holds=holds)


APART = DependenceScores(TREE, (0, 2), CUTS)


@cache
def apart() -> tuple[dict, dict]:
    """For some tables the scores with each record more, and as they are."""
    rng = np.random.default_rng(0)
    rests = [t for rows in (0, 1) for t in combinations_with_replacement(RECORDS, rows)]
    rests += [tuple(RECORDS[i] for i in rng.choice(len(RECORDS), rows, p=rng.dirichlet(np.full(len(RECORDS), 0.1))))
              for rows in (5, 20, 60) for _ in range(8)]  # fmt: skip
    rests += [(one,) * 40 + (two,) * few for one in FEW for two in FEW for few in (1, 2)]
    answers = {rest: np.array([APART.answer(table_of((*rest, r))) for r in RECORDS]) for rest in rests}
    before = {rest: APART.answer(table_of(rest)) for rest in rests}
    return answers, before


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.4, False)])
def test_a_record_sets_left_and_right_apart_by_no_more_than_is_said(relation, factor, holds):
    """All small tables, and some with many equal records, where one more changes the most."""
    answers, before = apart()

    def check(part):
        bound = part * APART.change(SCHEMA, relation)
        for rest, more in answers.items():
            change = more - before[rest] if relation is ADD else more[:, None] - more[None]
            assert np.abs(change).max(-1).sum(-1).max() <= bound

    judge(check, factor, holds=holds)


def test_the_whole_numbers_of_a_record_stay_within_their_length():
    for encoding in (ENCODING, ALL, embedding()):
        coordinates = encoding.coordinates(table_of(RECORDS))
        assert lengths(coordinates)[0] <= encoding.longest[0]
        assert (coordinates**2).sum(1).max() <= encoding.longest[1]
