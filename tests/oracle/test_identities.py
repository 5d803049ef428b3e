"""Groups of equal rows by packed keys, held against sorting whole rows."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.table.columns import MISSING_CODE
from hushtable.table.table import identities


def columns(rng, rows, count):
    """Codes of few and of many values, far-off numbers, texts of dates as days, and reals with missing ones."""
    kinds = [
        lambda: rng.integers(-1, 5, rows).astype(np.int32),
        lambda: rng.integers(0, max(rows, 1), rows),
        lambda: np.where(rng.random(rows) < 0.2, np.iinfo(np.int64).min, rng.integers(0, 9, rows)),
        lambda: rng.choice([np.iinfo(np.int64).min, -1, 0, np.iinfo(np.int64).max], rows),
        lambda: np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows).round(1)),
        lambda: rng.choice([0.0, -0.0, np.inf, -np.inf], rows),
        lambda: rng.random(rows) < 0.5,
        lambda: np.full(rows, MISSING_CODE, np.int32),
    ]
    return [kinds[kind]() for kind in rng.integers(len(kinds), size=count)]


def by_sorting(given, rows):
    """The same, the slow way."""
    ids = np.zeros(rows, np.int64)
    for column in given:
        _, codes = np.unique(column, return_inverse=True)
        _, ids = np.unique(np.stack([ids, codes], axis=1), axis=0, return_inverse=True)
    return ids


@pytest.mark.parametrize("rows", [0, 1, 2, 50, 700])
def test_they_are_equal_where_rows_are_and_rise_with_them(rows):
    rng = np.random.default_rng(rows)
    for count in (0, 1, 2, 3, 6, 12):
        given = columns(rng, rows, count)
        np.testing.assert_array_equal(identities(given, rows), by_sorting(given, rows) if count else np.zeros(rows, np.int64))


def test_keys_do_not_wrap_however_many_columns_there_are():
    rng = np.random.default_rng(0)
    given = [rng.integers(0, 2000, 3000) for _ in range(40)]
    copied = [np.concatenate([column, column]) for column in given]
    found = identities(copied, 6000)
    np.testing.assert_array_equal(found[:3000], found[3000:])
    assert len(np.unique(found)) == 3000
