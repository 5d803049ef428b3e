"""What a seed must not tell, and what a printed epsilon must not depend on."""

from __future__ import annotations

import json

import numpy as np

from hushtable.api import best_of
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.ledger import Ledger
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

LETTERS = tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(("a", "b")), required=True) for n in "xy")


def test_the_best_of_several_runs_does_not_tell_which_one_it_was(monkeypatch):
    rng = np.random.default_rng(0)
    table = Table(Schema(LETTERS), {n: rng.integers(0, 2, 60).astype(np.int32) for n in "xy"})
    seeds, real = [], best_of.release
    monkeypatch.setattr(best_of, "release", lambda *a, **k: (seeds.append(a[2].seed), real(*a, **k))[1])
    monkeypatch.setattr(best_of, "number_of_runs", lambda *a: 4)
    best_of.best_of(table, [recipes.load("independent")], epsilon=3.0, delta=0.0, runs=8.0, rows=50, seed=1)
    assert seeds == [1] * 4


def test_no_person_has_a_place_of_their_own_in_a_private_run_even_with_a_seed():
    who = Column(name="who", kind=Kind.KEY, role=Role.IDENTIFIER)
    words = np.array([f"p{i:03d}" for i in range(200)], object)
    rows = np.arange(200, dtype=np.int32)
    table = Table(Schema((who, *LETTERS)), {"who": rows, "x": rows % 2, "y": rows // 100}, {"who": words})
    unit = Unit(relation=Relation.REPLACE_ONE, by="who")
    orders = [Vault.of(table, unit=unit, budget=Budget(1.0, 1e-6), seed=0)._table["who"].tolist() for _ in range(2)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == rows.tolist()
    plain = Vault.of(table, unit=unit, seed=0)._table["who"].tolist()
    assert plain == rows.tolist()


def test_the_printed_epsilon_is_that_of_the_mechanism_not_of_one_course():
    schema = Schema(tuple(Column(name=f"x{i}", kind=Kind.INTEGER, domain=Bounds(0, 999), required=True) for i in range(6)))
    rng = np.random.default_rng(0)
    even = Table(schema, {n: rng.integers(0, 1000, 3000).astype(np.int64) for n in schema.names})
    spiked = Table(schema, {n: np.where(rng.random(3000) < 0.999, 500, 7).astype(np.int64) for n in schema.names})
    recipe = Recipe.parse("recipe: r\ntitle: t\nsteps:\n- bins: {edges: tree, share: 0.1}\n- mst: {cells: 1000}\n")
    first, second = (release(table, recipe, epsilon=2.0, delta=1e-6).guarantee for table in (even, spiked))
    assert first.epsilon() == second.epsilon() == 2.0
    assert first.epsilon() >= Ledger(second.ledger).epsilon(1e-6, tight=True)


def test_a_model_keeps_no_notes_of_whoever_drafted_the_schema():
    schema = Schema(LETTERS[:1], notes=("85.7% of the rows are unique",))
    table = Table(schema, {"x": np.zeros(50, np.int32)})
    budget, unit = Budget(1.0, 1e-6), Unit()
    vault = Vault.of(table, unit=unit, budget=budget).named("m", Allowance.of(budget, unit).split([1.0])[0])
    assert "85.7" not in json.dumps(Margins().fit(vault, np.random.default_rng(0)).parts()[0])
