"""Bins from noisy counts: spikes get bins of their own, what noise explains is taken back, and unpleasant columns work."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.encode.bins import Bins, Edges
from hushtable.errors import GuaranteeRefused
from hushtable.numerics.cuts import cuts, even_cuts
from hushtable.numerics.tree import Leaves, Tree, fanout, rounds
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BUDGET = Budget(1.0, 1e-6)


def column(kind: Kind = Kind.INTEGER, low: float = 0, high: float = 99, **more: object) -> Column:
    return Column(name="x", kind=kind, domain=Bounds(low, high), **more)


def fitted(of: Column, values: np.ndarray, budget: Budget = BUDGET, seed: int = 0, **knobs: object):
    table = Table(Schema((of,)), {"x": of.from_floats(np.asarray(values, float))})
    vault = Vault.of(table, entropy=Entropy.seeded(seed), budget=budget).named("bins", Allowance.of(budget, Unit()))
    return Bins(edges=Edges.TREE, **knobs).fit(vault, np.random.default_rng(0)), table, vault


def own_bin(code, value: float) -> bool:
    edges = code.edges["x"]
    place = np.searchsorted(edges, value, side="right") - 1
    return bool(np.isclose(edges[place], value - 0.5) and np.isclose(edges[place + 1], value + 0.5))


def test_values_that_many_rows_share_have_bins_of_their_own_and_come_back_exactly():
    rng = np.random.default_rng(0)
    spikes = np.repeat([0, 7688, 99_999], [15_000, 400, 400])
    code, table, vault = fitted(column(high=99_999), np.append(spikes, rng.integers(1, 100_000, 4000)))
    assert all(own_bin(code, value) for value in (0, 7688, 99_999))
    back = code.undo(code.apply(table), rng)["x"]
    for value in (0, 7688, 99_999):
        assert (back == value).sum() == (table["x"] == value).sum()
    assert not vault.ledger.culprits
    assert len(code.edges["x"]) - 1 <= 48


def test_without_spikes_bins_hold_about_equal_masses():
    rng = np.random.default_rng(1)
    values = rng.lognormal(11, 1, 20_000).clip(0, 1_499_999).astype(int)
    code, table, _ = fitted(column(high=1_499_999), values)
    shares = np.bincount(code.apply(table)["x"]) / 20_000
    assert 24 <= len(shares) <= 48
    assert shares.max() < 0.08
    back = code.undo(code.apply(table), rng)["x"]
    grid = np.quantile(values, np.arange(0.05, 1, 0.05))
    away = np.abs(np.searchsorted(np.sort(back), grid) - np.searchsorted(np.sort(values), grid)).max() / 20_000
    assert away < 0.02


@pytest.mark.parametrize(
    ("of", "values"),
    [
        (column(Kind.REAL, 0.0, 1.0), np.random.default_rng(0).beta(1, 20, 3000)),
        (column(Kind.REAL, -2.5, 2.5, decimals=1), np.random.default_rng(0).normal(0, 1, 3000).clip(-2.5, 2.5)),
        (column(Kind.DATE, 0, 86_400 * 4000), 86_400.0 * np.random.default_rng(0).integers(0, 4000, 3000)),
        (column(Kind.INTEGER, 0, 2**40), np.random.default_rng(0).integers(0, 2**20, 3000)),
        (column(Kind.INTEGER, 7, 7), np.full(50, 7)),
        (column(Kind.REAL, 3.0, 3.0), np.full(50, 3.0)),
        (column(), np.full(200, np.nan)),
        (column(), np.array([5.0])),
        (column(high=10**6), np.empty(0)),
    ],
    ids=["real", "decimals", "date", "large", "constant", "constant real", "all missing", "one row", "no row"],
)
@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(0.5, 0.0)], ids=["gaussian", "laplace"])
def test_every_column_comes_back_inside_its_own_bin(of, values, budget):
    code, table, vault = fitted(of, values, budget, columns=("x",))
    coded = code.apply(table)
    back = code.undo(coded, np.random.default_rng(3))
    np.testing.assert_array_equal(code.apply(back)["x"], coded["x"])
    np.testing.assert_array_equal(back.missing("x"), table.missing("x"))
    assert len(set(coded.schema["x"].levels)) == len(code.edges["x"]) - 1
    assert vault.ledger.within(budget)


@pytest.mark.parametrize("edges", [Edges.DP_QUANTILE, Edges.PRIVTREE])
@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0, 0.0)], ids=["zcdp", "pure"])
@pytest.mark.parametrize("relation", list(Relation))
def test_other_private_edges_are_paid_for_and_lie_among_the_rows(edges, budget, relation):
    of, rng = column(high=9999), np.random.default_rng(0)
    table = Table(Schema((of,)), {"x": rng.normal(3000, 300, 8000).clip(0, 9999).astype(np.int64)})
    unit = Unit(relation=relation)
    vault = Vault.of(table, unit=unit, entropy=Entropy.seeded(1), budget=budget).named("bins", Allowance.of(budget, unit))
    code = Bins(edges=edges, bins=16).fit(vault, rng)
    shares = np.bincount(code.apply(table)["x"], minlength=len(code.edges["x"]) - 1) / 8000
    assert shares.max() < 0.2
    assert not vault.ledger.culprits
    planned = Bins(edges=edges, bins=16).plan(table.schema, vault.allowance).events
    assert [e.event for e in vault.ledger.entries] == list(planned)
    assert 0.7 * budget.epsilon < vault.ledger.epsilon(budget.delta) <= budget.epsilon


def test_a_person_with_several_rows_is_charged_as_one_by_privtree():
    unit = Unit(rows=3)
    table = Table(Schema((column(high=999),)), {"x": np.arange(1000)})
    vault = Vault.of(table, unit=unit, budget=BUDGET, entropy=Entropy.seeded(1)).named("bins", Allowance.of(BUDGET, unit))
    Bins(edges=Edges.PRIVTREE).fit(vault, np.random.default_rng(0))
    assert vault.ledger.within(BUDGET)
    odd = Unit(rows=3, relation=Relation.REPLACE_ONE)
    vault = Vault.of(table, unit=odd, budget=BUDGET).named("bins", Allowance.of(BUDGET, odd))
    with pytest.raises(GuaranteeRefused, match="privtree"):
        Bins(edges=Edges.PRIVTREE).fit(vault, np.random.default_rng(0))


def test_where_noise_drowns_the_rows_the_bins_are_about_even():
    code, _, _ = fitted(column(high=9999), np.random.default_rng(0).integers(0, 300, 50), Budget(0.01, 1e-6))
    widths = np.diff(code.edges["x"])
    assert len(widths) == 8
    assert np.median(widths) > 1000


@pytest.mark.parametrize("edges", [Edges.TREE, Edges.PRIVTREE])
def test_few_rows_are_cut_into_few_bins_unless_asked_for_more(edges):
    values = np.random.default_rng(0).normal(5000, 1000, 700).clip(0, 9999)

    def bins(rows: int, **knobs: int) -> int:
        of = column(high=9999)
        table = Table(Schema((of,)), {"x": of.from_floats(np.repeat(values, rows))})
        vault = Vault.of(table, entropy=Entropy.seeded(1), budget=BUDGET).named(
            "bins", Allowance.of(BUDGET, Unit()).split([1, 9])[0]
        )
        return len(Bins(edges=edges, **knobs).fit(vault, np.random.default_rng(0)).edges["x"]) - 1

    assert bins(1) <= 10
    assert 24 <= bins(1, fewest=32) <= 40
    assert 24 <= bins(100) <= 48


def test_spikes_keep_bins_of_their_own_beside_few_others():
    leaves = Leaves(np.array([0, 10, 11, 50, 51, 100]), np.array([200.0, 500, 200, 500, 200]), np.ones(5))
    edges = cuts(leaves, 32, 3).edges.tolist()
    assert {10, 11, 50, 51} <= set(edges)
    assert len(edges) - 1 == 5
    assert len(cuts(leaves, 32).edges) - 1 > 20


@pytest.mark.parametrize("delta", [None, 0.0])
def test_a_long_tail_does_not_fill_the_declared_domain(delta):
    """Amounts up to a million of which most are about a thousand: drawn evenly, the last bin makes the mean many times larger."""
    of = column(high=10**6)
    for seed in range(3):
        values = np.random.default_rng(seed).lognormal(7, 1, 5000).clip(0, 10**6).astype(np.int64)
        table = Table(Schema((of,)), {"x": values})
        release = ht.release(table, "independent", epsilon=1.0, delta=delta, seed=seed, entropy=Entropy.seeded(seed), unproven=True)
        drawn = release.table.floats("x")
        assert 1 / 1.5 < np.nanmean(drawn) / values.mean() < 1.5
        at = (0.25, 0.5, 0.75, 0.9)
        np.testing.assert_allclose(np.nanquantile(drawn, at), np.quantile(values, at), rtol=0.15)


@pytest.mark.parametrize("back", [False, True])
def test_a_tail_goes_on_from_its_neighbours_and_falls(back):
    edges, mass = np.array([0, 10, 20, 10_020]), np.array([100.0, 100, 100])
    if back:
        edges, mass = 10_020 - edges[::-1], mass[::-1]
    actual = cuts(Leaves(edges, mass, np.ones(3)), 3)
    tail = 0 if back else 2
    within = actual.within(np.full(20_000, tail), np.random.default_rng(0))
    assert within.min() >= 0
    assert within.max() < 1
    away = 10_000 * (1 - within if back else within)
    # Half of it lies as near as the neighbour is wide: w / (w + d) with w = 10.
    for d in (10, 90, 990):
        assert (away > d).mean() == pytest.approx(10 / (10 + d), abs=0.02)
    even = actual.within(np.full(20_000, 1), np.random.default_rng(0))
    assert even.mean() == pytest.approx(0.5, abs=0.02)


def test_rows_spread_evenly_have_no_tail():
    values = np.random.default_rng(0).integers(0, 10**6, 5000)
    code, table, _ = fitted(column(high=10**6), values, Budget(0.3, 1e-6))
    back = code.undo(code.apply(table), np.random.default_rng(1))["x"]
    assert back.mean() == pytest.approx(values.mean(), rel=0.03)
    np.testing.assert_allclose(np.quantile(back, (0.02, 0.98)), np.quantile(values, (0.02, 0.98)), atol=20_000)


def test_inside_a_bin_values_lie_as_the_counts_say():
    leaves = Leaves(np.array([0, 10, 20, 100]), np.array([900.0, 100.0, 0.0]), np.ones(3))
    actual = cuts(leaves, 1)
    assert actual.edges.tolist() == [0, 100]
    drawn = actual.draw(np.zeros(4000, np.int64), np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(drawn, minlength=3) / 4000, [0.9, 0.1, 0.0], atol=0.02)
    noisy = cuts(Leaves(leaves.edges, leaves.mass, np.full(3, 1e9)), 1)
    np.testing.assert_allclose(noisy.mass / noisy.mass.sum(), [0.1, 0.1, 0.8])


def test_exact_counts_give_exact_masses():
    rng = np.random.default_rng(0)
    values = np.append(np.full(5000, 40), rng.integers(0, 1000, 20_000))
    tree = Tree(1000)
    for _ in range(rounds(1000)):
        counts = np.histogram(values, tree.edges())[0]
        tree.learn(counts, 1e-6)
        tree.cut(0.0)
    leaves = tree.leaves()
    assert leaves.mass.sum() == pytest.approx(25_000)
    np.testing.assert_allclose(leaves.mass, np.histogram(values, leaves.edges)[0], atol=1e-3)


def test_rounds_lead_down_to_single_points():
    for points in (2, 99, 512, 513, 100_000, 2**24, 2**36):
        assert fanout(points) ** rounds(points) >= points
    assert rounds(1) == rounds(99) == 1
    assert even_cuts(3, 32).edges.tolist() == [0, 1, 2, 3]


def test_the_spikes_of_adult_at_a_tenth_of_epsilon_one(adult):
    spikes = {"capital_gain": (0, 7688, 15_024, 99_999), "capital_loss": (0,), "hours_per_week": (40, 50)}
    part = Allowance.of(Budget(1.0, 1e-5), Unit()).split([1, 9])[0]
    code = Bins(edges=Edges.TREE).fit(Vault.of(adult, entropy=Entropy.seeded(5)).named("bins", part), np.random.default_rng(0))
    for name, values in spikes.items():
        edges = code.edges[name]
        for value in values:
            place = np.searchsorted(edges, value, side="right") - 1
            assert edges[place + 1] - edges[place] == 1, (name, value)
    back = code.undo(code.apply(adult), np.random.default_rng(0))
    for name, values in spikes.items():
        for value in values:
            assert (back[name] == value).sum() == (adult[name] == value).sum()
