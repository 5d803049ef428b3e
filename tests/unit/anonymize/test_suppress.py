"""Suppression as a step: k holds for rows as they are written, and no cell says what it should not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.anonymize.recoding.mondrian import Mondrian
from hushtable.anonymize.recoding.suppress import Suppress, What
from hushtable.checks import example
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.verify import verify
from hushtable.privacy.criteria import Classes, k_anonymity
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.table import io
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.mixed import mixed, uncovered

ROW = Column(name="row", kind=Kind.INTEGER, domain=Bounds(0, 1000))


def fitted(table: Table, **knobs):
    return Suppress(**knobs).fit(Vault.of(table), np.random.default_rng(0))


def smallest(table: Table, quasi: tuple[str, ...]) -> int:
    """The fewest rows alike, those with nothing but stars included."""
    return int(np.bincount(table.groups(quasi)[0]).min())


@given(mixed(), st.integers(2, 6), st.sampled_from(What))
@settings(max_examples=120)
def test_rows_alike_number_k_and_cells_cover(table, k, what):
    numbered = table.with_column(ROW, np.arange(table.rows))
    quasi = table.schema.quasi
    if table.rows < k:
        with pytest.raises(InputError, match=f"k = {k} is larger"):
            fitted(numbered, k=k, what=what)
        return
    try:
        model = fitted(numbered, k=k, what=what)
    except InputError:
        alike = np.bincount(table.groups(quasi)[0])
        assert what is What.RECORDS
        assert alike.max() < k
        return
    release = model.table
    raw = numbered.take(release["row"])
    result = model.result()
    assert smallest(release, quasi) >= k
    assert release.rows + result["rows_dropped"] == table.rows
    if what is What.RECORDS:
        assert all(np.array_equal(release[n], raw[n], equal_nan=release[n].dtype.kind == "f") for n in release.schema.names)
        return
    assert result["rows_dropped"] < k
    assert [uncovered(release, raw, name) for name in quasi] == [0] * len(quasi)
    stars = {name: (release.strings(name) == "*") & starred(release, name) for name in quasi}
    assert {name: int(actual.sum()) for name, actual in stars.items()} == result["cells"]
    if what is What.VALUES:
        for name, actual in stars.items():
            values = raw.strings(name)
            assert not set(values[actual]) & set(values[~actual])
    elif release.rows == table.rows and "cells_at_least" in result:
        assert result["cells_at_least"] <= sum(result["cells"].values())


def starred(table: Table, name: str) -> np.ndarray:
    cells = table.schema[name].domain.cells
    return np.array([code >= 0 and cells[code].anything for code in table[name]], bool)


@given(table=mixed(), what=st.sampled_from(What))
@settings(max_examples=20)
def test_k_holds_on_the_file_as_it_is_read_back(tmp_path_factory, table, what):
    quasi = table.schema.quasi
    if table.rows < 3 or np.bincount(table.groups(quasi)[0]).max() < 3:
        return
    released = fitted(table, k=3, what=what).table
    path = tmp_path_factory.mktemp("release") / "data.csv"
    io.write(released, path)
    again = io.read(path, released.schema)
    assert smallest(again, quasi) >= 3


def staff(*rows: str) -> Table:
    """One row for each text, one column for each letter."""
    columns = tuple(
        Column(name=f"q{j}", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(tuple("abcdef"))) for j in range(len(rows[0]))
    )
    arrays = {f"q{j}": np.array(["abcdef".index(row[j]) for row in rows], np.int32) for j in range(len(rows[0]))}
    return Table(Schema(columns), arrays)


def written(table: Table) -> list[str]:
    return ["".join(cells) for cells in zip(*(table.strings(n) for n in table.schema.names), strict=True)]


def test_a_star_is_like_no_other_value():
    """Read as any value, one star would do: a* is then like ab and ac. As written it is alone."""
    table = staff("ab", "ab", "ac")
    release = fitted(table, k=3)
    assert written(release.table) == ["a*"] * 3
    assert release.result()["cells"] == {"q0": 0, "q1": 3}
    wildcard = ["ab", "ab", "a*"]
    assert all(sum(all(x in (y, "*") or y == "*" for x, y in zip(a, b, strict=True)) for b in wildcard) == 3 for a in wildcard)
    assert min(wildcard.count(row) for row in wildcard) == 1


def test_important_columns_are_spared():
    table = staff("aa", "ab", "ba", "bb")
    assert written(fitted(table, k=2, importance=("q0",)).table) == ["a*", "a*", "b*", "b*"]
    assert written(fitted(table, k=2, importance=("q1",)).table) == ["*a", "*b", "*a", "*b"]
    assert written(fitted(table, k=2, importance=("q1", "q0"), what=What.VALUES).table) == ["*a", "*b", "*a", "*b"]


def test_rows_without_a_cell_stay_if_they_are_k_and_go_otherwise():
    few = fitted(staff("aa", "aa", "aa", "bb", "cc"), k=3)
    assert written(few.table) == ["aa"] * 3
    assert (few.result()["rows_dropped"], few.result()["rows_suppressed"]) == (2, 0)
    enough = fitted(staff("aa", "aa", "aa", "bb", "cc", "dd"), k=3)
    assert sorted(written(enough.table)) == ["**"] * 3 + ["aa"] * 3
    assert (enough.result()["rows_dropped"], enough.result()["rows_suppressed"]) == (0, 3)


def test_records_go_whole_and_values_everywhere():
    table = staff("aa", "aa", "ab", "bb", "bb")
    assert written(fitted(table, k=2, what=What.RECORDS).table) == ["aa", "aa", "bb", "bb"]
    values = fitted(staff("aa", "aa", "ac", "bc", "bb", "bb"), k=2, what=What.VALUES)
    assert written(values.table) == ["*a", "*a", "*c", "*c", "*b", "*b"]
    assert values.result()["values"] == 2
    with pytest.raises(InputError, match="no rows are alike with 1 others in q0, q1: nothing would be left"):
        fitted(staff("aa", "ab"), k=2, what=What.RECORDS)


def test_missing_is_a_value_like_any_other():
    table = staff("aa", "aa", "aa", "ab", "ab")
    gone = table.with_column(table.schema["q1"], np.array([-1, -1, -1, 1, 0], np.int32))
    released = fitted(gone, k=2).table
    assert released.strings("q1").tolist() == [None, None, None, "*", "*"]


def test_a_generalized_table_can_be_suppressed_further():
    table = example()
    recipe = Recipe(recipe="x", steps=(Mondrian(k=3, columns=("age", "height")), Suppress(k=4)))
    released = release(table, recipe, seed=0)
    assert k_anonymity(Classes(released.table, table.schema.quasi)) >= 4
    assert [str(p) for p in released.guarantee.promises] == [
        "k-anonymity with k = 3 over age, height (derived)",
        "k-anonymity with k = 4 over age, height, town, school",
    ]


def test_dropping_whole_classes_is_said_only_of_all_quasi_identifiers():
    schema = example().schema
    assert Suppress(what=What.RECORDS).plan(schema, None).effect is Effect.SUPPRESS_CLASSES
    assert Suppress(what=What.RECORDS, columns=("age",)).plan(schema, None).effect is Effect.EDIT_ROWS
    assert Suppress().plan(schema, None).effect is Effect.EDIT_ROWS


def test_faults_name_the_knob_and_the_column():
    with pytest.raises(InputError, match="k: must be at least 2"):
        Suppress(k=1)
    with pytest.raises(InputError, match="importance: is for cells and values only"):
        Suppress(what=What.RECORDS, importance=("age",))
    with pytest.raises(PlanError, match="importance names sick, which is not among age, height, town, school"):
        Suppress(importance=("sick",)).plan(example().schema, None)
    schema = example().schema
    with pytest.raises(PlanError, match="age is not a column that can hold a"):
        Suppress().plan(schema.with_columns(replace(schema["age"], domain=Bounds(0, 2**60))), None)


def test_a_release_is_saved_and_verified(tmp_path):
    settings = {"k": "4", "columns": "town,school,age"}
    release = ht.release(example(), "local-suppression", settings=settings, seed=1, allow_copies="nobody in it exists")
    ht.save(release, tmp_path / "release")
    assert not verify(tmp_path / "release").faults
    assert release.guarantee.criteria["k"] >= 4
