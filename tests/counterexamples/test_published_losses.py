"""A loss counted in shares of a domain gives the domain away: where that was read off the rows, the card tells no such loss."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.anonymize.lattice.generalize import Generalize
from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.anonymize.microaggregate.space import Scale, Space
from hushtable.anonymize.recoding.mondrian import Mondrian
from hushtable.pipeline.card import Card
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy.vault import Vault
from hushtable.report.card import card_page
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.trees import derive


def town(eldest: int, *, observed: bool, rows: int = 300) -> Table:
    """Ages from 30 to 61, and one of an old person whose row is suppressed, or hidden in a group."""
    ages = np.random.default_rng(5).integers(30, 62, rows).astype(np.int64)
    ages[0] = eldest
    bounds = Bounds(int(ages.min()), int(ages.max()), observed=True) if observed else Bounds(0, 1000)
    age = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=bounds)
    return Table(Schema((age,)), {"age": ages})


def numbers(value: object) -> list[float]:
    """Every number in a result that is no count, level or knob."""
    if isinstance(value, dict):
        return [n for inner in value.values() for n in numbers(inner)]
    if isinstance(value, list):
        return [n for inner in value for n in numbers(inner)]
    return [value] if isinstance(value, float) and not value.is_integer() else []


def result(table: Table, step: object) -> dict:
    return next(iter(release(table, Recipe(recipe="r", steps=(step,)), seed=1).result.values()))


STEPS = [
    Generalize(k=5, levels=("age=1",), limit=0.2),
    Generalize(k=5, loss="arithmetic", limit=0.2),
    Generalize(k=5, local=True, limit=0.2),
    Mondrian(k=5, cells="ancestor"),
]


@pytest.mark.parametrize("step", STEPS, ids=["generalize", "arithmetic", "local", "mondrian"])
def test_no_share_of_an_observed_domain_is_published(step):
    """On a declared domain there are such losses, and they are functions of what is released."""
    summary = result(town(700, observed=True), step)
    closed = [summary.get("losses", {}).get(name) for name in ("geometric", "arithmetic")] + [summary.get("loss")]
    assert closed == [None] * 3
    assert all(each["lost"] is None for each in summary["columns"].values()) if isinstance(summary["columns"], dict) else True
    assert set(summary.get("loss_by_column", {"age": None}).values()) == {None}
    assert not numbers({key: summary[key] for key in summary.keys() - {"losses"}})
    assert numbers(result(town(700, observed=False), step))


def test_a_declared_domain_has_losses_that_the_suppressed_rows_do_not_change():
    one, two = (result(town(eldest, observed=False), STEPS[0]) for eldest in (700, 950))
    assert one["suppressed_rows"] == two["suppressed_rows"] == 1
    assert {name: one["losses"][name] for name in ("geometric", "arithmetic")} == pytest.approx(
        {name: two["losses"][name] for name in ("geometric", "arithmetic")}
    )
    assert one["columns"]["age"]["lost"] == pytest.approx(two["columns"]["age"]["lost"])


@pytest.mark.parametrize("kind", [Generalize, Mondrian])
def test_released_cells_tell_no_more_of_a_suppressed_person_than_the_order_of_their_age(kind):
    """Widths follow the range of all rows, those that are suppressed included; they are round, so that few ranges look apart."""

    def published(eldest: int) -> tuple[str, ...]:
        masked = release(town(eldest, observed=True), Recipe(recipe="r", steps=(kind(k=5),)), seed=1)
        return masked.table.schema["age"].levels

    if kind is Generalize:
        assert published(500) == published(700) == published(999)
    ages = [town(eldest, observed=True).schema["age"] for eldest in (512, 700)]
    assert derive(ages[0]) == derive(ages[1])
    # The broken twin: cut like a declared range, in even parts of it, the widths tell the range.
    assert derive(ages[0].declared()) != derive(ages[1].declared())


def test_errors_in_units_of_an_observed_range_are_not_published():
    """They give the range: what is between the groups is in the release, and sst - sse is that in units of the range."""
    step, table = Microaggregate(k=5, scale="range", centre="mean"), town(700, observed=True)
    exact = replace(table.schema["age"], kind=Kind.REAL, decimals=9)
    table = Table(Schema((exact,)), {"age": table["age"].astype(float)})
    assert {"sse", "sst"}.isdisjoint(summary := result(table, step))
    assert 0 < summary["sse_share"] < 1
    assert {"sse", "sst"} <= set(result(town(700, observed=False), step))
    masked = step.fit(Vault.of(table), np.random.default_rng(0)).table
    errors = Space.of(table, ("age",), Scale.RANGE).errors(np.unique(masked["age"], return_inverse=True)[1])
    between = float(((masked["age"] - masked["age"].mean()) ** 2).sum())
    assert (between / (errors.whole - errors.within)) ** 0.5 == pytest.approx(670, abs=0.1)


def test_the_page_of_such_a_card_says_why_a_bar_is_missing():
    card = ht.release(town(700, observed=True), "k-anonymity", seed=1).card()
    page = card_page(Card.from_json(json.loads(json.dumps(card))))
    assert "would reveal the extremes" in page
