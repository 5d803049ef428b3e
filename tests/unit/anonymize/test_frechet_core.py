"""Private Frechet means: what one record can change, what a run costs, and what comes out."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import hushtable as ht
from hushtable.anonymize.private.frechet import Draw, Frechet, Tangent
from hushtable.anonymize.private.frechet_queries import STEPS, TangentSums
from hushtable.checks import example
from hushtable.errors import InputError, PlanError
from hushtable.numerics import ball
from hushtable.numerics.ball_map import BallMap
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.recipe import load as load_recipe
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

TINY = Schema(
    (
        Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 2)),
        Column(name="c", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), required=True),
    )
)


def everybody() -> Table:
    """One row for each record of the tiny domain, missing included."""
    cells = list(product([0, 1, 2, np.iinfo(np.int64).min], range(3)))
    return Table(TINY, {"x": np.array([x for x, _ in cells]), "c": np.array([c for _, c in cells], np.int32)})


def tangent_sums(groups: int, tangent: Tangent, reach: float, weight: int, radius: float = 0.9) -> TangentSums:
    space = BallMap(TINY, radius)
    rng = np.random.default_rng(groups)
    centres = ball.exp(np.zeros(space.dimension), 0.5 * rng.normal(size=(groups, space.dimension)))
    bases = centres if tangent is Tangent.CENTRE else np.zeros_like(centres)
    return TangentSums(space, centres, bases, reach * space.reach, weight)


def half(sensitivity):
    return tuple(part / 2 for part in sensitivity[:2])


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("tangent", list(Tangent))
@pytest.mark.parametrize("reach", [0.05, 1.0])
@pytest.mark.parametrize("weight", [300, 5000])
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("rule", "holds"), [(lambda s: s[:2], True), (half, False)])
def test_one_record_changes_a_query_by_no_more_than_it_says(groups, tangent, reach, weight, relation, rule, holds):
    query, people = tangent_sums(groups, tangent, reach, weight), everybody()
    alone = [query.answer(people.take(np.array([i]))) for i in range(people.rows)]
    # Sums add up record by record, so the neighbours of any table change it as those of an empty one do.
    pairs = [(a, 0 * a) for a in alone] if relation is Relation.ADD_REMOVE else list(product(alone, alone))

    def check(rule):
        l1, l2 = rule(query.sensitivity(TINY, relation))
        for one, other in pairs:
            change = np.abs(one - other).astype(object)
            assert change.sum() <= l1
            assert (change**2).sum() <= l2**2

    judge(check, rule, holds=holds)


@pytest.mark.parametrize("tangent", list(Tangent))
def test_a_sum_is_the_sum_of_its_records_to_the_last_bit(tangent):
    query, people = tangent_sums(3, tangent, 0.4, weight=7), everybody()
    rows = np.random.default_rng(0).integers(0, people.rows, 50)
    parts = sum(query.answer(people.take(np.array([row]))) for row in rows)
    assert (query.answer(people.take(rows)) == parts).all()


def test_the_longest_vector_stays_within_the_sphere_after_rounding():
    names = [f"x{i}" for i in range(40)]
    schema = Schema(tuple(Column(name=n, kind=Kind.REAL, domain=Bounds(0, 1), required=True) for n in names))
    rng = np.random.default_rng(3)
    rows = {n: rng.choice([0.0, 1.0, 0.3], 300) for n in names}
    query = TangentSums(BallMap(schema, 0.99), np.zeros((1, 40)), np.zeros((1, 40)), 1.0, 1)
    table = Table(schema, rows)
    longest = max(int((query.answer(table.take(np.array([i])))[1:] ** 2).sum()) for i in range(300))
    assert (0.98 * STEPS) ** 2 < longest <= STEPS**2


def test_vectors_are_those_of_the_ball():
    query, people = tangent_sums(2, Tangent.CENTRE, 2.0, weight=1), everybody()
    points = query.ball.points(people)
    labels, _ = ball.nearest(points, query.centres)
    counts, sums = query.read(query.answer(people))
    for j in range(2):
        assert counts[j] == (labels == j).sum()
        assert sums[j] == pytest.approx(ball.log(query.centres[j], points[labels == j]).sum(0), abs=query.step * people.rows)


def test_too_many_coordinates_are_refused():
    schema = Schema((Column(name="wide", kind=Kind.CATEGORY, domain=Levels(tuple(map(str, range(70_000))))),))
    with pytest.raises(PlanError, match="coordinates"):
        Frechet().plan(schema, Allowance.of(Budget(1, 1e-6), Unit()))


KNOBS = [
    {},
    {"clusters": 1},
    {"clusters": 1, "tangent": Tangent.ORIGIN},
    {"clusters": 3, "rounds": 2, "draw": Draw.MODE, "reach": 1.0, "tangent": Tangent.ORIGIN},
]
UNITS = [
    Unit(),
    Unit(relation=Relation.REPLACE_ONE),
    Unit(rows=3),
    Unit(relation=Relation.REPLACE_ONE, rows=3),
]


@pytest.mark.parametrize("knobs", KNOBS, ids=str)
@pytest.mark.parametrize("unit", UNITS, ids=lambda u: f"{u.relation} {u.rows}")
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_run_costs_exactly_what_was_planned_and_all_that_was_given(knobs, unit, delta):
    table, budget, step = example(), Budget(1.5, delta), Frechet(**knobs)
    allowance = Allowance.of(budget, unit).split([1.0])[0]
    planned = step.plan(table.schema, allowance).events
    vault = Vault.of(table, unit=unit, budget=budget, entropy=Entropy.seeded(1)).named("frechet", allowance)
    step.fit(vault, np.random.default_rng(0))
    assert tuple(entry.event for entry in vault.ledger.entries) == planned
    assert vault.ledger.within(budget)
    assert vault.ledger.epsilon(delta) > 0.95 * budget.epsilon


def model(table, epsilon=1000.0, seed=0, unit=None, **knobs):
    budget, unit = Budget(epsilon, 1e-6), unit or Unit()
    allowance = Allowance.of(budget, unit).split([1.0])[0]
    vault = Vault.of(table, unit=unit, budget=budget, entropy=Entropy.seeded(seed)).named("frechet", allowance)
    return Frechet(**knobs).fit(vault, np.random.default_rng(seed))


@pytest.mark.parametrize("unit", UNITS[:2], ids=lambda u: str(u.relation))
@pytest.mark.parametrize("tangent", list(Tangent))
def test_with_hardly_any_noise_one_cluster_is_the_mean(tangent, unit):
    table = example(400)
    points = BallMap(table.schema, 0.95).points(table)
    actual = model(table, unit=unit, clusters=1, rounds=12, reach=1.0, radius=0.95, tangent=tangent)
    flat = ball.exp(np.zeros(points.shape[1]), ball.log(np.zeros(points.shape[1]), points).mean(0))[0]
    true = ball.mean(points).point if tangent is Tangent.CENTRE else flat
    assert float(ball.distance(actual.points[0], true)) < 0.01
    assert actual.counts[0] == pytest.approx(400, abs=2)
    assert float(ball.distance(flat, ball.mean(points).point)) > 0.3


def two_heaps(rows=600) -> Table:
    rng = np.random.default_rng(5)
    low = np.arange(rows) < rows // 3
    schema = Schema(
        (
            *(Column(name=n, kind=Kind.REAL, domain=Bounds(0, 10), decimals=1, required=True) for n in "uvw"),
            Column(name="kind", kind=Kind.CATEGORY, domain=Levels(("red", "blue", "none")), required=True),
        )
    )
    numbers = {n: np.round(np.clip(np.where(low, 2, 8) + rng.normal(0, 0.5, rows), 0, 10), 1) for n in "uvw"}
    return Table(schema, numbers | {"kind": np.where(low, 0, 1).astype(np.int32)})


def test_clusters_are_found_and_their_sizes_reported():
    actual = model(two_heaps(), epsilon=8.0, clusters=2, reach=0.5, draw=Draw.MODE)
    released = actual.sample(None, np.random.default_rng(0))
    assert released.rows == pytest.approx(600, abs=30)
    values, counts = np.unique(released["u"], return_counts=True)
    assert values == pytest.approx([2, 8], abs=0.6)
    assert counts == pytest.approx([200, 400], abs=40)
    assert (released["kind"][released["u"] < 5] == 0).all()
    assert (released["kind"][released["u"] > 5] == 1).all()


def test_levels_and_missing_values_come_in_their_shares():
    rng = np.random.default_rng(6)
    codes = rng.choice([-1, 0, 1], 4000, p=[0.2, 0.3, 0.5]).astype(np.int32)
    ages = np.where(rng.random(4000) < 0.4, np.nan, 30.0)
    schema = Schema(
        (
            Column(name="c", kind=Kind.CATEGORY, domain=Levels(("a", "b"))),
            Column(name="x", kind=Kind.REAL, domain=Bounds(0, 40), decimals=0),
        )
    )
    actual = model(Table(schema, {"c": codes, "x": ages}), clusters=1, tangent=Tangent.ORIGIN, reach=1.0, radius=0.1)
    released = actual.sample(4000, np.random.default_rng(0))
    shares = [float((released["c"] == code).mean()) for code in (-1, 0, 1)]
    assert shares == pytest.approx([0.2, 0.3, 0.5], abs=0.04)
    assert float(np.isnan(released["x"]).mean()) == pytest.approx(0.4, abs=0.04)
    assert np.nanmean(released["x"]) == pytest.approx(30, abs=3)


def test_rows_follow_the_shares_of_the_clusters_and_conditions_are_kept():
    actual = model(two_heaps(), epsilon=8.0, clusters=2)
    assert actual.sample(7, np.random.default_rng(0)).rows == 7
    held = actual.sample(5, np.random.default_rng(0), {"kind": "none"})
    assert (held["kind"] == 2).all()
    with pytest.raises(InputError, match="is no value"):
        actual.sample(5, np.random.default_rng(0), {"kind": "green"})


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_table_smaller_than_the_clusters_still_gives_rows(rows):
    assert model(example().take(np.arange(rows)), epsilon=0.1).sample(None, np.random.default_rng(0)).rows >= 2


@pytest.mark.parametrize(
    "knobs",
    [{"clusters": -1}, {"rounds": 0}, {"radius": 1.0}, {"reach": 0.0}, {"counts": 0.0}, {"share": 0.0}, {"radius": math.nan}],
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(InputError, match=next(iter(knobs))):
        Frechet(**knobs)


def test_a_text_column_is_refused_by_name():
    schema = Schema((*TINY.columns, Column(name="note", kind=Kind.TEXT)))
    with pytest.raises(PlanError, match="note"):
        Frechet().plan(schema, None)


@pytest.mark.parametrize("relation", list(Relation))
def test_the_recipe_is_proven(relation):
    release = ht.release(example(), "frechet", epsilon=1.0, unit=Unit(relation=relation))
    assert release.guarantee.assurance is Assurance.PROVEN
    assert 0.9 < release.guarantee.epsilon() <= 1.0
    assert load_recipe("frechet").guarantee == "(epsilon, delta)-differential privacy (proven)"


def test_the_result_is_plain_and_says_how_noisy_the_sums_are():
    result = model(example(), clusters=2, rounds=1).result()
    assert result["looks"] == 2
    assert result["noise_of_a_count"] > 0
    assert len(result["noisy_sizes"]) == 2


def test_it_reads_what_another_step_released_for_free():
    from hushtable.anonymize.microaggregate.microaggregate import Microaggregate

    recipe = Recipe(recipe="both", steps=(Microaggregate(k=5), Frechet(clusters=2)))
    release = ht.release(example(), recipe, epsilon=1.0, unproven=True)
    assert release.guarantee.assurance is Assurance.VERIFIED
