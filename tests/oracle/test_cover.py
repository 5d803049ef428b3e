"""The raw rows behind a generalized row: sorted runs and shared prefixes find what comparing every pair finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.anonymize.transition.cover import Cover, Pools
from hushtable.anonymize.transition.leaves import bandwidths
from hushtable.table.cell import Interval
from hushtable.table.columns import CODED, Cells, Column
from hushtable.table.table import Table
from tests.random_tables import generalized, tables


def covers(ours: Column, value: float, theirs: Column, other: float) -> bool:
    """Whether a released value may stand for a raw one."""
    missing = bool(theirs.is_missing(np.array([other]))[0])
    if bool(ours.is_missing(np.array([value]))[0]):
        return missing
    if not isinstance(ours.domain, Cells):
        return not missing and value == other
    span = ours.domain.cells[int(value)].span
    if span is None or missing:
        return span is None
    if ours.kind in CODED:
        return theirs.levels[int(other)] in span
    assert isinstance(span, Interval)
    return float(other) in (span if ours.step is None else span.closed(ours.step))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Table, Table]:
    raw = draw(tables())
    return draw(generalized(raw)), raw


@settings(max_examples=30)
@given(pairs())
def test_pools_hold_exactly_the_rows_that_all_cells_cover(pair):
    released, raw = pair
    names = released.schema.names
    pools = Pools.of(released, names, raw)
    for row in range(released.rows):
        wanted = [
            other
            for other in range(raw.rows)
            if all(covers(released.schema[n], released[n][row], raw.schema[n], raw[n][other]) for n in names)
        ]
        group = pools.classes[row]
        actual = pools.flat[pools.starts[group] : pools.starts[group] + pools.sizes[group]]
        assert sorted(actual.tolist()) == wanted


@settings(max_examples=30)
@given(pairs(), st.integers(0, 2**32))
def test_draws_come_from_the_pool_or_from_the_cell(pair, seed):
    released, raw = pair
    rng = np.random.default_rng(seed)
    pools = Pools.of(released, released.schema.names, raw)
    drawn = pools.draw(rng)
    assert ((drawn < 0) == (pools.sizes[pools.classes] == 0)).all()
    for name in released.schema.names:
        everybody = np.arange(released.rows)
        for row, other in zip(everybody, pools.draw_alone(name, everybody, rng), strict=True):
            ours, theirs = released.schema[name], raw.schema[name]
            if other >= 0:
                assert covers(ours, released[name][row], theirs, raw[name][other])
            else:
                assert not any(covers(ours, released[name][row], theirs, v) for v in raw[name])


@settings(max_examples=30)
@given(pairs())
def test_bandwidths_are_those_of_each_pool_by_itself(pair):
    released, raw = pair
    pools = Pools.of(released, released.schema.names, raw)
    for column in raw.schema:
        if not column.numeric:
            continue
        widths = bandwidths(pools, raw, column.name)
        for group, (start, size) in enumerate(zip(pools.starts, pools.sizes, strict=True)):
            values = np.sort(raw.floats(column.name)[pools.flat[start : start + size]])
            values = values[~np.isnan(values)]
            wanted = 0.0
            if len(values) > 1:
                spread, quartile = values.std(ddof=1), np.subtract(*np.quantile(values, [0.75, 0.25], method="lower")) / 1.34
                wanted = 0.9 * (min(spread, quartile) if quartile > 0 else spread) * len(values) ** -0.2
            np.testing.assert_allclose(widths[group], wanted, rtol=1e-6, atol=1e-6)


def test_overlapping_cells_share_rows(small):
    column = small.schema["age"]
    coarse = column.generalize(tuple(column.interval_cell(Interval(*ends)) for ends in ((0, 60), (40, 99))))
    released = small.with_column(coarse, (np.arange(small.rows) % 2).astype(np.int32))
    cover = Cover.of(coarse, released["age"], column, small["age"])
    both = set(cover.rows(0).tolist()) & set(cover.rows(1).tolist())
    assert both == set(np.flatnonzero((small["age"] >= 40) & (small["age"] <= 60)).tolist())
