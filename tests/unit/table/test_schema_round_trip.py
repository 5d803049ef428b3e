"""A schema file says exactly what the schema says: written and read back, it is the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.hierarchy import IntervalTree
from hushtable.table.schema import Schema
from tests import strategies


@settings(max_examples=120)
@given(strategies.schemas())
def test_a_written_schema_reads_back_as_the_same_schema(schema):
    assert Schema.parse(schema.dump()) == schema


@pytest.mark.parametrize("odd", [*strategies.ODD, "", " ", " a ", "x" * 300])
def test_odd_texts_survive_as_name_level_and_missing_code(odd):
    column = Column(name=odd, kind=Kind.CATEGORY, domain=Levels((odd, odd + "x")), missing=(odd,))
    schema = Schema((column,), (odd, "z"))
    assert Schema.parse(schema.dump()) == schema


@given(st.text(st.characters(), max_size=20))
def test_any_remark_of_the_drafter_stays_a_comment(note):
    schema = Schema((Column(name="a", kind=Kind.REAL),), notes=(note, "columns: {b: text}"))
    assert Schema.parse(schema.dump()) == schema


@pytest.mark.parametrize("width", [1234567.0, 0.1, 1e-9, 123456789012.0, 2.5])
def test_interval_widths_keep_all_their_digits(width):
    column = Column(name="a", kind=Kind.REAL, domain=Bounds(0.0, 1e15), hierarchy=IntervalTree((width, width * 10)))
    assert Schema.parse(Schema((column,)).dump())["a"].hierarchy == column.hierarchy


def test_a_level_that_yaml_would_turn_into_something_else_stays_text():
    schema = Schema.parse("missing: [null, -8]\ncolumns: {no: {kind: category, domain: [yes, no, 012, 1e5, 2020-01-01, ~]}}")
    assert schema["no"].levels == ("yes", "no", "012", "1e5", "2020-01-01", "~")
    assert schema.missing == ("null", "-8")


def test_the_example_of_the_documentation_is_read_as_it_stands(tmp_path):
    (tmp_path / "hierarchies").mkdir()
    lines = [f"{age},{age // 10 * 10},*" for age in range(17, 91)]
    (tmp_path / "hierarchies" / "age.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "schema.yaml").write_text(
        'missing: ["?"]\n'
        "columns:\n"
        "  age:    {kind: integer,  role: quasi,  domain: [17, 90], hierarchy: hierarchies/age.csv}\n"
        "  sex:    {kind: category, role: quasi,  domain: [Female, Male]}\n"
        '  income: {kind: category, role: secret, domain: ["<=50K", ">50K"]}\n',
        encoding="utf-8",
    )
    schema = Schema.load(tmp_path / "schema.yaml")
    assert schema.names == ("age", "sex", "income")
    assert schema["age"].bounds == Bounds(17, 90)
    assert schema.secrets == ("income",)
    assert schema.quasi == ("age", "sex")
    assert Schema.parse(schema.dump(), folder=tmp_path) == schema


def test_defaults_are_plain_declared_and_optional():
    (column,) = Schema.parse("columns: {a: integer}")
    assert (column.kind, column.role, column.domain, column.required) == (Kind.INTEGER, Role.PLAIN, None, False)


def test_observed_marks_the_domain_and_nothing_else():
    schema = Schema.parse("columns: {a: {kind: integer, domain: [0, 9], observed: true}, b: {kind: integer, domain: [0, 9]}}")
    assert schema["a"].observed
    assert not schema["b"].observed


def test_cells_are_read_as_sets_not_as_texts():
    text = "columns: {a: {kind: integer, domain: [0, 99], cells: ['[20, 30)', 40-49, '>=90', '*', '7']}}"
    spans = [cell.span for cell in Schema.parse(text)["a"].domain.cells]
    assert spans == [Interval(20, 29), Interval(40, 49), Interval(90, float("inf")), ANYTHING.span, Interval(7, 7)]


def test_a_schema_answers_by_name_role_and_order():
    schema = Schema.parse(
        "columns: {a: {kind: key}, b: {kind: real, role: quasi}, c: {kind: text}, d: {kind: real, role: identifier}}"
    )
    assert schema.released == ("b",)
    assert "b" in schema
    assert "z" not in schema
    assert len(schema) == 4
    assert schema.select(["d", "a"]).names == ("d", "a")
    changed = schema.with_columns(Column(name="b", kind=Kind.TEXT), Column(name="e", kind=Kind.REAL))
    assert changed.names == ("a", "b", "c", "d", "e")
    assert changed["b"].kind is Kind.TEXT
