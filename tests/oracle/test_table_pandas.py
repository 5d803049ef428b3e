"""Tables against pandas: the same rows from the same file, the same counts, groups and quantiles."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.table import io
from hushtable.table.columns import Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import from_mapping

REAL = [
    "adult/adult_test.csv.gz",
    "credit_approval/crx.csv",
    "german_credit/german_credit.csv",
    "pima_diabetes/pima_diabetes.csv",
    "sd2011/sd2011.csv.gz",
]


def assert_same_rows(table: Table, texts: pd.DataFrame) -> None:
    """Every value of the table is the value of the file: texts as texts, numbers as numbers, missing where the file is empty."""
    assert list(table.schema.names) == list(texts.columns)
    assert table.rows == len(texts)
    for column in table.schema:
        raw = texts[column.name].str.strip()
        gap = raw.isin(["", *table.schema.missing, *column.missing]).to_numpy()
        assert (table.missing(column.name) == gap).all()
        if column.numeric and column.kind is not Kind.DATE:
            numbers = pd.to_numeric(raw.where(~gap))
            np.testing.assert_array_equal(table.floats(column.name), numbers.to_numpy(float))
        else:
            written = pd.Series(table.strings(column.name))
            assert (written[~gap] == raw[~gap]).all()


@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_read_as_pandas_reads_it_and_written_back_the_same(real_data, tmp_path, name):
    texts = pd.read_csv(real_data / name, dtype=str, keep_default_na=False)
    schema = Schema.parse(io.draft(real_data / name).dump())
    table = io.read(real_data / name, schema)
    assert_same_rows(table, texts)
    for end in (".csv", ".parquet"):
        io.write(table, tmp_path / f"t{end}")
        again = io.read(tmp_path / f"t{end}", schema)
        for column in schema:
            assert (again.strings(column.name) == table.strings(column.name)).all()
    written = pd.read_csv(tmp_path / "t.csv", dtype=str, keep_default_na=False)
    assert_same_rows(table, written)


def test_a_frame_of_pandas_is_read_like_its_file(real_data):
    path = real_data / "sd2011/sd2011.csv.gz"
    schema = io.draft(path)
    whole = io.read(path, schema)
    for frame in (pd.read_csv(path), pd.read_csv(path).convert_dtypes(), pd.read_csv(path, dtype=object)):
        table = io.read(frame, schema)
        for name in schema.names:
            assert (table.strings(name) == whole.strings(name)).all()


def test_adult_is_drafted_as_its_description_says(real_data):
    table = io.read(real_data / "adult/adult_train.csv.gz")
    schema = table.schema
    assert schema.missing == ("?",)
    assert {name: int(table.missing(name).sum()) for name in schema.names if table.missing(name).any()} == {
        "workclass": 1836,
        "occupation": 1843,
        "native_country": 583,
    }
    assert [c.name for c in schema if c.kind is Kind.INTEGER] == [
        *("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"),
    ]
    assert {"age", "sex", "race", "marital_status", "education", "native_country", "workclass", "occupation"} <= set(schema.quasi)
    assert schema["income"].role is Role.SECRET
    listed = ["age", "sex", "race", "marital_status", "education", "native_country", "workclass", "occupation"]
    groups, _ = table.groups(listed)
    assert (np.bincount(groups)[groups] == 1).mean() == pytest.approx(0.475, abs=0.0005)


def test_hidden_missing_codes_of_social_diagnosis_are_remarked(real_data):
    schema = io.draft(real_data / "sd2011/sd2011.csv.gz")
    remarked = {note.split()[1].rstrip(":") for note in schema.notes if ": -8 may mean a missing value" in note}
    assert remarked == {"unempdur", "income", "nofriend", "nociga", "wkabdur"}


def test_codes_with_leading_zeros_are_no_numbers(real_data):
    crx = io.draft(real_data / "credit_approval/crx.csv")
    texas = io.draft(pd.read_csv(real_data / "texas_inpatient/texas_inpatient.csv.gz", nrows=3000, dtype=str))
    assert crx["A14"].kind is Kind.CATEGORY
    assert "00202" in crx["A14"].levels
    assert all("01" not in c.levels or c.kind is Kind.CATEGORY for c in texas if c.coded)
    assert any("01" in c.levels for c in texas if c.coded)


SCHEMA = Schema.parse(
    "columns: {c: {kind: category, domain: [a, b, c]}, o: {kind: ordinal, domain: [lo, mid, hi], required: true},"
    " i: {kind: integer, domain: [-2, 3]}, r: {kind: real, domain: [0, 9]}, d: {kind: date, domain: [2020-01-01, 2020-01-09]}}"
)
row = st.tuples(
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from(["lo", "mid", "hi"]),
    st.integers(-2, 3) | st.none(),
    st.sampled_from([0.0, 0.5, 9.0, None]),
    st.integers(1, 9).map(lambda day: f"2020-01-0{day}") | st.none(),
)
frames = st.lists(row, min_size=1, max_size=40).map(lambda rows: pd.DataFrame(rows, columns=list(SCHEMA.names), dtype=object))


def table_of(frame: pd.DataFrame) -> Table:
    return from_mapping(SCHEMA, {name: list(frame[name]) for name in frame})


@settings(max_examples=20)
@given(frames, st.lists(st.sampled_from(["c", "o", "i"]), min_size=1, max_size=3, unique=True))
def test_counts_are_the_crosstab_with_a_cell_for_missing(frame, names):
    axes = {"c": ["a", "b", "c", "missing"], "o": ["lo", "mid", "hi"], "i": [-2, -1, 0, 1, 2, 3, "missing"]}
    filled = frame[names].astype(object).where(frame[names].notna(), "missing")
    index = pd.MultiIndex.from_product([axes[name] for name in names])
    counted = filled.groupby(names).size()
    counted.index = pd.MultiIndex.from_tuples([key if isinstance(key, tuple) else (key,) for key in counted.index])
    expected = counted.reindex(index, fill_value=0).to_numpy().reshape([len(axes[name]) for name in names])
    table = table_of(frame)
    assert table.sizes(names) == expected.shape
    np.testing.assert_array_equal(table.counts(names), expected)


@settings(max_examples=20)
@given(frames, st.lists(st.sampled_from(SCHEMA.names), min_size=1, max_size=5, unique=True))
def test_groups_are_the_partition_of_groupby(frame, names):
    expected = frame.groupby(names, dropna=False, sort=False).ngroup().to_numpy()
    groups, count = table_of(frame).groups(names)
    assert count == expected.max() + 1
    pairs = set(zip(groups.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == count == len({a for a, _ in pairs})
    assert set(groups.tolist()) == set(range(count))


@settings(max_examples=20)
@given(frames, st.lists(st.floats(0, 1), min_size=1, max_size=5), st.sampled_from(["i", "r"]))
def test_quantiles_are_those_of_the_present_values(frame, shares, name):
    present = frame[name].dropna().astype(float)
    result = table_of(frame).quantiles(name, shares)
    if present.empty:
        assert np.isnan(result).all()
    else:
        np.testing.assert_array_equal(result, present.quantile(shares, interpolation="lower").to_numpy())


@settings(max_examples=15)
@given(frames)
def test_a_frame_of_the_table_is_the_frame_it_came_from(frame):
    back = table_of(frame).frame()
    for name in frame:
        gap = frame[name].isna().to_numpy()
        assert (back[name].isna().to_numpy() == gap).all()
        expected = pd.to_datetime(frame[name][~gap]) if name == "d" else frame[name][~gap]
        assert list(back[name][~gap]) == list(expected)
