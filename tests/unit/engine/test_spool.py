"""Rows on disk answer every question as rows in memory do."""

from __future__ import annotations

import gc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hushtable.encode.bins import Bins
from hushtable.engine import spool, tuples
from hushtable.engine.compute import GB, LEAST, Compute
from hushtable.engine.spool import Spooled
from hushtable.errors import InputError, PlanError
from hushtable.privacy.noise import SYSTEM, Entropy
from hushtable.privacy.query import Histogram, Ladder, Ranges, Sum, Total
from hushtable.privacy.vault import Vault
from hushtable.table.columns import NUMBERS, Bounds, Column, Kind, Levels, Role
from hushtable.table.rows import answered
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.random_tables import tables

SMALL = (1, 7, 64)


def assert_equal(one: Table, other: Table) -> None:
    assert one.schema == other.schema
    for name in one.schema.names:
        np.testing.assert_array_equal(one[name], other[name])


@pytest.fixture(params=SMALL, autouse=True)
def _batches(request, monkeypatch):
    monkeypatch.setattr(spool, "BATCH", request.param)


def people(rows: int, seed: int = 0) -> Table:
    """A table of several rows a person, some of whom nobody knows."""
    rng = np.random.default_rng(seed)
    names = np.array([f"p{i}" for i in range(9)], object)
    schema = Schema(
        (
            Column(name="who", kind=Kind.KEY, role=Role.IDENTIFIER),
            Column(name="number", kind=Kind.INTEGER, domain=Bounds(0, 8), role=Role.IDENTIFIER),
            Column(name="sex", kind=Kind.CATEGORY, domain=Levels(("f", "m"))),
        )
    )
    who = rng.integers(-1, 9, rows).astype(np.int32)
    number = np.where(who < 0, np.iinfo(np.int64).min, who.astype(np.int64))
    arrays = {"who": who, "number": number, "sex": rng.integers(-1, 2, rows).astype(np.int32)}
    return Table(schema, arrays, {"who": names})


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(width=4), st.integers(0, 2**32))
def test_every_question_has_the_answer_of_memory(table, seed):
    rows = Spooled.of(table, Compute(workers=2))
    kept = np.random.default_rng(seed).random(table.rows) < 0.6
    for own, other in ((table, rows), (table.take(kept), rows.take(kept))):
        assert own.rows == other.rows
        assert_equal(own, Table.concat([Table.empty(own.schema), *other.batches()]))
        counted = [c.name for c in table.schema if c.coded or c.kind is Kind.INTEGER]
        sets = [columns for way in (1, 2) for columns in combinations(counted, way)]
        for one, two in zip(own.histograms(sets), other.histograms(sets), strict=True):
            np.testing.assert_array_equal(one, two)
        for columns in combinations(table.schema.names, min(2, len(table.schema))):
            one, two = own.distinct(columns, 1000), other.distinct(columns, 1000)
            assert_equal(one.table, two.table)
            np.testing.assert_array_equal(one.counts, two.counts)
        for column in table.schema:
            if column.kind in NUMBERS:
                np.testing.assert_array_equal(
                    own.quantiles(column.name, (0, 0.3, 0.5, 1)), other.quantiles(column.name, (0, 0.3, 0.5, 1))
                )
                for question in (Ranges(column.name, (-10.0, 0.0, 3.0)), Ladder(column.name, (-1.0, 1.0)), Total()):
                    np.testing.assert_array_equal(answered(question, own), answered(question, other))
            if column.kind is Kind.INTEGER:
                np.testing.assert_array_equal(answered(Sum(column.name, 0.5), own), answered(Sum(column.name, 0.5), other))
                np.testing.assert_array_equal(answered(Histogram((column.name,)), own), answered(Histogram((column.name,)), other))


@pytest.mark.parametrize("key", ["who", "number"])
@pytest.mark.parametrize("most", [1, 2, 100])
@pytest.mark.parametrize("limit", [LEAST, GB])
@pytest.mark.parametrize("seed", [5, None])
def test_the_same_coins_keep_the_same_rows_of_each_person_as_in_memory(key, most, limit, seed, monkeypatch):
    monkeypatch.setattr("hushtable.engine.persons.PER_ROW", 3 * LEAST // 2000)
    table = people(120)
    own = table.bounded(key, most, Entropy.seeded(1).words, seed)
    other = Spooled.of(table, Compute(memory=limit)).bounded(key, most, Entropy.seeded(1).words, seed)
    assert own.rows == other.rows == table.within(key, most) == Spooled.of(table, Compute(memory=limit)).within(key, most)
    assert_equal(own.select(["number", "sex"]), Table.concat(list(other.select(["number", "sex"]).batches())))


def test_without_a_seed_each_person_keeps_as_many_rows_as_allowed():
    table = people(120)
    kept = Spooled.of(table).bounded("who", 2, SYSTEM.words, None)
    counts = np.bincount(np.concatenate([batch["number"] for batch in kept.batches(columns=("number",))]))
    assert counts.tolist() == np.minimum(np.bincount(table["who"][table["who"] >= 0]), 2).tolist()


def test_keys_and_texts_are_read_where_they_lie_but_not_compared():
    table = people(30)
    rows = Spooled.of(table)
    assert [word for batch in rows.batches() for word in batch.strings("who")] == list(table.strings("who"))
    with pytest.raises(PlanError, match="who: free text and keys"):
        rows.distinct(["who"], 100)
    with pytest.raises(InputError, match="no column 'whom'"):
        rows.bounded("whom", 1, SYSTEM.words, None)


class Doubled:
    """Swaps the two levels of a column."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def apply(self, table: Table) -> Table:
        return table.with_column(table.schema["sex"], np.where(table["sex"] < 0, -1, 1 - table["sex"]).astype(np.int32))


def test_what_a_code_writes_lies_in_a_store_of_its_own():
    table = people(50).select(["number", "sex"])
    rows = Spooled.of(table).take(np.arange(50) % 3 > 0)
    encoded = rows.encoded(Doubled(table.schema))
    assert encoded.rows == rows.rows
    expected = Doubled(table.schema).apply(table.take(np.arange(50) % 3 > 0))
    assert_equal(expected, Table.concat(list(encoded.select(table.schema.names).batches())))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(width=4), st.integers(0, 2**32), st.sampled_from([1 << 22, 2]))
def test_cells_that_are_looked_up_are_those_that_would_be_written(table, seed, widest):
    kept = np.random.default_rng(seed).random(table.rows) < 0.6
    code = Bins(edges="uniform", bins=3).fit(Vault.of(table), np.random.default_rng(0))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("hushtable.engine.mapped.WIDEST", widest)
        for own, rows in ((table, Spooled.of(table)), (table.take(kept), Spooled.of(table).take(kept))):
            expected, encoded = code.apply(own), rows.encoded(code)
            assert (encoded.rows, encoded.schema) == (expected.rows, expected.schema)
            assert_equal(expected, Table.concat([Table.empty(expected.schema), *encoded.batches()]))
            sets = [(name,) for name in code.edges]
            for one, two in zip(expected.histograms(sets), encoded.histograms(sets), strict=True):
                np.testing.assert_array_equal(one, two)


def test_of_a_required_column_no_cell_is_missing():
    column = Column(name="age", kind=Kind.INTEGER, domain=Bounds(3, 40), required=True)
    table = Table(Schema((column,)), {"age": np.arange(3, 41)})
    code = Bins(edges="uniform", bins=4).fit(Vault.of(table), np.random.default_rng(0))
    rows = Spooled.of(table).encoded(code)
    assert_equal(code.apply(table), Table.concat(list(rows.batches())))


class Ranked:
    """Looks at all rows at once: what a batch becomes depends on the others in it."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def apply(self, table: Table) -> Table:
        return table.take(np.flatnonzero(table["sex"] == table["sex"].max(initial=-1)))


def test_a_code_that_looks_at_all_rows_at_once_is_refused():
    rows = Spooled.of(people(50).select(["number", "sex"]))
    with pytest.raises(PlanError, match="looks at all rows at once"):
        list(rows.encoded(Ranked(rows.schema)).batches())


class Largest:
    """No sum of anything."""

    def answer(self, table: Table) -> np.ndarray:
        return table["number"].max(keepdims=True)


def test_what_is_no_sum_over_the_rows_is_refused():
    with pytest.raises(PlanError, match="Largest depends on all rows at once"):
        Spooled.of(people(50)).fold(Largest())


def test_rows_that_do_not_fit_are_not_brought_into_memory():
    table = people(50)
    rows = Spooled.of(table, Compute(memory=LEAST))
    assert_equal(rows.whole("a step").select(["sex"]), table.select(["sex"]))
    assert "p3" in rows.whole("a step").texts["who"]
    wide = Spooled(rows.schema, rows.at, rows.compute, known=10**8)
    with pytest.raises(PlanError, match="a step needs all 100,000,000 rows in memory"):
        wide.whole("a step")


def test_rows_stay_in_their_order():
    rows = Spooled.of(people(20))
    assert rows.take(np.array([2, 5, 7])).rows == 3
    assert rows.take(slice(2, 5)).rows == 3
    with pytest.raises(PlanError, match="stay in their order"):
        rows.take(np.array([5, 2]))


def test_the_digest_is_that_of_the_rows():
    table = people(20)
    rows = Spooled.of(table)
    assert rows.digest() == Spooled.of(table).digest() != rows.take(slice(0, 19)).digest()


def test_the_folder_is_the_owners_alone_and_goes_with_the_rows(tmp_path):
    rows = Spooled.of(people(20), Compute(work=tmp_path / "work"))
    folder = rows.store.folder
    assert folder.parent == tmp_path / "work"
    assert folder.stat().st_mode & 0o077 == 0
    del rows
    gc.collect()
    assert not folder.exists()


def test_no_row_enters_a_repr():
    assert repr(Spooled.of(people(20))) == "Spooled(20 rows: who, number, sex)"


def test_tuples_of_many_wide_columns_take_several_words(monkeypatch):
    monkeypatch.setattr(tuples, "ROOM", 40)
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Column(name=f"c{i}", kind=Kind.INTEGER, domain=Bounds(-3, 20)) for i in range(4)))
    table = Table(schema, {name: rng.integers(-3, 21, 3000) for name in schema.names})
    one, two = table.distinct(schema.names, 5000), Spooled.of(table).distinct(schema.names, 5000)
    assert_equal(one.table, two.table)
    np.testing.assert_array_equal(one.counts, two.counts)
    with pytest.raises(InputError, match="more than 100 different tuples"):
        Spooled.of(table).distinct(schema.names, 100)
