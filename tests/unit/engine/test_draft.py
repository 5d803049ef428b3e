"""A draft of files of any size is the draft of the same rows in memory; of more rows than are looked at together it says so."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.engine import decoders
from hushtable.engine import draft as drafting
from hushtable.engine.compute import LEAST, Compute
from hushtable.engine.draft import draft
from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.columns import Kind
from hushtable.table.infer import Draft
from hushtable.table.layout import Layout
from hushtable.table.table import Table
from tests.random_tables import tables

DISK = Compute(engine="duckdb")
MIXED = """
SELECT i AS number, CASE WHEN i % 7 = 0 THEN -9 ELSE (i * 37) % 80 END AS age,
    CASE WHEN i % 9 = 0 THEN '?' WHEN i % 11 = 0 THEN NULL ELSE 'ward ' || (i % 5) END AS ward,
    ((i * 13) % 1000) / 8 AS dose, ((i * 13) % 200)::FLOAT / 10 AS small, ((i * 7) % 300 / 100)::DECIMAL(8, 2) AS price,
    i % 3 = 0 AS smokes, CASE WHEN i % 5 > 0 THEN i % 2 = 0 END AS married,
    DATE '1950-01-01' + (i * 91)::INTEGER AS born, TIMESTAMP '2020-03-29 00:30:00' + to_minutes(i * 17) AS seen,
    (TIMESTAMP '2020-03-29 00:30:00' + to_minutes((i % 50) * 17))::TIMESTAMPTZ AS zoned,
    TIME '08:00:00' + to_minutes(i % 20) AS clock, to_minutes(i % 4) AS wait,
    CASE WHEN i % 4 = 0 THEN 'NA' ELSE strftime(DATE '2001-02-03' + (i % 60)::INTEGER, '%d.%m.%Y') END AS moved,
    md5(i::VARCHAR)::UUID AS pid, md5((i % 9)::VARCHAR)::UUID AS doctor, ('code ' || i % 6)::BLOB AS code,
    ' ' || (i % 4) || ' ' AS padded, NULL::VARCHAR AS nothing, 'one' AS constant, i % 40 // 2 AS "file_index",
    CASE WHEN i % 6 = 0 THEN 99999 ELSE i % 30 END AS visits,
    CASE WHEN i % 8 = 0 THEN 'NaN'::DOUBLE WHEN i % 8 = 1 THEN '-0.0'::DOUBLE ELSE 0.5 + i % 3 END AS odd
FROM range(1, {stop}) AS t(i)
"""
"""Columns of all types of files, with missing values and codes for them."""
FORMS = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER true"}


def mixed(folder: Path, sizes: list[int], form: str = "parquet") -> Path:
    """All types of columns, in files of so many rows."""
    folder.mkdir()
    stop = 1
    with duckdb.connect() as connection:
        for i, size in enumerate(sizes):
            stop += size
            rows = f"SELECT * FROM ({MIXED.replace('{stop}', str(stop))}) WHERE number >= {stop - size} ORDER BY number"
            connection.execute(f"COPY ({rows}) TO '{folder}/part-{i}.{form}' ({FORMS[form]})")
    return folder


def alike(one: Draft, other: Draft) -> None:
    assert one.schema.dump() == other.schema.dump()
    assert one.lines == other.lines


def parts(table: Table, folder: Path, count: int, form: str = "parquet") -> Path:
    """The rows in several files."""
    folder.mkdir()
    for i, rows in enumerate(np.array_split(np.arange(table.rows), count)):
        io.write(table.take(rows), folder / f"part-{i:05d}.{form}")
    return folder


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_draft_of_the_town_is_the_one_in_memory(tmp_path, form):
    table = ht.people(1500)
    io.write(table, tmp_path / f"town.{form}")
    expected = io.drafted(tmp_path / f"town.{form}")
    alike(draft(tmp_path / f"town.{form}", DISK), expected)
    alike(draft(tmp_path / f"town.{form}"), expected)
    alike(draft(parts(table, tmp_path / "parts", 3, form), DISK), expected)
    alike(draft(str(tmp_path / "parts" / f"part-*.{form}")), expected)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_all_types_of_columns_are_drafted_as_in_memory(tmp_path, form):
    file = mixed(tmp_path / "rows", [300], form) / f"part-0.{form}"
    alike(draft(file, DISK), io.drafted(file))


def test_lists_are_no_levels_out_of_memory(tmp_path):
    duckdb.sql(f"COPY (SELECT i % 5 AS ward, [i % 3] AS codes FROM range(50) AS t(i)) TO '{tmp_path}/lists.parquet'")
    with pytest.raises(InputError, match=r"column codes: holds values of the type BIGINT\[\]: declare its levels"):
        draft(tmp_path / "lists.parquet", DISK)


def test_a_table_of_keys_alone_is_drafted(tmp_path):
    (tmp_path / "keys.csv").write_text("person_id,email\n" + "".join(f"P{i:05d},p{i}@example.org\n" for i in range(90)))
    found = draft(tmp_path / "keys.csv", DISK)
    alike(found, io.drafted(tmp_path / "keys.csv"))
    assert {column.kind for column in found.schema} == {Kind.KEY}


def test_a_draft_of_hundreds_of_files_is_the_one_of_their_rows_in_order(tmp_path):
    table = ht.people(300)
    table = table.select(["birth_date", "sex", "income"])
    io.write(table, tmp_path / "town.parquet")
    several = parts(table, tmp_path / "parts", 100)
    small = Compute(engine="duckdb", memory=LEAST, workers=2)
    alike(draft(several, small), io.drafted(tmp_path / "town.parquet"))


def test_a_draft_of_a_database_is_the_one_of_its_table(tmp_path):
    io.write(ht.people(300), tmp_path / "town.parquet")
    with duckdb.connect(str(tmp_path / "town.duckdb")) as connection:
        connection.execute(f"CREATE TABLE town AS SELECT * FROM '{tmp_path}/town.parquet'")
    alike(draft(tmp_path / "town.duckdb"), io.drafted(tmp_path / "town.parquet"))


@given(
    table=tables(width=4, rows=80).filter(lambda table: table.rows > 2),
    form=st.sampled_from(["parquet", "csv"]),
    count=st.integers(1, 3),
)
@settings(max_examples=25, deadline=None)
def test_drafts_of_random_tables_are_those_in_memory(tmp_path_factory, table, form, count):
    folder = tmp_path_factory.mktemp("random")
    io.write(table, folder / f"all.{form}")
    alike(draft(folder / f"all.{form}", DISK), io.drafted(folder / f"all.{form}"))
    several = parts(table, folder / "parts", count, form)
    alike(draft(several, DISK), io.drafted(folder / f"all.{form}"))


def test_text_files_are_judged_by_their_first_line_too(tmp_path):
    (tmp_path / "bare.csv").write_text("34,Berlin\n" + "".join(f"{20 + i % 50},Berlin\n" for i in range(60)))
    with pytest.raises(InputError, match="looks like a record"):
        draft(tmp_path / "bare.csv", DISK)
    alike(draft(tmp_path / "bare.csv", DISK, Layout(header=False)), io.drafted(tmp_path / "bare.csv", Layout(header=False)))
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n3,4\n")
    with pytest.raises(InputError, match="more than once"):
        draft(tmp_path / "twice.csv", DISK)


def test_more_rows_than_are_looked_at_together_keep_kinds_and_domains(tmp_path, monkeypatch):
    io.write(ht.people(1500), tmp_path / "town.parquet")
    whole = draft(tmp_path / "town.parquet")
    monkeypatch.setattr(drafting, "LOOKED_AT", 400)
    part = draft(tmp_path / "town.parquet", DISK)
    for one, other, line, other_line in zip(whole.schema, part.schema, whole.lines, part.lines, strict=True):
        assert (one.kind, one.domain, one.required, one.missing) == (other.kind, other.domain, other.required, other.missing)
        assert (line.distinct, line.missing) == (other_line.distinct, other_line.missing)
    assert any("400 of them, picked at random" in note for note in part.schema.notes)
    assert not any("picked at random" in note for note in whole.schema.notes)


def test_a_column_of_more_values_than_are_listed_is_judged_by_some_of_them(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [f"shop{i % 4000},{i % 90},{rng.normal():.3f}\n" for i in range(12_000)]
    (tmp_path / "many.csv").write_text("goods,age,score\n" + "".join(rows))
    for module in (drafting, decoders):
        monkeypatch.setattr(module, "WORDS", 1000)
    found = draft(tmp_path / "many.csv", DISK)
    whole = io.drafted(tmp_path / "many.csv")
    assert whole.schema["goods"].kind is Kind.CATEGORY
    assert found.schema["goods"].kind is Kind.KEY
    assert any("too many for a list" in note for note in found.schema.notes)
    assert (found.schema["age"], found.schema["score"].domain) == (whole.schema["age"], whole.schema["score"].domain)
    assert abs(found.lines[0].distinct - 4000) < 400


def test_numbers_of_people_are_found_as_in_memory(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    number = np.repeat(rng.choice(900_000, 4000, replace=False), rng.geometric(0.4, 4000))
    rows = [f"V{n:06d},{2015 + n % 7}-{n % 10_000:04d},{rng.choice(list('IJKL'))}{n % 99:02d}.{n % 10}\n" for n in number]
    (tmp_path / "visits.csv").write_text("ref,file,why\n" + "".join(rows))
    whole = io.drafted(tmp_path / "visits.csv")
    assert [line.column.kind for line in whole.lines] == [Kind.KEY, Kind.KEY, Kind.CATEGORY]
    alike(draft(tmp_path / "visits.csv", DISK), whole)
    for module in (drafting, decoders):
        monkeypatch.setattr(module, "WORDS", 1000)
    some = draft(tmp_path / "visits.csv", DISK)
    assert [(line.column.kind, line.kind_reason) for line in some.lines[:2]] == [
        (line.column.kind, line.kind_reason) for line in whole.lines[:2]
    ]
    assert any("--person ref " in note for note in some.schema.notes)
