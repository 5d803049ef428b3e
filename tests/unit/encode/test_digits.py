from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.encode.digits import Digits
from hushtable.errors import InputError, PlanError
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def fitted(table, **knobs):
    return Digits(**knobs).fit(Vault.of(table), np.random.default_rng(0))


def numbers(values, low, high, **facets):
    column = Column(name="x", kind=facets.pop("kind", Kind.INTEGER), domain=Bounds(low, high), **facets)
    return Table(Schema((column,)), {"x": column.from_floats(np.asarray(values, np.float64))})


def digits(table, **knobs):
    coded = fitted(table, **knobs).apply(table)
    rows = zip(*(coded.strings(name) for name in coded.schema.names), strict=True)
    return ["".join(place or "?" for place in row) for row in rows]


def test_numbers_are_written_with_zeros_in_front():
    assert digits(numbers([7, 42, 130, np.nan], 0, 250)) == ["007", "042", "130", "?00"]
    assert digits(numbers([-7, 42, 0], -100, 50)) == ["-007", "+042", "+000"]
    assert digits(numbers([0.5, 12.25], 0.0, 99.0, kind=Kind.REAL, decimals=2)) == ["0050", "1225"]


def test_the_first_digit_has_no_level_beyond_the_bounds():
    assert fitted(numbers([1], 0, 250)).schema["x"].levels == ("0", "1", "2")


def test_everything_comes_back_and_no_row_is_read():
    table = example(400)
    vault = Vault.of(table)
    code = Digits().fit(vault, np.random.default_rng(0))
    there = code.undo(code.apply(table), np.random.default_rng(0))
    assert there.schema == table.schema
    assert all(np.array_equal(there[name], table[name], equal_nan=table[name].dtype.kind == "f") for name in table.schema.names)
    assert not vault.ledger.entries
    assert not code.schema.undeclared


def test_a_date_is_its_days():
    table = example(50).select(["born"])
    days = [int(text.replace("+", "")) for text in digits(table)]
    assert days == (table["born"] // 86_400).tolist()


def test_long_numbers_are_rounded_to_the_digits_there_are():
    table = numbers([123_456_789_012, 5], 0, 999_999_999_999)
    code = fitted(table, digits=4)
    assert code.undo(code.apply(table), np.random.default_rng(0))["x"].tolist() == [123_500_000_000, 0]


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (3.0, 3.0), (-1e-9, 1e-9), (-5.0, -2.0), (1e8, 1e8 + 1), (0.0, 1e200)])
def test_reals_of_any_range_come_back_to_six_digits(low, high):
    values = np.array([low, high, (low + high) / 2, np.nan])
    table = numbers(values, low, high, kind=Kind.REAL)
    code = fitted(table, digits=15)
    there = code.undo(code.apply(table), np.random.default_rng(0))["x"]
    assert np.allclose(there, values, equal_nan=True, rtol=0, atol=max((high - low) * 1e-5, 1e-6))


def test_digits_beyond_the_bounds_give_the_bound():
    table = numbers([17, 90], 17, 90)
    code = fitted(table)
    coded = code.apply(table)
    nines = coded.with_columns(*((column, np.full(2, 9, np.int32)) for column in coded.schema))
    assert code.undo(nines, np.random.default_rng(0))["x"].tolist() == [90, 90]


def test_bounds_that_were_observed_stay_so():
    column = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 9, observed=True))
    assert Digits().plan(Schema((column,)), None).schema["x"].observed


def test_words_and_numbers_too_long_for_floats_are_refused():
    with pytest.raises(PlanError, match="town"):
        Digits(columns=("town",)).plan(example().schema, None)
    with pytest.raises(InputError, match=r"2\^53"):
        Digits().plan(Schema((Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 2**60)),)), None)
