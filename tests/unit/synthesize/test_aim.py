"""AIM: what it chooses, what it respects, and what it says when the budget or the room is too small."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest

import hushtable as ht
from hushtable.encode.bins import Bins
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Exponential
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Relation, Unit
from hushtable.synthesize.marginal import junction
from hushtable.synthesize.marginal.aim import Aim
from hushtable.synthesize.marginal.workload import WEIGHTS, impossible, some, target_of, workload
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def categories(sizes: dict[str, int], target: str = "") -> Schema:
    return Schema(
        tuple(
            Column(
                name=name,
                kind=Kind.CATEGORY,
                domain=Levels(tuple(f"{name}{i}" for i in range(size))),
                required=True,
                role=Role.TARGET if name == target else Role.PLAIN,
            )
            for name, size in sizes.items()
        )
    )


def chained(rows: int = 4000, seed: int = 0) -> Table:
    """``b`` and ``c`` follow ``a``; ``d`` is on its own."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, rows)
    b = np.where(rng.random(rows) < 0.9, a, rng.integers(0, 4, rows))
    c = np.where(rng.random(rows) < 0.8, a % 2, rng.integers(0, 2, rows))
    arrays = {"a": a, "b": b, "c": c, "d": rng.integers(0, 3, rows)}
    return Table(categories({"a": 4, "b": 4, "c": 2, "d": 3}), {n: v.astype(np.int32) for n, v in arrays.items()})


def released_by(table: Table, step: Aim, **more):
    more = {"epsilon": 2.0, "delta": 1e-6, "seed": 3, "entropy": Entropy.seeded(5), "unproven": True} | more
    return release(table, Recipe(recipe="aim", steps=(step,)), **more)


def test_it_measures_what_hangs_together_and_keeps_it():
    table = chained()
    result = released_by(table, Aim())
    assert {"a x b", "a x c"} <= {" x ".join(sorted(m.split(" x "))) for m in result.result["aim"]["measured"]}
    assert result.table.rows == pytest.approx(table.rows, abs=60)
    for pair in (("a", "b"), ("a", "c"), ("a", "d")):
        real, ours = (t.counts(pair) / t.rows for t in (table, result.table))
        assert np.abs(real - ours).sum() / 2 < 0.03


def test_the_ledger_shows_choices_and_noisy_counts_only_and_stays_within_the_budget():
    released = release(chained(600), Recipe(recipe="aim", steps=(Aim(),)), epsilon=1.0, delta=1e-6)
    assert released.guarantee.epsilon() == 1.0  # the budget: which queries were asked depends on noisy answers
    assert {type(e.event) for e in released.guarantee.ledger} == {Exponential, DiscreteGaussian}
    pure = release(chained(600), Recipe(recipe="aim", steps=(Aim(),)), epsilon=1.0, delta=0.0)
    assert pure.guarantee.epsilon() <= 1.0 + 1e-9
    assert {type(e.event) for e in pure.guarantee.ledger} == {Exponential, DiscreteLaplace}


def test_all_of_the_budget_is_spent():
    result = released_by(chained(600), Aim(), entropy=Entropy.seeded(1))
    rho = sum(e.event.cost().rho for e in result.guarantee.ledger)
    from hushtable.privacy.accountant import zcdp_rho

    assert rho == pytest.approx(zcdp_rho(2.0, 1e-6), rel=1e-3)


def test_one_record_replaced_by_another_costs_more_noise():
    table, replaced = chained(600), Unit(relation=Relation.REPLACE_ONE)
    one, two = (released_by(table, Aim(), unit=unit).result["aim"]["noise_of_a_cell"]["first"] for unit in (Unit(), replaced))
    assert two == pytest.approx(math.sqrt(2) * one, rel=0.02)


def test_what_cannot_be_is_never_shown():
    table = chained()
    impossible_pair = "a=a0, b=b3"
    held = table.take(np.flatnonzero(~((table["a"] == 0) & (table["b"] == 3))))
    result = released_by(held, Aim(zeros=(impossible_pair,)), epsilon=0.3)
    assert not ((result.table["a"] == 0) & (result.table["b"] == 3)).any()
    assert ((result.table["a"] == 0) & (result.table["b"] == 2)).any()
    assert "that no record is: a=a0, b=b3" in result.guarantee.public
    free = released_by(held, Aim(), epsilon=0.3)
    assert ((free.table["a"] == 0) & (free.table["b"] == 3)).any()


@pytest.mark.parametrize("zero", ["a=a0", "a=a0, b", "a=a0, e=e0", "a=a0, b=nowhere", ""])
def test_a_structural_zero_that_names_nothing_is_refused(zero):
    with pytest.raises(PlanError, match="structural zero"):
        Aim(zeros=(zero,)).plan(chained(10).schema, None)


def test_a_model_without_room_says_what_it_left_out():
    rng = np.random.default_rng(0)
    schema = categories({f"c{i}": 6 for i in range(6)})
    same = rng.integers(0, 6, 3000)
    table = Table(
        schema, {n: np.where(rng.random(3000) < 0.7, same, rng.integers(0, 6, 3000)).astype(np.int32) for n in schema.names}
    )
    result = released_by(table, Aim(cells=250, rounds=8), epsilon=20.0)
    assert result.result["aim"]["cells_of_the_model"] <= 250
    assert result.result["aim"]["no_room_in_the_model"]
    tiny = released_by(table, Aim(cells=30), epsilon=20.0)
    assert len(tiny.result["aim"]["too_large_to_measure"]) == 15
    assert tiny.result["aim"]["measured"] == []


def test_a_small_budget_is_noted_with_the_error_to_expect():
    schema = categories({"a": 40, "b": 2})
    rng = np.random.default_rng(0)
    table = Table(schema, {"a": rng.integers(0, 40, 300).astype(np.int32), "b": rng.integers(0, 2, 300).astype(np.int32)})
    assert "for a" in released_by(table, Aim(), epsilon=0.1).result["aim"]["note"]
    assert "note" not in released_by(table, Aim(), epsilon=50.0).result["aim"]


def test_many_candidates_are_thinned_out():
    result = released_by(chained(500), Aim(candidates=1, rounds=4))
    assert result.result["aim"]["measured"]


def test_the_workload_is_every_set_in_the_order_of_the_columns():
    """With a target, sets of one column more are those of all that hold it."""
    schema = ht.people(40).select(["birth_date", "sex", "education", "smoker", "income"]).schema
    for target, way in (("", 2), ("smoker", 2), ("birth_date", 1), ("income", 3)):
        sets = [c for size in range(2, way + 2) for c in combinations(schema.names, size) if size <= way or target in c]
        assert list(workload(schema, way, target, 3.0)) == sets


def test_the_target_weighs_more_and_brings_larger_margins():
    schema = categories({"a": 2, "b": 2, "c": 2, "y": 2}, "y")
    assert target_of(schema, "", "aim") == "y"
    assert target_of(schema, "b", "aim") == "b"
    result = workload(schema, 2, "y", 3.0)
    assert result["a", "b"] == WEIGHTS
    assert result["a", "y"] == result["a", "b", "y"] == 3 * WEIGHTS
    assert ("a", "b", "c") not in result
    assert set(workload(schema, 3, "", 1.0)) == {c for k in (2, 3) for c in combinations(schema.names, k)}
    with pytest.raises(PlanError, match="'z'"):
        Aim(target="z").plan(schema, None)


def test_conditions_are_met_and_followed():
    table = chained()
    model = Aim().fit(_vault(table), np.random.default_rng(0))
    drawn = model.sample(2000, np.random.default_rng(1), {"a": "a3"})
    assert (drawn["a"] == 3).all()
    assert (drawn["b"] == 3).mean() > 0.85
    with pytest.raises(InputError, match="given"):
        model.sample(5, np.random.default_rng(1), {"a": "nowhere"})


def _vault(table):
    from hushtable.privacy.allowance import Allowance
    from hushtable.privacy.unit import Budget
    from hushtable.privacy.vault import Vault

    budget = Budget(3.0, 1e-6)
    opened = Vault.of(table, budget=budget, entropy=Entropy.seeded(2))
    return opened.named("aim", Allowance.of(budget, Unit()))


def test_one_column_and_columns_that_must_be_cut_first():
    one = chained(500).select(("a",))
    assert released_by(one, Aim()).table.schema.names == ("a",)
    real = Schema((Column(name="x", kind=Kind.REAL, domain=Bounds(0.0, 1.0)),))
    with pytest.raises(PlanError, match="bins"):
        Aim().plan(real, None)


def test_the_recipe_is_there_and_bad_knobs_are_refused():
    assert load("aim").guarantee == "(epsilon, delta)-differential privacy (proven)"
    with pytest.raises(InputError, match=r"Aim\.way.*|Aim\.cells.*"):
        Aim(way=0, cells=0)


def test_the_room_a_margin_takes_is_that_of_the_tree_really_used():
    rng = np.random.default_rng(4)
    for _ in range(20):
        names = [f"c{i}" for i in range(5)]
        sizes = {n: int(rng.integers(2, 7)) for n in names}
        held = [(n,) for n in names] + [tuple(sorted(rng.choice(names, 2, replace=False))) for _ in range(int(rng.integers(0, 5)))]
        margins = [*combinations(names, 3), *combinations(names, 2)]
        for columns, room in zip(margins, junction.cells_with(sizes, held, margins), strict=True):
            assert room == junction.triangulated(sizes, [*held, columns]).cells == junction.cells(sizes, [*held, columns])
            assert room >= min(eliminated(sizes, [*held, columns], order) for order in permutations(names))
    assert len(junction.cells_with(sizes, held, [])) == 0


def test_candidates_are_thinned_out_by_number_and_by_cells():
    sizes = {f"c{i}": 10 for i in range(8)}
    pairs = list(combinations(sizes, 2))
    assert some(sizes, pairs, 28, np.random.default_rng(0), 2800) == pairs
    assert len(some(sizes, pairs, 5, np.random.default_rng(0), 2800)) == 5
    fewer = some(sizes, pairs, 28, np.random.default_rng(0), 1234)
    assert len(fewer) == 12
    assert fewer == [pair for pair in pairs if pair in fewer]
    assert some(sizes, pairs, 0, np.random.default_rng(0), 2800) == []


def test_structural_zeros_that_cannot_be_held_are_refused_before_a_row_is_read():
    wide = categories({f"c{i}": 40 for i in range(6)})
    with pytest.raises(PlanError, match="more than 20,000,000 cells"):
        Aim(zeros=(", ".join(f"c{i}=c{i}0" for i in range(6)),)).plan(wide, None)
    ring = tuple(f"c{i}=c{i}0, c{j}=c{j}0" for i, j in combinations(range(6), 2))
    with pytest.raises(PlanError, match="together need tables of more than"):
        Aim(zeros=ring).plan(wide, None)
    two = categories({"a": 2, "b": 2})
    with pytest.raises(PlanError, match="no record is possible"):
        Aim(zeros=tuple(f"a=a{i}, b=b{j}" for i in range(2) for j in range(2))).plan(two, None)


def test_zeros_count_as_room_of_the_model():
    schema = categories({f"c{i}": 6 for i in range(6)})
    rng = np.random.default_rng(0)
    table = Table(schema, {n: rng.integers(1, 6, 2000).astype(np.int32) for n in schema.names})
    result = released_by(table, Aim(cells=1500, zeros=("c0=c00, c1=c10, c2=c20, c3=c30",)), epsilon=20.0)
    assert result.result["aim"]["cells_of_the_model"] <= 1500


def eliminated(sizes, cliques, order):
    """The cells of the maximal cliques that this order of elimination leaves."""
    near = {n: {m for c in cliques if n in c for m in c} - {n} for n in sizes}
    collected = []
    for n in order:
        clique = near[n] | {n}
        if not any(clique <= other for other in collected):
            collected.append(clique)
        for m in near[n]:
            near[m] = (near[m] | near[n]) - {n, m}
    return sum(math.prod(sizes[n] for n in clique) for clique in collected)


def test_structural_zeros_are_put_together_by_their_columns():
    schema = categories({"a": 2, "b": 3})
    result = impossible(schema, ("a=a0, b=b1", "b=b2, a=a0"), "aim")
    assert list(result) == [("a", "b")]
    assert result["a", "b"].tolist() == [[False, True, True], [False, False, False]]


BOTH = ("a=a0, b=b3", "a=a1, b=b2")


@pytest.mark.parametrize("text", ["a=a0, b=b3; a=a1, b=b2", '["a=a0, b=b3", "a=a1, b=b2"]'])
def test_structural_zeros_can_be_given_as_text(text):
    assert load("aim").set({"zeros": text}).steps[-1].zeros == BOTH
    assert load("aim").set({"zeros": "a=a0, b=b3"}).steps[-1].zeros == BOTH[:1]


def test_a_value_of_a_structural_zero_may_hold_commas_and_signs():
    levels = {"a": ("x, y", "z"), "b": ("<=5", ">5")}
    schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(v), required=True) for n, v in levels.items()))
    result = impossible(schema, ("a=x, y, b=<=5",), "aim")
    assert result["a", "b"].tolist() == [[True, False], [False, False]]


def test_a_structural_zero_on_a_column_in_bins_names_a_bin():
    age = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 99), required=True)
    binned = Bins(bins=4).plan(Schema((age, *categories({"a": 2}).columns)), None).schema
    with pytest.raises(PlanError, match="age was cut into bins: name one of its bins, or leave it out"):
        impossible(binned, ("age=7, a=a0",), "aim")
    assert impossible(binned, (f"age={binned['age'].levels[1]}, a=a0",), "aim")["age", "a"][1].tolist() == [True, False]


def test_public_rows_are_released_exactly_and_planned():
    made_ = released_by(chained(1234), Aim(), epsilon=0.5, unit=Unit(relation=Relation.REPLACE_ONE))
    assert made_.table.rows == 1234
