"""A disk that is full says so, whichever byte was the last that it had room for; and nothing is left behind."""

from __future__ import annotations

import resource
from contextlib import contextmanager

import numpy as np
import pytest

from hushtable.engine.buckets import Buckets
from hushtable.engine.compute import Compute
from hushtable.engine.raw import get, put
from hushtable.engine.spool import Spooled
from hushtable.errors import InputError
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ROWS = 6000
SCHEMA = Schema((Column(name="who", kind=Kind.KEY), Column(name="sex", kind=Kind.CATEGORY, domain=Levels(("f", "m")))))


@pytest.fixture
def table() -> Table:
    names = np.array([f"p{i}" for i in range(ROWS // 2)], object)
    arrays = {"who": np.arange(ROWS, dtype=np.int32) // 2, "sex": np.arange(ROWS, dtype=np.int32) % 2}
    return Table(SCHEMA, arrays, {"who": names})


@contextmanager
def room_for(size: int):
    """No file grows beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 1, 4096, ROWS - 1])
def test_of_a_store(table, tmp_path, size):
    rows = Spooled.of(table, Compute(work=tmp_path / "work"))
    with room_for(size), pytest.raises(InputError, match="cannot be written: File too large"):
        rows.histograms([("sex",)])
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize("size", [0, 8, 24 * ROWS - 4096, 24 * ROWS - 1])
def test_of_who_holds_the_rows(table, tmp_path, size):
    rows = Spooled.of(table, Compute(work=tmp_path / "work"))
    rows.histograms([("sex",)])
    with room_for(size), pytest.raises(InputError, match="cannot be written: File too large"):
        rows.within("who", 1)


@pytest.mark.parametrize("size", [0, 8, 8 * ROWS - 4096, 8 * ROWS - 1])
def test_of_buckets(tmp_path, size):
    buckets = Buckets(np.dtype(np.int64), 1, tmp_path)
    with room_for(size), pytest.raises(InputError, match="cannot be written: File too large"):  # noqa: PT012 - the last bytes
        buckets.add(np.zeros(ROWS, np.uint16), np.arange(ROWS))
        buckets.close()


def test_bytes_that_are_missing_are_told(tmp_path):
    with (tmp_path / "numbers").open("wb") as file:
        put(file, np.arange(10))
    assert get(tmp_path / "numbers", np.dtype(np.int64), 4, 6).tolist() == [4, 5, 6, 7, 8, 9]
    with pytest.raises(InputError, match="rows on disk are missing"):
        get(tmp_path / "numbers", np.dtype(np.int64), 5, 6)
