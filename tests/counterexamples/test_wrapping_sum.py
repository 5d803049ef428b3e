"""A sum of 64-bit integers that wraps around changes by more than its sensitivity: 1,024 rows of 2^53 steps are enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.audits.mechanism.sensitivity import compare
from hushtable.audits.mechanism.watch import Asked
from hushtable.checks import private
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.allowance import WIDEST, Allowance, Noise
from hushtable.privacy.query import ROWS, SAFE, Histogram, Sum
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Independent, Margins
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

STEPS = 2**53


def wealth(rows: int, high: int = STEPS) -> Table:
    """As many people as rich as the domain allows."""
    column = Column(name="wealth", kind=Kind.INTEGER, domain=Bounds(0, high), required=True)
    return Table(Schema((column,)), {"wealth": np.full(rows, high)})


class Wrapping(Sum):
    """The sum as it was: as many steps as a float holds, whatever the rows."""

    def largest(self, schema, rows):
        return rows

    def _range(self, schema):
        return int(schema[self.column].bounds.low / self.grid), int(schema[self.column].bounds.high / self.grid)


@pytest.mark.parametrize(("rows", "relation"), [(1023, Relation.ADD_REMOVE), (1024, Relation.REPLACE_ONE)])
def test_at_the_wrap_one_row_changes_the_old_sum_by_more_than_it_says(rows, relation):
    comparison = compare(Asked(Wrapping("wealth", 1.0), wealth(rows)), relation)
    assert comparison.l1 > 2.0**63 > comparison.stated["l1"]
    assert not comparison.holds


def test_an_honest_statement_of_its_largest_number_is_not_enough_where_that_wraps():
    class Honest(Wrapping):
        def largest(self, schema, rows):
            return rows * STEPS

    assert not compare(Asked(Honest("wealth", 1.0), wealth(600)), Relation.ADD_REMOVE).holds
    with pytest.raises(PlanError, match=r"honest of wealth: for 2,147,483,647 rows it could come to 1\.93e"):
        Vault.of(wealth(3), budget=Budget(1.0, 0.0)).measure(Honest("wealth", 1.0), 1e16, Noise.LAPLACE)


@pytest.mark.parametrize("high", [STEPS, 2**31, 10**12])
def test_the_sum_names_the_steps_that_can_be_added_and_keeps_what_it_says_with_them(high):
    table = wealth(1023, high)
    for relation in Relation:
        with pytest.raises(PlanError, match=r"'wealth' in steps of 1 has up to .* take steps of at least") as refused:
            Sum("wealth", 1.0).sensitivity(table.schema, relation)
        grid = float(str(refused.value).split("at least ")[1].split(",")[0])
        coarse = Sum("wealth", grid)
        assert coarse.largest(table.schema, ROWS) < SAFE
        assert compare(Asked(coarse, table), relation).holds
    assert Sum("wealth", 1.0).largest(wealth(1, 2**31 - 2).schema, ROWS) < SAFE


@dataclass(frozen=True, kw_only=True)
class Summing(Margins):
    """Margins, and the sum of one column."""

    query: type[Sum] = Sum
    grid: float = 1e-7

    def plan(self, schema, budget):
        planned = super().plan(schema, budget)
        if budget is not None:
            budget.event(self.query("wealth", self.grid), schema)
        return planned

    def fit(self, vault, rng):
        one, two = vault.paid().split([1.0, 1.0])
        vault.spend(self.query("wealth", self.grid), one)
        noisy = {"wealth": vault.spend(Histogram(("wealth",)), two)}
        return Independent.of(vault.schema, noisy, dict.fromkeys(noisy, 1.0))


def test_a_recipe_with_such_a_sum_is_refused_before_a_row_is_read():
    with pytest.raises(PlanError, match="take steps of at least"):
        plan(Recipe(recipe="sums", steps=(Summing(),)), wealth(2, 999).schema, budget=Budget(1.0, 1e-6), unit=Unit())


def test_the_battery_finds_a_sum_that_says_less_than_it_adds_up(monkeypatch):
    monkeypatch.setattr(private, "suited", lambda step: wealth(120, 999))
    assert private._sensitivity(Summing(grid=1.0)) == ""
    assert "is the largest for such a table" in private._sensitivity(Summing(query=Wrapping))


def test_a_table_of_more_rows_than_are_added_exactly_is_refused(monkeypatch):
    monkeypatch.setattr("hushtable.privacy.vault.ROWS", 9)
    Vault.of(wealth(9))
    with pytest.raises(InputError, match="a private table has at most 9 rows"):
        Vault.of(wealth(10))


def test_noise_that_is_wider_than_can_be_drawn_is_refused_before_it_is_paid():
    vault = Vault.of(wealth(3, 9), budget=Budget(1.0, 1e-6))
    with pytest.raises(PlanError, match="wider than can be drawn"):
        vault.measure(Histogram(("wealth",)), WIDEST)
    assert not vault.ledger.entries
    with pytest.raises(PlanError, match="give a larger epsilon"):
        Allowance.of(Budget(1e-15, 0.0), Unit()).event(Histogram(("wealth",)), vault.schema)
