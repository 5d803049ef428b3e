"""Safe k-anonymization: what it promises, what it refuses, and that nothing but the system's coins decides who is kept."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hushtable.anonymize.private.safe import Safe
from hushtable.anonymize.private.safe_delta import exact_delta
from hushtable.anonymize.private.safe_levels import WEIGHTS
from hushtable.checks import example
from hushtable.data.people import people
from hushtable.encode.bins import Bins
from hushtable.errors import BudgetExceeded, GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.pipeline.verify import verify
from hushtable.privacy import choice
from hushtable.privacy.choice import exponential
from hushtable.privacy.criteria import Classes, k_anonymity
from hushtable.privacy.event import Approximate, Exponential
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.preserve import Syntactic
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.cell import ANY_TEXT
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.tables import observed
from tests.unit.privacy.cases import recipe

TOWN = ("age=*", "town=0", "school=*", "sick=0")


@pytest.fixture(scope="module")
def thousand() -> Table:
    return example(1000).select(["age", "town", "school", "sick"])


def test_it_is_proven_within_its_budget_and_k_anonymous_over_all_columns(thousand):
    released = release(thousand, recipe(Safe()), epsilon=1.0, delta=1e-6)
    result = released.result["safe"]
    assert released.guarantee.assurance is Assurance.PROVEN
    assert 0.99 < released.guarantee.epsilon() <= 1.0
    levels, cells = (e.event for e in released.guarantee.ledger)
    assert isinstance(levels, Exponential)
    assert levels.epsilon == pytest.approx(0.3)
    assert cells == Approximate(result["epsilon_cells"], exact_delta(result["k"], result["beta"], result["epsilon_cells"]))
    assert cells.delta <= 1e-6
    (promise,) = released.guarantee.promises
    assert (promise.kind, promise.value, promise.quasi) == (Syntactic.K_ANONYMITY, result["k"], released.table.schema.names)
    assert k_anonymity(Classes(released.table, released.table.schema.names)) >= result["k"]
    assert released.table.schema.names == thousand.schema.names


def test_levels_chosen_in_public_cost_nothing(thousand):
    released = release(thousand, recipe(Safe(levels=TOWN)), epsilon=1.0, delta=1e-6)
    (entry,) = released.guarantee.ledger
    assert entry.event.epsilon == pytest.approx(1.0)
    assert released.result["safe"]["levels"] == {"age": 6, "town": 0, "school": 2, "sick": 0}
    assert set(released.table.strings("age")) == {ANY_TEXT}
    assert released.table.schema["town"] == thousand.schema["town"]
    # The smallest cell that holds about k/beta rows survives: north, south and west, sick or not, are 100 rows and more.
    assert released.table.rows > 0.5 * released.result["safe"]["beta"] * thousand.rows


def test_some_levels_may_be_fixed_and_the_others_chosen(thousand):
    released = release(thousand, recipe(Safe(levels=("age=*",))), epsilon=1.0, delta=1e-6)
    assert released.result["safe"]["candidates"] == 2 * 3 * 2
    assert released.result["safe"]["levels"]["age"] == 6


def test_the_released_domain_holds_every_cell_of_the_level_and_not_only_those_seen(thousand):
    levels = ("age=5", "town=*", "school=*", "sick=*")
    released = release(thousand, recipe(Safe(levels=levels)), epsilon=1.0, delta=1e-6)
    young = thousand.take(np.flatnonzero(thousand["age"] < 50))
    again = release(young, recipe(Safe(levels=levels)), epsilon=1.0, delta=1e-6)
    assert released.table.schema == again.table.schema
    assert len(released.table.schema["age"].levels) > len(set(again.table.strings("age")))


@pytest.mark.parametrize(("k", "beta"), [(30, 0.0), (0, 0.1), (30, 0.25)])
def test_k_and_beta_that_are_given_stay(thousand, k, beta):
    result = release(thousand, recipe(Safe(k=k, beta=beta, levels=TOWN)), epsilon=1.0, delta=1e-6).result["safe"]
    assert result["k"] == k or not k
    assert result["beta"] == beta or not beta
    assert result["delta"] <= 1e-6


@pytest.mark.parametrize(
    ("knobs", "why"),
    [({"k": 3, "beta": 0.25}, "would do"), ({"beta": 0.9}, "samples at most"), ({"k": 2}, "too small")],
)
def test_what_costs_more_than_the_budget_is_refused_before_a_row_moves(thousand, knobs, why):
    with pytest.raises(GuaranteeRefused, match=why):
        plan(recipe(Safe(levels=TOWN, **knobs)), thousand.schema, budget=Budget(1.0, 1e-6))


def test_other_relations_units_and_budgets_are_refused(thousand):
    schema, steps = thousand.schema, recipe(Safe())
    with pytest.raises(GuaranteeRefused, match="--relation add_remove"):
        plan(steps, schema, budget=Budget(1.0, 1e-6), unit=Unit(relation=Relation.REPLACE_ONE))
    with pytest.raises(GuaranteeRefused, match="one row each"):
        plan(steps, schema, budget=Budget(1.0, 1e-6), unit=Unit(rows=2))
    with pytest.raises(GuaranteeRefused, match="delta above zero"):
        plan(steps, schema, budget=Budget(1.0, 0.0))
    with pytest.raises(GuaranteeRefused, match="read off the rows"):
        plan(steps, observed(schema), budget=Budget(1.0, 1e-6))
    with pytest.raises(PlanError, match="needs a budget"):
        plan(steps, schema)


@pytest.mark.parametrize(
    "knobs", [{"k": 1}, {"beta": 1.0}, {"beta": -0.1}, {"levels": ("age",)}, {"levels": ("age=1", "age=2")}, {"selection": 0.0}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(InputError, match=next(iter(knobs))):
        Safe(**knobs)


def test_unknown_columns_and_levels_are_refused_by_name(thousand):
    with pytest.raises(PlanError, match=r"'nobody'.*age has the levels"):
        plan(recipe(Safe(levels=("nobody=1", "age=99"))), thousand.schema, budget=Budget(1.0, 1e-6))


def test_a_seed_does_not_fix_the_coins_and_a_seeded_entropy_voids_the_proof(thousand):
    released = [release(thousand, recipe(Safe(levels=TOWN)), epsilon=1.0, delta=1e-6, seed=1) for _ in range(2)]
    assert all(math.isfinite(m.guarantee.epsilon()) for m in released)
    tallies = [np.bincount(m.table["town"] * 2 + m.table["sick"]).tolist() for m in released]
    assert tallies[0] != tallies[1]
    result = release(thousand, recipe(Safe(levels=TOWN)), epsilon=1.0, delta=1e-6, entropy=Entropy.seeded(1), unproven=True)
    assert math.isinf(result.guarantee.epsilon())


def test_two_private_steps_share_the_budget_or_are_refused(thousand):
    """The second one reads the first one's release, which is free; nothing may come out beyond the budget."""
    released = release(thousand, recipe(Safe(levels=TOWN, share=3.0), Bins(), Margins()), epsilon=2.0, delta=1e-6)
    assert released.guarantee.epsilon() <= 2.0
    assert released.result["safe"]["epsilon_cells"] == pytest.approx(1.5)
    assert released.result["safe"]["delta"] <= 0.75e-6


def test_a_query_that_overdraws_is_refused_by_the_vault(thousand):
    with pytest.raises(BudgetExceeded):
        release(thousand, recipe(_Greedy(levels=TOWN)), epsilon=1.0, delta=1e-6)


class _Greedy(Safe):
    """Charges itself twice."""

    def fit(self, vault, rng):
        super().fit(vault, rng)
        return super().fit(vault, rng)


def test_nothing_survives_in_a_table_that_is_too_small_and_the_release_says_so(tmp_path):
    table = example(40).select(["age", "town", "school", "sick"])
    released = release(table, recipe(Safe(levels=TOWN)), epsilon=1.0, delta=1e-6)
    assert released.table.rows == 0
    assert "nothing was common enough" in released.guarantee.caveats[-1]
    released.save(tmp_path / "out")
    assert verify(tmp_path / "out").faults == ()


def test_the_recipe_works_on_the_demo_town():
    released = release(people(3000, 1), load("safe-k"), epsilon=1.0)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.table.rows > 300


def test_the_rows_kept_are_a_share_beta_of_the_rows():
    column = Column(name="a", kind=Kind.CATEGORY, domain=Levels(("x", "y")), required=True)
    table = Table(Schema((column,)), {"a": np.zeros(40_000, np.int32)})
    step = Safe(levels=("a=0",), beta=0.25)
    remaining = release(table, recipe(step), epsilon=1.0, delta=1e-6).table.rows
    assert abs(remaining - 10_000) < 6 * math.sqrt(40_000 * 0.25 * 0.75)


def test_identifiers_are_not_needed_and_text_is_refused(thousand):
    text = replace(thousand.schema, columns=(*thousand.schema.columns, Column(name="note", kind=Kind.KEY)))
    with pytest.raises(PlanError, match="note is key"):
        Safe().plan(text, None)


def test_levels_are_drawn_at_the_rate_that_is_paid(thousand, monkeypatch):
    """exp(epsilon1 u), with u counted in parts of WEIGHTS: no more than what the ledger says."""
    seen = []

    def listening(scores, rate, entropy):
        seen.append((scores, rate))
        return exponential(scores, rate, entropy)

    monkeypatch.setattr(choice, "exponential", listening)
    released = release(thousand, recipe(Safe(levels=TOWN[:2])), epsilon=1.0, delta=1e-6)
    ((scores, rate),) = seen
    paid = released.guarantee.ledger[0].event.epsilon
    assert 0.999 * paid < rate * WEIGHTS <= paid
    assert len(scores) == released.result["safe"]["candidates"]
