from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.encode.modes import Modes
from hushtable.errors import InputError, PlanError
from hushtable.numerics.gaussians import Gaussians
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def fitted(table, **knobs):
    return Modes(**knobs).fit(Vault.of(table), np.random.default_rng(0))


def numbers(values, **facets):
    kind = facets.pop("kind", Kind.REAL)
    ends = Bounds(float(np.nanmin(values)), float(np.nanmax(values))) if np.isfinite(values).any() else Bounds(0.0, 1.0)
    column = Column(name="x", kind=kind, domain=ends, **facets)
    return Table(Schema((column,)), {"x": column.from_floats(np.asarray(values, np.float64))})


def back(code, table):
    return code.undo(code.apply(table), np.random.default_rng(0))


def two_peaks(rows=4_000):
    rng = np.random.default_rng(1)
    return np.where(rng.random(rows) < 0.3, rng.normal(0, 1, rows), rng.normal(20, 2, rows))


def test_a_mixture_of_two_is_found_and_weighed():
    values, counts = np.unique(two_peaks(), return_counts=True)
    found = Gaussians.fitted(values, counts.astype(float), 10, 0.005, 1e-3)
    low = found.means < 8
    assert found.weights[low].sum() == pytest.approx(0.3, abs=0.02)
    assert found.weights[low] @ found.means[low] / found.weights[low].sum() == pytest.approx(0, abs=0.2)
    assert np.all(np.diff(found.means) > 0)


def test_every_number_comes_back_to_its_grid():
    table = example(500)
    code = fitted(table)
    assert code.apply(table).schema.names[:2] == ("age", "age:place")
    there = back(code, table)
    assert there.schema == table.schema
    for name in ("age", "height", "born", "pay"):
        assert np.allclose(there.floats(name), table.floats(name), equal_nan=True, atol=1e-9), name


def test_outliers_that_no_mode_reaches_come_back_too():
    values = np.concatenate([np.random.default_rng(0).normal(0, 1, 20_000), [1e6, -3e6]])
    table = numbers(values)
    assert np.allclose(back(fitted(table), table)["x"], values, rtol=1e-9, atol=1e-6)


def test_a_spike_is_a_mode_without_width():
    rng = np.random.default_rng(0)
    hours = np.where(rng.random(3_000) < 0.4, 40, rng.integers(1, 99, 3_000)).astype(float)
    code = fitted(numbers(hours, kind=Kind.INTEGER))
    coded = code.apply(numbers(hours, kind=Kind.INTEGER))
    spike = coded["x"] == int(np.flatnonzero(code.modes["x"].scales == 0)[0])
    assert np.array_equal(spike, hours == 40)
    assert not coded["x:place"][spike].any()


def test_few_values_are_modes_of_their_own():
    values = np.repeat([0.0, 1.0, 2.0, 5.0], [500, 300, 180, 20])
    assert fitted(numbers(values, kind=Kind.INTEGER)).modes["x"].centres.tolist() == [0, 1, 2, 5]


def test_a_value_between_two_modes_is_drawn_by_the_posterior():
    """Rows that differ elsewhere: each has its own draw, and the share of a mode is its posterior."""
    rows = 20_000
    mixture = fitted(numbers(two_peaks()), modes=4).modes["x"]
    value = 18.0
    lots = np.random.default_rng(3).random(rows)
    drawn, _ = mixture.code(np.full(rows, value), lots)
    places = mixture.places(np.array([value]))[0]
    density = np.where(np.abs(places) <= 0.99, mixture.weights / mixture.scales * np.exp(-8 * places**2), 0)
    assert (density > 0.1 * density.sum()).sum() > 1
    shares = np.bincount(drawn, minlength=len(density)) / rows
    assert np.abs(shares - density / density.sum()).max() < 0.015


def test_the_draw_depends_on_the_row_alone():
    table = example(300)
    code = fitted(table)
    order = np.random.default_rng(0).permutation(table.rows)[:200]
    assert np.array_equal(code.apply(table)["pay"][order], code.apply(table.take(order))["pay"])


@pytest.mark.parametrize(
    "values", [[3.5], [2.0, 2.0, 2.0], [np.nan, np.nan], [np.nan, 1e-300, 7.0], [1e160, -1e160], [1e9, 1e9 + 1e-6]]
)
def test_short_constant_and_missing_columns_come_back(values):
    table = numbers(np.array(values))
    assert np.allclose(back(fitted(table), table)["x"], values, equal_nan=True, rtol=1e-9)


def test_missing_values_are_missing_modes_with_place_zero():
    table = example(300)
    coded = fitted(table).apply(table)
    assert np.array_equal(coded["pay"] < 0, table.missing("pay"))
    assert not coded["pay:place"][table.missing("pay")].any()
    assert coded.schema["pay:place"].role is Role.PLAIN
    assert coded.schema["pay"].role is Role.TARGET
    assert not coded.schema.undeclared


def test_a_core_may_release_some_of_the_columns():
    table = example(100)
    code = fitted(table)
    coded = code.apply(table)
    assert code.undo(coded.select(["town", "age", "age:place"]), np.random.default_rng(0)).schema.names == ("town", "age")


def test_names_that_are_taken_and_columns_of_words_are_refused():
    column = Column(name="x", kind=Kind.REAL, domain=Bounds(0.0, 1.0))
    other = Column(name="x:place", kind=Kind.REAL, domain=Bounds(0.0, 1.0))
    with pytest.raises(PlanError, match="x:place"):
        Modes().plan(Schema((column, other)), None)
    with pytest.raises(PlanError, match="town"):
        Modes(columns=("town",)).plan(example().schema, None)
    with pytest.raises(InputError, match="modes"):
        Modes(modes=0)


def test_a_table_without_numbers_is_left_alone_and_unread():
    table = example().select(["town", "sick"])
    vault = Vault.of(table)
    assert Modes().fit(vault, np.random.default_rng(0)).apply(table).schema == table.schema
    assert not vault.ledger.entries
