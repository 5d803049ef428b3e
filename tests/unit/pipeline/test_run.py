"""Running recipes: chains, promises, budgets, and what never leaves the house."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.anonymize.sample import Method, Sample
from hushtable.encode.bins import Bins, Edges
from hushtable.errors import BudgetExceeded, GuaranteeRefused, InputError, PlanError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy.event import DiscreteGaussian, Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.preserve import Effect, Form, Promise, Syntactic
from hushtable.privacy.query import Total
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Margins
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import from_mapping
from tests.tables import observed


def recipe(*steps: object, **more: str) -> Recipe:
    return Recipe(recipe="test", steps=steps, **more)


DP = (Bins(), Margins())


def test_a_private_recipe_is_proven_and_within_its_budget(small):
    released = release(small, recipe(*DP), epsilon=1.0, delta=1e-6)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert 0.5 < released.guarantee.epsilon() <= 1.0
    assert not released.guarantee.culprits


def test_pure_privacy_spends_exactly_its_epsilon(small):
    released = release(small, recipe(*DP), epsilon=1.0, delta=0.0)
    assert released.guarantee.epsilon() == pytest.approx(1.0, rel=1e-3)
    assert released.guarantee.epsilon() <= 1.0


def test_an_encoder_that_reads_the_rows_makes_epsilon_infinite_and_is_named(small):
    steps = recipe(Bins(edges=Edges.QUANTILE), Margins())
    with pytest.raises(GuaranteeRefused, match=r"infinite.*bins"):
        release(small, steps, epsilon=1.0)
    released = release(small, steps, epsilon=1.0, unproven=True)
    assert math.isinf(released.guarantee.epsilon())
    assert [e.step for e in released.guarantee.culprits] == ["bins"]
    assert released.guarantee.assurance is Assurance.NONE
    assert "bins" in released.guarantee.explain()
    assert released.guarantee.to_json()["epsilon"] == "infinity"


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_an_epsilon_that_is_none_is_refused(small, epsilon):
    with pytest.raises(InputError, match="epsilon"):
        release(small, recipe(*DP), epsilon=epsilon)


def test_a_private_step_without_a_budget_is_refused(small):
    with pytest.raises(PlanError, match="epsilon"):
        release(small, recipe(*DP))
    with pytest.raises(InputError, match="delta without"):
        release(small, recipe(*DP), delta=1e-6)


@dataclass(frozen=True, kw_only=True)
class Greedy(Core):
    """Plans far more than it was given."""

    @property
    def spends(self):
        return True

    def plan(self, schema, budget):
        return Plan(schema=schema, events=(DiscreteGaussian(0.1, 1.0, 1),), effect=Effect.GENERATE)

    def fit(self, vault, rng):
        raise AssertionError("no row may move")


def test_an_overdraft_is_refused_before_any_row_moves(small):
    with pytest.raises(BudgetExceeded, match="No row was read"):
        release(small, recipe(Greedy()), epsilon=1.0)


def test_an_observed_domain_is_refused_before_any_row_moves(small):
    with pytest.raises(GuaranteeRefused, match="read off the rows"):
        plan(recipe(*DP), observed(small.schema), budget=Budget(1.0, 1e-6))


def test_training_on_a_k_anonymous_table_keeps_a_derived_k(small):
    released = release(small, recipe(Microaggregate(k=4), Sequential()), seed=1)
    (promise,) = released.guarantee.promises
    assert (promise.kind, promise.form, promise.value) == (Syntactic.K_ANONYMITY, Form.DERIVED, 4)
    assert released.guarantee.assurance is Assurance.VERIFIED
    assert not released.guarantee.criteria


def test_noise_on_a_k_anonymous_table_is_not_differential_privacy(small):
    released = release(small, recipe(Microaggregate(k=4), Bins(), Margins()), epsilon=1.0, unproven=True)
    assert math.isinf(released.guarantee.epsilon())
    assert released.guarantee.promises[0].form is Form.DERIVED


def test_anonymizing_a_private_table_keeps_its_epsilon(small):
    released = release(small, recipe(*DP, Microaggregate(k=3)), epsilon=1.0)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.guarantee.promises[0].value == 3


def test_sampling_after_microaggregation_leaves_a_k_map(small):
    released = release(small, recipe(Microaggregate(k=5), Sample(beta=0.5)), seed=2)
    (promise,) = released.guarantee.promises
    assert (promise.kind, promise.form) == (Syntactic.K_MAP, Form.DERIVED)
    assert released.guarantee.criteria["k"] < 5
    assert any("seed" in c for c in released.guarantee.caveats)


def test_sampling_every_class_leaves_ceil_beta_k(small):
    released = release(small, recipe(Microaggregate(k=5), Sample(beta=0.5, method=Method.STRATIFIED)), seed=2)
    (promise,) = released.guarantee.promises
    assert (promise.kind, promise.form, promise.value) == (Syntactic.K_ANONYMITY, Form.SYNTACTIC, 3)
    assert released.guarantee.criteria["k"] >= 3


def test_a_sample_alone_promises_nothing_and_says_why(small):
    released = release(small, recipe(Sample(beta=0.5)))
    assert released.guarantee.assurance is Assurance.NONE
    assert "leave as they are" in released.guarantee.explain()


def test_a_secret_sample_first_buys_less_noise_and_a_seed_takes_it_back(small):
    steps = recipe(Sample(beta=0.25), *DP)
    scales = {
        name: release(small, steps, epsilon=1.0, unproven=True, **more).result["margins"]["noise_scale"]["sick"]
        for name, more in {"secret": {}, "seeded": {"seed": 1}, "replace": {"unit": Unit(relation=Relation.REPLACE_ONE)}}.items()
    }
    plain = release(small, recipe(*DP), epsilon=1.0).result["margins"]["noise_scale"]["sick"]
    assert scales["secret"] < 0.55 * plain
    assert scales["seeded"] == plain
    assert scales["replace"] > plain
    assert release(small, steps, epsilon=1.0).guarantee.epsilon() <= 1.0


@dataclass(frozen=True, kw_only=True)
class Liar(Core):
    """Says it only post-processes, and reads the raw rows behind the release."""

    def plan(self, schema, budget):
        return Plan(schema=schema, effect=Effect.NOTHING)

    def fit(self, vault, rng):
        assert vault.origin is not None
        return Anonymized(vault.origin.open(Raw("looks back"), "looks back"))


def test_reaching_back_to_the_raw_rows_costs_every_promise(small):
    released = release(small, recipe(Microaggregate(k=5), Liar()))
    assert not released.guarantee.promises
    assert released.guarantee.assurance is Assurance.NONE
    with pytest.raises(GuaranteeRefused, match="nothing is released"):
        release(small, recipe(*DP, Liar()), epsilon=1.0)
    private = release(small, recipe(*DP, Liar()), epsilon=1.0, unproven=True)
    assert math.isinf(private.guarantee.epsilon())


@dataclass(frozen=True, kw_only=True)
class Boaster(Core):
    """Promises a k that it does not keep."""

    def plan(self, schema, budget):
        promise = Promise(kind=Syntactic.K_ANONYMITY, value=50, quasi=schema.quasi)
        return Plan(schema=schema, events=(Raw("reads"),), promises=(promise,))

    def fit(self, vault, rng):
        return Anonymized(vault.open(Raw("reads"), "reads"))


def test_a_promise_that_the_table_does_not_keep_blocks_the_release(small):
    with pytest.raises(GuaranteeRefused, match="nothing is released"):
        release(small, recipe(Boaster()))


def test_a_seed_gives_the_same_rows_but_never_the_same_noise(small):
    for steps in (recipe(Microaggregate()), recipe(Sequential()), recipe(Sample(beta=0.5))):
        one, two = (release(small, steps, seed=7).table for _ in range(2))
        assert all(np.array_equal(one[n], two[n], equal_nan=one[n].dtype.kind == "f") for n in one.schema.names)
    noisy = [release(small, recipe(*DP), epsilon=1.0, seed=7).table for _ in range(2)]
    assert any(not np.array_equal(noisy[0][n], noisy[1][n]) for n in small.schema.names) or noisy[0].rows != noisy[1].rows


def test_seeded_noise_voids_the_proof(small):
    with pytest.raises(GuaranteeRefused, match="came from a seed"):
        release(small, recipe(*DP), epsilon=1.0, entropy=Entropy.seeded(1))
    released = release(small, recipe(*DP), epsilon=1.0, entropy=Entropy.seeded(1), unproven=True)
    assert released.guarantee.assurance is Assurance.NONE
    assert "seed" in released.guarantee.explain()


def test_the_order_of_the_rows_says_nothing_about_the_original_one(small):
    shuffled = small.take(np.random.default_rng(0).permutation(small.rows))
    one, two = (release(t, recipe(Sample(beta=1.0)), seed=3).table for t in (small, shuffled))
    assert all(np.array_equal(one[n], two[n], equal_nan=one[n].dtype.kind == "f") for n in one.schema.names)
    assert not np.array_equal(one["age"], small["age"])


def test_identifiers_keys_and_text_never_leave():
    schema = Schema(
        (
            Column(name="id", kind=Kind.KEY),
            Column(name="ssn", kind=Kind.CATEGORY, role=Role.IDENTIFIER),
            Column(name="note", kind=Kind.TEXT),
            Column(name="age", kind=Kind.INTEGER, role=Role.QUASI),
        )
    )
    table = from_mapping(schema, {"id": list("abcd"), "ssn": list("wxyz"), "note": ["a b c d"] * 4, "age": [1, 2, 3, 4]})
    released = release(table, recipe(Microaggregate(k=2)))
    assert released.table.schema.names == ("age",)
    assert released.dropped == ("id", "ssn", "note")
    assert any("note" in c for c in released.guarantee.caveats)


def test_quasi_identifiers_that_the_promise_does_not_cover_are_named(small):
    released = release(small, recipe(Microaggregate(k=3, columns=("age",))))
    assert any("town" in c and "does not cover" in c for c in released.guarantee.caveats)


def test_k_larger_than_n_is_refused(small):
    with pytest.raises(InputError, match="larger than the number of rows"):
        release(small, recipe(Microaggregate(k=500)))


def test_a_recipe_that_ends_in_a_coder_is_refused(small):
    with pytest.raises(PlanError, match="ends in a coder"):
        release(small, recipe(Bins()))


def test_tuning_on_private_rows_voids_the_proof(small):
    with pytest.raises(GuaranteeRefused, match="tuned"):
        release(small, recipe(*DP, tuned="private"), epsilon=1.0)
    released = release(small, recipe(*DP, tuned="private"), epsilon=1.0, unproven=True)
    assert released.guarantee.assurance is Assurance.NONE


def test_persons_with_several_rows_cost_more_noise(small):
    one = release(small, recipe(*DP), epsilon=1.0).result["margins"]["noise_scale"]["sick"]
    three = release(small, recipe(*DP), epsilon=1.0, unit=Unit(rows=3)).result["margins"]["noise_scale"]["sick"]
    assert three == pytest.approx(3 * one, rel=0.01)


def test_progress_is_told(small):
    reported = []
    release(small, recipe(*DP), epsilon=1.0, progress=lambda name, share: reported.append((name, share)))
    assert {name for name, _ in reported} == {"bins", "margins"}
    assert max(share for _, share in reported) == 1.0


def test_rows_can_be_asked_of_a_model_but_not_of_a_table(small):
    assert release(small, recipe(Sequential()), rows=17).table.rows == 17
    with pytest.raises(InputError, match="rows it has"):
        release(small, recipe(Microaggregate()), rows=17)
    with pytest.raises(InputError, match="at least two rows"):
        release(small, recipe(Sequential()), rows=0)


def test_an_observed_domain_does_not_publish_the_extremes_of_the_raw_rows(small):
    """Microaggregation hides the oldest person; the schema of the release must not tell their age."""
    ages = small["age"].copy()
    ages[0] = 99
    towns = small["town"].copy()
    towns[1] = small.schema["town"].levels.index("east")
    table = small.with_column(small.schema["age"], ages).with_column(small.schema["town"], towns)
    seen = observed(table.schema)
    table = Table(seen, dict(table.arrays))
    for steps in (recipe(Microaggregate(k=10)), recipe(Sequential(), Microaggregate(k=10))):
        released = release(table, steps, seed=0).table
        assert released.schema["age"].bounds.high == released.floats("age").max() < 99
        assert "east" not in released.schema["town"].levels
        assert released.strings("town").tolist().count(None) == released.missing("town").sum()
    declared = release(small, recipe(Microaggregate(k=10)), seed=0).table
    assert declared.schema == small.schema


def test_a_model_does_not_store_the_extremes_of_the_raw_rows(small):
    pay = small["pay"].copy()
    pay[0] = 9_998
    table = Table(observed(small.schema), {**small.arrays, "pay": pay})
    model = Sequential().fit(Vault.of(table), np.random.default_rng(0))
    assert model.schema["pay"].bounds.high < 9_998
    assert "9998" not in str(model.parts())


@dataclass(frozen=True, kw_only=True)
class Peeker(Core):
    """Asks a paid question of the raw rows behind a k-anonymous table."""

    def plan(self, schema, budget):
        return Plan(schema=schema, effect=Effect.NOTHING)

    def fit(self, vault, rng):
        assert vault.origin is not None
        vault.origin.measure(Total(), 10.0)
        return Anonymized(vault.open(Raw("reads"), "reads"))


def test_a_paid_look_behind_a_k_anonymous_table_mixes_two_promises_and_keeps_neither(small):
    released = release(small, recipe(Microaggregate(k=5), Peeker()))
    assert not released.guarantee.promises
    assert released.guarantee.assurance is Assurance.NONE


@pytest.mark.parametrize("method", [Method.RANDOM, Method.STRATIFIED])
def test_a_sample_that_no_theorem_covers_is_refused_before_any_row_moves(small, method):
    with pytest.raises(GuaranteeRefused, match=r"No row was read"):
        release(small, recipe(Sample(beta=0.5, method=method), *DP), epsilon=1.0)


def test_a_drafters_notes_are_not_published(small, tmp_path):
    import hushtable as ht
    from hushtable.table.io import draft, read, write

    write(small, tmp_path / "data.csv")
    table = read(tmp_path / "data.csv", draft(tmp_path / "data.csv"))
    assert table.schema.notes
    folder = ht.save(release(table, recipe(Microaggregate())), tmp_path / "out")
    assert "#" not in (folder / "schema.yaml").read_text()


def test_the_key_of_persons_never_leaves_whatever_its_role():
    rows = np.arange(80, dtype=np.int64)
    who = Column(name="who", kind=Kind.INTEGER, domain=Bounds(0, 19))
    group = Column(name="group", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a", "b")))
    table = Table(Schema((who, group)), {"who": rows // 4, "group": (rows // 4 % 2).astype(np.int32)})
    made = release(table, recipes.load("k-anonymity").set({"k": 2}), unit=Unit(rows=4, by="who"))
    assert made.table.schema.names == ("group",)
    assert "who" in made.dropped
    assert "who" in release(table, recipes.load("k-anonymity").set({"k": 2})).table.schema
