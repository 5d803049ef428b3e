"""The private autoregressive network: what it plans and spends, whom it protects, and what it draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch")

from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.privacy import pld
from hushtable.privacy.event import DiscreteGaussian, SampledGaussian
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.synthesize.neural.autoregressive_private import Levelled, PrivateAutoregressive, Raked, expected
from hushtable.table.columns import MISSING_INTEGER, Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.persons import held

pytestmark = pytest.mark.neural
SCHEMA = Schema(
    (
        Column(name="town", kind=Kind.CATEGORY, domain=Levels(("north", "south", "east"))),
        Column(name="children", kind=Kind.INTEGER, domain=Bounds(0, 5)),
        Column(name="ill", kind=Kind.CATEGORY, domain=Levels(("no", "yes")), role=Role.TARGET, required=True),
        Column(name="job", kind=Kind.CATEGORY, domain=Levels(tuple(f"job {n}" for n in range(200)))),
    )
)


def people(rows: int, seed: int = 0) -> Table:
    """Who is ill lives in the south and has many children; most have one of three jobs."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, rows)
    town = np.where(rng.random(rows) < 0.9, ill, rng.integers(0, 3, rows))
    children = np.where(ill, rng.integers(3, 6, rows), rng.integers(0, 3, rows))
    children[rng.random(rows) < 0.1] = MISSING_INTEGER
    job = np.where(rng.random(rows) < 0.9, rng.integers(0, 3, rows), rng.integers(0, 200, rows))
    arrays = {"town": town, "children": children, "ill": ill, "job": job}
    return Table(SCHEMA, {name: array.astype(SCHEMA[name].dtype) for name, array in arrays.items()})


def recipe(**knobs) -> Recipe:
    return Recipe(recipe="private", steps=(PrivateAutoregressive(**knobs),))


@pytest.fixture(scope="module")
def made():
    return release(people(3000), recipe(steps=60, hidden=6, embedding=3), epsilon=10.0, delta=1e-5, seed=1)


def test_it_spends_its_budget_on_margins_and_one_descent(made):
    guarantee = made.guarantee
    assert guarantee.assurance is Assurance.PROVEN
    assert [type(entry.event) for entry in guarantee.ledger] == [DiscreteGaussian] * 4 + [SampledGaussian]
    assert 9.5 < guarantee.epsilon() <= 10.0
    assert any("float-noise" in caveat for caveat in guarantee.caveats)
    assert "loss" not in str(made.result)  # no loss of real rows leaves


def test_it_learns_what_depends_on_what_and_keeps_the_margins(made):
    real, drawn = people(3000), made.table
    assert abs(drawn.rows - 3000) < 60
    for name in ("town", "ill"):
        shares = [np.bincount(table.cells(name), minlength=4) / table.rows for table in (real, drawn)]
        assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.02
    south = drawn["town"] == 1
    assert (drawn["ill"] == 1)[south].mean() > 0.75
    assert np.corrcoef(drawn["ill"], drawn["children"] >= 3)[0, 1] > 0.6
    assert not drawn.missing("ill").any()


def test_conditions_are_exact_and_likelihoods_are_of_what_is_drawn(made):
    model = made.fitted.model
    assert isinstance(model, Raked)
    rng = np.random.default_rng(0)
    for given, codes in (({"ill": "yes"}, [1]), ({"town": "south", "children": "4"}, [1, 4]), ({"job": "job 2"}, [2])):
        drawn = model.sample(50, rng, given)
        assert drawn.rows == 50
        assert [set(drawn[name].tolist()) for name in given] == [{code} for code in codes]
    ill = model.sample(400, rng, {"ill": "yes"})
    assert (ill["town"] == 1).mean() > 0.75
    likely, unlikely = people(500, 7), people(500, 7)
    unlikely = unlikely.take(np.arange(500)).with_columns((SCHEMA["town"], likely["town"][::-1].copy()))
    assert model.log_likelihood(likely).mean() > model.log_likelihood(unlikely).mean() + 0.3
    with pytest.raises(InputError, match="no value of ill"):
        model.sample(5, rng, {"ill": "perhaps"})
    assert model.sample(0, rng).rows == 0


def test_all_chances_of_a_table_add_up_to_one():
    schema = SCHEMA.select(["town", "ill"])
    model = release(people(400).select(schema.names), recipe(steps=3), epsilon=1.0, delta=1e-6).fitted.model
    towns, ills = np.repeat([-1, 0, 1, 2], 2), np.tile([0, 1], 4)
    every = Table(model.schema, {"town": towns.astype(np.int32), "ill": ills.astype(np.int32)})
    assert np.exp(model.log_likelihood(every)).sum() == pytest.approx(1, abs=1e-3)


def test_what_is_saved_draws_the_same_and_holds_no_row(made):
    model = made.fitted.model
    values, arrays = model.parts()
    again = Raked.from_parts(values, arrays)
    one, two = (each.sample(200, np.random.default_rng(3)) for each in (model, again))
    assert all(np.array_equal(one[name], two[name]) for name in SCHEMA.names)
    assert again.result() == model.result()
    assert all(3000 not in array.shape for array in arrays.values())


def test_many_levels_are_known_by_the_commonest():
    shares = np.full(200, 0.001)
    shares[[5, 150]] = 0.3, 0.5
    cells = Levelled.of(Column(name="x", kind=Kind.CATEGORY, domain=Levels(tuple(map(str, range(199))))), shares / shares.sum())
    assert cells.pieces == 64
    codes = cells.codes(np.arange(199, dtype=np.int32))[0]
    assert codes[5] != codes[150]
    assert np.bincount(codes).max() > 100
    drawn = cells.decode(np.repeat(codes[[5, 150, 199 - 1]], 500), np.zeros(1500, np.int64), np.random.default_rng(0))
    assert set(drawn[:500].tolist()) == {5}
    assert set(drawn[500:1000].tolist()) == {150}
    assert len(set(drawn[1000:].tolist())) > 50
    np.testing.assert_allclose(np.bincount(cells.places, cells.chances), cells.masses)


@pytest.mark.parametrize(
    ("table", "epsilon"),
    [
        (people(0), 1.0),
        (people(1), 1.0),
        (people(200).select(["town"]), 1.0),
        (people(50).with_columns((SCHEMA["town"], np.full(50, -1, np.int32))), 1.0),
        (people(50).with_columns((SCHEMA["town"], np.zeros(50, np.int32))), 0.01),
    ],
    ids=["no rows", "one row", "one column", "all missing", "constant"],
)
def test_tables_that_have_little_to_learn_from(table, epsilon):
    made = release(table, recipe(steps=3), epsilon=epsilon, delta=1e-6)
    assert made.guarantee.assurance is Assurance.PROVEN
    assert made.table.schema.names == table.schema.names


def test_a_budget_too_small_to_train_is_said_and_not_refused():
    small = people(300)
    note = str(release(small, recipe(steps=3), epsilon=0.05, delta=1e-6).result)
    assert "the budget is small for training" in note
    assert "Expect the margins" in note
    sized = replace(SCHEMA, size=300)
    course = plan(recipe(), sized, budget=Budget(0.05, 1e-6))
    assert any("the budget is small for training" in caveat for caveat in course.caveats)
    assert not any("small for training" in c for c in plan(recipe(), replace(SCHEMA, size=10**6), budget=Budget(1.0, 1e-6)).caveats)
    assert expected(0.1) == ""


def test_what_cannot_be_promised_is_refused_in_the_plan():
    with pytest.raises(GuaranteeRefused, match="needs a delta"):
        plan(recipe(), SCHEMA, budget=Budget(1.0, 0.0))
    with pytest.raises(GuaranteeRefused, match="add-remove only"):
        plan(recipe(), SCHEMA, budget=Budget(1.0, 1e-6), unit=Unit(relation=Relation.REPLACE_ONE))
    with pytest.raises(GuaranteeRefused, match="name the column"):
        plan(recipe(), SCHEMA, budget=Budget(1.0, 1e-6), unit=Unit(rows=2))
    with pytest.raises(PlanError, match="no column village"):
        plan(recipe(order=("village",)), SCHEMA, budget=Budget(1.0, 1e-6))
    with pytest.raises(InputError, match="rate"):
        PrivateAutoregressive(rate=-0.1)


def test_people_with_several_rows_are_protected_as_people():
    table = held(np.full(40, 3)).select(["pid", "age", "town", "ward"])
    made = release(table, load("argn-private").quick(), epsilon=2.0, delta=1e-5, unit=Unit(rows=3, by="pid"))
    assert made.guarantee.assurance is Assurance.PROVEN
    assert isinstance(made.guarantee.ledger[-1].event, SampledGaussian)
    assert made.guarantee.epsilon() <= 2.0


@pytest.mark.skipif(not pld.available(), reason="needs the extra dp")
def test_steps_and_noise_follow_from_public_facts_alone():
    plans = [plan(load("argn-private"), replace(SCHEMA, size=None), budget=Budget(epsilon, 1e-6)) for epsilon in (0.5, 2.0)]
    few, many = (course.ledger.paid[-1].event for course in plans)
    assert few.steps < many.steps
    assert few.multiplier > many.multiplier
    assert all(course.factor > 1.1 for course in plans)


def test_the_same_seed_and_noise_draw_the_same_rows():
    one, two = (
        release(people(300), recipe(steps=3), epsilon=1.0, delta=1e-6, seed=4, entropy=Entropy.seeded(2), unproven=True).table
        for _ in range(2)
    )
    assert all(np.array_equal(one[name], two[name]) for name in SCHEMA.names)
