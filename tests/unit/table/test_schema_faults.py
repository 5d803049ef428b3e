"""A schema file with mistakes: every one is named, with its column, and all of them at once."""

from __future__ import annotations

import pytest

from hushtable.errors import InputError
from hushtable.table.columns import Column, Kind
from hushtable.table.schema import Schema

FAULTS = {
    "unknown kind": ("{kind: number}", "kind: expected one of category, ordinal", "'number'"),
    "no kind": ("{role: quasi}", "kind: expected one of", "nothing"),
    "unknown role": ("{kind: real, role: quasy}", "role: expected one of identifier, quasi", "'quasy'"),
    "unknown key": ("{kind: real, domian: [0, 1]}", "unknown entry 'domian'", "hierarchy"),
    "low above high": ("{kind: integer, domain: [90, 17]}", "low 90 is above high 17", ""),
    "late before early": ("{kind: date, domain: [2021-01-01, 2020-01-01]}", "low 2021-01-01 is above", ""),
    "bounds that are no numbers": ("{kind: integer, domain: [0, many]}", "domain: 'many' is not a number", ""),
    "a bound that is not whole": ("{kind: integer, domain: [0, 1.5]}", "domain: '1.5' is not a whole number", ""),
    "three bounds": ("{kind: real, domain: [1, 2, 3]}", "expected [low, high], got 3", ""),
    "a bound beyond 64 bits": ("{kind: integer, domain: [0, 9223372036854775808]}", "beyond 64 bits", ""),
    "repeated level": ("{kind: category, domain: [a, b, a, c, c]}", "more than once: 'a', 'c'", ""),
    "no levels": ("{kind: category, domain: []}", "at least one level", ""),
    "levels that are no list": ("{kind: category, domain: a}", "expected a list", ""),
    "levels in levels": ("{kind: category, domain: [[a], b]}", "plain values", ""),
    "domain of a text": ("{kind: text, domain: [a, b]}", "a text column has no domain", ""),
    "cells of a key": ("{kind: key, cells: ['*']}", "a key column has no cells", ""),
    "a cell outside": ("{kind: category, domain: [a, b], cells: ['{a, z}']}", "cell '{a, z}'", ""),
    "observed maybe": ("{kind: real, observed: maybe}", "observed: expected true or false, got 'maybe'", ""),
    "required yes": ("{kind: real, required: yes}", "required: expected true or false, got 'yes'", ""),
    "decimals in words": ("{kind: real, decimals: two}", "decimals: expected a whole number, got 'two'", ""),
    "decimals that only look whole": ("{kind: real, decimals: ²}", "decimals: expected a whole number", ""),
    "a format nobody reads": ("{kind: date, format: '%Q'}", "format: '%Q' is not a date format", ""),
    "a format without letters": ("{kind: date, format: 'day'}", "format: 'day' is not a date format", ""),
    "missing codes in a mapping": ("{kind: real, missing: {a: b}}", "missing: expected a list of texts", ""),
    "intervals of categories": ("{kind: category, hierarchy: {intervals: [5]}}", "hierarchy: does not suit kind category", ""),
    "prefixes of numbers": ("{kind: integer, hierarchy: {prefix: [3, 2]}}", "hierarchy: does not suit kind integer", ""),
    "calendar of numbers": ("{kind: real, hierarchy: {dates: [year]}}", "hierarchy: does not suit kind real", ""),
    "widths that shrink": ("{kind: real, hierarchy: {intervals: [10, 5]}}", "widths must grow, got 5 after 10", ""),
    "widths that do not nest": ("{kind: real, hierarchy: {intervals: [10, 25]}}", "25 is no multiple of 10", ""),
    "a width of nothing": ("{kind: real, hierarchy: {intervals: [nan]}}", "widths must be numbers", ""),
    "an endless width": ("{kind: real, hierarchy: {intervals: [5, inf]}}", "widths must be numbers", ""),
    "a width in a list": ("{kind: real, hierarchy: {intervals: [[5]]}}", "hierarchy: ", "['5']"),
    "widths below the step": ("{kind: integer, hierarchy: {intervals: [0.5]}}", "interval width 0.5 is below the step", ""),
    "prefixes that grow": ("{kind: category, hierarchy: {prefix: [2, 3]}}", "prefix lengths must fall", ""),
    "a prefix of nothing": ("{kind: category, hierarchy: {prefix: [0]}}", "at least 1", ""),
    "an unknown unit": ("{kind: date, hierarchy: {dates: [month, century]}}", "date units are week, month", "century"),
    "units that shrink": ("{kind: date, hierarchy: {dates: [year, month]}}", "date units must grow", ""),
    "weeks in months": ("{kind: date, hierarchy: {dates: [week, month]}}", "weeks do not nest", ""),
    "two hierarchies": ("{kind: real, hierarchy: {intervals: [5], prefix: [3]}}", "a hierarchy is a file name, or one of", ""),
    "an unknown hierarchy": ("{kind: real, hierarchy: {bins: [5]}}", "a hierarchy is a file name, or one of", ""),
    "no such file": ("{kind: real, hierarchy: nowhere.csv}", "hierarchy nowhere.csv: the file does not exist", ""),
    "a folder for a file": ("{kind: real, hierarchy: ''}", "the file cannot be read", ""),
    "an entry that is a list": ("[integer, quasi]", "expected {kind: ..., role: ...}", ""),
}


def faults_of(text: str, folder=None) -> list[str]:
    with pytest.raises(InputError) as caught:
        Schema.parse(text, folder=folder)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(("entry", "reason", "detail"), FAULTS.values(), ids=FAULTS)
def test_each_mistake_is_named_with_its_column(entry, reason, detail, tmp_path):
    (fault,) = faults_of(f"columns:\n  good: integer\n  weight: {entry}", tmp_path)
    assert fault.startswith("schema, column weight")
    assert reason in fault
    assert detail in fault


def test_all_mistakes_of_all_columns_are_listed_at_once(tmp_path):
    entries = "".join(f"  c{i}: {entry}\n" for i, (entry, _, _) in enumerate(FAULTS.values()))
    faults = faults_of(f"colour: red\nmissing: {{a: b}}\ncolumns:\n{entries}", tmp_path)
    assert len(faults) == len(FAULTS) + 2
    for i, (_, reason, _) in enumerate(FAULTS.values()):
        assert any(fault.startswith(f"schema, column c{i}") and reason in fault for fault in faults)


def test_all_mistakes_of_one_column_are_listed_at_once():
    entry = (
        "{kind: integer, role: who, observed: maybe, required: no, decimals: x, domain: [9, 1], hierarchy: {prefix: [1]}, size: 3}"
    )
    faults = "\n".join(faults_of(f"columns: {{age: {entry}}}"))
    for reason in ("role:", "observed:", "required:", "decimals:", "low 9", "does not suit kind integer", "unknown entry 'size'"):
        assert reason in faults


def test_repeated_keys_are_listed_with_their_lines_beside_the_other_mistakes():
    text = "columns:\n  age: {kind: integer, kind: real}\n  sex: category\n  age: integer\n  job: {kind: jobs}\n"
    faults = faults_of(text)
    assert "schema: line 2: 'kind' stands twice" in faults
    assert "schema: line 4: 'age' stands twice" in faults
    assert any("column job: kind" in fault for fault in faults)


@pytest.mark.parametrize("text", ["", "- a\n- b", "columns: [a, b]", "column: {a: integer}", "just words"])
def test_a_document_without_columns_says_what_is_expected(text):
    assert faults_of(text) == ["schema: expected a mapping with 'columns:'"]


def test_an_empty_list_of_columns_is_a_mistake():
    assert faults_of("columns: {}") == ["schema: declares no columns"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("columns:\n  a: {kind: integer\n  b: real\n", "line 3"),
        ("columns:\n\ta: integer", "line 2"),
        ("columns: {[a, b]: real}", "line 1"),
    ],
)
def test_broken_yaml_is_named_by_its_line(text, line):
    (fault,) = faults_of(text)
    assert fault.startswith(f"schema: not valid YAML at {line}")


def test_characters_that_yaml_refuses_are_a_mistake_not_a_crash():
    (fault,) = faults_of("columns: {a\x00b: integer}")
    assert "not valid YAML" in fault


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "the file does not exist"),
        (lambda path: path.mkdir(), "the file cannot be read"),
        (lambda path: path.write_bytes(b"columns: {a\xff: real}"), "the file is not UTF-8"),
    ],
)
def test_a_schema_file_that_cannot_be_read_is_named(tmp_path, make, reason):
    make(tmp_path / "s.yaml")
    with pytest.raises(InputError, match=f"schema s.yaml: {reason}"):
        Schema.load(tmp_path / "s.yaml")


def test_a_column_declared_twice_is_refused():
    with pytest.raises(InputError, match="'a' is declared twice"):
        Schema((Column(name="a", kind=Kind.REAL), Column(name="a", kind=Kind.TEXT)))


def test_an_unknown_column_is_named_beside_the_known_ones():
    with pytest.raises(InputError, match="no column 'b'; the schema has a, c"):
        Schema.parse("columns: {a: real, c: real}")["b"]
