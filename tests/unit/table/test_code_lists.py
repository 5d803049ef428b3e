"""Columns that others determine: read with every fault, written back, computed from rows, and counted where rows differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.table.code_list import Dependency
from hushtable.table.columns import Facet
from hushtable.table.declare import declare
from hushtable.table.determined import departs, determined, due_cells, follow, most_common
from hushtable.table.schema import Schema

TEXT = """
missing: ["?"]
columns:
  region: {kind: category, domain: [coast, inland], determined_by: area, codes: {north: coast, south: inland, west: coast}}
  area:   {kind: category, domain: [north, south, west]}
  level:  {kind: ordinal, domain: [low, high], determined_by: school, codes: {1: low, 2: low, 3: high}}
  school: {kind: integer, domain: [1, 3]}
  rate:   {kind: real, domain: [0, 1], determined_by: region, codes: {coast: 0.123456789, inland: "?", "": 0.5}}
"""


def table(schema: Schema) -> ht.Table:
    frame = pd.DataFrame(
        {
            "region": ["coast", "inland", "coast", ""],
            "area": ["north", "south", "west", ""],
            "level": ["low", "high", "low", ""],
            "school": ["1", "3", "2", ""],
            "rate": ["0.123456789", "", "0.123456789", "0.5"],
        }
    )
    return ht.read(frame, schema)


def test_a_schema_with_code_lists_is_read_and_written_back(tmp_path):
    schema = Schema.parse(TEXT)
    assert schema["region"].determined_by == Dependency("area", (("north", "coast"), ("south", "inland"), ("west", "coast")))
    assert schema["rate"].determined_by.index["inland"] == "", "a missing code is an empty text"
    assert Schema.parse(schema.dump()) == schema
    schema.save(tmp_path / "schema.yaml")
    assert Schema.load(tmp_path / "schema.yaml") == schema


def test_each_comes_after_the_one_that_determines_it():
    assert list(determined(Schema.parse(TEXT))) == ["region", "level", "rate"]


def test_a_list_in_a_file_with_or_without_a_heading_is_the_same(tmp_path):
    (tmp_path / "plain.csv").write_text("north,coast,a label for people\nsouth,inland\nwest,coast\n")
    (tmp_path / "headed.csv").write_text("area,region\nnorth,coast\nsouth,inland\nwest,coast\n")
    inline = Schema.parse(TEXT)
    for file in ("plain.csv", "headed.csv"):
        text = TEXT.replace("codes: {north: coast, south: inland, west: coast}", f"codes: {file}")
        assert Schema.parse(text, folder=tmp_path) == inline


def test_a_long_list_stands_in_a_file_beside_the_schema(tmp_path):
    codes = {f"c{i:03d}": f"g{i % 7}" for i in range(200)}
    levels = sorted(set(codes.values()))
    text = f"columns: {{code: {{kind: category, domain: {list(codes)}}}, group: {{kind: category, domain: {levels}}}}}"
    schema = Schema.parse(text).with_determined("group", "code", codes)
    schema.save(tmp_path / "schema.yaml")
    assert (tmp_path / "schema.codes" / "group.csv").read_text().startswith("code,group\nc000,g0\n")
    assert Schema.load(tmp_path / "schema.yaml") == schema
    assert Schema.parse(schema.dump()) == schema


def test_levels_that_are_not_given_are_those_of_the_list():
    schema = Schema.parse("columns: {code: category, group: {kind: category, determined_by: code, codes: {a: x, b: y, c: x}}}")
    assert schema["code"].levels == ("a", "b", "c")
    assert schema["group"].levels == ("x", "y")
    assert not schema["group"].observed


def test_without_a_list_or_with_discover_it_is_to_be_learnt():
    for codes in ("", ", codes: discover"):
        schema = Schema.parse(f"columns: {{a: {{kind: category, domain: [x]}}, b: {{kind: integer, determined_by: a{codes}}}}}")
        assert schema["b"].determined_by == Dependency("a", None)


FAULTS = {
    "an unknown column": ("determined_by: aera, codes: {x: 1}", "there is no column 'aera' (did you mean 'area'?)"),
    "itself": ("determined_by: child, codes: {x: 1}", "determined by itself in the end"),
    "a circle": ("determined_by: round, codes: {x: 1}", "determined by itself in the end"),
    "a list without a column": ("codes: {x: 1}", "determined_by: expected the name of a column"),
    "a list that is none": ("determined_by: area, codes: [x, 1]", "codes: expected {value: value}, a file .csv, or discover"),
    "no such file": ("determined_by: area, codes: nowhere.csv", "codes nowhere.csv: the file does not exist"),
    "a level without a value": ("determined_by: area, codes: {x: 1, y: 2}", "codes: has no value for values of area ('z')"),
    "a value outside": ("determined_by: area, codes: {x: 1, y: 2, z: 77}", "holds values outside of the domain of child ('77')"),
    "a value of another kind": ("determined_by: area, codes: {x: 1, y: 2, z: a}", "holds values outside of the domain of child"),
    "what is no number": ("determined_by: count, codes: {x: 1}", "holds what is no value of count, which is integer"),
    "a number without a value": ("determined_by: count, codes: {0: 1, 1: 1}", "has no value for values of count ('2')"),
    "fractions": ("determined_by: share, codes: {0.5: 1}", "categories, ordinals and whole numbers determine others"),
    "missing where required": ("determined_by: area, required: true, codes: {x: 1, y: 2, z: 3}", "leaves child missing"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_list_is_named_with_its_column(name, tmp_path):
    entry, expected = FAULTS[name]
    text = (
        "columns: {area: {kind: category, domain: [x, y, z]}, count: {kind: integer, domain: [0, 2]}, share: {kind: real}, "
        f"child: {{kind: integer, domain: [0, 9], {entry}}}, round: {{kind: integer, determined_by: child}}}}"
    )
    with pytest.raises(InputError) as caught:
        Schema.parse(text, folder=tmp_path)
    assert expected in str(caught.value)
    assert "column child" in str(caught.value)


def test_faults_of_several_lists_are_listed_at_once(tmp_path):
    text = "columns: {a: {kind: category, domain: [x, y]}, b: {kind: integer, determined_by: z}, c: {kind: text, determined_by: a}}"
    with pytest.raises(InputError) as caught:
        Schema.parse(text)
    assert len(caught.value.faults) == 2


def test_a_file_that_gives_a_value_twice_is_a_fault(tmp_path):
    (tmp_path / "codes.csv").write_text("x,1\nx,2\n")
    text = "columns: {a: {kind: category, domain: [x]}, b: {kind: integer, determined_by: a, codes: codes.csv}}"
    with pytest.raises(InputError, match="1 values are given two values each"):
        Schema.parse(text, folder=tmp_path)


def test_values_follow_and_rows_that_differ_are_counted():
    rows = table(Schema.parse(TEXT))
    broken = {name: mask.tolist() for name, mask in departs(rows).items()}
    assert broken == {name: [False] * 4 for name in ("region", "level", "rate")}
    wrong = rows.with_column(rows.schema["region"], np.array([1, 1, 0, 0], np.int32))
    assert departs(wrong)["region"].tolist() == [True, False, False, True]
    assert departs(wrong)["rate"].tolist() == [True, False, False, True]
    level = follow(rows, rows.schema["level"], rows.schema["level"].determined_by)
    assert level.tolist() == [0, 1, 0, -1]


def test_without_a_list_rows_differ_from_the_most_common_value():
    schema = Schema.parse("columns: {a: {kind: category, domain: [x, y]}, b: {kind: integer, domain: [0, 9], determined_by: a}}")
    rows = ht.read(pd.DataFrame({"a": ["x", "x", "x", "y", ""], "b": ["1", "1", "2", "3", ""]}), schema)
    assert departs(rows)["b"].tolist() == [False, False, True, False, False]
    assert most_common(rows, "b", "a").index == {"x": "1", "y": "3", "": ""}


def test_a_selection_without_the_determining_column_forgets_it():
    schema = Schema.parse(TEXT)
    assert schema.select(["region", "rate"])["region"].determined_by is None
    assert schema.select(["region", "rate"])["rate"].determined_by is not None


def test_what_became_of_other_values_is_not_written():
    schema = Schema.parse(TEXT)
    other = schema.with_columns(replace(schema["region"], domain=replace(schema["region"].domain, levels=("OTHER",))))
    assert "determined_by: area" not in other.dump()
    assert Schema.parse(other.dump())["region"].determined_by is None


def test_bins_are_not_what_a_list_speaks_of():
    schema = Schema.parse(TEXT)
    by = schema["region"].determined_by
    assert due_cells(schema["area"], schema["region"], by).tolist() == [0, 1, 0, -1]
    assert due_cells(schema["school"], schema["region"], by) is None
    bins = replace(schema["area"], domain=replace(schema["area"].domain, levels=("[0, 1]", "[2, 3]")))
    assert due_cells(bins, schema["region"], by) is None


def test_a_mark_on_a_list_is_read_written_and_declared(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text(TEXT.replace("{kind: ordinal,", "{kind: ordinal, observed: [determined_by],"))
    schema = Schema.load(path)
    assert schema.undeclared == {"level": frozenset({Facet.DETERMINED})}
    assert Schema.parse(schema.dump()) == schema
    _, after = declare(path, facets=["determined_by"])
    assert after.undeclared == {}
    assert Schema.load(path) == after


def test_a_dependency_that_is_declared_in_python_is_checked():
    schema = Schema.parse("columns: {a: {kind: category, domain: [x, y]}, b: {kind: integer, domain: [0, 9]}}")
    assert schema.with_determined("b", "a", {"x": 1, "y": 2})["b"].determined_by.index == {"x": "1", "y": "2"}
    with pytest.raises(InputError, match="has no value for values of a"):
        schema.with_determined("b", "a", {"x": 1})
