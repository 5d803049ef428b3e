"""PrivSyn: what it chooses and keeps, that its ledger is its plan, and the tables at the edges."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import hushtable as ht
from hushtable.encode.bins import Bins
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal import privsyn, workload
from hushtable.synthesize.marginal.privsyn import PrivSyn
from hushtable.synthesize.marginal.workload import CLASSES, first_look, matched_marginals
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.persons import UNEQUAL, held
from tests.unit.synthesize.chains import category, chain


def table_of(sizes: dict[str, int], rows: int = 300, target: str = "", required: bool = True) -> Table:
    """Columns that are mostly equal to the first one, but for their sizes."""
    rng = np.random.default_rng(0)
    schema = Schema(
        tuple(category(n, size, required, role=Role.TARGET if n == target else Role.QUASI) for n, size in sizes.items())
    )
    first = rng.integers(0, 2**20, rows)
    arrays = {n: np.where(rng.random(rows) < 0.7, first, rng.integers(0, 2**20, rows)) % size for n, size in sizes.items()}
    return Table(schema, {n: array.astype(np.int32) for n, array in arrays.items()})


def released_by(table: Table, step: PrivSyn | None = None, **more):
    more = {"epsilon": 2.0, "delta": 1e-6, "seed": 3, "entropy": Entropy.seeded(5), "unproven": True} | more
    return release(table, Recipe(recipe="privsyn", steps=(step or PrivSyn(),)), **more)


def fitted(table: Table, step: PrivSyn, epsilon: float = 3.0):
    budget = Budget(epsilon, 1e-6)
    vault = Vault.of(table, budget=budget, entropy=Entropy.seeded(2)).named("privsyn", Allowance.of(budget, Unit()))
    return step.fit(vault, np.random.default_rng(0))


def test_it_measures_what_hangs_together_and_keeps_it():
    table = chain()
    result = released_by(table)
    assert {"a x b", "b x c"} <= set(result.result["privsyn"]["measured"])
    assert result.table.rows == pytest.approx(table.rows, abs=60)
    for pair in (("a", "b"), ("b", "c"), ("a", "c"), ("a", "x")):
        real, ours = (t.counts(pair) / t.rows for t in (table, result.table))
        assert np.abs(real - ours).sum() / 2 < 0.03


def test_marginals_that_the_tree_has_no_room_for_are_kept_too():
    table = table_of(dict.fromkeys("abcdef", 5), 5000)
    result = released_by(table, PrivSyn(cells=150), epsilon=10.0)
    assert result.result["privsyn"]["cells_of_the_model"] <= 150
    assert len(result.result["privsyn"]["measured"]) == 15
    for pair in (("a", "b"), ("b", "f"), ("d", "e")):
        real, ours = (t.counts(pair) / t.rows for t in (table, result.table))
        assert np.abs(real - ours).sum() / 2 < 0.03


PEOPLE = Unit(by="pid", rows=3)
REPLACED = Unit(relation=Relation.REPLACE_ONE)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize(
    ("count", "target", "unit"),
    [
        (1, "", Unit()),
        (1, "c0", REPLACED),
        (2, "", REPLACED),
        (2, "c1", Unit()),
        (5, "", Unit()),
        (5, "c0", REPLACED),
        (12, "c5", Unit()),
        (12, "", REPLACED),
    ],
)
def test_the_ledger_is_the_plan(count, target, unit, delta):
    table = table_of({f"c{i}": 3 for i in range(count)}, 60, target)
    compare(table, Recipe(recipe="privsyn", steps=(PrivSyn(),)), unit, delta)


@pytest.mark.parametrize(
    "knobs", [{"first": 0.01}, {"first": 0.99}, {"choices": 0.99}, {"candidates": 2}], ids=lambda k: next(iter(k))
)
def test_the_ledger_is_the_plan_for_extreme_knobs_and_every_column_is_measured(knobs):
    table = table_of({f"c{i}": 4 for i in range(7)}, 1000)
    result = compare(table, Recipe(recipe="privsyn", steps=(PrivSyn(**knobs),)), Unit(), 1e-6, 1000.0)
    for name in table.schema.names:
        assert np.abs(result.table.counts((name,)) / result.table.rows - table.counts((name,)) / table.rows).sum() < 0.1


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("unit", [Unit(), REPLACED, PEOPLE], ids=["added", "replaced", "persons"])
def test_the_ledger_is_the_plan_after_bins_and_for_persons(unit, delta):
    compare(held(UNEQUAL), load("privsyn"), unit, delta)


def compare(table: Table, recipe: Recipe, unit: Unit, delta: float, epsilon: float = 1.0):
    """Release, and see that the very queries that were planned were made, for no more than the budget."""
    course = plan(recipe, table.schema, budget=Budget(epsilon, delta), unit=unit, seeded=True)
    result = release(table, recipe, epsilon=epsilon, delta=delta, unit=unit, seed=1)
    planned, made = (
        sorted(repr(e.event) for e in entries if e.event.cost().rho) for entries in (course.ledger.paid, result.guarantee.ledger)
    )
    assert planned
    assert planned == made
    assert result.guarantee.epsilon() <= epsilon * (1 + 1e-9)
    kind = DiscreteGaussian if delta else DiscreteLaplace
    assert {type(e.event) for e in result.guarantee.ledger if e.event.cost().rho and e.step == "privsyn"} == {kind}
    return result


def test_more_columns_than_parts_are_all_measured():
    schema, whole = Schema(tuple(category(f"c{i}", 2) for i in range(600))), Allowance.of(Budget(1.0, 1e-6), Unit())
    for knobs in ({}, {"first": 0.05}, {"first": 0.95}):
        course = PrivSyn(**knobs)._course(schema, whole)
        assert course.counts[0] >= 600
        assert min(course.counts) >= 1
        assert course.parts * course.part.rho + sum(choice.rho for choice in course.choices) == pytest.approx(whole.rho)


def test_where_nothing_exceeds_its_noise_columns_are_measured_again_as_many_as_there_are_parts_for(monkeypatch):
    monkeypatch.setattr(privsyn, "dense", lambda *arguments: [])
    table = table_of({f"c{i}": 2 for i in range(9)}, 50)
    result = compare(table, Recipe(recipe="privsyn", steps=(PrivSyn(first=0.99),)), Unit(), 1e-6)
    assert result.result["privsyn"]["measured"] == []


def test_what_a_round_measures_and_rows_match_stays_in_memory(monkeypatch):
    monkeypatch.setattr(privsyn, "ROOM", 60)
    monkeypatch.setattr(workload, "ROOM", 60)
    model = fitted(table_of(dict.fromkeys("abcdef", 5), 5000), PrivSyn(), 20.0)
    assert 2 <= len(model.result()["measured"]) <= 4, "two in each of two rounds"
    assert sum(len(group) == 2 for group in model.expected) <= 4 + 2


def test_laplace_noise_is_cut_into_few_parts():
    """The average of k answers of epsilon / k each has sqrt(k) times the noise of one of epsilon."""
    schema = Schema(tuple(category(f"c{i}", 2) for i in range(10)))
    gaussian, pure = (PrivSyn()._course(schema, Allowance.of(Budget(1.0, delta), Unit())) for delta in (1e-6, 0.0))
    assert (gaussian.parts, pure.parts) == (160, 40)
    assert pure.counts[0] >= 10
    assert pure.parts * pure.part.epsilon + sum(choice.epsilon for choice in pure.choices) == pytest.approx(1.0)


def test_the_answers_of_a_round_are_as_many_as_there_are_candidates():
    """Every answer more makes the noise of all larger."""
    plain = Schema(tuple(category(n, 3) for n in "abcde"))
    aimed = Schema((*plain, category("y", 2, role=Role.TARGET)))
    assert PrivSyn()._distances(plain).count == 10
    assert PrivSyn()._distances(aimed).count == 15 + 10
    assert PrivSyn(target="a")._distances(plain).count == 10 + 6
    assert PrivSyn(candidates=7)._distances(aimed).count == 7


def test_a_pair_of_too_many_cells_takes_the_room_of_no_other(monkeypatch):
    monkeypatch.setattr(privsyn, "CELLS", 2000)
    table = table_of({"huge": 400, "vast": 300, "a": 4, "b": 4, "c": 4}, 2000)
    measured = fitted(table, PrivSyn(largest=1000, cells=1000), 20.0).result()["measured"]
    assert {"a x b", "b x c"} <= set(measured)
    assert not any("huge" in text and "vast" in text for text in measured)


@pytest.mark.parametrize(
    ("sizes", "target", "rows"),
    [
        ({"a": 3}, "", 2),
        ({"a": 3}, "a", 400),
        ({"a": 3, "b": 4}, "b", 2),
        ({"a": 1, "b": 1, "c": 3}, "", 400),
        ({"a": 1, "b": 1}, "b", 2),
        ({"wide": 5000, "y": 2}, "y", 400),
        ({"a": 3, "b": 2, "y": 40}, "y", 400),
        ({"a": 3, "y": 500}, "y", 2),
    ],
)
def test_tables_at_the_edges_end_in_a_release(sizes, target, rows):
    table = table_of(sizes, rows, target, required=False)
    result = released_by(table, unit=REPLACED)
    assert result.table.rows == rows
    assert result.table.schema.names == tuple(sizes)
    summary = result.result["privsyn"]
    assert json.loads(json.dumps(summary)) == summary, "plain values for the card"


def test_a_column_that_is_always_missing_or_constant_stays_so():
    table = table_of({"a": 3, "b": 4, "c": 2}, 3000, required=False)
    empty, same = np.full(3000, -1, np.int32), np.zeros(3000, np.int32)
    table = table.with_columns((table.schema["b"], empty), (table.schema["c"], same))
    result = released_by(table, epsilon=5.0).table
    assert (result["b"] == -1).mean() > 0.98
    assert (result["c"] == 0).mean() > 0.98
    assert not (result["a"] == -1).any(), "no missing values where there are none to speak of"


def test_conditions_are_met_and_followed():
    model = fitted(chain(), PrivSyn())
    drawn = model.sample(2000, np.random.default_rng(1), {"a": "a3"})
    assert (drawn["a"] == 3).all()
    assert (drawn["b"] == 3).mean() > 0.75
    with pytest.raises(InputError, match="given"):
        model.sample(5, np.random.default_rng(1), {"a": "nowhere"})


def test_the_same_coins_make_the_same_rows():
    one, two = (released_by(chain(500)).table for _ in range(2))
    assert all((one[name] == two[name]).all() for name in one.schema.names)


def test_one_record_replaced_by_another_costs_more_noise():
    one, two = (released_by(chain(600), unit=unit).result["privsyn"]["noise_of_a_cell"] for unit in (Unit(), REPLACED))
    assert two["least"] > 1.2 * one["least"]
    assert released_by(chain(613), unit=REPLACED).table.rows == 613


def test_a_small_budget_is_noted():
    assert "budget is small" in released_by(table_of({"a": 40, "b": 2}), epsilon=0.1).result["privsyn"]["note"]
    assert "note" not in released_by(chain(), epsilon=50.0).result["privsyn"]


def test_what_is_measured_first_has_the_target_where_that_is_small():
    sizes = {"a": 3, "b": 50, "y": 2}
    assert first_look(sizes, "y", 1000) == [("a", "y"), ("b", "y"), ("y",)]
    assert first_look(sizes, "y", 99) == [("a", "y"), ("b",), ("y",)]
    assert first_look(sizes, "y", 5) == [("a",), ("b",), ("y",)]
    assert first_look(sizes, "", 1000) == first_look(sizes | {"y": CLASSES + 1}, "y", 1000) == [("a",), ("b",), ("y",)]
    assert first_look({"y": 2}, "y", 1000) == [("y",)]


def test_the_share_of_a_rare_class_holds_beside_a_column_of_many_levels():
    rng = np.random.default_rng(0)
    rare = rng.random(4000) < 0.14
    few, many = (rng.choice(48, 4000, p=rng.dirichlet(np.full(48, shape))) for shape in (0.3, 0.6))
    levels = np.where(rare, few, many)
    topic = Column(name="topic", kind=Kind.CATEGORY, domain=Levels(tuple(f"t{place}" for place in range(48))))
    label = Column(name="label", kind=Kind.CATEGORY, domain=Levels(("ham", "spam")), role=Role.TARGET)
    table = Table(Schema((label, topic)), {"label": rare.astype(label.dtype), "topic": levels.astype(topic.dtype)})
    shares = [ht.release(table, "privsyn", epsilon=0.25, delta=1e-6, seed=seed).table["label"].mean() for seed in range(6)]
    assert abs(np.mean(shares) - rare.mean()) < 0.02


def test_rows_match_what_was_measured_and_all_small_pairs(monkeypatch):
    sizes = {"a": 3, "b": 50, "c": 4}
    assert matched_marginals(sizes, [("c",), ("a", "b", "c")], 1000) == [("a", "b", "c")]
    assert matched_marginals(sizes, [("b",), ("c",)], 100) == [("b",), ("a", "c")]
    assert matched_marginals(sizes, [], 1000) == [("a", "c"), ("a", "b"), ("b", "c")], "the small ones first"
    assert matched_marginals({"a": 3}, [("a",)], 100) == [("a",)]
    monkeypatch.setattr(workload, "MATCHED", 2)
    assert len(matched_marginals(sizes, [("b", "c")], 1000)) == 2


def test_bad_knobs_and_columns_are_refused():
    for knobs in ({"first": 0.0}, {"first": 1.0}, {"choices": math.nan}, {"cells": 0}, {"candidates": 0}, {"favour": 0.0}):
        with pytest.raises(InputError, match=rf"PrivSyn\.{next(iter(knobs))}"):
            PrivSyn(**knobs)
    real = Schema((Column(name="x", kind=Kind.REAL, domain=Bounds(0.0, 1.0)),))
    with pytest.raises(PlanError, match="bins"):
        PrivSyn().plan(real, None)
    assert Bins().plan(real, None).schema
    with pytest.raises(PlanError, match="'z'"):
        PrivSyn(target="z").plan(chain(5).schema, None)
