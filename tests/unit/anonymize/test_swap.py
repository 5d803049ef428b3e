"""Swapping: every column keeps its values, partners are near in rank, and tables with the groups stay exact."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.anonymize.masking.swap import RankSwap, Swap, partners
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.run import release
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.random_tables import tables
from tests.unit.privacy.cases import recipe

ORDERED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.ORDINAL)


def swapped(step: RankSwap | Swap, table: Table, seed: int = 0) -> Table:
    return step.fit(Vault.of(table), np.random.default_rng(seed)).table


@settings(max_examples=25)
@given(tables(ORDERED), st.floats(0.1, 100))
def test_rank_swapping_keeps_every_margin_and_every_gap(table, p):
    out = swapped(RankSwap(p=p), table)
    assert out.schema == table.schema
    for name in table.schema.names:
        np.testing.assert_array_equal(out.missing(name), table.missing(name))
        np.testing.assert_array_equal(np.sort(out[name]), np.sort(table[name]))


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 2**32))
def test_partners_are_pairs_inside_the_window(n, window, seed):
    actual = partners(np.random.default_rng(seed).random(n), window)
    np.testing.assert_array_equal(actual[actual], np.arange(n))
    assert abs(actual - np.arange(n)).max() <= window
    alone = np.flatnonzero(actual == np.arange(n))
    assert len(alone) < 2 or np.diff(alone).min() > window  # two neighbours that are both alone would have been paired


def test_a_value_moves_no_further_than_p_percent_of_the_ranks(small):
    big = small.take(np.arange(20_000) % small.rows)
    values = np.random.default_rng(0).permutation(20_000).astype(float) / 200 + 120
    big = big.with_column(big.schema["height"], np.round(values, 3))
    out = swapped(RankSwap(p=2, columns=("height",)), big)
    ranks = {value: rank for rank, value in enumerate(np.sort(big["height"]))}
    moved = [abs(ranks[a] - ranks[b]) for a, b in zip(out["height"], big["height"], strict=True)]
    assert max(moved) <= 400
    assert np.mean(moved) == pytest.approx(200, rel=0.15)
    assert np.mean(np.array(moved) == 0) < 0.01


def test_equal_values_change_places():
    # Nine in ten rows hold a zero: were ties ranked by row, zeros near the border alone could become ones.
    column = Column(name="c", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 1))
    table = Table(Schema((column,)), {"c": (np.arange(2000) >= 1800).astype(np.int64)})
    out = swapped(RankSwap(p=50), table)
    became = np.flatnonzero((table["c"] == 0) & (out["c"] == 1))
    assert became.min() < 200
    assert became.max() > 1600


def test_rank_swapping_takes_a_large_column_in_a_moment():
    shares = np.random.default_rng(0).random(100_000)
    partners(shares[:10], 2)
    start = time.process_time()
    partners(shares, 5000)
    assert time.process_time() - start < 0.5


@settings(max_examples=25)
@given(tables(width=4), st.floats(0.05, 1), st.booleans(), st.data())
def test_swapping_keeps_margins_and_the_tables_with_the_groups(table, rate, together, data):
    names = table.schema.names
    by = tuple(data.draw(st.lists(st.sampled_from(names), unique=True, max_size=len(names) - 1)))
    columns = tuple(name for name in names if name not in by)
    out = swapped(Swap(rate=rate, by=by, together=together, columns=columns), table)

    def rows(of: Table, remaining: tuple[str, ...]) -> list[tuple[str, ...]]:
        return sorted(zip(*([str(v) for v in of[name]] for name in remaining), strict=True))

    for name in columns:
        assert rows(out, (*by, name)) == rows(table, (*by, name))
    if together:
        assert rows(out, (*by, *columns)) == rows(table, (*by, *columns))


def test_the_rate_is_kept_in_groups_of_every_size(small):
    big = small.take(np.arange(6000) % small.rows)
    whole = np.arange(6000) // 3
    step = Swap(rate=0.2)
    actual = step._partners(whole, np.random.default_rng(0))
    assert (whole[actual] == whole).all()
    assert (actual != np.arange(6000)).mean() == pytest.approx(0.2, abs=0.02)  # groups of three: rounding would give none
    out = swapped(Swap(rate=1.0, columns=("town", "school")), big)
    same = [(out[n] == big[n]).mean() for n in ("town", "school")]
    assert all(share < 0.5 for share in same)


def test_apart_columns_find_partners_of_their_own(small):
    one = swapped(Swap(rate=1.0, columns=("town", "age")), small)
    two = swapped(Swap(rate=1.0, together=False, columns=("town", "age")), small)
    pairs = sorted(zip(small["town"].tolist(), small["age"].tolist(), strict=True))
    assert sorted(zip(one["town"].tolist(), one["age"].tolist(), strict=True)) == pairs
    assert sorted(zip(two["town"].tolist(), two["age"].tolist(), strict=True)) != pairs


def test_what_cannot_be_swapped_is_refused_by_name(small):
    with pytest.raises(PlanError, match="town"):
        RankSwap(columns=("town",)).plan(small.schema, None)
    with pytest.raises(PlanError, match="town cannot be swapped inside groups"):
        Swap(columns=("town",), by=("town",)).plan(small.schema, None)
    with pytest.raises(PlanError, match="nowhere"):
        Swap(by=("nowhere",)).plan(small.schema, None)
    for wrong in ({"p": 0.0}, {"p": 101.0}):
        with pytest.raises(InputError, match=r"RankSwap\.p"):
            RankSwap(**wrong)
    with pytest.raises(InputError, match=r"Swap\.rate"):
        Swap(rate=0.0)


@pytest.mark.parametrize("step", [RankSwap(), Swap(), Swap(by=("sick",))])
def test_swapping_promises_nothing(small, step):
    guarantee = release(small, recipe(step), seed=1).guarantee
    assert guarantee.assurance is Assurance.NONE
    assert any("true values of other rows" in caveat for caveat in guarantee.caveats)
