"""Bins: whole grid points in every bin, values back inside, and edges that are paid for or declared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.encode.bins import Binned, Bins, Edges, uniform_edges
from hushtable.errors import PlanError
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import DiscreteGaussian
from hushtable.privacy.unit import Budget, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def column(kind: Kind = Kind.INTEGER, low: float = 0, high: float = 99, **more: object) -> Column:
    return Column(name="x", kind=kind, domain=Bounds(low, high), **more)


def table(of: Column, values: np.ndarray) -> Table:
    return Table(Schema((of,)), {"x": of.from_floats(np.asarray(values, float))})


KINDS = [
    column(),
    column(low=-7, high=12345),
    column(low=3, high=5),
    column(Kind.REAL, 0.0, 1.0),
    column(Kind.REAL, -2.5, 2.5, decimals=1),
    column(Kind.DATE, 0, 86_400 * 400),
]


@pytest.mark.parametrize("of", KINDS, ids=str)
@pytest.mark.parametrize("bins", [2, 7, 32])
def test_every_value_comes_back_inside_its_own_bin(of, bins):
    rng = np.random.default_rng(0)
    rows = table(of, np.append(rng.uniform(of.bounds.low, of.bounds.high, 500), [of.bounds.low, of.bounds.high, np.nan]))
    code = Binned.of(rows.schema, {"x": uniform_edges(of, bins)})
    coded = code.apply(rows)
    back = code.undo(coded, rng)
    assert back.schema == rows.schema
    np.testing.assert_array_equal(code.apply(back)["x"], coded["x"])
    assert back.missing("x")[-1]
    assert set(coded["x"][:-1]) == set(range(len(coded.schema["x"].levels)))


def test_undoing_draws_every_value_of_a_bin():
    of = column()
    code = Binned.of(Schema((of,)), {"x": uniform_edges(of, 10)})
    coded = Table(code.schema, {"x": np.full(4000, 3, np.int32)})
    drawn = code.undo(coded, np.random.default_rng(0))["x"]
    assert set(drawn) == set(range(30, 40))
    assert np.bincount(drawn - 30).std() / 400 < 0.15


def test_small_domains_are_left_alone_and_other_kinds_refused(small):
    code = Bins(bins=200).fit(Vault.of(small), np.random.default_rng(0))
    assert code.schema["age"] == small.schema["age"]
    assert code.schema["pay"].kind is Kind.ORDINAL
    with pytest.raises(PlanError, match="town"):
        Bins(columns=("town",)).plan(small.schema, None)


def test_a_tree_finds_the_spike_and_pays_for_it():
    of = column(low=0, high=99_999)
    rng = np.random.default_rng(0)
    values = np.where(rng.random(20_000) < 0.9, 0, rng.integers(1, 100_000, 20_000))
    vault = Vault.of(table(of, values)).named("bins", Allowance.of(Budget(1.0, 1e-6), Unit()))
    code = Bins(edges=Edges.TREE).fit(vault, rng)
    assert code.edges["x"][1] <= 2
    assert vault.ledger.within(Budget(1.0, 1e-6))
    assert not vault.ledger.culprits
    assert {type(e.event) for e in vault.ledger.entries} == {DiscreteGaussian}
    planned = Bins(edges=Edges.TREE).plan(vault.schema, vault.allowance).events
    assert [e.event for e in vault.ledger.entries] == list(planned)


def test_quantile_edges_are_a_raw_access(small):
    vault = Vault.of(small)
    Bins(edges=Edges.QUANTILE).fit(vault, np.random.default_rng(0))
    assert len(vault.ledger.culprits) == 1


def test_bins_of_an_observed_domain_stay_observed():
    of = column()
    seen = replace(of, domain=replace(of.domain, observed=True))
    assert Binned.of(Schema((seen,)), {"x": uniform_edges(seen, 4)}).schema["x"].observed


def test_quantile_edges_that_meet_leave_no_empty_bin_between_their_roundings():
    of = column(Kind.REAL, 0.0, 10.0, decimals=1)
    # 5.6 is several quantiles and 5.7 the next: 5.6 + 0.05 and 5.7 - 0.05 are one edge, and two floating-point numbers.
    values = np.repeat([3.0, 5.6, 5.7, 7.3], [10, 60, 40, 10])
    code = Bins(bins=24, edges=Edges.QUANTILE).fit(Vault.of(table(of, values)), np.random.default_rng(0))
    assert (np.diff(code.edges["x"]) > 0.09).all()
    assert set(code.undo(code.apply(table(of, values)), np.random.default_rng(1)).strings("x")) >= {"5.6", "5.7"}


def test_a_range_of_more_grid_points_than_integers_of_64_bits_is_cut_all_the_same():
    column = Column(name="x", kind=Kind.REAL, domain=Bounds(0, 2.0**53), decimals=6)
    edges = uniform_edges(column, 8)
    assert edges.dtype == np.float64
    assert len(edges) == 9
