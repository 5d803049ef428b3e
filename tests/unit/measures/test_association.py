"""Pairs of columns: pairs torn apart are seen by every measure, chance by none, and what cannot be computed is counted."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Better
from hushtable.measures.dependence import Association
from hushtable.report.charts.heat import Pairs
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.measures.awkward import constant, findings_of, missing, plain, shuffled, sound

NAMES = (
    "association difference", "association levels kept", "mean pair TVD",
    "Pearson similarity", "correlation difference", "phi_k difference",
)  # fmt: skip


def linked(rows: int, seed: int) -> Table:
    """Columns that all depend on one another."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    columns = (
        Column(name="number", kind=Kind.REAL, domain=Bounds(-9.0, 9.0)),
        Column(name="count", kind=Kind.INTEGER, domain=Bounds(-90, 90)),
        Column(name="grade", kind=Kind.ORDINAL, domain=Levels(("low", "middle", "high"))),
        Column(name="town", kind=Kind.CATEGORY, domain=Levels(tuple("abcd"))),
    )
    arrays = {
        "number": x,
        "count": np.round(10 * (x + 0.5 * rng.normal(size=rows))).astype(np.int64),
        "grade": np.searchsorted([-0.5, 0.5], x + 0.5 * rng.normal(size=rows)).astype(np.int32),
        "town": np.searchsorted([-0.7, 0.0, 0.7], x + 0.5 * rng.normal(size=rows)).astype(np.int32),
    }
    return Table(Schema(columns), arrays)


def test_one_finding_for_each_measure():
    findings = Association().run(plain(), np.random.default_rng(0))
    assert tuple(f.name for f in findings) == NAMES
    assert all(not f.scope and f.baseline is not None for f in findings)
    assert [f.n for f in findings] == [21, 21, 21, 10, 10, 21]


def test_torn_pairs_are_seen_by_every_measure():
    train, control = linked(500, 1), linked(400, 2)
    torn = findings_of(Association(), Case(train, shuffled(train), control))
    for name in NAMES:
        finding = torn[name, ""]
        worse = finding.baseline - finding.value if finding.better is Better.HIGHER else finding.value - finding.baseline
        assert worse > 0.1, name
    assert "6 became weaker" in torn["association levels kept", ""].note


def test_a_copy_keeps_everything_and_a_fresh_sample_lies_where_the_control_lies():
    train, control = linked(500, 1), linked(500, 2)
    copy, fresh = (findings_of(Association(), Case(train, r, control)) for r in (train.take(np.arange(500)[::-1]), linked(500, 3)))
    for name in NAMES:
        best = 1.0 if copy[name, ""].better is Better.HIGHER else 0.0
        assert copy[name, ""].value == pytest.approx(best, abs=1e-9)
        assert fresh[name, ""].value == pytest.approx(fresh[name, ""].baseline, abs=0.05 if best == 0 else 0.2)


@pytest.mark.parametrize("change", [constant, missing])
def test_a_column_that_only_the_release_holds_at_one_value_has_lost_its_pairs(change):
    """Leaving its pairs out would make the broken release look good."""
    train, control = linked(500, 1), linked(400, 2)
    findings = findings_of(Association(), Case(train, change(train, "number"), control))
    sound(findings)
    for name in NAMES:
        whole = findings_of(Association(), Case(train, train, control))[name, ""]
        assert findings[name, ""].n == whole.n
        assert abs(findings[name, ""].value - whole.value) > 0.1, name


@pytest.mark.parametrize("change", [constant, missing])
def test_pairs_without_an_association_in_the_training_rows_are_left_out_and_counted(change):
    train, control = change(linked(500, 1), "number"), linked(400, 2)
    findings = findings_of(Association(), Case(train, linked(500, 3), control))
    sound(findings)
    for name, pairs, gone in (
        ("association difference", 3, 3),
        ("association levels kept", 3, 3),
        ("correlation difference", 1, 2),
        ("phi_k difference", 3, 3),
    ):
        assert findings[name, ""].n == pairs
        assert f"{gone} pairs are left out" in findings[name, ""].note
    assert findings["mean pair TVD", ""].n == 6
    assert findings["mean pair TVD", ""].value > 0.4


def test_a_table_of_constants_has_reasons():
    columns = ("age", "school", "town")
    train, release, control = (example(n, n).select(columns) for n in (60, 50, 40))
    for name in columns:
        train = constant(train, name)
    findings = findings_of(Association(), Case(train, release, control))
    sound(findings)
    for name in set(NAMES) - {"mean pair TVD"}:
        assert findings[name, ""].value is None
        assert "a single value" in findings[name, ""].note


def test_one_column_and_no_numbers():
    parts = [example(n, n) for n in (60, 50, 40)]
    alone = findings_of(Association(), Case(*(t.select(["age"]) for t in parts)))
    assert all(f.value is None and "a pair needs two columns" in f.note for f in alone.values())
    words = findings_of(Association(), Case(*(t.select(["town", "sick"]) for t in parts)))
    sound(words)
    assert words["Pearson similarity", ""].note == "a pair needs two columns of numbers, dates or ordinals, there is none"
    assert words["association difference", ""].value is not None


def test_two_rows_on_every_side():
    sound(findings_of(Association(), Case(example(2, 1), example(2, 2), example(2, 3))))


def test_matrices_can_be_drawn():
    findings = findings_of(Association(), Case(constant(linked(90, 1), "count"), linked(80, 2), linked(70, 3)))
    for name in ("association difference", "correlation difference", "phi_k difference"):
        plain_detail = findings[name, ""].to_json()["detail"]
        drawn = Pairs.of(plain_detail)
        assert drawn is not None
        assert drawn.columns == plain_detail["columns"]
        assert np.isfinite(drawn.gap).all()


def test_columns_of_very_many_levels_cost_no_table_of_all_pairs():
    levels = Levels(tuple(f"d{i}" for i in range(30_000)))
    columns = tuple(Column(name=n, kind=Kind.CATEGORY, domain=levels) for n in ("one", "other"))

    def table(seed: int) -> Table:
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 30_000, (2, 2000)).astype(np.int32)
        age = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 99))
        return Table(Schema((*columns, age)), {"one": codes[0], "other": codes[1], "age": rng.integers(0, 99, 2000)})

    start = time.process_time()
    findings = findings_of(Association(), Case(table(1), table(2), table(3)))
    assert time.process_time() - start < 5
    assert findings["association difference", ""].n == 3
    assert findings["phi_k difference", ""].value is None
    assert "2 columns of more than 100 levels are left out" in findings["phi_k difference", ""].note
