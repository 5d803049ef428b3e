"""Noise masking: the size it says, the grid and the bounds the column has, and no promise whatever."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.anonymize.masking.noise import How, Noise, Shape
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.run import release
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Form, Promise, Syntactic
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.random_tables import tables
from tests.unit.privacy.cases import Says, recipe


def masked(step: Noise, table: Table, seed: int = 0) -> Table:
    return step.fit(Vault.of(table), np.random.default_rng(seed)).table


def normals(rows: int = 20_000) -> Table:
    """Three reals far from their bounds, two of them correlated."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, rows))
    columns = [Column(name=n, kind=Kind.REAL, role=Role.QUASI, domain=Bounds(-1e4, 1e4)) for n in "abc"]
    return Table(Schema(tuple(columns)), {"a": 100 * x, "b": 3 * (0.8 * x + 0.6 * y) + 50, "c": 10 * y - 40})


@pytest.mark.parametrize("shape", Shape)
def test_added_noise_has_the_spread_that_was_asked_for(shape):
    table = normals()
    for name, array in masked(Noise(sigma=0.3, shape=shape), table).arrays.items():
        noise = array - table[name]
        assert abs(noise.mean()) < 0.01 * table[name].std()
        assert noise.std() == pytest.approx(0.3 * table[name].std(), rel=0.03)


def test_an_absolute_sigma_counts_in_units_and_days():
    days = Column(name="d", kind=Kind.DATE, role=Role.QUASI, domain=Bounds(0, 86_400 * 20_000))
    table = normals().with_column(days, np.full(20_000, 86_400 * 10_000))
    out = masked(Noise(sigma=2.0, relative=False), table)
    assert (out["a"] - table["a"]).std() == pytest.approx(2, rel=0.03)
    moved = (out["d"] - table["d"]) / 86_400
    assert moved.std() == pytest.approx(np.sqrt(4 + 1 / 12), rel=0.03)
    assert (moved == moved.round()).all()


@pytest.mark.parametrize("shape", Shape)
def test_factors_have_mean_one_and_never_hide_a_zero(shape):
    table = normals()
    zeros = np.where(np.arange(table.rows) % 3, table["b"], 0.0)
    table = table.with_column(table.schema["b"], zeros)
    out = masked(Noise(how=How.MULTIPLY, sigma=0.2, shape=shape), table)["b"]
    assert ((out == 0) == (zeros == 0)).all()
    factor = out[zeros != 0] / zeros[zeros != 0]
    assert factor.mean() == pytest.approx(1, abs=0.01)
    assert factor.std() == pytest.approx(0.2, rel=0.05)
    assert (factor >= 0).all()


def test_correlated_noise_keeps_correlations_and_plain_noise_does_not():
    table = normals()

    def actual(step: Noise) -> np.ndarray:
        return np.corrcoef([masked(step, table)[n] for n in "abc"])

    before = np.corrcoef([table[n] for n in "abc"])
    np.testing.assert_allclose(actual(Noise(sigma=1.0, correlated=True)), before, atol=0.02)
    assert abs(actual(Noise(sigma=1.0)) - before).max() > 0.3


def test_correlated_noise_copes_with_missing_and_constant_columns():
    table = normals(50)
    table = table.with_columns(
        (table.schema["a"], np.full(50, np.nan)), (table.schema["b"], np.where(np.arange(50) % 2, np.nan, 7.0))
    )
    out = masked(Noise(sigma=0.5, correlated=True), table)
    assert np.isnan(out["a"]).all()
    np.testing.assert_array_equal(out["b"], table["b"])
    assert (out["c"] != table["c"]).all()


NUMERIC = (Kind.INTEGER, Kind.REAL, Kind.DATE)


@settings(max_examples=25)
@given(tables(NUMERIC), st.sampled_from(Shape), st.sampled_from([0.1, 1.0, 50.0]))
def test_missing_stays_missing_and_values_stay_in_the_domain_and_on_the_grid(table, shape, sigma):
    out = masked(Noise(sigma=sigma, shape=shape), table)  # a table refuses values outside its domain
    assert out.schema == table.schema
    for column in table.schema:
        np.testing.assert_array_equal(out.missing(column.name), table.missing(column.name))
        back = column.from_floats(column.floats(out[column.name]))
        np.testing.assert_array_equal(back, out[column.name])


def test_a_date_without_a_day_is_not_carried_back():
    month = Column(name="m", kind=Kind.DATE, role=Role.QUASI, domain=Bounds(0, 86_400 * 20_000), format="%Y-%m")
    start = int(month.number("1990-05"))
    table = Table(Schema((month,)), {"m": np.full(4000, start)})
    out = masked(Noise(sigma=40.0, relative=False), table)["m"]
    earlier, later = (out < start).mean(), (out > start).mean()
    assert earlier == pytest.approx(later, abs=0.05)  # without care the first of the month makes it 0.5 against 0.2
    assert set(out) <= {int(month.number(month.write(v))) for v in out.tolist()}


def test_small_noise_on_a_coarse_grid_says_that_it_rounds_away():
    whole = Column(name="n", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 9))
    table = Table(Schema((whole,)), {"n": np.arange(1000) % 10})
    model = Noise(sigma=0.01).fit(Vault.of(table), np.random.default_rng(0))
    assert model.result()["moved"] == {"n": 0.0}


WRONG = [
    {"sigma": 0.0},
    {"sigma": np.inf},
    {"correlated": True, "shape": Shape.LAPLACE},
    {"how": How.MULTIPLY, "relative": False},
    {"how": How.MULTIPLY, "correlated": True},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_knobs_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="Noise"):
        Noise(**wrong)


def test_columns_that_cannot_be_masked_are_refused_by_name(small):
    with pytest.raises(PlanError, match="town"):
        Noise(columns=("age", "town")).plan(small.schema, None)
    with pytest.raises(PlanError, match="born is a date"):
        Noise(how=How.MULTIPLY, columns=("born",)).plan(small.schema, None)


def test_noise_promises_nothing_and_leaves_an_earlier_k_as_derived(small):
    alone = release(small, recipe(Noise()), seed=1).guarantee
    assert alone.assurance is Assurance.NONE
    assert any("no differential privacy" in caveat for caveat in alone.caveats)
    promise = Promise(kind=Syntactic.K_ANONYMITY, value=4, quasi=("age",))
    halves = Says(makes=lambda t, rng: t.with_column(t.schema["age"], t["age"] // 50 * 50), promises=(promise,))
    after = release(small, recipe(halves, Noise(columns=("age",))), seed=1).guarantee
    assert [(p.value, p.form) for p in after.promises] == [(4, Form.DERIVED)]
    assert after.criteria["k"] < 4
