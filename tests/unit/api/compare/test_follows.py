"""A target that another column determines is noticed; one that only nearly follows, or by chance, is not."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.api.compare.axis import Axis
from hushtable.api.compare.caveats import Setting, target_caveats
from hushtable.api.compare.follows import follow_note, sources
from hushtable.api.compare.run import compare
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ROWS = 200


@pytest.fixture(scope="module")
def table() -> Table:
    """An income, its band, its code and a name of the band that errs once."""
    rng = np.random.default_rng(0)
    income = rng.integers(0, 100_000, ROWS)
    band = np.digitize(income, [30_000, 60_000]).astype(np.int32)
    nearly = band.copy()
    nearly[0] = (nearly[0] + 1) % 3
    levels = Levels(("low", "middle", "high"))
    columns = (
        Column(name="income", kind=Kind.INTEGER, domain=Bounds(0, 100_000)),
        *(Column(name=name, kind=Kind.CATEGORY, domain=levels) for name in ("band", "code", "nearly", "other")),
    )
    arrays = {"income": income.astype(np.int64), "band": band, "code": (band + 1).astype(np.int32) % 3, "nearly": nearly,
              "other": rng.integers(0, 3, ROWS).astype(np.int32)}  # fmt: skip
    return Table(Schema(columns), arrays)


def test_a_band_follows_from_its_number_and_from_its_code(table):
    assert sources(table, "band") == ["income", "code"]
    assert sources(table, "other") == []
    assert sources(table, "nearly") == []
    assert sources(table, "") == []
    assert sources(table, "income") == [], "a band leaves the number open"


def test_a_column_of_single_values_determines_nothing(table):
    key = np.arange(ROWS, dtype=np.int64)
    shuffled = table.with_column(Column(name="place", kind=Kind.INTEGER, domain=Bounds(0, ROWS)), key)
    assert "place" not in sources(shuffled, "other")


def test_it_is_said_with_what_to_do():
    told = follow_note("band", ["income"])
    assert told.startswith("band follows from income:")
    assert "--target" in told
    assert follow_note("band", []) == ""
    setting = Setting(label="AUC for band", public=False, guess=0.5, axis=Axis("a", "AUC for band", "", baseline=0.99990))
    assert "of the real rows is 1.000" in target_caveats(setting)[0]
    assert target_caveats(Setting(label="AUC", public=False, guess=0.5, axis=Axis("a", "b", "", baseline=0.93))) == []


def test_a_comparison_says_it_first(table):
    comparison = compare(table, ["mdav"], target="band", grid={"mdav.k": [5]}, only=["near-matches"], constraints=["alarms<99"])
    assert comparison.recommendation.caveats[0].startswith("band follows from each of income, code:")
