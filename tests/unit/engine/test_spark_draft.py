"""A draft on Spark is the draft of the same files on one machine, word for word."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hushtable.data.people import people
from hushtable.engine import decoders, spark, spark_words, spark_work
from hushtable.engine import draft as drafting
from hushtable.engine.draft import Lacking, draft
from hushtable.engine.spark_jobs import ROWS
from hushtable.engine.spark_work import Listing
from hushtable.errors import InputError, PlanError
from hushtable.table.columns import Kind
from hushtable.table.infer import Draft
from hushtable.table.layout import Layout
from hushtable.table.rows import answered
from tests.random_tables import tables
from tests.unit.engine.test_draft import DISK, alike, mixed
from tests.unit.engine.test_spark import SPARK, in_files, needs_java, on_spark

pytestmark = [pytest.mark.spark, needs_java]


def assert_same_draft(given: Path | str, *more) -> Draft:
    """On Spark and on one machine."""
    disk, found = draft(given, DISK, *more), draft(given, SPARK, *more)
    alike(found, disk)
    assert found.remarks == disk.remarks
    return found


@pytest.mark.parametrize(
    ("form", "sizes"), [("parquet", [1, 200, 0, 99]), pytest.param("csv", [150, 1, 149], marks=pytest.mark.nightly)]
)
def test_all_types_of_columns_are_drafted_as_on_one_machine(tmp_path, form, sizes):
    found = assert_same_draft(mixed(tmp_path / "rows", sizes, form))
    assert {column.kind for column in found.schema} >= {Kind.CATEGORY, Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.KEY}
    assert {line.missing for line in found.lines} > {0, 300}


@pytest.mark.nightly
@settings(deadline=None, max_examples=2, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(width=4, rows=40).filter(lambda table: table.rows > 2), st.sampled_from(["csv", "parquet"]), st.integers(1, 4))
def test_random_tables_are_drafted_as_on_one_machine(tmp_path_factory, table, form, files):
    assert_same_draft(in_files(table, tmp_path_factory.mktemp("rows"), files, form))


@pytest.mark.nightly
def test_what_is_too_much_for_one_list_or_one_look_is_picked_as_on_one_machine(tmp_path, monkeypatch):
    for module in (drafting, decoders):
        monkeypatch.setattr(module, "WORDS", 1000)
    monkeypatch.setattr(drafting, "ESTIMATED", 100)
    monkeypatch.setattr(drafting, "LOOKED_AT", 400)
    rng, folder = np.random.default_rng(0), tmp_path / "many"
    folder.mkdir()
    for part in range(3):
        lines = [f"shop{i % 4000},{i % 90},{rng.normal():.3f},{'' if i % 5 else i}\n" for i in range(part, 9000, 3)]
        (folder / f"part-{part}.csv").write_text("goods,age,score,member\n" + "".join(lines))
    found = assert_same_draft(folder)
    assert found.schema["goods"].kind is Kind.KEY
    assert any("too many for a list" in note for note in found.schema.notes)
    assert any("400 of them, picked at random" in note for note in found.schema.notes)
    assert abs(found.lines[0].distinct - 4000) < 1200
    assert [line.missing for line in found.lines] == [0, 0, 0, 7200]


@pytest.mark.nightly
def test_what_spark_itself_reads_is_drafted_as_its_rows(tmp_path):
    folder = mixed(tmp_path / "rows", [300])
    with duckdb.connect() as connection:
        # Types that Spark has too, and reads as they are.
        few = 'number, age, ward, dose, price, smokes, married, born, padded, nothing, visits, pid::VARCHAR AS "p.i`d"'
        connection.execute(f"COPY (SELECT {few} FROM '{folder}/part-0.parquet') TO '{tmp_path}/few.parquet'")
    disk = draft(tmp_path / "few.parquet", DISK)
    alike(draft(f"parquet::{tmp_path}/few.parquet", SPARK), disk)
    spark.session(SPARK).read.parquet(f"{tmp_path}/few.parquet").repartition(3).createOrReplaceTempView("visits")
    assert draft("table::visits", SPARK).lines == disk.lines
    with pytest.raises(InputError, match="a layout is for text files"):
        draft("table::visits", SPARK, Layout(header=True))
    spark.session(SPARK).catalog.dropTempView("visits")


@pytest.mark.nightly
def test_a_dictionary_declares_on_spark_too(tmp_path):
    lines = "".join(f"{i % 90},{i % 2 + 1},{'N' if i % 6 == 0 else i * 250}\n" for i in range(120))
    (tmp_path / "rows.csv").write_text(f"age,sex,income\n{lines}")
    (tmp_path / "right.csv").write_text(
        "variable,type,values,missing\nage,integer,0..99,\nsex,,1=Male|2=Female,\nincome,integer,,N\n"
    )
    found = assert_same_draft(tmp_path / "rows.csv", None, tmp_path / "right.csv")
    assert not found.schema["age"].observed
    (tmp_path / "wrong.csv").write_text("variable,type,values\nage,integer,0..50\nsex,,1=Male\n")
    said = []
    for compute in (DISK, SPARK):
        with pytest.raises(InputError) as caught:
            draft(tmp_path / "rows.csv", compute, None, tmp_path / "wrong.csv")
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "data dictionary wrong.csv, column sex" in said[0]


@pytest.mark.nightly
def test_first_lines_names_and_rows_are_judged_as_on_one_machine(tmp_path):
    (tmp_path / "bare.csv").write_text("34,Berlin\n" + "".join(f"{20 + i % 50},Berlin\n" for i in range(60)))
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n3,4\n")
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    for name in ("bare", "twice", "one"):
        said = []
        for compute in (DISK, SPARK):
            with pytest.raises(InputError) as caught:
                draft(tmp_path / f"{name}.csv", compute)
            said.append(str(caught.value))
        assert said[0] == said[1]
        assert "Berlin" not in said[1]
    assert_same_draft(tmp_path / "bare.csv", Layout(header=False))


def test_a_table_of_keys_alone_is_drafted(tmp_path):
    (tmp_path / "keys.csv").write_text("person_id,email\n" + "".join(f"P{i:05d},p{i}@example.org\n" for i in range(90)))
    found = assert_same_draft(tmp_path / "keys.csv")
    assert {column.kind for column in found.schema} == {Kind.KEY}


def test_rows_that_a_worker_forgets_stop_the_draft(tmp_path, monkeypatch):
    folder = in_files(people(300), tmp_path / "rows")

    class Forgetful(Listing):
        def __call__(self, batches):
            yield from list(Listing.__call__(self, batches))[:-99]

    monkeypatch.setattr(spark_words, "Listing", Forgetful)
    with pytest.raises(InputError, match="was changed while it was read"):
        draft(folder, SPARK)


def test_workers_whose_hashes_may_differ_stop_the_draft(tmp_path, monkeypatch):
    for module in (drafting, decoders):
        monkeypatch.setattr(module, "WORDS", 100)
    folder = in_files(people(300), tmp_path / "rows")

    class Older(Listing):
        def __call__(self, batches):
            yield from Listing.__call__(self, batches)
            yield spark_work._listed(ROWS, ["1.0.0"], [0], [0])

    monkeypatch.setattr(spark_words, "Listing", Older)
    with pytest.raises(InputError, match="several versions of DuckDB"):
        draft(folder, SPARK)


@pytest.mark.nightly
def test_nothing_of_a_draft_stays_in_the_cluster(tmp_path):
    held = spark.session(SPARK).sparkContext._jsc.getPersistentRDDs
    before = held().size()
    draft(in_files(people(300), tmp_path / "rows"), SPARK)
    # What is not needed any more is let go with the next word to the cluster.
    spark.session(SPARK)
    assert held().size() <= before


@pytest.mark.nightly
def test_missing_keys_are_counted_by_workers(tmp_path):
    table = people(300)
    rows = on_spark(in_files(table, tmp_path / "rows"), table.schema)
    keys = tuple(column.name for column in table.schema if column.kind is Kind.KEY)
    np.testing.assert_array_equal(answered(Lacking(keys), table), answered(Lacking(keys), rows))
    half = np.arange(table.rows) % 2 == 0
    np.testing.assert_array_equal(answered(Lacking(keys), table.take(half)), answered(Lacking(keys), rows.take(half)))
    with pytest.raises(PlanError, match="free text and keys beside other columns"):
        rows.fold(Lacking((*keys, "sex")))
    assert_keys_are_read(rows.select(keys), table.select(keys))


def assert_keys_are_read(found, table):
    parts = list(found.batches(100))
    for name in table.schema.names:
        np.testing.assert_array_equal(np.concatenate([part.strings(name) for part in parts]), table.strings(name))
