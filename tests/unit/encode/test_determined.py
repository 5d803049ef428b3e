"""Determined columns are left out and computed again; a list that nobody declared is paid for, or read and said to be."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.audits.mechanism.bounds import epsilon_bound, upper
from hushtable.audits.mechanism.sensitivity import compare, questions
from hushtable.encode.determined import Determined, Lists
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.query import Histogram
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.determined import departs
from hushtable.table.schema import Schema

CODES = {"a": "x", "b": "x", "c": "y", "d": "y"}
SCHEMA = Schema.parse(
    "columns: {group: {kind: category, domain: [x, y]}, code: {kind: category, domain: [a, b, c, d]}, "
    "rank: {kind: integer, domain: [1, 2]}, other: {kind: integer, domain: [0, 3], required: true}}"
)
LISTED = SCHEMA.with_determined("group", "code", CODES).with_determined("rank", "group", {"x": "2", "y": "1"})
BARE = SCHEMA.with_determined("group", "code")


def rows(schema: Schema, codes: list[str], groups: list[str] | None = None) -> ht.Table:
    groups = [CODES.get(code, "") for code in codes] if groups is None else groups
    ranks = [{"x": "2", "y": "1"}.get(group, "") for group in groups]
    return ht.read(pd.DataFrame({"group": groups, "code": codes, "rank": ranks, "other": ["1"] * len(codes)}), schema)


def fitted(step: Determined, table: ht.Table, *, epsilon: float = 1.0, seed: int = 0, relation=Relation.ADD_REMOVE) -> Lists:
    budget, unit = Budget(epsilon, 1e-6), Unit(relation=relation)
    vault = Vault.of(table, unit=unit, entropy=Entropy.seeded(seed), budget=budget).named("it", Allowance.of(budget, unit))
    return step.fit(vault, np.random.default_rng(0))


def test_a_chain_is_left_out_and_computed_again_with_missing_values():
    table = rows(LISTED, ["a", "c", "", "d"])
    code = fitted(Determined(), table)
    assert code.schema.names == ("code", "other")
    again = code.undo(code.apply(table), np.random.default_rng(0))
    assert again.schema == table.schema
    assert all(np.array_equal(again[name], table[name]) for name in table.schema.names)


def test_a_column_that_stays_is_computed_again_all_the_same():
    table = rows(LISTED, ["a", "c"])
    code = fitted(Determined(keep=("group",)), table)
    assert code.schema.names == ("group", "code", "other")
    wrong = code.apply(table).with_column(code.schema["group"], np.array([1, 0], np.int32))
    assert not any(mask.any() for mask in departs(code.undo(wrong, np.random.default_rng(0))).values())


def test_where_the_determining_column_is_not_released_the_determined_one_is_not_either():
    code = fitted(Determined(), table := rows(LISTED, ["a", "c"]))
    assert code.undo(table.select(["other"]), np.random.default_rng(0)).schema.names == ("other",)


def test_a_plan_refuses_what_nothing_determines_and_what_cannot_be_learnt():
    with pytest.raises(PlanError, match="no column determines other"):
        Determined(keep=("other",)).plan(LISTED, None)
    with pytest.raises(PlanError, match="group has no code list"):
        Determined().plan(BARE, None)
    real = Schema.parse("columns: {a: {kind: category, domain: [x]}, b: {kind: real, domain: [0, 1], determined_by: a}}")
    with pytest.raises(PlanError, match="cannot be learnt from counts"):
        Determined(discover=("b",)).plan(real, None)
    with pytest.raises(InputError, match="to be discovered"):
        Determined(discover=("b",), read=("b",))


def test_a_list_is_learnt_from_noisy_counts_and_where_they_drown_that_is_said():
    table = rows(BARE, ["a", "b", "c", "d"] * 300)
    code = fitted(Determined(discover=("group",)), table)
    assert {given: value for given, value in code.known["group"].index.items() if given} == CODES
    assert "note" not in code.result() or "1 of 5 values" in code.result()["note"], "only of missing codes there are no rows"
    few = fitted(Determined(discover=("group",)), rows(BARE, ["a", "b", "c", "d"]), epsilon=0.05)
    assert "values of code the noise is larger than the rows" in few.result()["note"]


def test_a_list_that_is_read_leaves_without_its_values_and_is_not_saved():
    code = fitted(Determined(read=("group",)), table := rows(BARE, ["a", "b", "c", "d"] * 3))
    assert code.undo(code.apply(table), np.random.default_rng(0)).schema["group"].determined_by.codes is None
    with pytest.raises(InputError, match="as the rows have them"):
        code.parts()


def test_what_is_stored_is_rebuilt():
    code = fitted(Determined(keep=("group",), discover=("group",)), table := rows(BARE, ["a", "b", "c", "d"] * 300))
    again = Lists.from_parts(*code.parts())
    drawn = code.apply(table)
    one, two = (each.undo(drawn, np.random.default_rng(0)) for each in (code, again))
    assert one.schema == two.schema
    assert np.array_equal(one["group"], two["group"])


@pytest.mark.parametrize("relation", list(Relation))
def test_the_counts_change_by_what_is_stated_between_any_neighbours(relation):
    recipe = Recipe(recipe="it", steps=(Determined(discover=("group",), share=1.0), Margins()))
    asked = questions(recipe, rows(BARE, ["a", "b", "c", "d", ""] * 4), epsilon=1.0, delta=1e-6, relation=relation)
    pairs = [one for one in asked if one.question == Histogram(("code", "group"))]
    assert len(pairs) == 1
    found = compare(pairs[0], relation)
    assert found.holds
    assert math.isclose(found.l2, found.stated["l2"]), "some neighbours reach it"


def _guessed(step: Determined, table: ht.Table, runs: int, epsilon: float) -> int:
    """How often the code of one person is said to have their group."""
    return sum(fitted(step, table, epsilon=epsilon, seed=seed).known["group"].index.get("d") == "x" for seed in range(runs))


def test_one_person_shows_in_a_learnt_list_no_more_than_epsilon_allows_and_in_a_read_one_at_once():
    epsilon, runs = 1.0, 150
    others = ["a", "b", "c"] * 10
    # The only one with this code, in a group of their own choice; without them the code is in no row.
    within, without = rows(BARE, [*others, "d"], [*("x" if c != "c" else "y" for c in others), "x"]), rows(BARE, others)
    bounds = {}
    for name, step in (("learnt", Determined(discover=("group",))), ("read", Determined(read=("group",)))):
        hits, false = (_guessed(step, table, runs if name == "learnt" else 60, epsilon) for table in (within, without))
        count = runs if name == "learnt" else 60
        bounds[name] = float(epsilon_bound(float(upper(false, count)), float(upper(count - hits, count)), 1e-6))
    assert bounds["learnt"] < epsilon
    assert bounds["read"] > epsilon


def test_codes_are_drawn_within_their_group_by_their_counts():
    table = rows(LISTED, ["a"] * 900 + ["b"] * 300 + ["c"] * 400 + [""] * 200)
    code = fitted(Determined(within=("group",)), table, epsilon=5.0)
    assert code.schema.names == ("group", "other")
    assert code.schema["group"].determined_by is None
    again = code.undo(code.apply(table), np.random.default_rng(0))
    assert again.schema == table.schema
    assert not any(mask.any() for mask in departs(again).values())
    assert np.array_equal(again["group"], table["group"])
    x = again["code"][again["group"] == 0]
    assert abs((x == 0).mean() - 0.75) < 0.08
    assert set(again["code"][again["group"] == -1].tolist()) == {-1}
    stored = Lists.from_parts(*code.parts()).undo(code.apply(table), np.random.default_rng(0))
    assert np.array_equal(stored["code"], again["code"])


def test_a_group_without_codes_gets_some_code_and_becomes_its_group():
    schema = SCHEMA.with_determined("group", "code", dict.fromkeys(CODES, "x"))
    code = fitted(Determined(within=("group",)), rows(schema, ["a"] * 50, ["x"] * 50))
    drawn = code.apply(rows(schema, ["a"] * 20, ["y"] * 20))
    assert not any(mask.any() for mask in departs(code.undo(drawn, np.random.default_rng(0))).values())


def test_what_cannot_be_drawn_within_a_group_is_refused():
    two = LISTED.with_determined("rank", "code", {"a": "1", "b": "2", "c": "1", "d": "2"})
    with pytest.raises(PlanError, match="code cannot be drawn within a group"):
        Determined(within=("group", "rank")).plan(two, None)
    with pytest.raises(PlanError, match="group cannot be drawn within a group"):
        Determined(within=("rank",)).plan(LISTED, None)
    with pytest.raises(InputError, match="to be kept with its codes"):
        Determined(within=("group",), keep=("group",))
