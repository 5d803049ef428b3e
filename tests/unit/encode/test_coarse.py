"""Coarse cells: few enough for a network, frequent values apart, and drawn back as the rows lie."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.encode.coarse import Coarse, Coarsened, Nested, _runs
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.vault import Vault
from hushtable.table.schema import Schema

SCHEMA = Schema.parse(
    """
columns:
  hours: {kind: integer, domain: [0, 99]}
  gain:  {kind: real, decimals: 2}
  day:   {kind: date}
  place: {kind: category}
  sex:   {kind: category}
"""
)


def people(rows=4000, seed=0):
    rng = np.random.default_rng(seed)
    hours = np.where(rng.random(rows) < 0.5, 40, rng.integers(0, 100, rows))
    gain = np.where(rng.random(rows) < 0.8, 0.0, np.round(rng.gamma(2, 900, rows), 2))
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, rows), "D")
    places = rng.zipf(1.3, rows) % 1000
    frame = {
        "hours": [str(h) if r > 0.1 else "" for h, r in zip(hours, rng.random(rows), strict=True)],
        "gain": [f"{g:.2f}" for g in gain],
        "day": days.strftime("%Y-%m-%d"),
        "place": [f"p{p:03d}" for p in places],
        "sex": np.array(["female", "male"])[rng.integers(0, 2, rows)],
    }
    return ht.read(pd.DataFrame(frame), SCHEMA)


@pytest.fixture(scope="module")
def table():
    return people()


@pytest.fixture(scope="module")
def code(table):
    return Coarse(bins=20).fit(Vault.of(table), np.random.default_rng(0))


def test_no_column_has_more_cells_than_asked_for_and_few_levels_stay(table, code):
    coarse = code.apply(table)
    assert all(len(coarse.schema[name].levels) <= 20 for name in ("hours", "gain", "day", "place"))
    assert all(len(coarse.schema[name].levels) >= 15 for name in ("hours", "gain", "day", "place"))
    assert coarse.schema["sex"] == table.schema["sex"]
    assert (coarse["hours"] == -1).sum() == table.missing("hours").sum()
    assert [str(coarse.schema[name].kind) for name in ("hours", "place")] == ["ordinal", "category"]


def test_frequent_values_are_cells_of_their_own_and_stay_frequent(table, code):
    coarse = code.apply(table)
    forty = coarse["hours"][table["hours"] == 40]
    assert len(np.unique(forty)) == 1
    assert (table["hours"][coarse["hours"] == forty[0]] == 40).all()
    back = code.undo(coarse, np.random.default_rng(1))
    assert (back["hours"] == 40).sum() == (table["hours"] == 40).sum()
    assert (back["gain"] == 0).sum() == (table["gain"] == 0).sum()


def test_what_is_drawn_back_lies_in_its_cell_its_domain_and_on_its_grid(table, code):
    coarse = code.apply(table)
    back = code.undo(coarse, np.random.default_rng(1))
    assert back.schema == table.schema
    again = code.apply(back)
    assert all(np.array_equal(again[name], coarse[name]) for name in coarse.schema.names)
    assert max(len(text.partition(".")[2]) for text in back.strings("gain")) <= 2


def test_fine_values_are_drawn_back_by_their_counts(table, code):
    coarse = code.apply(table)
    back = code.undo(coarse, np.random.default_rng(1))
    levels = len(table.schema["place"].levels)
    ours, theirs = (np.bincount(t["place"], minlength=levels) for t in (table, back))
    assert (theirs[ours == 0] == 0).all()
    # A level of which a group of many holds half the rows is drawn half the time.
    group = coarse["place"] == np.bincount(coarse["place"]).argmax()
    assert np.abs(ours - theirs).sum() / table.rows < 0.25
    assert group.sum() == (code.apply(back)["place"] == np.bincount(coarse["place"]).argmax()).sum()


def test_a_value_that_few_rows_share_returns_by_chance_only():
    values = np.concatenate([np.repeat([10, 20, 30], 50), [77777]])
    table = ht.read(pd.DataFrame({"x": values.astype(str)}), Schema.parse("columns: {x: {kind: integer, domain: [0, 100000]}}"))
    code = Coarse().fit(Vault.of(table), np.random.default_rng(0))
    drawn = [code.undo(code.apply(table), np.random.default_rng(seed))["x"] for seed in range(30)]
    assert sum((array == 77777).any() for array in drawn) <= 1


def test_a_rebuilt_code_draws_the_same(table, code):
    other = Coarsened.from_parts(*code.parts())
    coarse = other.apply(table)
    assert coarse.schema == code.apply(table).schema
    one, two = (c.undo(coarse, np.random.default_rng(3)) for c in (code, other))
    assert all(np.array_equal(one[name], two[name], equal_nan=name == "gain") for name in one.schema.names)


def test_runs_isolate_what_is_heavy_and_are_no_more_than_asked_for():
    counts = np.array([1, 1, 1, 50, 1, 1, 1, 2, 2, 2, 30, 1])
    starts = _runs(counts, 6)
    assert len(starts) <= 6
    assert {3, 4, 10, 11} <= set(starts.tolist())
    assert _runs(np.array([5, 5]), 4).tolist() == [0, 1]
    assert len(_runs(np.zeros(10, np.int64), 3)) <= 3
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.integers(0, 30, rng.integers(1, 40))
        assert 1 <= len(_runs(counts, 7)) <= 7


def test_parts_of_a_cell_hold_its_rows(table):
    for name in table.schema.names:
        cells = Nested.of(table.schema[name], table[name], 5, 16, 4)
        coarse, part = cells.codes(table[name])
        counted = np.zeros((cells.coarse, cells.inner), np.int64)
        np.add.at(counted, (coarse, part), 1)
        assert np.array_equal(counted, cells.masses)
        assert part.max() < (4 if table.schema[name].numeric else 10**6)
        # Given its part, a value that is drawn is one that can be drawn.
        assert cells.shares(table[name]).min() >= 0
        drawn = cells.decode(coarse, part, np.random.default_rng(0))
        assert np.mean(cells.codes(drawn)[0] == coarse) > 0.99


def test_shares_are_chances_inside_a_part():
    values = np.array([1, 1, 1, 2, 2, 5, 5, 5, 5, 9])
    table = ht.read(pd.DataFrame({"x": values.astype(str)}), Schema.parse("columns: {x: {kind: integer, domain: [0, 10]}}"))
    cells = Nested.of(table.schema["x"], table["x"], 1, 2, 1)
    coarse, part = cells.codes(np.arange(11))
    shares = cells.shares(np.arange(11))
    for group in range(cells.coarse - 1):
        assert shares[(coarse == group) & (part == 0)].sum() == pytest.approx(1)


def test_odd_tables(table):
    for odd in (table.take(np.arange(1)), table.take(np.flatnonzero(table.missing("hours"))), table.select(["hours"])):
        code = Coarse().fit(Vault.of(odd), np.random.default_rng(0))
        back = code.undo(code.apply(odd), np.random.default_rng(0))
        assert back.rows == odd.rows
        assert np.array_equal(back.missing("hours"), odd.missing("hours"))


def test_knobs_and_columns_are_checked(table):
    with pytest.raises(InputError, match="bins"):
        Coarse(bins=1)
    with pytest.raises(PlanError, match="no column 'age'"):
        Coarse(columns=("age",)).plan(table.schema, None)
    only = Coarse(columns=("hours",)).fit(Vault.of(table), np.random.default_rng(0)).apply(table)
    assert only.schema["day"] == table.schema["day"]


def test_another_core_takes_it(table):
    recipe = Recipe.parse("""
recipe: cut
title: trees on coarse cells
family: no promise
assurance: none
guarantee: none (empirical only)
steps:
- coarse: {bins: 16}
- sequential: {refine: 0}
""")
    release = ht.release(table, recipe, seed=0)
    assert release.table.schema.names == table.schema.names
    assert abs((release.table["gain"] == 0).mean() - (table["gain"] == 0).mean()) < 0.05
