"""Training on the release: every family and score, knobs, and releases from which little or nothing can be learnt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.measures.downstream import TrainOnRelease, fitted, target_of
from hushtable.measures.downstream_models import FAMILIES, Rows, Shape, predictions
from hushtable.measures.prediction_scores import predicted
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.measures.awkward import findings_of, missing, plain, sound

QUICK = TrainOnRelease(models=("linear", "tree", "bayes"), seeds=2, bootstrap=10)
CLASSES = {"AUC", "accuracy", "F1"}
AUC, R2 = (f"train on release, test on real: {score}" for score in ("AUC", "R2"))


def test_every_family_and_score_has_a_baseline_an_interval_and_a_scope():
    findings = TrainOnRelease(target="sick", seeds=2, bootstrap=5).run(plain(), np.random.default_rng(0))
    assert [f.scope for f in findings[:3]] == ["sick"] * 3
    assert {f.name.rpartition(": ")[2] for f in findings[:3]} == CLASSES
    assert findings[0].name == AUC
    by = {f.scope for f in findings[3:]}
    assert by == {f"sick, by {name}" for name in ("random forest", "logistic regression", "tree", "naive Bayes")}
    for one in findings:
        assert one.low <= one.value <= one.high
        assert one.detail["baseline_low"] <= one.baseline <= one.detail["baseline_high"]
        assert one.n == 300
        assert one.detail["loss"] == pytest.approx(one.baseline - one.value)
    sound({(f.name, f.scope): f for f in findings})


def test_a_number_has_r2_and_rmse_and_no_naive_bayes():
    findings = findings_of(replace(QUICK, target="age"), plain())
    names = {(name.rpartition(": ")[2], scope) for name, scope in findings}
    assert names == {(score, scope) for score in ("R2", "RMSE") for scope in ("age", "age, by tree")}
    rmse = findings["train on release, test on real: RMSE", "age"]
    assert rmse.detail["loss"] == pytest.approx(rmse.value - rmse.baseline)
    (none,) = replace(QUICK, models=("bayes",), target="age").run(plain(), np.random.default_rng(0))
    assert none.value is None
    assert "is a number" in none.note


def test_a_date_is_a_number_of_days():
    finding = findings_of(replace(QUICK, target="born"), plain())["train on release, test on real: RMSE", "born"]
    spread = plain().control.floats("born").std() / 86_400
    assert 0.5 * spread < finding.value < 2 * spread
    assert " days" in finding.note


def test_the_same_seed_gives_the_same_bits_and_seeds_widen_the_interval():
    audit = replace(QUICK, target="sick", seeds=4)
    one, two = (audit.run(plain(), np.random.default_rng(7)) for _ in range(2))
    assert [f.to_json() for f in one] == [f.to_json() for f in two]
    alone = replace(audit, seeds=1).run(plain(), np.random.default_rng(7))
    assert all(f.detail["learnt"] > 0 for f in one)
    assert all(f.detail["learnt"] == 0 for f in alone)
    assert all(a.value == b.value for a, b in zip(one, alone, strict=True))


def test_slow_families_learn_from_a_part():
    case = plain()
    few, many = (findings_of(replace(QUICK, target="sick", rows=rows), case)[AUC, "sick"] for rows in (40, 400))
    assert few.value != many.value
    # The halves of all 400 rows are of 40 at most: the same spread counts for less.
    assert many.detail["learnt"] > 0


def test_the_boosting_is_fitted_once_for_all_audits():
    case = plain()
    models = fitted(case, "sick")
    assert models is fitted(case, "sick")
    assert models.task.shape.classes
    assert np.array_equal(models.task.control, np.arange(300))
    reported = predicted(models.predictions["release"])
    main = TrainOnRelease(target="sick", models=("boosting",), seeds=0, bootstrap=1).run(case, np.random.default_rng(0))
    assert main[1].value == pytest.approx(np.mean(reported == models.task.truth))


def test_the_target_is_that_of_the_roles():
    case = plain()
    assert target_of(case) == "pay"
    assert {f.scope.split(",")[0] for f in QUICK.run(case, np.random.default_rng(0))} == {"pay"}
    columns = [c for c in example().schema.names if c != "pay"]
    assert target_of(Case(*(t.select(columns) for t in case.tables.values()))) == "sick"
    rest = [c for c in columns if c != "sick"]
    (none,) = QUICK.run(Case(*(t.select(rest) for t in case.tables.values())), np.random.default_rng(0))
    assert "no column has the role" in none.note


def test_a_target_that_the_release_has_not_is_a_finding():
    case = plain()
    without = case.release.select([n for n in case.release.schema.names if n != "pay"])
    (none,) = QUICK.run(Case(case.train, without, case.control), np.random.default_rng(0))
    assert none.value is None
    assert "pay: the release has no such column" in none.note


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.KEY])
def test_free_text_is_a_finding_with_a_reason(kind):
    column = Column(name="told", kind=kind)

    def with_text(table: Table) -> Table:
        texts = {"told": np.array([f"{i}" for i in range(table.rows)], dtype=object)}
        arrays = {n: table[n] for n in table.schema.names} | {"told": np.arange(table.rows, dtype=np.int32)}
        return Table(Schema((*table.schema.columns, column)), arrays, texts)

    case = Case(*(with_text(t) for t in plain().tables.values()))
    (none,) = replace(QUICK, target="told").run(case, np.random.default_rng(0))
    assert none.value is None
    assert f"told: is {kind}" in none.note


@pytest.mark.parametrize("target", ["sick", "pay", "school"])
@pytest.mark.parametrize("which", ["train", "release", "control"])
def test_predictors_without_a_value_are_no_obstacle(target, which):
    case = plain()
    tables = dict(case.tables)
    for name in {"age", "town", "height"}:
        tables[which] = missing(tables[which], name)
    findings = findings_of(replace(QUICK, target=target), Case(tables["train"], tables["release"], tables["control"]))
    sound(findings)
    assert all(f.value is not None for f in findings.values())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("classes", [True, False])
def test_families_take_any_predictors(family, classes):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 5))
    x[:, 0], x[:, 1], x[:, 2] = np.nan, 1e300, rng.integers(0, 300, 60)
    x[::3, 3] = np.nan
    test = x[:7].copy()
    test[0, 2], test[1, 3], test[2, 4] = 999, -1e300, np.nan
    shape = Shape(classes=classes, categories=(True, False, True, False, False))
    if shape.name(family) is None:
        pytest.skip("this family does not predict numbers")
    numbers = Shape(classes=classes, categories=(False,) * 5)
    unknown = Rows(np.full((60, 5), np.nan), rng.integers(0, 3, 60).astype(float))
    assert all(np.isfinite(values).all() for values in predictions(family, unknown, test, numbers).values())
    y = rng.integers(0, 3, 60).astype(float)
    reported = predictions(family, Rows(x, y), test, shape)
    assert all(np.isfinite(values).all() and len(values) == 7 for values in reported.values())
    if classes:
        assert np.sum(list(reported.values()), axis=0) == pytest.approx(np.ones(7))
    same = predictions(family, Rows(x, np.full(60, 2.0)), test, shape)
    assert np.array_equal(predicted(same), np.full(7, 2.0))


def test_classes_that_the_release_does_not_have():
    case = plain()
    lost = case.release.take(np.flatnonzero(case.release["school"] != 2))
    findings = findings_of(replace(QUICK, target="school"), Case(case.train, lost, case.control))
    sound(findings)
    assert findings[AUC, "school"].value < findings[AUC, "school"].baseline
    strange = case.release.with_column(
        replace(case.release.schema["school"], domain=Levels(("none", "other"))), np.arange(case.release.rows, dtype=np.int32) % 2
    )
    (none,) = replace(QUICK, target="school").run(Case(case.train, strange, case.control), np.random.default_rng(0))
    assert "only 0 rows of the release have a value" in none.note


def test_one_column_and_few_rows():
    case = plain()
    alone = Case(*(t.select(["sick"]) for t in case.tables.values()))
    assert "no other column" in QUICK.run(alone, np.random.default_rng(0))[0].note
    few = Case(case.train, case.release.take(np.arange(10)), case.control)
    assert "rows of the release have a value" in QUICK.run(few, np.random.default_rng(0))[0].note


def test_a_generalized_target_is_read_as_values():
    case = plain()
    pay, sick = case.release.schema["pay"], case.release.schema["sick"]
    spans = tuple(pay.interval_cell(Interval(low, low + 999)) for low in range(0, 9999, 1000))
    release = case.release.with_columns(
        (pay.generalize(spans), np.clip(case.release["pay"] // 1000, -1, 9).astype(np.int32)),
        (sick.generalize((ANYTHING,)), np.zeros(case.release.rows, np.int32)),
    )
    for target in ("pay", "sick"):
        findings = findings_of(replace(QUICK, target=target), Case(case.train, release, case.control))
        assert all(f.value is not None for f in findings.values())


def test_bad_knobs_are_told_together():
    with pytest.raises(InputError) as error:
        TrainOnRelease(models=("oracle",), seeds=-1, bootstrap=0, rows=1)
    for knob in ("models", "seeds", "bootstrap", "rows"):
        assert f"TrainOnRelease.{knob}" in str(error.value)
    with pytest.raises(InputError, match="no column 'nobody'"):
        TrainOnRelease(target="nobody").run(plain(), np.random.default_rng(0))


def test_a_number_that_is_a_constant_in_the_control():
    schema = Schema((Column(name="a", kind=Kind.REAL, domain=Bounds(0, 1)), Column(name="b", kind=Kind.REAL, domain=Bounds(0, 1))))
    rng = np.random.default_rng(0)
    parts = [Table(schema, {"a": rng.random(50), "b": rng.random(50)}) for _ in range(2)]
    flat = Table(schema, {"a": rng.random(50), "b": np.full(50, 0.5)})
    (none,) = replace(QUICK, target="b").run(Case(*parts, flat), rng)
    assert "b: all rows of the control table have the same value" in none.note
