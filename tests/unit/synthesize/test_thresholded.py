"""Common cells: released with noisy counts, everything rare left out, nothing read but through the threshold."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import DiscreteGaussian, Raw, StabilityHistogram
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.thresholded import CellTable, Thresholded
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="town", kind=Kind.CATEGORY, domain=Levels(("north", "south", "east"))),
        Column(name="sick", kind=Kind.CATEGORY, domain=Levels(("no", "yes")), required=True),
        Column(name="visits", kind=Kind.INTEGER, domain=Bounds(-1, 3)),
    )
)
BUDGET = Budget(1.0, 1e-6)
GONE = np.iinfo(np.int64).min


def people(*cells: tuple[int, int, int, int]) -> Table:
    """So many rows of each cell (town, sick, visits, rows); -1 is a missing town, GONE missing visits."""
    town, sick, visits = (np.concatenate([np.full(cell[3], cell[i]) for cell in cells]) for i in range(3))
    return Table(SCHEMA, {"town": town.astype(np.int32), "sick": sick.astype(np.int32), "visits": visits.astype(np.int64)})


CROWD = people((0, 0, 3, 900), (1, 1, -1, 500), (-1, 0, GONE, 300), (2, 1, 2, 1))


def fitted(table: Table = CROWD, budget: Budget = BUDGET, unit: Unit | None = None, seed: int = 1, **knobs: object):
    unit = unit or Unit()
    vault = Vault.of(table, unit=unit, entropy=Entropy.seeded(seed), budget=budget).named("cells", Allowance.of(budget, unit))
    return Thresholded(**knobs).fit(vault, np.random.default_rng(0)), vault


def test_common_cells_come_back_with_noisy_counts_and_a_lone_one_does_not():
    model, vault = fitted()
    drawn = model.sample(None, np.random.default_rng(0))
    results = {}
    for row in zip(*(drawn.strings(name) for name in SCHEMA.names), strict=True):
        results[row] = results.get(row, 0) + 1
    assert set(results) == {("north", "no", "3"), ("south", "yes", "-1"), (None, "no", None)}
    assert abs(results["north", "no", "3"] - 900) < 60
    assert abs(drawn.rows - 1700) < 120
    assert [type(e.event) for e in vault.ledger.entries] == [StabilityHistogram, DiscreteGaussian]
    assert vault.ledger.within(BUDGET)
    assert "note" not in model.result()


@pytest.mark.parametrize("unit", [Unit(), Unit(relation=Relation.REPLACE_ONE), Unit(rows=4)], ids=str)
def test_the_price_is_the_planned_one(unit):
    _, vault = fitted(unit=unit)
    assert [e.event for e in vault.ledger.entries] == list(Thresholded().plan(SCHEMA, vault.allowance).events)
    assert vault.ledger.epsilon(BUDGET.delta) > 0.9 * BUDGET.epsilon * (unit.relation is Relation.ADD_REMOVE)


def test_a_condition_draws_from_the_cells_that_meet_it():
    model, _ = fitted()
    some = model.sample(50, np.random.default_rng(0), {"town": "south"})
    assert set(some.strings("sick")) == {"yes"}
    never = model.sample(50, np.random.default_rng(0), {"town": "east"})
    assert set(never.strings("town")) == {"east"}
    assert set(never.strings("visits")) <= {"3", "-1", None}
    with pytest.raises(InputError, match="no value of town"):
        model.sample(5, np.random.default_rng(0), {"town": "nowhere"})


def test_where_nothing_is_common_the_note_says_so():
    model, _ = fitted(people((0, 0, 1, 1), (1, 1, 2, 1)))
    assert "carry no information" in model.result()["note"]
    assert model.sample(None, np.random.default_rng(0)).rows >= 2
    assert model.sample(7, np.random.default_rng(0), {"town": "east"}).strings("town").tolist() == ["east"] * 7
    many = people((0, 0, 3, 300), *((t, s, v, 20) for t in (1, 2) for s in (0, 1) for v in range(-1, 4)))
    assert "left out" in fitted(many)[0].result()["note"]


def test_the_model_is_rebuilt_and_repeats_itself():
    model, _ = fitted()
    again = CellTable.from_parts(*model.parts())
    one, two = (m.sample(40, np.random.default_rng(2)) for m in (model, again))
    assert all(np.array_equal(one[n], two[n]) for n in SCHEMA.names)
    same, _ = fitted()
    assert np.array_equal(same.counts, model.counts)


def test_bad_input_is_refused_by_name(small):
    allowance = Allowance.of(BUDGET, Unit())
    with pytest.raises(PlanError, match="height"):
        Thresholded().plan(small.schema, allowance)
    with pytest.raises(PlanError, match="delta"):
        Thresholded().plan(SCHEMA, Allowance.of(Budget(1.0, 0.0), Unit()))
    with pytest.raises(GuaranteeRefused, match="delta"):
        fitted(budget=Budget(1.0, 0.0))
    with pytest.raises(PlanError, match="nowhere"):
        Thresholded(columns=("nowhere",)).plan(SCHEMA, allowance)


def test_the_recipe_is_proven(small):
    released = ht.release(small, "thresholded", epsilon=3.0, settings={"thresholded.columns": "sick,town"})
    assert released.table.schema.names == ("sick", "town")
    assert not any(isinstance(e.event, Raw) for e in released.guarantee.ledger)
    assert released.guarantee.epsilon() <= 3.0


def test_public_rows_are_released_exactly():
    model, _ = fitted(unit=Unit(relation=Relation.REPLACE_ONE))
    assert model.sample(None, np.random.default_rng(0)).rows == CROWD.rows
    again = CellTable.from_parts(*model.parts())
    assert again.sample(None, np.random.default_rng(0)).rows == CROWD.rows
