from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.encode.ranks import Ranks
from hushtable.errors import InputError, PlanError
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def fitted(table, **knobs):
    return Ranks(**knobs).fit(Vault.of(table), np.random.default_rng(0))


def numbers(values, kind=Kind.REAL):
    ends = Bounds(float(np.nanmin(values)), float(np.nanmax(values))) if np.isfinite(values).any() else Bounds(0.0, 1.0)
    column = Column(name="x", kind=kind, domain=ends)
    return Table(Schema((column,)), {"x": column.from_floats(np.asarray(values, np.float64))})


def back(code, table):
    return code.undo(code.apply(table), np.random.default_rng(0))


def test_skewed_numbers_become_gaussian_and_come_back_in_order():
    values = np.random.default_rng(0).lognormal(3, 2, 5_000)
    code = fitted(numbers(values))
    scores = code.apply(numbers(values))["x"]
    assert abs(scores.mean()) < 0.02
    assert abs(scores.std() - 1) < 0.02
    assert (
        np.array_equal(np.argsort(values, kind="stable"), np.argsort(scores, kind="stable"))
        or (np.diff(scores[np.argsort(values)]) >= 0).all()
    )
    there = back(code, numbers(values))["x"]
    inside = (values > np.quantile(values, 0.01)) & (values < np.quantile(values, 0.99))
    assert np.allclose(there[inside], values[inside], rtol=1e-6)


def test_a_spike_has_one_score_and_all_scores_of_its_quantiles_lead_back_to_it():
    rng = np.random.default_rng(0)
    gains = np.where(rng.random(4_000) < 0.9, 0, rng.integers(1, 99_999, 4_000)).astype(float)
    table = numbers(gains, Kind.INTEGER)
    code = fitted(table)
    scores = code.apply(table)["x"]
    assert len(np.unique(scores[gains == 0])) == 1
    drawn = table.schema.with_columns(code.schema["x"])
    share = (code.undo(Table(drawn, {"x": rng.normal(0, 1, 20_000).clip(-4, 4)}), rng)["x"] == 0).mean()
    assert share == pytest.approx((gains == 0).mean(), abs=0.01)
    assert np.corrcoef(back(code, table)["x"], gains)[0, 1] > 0.999


def test_whole_numbers_between_shared_ones_come_back():
    values = np.repeat([1.0, 2, 3, 4, 5, 7, 8, 20, 30], [50, 40, 3, 40, 2, 1, 60, 9, 9])
    table = numbers(values, Kind.INTEGER)
    there = back(fitted(table), table)["x"]
    kept = np.isin(values, [1, 2, 3, 4, 8])
    assert np.array_equal(there[kept], values[kept])
    # Few rows between two shared values lie anywhere between them.
    between = np.isin(values, [5, 7])
    assert ((there[between] > 4) & (there[between] < 8)).all()


def test_no_end_of_a_range_is_the_value_of_a_single_row():
    values = np.random.default_rng(0).normal(0, 1, 2_000)
    pools = fitted(numbers(values), least=20).pools["x"]
    ends = np.concatenate([pools.low[1:], pools.high[:-1]])
    assert not np.isin(ends, values).any()
    assert len(pools.low) <= 100


def test_what_is_missing_stays_so_and_bounds_are_fixed():
    table = example(300)
    code = fitted(table)
    coded = code.apply(table)
    assert np.array_equal(np.isnan(coded["pay"]), table.missing("pay"))
    assert coded.schema["pay"].bounds == Bounds(-4.0, 4.0)
    assert np.array_equal(back(code, table).missing("pay"), table.missing("pay"))
    assert not coded.schema.undeclared


@pytest.mark.parametrize("values", [[3.5], [2.0] * 30, [np.nan, np.nan], [np.nan, 1.0, 7.0], [1.0] * 20 + [5.0]])
def test_short_constant_and_missing_columns_work(values):
    table = numbers(np.array(values))
    there = back(fitted(table), table)["x"]
    assert np.array_equal(np.isnan(there), np.isnan(values))
    constant = np.array(values) == 2.0
    assert (there[constant] == 2.0).all()


def test_words_and_no_rows_at_all_together_are_refused():
    with pytest.raises(PlanError, match="town"):
        Ranks(columns=("town",)).plan(example().schema, None)
    with pytest.raises(InputError, match="least"):
        Ranks(least=0)
