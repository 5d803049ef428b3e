"""A written table reads back as the same table; a file appears whole or not at all."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import from_mapping
from tests import strategies

ENDS = [".csv", ".csv.gz", ".tsv", ".parquet"]


def content(table):
    return {name: list(table.strings(name)) for name in table.schema.names}


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A small table of any kinds, with missing values and odd texts."""
    names = draw(st.lists(strategies.names.map(str.strip).filter(bool), min_size=1, max_size=4, unique_by=str.lower))
    codes = tuple(draw(st.sampled_from([(), ("?",), ("N,A",), ('"',), ("\n",), ("'",), (" NA ",)])))
    rows = draw(st.integers(2, 8))
    columns, values = [], {}
    for name in names:
        kind = draw(st.sampled_from(Kind))
        form = draw(st.sampled_from(strategies.FORMATS)) if kind is Kind.DATE else None
        decimals = draw(st.sampled_from([None, 0, 2])) if kind is Kind.REAL else None
        column = Column(name=name, kind=kind, format=form, decimals=decimals)
        one = {
            Kind.INTEGER: st.integers(-(2**63) + 1, 2**63 - 1).map(str),
            Kind.REAL: st.floats(allow_nan=False, allow_infinity=False).map(repr),
            Kind.DATE: strategies.moments(form).map(column.write),
        }.get(kind, strategies.values)
        columns.append(column)
        values[name] = draw(st.lists(st.none() | one, min_size=rows, max_size=rows))
    return from_mapping(Schema(tuple(columns), codes), values)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), end=st.sampled_from(ENDS))
def test_a_written_table_reads_back_the_same(tmp_path, end, table):
    path = tmp_path / f"t{end}"
    io.write(table, path)
    again = io.read(path, Schema.parse(table.schema.dump()))
    assert content(again) == content(table)
    assert again.ignored == ()
    for name in table.schema.names:
        if table.schema[name].kind not in (Kind.TEXT, Kind.KEY):
            assert np.array_equal(again[name], table[name], equal_nan=table.schema[name].kind is Kind.REAL)
    path.unlink()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", ENDS)
def test_generalized_columns_read_back_as_the_same_cells(tmp_path, end):
    schema = Schema.parse("columns: {a: {kind: integer, domain: [0, 99]}, c: {kind: category, domain: [x, y, 'p, q']}}")
    rows = {"a": ["[20, 29]", "*", "7", None], "c": ['{x, "p, q"}', "y", None, "*"]}
    table = from_mapping(schema, rows, generalized=True)
    io.write(table, tmp_path / f"t{end}")
    again = io.read(tmp_path / f"t{end}", Schema.parse(table.schema.dump()))
    assert content(again) == rows
    assert again.schema == table.schema
    assert content(io.read(tmp_path / f"t{end}", schema, generalized=True)) == rows


@pytest.mark.parametrize(
    ("codes", "line"), [((), "1,\n"), (("?", "NA"), "1,?\n"), (("N,A",), '1,"N,A"\n'), ((" NA ",), "1,NA\n"), (('"',), '1,""""\n')]
)
def test_a_missing_value_is_written_as_the_first_code_of_the_schema(tmp_path, codes, line):
    schema = Schema((Column(name="a", kind=Kind.INTEGER), Column(name="b", kind=Kind.TEXT)), codes)
    io.write(from_mapping(schema, {"a": [1, 2], "b": [None, "x"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == f"a,b\n{line}2,x\n"


def test_the_missing_values_of_a_lone_column_do_not_vanish(tmp_path):
    io.write(from_mapping(Schema.parse("columns: {a: integer}"), {"a": [None, 1, None, 2]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == 'a\n""\n1\n""\n2\n'
    assert pd.read_csv(tmp_path / "t.csv")["a"].isna().tolist() == [True, False, True, False]


def test_each_ending_gets_the_format_it_promises(tmp_path):
    table = from_mapping(Schema.parse("columns: {a: integer, b: date}"), {"a": [1, 2], "b": ["2020-01-01", None]})
    for end in ENDS:
        io.write(table, tmp_path / f"t{end}")
    assert (tmp_path / "t.csv").read_bytes() == b"a,b\n1,2020-01-01\n2,\n"
    assert (tmp_path / "t.tsv").read_bytes() == b"a\tb\n1\t2020-01-01\n2\t\n"
    assert gzip.decompress((tmp_path / "t.csv.gz").read_bytes()) == b"a,b\n1,2020-01-01\n2,\n"
    frame = pd.read_parquet(tmp_path / "t.parquet")
    assert frame["a"].tolist() == [1, 2]
    assert frame["b"].dtype.kind == "M"
    assert frame["b"].isna().tolist() == [False, True]


def test_numbers_are_written_with_their_declared_decimals(tmp_path):
    schema = Schema.parse("columns: {r: {kind: real, decimals: 2}, s: real}")
    io.write(from_mapping(schema, {"r": ["1.5", "-0.001"], "s": ["1e22", "0.1"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == "r,s\n1.50,1e+22\n0.00,0.1\n"


def test_names_that_differ_only_in_capitals_are_written_as_they_are(tmp_path):
    table = from_mapping(Schema.parse("columns: {a: integer, A: integer}"), {"a": [1, 2], "A": [3, 4]})
    io.write(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[0] == "a,A"
    with pytest.raises(InputError, match="a, A differ only in capitals"):
        io.write(table, tmp_path / "t.parquet")
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("end", [".csv", ".tsv"])
@pytest.mark.parametrize(
    "names", [["a;b;c", "d"], ["a;b"], ["a|b|c|d", "x,y"], ["a\tb"], ["a,b"], ['"', "b"], ["\ufeffa", "b"], ["a\nb;c"]]
)
def test_marks_in_names_are_not_taken_for_delimiters(tmp_path, end, names):
    schema = Schema(tuple(Column(name=name, kind=Kind.TEXT) for name in names))
    table = from_mapping(schema, {name: ["1;2", None, "3"] for name in names})
    io.write(table, tmp_path / f"t{end}")
    assert content(io.read(tmp_path / f"t{end}", schema)) == content(table)


def test_a_text_that_first_appears_far_down_is_written(tmp_path):
    schema = Schema.parse("columns: {t: text, n: integer}")
    table = from_mapping(schema, {"t": [None] * 5000 + ["hello"], "n": list(range(5001))})
    for end in (".csv", ".parquet"):
        io.write(table, tmp_path / f"t{end}")
        assert content(io.read(tmp_path / f"t{end}", schema)) == content(table)


def test_a_table_without_rows_is_written_as_its_header(tmp_path):
    table = from_mapping(Schema.parse("columns: {a: integer, b: text}"), {"a": [1, 2], "b": ["x", "y"]}).take(np.array([], int))
    io.write(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == "a,b\n"


def simple() -> Table:
    return from_mapping(Schema.parse("columns: {a: integer, b: text}"), {"a": [1, 2], "b": ["x", "y"]})


def broken() -> Table:
    return from_mapping(Schema.parse("columns: {a: integer, b: text}"), {"a": [1, 2], "b": ["x", "\ud800"]})


@pytest.mark.parametrize("end", ENDS)
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, end):
    path = tmp_path / f"t{end}"
    io.write(simple(), path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="cannot be written"):
        io.write(broken(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("end", ENDS)
def test_a_failure_at_the_last_moment_leaves_nothing(tmp_path, end, monkeypatch):
    def refuse(self, target):
        assert self.stat().st_size > 0
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match=f"t{end}: cannot be written: No space left on device"):
        io.write(simple(), tmp_path / f"t{end}")
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        io.write(simple(), tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_of_the_database_is_not_passed_on_raw(tmp_path, monkeypatch):
    def fail():
        raise duckdb.IOException("somebody's record")

    class Connection:
        def register(self, *_):
            fail()

        def close(self):
            pass

    monkeypatch.setattr(io.duckdb, "connect", Connection)
    with pytest.raises(InputError) as caught:
        io.write(simple(), tmp_path / "t.csv")
    assert "record" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no/t.csv", "the folder does not exist"),
        ("folder.csv", "is a folder, not a file"),
        ("t.xlsx", "cannot recognize the format"),
    ],
)
def test_a_place_that_cannot_be_written_is_named_before_anything_happens(tmp_path, name, reason):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=reason):
        io.write(simple(), tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == ["folder.csv"]


@pytest.mark.parametrize("name", ["it's.csv", "a*.csv", "[x].parquet", "a b?.csv.gz"])
def test_a_strange_name_is_written_and_read_as_it_is(tmp_path, name):
    io.write(simple(), tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert content(io.read(tmp_path / name, simple().schema)) == content(simple())


def test_a_level_that_looks_like_a_missing_code_of_another_column_survives(tmp_path):
    domain = Levels(("-8", "no"))
    schema = Schema(
        (
            Column(name="a", kind=Kind.CATEGORY, domain=domain),
            Column(name="b", kind=Kind.INTEGER, domain=Bounds(0, 5), missing=("-8",)),
        )
    )
    table = from_mapping(schema, {"a": ["-8", "no"], "b": ["-8", "1"]})
    io.write(table, tmp_path / "t.csv")
    assert content(io.read(tmp_path / "t.csv", schema)) == {"a": ["-8", "no"], "b": [None, "1"]}
