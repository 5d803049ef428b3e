"""Values under a schema: what is read as what, what is missing, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.table.cell import Interval
from hushtable.table.columns import DAY, MISSING_CODE, MISSING_INTEGER, Bounds, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.values import from_mapping


def column_of(entry, values, *, missing=(), generalized=False):
    head = f"missing: {list(missing)}\n" if missing else ""
    return from_mapping(Schema.parse(f"{head}columns: {{x: {entry}}}"), {"x": values}, generalized=generalized)


def strings(entry, values, **options):
    return list(column_of(entry, values, **options).strings("x"))


@pytest.mark.parametrize(
    ("entry", "texts", "numbers"),
    [
        ("integer", ["39", " 40 ", "+41", "-42"], [39, 40, 41, -42]),
        ("integer", ["39.0", "40.", "4e1", "007"], [39, 40, 40, 7]),
        ("integer", ["9007199254740993", "9007199254740993.0"], [2**53 + 1, 2**53 + 1]),
        ("integer", ["9223372036854775807", "-9223372036854775807"], [2**63 - 1, -(2**63) + 1]),
        ("real", ["0.1", "-1e-3", ".5", "5.", "7"], [0.1, -0.001, 0.5, 5.0, 7.0]),
        ("{kind: real, decimals: 1}", ["0.24", "0.26", "-0.04"], [0.2, 0.3, 0.0]),
        ("date", ["1970-01-01", "1970-01-03", "1969-12-31"], [0, 2 * DAY, -DAY]),
        ("{kind: date, format: '%d.%m.%Y'}", ["03.01.1970", "1.2.1970"], [2 * DAY, 31 * DAY]),
        ("{kind: date, format: '%Y-%m-%d %H:%M:%S'}", ["1970-01-01 00:00:07", "1970-01-02 01:00:00"], [7, DAY + 3600]),
    ],
)
def test_numbers_and_dates_are_read_exactly(entry, texts, numbers):
    table = column_of(entry, texts)
    assert table["x"].tolist() == numbers
    assert table["x"].dtype == (np.float64 if "real" in entry else np.int64)
    assert not np.signbit(table["x"][table["x"] == 0]).any()
    assert table.schema["x"].domain == Bounds(min(numbers), max(numbers), observed=True)


@pytest.mark.parametrize(
    ("entry", "bad", "noun"),
    [
        ("integer", ["1.5", "a", "1_000", "1,000", "0x10", "nan", "inf", "1e400", "--1", "１２"], "whole numbers"),
        ("integer", ["9223372036854775808", "-9223372036854775808", "1e19", "9" * 5000], "whole numbers"),
        ("real", ["1,5", "nan", "inf", "-Infinity", "1_0.5", "1e400", "one", "1 2", "٣"], "numbers"),
        ("date", ["2020-13-01", "01.02.2020", "2020-01-01 10:00:00", "today", "2020-01", "1969-12-31T23:59:59.5"], "dates"),
        ("{kind: date, format: '%d.%m.%Y'}", ["2020-01-01", "32.01.2020"], "dates"),
    ],
)
def test_what_is_no_number_or_date_is_refused_with_its_rows(entry, bad, noun):
    good = {"date": "2020-01-01"}.get(entry, "01.01.2020" if "date" in entry else "1")
    with pytest.raises(InputError) as caught:
        column_of(entry, [good, *bad, good])
    (fault,) = caught.value.faults
    assert fault.reason.startswith(f"values that are not {noun}")
    assert fault.count == len(bad)
    assert fault.rows == tuple(range(2, 2 + len(bad)))[:3]
    assert fault.values == tuple(bad[:3])


@pytest.mark.parametrize(
    ("entry", "values", "shown"),
    [
        (
            "{kind: category, domain: [a, b]}",
            ["a", "c", "b", "d", "c"],
            "values outside the declared domain ('c', 'd'); rows 2, 4, 5",
        ),
        ("{kind: category, domain: [a, b]}", ["a", "A"], "values outside the declared domain ('A'); row 2"),
        (
            "{kind: integer, domain: [17, 90]}",
            [17, 16, 90, 91],
            "values outside the declared domain [17, 90] ('16', '91'); rows 2, 4",
        ),
        ("{kind: real, domain: [0, 1]}", ["0.5", "1.0000001"], "outside the declared domain [0.0, 1.0] ('1.0000001'); row 2"),
        (
            "{kind: date, domain: [2020-01-01, 2020-01-31]}",
            ["2020-01-31", "2020-02-01"],
            "[2020-01-01, 2020-01-31] ('2020-02-01'); row 2",
        ),
        ("{kind: category, domain: [a]}", ["a"] + ["b"] * 1234, "('b'); 1,234 rows, e.g. 2, 3, 4"),
    ],
)
def test_a_value_outside_the_domain_is_shown_with_its_rows(entry, values, shown):
    with pytest.raises(InputError) as caught:
        column_of(entry, values)
    assert str(caught.value).startswith("table, column x: ")
    assert str(caught.value).endswith(shown)


def test_the_faults_of_all_columns_are_listed_at_once():
    schema = Schema.parse("columns: {a: integer, b: {kind: category, domain: [x]}, c: {kind: real, required: true}, d: text}")
    with pytest.raises(InputError) as caught:
        from_mapping(schema, {"a": ["1", "z", "w"], "b": ["x", "y", "x"], "c": ["1", "u", ""], "d": ["", "", ""]})
    assert [fault.where.split()[-1] for fault in caught.value.faults] == ["a", "b", "c", "c"]


@pytest.mark.parametrize("kind", Kind)
def test_missing_values_of_schema_column_and_empty_cells_are_missing(kind):
    present = "2020-01-01" if kind is Kind.DATE else "5"
    values = [present, "?", "", None, " ", "-8", " ? ", float("nan"), "NA "]
    table = column_of(f"{{kind: {kind}, missing: ['-8', ' NA']}}", values, missing=["?"])
    assert table.missing("x").tolist() == [False] + [True] * 8
    assert [value is None for value in table.strings("x")] == [False] + [True] * 8
    code = {Kind.REAL: np.nan}.get(kind, MISSING_INTEGER if kind in (Kind.INTEGER, Kind.DATE) else MISSING_CODE)
    assert np.array_equal(table["x"][1:], np.full(8, code, table["x"].dtype), equal_nan=kind is Kind.REAL)


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.REAL])
def test_a_missing_code_of_numbers_is_compared_as_a_number(kind):
    decimals = ", decimals: 0" if kind is Kind.REAL else ""
    values = ["-9", "-9.0", "-9.00", "9", "-90", "9007199254740992", "9007199254740993.0"]
    table = column_of(f"{{kind: {kind}, missing: ['-9', '9007199254740993']{decimals}}}", values)
    assert table.missing("x").tolist() == [True, True, True, False, False, False, True]
    assert column_of("{kind: category, missing: ['-9']}", ["-9", "-9.0"]).missing("x").tolist() == [True, False]


def test_a_missing_code_of_one_column_is_a_value_of_another():
    schema = Schema.parse("columns: {a: {kind: integer, missing: ['-8']}, b: integer}")
    table = from_mapping(schema, {"a": ["-8", "1"], "b": ["-8", "1"]})
    assert table.missing("a").tolist() == [True, False]
    assert table.missing("b").tolist() == [False, False]


@pytest.mark.parametrize("kind", Kind)
def test_a_required_column_without_a_value_is_refused_without_quoting_anything(kind):
    with pytest.raises(InputError) as caught:
        column_of(f"{{kind: {kind}, required: true}}", ["2020-01-01" if kind is Kind.DATE else "5", "", "?"], missing=["?"])
    assert str(caught.value) == "table, column x: has missing values, but is declared required; rows 2, 3"


@pytest.mark.parametrize("kind", Kind)
def test_a_column_without_any_value_is_read_and_its_schema_still_written(kind):
    table = column_of(str(kind), ["", None, ""])
    assert table.missing("x").all()
    again = Schema.parse(table.schema.dump())
    assert again == table.schema
    assert from_mapping(again, {"x": ["", None, ""]}).missing("x").all()


def test_open_levels_are_filled_in_natural_order_and_marked_observed():
    table = column_of("category", ["b", "10", "9", "a", "nan", "-1", "", "1e1"])
    assert table.schema["x"].domain == Levels(("-1", "9", "10", "1e1", "a", "b", "nan"), observed=True)


@pytest.mark.parametrize("order", [["nan", "2", "1", "b"], ["2", "b", "nan", "1"], ["b", "1", "nan", "2"]])
def test_the_order_of_open_levels_does_not_depend_on_the_rows(order):
    assert column_of("category", order).schema["x"].levels == ("1", "2", "b", "nan")


def test_declared_levels_keep_their_order_and_stay_declared():
    table = column_of("{kind: ordinal, domain: [low, mid, high]}", ["high", "low", "low"])
    assert table["x"].tolist() == [2, 0, 0]
    assert table["x"].dtype == np.int32
    assert table.schema["x"].domain == Levels(("low", "mid", "high"))


AGES = "{kind: integer, domain: [0, 120]}"


@pytest.mark.parametrize(
    ("entry", "values", "spans"),
    [
        (AGES, ["[20, 30)", "31", "*", "90+"], [Interval(20, 29), Interval(31, 31), None, Interval(90, float("inf"))]),
        ("{kind: category, domain: [a, b, c]}", ["{a, b}", "c", "*"], [frozenset("ab"), frozenset("c"), None]),
        (
            "{kind: date, format: '%d.%m.%Y'}",
            ["[01.01.1970, 03.01.1970]", "04.01.1970"],
            [Interval(0, 2 * DAY), Interval(3 * DAY, 3 * DAY)],
        ),
    ],
)
def test_a_release_is_read_back_as_cells(entry, values, spans):
    table = column_of(entry, [*values, ""], generalized=True)
    column = table.schema["x"]
    assert column.generalized
    assert [cell.span for cell in column.domain.cells] == spans
    assert list(table.strings("x")) == [*values, None]
    assert column.base == Schema.parse(f"columns: {{x: {entry}}}")["x"].domain


def test_a_release_whose_values_are_all_ordinary_is_read_as_such():
    assert not column_of(AGES, ["20", "30"], generalized=True).schema["x"].generalized


def test_equal_cells_written_in_two_ways_are_one_cell():
    table = column_of(AGES, ["[20, 29]", "20-29", "[20, 30)", "30", "30.0", "*"], generalized=True)
    assert table["x"].tolist() == [0, 0, 0, 1, 1, 2]
    assert table.groups(["x"])[1] == 3


def test_declared_cells_come_first_and_keep_their_codes():
    entry = "{kind: integer, domain: [0, 99], cells: ['[0, 49]', '[50, 99]']}"
    assert column_of(entry, ["[50, 99]", "[0, 49]", "0-49", "7"])["x"].tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize("value", ["200", "[200, 300]", "old", "[30, 20]", "{a}"])
def test_a_cell_that_meets_no_value_of_the_domain_is_refused(value):
    with pytest.raises(InputError, match="neither values of the domain nor generalized values") as caught:
        column_of(AGES, ["[20, 29]", value], generalized=True)
    assert caught.value.faults[0].rows == (2,)


def test_cells_are_refused_where_a_release_is_not_expected():
    with pytest.raises(InputError, match="not whole numbers"):
        column_of(AGES, ["[20, 29]", "3"])
