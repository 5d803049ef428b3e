"""Refinement: weights that lead from what a model draws to what the rows hold, and a model that can be stored."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.privacy.vault import Vault
from hushtable.synthesize.boosted import CELLS, Boosted
from hushtable.synthesize.odds import Odds
from hushtable.synthesize.refined import Axis, Refined, _power, effective, refined, systematic
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="group", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), role=Role.TARGET),
        Column(name="x", kind=Kind.REAL, domain=Bounds(-9.0, 9.0)),
        Column(name="y", kind=Kind.REAL, domain=Bounds(-9.0, 9.0)),
    )
)
FORGETFUL = ("x=margin", "y=margin")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def table() -> Table:
    r = rng()
    group = r.integers(0, 3, 4000).astype(np.int32)
    x = r.normal(group - 1.0, 1).clip(-9, 9)
    y = np.where(r.random(4000) < 0.1, np.nan, (x + r.normal(0, 0.5, 4000)).clip(-9, 9))
    return Table(SCHEMA, {"group": group, "x": x, "y": y})


@pytest.fixture(scope="module")
def independent(table):
    """A model that knows the columns' own distributions only."""
    return Sequential(methods=FORGETFUL, refine=0).fit(Vault.of(table), rng())


@pytest.fixture(scope="module")
def model(table, independent) -> Refined:
    return refined(independent, table, 3, rng())


def correlation(table: Table) -> float:
    known = ~np.isnan(table["y"])
    return float(np.corrcoef(table["x"][known], table["y"][known])[0, 1])


def test_dependence_is_learnt_that_the_model_does_not_know(table, independent, model):
    real, before, after = (correlation(t) for t in (table, *(m.sample(4000, rng(1)) for m in (independent, model))))
    assert abs(before) < 0.1
    assert after > 0.85 * real


def test_weights_the_wrong_way_round_are_noticed(table, model):
    inverted = replace(model, boosted=[replace(b, value=-b.value) for b in model.boosted])
    assert correlation(inverted.sample(4000, rng(1))) < 0


def test_counts_follow_the_rows_closer_than_chance(table, model):
    drawn = model.sample(None, rng(1))
    assert drawn.rows == table.rows
    shares = [np.bincount(t["group"], minlength=3) / t.rows for t in (table, drawn)]
    assert np.abs(shares[0] - shares[1]).max() < 0.004  # chance alone: 0.0075 a level
    assert drawn.missing("y").mean() == pytest.approx(table.missing("y").mean(), abs=0.004)


def test_a_condition_is_kept(model):
    drawn = model.sample(300, rng(2), {"group": "c"})
    assert (drawn["group"] == 2).all()
    assert drawn["x"].mean() > 0.6
    with pytest.raises(InputError, match="drawn first"):
        model.sample(5, rng(), {"y": "1"})


def test_the_likelihood_of_rows_not_seen_rises(table, independent, model):
    r = rng(9)
    group = r.integers(0, 3, 2000).astype(np.int32)
    x = r.normal(group - 1.0, 1).clip(-8.9, 8.9)
    fresh = Table(SCHEMA, {"group": group, "x": x, "y": (x + r.normal(0, 0.5, 2000)).clip(-8.9, 8.9)})
    assert model.log_likelihood(fresh).mean() > independent.log_likelihood(fresh).mean() + 0.3


def test_a_model_read_back_draws_the_same(model):
    values, arrays = model.parts()
    again = Refined.from_parts(json.loads(json.dumps(values)), arrays)
    one, two = (m.sample(500, rng(3)) for m in (model, again))
    assert all(np.array_equal(one[n], two[n], equal_nan=True) for n in ("group", "x", "y"))
    with pytest.raises(InputError, match="no registered step uses"):
        Refined.from_parts({**values, "class": "os:path"}, arrays)


def test_draws_that_no_row_resembles_are_left_out_and_the_pool_grows():
    column = Column(name="n", kind=Kind.INTEGER, domain=Bounds(0, 9))
    pair = Schema((column, replace(column, name="m")))
    r = rng()
    n = r.integers(0, 10, 3000)
    rows = Table(pair, {"n": n, "m": n})
    base = Sequential(methods=("m=margin",), refine=0).fit(Vault.of(rows), r)
    model = refined(base, rows, 3, r)
    assert model.scales.pool > 5
    assert model.result()["refinement"]["effective draws per row"] >= 1
    drawn = model.sample(3000, r)
    assert drawn.rows == 3000
    assert (drawn["n"] == drawn["m"]).mean() > 0.5  # chance is 0.1


def test_weights_that_few_draws_would_carry_are_tempered():
    assert _power(np.zeros(100)) == 1
    logs = np.log(np.append(np.ones(990), np.full(10, 1e6)))
    power = _power(logs)
    assert 0 < power < 1
    assert effective(np.exp(power * logs)) >= 1.5 / 20


def test_a_systematic_sample_takes_each_by_its_weight_and_none_twice():
    r = rng()
    weights = r.exponential(1, 5000)
    picked = systematic(weights, 500, r)
    assert len(set(picked.tolist())) == 500
    hits = sum(np.bincount(systematic(weights, 500, r), minlength=5000) for _ in range(200))
    assert np.corrcoef(hits, weights)[0, 1] > 0.9
    heavy = np.append(np.ones(9), 1e6)
    assert len(set(systematic(heavy, 5, r).tolist())) == 5


def test_the_effective_sample_size_is_kishs():
    assert effective(np.ones(7)) == 1
    assert effective(np.array([1.0, 0, 0, 0])) == 0.25


@pytest.mark.parametrize("ordered", [True, False])
def test_boosting_finds_a_density_ratio(ordered):
    r = rng()
    shares = r.dirichlet(np.full(40, 2.0), 2)
    codes = np.concatenate([r.choice(40, 20_000, p=p) for p in shares]).astype(np.uint8)[:, None]
    numerator = np.arange(40_000) < 20_000
    boosted = Boosted.fit(codes, np.array([ordered]), numerator, np.ones(40_000), r.random(40_000) < 0.2)
    score = boosted.score(np.arange(40, dtype=np.uint8)[:, None])
    assert np.abs(score - np.log(shares[0] / shares[1]))[shares.min(axis=0) > 0.01].mean() < 0.12


def test_boosting_learns_nothing_where_there_is_nothing():
    r = rng()
    codes = r.integers(0, 20, (6000, 4)).astype(np.uint8)
    boosted = Boosted.fit(codes, np.ones(4, bool), r.random(6000) < 0.5, np.ones(6000), r.random(6000) < 0.2)
    assert np.abs(boosted.score(codes)).mean() < 0.05


def test_a_column_has_at_most_64_cells_and_frequent_values_stand_alone():
    r = rng()
    column = Column(name="n", kind=Kind.REAL, domain=Bounds(0.0, 1e6))
    values = np.concatenate([np.zeros(5000), r.lognormal(5, 2, 5000).clip(0, 1e6), np.full(2000, 40.0), [np.nan]])
    axis = Axis.of(column, values)
    codes = axis.codes(values)
    assert codes.max() == CELLS - 1
    assert set(codes[values == 40]) - set(codes[(values != 40) & ~np.isnan(values)]) == set(codes[values == 40])
    many = Column(name="c", kind=Kind.CATEGORY, domain=Levels(tuple(f"l{i}" for i in range(500))))
    levels = r.integers(0, 500, 4000).astype(np.int32)
    assert len(set(Axis.of(many, levels).codes(levels))) <= CELLS


@pytest.mark.parametrize("rows", [2, 3, 50])
def test_small_tables_are_drawn(small, rows):
    release = ht.release(small.take(np.arange(rows)), "sequential", seed=1)
    assert release.table.rows == rows
    assert release.result["sequential"]["refinement"]["rounds"] == 3


def test_a_derived_k_is_kept(small):
    plain, refining = (ht.release(small, "mdav-sequential", settings={"refine": n}, seed=1) for n in ("0", "3"))
    assert refining.guarantee.promises == plain.guarantee.promises
    assert refining.guarantee.assurance is plain.guarantee.assurance


def test_classes_come_closer_to_the_rows(table, independent):
    """Broken twin: the chances of the pool in place of those of the rows, and the other way round."""
    model = refined(independent, table, 1, rng())

    def spread(odds: tuple[Odds, ...]) -> float:
        drawn = replace(model, odds=odds).sample(4000, rng(1))
        return float(np.std([drawn["x"][drawn["group"] == one].mean() for one in range(3)]))

    real = float(np.std([table["x"][table["group"] == one].mean() for one in range(3)]))
    ours, without, turned = spread(model.odds), spread(()), spread(model.odds[::-1])
    assert abs(ours - real) < 0.8 * abs(without - real)
    assert turned < without < real


def test_a_model_stored_before_targets_were_weighed_still_draws(table, model):
    values, arrays = model.parts()
    before = {name: array for name, array in arrays.items() if not name.startswith("odds/")}
    assert Refined.from_parts(values, before).odds == ()
    assert Refined.from_parts(values, before).sample(50, rng(1)).rows == 50


class Alike:
    """Draws rows all of whose columns say the same, and too much of it."""

    def __init__(self, columns: int) -> None:
        self.schema = Schema(tuple(Column(name=f"x{i}", kind=Kind.REAL, domain=Bounds(-9.0, 9.0)) for i in range(columns)))

    def sample(self, n, rng, given=None, scale=2.0):
        common = rng.normal(0, scale, n)
        return Table(self.schema, {c.name: (common + rng.normal(0, 0.1, n)).clip(-9, 9) for c in self.schema})


def test_hundreds_of_columns_are_not_raked_to_a_single_draw():
    alike = Alike(300)
    drawn = refined(alike, alike.sample(150, rng(), scale=0.5), 1, rng()).sample(150, rng())
    assert len(np.unique(drawn["x0"])) > 50
