"""What DuckDB reads into a store is what is read into memory, faults included."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

import duckdb as database
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hushtable.data.people import people
from hushtable.engine import decode, decoders, duckdb, source
from hushtable.engine.compute import LEAST, Compute
from hushtable.engine.open import about, open_rows
from hushtable.engine.source import Source
from hushtable.engine.spool import Spooled
from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.files import parquet_columns
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.random_tables import tables
from tests.unit.engine.test_spool import assert_equal

ON_DISK = Compute(engine="duckdb", workers=2)


@pytest.fixture(autouse=True)
def _short_spans(monkeypatch):
    monkeypatch.setattr(source, "SPAN", 5)
    monkeypatch.setattr(source, "LONG", 9)


def on_disk(path, schema: Schema, **more) -> Table:
    rows = open_rows(path, schema, compute=ON_DISK, **more)
    assert isinstance(rows, Spooled)
    return rows.whole("the test")


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(width=4, rows=40), st.sampled_from(["csv", "csv.gz", "parquet"]), st.integers(1, 3), st.booleans())
def test_files_are_read_as_in_memory(tmp_path_factory, table, form, files, open_domains):
    folder = tmp_path_factory.mktemp("rows")
    schema = table.schema
    if open_domains:
        schema = Schema(tuple(Column(name=c.name, kind=c.kind, decimals=c.decimals, format=c.format) for c in schema))
    starts = np.linspace(0, table.rows, files + 1).astype(int)
    for number, (start, stop) in enumerate(pairwise(starts)):
        io.write(table.take(slice(start, stop)), folder / f"part-{number}.{form}")
    whole = folder.parent / f"{folder.name}.{form}"
    io.write(table, whole)
    own, read = outcome(io.read, whole, schema), outcome(on_disk, folder, schema)
    if isinstance(own, Table) and isinstance(read, Table):
        assert_equal(own, read)
        assert_equal(own, on_disk(folder / f"part-*.{form}", schema, least=1))
    else:
        assert str(read).replace(str(folder), "") == str(own).replace(whole.name, "")


def outcome(reader, path, schema: Schema) -> Table | InputError:
    """What a reader makes of a file."""
    try:
        return reader(path, schema, least=1)
    except InputError as error:
        return error


FRAME = pd.DataFrame(
    {
        "whole": [1, 2, 3, -9, 5, 6, 7, 8, 9, 10, 11],
        "null": pd.array([1, None, 3, 4, 5, 6, 7, 8, 9, 10, 11], dtype="Int64"),
        "code": [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1],
        "share": [0.125, 0.375, np.nan, 2.675, 1.005, 0.5, 1.5, 2.5, -9.0, 1e-3, 1.0],
        "narrow": np.array([0.1, 0.2, np.nan, 0.3, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.7], np.float32),
        "flag": [True, False] * 5 + [True],
        "day": [dt.date(2020, 1, d) for d in range(1, 12)],
        "word": [" a", "b ", "", "?", "b", "a", None, "a", "a", "a", "b"],
        "who": [f"p{i % 4}" for i in range(11)],
    }
)
SCHEMA = Schema(
    (
        Column(name="whole", kind=Kind.INTEGER, domain=Bounds(1, 11)),
        Column(name="null", kind=Kind.INTEGER, domain=Bounds(0, 20)),
        Column(name="code", kind=Kind.CATEGORY, domain=Levels(("1", "2", "3"))),
        Column(name="share", kind=Kind.REAL, domain=Bounds(0, 3), decimals=2),
        Column(name="narrow", kind=Kind.REAL),
        Column(name="flag", kind=Kind.CATEGORY),
        Column(name="day", kind=Kind.DATE),
        Column(name="word", kind=Kind.CATEGORY, domain=Levels(("b", "a"))),
        Column(name="who", kind=Kind.KEY, role=Role.IDENTIFIER),
    ),
    missing=("-9", "?"),
)


def parquet(path, frame: pd.DataFrame = FRAME, groups: int = 4) -> None:
    with database.connect() as connection:
        connection.register("frame", frame)
        connection.execute(f"COPY frame TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {groups})")


def test_typed_columns_are_read_as_in_memory(tmp_path):
    parquet(tmp_path / "a.parquet")
    own = io.read(tmp_path / "a.parquet", SCHEMA)
    read = on_disk(tmp_path / "a.parquet", SCHEMA)
    assert_equal(own.select(SCHEMA.names[:-1]), read.select(SCHEMA.names[:-1]))
    assert list(own.strings("who")) == list(read.strings("who"))
    # Half of a last place: by the number that is written, not by its product with a power of ten.
    assert read["share"][4] == round(1.005, 2) == 1.0
    frame = FRAME.assign(**{name: FRAME[name].astype(str) for name in ("whole", "code")})
    parquet(tmp_path / "b.parquet", frame)
    assert_equal(own.select(["whole", "code"]), on_disk(tmp_path / "b.parquet", SCHEMA).select(["whole", "code"]))


def test_columns_of_very_many_words_are_read_batch_by_batch(tmp_path, monkeypatch):
    parquet(tmp_path / "a.parquet")
    own = on_disk(tmp_path / "a.parquet", SCHEMA)
    monkeypatch.setattr(decoders, "WORDS", 1)
    declared = Schema(tuple(Column(**{**vars(c), "domain": own.schema[c.name].domain}) for c in SCHEMA), SCHEMA.missing)
    assert_equal(own.select(SCHEMA.names[:-1]), on_disk(tmp_path / "a.parquet", declared).select(SCHEMA.names[:-1]))
    with pytest.raises(InputError, match="column flag: has more than 1 different values"):
        on_disk(tmp_path / "a.parquet", SCHEMA)


@pytest.mark.parametrize("words", [1_000_000, 1])
def test_faults_of_all_columns_are_told_at_once_and_as_in_memory(tmp_path, monkeypatch, words):
    schema = Schema(
        (
            Column(name="whole", kind=Kind.INTEGER, domain=Bounds(3, 6)),
            Column(name="null", kind=Kind.INTEGER, domain=Bounds(0, 20), required=True),
            Column(name="share", kind=Kind.INTEGER, domain=Bounds(0, 3)),
            Column(name="code", kind=Kind.CATEGORY, domain=Levels(("1",)), role=Role.SECRET),
            Column(name="day", kind=Kind.DATE, domain=Bounds(0, 86_400)),
            Column(name="word", kind=Kind.INTEGER, domain=Bounds(0, 1)),
        )
    )
    parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError) as own:
        io.read(tmp_path / "a.parquet", schema)
    monkeypatch.setattr(decoders, "WORDS", words)
    with pytest.raises(InputError) as read:
        on_disk(tmp_path / "a.parquet", schema)
    told = [str(fault).replace(str(tmp_path / "a.parquet"), "a.parquet") for fault in read.value.faults]
    if words > 1:
        # Examples of texts come in the order of the words.
        assert [line.replace("'?', 'b'", "'b', '?'") for line in told] == [str(fault) for fault in own.value.faults]
    else:
        # Of words that are read batch by batch the examples are those of the first batches.
        assert [line.split(" (")[0] for line in told] == [str(fault).split(" (")[0] for fault in own.value.faults]


def test_a_table_of_a_database_is_read(tmp_path):
    with database.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.register("frame", FRAME)
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    parquet(tmp_path / "a.parquet")
    own = on_disk(tmp_path / "a.parquet", SCHEMA).select(SCHEMA.names[:-1])
    assert_equal(own, on_disk(tmp_path / "a.duckdb", SCHEMA).select(SCHEMA.names[:-1]))
    with database.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute('CREATE TABLE "an other" AS SELECT 1 AS x')
    with pytest.raises(InputError, match="several tables"):
        on_disk(tmp_path / "a.duckdb", SCHEMA)
    assert_equal(own, on_disk(f"{tmp_path / 'a.duckdb'}::people", SCHEMA).select(SCHEMA.names[:-1]))
    with pytest.raises(InputError, match="has no table 'nobody'"):
        on_disk(f"{tmp_path / 'a.duckdb'}::nobody", SCHEMA)


def test_the_columns_of_a_database_are_named_without_a_row_of_it(tmp_path, monkeypatch):
    with database.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.register("frame", FRAME)
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    copied = []

    def spying(connection, path):
        copied.append(connection.execute(f"SELECT count(*) FROM read_parquet('{path}')").fetchall())
        return parquet_columns(connection, path)

    monkeypatch.setattr(source, "parquet_columns", spying)
    assert source.column_names(Source.of(tmp_path / "a.duckdb")) == list(FRAME.columns)
    assert copied == [[(0,)]]


def test_the_words_of_many_files_are_read_together(tmp_path):
    table = people(50, seed=1)
    table = table.select([name for name in table.schema.names if table.schema[name].coded][:2]).declared()
    io.write(table, tmp_path / "0000.parquet")
    for number in range(1, 30):
        (tmp_path / f"{number:04d}.parquet").hardlink_to(tmp_path / "0000.parquet")
    rows = duckdb.read(Source.of(tmp_path), table.schema, Compute(memory=LEAST, workers=2))
    assert rows.rows == 30 * table.rows
    name = table.schema.names[0]
    np.testing.assert_array_equal(rows.histograms([(name,)])[0], 30 * table.histograms([(name,)])[0])


def test_a_column_may_have_the_name_of_the_numbers_of_rows(tmp_path):
    parquet(tmp_path / "a.parquet", FRAME.rename(columns={"whole": "file_row_number", "code": "Filename"}))
    schema = Schema(
        (
            Column(name="file_row_number", kind=Kind.INTEGER, domain=Bounds(-9, 11)),
            Column(name="Filename", kind=Kind.CATEGORY, domain=Levels(("1", "2"))),
        )
    )
    assert_equal(io.read(tmp_path / "a.parquet", schema), on_disk(tmp_path / "a.parquet", schema))


def test_files_of_other_columns_are_refused(tmp_path):
    parquet(tmp_path / "a.parquet")
    parquet(tmp_path / "b.parquet", FRAME.drop(columns="day"))
    parquet(tmp_path / "c.parquet", FRAME.assign(code=FRAME["code"].astype(str)))
    parquet(tmp_path / "d.parquet", FRAME[FRAME.columns[::-1]])
    with pytest.raises(InputError) as caught:
        on_disk(tmp_path, SCHEMA)
    assert [(fault.where, fault.reason) for fault in caught.value.faults] == [
        ("b.parquet", "has other columns (day) than a.parquet"),
        ("c.parquet", "has columns of another type (code) than a.parquet"),
        ("d.parquet", "has its columns in another order than a.parquet"),
    ]


def test_what_cannot_be_read_is_refused_without_a_value(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 secret")
    with pytest.raises(InputError, match="not a readable Parquet file") as caught:
        on_disk(tmp_path / "a.parquet", SCHEMA)
    assert "secret" not in str(caught.value)
    (tmp_path / "a.db").write_bytes(b"secret" * 100)
    with pytest.raises(InputError, match="not a readable DuckDB file"):
        on_disk(tmp_path / "a.db", SCHEMA)
    for given_path in (tmp_path / "none.parquet", tmp_path / "*.csv"):
        with pytest.raises(InputError, match=r"does not exist|no file has a name"):
            on_disk(given_path, SCHEMA)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="folder without files"):
        on_disk(tmp_path / "empty", SCHEMA)


def test_a_file_that_changes_while_it_is_read_stops_the_run(tmp_path, monkeypatch):
    parquet(tmp_path / "a.parquet")
    read = duckdb._Reading._span

    def changing(self, *arguments):
        (tmp_path / "a.parquet").touch()
        return read(self, *arguments)

    monkeypatch.setattr(duckdb._Reading, "_span", changing)
    with pytest.raises(InputError, match="was changed while it was read"):
        on_disk(tmp_path / "a.parquet", SCHEMA)


def test_rows_go_where_they_fit(tmp_path):
    parquet(tmp_path / "a.parquet")
    assert isinstance(open_rows(tmp_path / "a.parquet", SCHEMA), Table)
    assert isinstance(open_rows(tmp_path, SCHEMA), Table)
    assert about(Source.of(tmp_path)) == 11
    io.write(Table.concat([io.read(tmp_path / "a.parquet", SCHEMA)]), tmp_path / "b.csv")
    assert about(Source.of(tmp_path / "b.csv")) == 12
    assert isinstance(open_rows(tmp_path / "a.parquet", SCHEMA, compute=Compute(engine="duckdb")), Spooled)


def test_rows_that_do_not_fit_stay_on_disk(tmp_path, monkeypatch):
    parquet(tmp_path / "a.parquet")
    monkeypatch.setattr("hushtable.engine.open.PER_ROW", LEAST)
    rows = open_rows(tmp_path / "a.parquet", SCHEMA, compute=Compute(memory=LEAST))
    assert isinstance(rows, Spooled)


@settings(deadline=None, max_examples=200)
@given(st.floats(-1e6, 1e6, allow_nan=False), st.integers(0, 6))
def test_decimals_are_rounded_as_they_are_written(number, decimals):
    for value in (number, round(number, decimals) + 0.5 * 10**-decimals):
        assert decode._rounded(np.array([value]), decimals)[0] == round(value, decimals)
