"""The study of prior knowledge in GANs: tables as its source has them, published numbers beside ours, and impossible ones named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.data.datasets import schema_of
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.studies import constraints as study
from hushtable.studies import constraints_tables
from hushtable.studies import tables as studies
from hushtable.studies.constraints_published import (
    ABOVE_REAL,
    ADULT,
    CONSTRAINTS,
    CREDIT,
    LEARNT,
    LEVELS,
    LIGHTGBM,
    LINEAR,
    PEARSON,
    PLAIN,
    PRIVATE,
    PROTECTED,
    SCALE,
    SD2011,
    UNPROCESSED,
    XGBOOST,
)
from hushtable.studies.constraints_report import MAJORITY, TWINS
from hushtable.studies.lines import REAL, REFUSED, SHORT, task_name
from hushtable.studies.releases import DRAWN, Method
from hushtable.studies.report import Verdict
from hushtable.studies.study import Scope
from hushtable.synthesize.neural.gan.constraints import read_constraints
from hushtable.table.columns import Bounds, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.studies.performed import numbers_of, performed

TINY = {"epochs": 2, "width": 8, "noise": 4, "layers": 1, "refine": 1}
AMOUNTS = {"A45": 4000, "A46": 12_000, "A49": 14_000}


def borrowers(rows: int = 200) -> Table:
    """Rows of the schema of German Credit, of whom one breaks a constraint."""
    rng = np.random.default_rng(0)
    columns, arrays = [], {}
    for column in schema_of("german_credit"):
        if column.kind is Kind.INTEGER:
            column = replace(column, domain=Bounds(0, 20_000))
            arrays[column.name] = rng.integers(1, 4, rows)
        else:
            arrays[column.name] = rng.integers(0, len(column.levels), rows).astype(column.dtype)
        columns.append(column)
    arrays["class"] = (rng.random(rows) < 0.4).astype(np.int32)
    levels = schema_of("german_credit")["purpose"].levels
    arrays["age"] = rng.integers(20, 70, rows)
    arrays["credit_amount"] = np.array([AMOUNTS.get(levels[code], 3000) for code in arrays["purpose"]]) + 500 * arrays["class"]
    arrays["purpose"][0], arrays["credit_amount"][0] = levels.index("A45"), 9000
    return Table(Schema(tuple(columns)), arrays)


def survey(rows: int = 160) -> Table:
    """Some columns of Social Diagnosis."""
    rng = np.random.default_rng(1)
    schema = schema_of("sd2011").select(["age", "income", "smoke", "nociga", "workab", "wkabdur", "ls", "region"])
    columns = [
        replace(schema[name], domain=Bounds(low, high))
        for name, low, high in (("age", 16, 97), ("income", 100, 9000), ("nociga", 0, 60), ("wkabdur", 0, 60))
    ]
    schema = schema.with_columns(*columns, replace(schema["region"], domain=Levels(("north", "south"), observed=True)))
    smoke = rng.integers(0, 2, rows).astype(np.int32)
    age = rng.integers(18, 90, rows).astype(float)
    numbers = {
        "age": age, "income": np.where(rng.random(rows) < 0.2, np.nan, 30 * age + rng.integers(0, 200, rows)),
        "nociga": np.where(smoke == 1, rng.integers(1, 30, rows), np.nan), "wkabdur": rng.integers(0, 20, rows).astype(float),
    }  # fmt: skip
    levels = {name: rng.integers(0, 2, rows).astype(np.int32) for name in ("workab", "ls", "region")}
    return Table(schema, {**{n: schema[n].from_floats(v) for n, v in numbers.items()}, **levels, "smoke": smoke})


@pytest.fixture
def scope(monkeypatch, tmp_path):
    """German Credit and Social Diagnosis are small tables, and Adult is not at hand."""

    def load(name, folder):
        if name == "adult":
            raise InputError("is not here", where=name)
        return borrowers() if name == "german_credit" else survey()

    monkeypatch.setattr(studies, "load", load)
    return Scope(data=tmp_path, quick=True)


def test_numbers_are_as_printed():
    assert [LEARNT[ADULT][LIGHTGBM][name] for name in (*PLAIN, REAL)] == [0.75, 0.74, 0.70, 0.79, 0.87]
    assert [LEARNT[CREDIT][XGBOOST][name] for name in (*PLAIN, REAL)] == [0.65, 0.62, 0.56, 0.68, 0.76]
    assert [LEARNT[SD2011][LINEAR][name] for name in (*PLAIN, REAL)] == [1185.21, 0.43, 0.47, 0.42, 1015.82]
    assert [LEVELS[ADULT][name] for name in PLAIN] == [0.3626, 0.4190, 0.3524, 0.3714]
    assert [PEARSON[CREDIT][name] for name in PLAIN] == [0.8642, 0.8714, 0.8312, 0.8711]
    assert [PROTECTED[CREDIT][name] for name in PRIVATE] == [0.62, 0.40, 0.66, 0.54, 0.96, 0.82]
    assert [PROTECTED[SD2011][name] for name in PRIVATE] == [0.48, 0.57, 0.51, 0.61, 0.58, 0.49]


def test_methods_are_those_of_the_source_and_their_twins():
    names = [method.name for method in study.METHODS]
    assert names == [*PLAIN, *PRIVATE, *TWINS.values()]
    assert {method.recipe for method in study.METHODS} <= set(recipes.names())
    assert {method.name for method in study.METHODS if method.proven} == set(TWINS.values())
    assert {method.name: method.epsilon for method in study.METHODS if method.epsilon != 1} == {"dp-bngan-certified": 2.0}


def test_credit_is_cut_to_six_categories_and_four_numbers(scope):
    table = constraints_tables.table(CREDIT, scope.data)
    numbers = [column.name for column in table.schema if column.numeric]
    assert sorted(numbers) == ["age", "credit_amount", "duration_months", "job"]
    assert len(table.schema) == 10
    whole = borrowers()
    women = np.isin(whole.strings("personal_status_sex"), ["A92", "A95"])
    assert np.array_equal(table.strings("sex") == "female", women)
    assert np.array_equal(table.floats("job"), whole["job"].astype(float))
    assert not table.schema.undeclared


def test_income_is_predicted_and_answers_are_public(scope):
    table = constraints_tables.table(SD2011, scope.data)
    assert [column.name for column in table.schema if column.role is Role.TARGET] == ["income"]
    assert not table.schema.undeclared
    held = constraints_tables.held_out(SD2011, scope.data, None)
    assert held.spread == pytest.approx(np.nanstd(held.test.floats("income")))
    learnt = study.learnt(held, held.train)
    assert learnt[LIGHTGBM]["RMSE"] < held.spread
    assert set(learnt) == {LIGHTGBM, XGBOOST, LINEAR}


@pytest.mark.parametrize("name", [CREDIT, SD2011])
def test_constraints_can_be_read(scope, name):
    schema = constraints_tables.table(name, scope.data).schema
    assert len(read_constraints(CONSTRAINTS[name], schema, "x")) == len(CONSTRAINTS[name])


def test_real_rows_that_break_a_constraint_are_counted(scope):
    result = study.cell(CREDIT, scope.data, None, None, 0, quick=True)
    assert result["broken"]["credit_amount <= 5000 if purpose in {A45, A47}"] >= 1
    assert result["broken"]["age in 0..120"] == 0
    assert result["refined"]["levels"] is not None
    assert 0 < result["majority"] < 1


@pytest.mark.neural
def test_a_study_of_tiny_networks(scope, monkeypatch):
    pytest.importorskip("torch", reason="networks need torch")
    monkeypatch.setattr(study, "METHODS", (
        Method(name="PCGAN", recipe="pcgan", quick=TINY),
        Method(name="DP-PCGAN", recipe="dp-pcgan", quick={key: value for key, value in TINY.items() if key != "refine"}),
        Method(name="dp-pcgan-certified", recipe="dp-pcgan-certified", quick={"steps": 2, "width": 4}),
        Method(name="PATEGAN", recipe="pate-gan", quick={"teachers": 1000}),
    ))  # fmt: skip
    monkeypatch.setattr(study, "QUICK", replace(study.QUICK, rows={CREDIT: None}))
    work = study.plan(scope)
    results = performed(work)
    report = work.report(results)
    accuracy = numbers_of(report, CREDIT, "accuracy, LightGBM")
    assert accuracy["PCGAN"].published == accuracy["PCGAN" + DRAWN].published == 0.61
    assert accuracy["PCGAN"].why_not == SHORT
    assert accuracy["PATEGAN"].ours is None
    assert any(line.startswith("Credit: PATEGAN: ") for line in report.skipped)
    assert numbers_of(report, CREDIT, "accuracy")[MAJORITY].ours == results[task_name(CREDIT, REAL, 0)]["majority"]
    proven = {row[1]: row[2] for part in report.sections[2].parts if hasattr(part, "rows") for row in part.rows}
    assert proven["dp-pcgan-certified"].startswith("epsilon 1")
    assert proven["DP-PCGAN"] == "nothing (claimed)"
    kept = {row[1] for row in report.sections[3].parts[0].rows}
    assert kept == set(CONSTRAINTS[CREDIT])


def test_constraints_reach_the_recipes_that_take_them(scope, monkeypatch):
    asked = {}

    def make(recipe, train, **_):
        asked[recipe.recipe] = [getattr(step, "constraints", ()) for step in recipe.steps][-1]
        raise InputError("enough", where="test")

    monkeypatch.setattr(study, "make", make)
    performed(study.plan(scope))
    with_them = {name for name, constraints in asked.items() if constraints}
    assert with_them == {"pcgan", "dp-pcgan", "dp-pcgan-certified"}
    assert asked["pcgan"] == CONSTRAINTS[SD2011]


def measured(data, accuracy, rmse=1100.0):
    scores = {"RMSE": rmse} if data == SD2011 else {"accuracy": accuracy, "F1": 0.5, "AUC": 0.8}
    return dict.fromkeys((LIGHTGBM, XGBOOST, LINEAR), scores) | {"levels": 0.7, "pearson": 0.9}


def full_results():
    results = {}
    for data in LEARNT:
        real = {"rows": 90, "test": 30, "columns": 3, "target": "t", "broken": {}}
        real |= {"spread": 1000.0} if data == SD2011 else {"majority": 0.76}
        results[task_name(data, REAL, 0)] = real | {"refined": measured(data, 0.85, 1000.0)}
        for method in study.METHODS:
            for run in range(3):
                better = 0.05 * (method.name == "BNGAN")
                one = measured(data, 0.75 + better + 0.001 * run, 1100 - 1000 * better + run)
                results[task_name(data, method.name, run)] = {"refined": one, "drawn": None, "proven": "x", "seconds": 1.0}
    return results


def test_in_full_what_can_be_compared_is_and_what_is_impossible_is_said(scope, monkeypatch):
    monkeypatch.setattr(studies, "load", lambda name, folder: survey() if name == "sd2011" else borrowers())
    report = study.plan(replace(scope, quick=False)).report(full_results())
    adult = numbers_of(report, ADULT, "accuracy, LightGBM")
    assert adult["BNGAN"].comparable
    assert adult["BNGAN"].as_good
    assert adult[REAL].as_good is False
    credit = numbers_of(report, CREDIT, "accuracy, LightGBM")
    assert (credit["PATEGAN"].why_not, credit["ADSGAN"].why_not, credit["DPGAN"].why_not) == (ABOVE_REAL, ABOVE_REAL, "")
    assert credit["dp-pcgan-certified"].published is None
    zloty, relative = (numbers_of(report, SD2011, f"RMSE {of}, linear") for of in ("in zloty", "over the standard deviation"))
    assert zloty["CTGAN"].published == 1185.21
    assert zloty["CTGAN"].as_good
    assert zloty["PCGAN"].published is None
    assert relative["PCGAN"].why_not == SCALE
    assert relative["PCGAN"].ours == pytest.approx(1.101)
    assert numbers_of(report, SD2011, "Pearson similarity (numbers)")["CTGAN"].why_not == UNPROCESSED
    assert numbers_of(report, ADULT, "F1, LightGBM")["BNGAN"].published == 0.66
    said = {one.says: one.verdict for one in report.statements}
    assert said["BNGAN has the highest accuracy on Adult by all learners, 0.78 to 0.79"] is Verdict.CONFIRMED
    assert said["CSGAN teaches least of all methods on both tables with classes"] is Verdict.UNDECIDED
    assert said["DPGAN is worst on all three tables"] is Verdict.CONTRADICTED


def test_what_is_not_at_hand_or_refused_has_its_reason(scope):
    work = study.plan(replace(scope, runs=1))
    report = work.report({})
    assert any(line.startswith("Adult: ") for line in report.skipped)
    assert numbers_of(report, ADULT, "AUC, LightGBM")["DPGAN"].why_not == "the table is not at hand"
    assert numbers_of(report, CREDIT, "AUC, LightGBM")["DPGAN"].why_not == REFUSED
    assert report.to_json()["skipped"]
