"""What anonymization takes away, on tables where there is little to take, or nothing to take it from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.evidence.verdict import verdict
from hushtable.measures.losses import Losses
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import Kind, Role
from tests.unit.measures.awkward import constant, findings_of, missing, plain, sound


def test_a_table_of_values_has_no_generalization_loss_and_no_known_missing_rows():
    findings = findings_of(Losses(), plain())
    assert findings["generalization loss", ""].value is None
    assert "no column of the release is generalized" in findings["generalization loss", ""].note
    assert findings["rows missing", ""].value is None
    assert findings["average class size", ""].value == pytest.approx(findings["average class size", ""].baseline, rel=0.1)
    assert findings["cells hidden", ""].value < 0.02


def test_fewer_rows_are_missing_rows_and_more_rows_are_not():
    train, control = example(200, 1), example(100, 3)
    fewer, more = (findings_of(Losses(), Case(train, example(n, 2), control))["rows missing", ""] for n in (150, 250))
    assert fewer.value == pytest.approx(0.25)
    assert "smaller table may have been asked for" in fewer.note
    assert more.value is None
    assert "more rows" in more.note


def test_without_quasi_identifiers_there_are_no_classes():
    tables = [example(60, i).select(["born", "sick", "pay"]) for i in range(3)]
    findings = findings_of(Losses(), Case(*tables))
    for name in ("discernibility", "average class size"):
        assert findings[name, ""].value is None
        assert "quasi" in findings[name, ""].note
    sound(findings)


def test_noise_loses_no_variance_and_says_so():
    train = example(400, 1)
    column, pay = train.schema["pay"], train.floats("pay")
    noisy = train.with_column(column, column.from_floats(pay + np.random.default_rng(0).normal(0, 3000, train.rows)))
    finding = findings_of(Losses(), Case(train, noisy, example(300, 3)))["variance lost", "pay"]
    assert finding.value == 0
    assert finding.detail["ratio"] > 1
    assert "times as large" in finding.note


def test_a_hidden_column_has_lost_all_of_its_variance_and_blanked_cells_are_hidden():
    train = example(400, 1)
    age, school = train.schema["age"], train.schema["school"]
    release = example(400, 2).with_columns(
        (age.generalize((ANYTHING, age.interval_cell(Interval(0, 9)))), np.zeros(400, np.int32)),
        (school, np.full(400, -1, np.int32)),
    )
    findings = findings_of(Losses(), Case(train, release, example(300, 3)))
    assert findings["variance lost", "age"].value == 1
    assert findings["generalization loss", "age"].value == findings["cells hidden", "age"].value == 1
    assert findings["cells hidden", "school"].value == pytest.approx((train["school"] >= 0).mean())
    assert findings["generalization loss", "school"].value is None


def test_a_quasi_identifier_that_was_not_released_is_named():
    train, control = example(100, 1), example(100, 3)
    age = train.schema["age"]
    release = example(100, 2).select(["age", "town", "sick"]).with_column(age.generalize((ANYTHING,)), np.zeros(100, np.int32))
    finding = findings_of(Losses(), Case(train, release, control))["generalization loss", ""]
    assert "not released at all: height, school" in finding.note


def test_columns_that_were_not_released_are_counted_and_named():
    train, control = example(200, 1), example(100, 3)
    names = [column.name for column in train.schema]
    retained = [name for name in names if name not in ("town", "pay")]
    findings = findings_of(Losses(), Case(train, train.select(retained), control))
    gone = findings["columns missing", ""]
    assert gone.value == pytest.approx(2 / len(names))
    assert gone.baseline == 0
    assert gone.note.endswith("not released: town, pay")
    assert gone.detail == {"columns": ["town", "pay"]}
    assert findings["cells hidden", ""].value == pytest.approx(2 / len(names))
    assert findings["cells hidden", "pay"].value == 1
    assert verdict(gone).words == "far from real"
    assert findings_of(Losses(), Case(train, train, control))["columns missing", ""].value == 0


def test_what_is_never_released_is_not_missed():
    train, release, control = (example(60, i) for i in range(3))
    column = replace(train.schema["town"], role=Role.IDENTIFIER)
    train, control = (table.with_column(column, table["town"]) for table in (train, control))
    finding = findings_of(Losses(), Case(train, release.select([n for n in release.schema.names if n != "town"]), control))
    assert finding["columns missing", ""].value == 0


def test_a_release_that_hides_every_row_is_one_class():
    train = example(50, 1).select(["age", "sick"])
    age = train.schema["age"]
    release = train.with_column(age.generalize((ANYTHING,)), np.zeros(50, np.int32))
    findings = findings_of(Losses(), Case(train, release, example(40, 2).select(["age", "sick"])))
    assert findings["discernibility", ""].value == 1
    assert findings["average class size", ""].value == 50


@pytest.mark.parametrize("which", ["train", "release", "control"])
@pytest.mark.parametrize("spoil", [constant, missing])
@pytest.mark.parametrize("name", ["age", "town", "born", "pay"])
def test_odd_columns_are_survived_and_named(which, spoil, name):
    tables = dict(zip(("train", "release", "control"), (example(60, i) for i in range(3)), strict=True))
    tables[which] = spoil(tables[which], name)
    findings = findings_of(Losses(), Case(**tables))
    sound(findings)
    column = tables["train"].schema[name]
    if column.kind is not Kind.CATEGORY and (which == "train" or (which == "release" and spoil is missing)):
        finding = findings["variance lost", name]
        assert finding.value is None
        assert name in finding.note
    if column.role is Role.QUASI and which == "release" and spoil is constant:
        assert findings["average class size", ""].value >= findings["average class size", ""].baseline
