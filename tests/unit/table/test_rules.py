"""Combinations that no row has: as they are written, as they are read, and which rows have them."""

from __future__ import annotations

import pytest

from hushtable.errors import InputError
from hushtable.table.broken import breaks, breaks_any
from hushtable.table.rules import parse_zero
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import from_mapping

SCHEMA = Schema.parse(
    """
columns:
  age: {kind: integer, domain: [0, 99]}
  marital status: {kind: category, domain: [single, married, "<=1, or and"]}
  school: {kind: ordinal, domain: [none, primary, higher]}
  income: {kind: real, domain: [0, 1000], decimals: 1}
  start: {kind: date, domain: [2000-01-01, 2020-12-31]}
  end: {kind: date, domain: [2000-01-01, 2020-12-31]}
  note: text
"""
)
ROWS = {
    "age": [10, 14, 15, None],
    "marital status": ["single", "married", "<=1, or and", None],
    "school": ["none", "primary", "higher", None],
    "income": [None, 0, 12.5, 3],
    "start": ["2001-01-01", "2002-01-01", "2003-01-01", None],
    "end": ["2001-01-01", "2001-12-31", "2004-01-01", "2005-01-01"],
    "note": ["a", "b", "c", "d"],
}


@pytest.fixture(scope="module")
def table() -> Table:
    return from_mapping(SCHEMA, ROWS)


BROKEN = {
    "age < 15": [0, 1],
    "age <= 14 and marital status = married": [1],
    "age >= 15": [2],
    "age != 10": [1, 2],
    "age in {10, 15}": [0, 2],
    "age is missing": [3],
    "income is not missing and age < 15": [1],
    "income > 0": [2, 3],
    '"marital status" in {single, "<=1, or and"}': [0, 2],
    "marital status != single": [1, 2],
    "school < higher": [0, 1],
    "school >= primary": [1, 2],
    "start > end": [1],
    "start = end": [0],
    "start != end": [1, 2],
    "start < 2002-06-01": [0, 1],
    "age > income": [1, 2],
}


@pytest.mark.parametrize("text", BROKEN)
def test_rows_that_have_a_combination(text, table):
    zero = parse_zero(text, {c.name: c for c in SCHEMA})
    assert breaks(table, zero).nonzero()[0].tolist() == BROKEN[text]
    assert parse_zero(str(zero), {c.name: c for c in SCHEMA}) == zero


def test_every_text_that_cannot_be_read_is_a_fault():
    wrong = [
        "age",
        "size < 3",
        "age < old",
        "marital status < single",
        "marital status = widowed",
        "note = a",
        "age < 3 or age > 5",
        "age in 3",
        "age is maybe",
        "start < age",
        "",
    ]
    with pytest.raises(InputError) as error:
        SCHEMA.with_zeros(*wrong, "age > 90")
    assert len(error.value.faults) == len(wrong)
    assert all(fault.where == "zeros" for fault in error.value.faults)


def test_a_schema_file_holds_them_and_a_part_of_it_those_of_its_columns():
    schema = SCHEMA.with_zeros(
        "age < 15 and marital status = married", "start > end", '"marital status" = "<=1, or and" and age < 3'
    )
    assert Schema.parse(schema.dump()) == schema
    assert [str(zero) for zero in schema.select(["end", "start", "age"]).zeros] == ["start > end"]
    assert "zeros" not in SCHEMA.dump()
    assert breaks_any(from_mapping(schema, ROWS), schema.zeros).nonzero()[0].tolist() == [1]


def test_levels_that_nobody_declared_may_be_any():
    open_ = Schema.parse("zeros: [a = x and b = y]\ncolumns: {a: category, b: {kind: category, domain: [z], observed: true}}")
    assert len(open_.zeros) == 1
    with pytest.raises(InputError, match="no level"):
        Schema.parse("zeros: [b = y]\ncolumns: {b: {kind: category, domain: [z]}}")


def test_a_generalized_row_breaks_it_only_whatever_its_cells_stand_for():
    cells = {
        **ROWS,
        "age": ["[10, 14]", "[10, 19]", "*", None],
        "marital status": ["married", "married", "married", "{single, married}"],
        "start": ["[2003-01-01, 2004-01-01]", "[2001-01-01, 2005-01-01]", "2003-01-01", None],
        "end": ["2002-01-01", "2002-01-01", "2002-01-01", "2005-01-01"],
    }
    table = from_mapping(SCHEMA, cells, generalized=True)
    rows = {
        "age < 15 and marital status = married": [0],
        "age < 20": [0, 1],
        "age is missing": [3],
        "age is not missing": [0, 1],
        "marital status != single": [0, 1, 2],
        "marital status in {single, married}": [0, 1, 2, 3],
        "start > end": [0, 2],
    }
    for text, broken in rows.items():
        assert breaks(table, parse_zero(text, {c.name: c for c in SCHEMA})).nonzero()[0].tolist() == broken, text
