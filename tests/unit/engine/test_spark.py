"""Rows on Spark answer every question as rows in memory and on disk do; what would go wrong on workers is caught.

One session on this machine, tiny tables. ``test_spark_cluster`` runs the same on a cluster and over Spark Connect.
"""

from __future__ import annotations

import gc
import os
import shutil
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hushtable import audit, pareto, people, utility
from hushtable.api.open_sides import Paths, open_sides
from hushtable.engine import spark, spark_rows
from hushtable.engine.compute import Compute
from hushtable.engine.open import open_rows
from hushtable.engine.spark_jobs import in_order
from hushtable.engine.spark_rows import Clustered
from hushtable.engine.spark_work import Folding, Stored
from hushtable.errors import InputError, MissingExtra, PlanError
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release_rows
from hushtable.privacy.noise import Entropy
from hushtable.privacy.query import Ladder, Ranges, Sum, Total
from hushtable.privacy.unit import Unit
from hushtable.table import io
from hushtable.table.columns import NUMBERS, Bounds, Column, Kind, Levels, Role
from hushtable.table.layout import Layout
from hushtable.table.rows import Rows, answered
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.persons import UNEQUAL, held
from tests.random_tables import tables

ENGINE = "local[2]"
SPARK, DISK = Compute(engine=ENGINE), Compute(engine="duckdb")


def java() -> bool:
    """Whether Spark can be started here."""
    return bool(shutil.which("java") or os.environ.get("JAVA_HOME"))


pytest.importorskip("py4j", reason="Spark on this machine needs the extra 'spark-local'")
needs_java = pytest.mark.skipif(not java(), reason=f"Spark needs Java: apt-get install {spark.JAVA}")
pytestmark = [pytest.mark.spark, needs_java]


def in_files(table: Table, folder: Path, files: int = 3, form: str = "parquet") -> Path:
    """The rows in so many files, some of them perhaps without a row."""
    folder.mkdir(exist_ok=True)
    for number, (start, stop) in enumerate(pairwise(np.linspace(0, table.rows, files + 1).astype(int))):
        io.write(table.take(slice(start, stop)), folder / f"part-{number}.{form}")
    return folder


def on_spark(path: Path | str, schema: Schema, **more) -> Clustered:
    rows = open_rows(path, schema, compute=SPARK, least=1, **more)
    assert isinstance(rows, Clustered)
    return rows


def assert_equal(one: Table, other: Table) -> None:
    assert one.schema == other.schema
    for name in one.schema.names:
        own = (one.strings(name), other.strings(name)) if one.schema[name].kind is Kind.KEY else (one[name], other[name])
        np.testing.assert_array_equal(*own)


def assert_same_answers(one: Rows, other: Rows) -> None:
    """To every question of the vault."""
    schema = one.schema
    assert one.rows == other.rows
    assert_equal(Table.concat([Table.empty(schema), *one.batches()]), Table.concat([Table.empty(schema), *other.batches(7)]))
    counted = [c.name for c in schema if c.coded or c.kind is Kind.INTEGER]
    sets = [columns for way in (1, 2) for columns in combinations(counted, way)]
    for own, found in zip(one.histograms(sets), other.histograms(sets), strict=True):
        np.testing.assert_array_equal(own, found)
    own, found = one.distinct(schema.names[:2], 1000), other.distinct(schema.names[:2], 1000)
    assert_equal(own.table, found.table)
    np.testing.assert_array_equal(own.counts, found.counts)
    np.testing.assert_array_equal(answered(Total(), one), answered(Total(), other))
    numeric = next((c for c in schema if c.kind in NUMBERS), None)
    if numeric is not None:
        name = numeric.name
        np.testing.assert_array_equal(one.quantiles(name, (0, 0.3, 0.5, 1)), other.quantiles(name, (0, 0.3, 0.5, 1)))
        for question in (Ranges(name, (-10.0, 0.0, 3.0)), Ladder(name, (-1.0, 1.0))):
            np.testing.assert_array_equal(answered(question, one), answered(question, other))
        if numeric.kind is Kind.INTEGER:
            np.testing.assert_array_equal(answered(Sum(name, 0.5), one), answered(Sum(name, 0.5), other))


@settings(deadline=None, max_examples=1, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(width=4, rows=40), st.sampled_from(["csv", "parquet"]), st.integers(1, 7))
def test_every_question_has_the_answer_of_memory_and_of_disk(tmp_path_factory, table, form, files):
    folder = in_files(table, tmp_path_factory.mktemp("rows"), files, form)
    disk, rows = open_rows(folder, table.schema, compute=DISK, least=1), on_spark(folder, table.schema)
    assert_same_answers(table, disk)
    assert_same_answers(table, rows)
    half = np.arange(table.rows) % 2 == 0
    np.testing.assert_array_equal(answered(Total(), rows.take(half)), answered(Total(), table.take(half)))
    if table.rows > 1:
        assert rows.digest() == rows.take(slice(None)).digest() != rows.take(half).digest()


@pytest.fixture(scope="module")
def visits(tmp_path_factory) -> tuple[Table, Clustered, Path]:
    """People of several rows each, some of whom nobody knows."""
    table = held(UNEQUAL, alike=False, unknown=20)
    folder = in_files(table, tmp_path_factory.mktemp("visits"))
    return table, on_spark(folder, table.schema), folder


@pytest.mark.parametrize(("key", "seed"), [("pid", None), ("tag", 3)])
def test_the_same_coins_keep_the_same_rows_of_each_person(visits, key, seed):
    table, rows, _ = visits
    own = table.bounded(key, 2, Entropy.seeded(1).words, seed)
    bounded = rows.bounded(key, 2, Entropy.seeded(1).words, seed)
    assert own.rows == bounded.rows == rows.within(key, 2) < table.rows
    assert_equal(own, Table.concat([*bounded.batches(100)]))


def test_keys_are_told_but_not_compared_and_rows_stay_in_order(visits):
    table, rows, _ = visits
    assert repr(rows) == "Clustered(360 rows: pid, age, town, ward, tag)"
    assert_equal(table.select(["pid", "age"]), rows.select(["pid", "age"]).whole("a step"))
    with pytest.raises(PlanError, match="pid: free text and keys"):
        rows.distinct(["pid"], 100)
    with pytest.raises(InputError, match="no column 'whom'"):
        rows.within("whom", 1)
    with pytest.raises(InputError, match="more than 3 different tuples"):
        rows.distinct(["age", "town"], 3)
    with pytest.raises(PlanError, match="stay in their order"):
        rows.take(np.array([5, 2]))
    with pytest.raises(PlanError, match="a step needs all 100,000,000 rows in memory"):
        Clustered(rows.schema, rows.at, Compute(memory=1 << 28), known=10**8).whole("a step")


@pytest.mark.parametrize("name", ["dp-merf", "k-anonymity"])
def test_the_release_is_that_of_memory(visits, name):
    table, rows, _ = visits
    recipe = load(name).quick()
    epsilon = 1.0 if any(step.spends for step in recipe.steps) else None
    unit = Unit(relation=recipe.relation)
    own, found = (
        release_rows(
            part, recipe, epsilon=epsilon, delta=epsilon and 1e-6, seed=3, entropy=Entropy.seeded(5), unit=unit, unproven=True
        )
        for part in (table, rows)
    )
    assert own.result == found.result
    if epsilon is None:
        # Rows out of memory leave in another random order.
        one, two = (part.distinct(part.schema.names, 1000) for part in (own.table, found.table))
        assert_equal(one.table, two.table)
        np.testing.assert_array_equal(one.counts, two.counts)
    else:
        assert_equal(own.table, found.table)


@pytest.mark.parametrize("rows_per_person", [None, 1, 2])
def test_the_sheet_of_persons_is_that_of_memory(visits, rows_per_person):
    table, rows, _ = visits
    own, found = (
        pareto(part, ks=(2, 4), limits=(0.1, 1.0), person="pid", rows_per_person=rows_per_person, seed=2) for part in (table, rows)
    )
    assert found.to_json() == own.to_json()


def test_faults_are_those_of_disk(tmp_path):
    table = held(UNEQUAL, alike=False, unknown=20)
    folder = in_files(table, tmp_path / "rows", form="csv")
    schema = Schema(
        (
            Column(name="age", kind=Kind.INTEGER, domain=Bounds(3, 6)),
            Column(name="town", kind=Kind.CATEGORY, domain=Levels(("north",)), role=Role.SECRET),
            Column(name="tag", kind=Kind.CATEGORY, domain=Levels(("1", "2"))),
            Column(name="pid", kind=Kind.KEY, required=True),
        )
    )
    told = []
    for compute in (DISK, SPARK):
        with pytest.raises(InputError) as caught:
            open_rows(folder, schema, compute=compute)
        told.append([str(fault) for fault in caught.value.faults])
    assert told[0] == told[1]
    assert len(told[0]) == 4
    (folder / "part-1.csv").write_text("age,town\n1,north,secret\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"part-1\.csv: line 2: expected 2 values") as caught:
        open_rows(folder, schema, compute=SPARK)
    assert "secret" not in str(caught.value)


def test_a_table_that_spark_reads_has_the_same_answers(visits):
    table, _, folder = visits
    rows = on_spark(f"parquet::{folder}", table.schema)
    own = table.select(["age", "town"])
    one, two = own.distinct(own.schema.names, 1000), rows.select(own.schema.names).distinct(own.schema.names, 1000)
    assert_equal(one.table, two.table)
    np.testing.assert_array_equal(one.counts, two.counts)
    assert rows.within("pid", 2) == table.within("pid", 2)
    with pytest.raises(InputError, match=r"Spark stopped the work \(AnalysisException\)"):
        on_spark("table::nobody.visits", table.schema)


def test_moments_are_those_of_files_whatever_the_zone_of_the_session(tmp_path):
    from duckdb import connect

    rows = "SELECT TIMESTAMPTZ '2020-03-29 00:30:00+00' + to_minutes(i * 17) AS seen, i % 3 AS ward FROM range(99) AS t(i)"
    with connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{tmp_path}/zoned.parquet'")
    schema = Schema((Column(name="seen", kind=Kind.DATE, format="%Y-%m-%d %H:%M:%S"), Column(name="ward", kind=Kind.INTEGER)))
    settings, own = spark.session(SPARK).conf, io.read(tmp_path / "zoned.parquet", schema)
    before = settings.get("spark.sql.session.timeZone")
    settings.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for given in (tmp_path / "zoned.parquet", f"parquet::{tmp_path}/zoned.parquet"):
            assert_equal(own, Table.concat([*on_spark(given, schema).batches()]))
    finally:
        settings.set("spark.sql.session.timeZone", before)


def test_a_table_of_spark_whose_names_stand_twice_is_refused_in_our_words(tmp_path):
    opened = spark.session(SPARK)
    opened.sql("SELECT id AS age, id AS `the.town``s`, id AS age FROM range(9)").createOrReplaceTempView("twice")
    schema = Schema((Column(name="age", kind=Kind.INTEGER),))
    with pytest.raises(InputError, match="the column name 'age' stands in the header more than once"):
        on_spark("table::twice", schema)
    opened.catalog.dropTempView("twice")


@pytest.fixture(scope="module")
def compared(tmp_path_factory) -> Paths:
    """Training, released and control rows in files; the people of the first are in the release too, as they are."""
    folder, table = tmp_path_factory.mktemp("compared"), people(240, seed=2)
    train, other, control = (table.take(slice(start, start + 80)) for start in (0, 80, 160))
    release = Table.concat([train.take(slice(0, 20)), other.take(slice(20, 80))])
    for name, rows in (("train", train), ("release", release), ("control", control)):
        in_files(rows.select([c.name for c in rows.schema if name != "release" or c.role is not Role.IDENTIFIER]), folder / name, 2)
    return Paths(folder / "train", folder / "release", folder / "control")


@pytest.mark.nightly
def test_a_release_is_attacked_and_measured_as_on_disk(compared):
    schema = people(240, seed=2).schema
    attacks = ("identical-matches", "near-matches")
    told = []
    for compute in (DISK, SPARK):
        sides = open_sides(compared, schema, compute, Layout())
        assert isinstance(sides.release, Clustered) == compute.on_spark
        assert sides.control is not None
        held = sides.train, sides.release, sides.control
        by_row = audit(*held, people=60, only=attacks, seed=1)
        by_person = audit(*held, people=60, only=attacks[:1], seed=1, person="person_id")
        reports = by_row, by_person, utility(*held, only=("margins",), seed=1)
        told.append([[replace(finding, seconds=0.0, trace=None) for finding in report.findings] for report in reports])
        told[-1].append([[record.row for record in report.records] for report in reports])
        assert any(f.value for f in by_row.findings if f.name == "published verbatim")
    assert told[0] == told[1]


def test_a_control_that_has_files_of_the_training_rows_is_refused(compared):
    same = replace(compared, control=compared.train)
    with pytest.raises(InputError, match="has files of --train"):
        open_sides(same, people(240, seed=2).schema, SPARK, Layout())


def test_no_more_than_the_chosen_rows_come_back(visits, monkeypatch):
    table, rows, _ = visits
    chosen = np.arange(table.rows) % 40 == 7
    seen = []
    monkeypatch.setattr(
        spark_rows, "in_order", lambda frame, where: [seen.append(len(row[4])) or row for row in in_order(frame, where)]
    )
    assert_equal(table.select(["age"]).take(chosen), Table.concat([*rows.select(["age"]).take(chosen).batches()]))
    assert sum(seen) == chosen.sum()


def test_blocks_that_are_gone_are_let_go_with_the_next_pass(visits, tmp_path):
    table, rows, _ = visits
    persistent = spark.session(SPARK).sparkContext._jsc.getPersistentRDDs
    gc.collect()
    rows.blocks.part(["age"])
    others = on_spark(in_files(table.select(["age"]), tmp_path / "rows", 2), table.schema.select(["age"]))
    before = persistent().size()
    del others
    gc.collect()
    # Collecting may interrupt a word with the cluster: nothing is said to it then.
    assert persistent().size() == before
    rows.blocks.part(["age"])
    assert persistent().size() < before


def test_a_forgotten_last_block_stops_the_run(visits, monkeypatch):
    _, rows, _ = visits

    class Forgetful(Stored):
        def blocks(self, batches):
            yield from list(Stored.blocks(self, batches))[:-1]

    monkeypatch.setattr(spark_rows, "Stored", Forgetful)
    for asked in (
        lambda: rows.take(slice(None)).histograms([("age",)]),
        lambda: rows.fold(Total()),
        lambda: rows.distinct(["age"], 999),
    ):
        with pytest.raises(InputError, match="was changed while it was read"):
            asked()


def test_a_coin_that_falls_on_a_worker_is_seen(visits, monkeypatch):
    table, rows, _ = visits
    question = Total()
    np.testing.assert_array_equal(answered(question, table), answered(question, rows))

    class Drawing(Folding):
        def __call__(self, batches):
            class Noisy:
                def answer(self, part):
                    return question.answer(part) + np.random.default_rng().integers(1, 1000)

            return Folding(self.rows, Noisy())(batches)

    monkeypatch.setattr(spark_rows, "Folding", Drawing)
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(answered(question, table), answered(question, rows))
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(answered(question, rows), answered(question, rows))


def test_what_a_worker_quotes_stays_there(visits):
    _, rows, _ = visits

    class Fetching:
        additive = True
        reads = ("age",)

        def answer(self, table):
            if table.rows:
                raise ValueError("secret")
            return np.zeros(1, np.int64)

    with pytest.raises(InputError, match=r"Spark stopped the work \(ValueError\)") as caught:
        rows.fold(Fetching())
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_what_spark_writes_of_a_failure_stays_there(capfd):
    opened = spark.session(SPARK)
    opened.sql("SELECT CAST(concat('secret', id) AS INT) AS age FROM range(9)").createOrReplaceTempView("broken")
    with pytest.raises(InputError, match="Spark stopped the work") as caught:
        on_spark("table::broken", Schema((Column(name="age", kind=Kind.INTEGER),)))
    opened.catalog.dropTempView("broken")
    assert "secret" not in str(caught.value) + "".join(capfd.readouterr())


def test_a_source_that_changes_between_passes_stops_the_run(tmp_path):
    table = held(UNEQUAL).select(["age", "town"])
    folder = in_files(table, tmp_path / "rows")
    rows = on_spark(folder, table.schema)
    assert rows.fold(Total()).tolist() == [table.rows]
    # As when a worker is lost: its blocks are made again, of what is there by then.
    rows.blocks.frame.unpersist(blocking=True)
    assert rows.fold(Total()).tolist() == [table.rows]
    io.write(table.take(slice(0, 3)), folder / "part-0.parquet")
    rows.blocks.frame.unpersist(blocking=True)
    with pytest.raises(InputError, match="was changed while it was read"):
        rows.fold(Total())


@pytest.mark.nightly
def test_other_rows_of_the_same_number_stop_the_run(tmp_path):
    """As when a worker is lost, and its blocks are made again of what is there by then."""
    table = held(UNEQUAL).select(["age", "town"])
    folder = in_files(table, tmp_path / "rows", 2)
    rows = on_spark(f"parquet::{folder}", table.schema)
    assert rows.fold(Total()).tolist() == [table.rows]
    own = io.read(folder / "part-0.parquet", table.schema)
    io.write(own.with_columns((own.schema["age"], own["age"][::-1].copy())), folder / "part-0.parquet")

    class Same:
        schema = rows.schema

        def apply(self, table):
            return table

    for asked in (
        lambda: rows.take(slice(None)).histograms([("town",)]),
        lambda: rows.fold(Total()),
        lambda: rows.distinct(["town"], 999),
        lambda: rows.digest(),
        lambda: list(rows.batches(columns=["town"])),
        lambda: rows.encoded(Same()).blocks,
        lambda: rows.within("age", 2),
    ):
        rows.blocks.frame.unpersist(blocking=True)
        with pytest.raises(InputError, match="was changed while it was read") as caught:
            asked()
        assert not caught.value.__cause__


def test_a_table_of_spark_that_has_other_rows_by_now_is_not_read_for_its_keys(tmp_path):
    table = held(UNEQUAL).select(["age", "pid"])
    folder = in_files(table, tmp_path / "rows", 2)
    rows = on_spark(f"parquet::{folder}", table.schema)
    io.write(table.take(slice(0, 3)), folder / "part-0.parquet")
    assert rows.within("pid", 2) == table.within("pid", 2)
    rows.blocks.raw.unpersist(blocking=True)
    with pytest.raises(InputError, match="was changed while it was read"):
        rows.within("pid", 2)


def test_keys_stay_with_their_rows_though_spark_hands_these_out_in_another_order_each_time(tmp_path):
    table = held(UNEQUAL).select(["age", "pid"])
    folder = in_files(table, tmp_path / "rows", 2)

    def shuffled(batches):
        from random import SystemRandom

        for batch in batches:
            yield batch.take(SystemRandom().sample(range(batch.num_rows), batch.num_rows))

    opened = spark.session(SPARK)
    frame = opened.read.parquet(str(folder))
    with spark.translated("rows"):
        frame.mapInArrow(shuffled, frame.schema).createOrReplaceTempView("shuffled")
    rows = on_spark("table::shuffled", table.schema)
    assert_same_pairs(rows.whole("a test"), table)
    assert_same_pairs(rows.bounded("pid", 2, Entropy.seeded(1).words, None).whole("a test"), table, every=False)
    # As when what Spark keeps of them is lost.
    rows.blocks.raw.unpersist(blocking=True)
    for asked in (lambda: rows.whole("a test"), lambda: rows.within("pid", 2)):
        with pytest.raises(InputError, match="was changed while it was read"):
            asked()
    opened.catalog.dropTempView("shuffled")


def assert_same_pairs(found: Table, own: Table, *, every: bool = True) -> None:
    """Of ages and keys, in any order."""
    one, two = (Counter(zip(part["age"].tolist(), part.strings("pid").tolist(), strict=True)) for part in (found, own))
    assert one == two if every else one <= two


def test_workers_of_another_version_are_refused(visits, monkeypatch):
    _, rows, folder = visits
    opened = spark.session(SPARK)
    monkeypatch.setattr("hushtable.engine.spark.versions", lambda: ("3.99", "0.0.1"))
    with pytest.raises(
        InputError, match=r"its workers have Python 3\.\d+ and hushtable .*; here are Python 3.99 and hushtable 0.0.1"
    ):
        spark._require_alike(opened, ENGINE)
    monkeypatch.setattr("hushtable.engine.spark_jobs.versions", lambda: ("3.99", "0.0.1"))
    other = r"a worker has Python 3\.\d+ and hushtable .*; here are Python 3.99 and hushtable 0.0.1"
    for asked in (
        lambda: rows.fold(Total()),
        lambda: rows.distinct(["age"], 999),
        lambda: rows.within("age", 2),
        lambda: on_spark(folder, rows.schema),
    ):
        with pytest.raises(InputError, match=other):
            asked()


def test_what_is_not_installed_is_named(monkeypatch):
    there = spark.find_spec
    monkeypatch.setattr(spark, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'hushtable\[spark\]'"):
        spark.session(Compute(engine="sc://localhost"))
    monkeypatch.setattr(spark, "find_spec", lambda name: None if name == "py4j" else there(name))
    with pytest.raises(MissingExtra, match=r"pip install 'hushtable\[spark-local\]'"):
        spark.session(Compute(engine="local[7]"))
    monkeypatch.setattr(spark, "find_spec", there)
    monkeypatch.setattr(spark.shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match=f"Java 17 or newer: .*{spark.JAVA}"):
        spark.session(Compute(engine="local[7]"))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version", "another minor version of Python"),
        ("ModuleNotFoundError: No module named 'hushtable.engine'", "do not have the package hushtable"),
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited", "Java did not start"),
        ("Job aborted: secret", r"Spark stopped the work \(SparkException\)"),
    ],
)
def test_failures_of_spark_are_told_in_our_words(message, said):
    from pyspark.errors import PySparkException

    class SparkException(PySparkException):
        pass

    with pytest.raises(InputError, match=said) as caught, spark.translated("rows"):
        raise SparkException(message)
    assert "secret" not in str(caught.value)


def test_a_database_file_is_no_source_of_a_cluster(tmp_path):
    import duckdb

    duckdb.connect(str(tmp_path / "a.duckdb")).close()
    with pytest.raises(InputError, match="is read with --engine duckdb"):
        on_spark(tmp_path / "a.duckdb", held(UNEQUAL).schema)
