"""MST: the tree is found, the price is kept, and what it cannot do it says."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import InputError, PlanError
from hushtable.pipeline.plan import alike
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Exponential, Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.noise import Entropy
from hushtable.privacy.slots import Slots
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.mst import Mst
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def chain(rows: int, columns: int, levels: int = 3, seed: int = 0) -> Table:
    """Each column repeats the one before it for nine rows in ten."""
    rng = np.random.default_rng(seed)
    words = Levels(tuple(f"l{i}" for i in range(levels)))
    schema = Schema(tuple(Column(name=f"c{i}", kind=Kind.CATEGORY, domain=words) for i in range(columns)))
    arrays = {"c0": rng.integers(0, levels, rows).astype(np.int32)}
    for i in range(1, columns):
        retained = rng.random(rows) < 0.9
        arrays[f"c{i}"] = np.where(retained, arrays[f"c{i - 1}"], rng.integers(0, levels, rows)).astype(np.int32)
    return Table(schema, arrays)


def vault_of(table: Table, epsilon: float, delta: float, unit: Unit | None = None, seed: int = 0) -> Vault:
    unit, budget = unit or Unit(), Budget(epsilon, delta)
    vault = Vault.of(table, unit=unit, budget=budget, entropy=Entropy.seeded(seed))
    return vault.named("mst", Allowance.of(budget, unit))


def pairs_of(model) -> set[frozenset[str]]:
    return {frozenset(pair.split(" x ")) for pair in model.result()["measured"]}


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_chain_is_recovered(delta):
    table = chain(4000, 6)
    model = Mst().fit(vault_of(table, 20.0, delta), np.random.default_rng(0))
    assert pairs_of(model) == {frozenset((f"c{i}", f"c{i + 1}")) for i in range(5)}
    drawn = model.sample(None, np.random.default_rng(0))
    assert abs(drawn.rows - 4000) < 100
    for i in range(5):
        real, collected = ((t[f"c{i}"] == t[f"c{i + 1}"]).mean() for t in (table, drawn))
        assert collected == pytest.approx(real, abs=0.02)
    # Far along the chain the dependence is what the steps between make of it.
    assert (drawn["c0"] == drawn["c5"]).mean() == pytest.approx((table["c0"] == table["c5"]).mean(), abs=0.03)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_the_ledger_holds_the_budget_and_no_raw_look(relation, delta):
    vault = vault_of(chain(300, 4), 1.0, delta, Unit(relation=relation))
    model = Mst().fit(vault, np.random.default_rng(0))
    events = [entry.event for entry in vault.ledger.entries]
    assert not any(isinstance(event, Raw) for event in events)
    # Three of the tree, and two, two, four and eight of the batches beyond it.
    assert sum(isinstance(event, Exponential) for event in events) == 19
    planned = Mst().plan(vault.schema, Allowance.of(Budget(1.0, delta), Unit(relation=relation))).events
    kinds, prices = zip(*sorted((type(e).__name__, e.cost().rho) for e in events), strict=True)
    expected, costs = zip(*sorted((type(e).__name__, e.cost().rho) for e in planned), strict=True)
    assert kinds == expected
    assert prices == pytest.approx(costs, rel=1e-3)
    assert vault.ledger.epsilon(delta) <= 1.0
    assert vault.ledger.epsilon(delta) > 0.9
    if relation is Relation.REPLACE_ONE:
        assert model.sample(None, np.random.default_rng(0)).rows == 300


def test_the_recipe_is_proven():
    released = release(chain(500, 4), load("mst"), epsilon=1.0, delta=1e-6)
    assert released.guarantee.epsilon() <= 1.0
    assert released.guarantee.assurance is Assurance.PROVEN
    pure = release(chain(500, 4), load("mst"), epsilon=1.0, delta=0.0)
    assert pure.guarantee.epsilon() <= 1.0


def test_too_small_a_budget_is_said_with_numbers():
    model = Mst().fit(vault_of(chain(200, 5), 0.05, 1e-6), np.random.default_rng(0))
    assert "the noise of a cell is about" in model.result()["note"]
    assert "note" not in Mst().fit(vault_of(chain(4000, 5), 10.0, 1e-6), np.random.default_rng(0)).result()


def test_one_column_gets_all_of_the_budget_and_pairs_that_are_too_large_are_left_out():
    alone = vault_of(chain(500, 1), 1.0, 0.0)
    model = Mst().fit(alone, np.random.default_rng(0))
    assert model.result()["measured"] == []
    assert len(alone.ledger.entries) == 1
    assert alone.ledger.epsilon(0.0) == pytest.approx(1.0, rel=1e-3)
    words = Levels(tuple(f"l{i}" for i in range(50)))
    wide = Schema((*chain(2, 2).schema.columns, *(Column(name=n, kind=Kind.CATEGORY, domain=words) for n in ("big", "huge"))))
    table = Table(wide, {**chain(500, 2).arrays, "big": np.zeros(500, np.int32), "huge": np.zeros(500, np.int32)})
    vault = vault_of(table, 1.0, 0.0)
    assert pairs_of(Mst(cells=20).fit(vault, np.random.default_rng(0))) == {frozenset(("c0", "c1"))}
    assert vault.ledger.epsilon(0.0) <= 1.0


@pytest.mark.parametrize(("columns", "target"), [(1, ""), (2, ""), (2, "c1"), (4, ""), (4, "c1")])
def test_its_queries_follow_from_the_columns_alone_whatever_their_sizes(columns, target):
    """A bin more or less, or a code list that is learnt, must not change what is asked: the prices were shared out before."""
    budget = Allowance.of(Budget(1.0, 1e-6), Unit())
    planned = Mst(target=target).plan(chain(10, columns).schema, budget).events
    for levels, cells in ((1, 100_000), (2, 100_000), (40, 100_000), (3, 2)):
        table, step = chain(300, columns, levels), Mst(target=target, cells=cells)
        assert step.plan(table.schema, budget).events == planned
        vault = vault_of(table, 1.0, 1e-6)
        vault.ledger.slots = Slots(("mst", happened) for happened in planned)
        step.fit(vault, np.random.default_rng(0))
        assert alike(Ledger(Entry("mst", happened, "") for happened in planned), vault.ledger)


def test_without_the_correction_a_large_table_of_chance_is_preferred():
    rng = np.random.default_rng(99)
    table = chain(3000, 2)
    words = Levels(tuple(f"l{i}" for i in range(60)))
    columns = [Column(name=n, kind=Kind.CATEGORY, domain=words) for n in ("big", "huge")]
    arrays = {n: rng.integers(0, 60, 3000).astype(np.int32) for n in ("big", "huge")}
    slightly = np.where(rng.random(3000) < 0.15, table["c0"], rng.integers(0, 3, 3000)).astype(np.int32)
    wide = Table(Schema((table.schema["c0"], table.schema["c1"], *columns)), {"c0": table["c0"], "c1": slightly, **arrays})
    first = {
        corrected: Mst(corrected=corrected).fit(vault_of(wide, 50.0, 0.0), np.random.default_rng(0)).result()["measured"][0]
        for corrected in (True, False)
    }
    assert first == {True: "c0 x c1", False: "big x huge"}


def test_given_values_condition_the_others():
    model = Mst().fit(vault_of(chain(4000, 3), 20.0, 1e-6), np.random.default_rng(0))
    drawn = model.sample(1000, np.random.default_rng(0), {"c1": "l2"})
    assert (drawn["c1"] == 2).all()
    assert (drawn["c0"] == 2).mean() > 0.85
    assert (drawn["c2"] == 2).mean() > 0.85


def test_what_cannot_be_counted_is_refused_by_name_and_knobs_are_checked():
    schema = Schema((Column(name="height", kind=Kind.REAL, domain=Bounds(0, 2)), *chain(2, 1).schema.columns))
    with pytest.raises(PlanError, match="height must be cut into bins"):
        Mst().plan(schema, None)
    with pytest.raises(InputError, match=r"Mst\.cells"):
        Mst(cells=0)


def test_many_columns():
    vault = vault_of(chain(1000, 60, 2), 5.0, 1e-6)
    model = Mst().fit(vault, np.random.default_rng(0))
    assert len(pairs_of(model)) == 59
    assert model.sample(None, np.random.default_rng(0)).rows > 900


def test_adult(adult):
    """All of it, bins included: columns are right and the dependence on income is there."""
    released = release(adult, load("mst"), epsilon=1.0, delta=1e-6)
    for name in ("marital_status", "education", "income"):
        real, drawn = (np.bincount(t[name], minlength=20)[:20] / t.rows for t in (adult, released.table))
        assert np.abs(real - drawn).sum() / 2 < 0.03
    married = [((t["marital_status"] == 2) == (t["income"] == 1)).mean() for t in (adult, released.table)]
    assert abs(married[0] - married[1]) < 0.1
