"""The autoregressive network: exact chances, exact conditions, the same bits for the same seed, and no row in what is saved."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.audits.planted import overfit
from hushtable.errors import InputError, PlanError
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.autoregressive import Autoregressive
from hushtable.synthesize.neural.cellwise import Cellwise
from hushtable.synthesize.refined import Refined
from hushtable.table.schema import Schema

pytest.importorskip("torch", reason="networks need torch")
pytestmark = pytest.mark.neural

TINY = Schema.parse(
    """
columns:
  ill:   {kind: category, role: target, domain: ["no", "yes"]}
  age:   {kind: integer, domain: [0, 3]}
  place: {kind: category, domain: [a, b, c]}
"""
)
SMALL = {"hidden": 12, "embedding": 4, "epochs": 6, "refine": 0}


def rng(seed=0):
    return np.random.default_rng(seed)


def tiny(rows=600, seed=0):
    draw = rng(seed)
    age = draw.integers(0, 4, rows)
    place = np.array(["a", "b", "c"])[np.clip(age - 1 + draw.integers(-1, 2, rows), 0, 2)]
    ill = np.where(draw.random(rows) < 0.1 + 0.25 * age, "yes", "no")
    gaps = draw.random(rows) < 0.1
    frame = {"ill": ill, "age": np.where(gaps, "", age.astype(str)), "place": np.where(draw.random(rows) < 0.05, "", place)}
    return ht.read(pd.DataFrame(frame), TINY)


def fit(table, seed=0, **knobs):
    return Autoregressive(**{**SMALL, **knobs}).fit(Vault.of(table), rng(seed))


@pytest.fixture(scope="module")
def model():
    return fit(tiny())


def everything():
    """Every row that the domain holds, missing values included."""
    rows = list(product(["no", "yes", ""], ["0", "1", "2", "3", ""], ["a", "b", "c", ""]))
    return ht.read(pd.DataFrame(rows, columns=["ill", "age", "place"]), TINY)


def same(one, two):
    return all(np.array_equal(one[name], two[name], equal_nan=one[name].dtype.kind == "f") for name in one.schema.names)


def key(table):
    return [tuple(row) for row in zip(*(table.strings(name) for name in TINY.names), strict=True)]


def test_the_chances_of_all_rows_sum_to_one(model):
    assert np.exp(model.log_likelihood(everything())).sum() == pytest.approx(1, abs=1e-4)


def test_the_chances_of_all_rows_sum_to_one_where_cells_have_parts():
    table = tiny()
    model = fit(table, bins=2, parts=2)
    assert sum(cells.fields for cells in model.nested) > 3
    assert np.exp(model.log_likelihood(everything())).sum() == pytest.approx(1, abs=1e-4)


def test_it_draws_what_it_says(model):
    drawn = model.sample(20_000, rng(1))
    chances = dict(zip(key(everything()), np.exp(model.log_likelihood(everything())), strict=True))
    rows, counts = np.unique([str(row) for row in key(drawn)], return_counts=True)
    found = dict(zip(rows, counts / 20_000, strict=True))
    assert sum(abs(chance - found.get(str(row), 0.0)) for row, chance in chances.items()) / 2 < 0.02


@pytest.mark.parametrize("given", [{"ill": "yes"}, {"place": "b"}, {"age": "2", "place": "c"}, {"ill": "no", "place": "a"}])
def test_a_condition_is_exact(model, given):
    rows = 8000
    drawn = model.sample(rows, rng(2), given)
    assert all(set(drawn.strings(name)) == {value} for name, value in given.items())
    all_rows = everything()
    holds = np.all([all_rows.strings(name) == value for name, value in given.items()], axis=0)
    chances = np.where(holds, np.exp(model.log_likelihood(all_rows)), 0.0)
    chances /= chances.sum()
    found, counts = np.unique([str(row) for row in key(drawn)], return_counts=True)
    share = dict(zip(found, counts / rows, strict=True))
    distance = sum(abs(c - share.get(str(row), 0.0)) for row, c in zip(key(all_rows), chances, strict=True)) / 2
    assert distance < 0.025
    # The condition says something: draws without it are elsewhere.
    plain, counts = np.unique([str(row) for row in key(model.sample(rows, rng(3)))], return_counts=True)
    other = dict(zip(plain, counts / rows, strict=True))
    assert sum(abs(c - other.get(str(row), 0.0)) for row, c in zip(key(all_rows), chances, strict=True)) / 2 > 0.2


def test_a_condition_too_rare_is_refused_with_the_order(model):
    table = tiny(2000)
    rare = table.with_column(table.schema["age"], np.where(np.arange(2000) == 0, 3, np.minimum(table["age"], 2)))
    with pytest.raises(InputError, match="ill, age, place, in this order"):
        fit(rare, least=1).sample(1000, rng(), {"age": "3"})
    drawn = fit(rare, least=1, order=("age",)).sample(100, rng(), {"age": "3"})
    assert set(drawn["age"].tolist()) == {3}
    with pytest.raises(InputError, match="no value of age"):
        model.sample(5, rng(), {"age": "7"})


def test_it_learns_what_depends_on_what():
    table, fresh = tiny(3000), tiny(3000, 1)
    model = fit(table, epochs=12)
    trained, guessed = (m.log_likelihood(fresh).mean() for m in (model, fit(table, epochs=1, rate=1e-9)))
    assert trained > guessed + 0.2
    assert model.training["held"][-1] < model.training["held"][0]


def test_the_same_seed_gives_the_same_bits():
    table = tiny(300)
    one, two, other = fit(table), fit(table), fit(table, 1)
    assert all(np.array_equal(one.weights[name], two.weights[name]) for name in one.weights)
    assert same(one.sample(50, rng(5)), two.sample(50, rng(5)))
    assert not same(one.sample(50, rng(5)), other.sample(50, rng(5)))


def test_a_training_that_was_stopped_goes_on_to_the_same_bits(tmp_path):
    table = tiny(300)
    whole = fit(table)
    vault = replace(Vault.of(table), work=tmp_path / "work")

    def stop(share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Autoregressive(**SMALL).fit(replace(vault, report=stop), rng())
    resumed = Autoregressive(**SMALL).fit(vault, rng())
    assert all(np.array_equal(whole.weights[name], resumed.weights[name]) for name in whole.weights)
    assert whole.training == resumed.training


def test_a_rebuilt_model_draws_the_same_without_the_network(monkeypatch, model):
    values, arrays = model.parts()
    assert all(array.dtype in (np.float32, np.float64, np.int64) for array in arrays.values())
    monkeypatch.setattr("hushtable.synthesize.neural.autoregressive.network", None)
    other = Cellwise.from_parts(values, arrays)
    assert same(model.sample(80, rng(1)), other.sample(80, rng(1)))
    assert np.array_equal(model.log_likelihood(tiny(20)), other.log_likelihood(tiny(20)))
    assert other.result() == model.result()


def test_refinement_wraps_it_and_says_how_many_draws_stand_behind_a_row():
    model = fit(tiny(), refine=1)
    assert isinstance(model, Refined)
    assert {"training", "refinement", "order"} <= set(model.result())
    assert same(model.sample(30, rng()), Refined.from_parts(*model.parts()).sample(30, rng()))


def test_what_is_required_is_never_missing_and_what_nobody_held_is_never_drawn():
    schema = Schema.parse("columns: {a: {kind: category, domain: [x, y, z], required: true}, b: {kind: integer, domain: [0, 9]}}")
    frame = {"a": ["x", "y"] * 100, "b": [str(i % 3) for i in range(200)]}
    drawn = fit(ht.read(pd.DataFrame(frame), schema)).sample(3000, rng())
    assert set(drawn.strings("a")) == {"x", "y"}
    assert set(drawn.strings("b")) == {"0", "1", "2"}


def wide(rows=1500):
    draw = rng()
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, rows), "D")
    level = draw.integers(0, 1000, rows)
    frame = {
        "code": [f"c{i:04d}" for i in level],
        "first": [f"g{i // 100}" for i in level],
        "day": day.strftime("%Y-%m-%d"),
        "same": ["1"] * rows,
        "nothing": [""] * rows,
        "pay": [f"{v:.3f}" for v in draw.lognormal(3, 1, rows)],
    }
    kinds = "code: {kind: category}, first: {kind: category}, day: {kind: date}, same: {kind: integer, domain: [0, 5]}"
    schema = Schema.parse(f"columns: {{{kinds}, nothing: {{kind: real, domain: [0, 1]}}, pay: {{kind: real, decimals: 3}}}}")
    return ht.read(pd.DataFrame(frame), schema)


def test_a_thousand_levels_dates_constants_and_what_is_always_missing():
    table = wide(2000)
    model = fit(table, epochs=10, rate=0.01)
    drawn = model.sample(1500, rng())
    assert set(drawn["same"].tolist()) == {1}
    assert drawn.missing("nothing").all()
    assert max(array.size for array in model.weights.values()) < 40_000
    codes, groups = drawn["code"], drawn["first"]
    follows = {int(c): int(g) for c, g in zip(table["code"], table["first"], strict=True)}
    # By chance one in ten would be right.
    assert np.mean([follows[int(c)] == int(g) for c, g in zip(codes, groups, strict=True)]) > 0.3
    assert np.isfinite(model.log_likelihood(table)).all()


@pytest.mark.parametrize(
    "part",
    [lambda t: t.take(np.arange(1)), lambda t: t.select(["pay"]), lambda t: t.select(["nothing"]), lambda t: t.take(np.arange(9))],
)
def test_odd_tables(part):
    table = part(wide(60))
    for refine in (0, 1):
        drawn = fit(table, refine=refine).sample(20, rng())
        assert drawn.rows == 20
        assert drawn.schema.names == table.schema.names


def test_no_rows_at_all_and_columns_that_are_not_there_are_refused():
    with pytest.raises(InputError, match="no rows"):
        fit(tiny().take(np.arange(0)))
    with pytest.raises(PlanError, match="no column wage"):
        Autoregressive(order=("wage",)).plan(TINY, None)
    with pytest.raises(InputError, match="dropout"):
        Autoregressive(dropout=1.0)


def test_snapshots_climb_to_their_ratios_and_remember_more_and_more():
    people = wide(300).select(["first", "day", "pay"])
    train, fresh = people.take(np.arange(60)), people.take(np.arange(100, 300))
    found = Autoregressive(hidden=16, embedding=4, rate=0.03).overfitted(train, fresh, (1.0, 1.05, 1.2), rng())
    losses = [loss for loss, _ in found]
    assert losses == sorted(losses)
    assert losses[1] >= 1.05 * losses[0]
    assert losses[-1] >= 1.2 * losses[0]
    for loss, model in found:
        assert model.loss(fresh) == pytest.approx(loss)
    nearer = [model.loss(train) for _, model in found]
    assert nearer[-1] < nearer[1] < nearer[0]


def test_an_overfit_generator_is_one_training_where_the_recipe_can_be_trained_on(monkeypatch):
    monkeypatch.setattr("hushtable.synthesize.neural.autoregressive.CLIMB", 6)
    train, fresh = tiny(100), tiny(100, 1)
    result = overfit(train, fresh, rng(), ratios=(1.0, 9.0), recipe="argn")
    assert result[0].ratio == 1.0
    assert 1 <= result[-1].ratio < 9
    assert same(result[-1].sample(20), result[-1].sample(20))
