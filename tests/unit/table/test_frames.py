"""Frames of every library and dtype hold the same table, and a table becomes a frame with the usual dtypes."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.columns import Kind
from hushtable.table.schema import Schema
from hushtable.table.values import Raw, from_mapping, text_of

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SCHEMA = Schema.parse(
    "columns: {c: {kind: category, domain: [a, b]}, o: {kind: ordinal, domain: [lo, hi]},"
    " i: integer, r: real, d: date, t: text, b: category}"
)
TEXTS = {
    "c": ["a", None, "b", "a"],
    "o": ["hi", "lo", None, "hi"],
    "i": ["9007199254740993", "-1", None, "0"],
    "r": ["0.1", None, "-2.0", "3.0"],
    "d": ["2020-02-29", "1969-12-31", None, "1600-01-01"],
    "t": ["x, y", "é", None, "x, y"],
    "b": ["True", "False", "True", None],
}
NUMBERS = {"i": [2**53 + 1, -1, None, 0], "r": [0.1, None, -2.0, 3.0], "b": [True, False, True, None]}
DATES = [date(2020, 2, 29), date(1969, 12, 31), None, date(1600, 1, 1)]


def objects() -> pd.DataFrame:
    nan = {"c": ["a", np.nan, "b", "a"], "t": ["x, y", "é", pd.NA, "x, y"], "d": [*DATES[:2], pd.NaT, DATES[3]]}
    return pd.DataFrame({**TEXTS, **NUMBERS, **nan}, dtype=object)[list(TEXTS)]


def nullable() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "c": pd.Categorical(TEXTS["c"], categories=["b", "a", "unused"]),
            "o": pd.array(TEXTS["o"], dtype="string"),
            "i": pd.array(NUMBERS["i"], dtype="Int64"),
            "r": pd.array(NUMBERS["r"], dtype="Float64"),
            "d": np.array(DATES, dtype="datetime64[s]"),
            "t": pd.Series(TEXTS["t"], dtype="str"),
            "b": pd.array(NUMBERS["b"], dtype="boolean"),
        }
    )


def arrow_backed() -> pd.DataFrame:
    return arrow().to_pandas(types_mapper=pd.ArrowDtype)


def arrow():
    return pyarrow.table({**TEXTS, **NUMBERS, "d": pyarrow.array(DATES, pyarrow.date32())})


FRAMES = {
    "texts": lambda: pd.DataFrame(TEXTS),
    "objects": objects,
    "nullable": nullable,
    "arrow backed": arrow_backed,
    "polars": lambda: polars.DataFrame({**TEXTS, **NUMBERS, "d": DATES}),
    "polars categories": lambda: polars.DataFrame({**TEXTS, **NUMBERS, "d": DATES}).with_columns(
        polars.col("c", "t").cast(polars.Categorical)
    ),
    "arrow": arrow,
    "arrow batch": lambda: arrow().to_batches()[0],
}


def content(table):
    return {name: list(table.strings(name)) for name in table.schema.names}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_every_frame_gives_the_same_table(frame):
    table = io.read(frame(), SCHEMA)
    assert content(table) == TEXTS


@pytest.mark.parametrize("frame", [objects, nullable, arrow_backed, arrow])
def test_a_parquet_file_of_the_frame_gives_the_same_table(frame, tmp_path):
    source = frame()
    if isinstance(source, pd.DataFrame):
        source = source.assign(i=pd.array(NUMBERS["i"], dtype="Int64"), d=np.array(DATES, dtype="datetime64[ms]"))
        source.to_parquet(tmp_path / "t.parquet")
    else:
        parquet.write_table(source, tmp_path / "t.parquet")
    assert content(io.read(tmp_path / "t.parquet", SCHEMA)) == TEXTS


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_frame_is_not_changed_by_being_read(frame):
    before, after = frame(), frame()
    io.read(after, SCHEMA)
    assert before.equals(after)


MOMENTS = ["2020-01-01 00:00:00", "2020-02-01 10:00:07", None, "1969-12-31 23:59:59"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("way", ["frame", "parquet", "polars", "arrow", "objects", "zoned"])
def test_moments_are_dates_whatever_their_unit_and_a_midnight_changes_nothing(unit, way, tmp_path):
    stamps = pd.Series(pd.to_datetime(MOMENTS)).dt.as_unit(unit)
    source = pd.DataFrame({"when": stamps, "n": [1, 2, 3, 4]})
    if way == "parquet":
        source.to_parquet(tmp_path / "t.parquet")
        source = tmp_path / "t.parquet"
    elif way == "polars":
        source = polars.DataFrame({"when": [None if m is None else datetime.fromisoformat(m) for m in MOMENTS], "n": [1, 2, 3, 4]})
    elif way == "arrow":
        source = pyarrow.Table.from_pandas(source)
    elif way == "objects":
        source = source.astype({"when": object})
    elif way == "zoned":
        source["when"] = stamps.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    table = io.read(source)
    assert table.schema["when"].kind is Kind.DATE
    assert list(table.strings("when")) == MOMENTS


@pytest.mark.parametrize(
    "entry",
    [
        "{kind: date, domain: [2020-01-01, 2020-12-31]}",
        "{kind: date, format: '%d.%m.%Y', domain: [01.01.2020, 31.12.2020]}",
        "{kind: date, format: '%Y-%m-%d %H:%M', domain: ['2020-01-01 00:00', '2020-12-31 00:00']}",
    ],
)
def test_a_frame_of_dates_fits_a_schema_of_any_format(entry):
    schema = Schema.parse(f"columns: {{d: {entry}}}")
    table = io.read(pd.DataFrame({"d": pd.to_datetime(["2020-05-06", "2020-12-31"])}), schema)
    assert list(table.frame()["d"]) == [pd.Timestamp("2020-05-06"), pd.Timestamp("2020-12-31")]
    assert content(io.read(table.frame(), schema)) == content(table)


@pytest.mark.parametrize("form", [None, "%d.%m.%Y", "%Y-%m-%d %H:%M"])
def test_a_moment_that_the_format_would_cut_short_is_refused(form):
    schema = Schema.parse("columns: {d: date}" if form is None else f"columns: {{d: {{kind: date, format: '{form}'}}}}")
    with pytest.raises(InputError, match="values that are not dates"):
        io.read(pd.DataFrame({"d": pd.to_datetime(["2020-05-06 10:11:12", "2020-12-31 00:00:00"])}), schema)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (39.0, "39"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (np.float32(0.1), "0.1"),
        (1e20, "1e+20"),
        (2.0**53, "9007199254740992.0"),
        (np.int64(-5), "-5"),
        (2**70, str(2**70)),
        (True, "True"),
        (np.bool_(False), "False"),
        (Decimal("1.50"), "1.50"),
        (" x ", "x"),
        (date(800, 1, 2), "0800-01-02"),
        (datetime(2020, 1, 2), "2020-01-02"),
        (pd.Timestamp("2020-01-02 03:04:05.6"), "2020-01-02 03:04:05"),
        (np.datetime64("2020-01-02"), "2020-01-02"),
    ],
)
def test_a_value_of_a_frame_is_written_as_a_file_would_have_it(value, text):
    assert text_of(value) == text


def test_values_that_cannot_be_hashed_are_read_as_they_are_written():
    frame = pd.DataFrame({"a": [[1, 2], None, [1, 2], [3, 4]]})
    assert list(io.read(frame).strings("a")) == ["[1, 2]", None, "[1, 2]", "[3, 4]"]
    assert list(io.read(polars.DataFrame({"a": [[1, 2], [3, 4]]})).strings("a")) == ["[1, 2]", "[3, 4]"]


def test_a_whole_number_too_big_for_a_float_is_never_rounded(tmp_path):
    big = ["12345678901234567890", "12345678901234567891", "18446744073709551615"]
    frame = pd.DataFrame({"n": pd.array([int(n) for n in big], dtype="UInt64")})
    frame.to_parquet(tmp_path / "t.parquet")
    decimals = pyarrow.table({"n": pyarrow.array([Decimal(n) for n in big], pyarrow.decimal128(38, 0))})
    parquet.write_table(decimals, tmp_path / "d.parquet")
    for source in (frame, decimals, tmp_path / "t.parquet", tmp_path / "d.parquet"):
        assert list(io.read(source).strings("n")) == big


def test_names_are_texts_without_surrounding_blanks():
    assert io.read(pd.DataFrame([[1, 2], [3, 4]])).schema.names == ("0", "1")
    assert io.read(polars.DataFrame({" a ": [1, 2]})).schema.names == ("a",)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "more than once, for the columns 1, 2"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1 "]), "more than once, for the columns 1, 2"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", ""]), "column 2 has no name"),
        (pd.DataFrame(), "has no columns"),
        (pd.DataFrame({"a": []}), "has no rows"),
        (pd.DataFrame({"a": [1]}), "has only one row"),
    ],
)
def test_a_frame_that_is_no_table_is_named(frame, reason):
    with pytest.raises(InputError, match=reason):
        io.read(frame)


@pytest.mark.parametrize(
    "thing", [polars.LazyFrame({"a": [1, 2]}), polars.Series([1, 2]), pyarrow.array([1, 2]), pd.Series([1, 2]), {"a": [1, 2]}]
)
def test_what_is_no_frame_is_named(thing):
    with pytest.raises(
        InputError, match=f"cannot read a {type(thing).__name__}; expected a file, or a pandas, polars or Arrow frame"
    ):
        io.read(thing)


def test_a_repeated_name_that_the_schema_knows_is_quoted():
    frame = pd.DataFrame([[1, 2, 3], [3, 4, 5]], columns=["a", "b", "b"])
    with pytest.raises(InputError, match="the column name 'b' stands in the header more than once"):
        io.read(frame, Schema.parse("columns: {a: integer}"))


def test_a_frame_of_a_table_has_the_usual_dtypes():
    frame = from_mapping(SCHEMA, TEXTS).frame()
    assert [str(dtype) for dtype in frame.dtypes] == [
        *("category", "category", "Int64", "float64", "datetime64[s]", "object", "category"),
    ]
    assert list(frame["c"].cat.categories) == ["a", "b"]
    assert frame["o"].cat.ordered
    assert not frame["c"].cat.ordered
    assert frame["i"].tolist()[0] == 2**53 + 1
    assert frame.isna().sum().tolist() == [1] * 7
    assert str(from_mapping(Schema.parse("columns: {i: integer}"), {"i": [1, 2]}).frame()["i"].dtype) == "int64"


def test_a_table_survives_the_way_through_a_frame():
    table = from_mapping(SCHEMA, TEXTS)
    again = io.read(table.frame(), table.schema)
    assert content(again) == content(table)
    assert again.schema == table.schema


def test_a_raw_column_keeps_each_text_once():
    raw = Raw.of(np.array(["b", " b", None, "a", 1, 1.0, "1"], object))
    assert raw.words == ("b", "a", "1")
    assert raw.codes.tolist() == [0, 0, -1, 1, 2, 2, 2]
