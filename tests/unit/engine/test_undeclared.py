"""Rows on disk whose schema was drafted from them: fixed defaults, learnt domains and code lists as of rows in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hushtable.engine import spool
from hushtable.engine.spool import Spooled
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release_rows
from hushtable.privacy.noise import Entropy
from hushtable.table import io
from hushtable.table.code_list import Dependency
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.defaults import with_defaults
from hushtable.table.determined import departing, departs
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@pytest.fixture(autouse=True)
def _batches(monkeypatch):
    monkeypatch.setattr(spool, "BATCH", 700)
    monkeypatch.setattr(Spooled.batches, "__defaults__", (700, None))


def drafted(rows: int = 4000) -> Table:
    """Numbers, dates, words and gaps under a schema that was drafted from them."""
    rng = np.random.default_rng(2)
    days = pd.to_datetime("2001-01-01") + pd.to_timedelta(rng.integers(0, 400, rows), "D")
    income = np.round(rng.gamma(2.0, 900.0, rows), 1).astype(object)
    income[rng.random(rows) < 0.05] = None
    frame = pd.DataFrame(
        {
            "age": rng.integers(1, 80, rows).astype(str),
            "day": days.strftime("%d.%m.%Y"),
            "income": income,
            "town": rng.choice(["Bree", "Dale", "Rohan", ""], rows, p=[0.5, 0.3, 0.19, 0.01]),
        }
    )
    return io.read(frame)


def unread(self, why):
    raise AssertionError(f"{why} reads all rows at once")


def test_fixed_defaults_are_those_of_memory(monkeypatch):
    table = drafted()
    monkeypatch.setattr(Spooled, "whole", unread)
    expected, found = with_defaults(table), with_defaults(Spooled.of(table))
    assert found.schema == expected.schema
    for name in expected.schema.names:
        np.testing.assert_array_equal(np.concatenate([batch[name] for batch in found.batches()]), expected[name])


def test_domains_are_learnt_of_rows_on_disk_as_of_rows_in_memory(monkeypatch):
    table = drafted()
    monkeypatch.setattr(Spooled, "whole", unread)
    made = [
        release_rows(
            rows, load("independent"), epsilon=20.0, delta=1e-6, seed=1, entropy=Entropy.seeded(2), unproven=True, learn_domain=True
        )
        for rows in (table, Spooled.of(table))
    ]
    assert made[0].result == made[1].result
    assert made[0].table.schema == made[1].table.schema
    for name in made[0].table.schema.names:
        np.testing.assert_array_equal(made[0].table[name], made[1].table[name])


def test_a_key_that_nobody_declared_is_read_in_memory():
    table = drafted()
    key = Column(name="who", kind=Kind.KEY)
    table = Table(table.schema.with_columns(key), {**table.arrays, "who": np.arange(4000, dtype=np.int32)}, {
        "who": np.array([f"p{i}" for i in range(4000)], object)
    })  # fmt: skip
    expected, found = with_defaults(table, "who"), with_defaults(Spooled.of(table), "who")
    assert isinstance(found, Table)
    assert found.schema == expected.schema


@pytest.mark.parametrize("listed", [True, False])
def test_rows_that_depart_from_a_code_list_are_counted_alike(listed):
    rng = np.random.default_rng(0)
    area, codes = rng.integers(-1, 9, 5000).astype(np.int32), tuple((str(i), "ab"[i % 2]) for i in range(9))
    region = np.where(area < 0, -1, area % 2).astype(np.int32)
    region[:37] = 1 - region[:37].clip(0)
    by = Dependency("area", codes if listed else None)
    schema = Schema(
        (
            Column(name="area", kind=Kind.CATEGORY, domain=Levels(tuple(map(str, range(9))))),
            Column(name="region", kind=Kind.CATEGORY, domain=Levels(("a", "b")), determined_by=by),
        )
    )
    table = Table(schema, {"area": area, "region": region})
    expected = {name: int(rows.sum()) for name, rows in departs(table).items()}
    assert expected["region"] > 0
    assert departing(Spooled.of(table)) == expected == departing(table)
