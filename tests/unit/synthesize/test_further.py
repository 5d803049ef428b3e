"""What is worth measuring follows from noise, size and rows; networks and groups grow with the budget, and only with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.pipeline.verify import verify
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.unit import Budget, Unit
from hushtable.synthesize.marginal.field_groups import FieldGroups
from hushtable.synthesize.marginal.further import affordable, batches, burden, repeats
from hushtable.synthesize.marginal.histograms import Histograms
from hushtable.synthesize.marginal.measurement import Measurement
from hushtable.synthesize.marginal.mst import Mst
from hushtable.synthesize.marginal.mwem import Mwem
from hushtable.synthesize.network.grown import Grown
from hushtable.synthesize.network.privbayes import PrivBayes
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.test_network import categories, chain, fitted


def crossed(rows: int = 4000) -> Table:
    """Two causes, three columns that each follow both, and a target: no tree holds it."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 4, (2, rows))
    both = [np.where(rng.random(rows) < 0.7, (a + b + i) % 4, rng.integers(0, 4, rows)) for i in range(3)]
    y = (rng.random(rows) < 0.2 + 0.6 * (a > b)).astype(int)
    columns = {"a": (4, a), "b": (4, b), **{f"s{i}": (4, s) for i, s in enumerate(both)}, "y": (2, y)}
    return categories(columns, y=Role.TARGET)


def test_noise_size_and_rows_decide_what_is_worth_it():
    assert burden(10, 50, 1000) > burden(5, 50, 1000) > burden(5, 50, 2000)
    # Up to 64 cells the noise counts in full, beyond that by the root.
    assert burden(1, 64, 100) == pytest.approx(2 * burden(1, 32, 100))
    assert burden(1, 6400, 100) == pytest.approx(10 * burden(1, 64, 100))
    tolerated = 0.45 * 1000 / (np.sqrt(2 / np.pi) * 60)
    assert [repeats(factor * tolerated, [60], 1000) for factor in (0.99, 1.4, 1.9, 2.1)] == [1, 2, 4, 0]


def test_as_many_margins_as_are_affordable_are_just_worth_it():
    schema = chain(10).schema
    for delta in (1e-6, 0.0):
        part = Allowance.of(Budget(2.0, delta), Unit())
        count = int(affordable(part, 9, schema, 3000.0))
        noise = [part.deviation(Histograms((("c0",),) * n), schema) for n in (count, count + 1)]
        assert burden(noise[0], 9, 3000.0) <= 1 < burden(noise[1], 9, 3000.0)


def test_the_batches_cost_what_they_may():
    part = Allowance.of(Budget(1.0, 1e-6), Unit())
    events = [event for batch in batches(part, 5) for event in batch.events(chain(10).schema)]
    assert sum(event.cost().rho for event in events) == pytest.approx(part.rho, rel=1e-2)
    assert sum(event.cost().rho for event in events) <= part.rho


@pytest.mark.parametrize("step", [Mst(), Mwem(), PrivBayes(), FieldGroups()])
def test_a_larger_budget_learns_what_no_tree_holds(step):
    table = crossed()
    held = []
    for epsilon in (0.3, 50.0):
        model, ledger = fitted(step, table, epsilon)
        assert ledger.epsilon(1e-6) <= epsilon
        drawn = model.sample(4000, np.random.default_rng(0))
        held.append(np.mean([(drawn[f"s{i}"] == (drawn["a"] + drawn["b"] + i) % 4).mean() for i in range(3)]))
    assert held[1] > held[0] + 0.02


def test_where_nothing_is_worth_it_nothing_further_is_measured():
    table = crossed(200)
    assert "further" not in fitted(Mst(), table, 0.05)[0].result()
    assert all(len(node.parents) <= 2 for node in fitted(PrivBayes(), table, 0.05)[0].nodes)
    assert all(len(group.split(", ")) == 2 for group in fitted(FieldGroups(), table, 0.05)[0].result()["groups"])
    assert "further" in fitted(Mst(), crossed(), 20.0)[0].result()
    assert any(len(node.parents) > 2 for node in fitted(PrivBayes(), crossed(), 20.0)[0].nodes)
    assert any(len(group.split(", ")) > 3 for group in fitted(FieldGroups(), crossed(), 20.0)[0].result()["groups"])


def test_mst_without_target_and_further_is_the_tree_alone():
    table = chain()
    model, ledger = fitted(Mst(further=0.0), table, 20.0)
    assert "further" not in model.result()
    assert len(model.result()["measured"]) == 5
    # Six columns, five choices and five pairs.
    assert len(ledger.entries) == 16


def test_a_column_is_fitted_to_its_table_and_keeps_what_it_had():
    """A further table without noise is met, and so is the node that was there; what both leave open is independent."""
    rng = np.random.default_rng(0)
    sizes = {"a": 3, "b": 2, "c": 4}
    tables = [Measurement((n,), rng.dirichlet(np.ones(size)) * 9000, 1e-6) for n, size in sizes.items()]
    grown = Grown.of(tables, sizes, (), 9000.0, rng)
    grown.add("a", (), None, rng)
    grown.add("b", (), None, rng)
    joint = rng.dirichlet(np.ones(12)).reshape(3, 4) * 9000
    grown.add("c", ("a",), Measurement(("a", "c"), joint, 1e-6), rng)
    before = grown.nodes[-1].shares
    rows = grown.parent_counts(("a", "b"))
    first = rows.sum(1)[:, None] * before
    wanted = first.sum(0) * rng.uniform(0.3, 0.7, (2, 1))
    wanted[1] = first.sum(0) - wanted[0]
    wanted *= (rows.sum(0) / wanted.sum(1))[:, None]
    grown.extend(Measurement(("b", "c"), wanted, 1e-6))
    node = grown.nodes[-1]
    assert node.parents == ("a", "b")
    counts = rows[:, :, None] * node.shares.reshape(3, 2, 4)
    assert np.abs(counts.sum(0) - wanted).sum() < 0.02 * 9000
    assert np.abs(counts.sum(1) - first).sum() < 0.02 * 9000


@pytest.mark.parametrize("name", ["mst", "mwem", "privbayes", "field-groups"])
@pytest.mark.parametrize("epsilon", [0.2, 20.0])
def test_a_target_that_is_cut_into_few_or_many_bins_is_planned_alike(name, epsilon, tmp_path):
    """How many bins a number gets follows from noisy answers: the card must still verify, whether or not they are few."""
    table = crossed(1500)
    money = Column(name="money", kind=Kind.INTEGER, domain=Bounds(0, 50_000), required=True, role=Role.TARGET)
    plain = Table(Schema(tuple(replace(c, role=Role.PLAIN) for c in table.schema)), dict(table.arrays))
    paid = (plain["a"].astype(np.int64) * 9000 + np.random.default_rng(0).integers(0, 9000, 1500)).clip(0, 50_000)
    released = release(plain.with_columns((money, paid)), load(name), epsilon=epsilon, delta=1e-6)
    ht.save(released, tmp_path / "out")
    assert not verify(tmp_path / "out").faults
