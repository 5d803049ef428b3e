"""Planted leaks and outliers against plain definitions, on tables of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.audits.planted import outlying, planted
from hushtable.table.cell import Interval
from hushtable.table.columns import Bounds, Cells, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.random_tables import generalized, tables


def meaning(table: Table, name: str, row: int) -> object:
    """What a cell of a table says, whether it is a value or the cell of one value."""
    column, value = table.schema[name], table[name][row]
    if column.is_missing(table[name][row : row + 1])[0]:
        return None
    if isinstance(column.domain, Cells):
        span = column.domain.cells[value].span
        if isinstance(span, Interval):
            return float(span.low) if span.low == span.high else span
        return next(iter(span)) if span is not None and len(span) == 1 else span
    return float(value) if column.numeric else column.levels[value]


@settings(max_examples=80)
@given(st.data(), st.floats(0, 1), st.integers(0, 2**32))
def test_planted_rows_are_training_rows_and_the_others_are_left_alone(data, share, seed):
    train = data.draw(tables())
    release = data.draw(generalized(train.take(np.random.default_rng(seed).permutation(train.rows))))
    result = planted(release, train, share, np.random.default_rng(seed))
    count = min(max(1, round(share * release.rows)), train.rows)
    rng = np.random.default_rng(seed)
    where, whom = (rng.permutation(n)[:count] for n in (release.rows, train.rows))
    source = dict(zip(where.tolist(), whom.tolist(), strict=True))
    for name in release.schema.names:
        for row in range(release.rows):
            expected = meaning(train, name, source[row]) if row in source else meaning(release, name, row)
            assert meaning(result, name, row) == expected


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(30, 80), st.integers(1, 3), st.integers(2, 12))
def test_outlier_factors_are_those_of_the_definition(seed, rows, width, k):
    from sklearn.neighbors import LocalOutlierFactor

    rng = np.random.default_rng(seed)
    values = rng.uniform(0, 1, (rows, width))
    schema = Schema(tuple(Column(name=f"c{i}", kind=Kind.REAL, domain=Bounds(0.0, 1.0)) for i in range(width)))
    table = Table(schema, {f"c{i}": values[:, i] for i in range(width)})
    theirs = LocalOutlierFactor(n_neighbors=k, metric="manhattan", algorithm="brute").fit(values)
    assert outlying(table, k) == pytest.approx(-theirs.negative_outlier_factor_, rel=2e-3)
