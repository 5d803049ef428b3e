"""What one replaced record can change of the scores of a network's parents: all neighbours of small domains, one by one."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from hushtable.errors import GuaranteeRefused, InputError
from hushtable.privacy.unit import Relation
from hushtable.synthesize.network.scores import GRID, Decision, Departure, Information, information
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

SHAPES = [(2, 2), (2, 3), (3, 2), (3, 3)]
ROWS = [1, 2, 3, 4, 5]


def schema_of(*sizes: int) -> Schema:
    return Schema(
        tuple(
            Column(name=f"c{i}", kind=Kind.CATEGORY, domain=Levels(tuple("abcdef"[:size])), required=True)
            for i, size in enumerate(sizes)
        )
    )


def normalised(joint: np.ndarray) -> float:
    """Mutual information divided by the smaller entropy, in steps of the grid."""

    def entropy(counts):
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    least = min(entropy(joint.sum(0)), entropy(joint.sum(1)))
    return GRID * information(joint) / least if least > 0 else 0.0


@cache
def worst(score, shape: tuple[int, int], rows: int) -> float:
    """The largest change of a score over all pairs of tables that differ in one record."""
    near = defaultdict(list)
    for records in combinations_with_replacement(range(shape[0] * shape[1]), rows):
        value = score(np.bincount(records, minlength=shape[0] * shape[1]).reshape(shape))
        for i in range(rows):
            near[records[:i] + records[i + 1 :]].append(value)
    return max(max(values) - min(values) for values in near.values())


def scorer(kind):
    judged = kind((("c0", ("c1",)),), 1)
    return judged._score


SCORES = {kind: scorer(kind) for kind in (Information, Departure, Decision)}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(
    ("kind", "shape"),
    [(kind, shape) for kind in (Information, Departure, Decision) for shape in SHAPES if kind is not Decision or shape[0] == 2],
)
def test_one_record_changes_a_score_as_little_as_it_says(kind, shape, rows):
    bound = kind((("c0", ("c1",)),), rows).change(schema_of(*shape), Relation.REPLACE_ONE)
    assert worst(SCORES[kind], shape, rows) <= bound


@pytest.mark.parametrize(("shape", "rows"), [((2, 2), 5), ((3, 3), 5)])
@pytest.mark.parametrize(("rule", "holds"), [(1.0, True), (0.5, False), (math.log(2), False)])
def test_the_bound_of_mutual_information_is_reached_so_that_a_smaller_one_is_wrong(shape, rows, rule, holds):
    """A half of it, or the bound in nats for a score in bits, is too little."""
    bound = Information((("c0", ("c1",)),), rows).change(schema_of(*shape), Relation.REPLACE_ONE)

    def check(factor):
        assert worst(SCORES[Information], shape, rows) <= factor * bound

    judge(check, rule, holds=holds)


@pytest.mark.parametrize(("kind", "holds"), [(Information, True), (normalised, False)])
def test_normalised_mutual_information_does_not_keep_the_bound_of_the_plain_one(kind, holds):
    def check(score):
        for rows in ROWS[1:]:
            bound = Information((("c0", ("c1",)),), rows).change(schema_of(2, 2), Relation.REPLACE_ONE)
            assert worst(score, (2, 2), rows) <= bound

    judge(check, SCORES[Information] if kind is Information else normalised, holds=holds)


@pytest.mark.parametrize(("kind", "most"), [(Departure, 34), (Decision, 2)])
def test_the_other_bounds_are_no_guesses(kind, most):
    bound = kind((("c0", ("c1",)),), 5).change(schema_of(2, 3), Relation.REPLACE_ONE)
    assert bound == most
    assert worst(SCORES[kind], (2, 3), 5) > 0.4 * bound


def test_f_is_the_distance_to_the_nearest_table_of_greatest_information():
    """Every way to give the parents' cells to the values of the child, tried one by one."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        joint = rng.integers(0, 6, (2, 4)) * (rng.random((2, 4)) < 0.7)
        n = int(joint.sum())
        least = min(
            max(n - 2 * sum(joint[0, p] for p in range(4) if not to[p]), 0)
            + max(n - 2 * sum(joint[1, p] for p in range(4) if to[p]), 0)
            for to in product((0, 1), repeat=4)
        )
        assert SCORES[Decision](joint) == -least


def test_scores_are_those_of_the_rows_counted_by_hand():
    """Two parents, missing values as cells of their own."""
    rng = np.random.default_rng(1)
    columns = tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(("a", "b"))) for n in "xpq")
    table = Table(Schema(columns), {n: rng.integers(-1, 2, 60).astype(np.int32) for n in "xpq"})
    rows = list(zip(*(table[n].tolist() for n in "xpq"), strict=True))
    share = lambda test: sum(map(test, rows)) / len(rows)  # noqa: E731
    information_, departure = 0.0, 0.0
    for x, p, q in product((-1, 0, 1), repeat=3):
        both = share(lambda r, x=x, p=p, q=q: r == (x, p, q))
        product_ = share(lambda r, x=x: r[0] == x) * share(lambda r, p=p, q=q: r[1:] == (p, q))
        information_ += both * math.log(both / product_) if both else 0.0
        departure += abs(both - product_) / 2
    pair = (("x", ("p", "q")),)
    assert Information(pair, 60).answer(table)[0] / GRID == pytest.approx(information_, abs=1e-8)
    assert Departure(pair, 60).answer(table)[0] / (2 * 60**2) == pytest.approx(departure, abs=1e-12)


def test_scores_are_for_a_public_number_of_rows():
    table = Table(schema_of(2, 2), {"c0": np.zeros(3, np.int32), "c1": np.zeros(3, np.int32)})
    with pytest.raises(InputError, match="another number"):
        Information((("c0", ("c1",)),), 4).answer(table)
    for kind in (Information, Departure, Decision):
        with pytest.raises(GuaranteeRefused, match="replace_one"):
            kind((("c0", ("c1",)),), 3).change(table.schema, Relation.ADD_REMOVE)
