"""PATE-GAN, certified: one record changes one teacher; the votes cost what was planned; students learn from noisy votes alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch")

from hushtable.errors import InputError, PlanError
from hushtable.pipeline.plan import alike, plan
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import DiscreteGaussian
from hushtable.privacy.ledger import Ledger
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.gan.pate import Pate
from hushtable.synthesize.neural.gan.pate_published_net import Moments
from hushtable.synthesize.neural.gan.residual import Residual
from hushtable.synthesize.neural.gan.student import Student
from hushtable.synthesize.neural.gan.teachers import Kernel, Votes, cells_of, parts
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

pytestmark = pytest.mark.neural
LEVELS = Levels(("a", "b", "c"))
NAMES = ("one", "two", "three")
SCHEMA = Schema(
    (
        *(Column(name=name, kind=Kind.CATEGORY, domain=LEVELS, required=True) for name in NAMES),
        Column(name="class", kind=Kind.CATEGORY, domain=Levels(("no", "yes")), required=True, role=Role.TARGET),
    )
)
BUDGET = Budget(1.0, 1e-6)
QUICK = {"rounds": 1, "queries": 10, "steps": 1}


def people(rows: int, seed: int = 0) -> Table:
    """The first two columns are nearly equal whatever the class, which single columns do not show."""
    rng = np.random.default_rng(seed)
    one, three, kind = (rng.integers(0, size, rows) for size in (3, 3, 2))
    two = np.where(rng.random(rows) < 0.9, one, rng.integers(0, 3, rows))
    columns = zip((*NAMES, "class"), (one, two, three, kind), strict=True)
    return Table(SCHEMA, {name: column.astype(np.int32) for name, column in columns})


def vault(table: Table, seed: int = 0, budget: Budget = BUDGET) -> Vault:
    locked = Vault.of(table, budget=budget, entropy=Entropy.seeded(seed), seed=seed)
    return locked.named("pate", Allowance.of(budget, Unit()))


def held(rows: np.ndarray, groups: np.ndarray, teachers: int) -> list[list[tuple[int, ...]]]:
    """The rows of each teacher, in one order."""
    return [sorted(map(tuple, rows[groups == teacher].tolist())) for teacher in range(teachers)]


@pytest.mark.parametrize("key", [0, 1, 2**64 - 1])
def test_one_record_less_changes_one_teacher_by_one_row(key):
    rows = cells_of(people(300), SCHEMA.names)
    whole = held(rows, parts(rows, 20, key), 20)
    for gone in (0, 7, 150, 299):
        left = np.delete(rows, gone, axis=0)
        less = held(left, parts(left, 20, key), 20)
        changed = [(before, after) for before, after in zip(whole, less, strict=True) if before != after]
        assert len(changed) == 1
        before, after = changed[0]
        assert before == sorted([*after, tuple(rows[gone].tolist())])


def test_equal_rows_are_spread_over_the_teachers():
    groups = parts(np.zeros((1000, 3), np.int64), 10, 5)
    assert np.bincount(groups, minlength=10).min() > 50


def test_places_that_count_off_rows_would_move_the_rows_of_others():
    """The broken twin: a teacher by the place of a row among all."""
    rows = cells_of(people(300), SCHEMA.names)
    left = np.delete(rows, 0, axis=0)
    whole, less = held(rows, np.arange(300) % 20, 20), held(left, np.arange(299) % 20, 20)
    assert sum(before != after for before, after in zip(whole, less, strict=True)) > 1


def votes(queries: int = 40, teachers: int = 20) -> Votes:
    drawn = cells_of(people(500, seed=9), SCHEMA.names)
    kernel = Kernel.of([np.full(3, 1 / 3)] * 3 + [np.full(2, 0.5)])
    return Votes(SCHEMA.names, drawn[:queries], drawn[queries:], kernel, teachers, 3)


@pytest.mark.parametrize("relation", list(Relation))
def test_one_record_changes_the_votes_by_no_more_than_is_said(relation):
    query, table = votes(), people(200)
    whole = query.answer(table)
    l1, l2, ones = query.sensitivity(SCHEMA, relation)
    most = 0.0
    for row in range(0, 200, 5):
        kept = (
            np.delete(np.arange(200), row)
            if relation is Relation.ADD_REMOVE
            else np.where(np.arange(200) == row, 199 - row, np.arange(200))
        )
        change = np.abs(query.answer(table.take(kept)) - whole)
        assert change.max() <= l1 / len(whole)
        most = max(most, float(np.square(change).sum()))
    assert 0 < most <= l2**2 * (1 + 1e-12)
    assert ones == (len(whole) if relation is Relation.ADD_REMOVE else 0)


def test_the_kernel_is_the_sum_over_pairs_of_columns():
    shares = [np.array([0.5, 0.3, 0.2]), np.array([0.25, 0.75])]
    kernel = Kernel.of(shares)
    found = kernel.sums(np.array([[0, 1]]), np.array([[0, 1], [0, 0], [2, 1]]), np.array([0, 1, 2]), 3)[:, 0] / 64
    one, two = 0.5 / 0.5, 0.25 / 0.75
    assert found == pytest.approx([one * two, one * -1, -1 * two], abs=0.1)


def test_the_run_spends_what_was_planned():
    recipe = Recipe(recipe="pate", steps=(Pate(rounds=3, queries=7, steps=1),))
    course = plan(recipe, SCHEMA, budget=Budget(1.0, 1e-6))
    released = release(people(300), recipe, epsilon=1.0, delta=1e-6)
    assert alike(course.ledger, Ledger(released.guarantee.ledger))
    asked = [e.event for e in released.guarantee.ledger if isinstance(e.event, DiscreteGaussian) and e.event.ones == 7]
    assert len(asked) == 3
    assert all(e.sensitivity == pytest.approx(math.sqrt(7)) for e in asked)
    assert 0.98 < released.guarantee.epsilon() <= 1.0


def test_the_noise_of_many_queries_is_as_the_page_says():
    """T = 1,000 queries at epsilon 1 and delta 1e-5 need noise of 118 votes if the whole budget goes into them."""
    step = Pate(rounds=1, queries=1000, margins=1e-9)
    course = plan(Recipe(recipe="pate", steps=(step,)), SCHEMA, budget=Budget(1.0, 1e-5))
    asked = [e.event for e in course.ledger.paid if isinstance(e.event, DiscreteGaussian) and e.event.ones == 1000]
    assert asked[0].sigma == pytest.approx(118, rel=0.02)


def test_a_student_learns_what_noisy_votes_show():
    rng = np.random.default_rng(0)
    real = people(5000)
    # Generated rows here are independent columns: people's two equal columns are the excess.
    drawn = rng.integers(0, [3, 3, 3, 2], (2000, 4))
    query = Votes(SCHEMA.names, drawn[:150], drawn[150:1000], votes().kernel, 1000, 3)
    noisy = query.answer(real) + np.round(rng.normal(0, 20, 150)).astype(np.int64)
    student = Student.fitted(query, noisy, 20.0, drawn[1000:], 5, rng)
    said = query.kernel.sums(drawn[:500], student.queries, np.arange(150), 150).T / 64 @ student.weights
    same = drawn[:500, 0] == drawn[:500, 1]
    assert student.signal > 0.5
    assert said[same].mean() > 0.5 > 0 > said[~same].mean()
    nothing = Student.fitted(
        query, query.teachers // 2 + np.round(rng.normal(0, 5000, 150)).astype(np.int64), 5000.0, drawn[1000:], 5, rng
    )
    assert np.abs(query.kernel.sums(drawn[:500], nothing.queries, np.arange(150), 150).T / 64 @ nothing.weights).mean() < 0.3


def test_the_generator_gains_dependence_that_the_margins_do_not_have():
    step = Pate(rounds=1, queries=150, steps=100, margins=0.3)
    model = step.fit(vault(people(6000), budget=Budget(8.0, 1e-6)), np.random.default_rng(0))
    drawn = model.sample(3000, np.random.default_rng(1))
    assert np.mean(drawn["one"] == drawn["two"]) > 0.4, "a third, if columns were independent"


def test_a_model_comes_back_as_it_was_and_draws_what_is_given():
    model = Pate(**QUICK).fit(vault(people(300)), np.random.default_rng(0))
    values, arrays = model.parts()
    again = Residual.from_parts(values, arrays)
    one, two = (m.sample(200, np.random.default_rng(3)) for m in (model, again))
    assert all(np.array_equal(one[name], two[name]) for name in SCHEMA.names)
    given = again.sample(50, np.random.default_rng(3), {"one": "b", "class": "yes"})
    assert set(given.strings("one")) == {"b"}
    assert set(given.strings("class")) == {"yes"}
    assert again.sample(0, np.random.default_rng(3)).rows == 0


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows_still_make_a_release(rows):
    model = Pate(**QUICK).fit(vault(people(rows)), np.random.default_rng(0))
    assert model.sample(5, np.random.default_rng(0)).rows == 5


def test_bad_knobs_are_refused():
    with pytest.raises(InputError, match="queries"):
        Pate(queries=0)
    with pytest.raises(PlanError, match="nobody"):
        Pate(target="nobody").plan(SCHEMA, None)


def test_the_plan_says_how_much_noise_votes_get():
    course = plan(load("pate-gan-certified"), SCHEMA, budget=Budget(1.0, 1e-6))
    assert any("votes are asked for" in caveat for caveat in course.caveats)


def test_the_published_accountant_is_cheaper_where_teachers_agree():
    agreed, split = Moments(0.5), Moments(0.5)
    agreed.add(np.full(20, 100.0))
    split.add(np.zeros(20))
    assert agreed.epsilon(1e-5) < split.epsilon(1e-5), "so the epsilon that is reported depends on the rows"
