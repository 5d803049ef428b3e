"""The published hierarchies of Adult, and the tables others have anonymized with them."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.cell import Interval
from hushtable.table.columns import MISSING_CODE, Cells
from hushtable.table.hierarchy import lint, read_file
from hushtable.table.schema import Schema
from hushtable.table.trees import build, read_cell

CATEGORIES = ["education", "marital_status", "native_country", "occupation", "race", "sex", "workclass", "income"]
SOURCES = ["hierarchies_arx", "hierarchies_anjana"]


@pytest.fixture(scope="module")
def train(real_data) -> pd.DataFrame:
    return pd.read_csv(real_data / "adult/adult_train.csv.gz", dtype=str, keep_default_na=False)


def lines_of(path) -> list[list[str]]:
    with path.open(encoding="utf-8") as stream:
        return list(csv.reader(stream))[1:]


def schema_of(real_data, source: str) -> Schema:
    """Adult under the hierarchies of one source, its domains open."""
    entries = [f"age: {{kind: integer, hierarchy: {source}/age.csv}}"]
    entries += [f"{name}: {{kind: category, hierarchy: {source}/{name}.csv}}" for name in CATEGORIES]
    return Schema.parse(f"missing: ['?']\ncolumns: {{{', '.join(entries)}}}", folder=real_data / "adult")


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ["age", *CATEGORIES])
def test_a_published_hierarchy_is_a_tree(real_data, source, name):
    folder = real_data / "adult" / source
    tree = read_file(f"{name}.csv", folder)
    assert [list(row) for row in tree.rows] == lines_of(folder / f"{name}.csv")
    assert lint(tree.rows, name) == []
    assert set(tree.groups[-1]) == {"*"}


@pytest.mark.parametrize("source", SOURCES)
def test_adult_climbs_to_every_level_of_its_hierarchies(real_data, train, source):
    table = io.read(train, schema_of(real_data, source))
    for column in table.schema:
        lines = {line[0]: line for line in lines_of(real_data / "adult" / source / f"{column.name}.csv")}
        levels = build(column)
        assert len(levels) == len(next(iter(lines.values()))) - 1
        present = ~table.missing(column.name)
        for depth, level in enumerate(levels, 1):
            codes = level.index(column, table[column.name])
            expected = train[column.name][present].map({leaf: line[depth] for leaf, line in lines.items()}).to_numpy()
            assert (np.array([cell.text for cell in level.cells], object)[codes[present]] == expected).all()
            assert (codes[~present] == (0 if level.top else MISSING_CODE)).all()
            assert level.shares.sum() <= 1 + 1e-9
            for cell, share in zip(level.cells, level.shares, strict=True):
                assert read_cell(column, cell.text) == cell
                if column.coded and not level.top:
                    assert share == pytest.approx(sum(line[depth] == cell.text for line in lines.values()) / len(lines))


def test_a_label_of_ages_means_the_ages_under_it(real_data, train):
    table = io.read(train, schema_of(real_data, "hierarchies_anjana"))
    column = table.schema["age"]
    assert read_cell(column, "[20, 40[").span == Interval(20, 39)
    assert read_cell(column, ">=80").span == Interval(80, 90)
    assert read_cell(column, "[15, 20[").span == Interval(17, 19)


def test_the_age_that_a_hierarchy_has_no_line_for_is_named(real_data):
    text = "columns: {age: {kind: integer, domain: [17, 90], hierarchy: hierarchies_anjana/age.csv}}"
    with pytest.raises(InputError) as caught:
        Schema.parse(text, folder=real_data / "adult")
    assert str(caught.value) == "schema, column age: hierarchy: has no line for values of the domain ('89')"
    Schema.parse(text.replace("anjana", "arx"), folder=real_data / "adult")


def test_the_country_that_a_hierarchy_has_no_line_for_is_named_when_missing_codes_are_not_declared(real_data, train):
    schema = Schema.parse(
        "columns: {workclass: {kind: category, hierarchy: hierarchies_arx/workclass.csv}}", folder=real_data / "adult"
    )
    with pytest.raises(InputError, match=r"the hierarchy has no line for some values \('\?'\)"):
        io.read(train, schema)


@pytest.mark.parametrize(
    ("name", "k", "classes"), [("adult_k3.csv.gz", 3, 2837), ("adult_k10.csv", 10, 462), ("adult_k20.csv", 20, 89)]
)
def test_an_anonymized_table_of_others_has_the_classes_they_state(real_data, name, k, classes):
    path = real_data / "adult/anonymized_examples" / name
    names = io.column_names(path)
    entries = [f"{n}: {{kind: {'integer' if n == 'age' else 'category'}}}" for n in names]
    table = io.read(path, Schema.parse(f"columns: {{{', '.join(entries)}}}"), generalized=True)
    groups, count = table.groups([n for n in names if n != "income"])
    assert count == classes
    assert np.bincount(groups).min() == k


@pytest.mark.parametrize("source", SOURCES)
def test_a_generalized_adult_written_and_read_back_holds_the_same_cells(real_data, train, source, tmp_path):
    table = io.read(train, schema_of(real_data, source))
    for column in table.schema:
        level = build(column)[0]
        generalized = column.generalize(level.cells)
        table = table.with_column(generalized, level.index(column, table[column.name]))
    io.write(table, tmp_path / "t.csv")
    declared = Schema.parse(table.schema.dump(), folder=real_data / "adult")
    assert declared == table.schema
    again = io.read(tmp_path / "t.csv", declared)
    assert again.schema == table.schema
    for column in again.schema:
        assert isinstance(column.domain, Cells)
        np.testing.assert_array_equal(again[column.name], table[column.name])
