"""The method that a table and a budget call for."""

from __future__ import annotations

import pytest

import hushtable as ht
from hushtable.data import datasets
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.unit import Budget, Unit
from hushtable.synthesize.best import BROAD, WIDE, Best
from hushtable.synthesize.marginal.aim import Aim
from hushtable.synthesize.marginal.mst import Mst
from hushtable.synthesize.marginal.privsyn import PrivSyn
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema


def _schema(columns: int) -> Schema:
    return Schema(tuple(Column(name=f"c{i}", kind=Kind.CATEGORY, domain=Levels(("a", "b"))) for i in range(columns)))


def _budget(delta: float, epsilon: float = 1.0) -> Allowance:
    return Allowance.of(Budget(epsilon, delta), Unit())


@pytest.mark.parametrize(
    ("columns", "epsilon", "delta", "core"),
    [
        (5, 1.0, 1e-5, PrivSyn),
        (5, 1.0, 0.0, Aim),
        (WIDE, 1.0, 1e-5, PrivSyn),
        (WIDE + 1, 1.0, 1e-5, Mst),
        (BROAD, 10.0, 1e-5, PrivSyn),
        (BROAD + 1, 10.0, 1e-5, Mst),
    ],
)
def test_public_facts_decide(columns, epsilon, delta, core):
    assert type(Best().chosen(_schema(columns), _budget(delta, epsilon))) is core


def test_the_plan_is_that_of_what_is_chosen_and_the_target_goes_with_it():
    schema, budget = _schema(6), _budget(1e-5)
    core = Best(target="c3").chosen(schema, budget)
    assert core.target == "c3"
    assert Best(target="c3").plan(schema, budget) == core.plan(schema, budget)


@pytest.mark.parametrize(("delta", "chosen"), [(1e-5, "privsyn"), (0.0, "aim")])
def test_a_release_says_what_was_chosen_and_keeps_its_budget(delta, chosen):
    table = datasets.load("iris").declared(by="a test")
    release = ht.release(table, "best", epsilon=2.0, delta=delta)
    assert release.result["best"]["chosen"] == chosen
    assert release.guarantee.epsilon() <= 2.0
    assert release.guarantee.assurance == "proven"
