"""Files without a header, in other encodings, and data dictionaries, through every command that reads a table."""

from __future__ import annotations

import inspect
import json

import pytest

import hushtable as ht
from hushtable.cli import (
    apply,
    audit,
    certify,
    compare,
    evaluate,
    hierarchy,
    pareto,
    preflight,
    profile,
    release,
    schema,
    utility,
)

ROWS = 80


@pytest.fixture
def bare(tmp_path):
    rows = "".join(f"{20 + i * 7 % 50};{['Köln', 'Bern', 'Graz'][i % 3]};{i * 37 % 90},5\n" for i in range(ROWS))
    path = tmp_path / "bare.csv"
    path.write_bytes(rows.encode("cp1252"))
    return path


COMMANDS = [apply, audit, certify, compare, evaluate, hierarchy, pareto, preflight, profile, release, schema, utility]


@pytest.mark.parametrize("module", COMMANDS)
def test_every_command_that_reads_rows_takes_the_same_options(module):
    command = getattr(module, module.__name__.split(".")[-1])
    assert {"header", "names", "encoding"} <= inspect.signature(command).parameters.keys()


def test_a_file_without_a_header_becomes_a_release(hush, bare, tmp_path):
    code, _, told = hush("schema", bare)
    assert code == 2
    assert "--encoding cp1252" in told
    code, _, told = hush("schema", bare, "--encoding", "cp1252")
    assert code == 2
    assert "--no-header" in told
    assert "--names" in told
    assert "Bern" not in told
    (tmp_path / "names.txt").write_text("age\ncity\npay\n")
    layout = ("--names", tmp_path / "names.txt", "--encoding", "cp1252")
    code, told, _ = hush("schema", bare, *layout, "-o", tmp_path / "s.yaml")
    assert code == 0, told
    assert ht.Schema.load(tmp_path / "s.yaml")["pay"].format == "1234,56"
    read = ht.read(bare, tmp_path / "s.yaml", names=tmp_path / "names.txt", encoding="cp1252")
    assert read.rows == ROWS
    code, _, told = hush("pareto", bare, "--schema", tmp_path / "s.yaml", "--k", "2", "--limit", "1")
    assert code == 2
    code, told, _ = hush("pareto", bare, "--schema", tmp_path / "s.yaml", *layout, "--k", "2", "--limit", "1")
    assert code == 0, told


def test_without_names_the_columns_are_numbered(hush, bare):
    code, told, _ = hush("schema", bare, "--encoding", "cp1252", "--no-header", "--json")
    assert code == 0
    assert [c["name"] for c in json.loads(told)["columns"]] == ["column_1", "column_2", "column_3"]


def test_a_dictionary_is_declared_in_its_name(hush, bare, tmp_path):
    (tmp_path / "d.csv").write_text("variable,type,min,max\ncolumn_1,integer,0,120\n")
    arguments = (bare, "--encoding", "cp1252", "--no-header", "--dictionary", tmp_path / "d.csv")
    code, told, _ = hush("schema", *arguments)
    assert code == 0
    drafted = ht.Schema.parse(told)
    assert drafted.declared_by == "data dictionary d.csv"
    assert "kind" not in drafted["column_1"].undeclared
    (tmp_path / "d.csv").write_text("variable,type,min,max\ncolumn_1,integer,0,30\n")
    code, _, told = hush("schema", *arguments)
    assert code == 2
    assert "rows" in told


def test_a_file_is_looked_at_before_it_is_read(hush, bare):
    code, told, _ = hush("peek", bare)
    assert code == 0
    assert "cp1252" in told
    assert "Aaaa" in told
    assert "Bern" not in told
    code, told, _ = hush("peek", bare, "--json")
    assert code == 0
    found = json.loads(told)
    assert (found["layout"]["delimiter"], found["decimal"], found["layout"]["header"]) == (";", ",", False)
    code, told, _ = hush("schema", bare, "--no-header", "--encoding", "cp1252", "--delimiter", ";", "--decimal", ",", "--json")
    assert code == 0
    assert json.loads(told)["columns"][2]["kind"] == "real"


def test_a_dictionary_declares_a_schema_that_is_there(hush, bare, tmp_path):
    (tmp_path / "names.txt").write_text("age\ncity\npay\n")
    hush("schema", bare, "--names", tmp_path / "names.txt", "--encoding", "cp1252", "-o", tmp_path / "s.yaml")
    (tmp_path / "d.csv").write_text("variable,type,min,max\nage,integer,0,120\ncity,integer,0,9\n")
    words = ("schema", tmp_path / "s.yaml", "--dictionary", tmp_path / "d.csv", "--by", "the questionnaire")
    code, told, _ = hush(*words, "-o", tmp_path / "t.yaml")
    assert code == 0
    assert "declares 1 columns" in told
    assert "column city" in told
    declared = ht.Schema.load(tmp_path / "t.yaml")
    assert declared.declared_by == "data dictionary d.csv (the questionnaire)"
    assert not declared["age"].observed
    code, told, _ = hush(*words, "--json")
    assert json.loads(told)["bare"] == ["pay"]
