"""The certified vine: what it keeps, what it pays, what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.checks import example, private
from hushtable.encode.bins import Bins
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula import vine_certified
from hushtable.synthesize.copula.vine import Steps, VineModel
from hushtable.synthesize.copula.vine_certified import Vine
from hushtable.synthesize.copula.vine_classes import ClassTrees
from hushtable.synthesize.copula.vine_pairs import sides
from hushtable.synthesize.copula.vine_tables import Dependences, groups
from hushtable.synthesize.copula.vine_tree import TreeModel
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.chains import category, chain, equal, fitted, tau

REPLACED = Unit(relation=Relation.REPLACE_ONE)
WAYS = [
    {},
    {"structure": "tau"},
    {"structure": "tau", "pairs": "tau"},
    {"structure": "tau", "pairs": "tau", "family": "gaussian"},
    {"structure": "tau", "pairs": "tau", "family": "gaussian", "trees": 2},
]


@pytest.mark.parametrize("knobs", WAYS)
def test_it_keeps_what_hangs_together_and_finds_the_tree(knobs):
    table = chain()
    model = fitted(table, **knobs)
    drawn = model.sample(4000, np.random.default_rng(0))
    for one, other in (("a", "b"), ("b", "c"), ("a", "c")):
        assert tau(drawn, one, other) == pytest.approx(tau(table, one, other), abs=0.06)
        assert "pairs" in knobs or equal(drawn, one, other) == pytest.approx(equal(table, one, other), abs=0.05)
    assert equal(drawn, "a", "x") == pytest.approx(0.25, abs=0.05)
    if isinstance(model, TreeModel):
        assert {"a - b", "b - a"} & set(model.summary["tree"])
        assert {"b - c", "c - b"} & set(model.summary["tree"])


@pytest.mark.parametrize("knobs", WAYS)
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_every_look_is_paid_for(knobs, delta, small):
    step = Vine(**knobs)
    recipe, unit = Recipe(recipe="v", steps=(Bins(bins=8), step)), Unit(relation=step.relation)
    released = release(small, recipe, epsilon=1.0, delta=delta, unit=unit)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert not any(isinstance(entry.event, Raw) for entry in released.guarantee.ledger)
    assert 0 < released.guarantee.epsilon() <= 1.0


def test_the_recipe_holds_for_one_record_more_and_for_one_replaced(small):
    for unit in (Unit(), REPLACED):
        released = release(small, load("vine-certified"), epsilon=1.0, unit=unit)
        assert released.guarantee.assurance is Assurance.PROVEN
        assert released.guarantee.epsilon() <= 1.0
        assert released.table.rows == small.rows or unit != REPLACED


def test_tau_needs_a_public_number_of_rows():
    with pytest.raises(GuaranteeRefused, match="replace_one"):
        release(chain(50), Recipe(recipe="v", steps=(Vine(structure="tau"),)), epsilon=1.0)
    several = Unit(relation=Relation.REPLACE_ONE, rows=2)
    with pytest.raises(GuaranteeRefused, match="several rows"):
        release(chain(50), Recipe(recipe="v", steps=(Vine(structure="tau"),)), epsilon=1.0, unit=several)


def test_it_names_columns_that_cannot_be_counted(small):
    with pytest.raises(PlanError, match=r"height.*bins"):
        Vine().plan(small.schema, None)


@pytest.mark.parametrize(
    ("knobs", "word"),
    [
        ({"pairs": "tau"}, "structure"),
        ({"trees": 2}, "trees"),
        ({"trees": 0}, "trees"),
        ({"structure": "tau", "pairs": "tau", "trees": 2}, "trees"),
        ({"margins": 0.0}, "margins"),
        ({"margins": 0.5, "tree": 0.5}, "tree"),
        ({"focus": 0.0}, "focus"),
        ({"focus": math.inf}, "focus"),
        ({"share": 0.0}, "share"),
        ({"pairs": "guess"}, "pairs"),
        ({"family": "joe"}, "family"),
    ],
)
def test_knobs_out_of_range_are_named(knobs, word):
    with pytest.raises(InputError, match=f"Vine.{word}"):
        Vine(**knobs)


@pytest.mark.parametrize("given", [{"a": "a3"}, {"c": "c0", "x": "x1"}, {"a": "a0", "c": "c3"}, {n: f"{n}2" for n in "abcx"}])
def test_a_condition_is_met_and_felt(given):
    model = fitted(chain())
    drawn = model.sample(500, np.random.default_rng(0), given)
    assert drawn.rows == 500
    for name, level in given.items():
        assert set(drawn.strings(name)) == {level}
    if given == {"a": "a3"}:
        assert (drawn.strings("b") == "b3").mean() > 0.7


def test_a_condition_that_nobody_meets_is_met_all_the_same():
    table = chain()
    nobody = table.take(table["a"] != 3)
    model = fitted(nobody, epsilon=50.0)
    drawn = model.sample(50, np.random.default_rng(0), {"a": "a3", "x": "x0"})
    assert set(drawn.strings("a")) == {"a3"}
    assert model.sample(2000, np.random.default_rng(0))["a"].max() < 3


def test_a_condition_on_several_trees_is_met_by_choosing():
    model = fitted(chain(), **WAYS[-1])
    assert isinstance(model, VineModel)
    drawn = model.sample(300, np.random.default_rng(0), {"a": "a3"})
    assert set(drawn.strings("a")) == {"a3"}
    assert (drawn.strings("b") == "b3").mean() > 0.5
    alone = VineModel(Schema((category("a", 2),)), {"a": Steps.of(np.arange(2, dtype=np.int32), np.array([1.0, 0.0]))}, (), "", 5)
    assert set(alone.sample(9, np.random.default_rng(0), {"a": "a0"}).strings("a")) == {"a0"}
    with pytest.raises(InputError, match="draws no row with these values of a"):
        alone.sample(10, np.random.default_rng(0), {"a": "a1"})


@pytest.mark.parametrize("knobs", WAYS)
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_hardly_any_rows(knobs, rows):
    model = fitted(chain(4).take(np.arange(rows)), **knobs)
    assert model.sample(None, np.random.default_rng(0)).rows >= 2
    assert "note" in model.result()


def test_one_column_and_a_constant_one(small):
    one = fitted(small.select(["sick"]))
    assert one.sample(10, np.random.default_rng(0)).rows == 10
    constant = Table(Schema((category("k", 1), *chain().schema.columns)), {"k": np.zeros(4000, np.int32), **chain().arrays})
    assert set(fitted(constant).sample(100, np.random.default_rng(0)).strings("k")) == {"k0"}


def test_sixty_columns_with_missing_values():
    rng = np.random.default_rng(0)
    columns = tuple(category(f"c{i}", 2 + i % 7, required=False) for i in range(60))
    table = Table(Schema(columns), {c.name: rng.integers(-1, len(c.levels), 1000).astype(np.int32) for c in columns})
    model = fitted(table)
    drawn = model.sample(None, np.random.default_rng(0))
    assert 800 < drawn.rows < 1200
    assert len(model.summary["tree"]) == 59
    assert drawn.missing("c3").any()


def test_the_note_says_when_noise_drowns_the_rows():
    assert "note" not in fitted(chain()).result()
    note = fitted(chain(300), epsilon=0.1).result()["note"]
    assert "the noise of a cell is about" in note
    assert "hardly be distinguished from noise" in note


def test_margins_are_kept():
    table = example(5000)
    coded = Bins(bins=16).fit(Vault.of(table), np.random.default_rng(0)).apply(table)
    drawn = fitted(coded, epsilon=4.0).sample(20_000, np.random.default_rng(0))
    for name in coded.schema.names:
        one, other = (t.counts([name]) / t.rows for t in (coded, drawn))
        assert np.abs(one - other).sum() / 2 < 0.05


def test_a_target_draws_pairs_to_itself():
    """Three columns that hang together a little more closely with one another than with the target."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 8000)
    columns = {n: np.where(rng.random(8000) < 0.85, hidden, 1 - hidden) for n in "abc"}
    columns["t"] = np.where(rng.random(8000) < 0.75, hidden, 1 - hidden)
    schema = Schema((*(category(n, 2) for n in "abc"), category("t", 2, role=Role.TARGET)))
    table = Table(schema, {n: a.astype(np.int32) for n, a in columns.items()})
    plain, drawn = (
        sum("t" in edge for edge in fitted(table, epsilon=4.0, focus=f, classes="-").summary["tree"]) for f in (1.0, 4.0)
    )
    assert (plain, drawn) == (1, 3)


def crossed(rows: int = 8000) -> Table:
    """Two columns that agree in one class and disagree in the other: together they say the class, alone nothing."""
    rng = np.random.default_rng(0)
    t, a, x = (rng.integers(0, 2, rows) for _ in range(3))
    b = np.where(rng.random(rows) < 0.9, a ^ t, 1 - (a ^ t))
    schema = Schema((*(category(n, 2) for n in "abx"), category("t", 2, role=Role.TARGET)))
    return Table(schema, {n: v.astype(np.int32) for n, v in (("a", a), ("b", b), ("x", x), ("t", t))})


def test_with_a_budget_for_it_a_second_tree_joins_pairs_in_each_class():
    def seen(**knobs) -> float:
        drawn = fitted(crossed(), epsilon=4.0, **knobs).sample(8000, np.random.default_rng(1))
        return float(((drawn["a"] ^ drawn["b"]) == drawn["t"]).mean())

    assert seen() > 0.85
    assert seen(classes="-") < 0.6
    with pytest.raises(PlanError, match="no column 'z'"):
        fitted(crossed(100), classes="z")


@pytest.mark.parametrize("given", [{"t": "t1"}, {"a": "a0", "b": "b1"}, {"x": "x1", "t": "t0"}])
def test_a_condition_moves_the_classes_of_two_trees(given):
    table = crossed()
    model = fitted(table, epsilon=8.0)
    assert isinstance(model, ClassTrees)
    drawn = model.sample(3000, np.random.default_rng(1), given)
    for name, text in given.items():
        assert (drawn[name] == table.schema[name].levels.index(text)).all()
    if "a" in given:
        assert drawn["t"].mean() > 0.8
    one, two = (m.sample(50, np.random.default_rng(2)) for m in (model, ClassTrees.from_parts(*model.parts())))
    assert one["b"].tolist() == two["b"].tolist()


class Understated(Dependences):
    """Says a third of its sensitivity."""

    def sensitivity(self, schema, relation):
        one, two, _ = super().sensitivity(schema, relation)
        return one / 3, two / 3, 0


def test_the_battery_finds_a_sensitivity_that_is_too_small(monkeypatch):
    assert private._sensitivity(Vine()) == ""
    monkeypatch.setattr(vine_certified, "Dependences", Understated)
    assert "Understated: one row changes the answer by" in private._sensitivity(Vine())


def test_no_rows_may_be_asked_for():
    for knobs in (WAYS[0], WAYS[-1]):
        assert fitted(chain(200), **knobs).sample(0, np.random.default_rng(0)).rows == 0


@pytest.mark.slow
def test_adult_keeps_its_margins_and_who_is_married_to_whom(adult):
    released = release(adult, load("vine-certified"), epsilon=1.0, delta=1e-6, seed=1, entropy=Entropy.seeded(1), unproven=True)
    off = []
    for name in (c.name for c in adult.schema if c.coded):
        one, other = (t.counts([name]) / t.rows for t in (adult, released.table))
        off.append(np.abs(one - other).sum() / 2)
    assert np.mean(off) < 0.02
    one, other = (t.counts(["relationship", "marital_status"]) / t.rows for t in (adult, released.table))
    assert np.abs(one - other).sum() / 2 < 0.06
    apart = np.abs(one - np.outer(one.sum(1), one.sum(0))).sum() / 2
    assert apart > 0.3  # what independent columns would be off by


def test_groups_of_a_column():
    nominal, ordered = category("n", 6), category("o", 6, kind=Kind.ORDINAL)
    shares = np.array([0.02, 0.5, 0.03, 0.3, 0.05, 0.1])
    assert groups(nominal, shares, 3).tolist() == [2, 0, 2, 1, 2, 2]
    assert groups(nominal, shares, 6).tolist() == [0, 1, 2, 3, 4, 5]
    assert groups(ordered, shares, 3).tolist() == [0, 1, 2, 2, 3, 3]
    wide = Column(name="w", kind=Kind.INTEGER, domain=Bounds(0, 99), required=False)
    even = np.append(np.full(100, 0.0099), 0.01)
    result = groups(wide, even, 10)
    assert np.all(np.diff(result) >= 0)
    assert result.max() + 1 in range(9, 13)
    assert np.bincount(result, even).max() < 0.15
    gone = np.append(np.full(100, 0.007), 0.3)
    assert groups(wide, gone, 10)[-1] > groups(wide, gone, 10)[-2]  # missing values stay alone where they are many


@pytest.mark.parametrize(
    ("one", "two", "cells", "expected"),
    [(3, 4, 20, (3, 4)), (50, 50, 100, (10, 10)), (2, 90, 100, (2, 50)), (90, 2, 100, (50, 2))],
)
def test_sides_of_a_table(one, two, cells, expected):
    assert sides(one, two, cells) == expected
