"""Numbers as people write them: decimal commas, groups, currencies; read as numbers and written back the same way."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.errors import GuaranteeRefused, InputError
from hushtable.table import io
from hushtable.table.columns import Column, Kind
from hushtable.table.defaults import with_defaults
from hushtable.table.numbers import GROUPS, NumberFormat
from hushtable.table.schema import Schema


@pytest.mark.parametrize(
    ("words", "kind", "sample", "numbers"),
    [
        (["1.234,56", "12,5", "-3,00"], Kind.REAL, "1.234,56", [1234.56, 12.5, -3.0]),
        (["1 234,56", "12,5", "0,25"], Kind.REAL, "1 234,56", [1234.56, 12.5, 0.25]),
        (["1\u202f234,5", "12,5"], Kind.REAL, "1\u202f234,56", [1234.5, 12.5]),
        (["1,234.56", "12.50", "7"], Kind.REAL, "1,234.56", [1234.56, 12.5, 7]),
        (["12,5", "0,25", "7"], Kind.REAL, "1234,56", [12.5, 0.25, 7]),
        (["0,125", "0,250"], Kind.REAL, "1234,56", [0.125, 0.25]),
        (["20,0", "7,00", "3"], Kind.INTEGER, "1234,56", [20, 7, 3]),
        (["1.234,00 €", "2,00 €"], Kind.INTEGER, "1.234,56 €", [1234, 2]),
        (["1,234", "12,000", "950"], Kind.INTEGER, "1,234", [1234, 12000, 950]),
        (["1.234.567", "12.000", "950"], Kind.INTEGER, "1.234", [1234567, 12000, 950]),
        (["950", "12", "400", "1.200", "2.345", "3.100"], Kind.INTEGER, "1.234", [950, 12, 400, 1200, 2345, 3100]),
        (["1'234.50", "2"], Kind.REAL, "1'234.56", [1234.5, 2]),
        (["$1,234.50", "$2.00"], Kind.REAL, "$1,234.56", [1234.5, 2]),
        (["1.234,50 €", "2,00 €"], Kind.REAL, "1.234,56 €", [1234.5, 2]),
        (["12%", "13%", "14%"], Kind.INTEGER, "1234%", [12, 13, 14]),
        (["12,5 %", "1,0 %"], Kind.REAL, "1234,56 %", [12.5, 1]),
        (["EUR 5", "EUR 17"], Kind.INTEGER, "EUR 1234", [5, 17]),
    ],
)
def test_a_format_is_drafted_and_kept(tmp_path, words, kind, sample, numbers):
    table = io.read(pd.DataFrame({"x": words}, dtype=object))
    column = table.schema["x"]
    assert (column.kind, column.format) == (kind, sample)
    assert list(table.floats("x")) == pytest.approx(numbers)
    assert any(note.startswith("Column x ") for note in table.schema.notes)
    io.write(table, tmp_path / "t.csv")
    schema = Schema.parse(table.schema.dump())
    assert schema == table.schema
    again = io.read(tmp_path / "t.csv", schema)
    assert list(again.floats("x")) == list(table.floats("x"))
    io.write(table, tmp_path / "t.parquet")
    assert list(io.read(tmp_path / "t.parquet", schema).floats("x")) == pytest.approx(numbers)


@pytest.mark.parametrize(
    "words", [["1,2,3", "1,2"], ["1.2.3", "1.2.4"], ["1-2", "2-3"], ["12,5 kg", "3 m"], ["$5", "€6"], ["1 23", "4"]]
)
def test_what_only_looks_like_a_number_is_none(words):
    assert io.draft(pd.DataFrame({"x": words * 3}, dtype=object))["x"].kind is Kind.CATEGORY


@given(
    st.floats(-1e9, 1e9).map(lambda x: round(x, 2)),
    st.sampled_from(["", *GROUPS]),
    st.sampled_from([".", ","]),
    st.sampled_from(["", "$", "€ "]),
    st.sampled_from(["", " %", " USD"]),
)
def test_a_number_is_read_back_from_its_format(value, group, point, prefix, suffix):
    if group == point:
        return
    form = NumberFormat(group, point, prefix, suffix)
    assert NumberFormat.parse(form.sample(decimals=True)) == form
    column = Column(name="x", kind=Kind.REAL, decimals=2, format=form.sample(decimals=True))
    assert column.number(column.write(value)) == pytest.approx(value)


@pytest.mark.parametrize("sample", ["1,234,56", "%Y", "12", "1.234.56x7", "a number 1234"])
def test_what_is_no_number_format_is_a_fault(sample):
    with pytest.raises(InputError, match="is not a number format"):
        Schema.parse(f'columns: {{x: {{kind: real, format: "{sample}"}}}}')


def test_numbers_of_a_frame_are_not_read_by_the_format_of_texts():
    schema = Schema.parse('columns: {x: {kind: real, format: "1.234,56"}}')
    assert list(io.read(pd.DataFrame({"x": [1.234, 1000.5]}), schema)["x"]) == [1.234, 1000.5]
    assert list(io.read(pd.DataFrame({"x": ["1.234", "1.000,5"]}), schema)["x"]) == [1234, 1000.5]


def test_an_interval_of_decimal_commas_is_read_back():
    schema = Schema.parse('columns: {x: {kind: real, decimals: 1, format: "1.234,56", domain: ["0,0", "5.000,0"]}}')
    table = io.read(pd.DataFrame({"x": ["[12,5, 1.200,0]", "7,5"]}), schema, generalized=True)
    assert list(table.strings("x")) == ["[12,5, 1.200,0]", "7,5"]


@pytest.mark.parametrize("words", [["12,5", "3,5", "1,0"] * 20, [*(str(i * i) for i in range(57)), "N", "N", "N"]])
def test_a_budget_is_refused_where_only_the_rows_said_how_a_cell_is_read(words):
    """A drafted format or missing code decides what everybody's cell means, and one row could change it."""
    table = io.read(pd.DataFrame({"x": words, "y": ["a", "b"] * 30}, dtype=object))
    with pytest.raises(GuaranteeRefused, match="of x were read off the rows"):
        with_defaults(table)
    declared = table.schema.declared(facets=["kind", "missing", "format"])
    with_defaults(io.read(pd.DataFrame({"x": words, "y": ["a", "b"] * 30}, dtype=object), declared))
