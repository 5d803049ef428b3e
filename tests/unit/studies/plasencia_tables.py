"""Small generated tables for the studies of one thesis, in the place of the real ones."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.studies import plasencia
from hushtable.studies import tables as studies
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99), required=True),
        Column(name="wage", kind=Kind.INTEGER, domain=Bounds(0, 9999), required=True),
        Column(name="workclass", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a", "b", "c")), required=True),
        Column(name="education", kind=Kind.CATEGORY, domain=Levels(("x", "y")), required=True),
        Column(name="marital_status", kind=Kind.CATEGORY, domain=Levels(("m", "s")), required=True),
        Column(name="income", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")), required=True),
    )
)


def small(rows: int = 360) -> Table:
    rng = np.random.default_rng(0)
    rich = (rng.random(rows) < 0.4).astype(np.int32)
    return Table(
        SCHEMA,
        {
            "age": np.clip(rng.normal(40 + 10 * rich, 12), 0, 99).astype(np.int64),
            "wage": rng.integers(0, 9999, rows).astype(np.int64),
            "workclass": rng.integers(0, 3, rows).astype(np.int32),
            "education": np.where(rng.random(rows) < 0.8, rich, 1 - rich).astype(np.int32),
            "marital_status": rng.integers(0, 2, rows).astype(np.int32),
            "income": rich,
        },
    )


def only_adult(name: str, folder: str | None) -> Table:
    """In the place of what loads real tables: Adult is a generated one, and nothing else is here."""
    if name != "adult":
        raise InputError("is not here", where=name)
    return small()


@pytest.fixture
def adult_only(monkeypatch):
    monkeypatch.setattr(studies, "load", only_adult)
    plasencia.loaded.cache_clear()
    yield
    plasencia.loaded.cache_clear()
