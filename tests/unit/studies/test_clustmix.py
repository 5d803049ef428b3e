"""The study of mixtures: published numbers beside ours, averages learned from as vectors, and what is refused or absent."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from hushtable.data.datasets import FILES
from hushtable.errors import InputError, PlanError
from hushtable.pipeline import recipe as recipes
from hushtable.studies import clustmix as study
from hushtable.studies import tables as studies
from hushtable.studies.clustmix_published import ADSGAN, ADULT, CLUSTMIX, DPGAN, DPMERF, LOST, MNIST, OURS, PATEGAN, TABLE, WHY_NOT
from hushtable.studies.labelled import LABELLED
from hushtable.studies.lines import REAL, REFUSED, SHORT, task_name
from hushtable.studies.releases import DRAWN
from hushtable.studies.report import Grid, Verdict
from hushtable.studies.study import Scope
from hushtable.synthesize.published.clustmix_encoding import Layout
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.studies.performed import numbers_of, performed

SCHEMA = Schema(
    (
        Column(name="number", kind=Kind.REAL, domain=Bounds(0, 10), required=True),
        Column(name="level", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), required=True),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes"))),
    )
)
CODES, ROWS = study.METHODS[0], study.METHODS[2]
ALONE = study.Line(name=DPMERF, recipe="independent")


def small(rows: int = 1000) -> Table:
    rng = np.random.default_rng(0)
    ill = (rng.random(rows) < 0.4).astype(np.int32)
    level = np.where(rng.random(rows) < 0.8, 2 * ill, 1).astype(np.int32)
    return Table(SCHEMA, {"number": np.clip(rng.normal(4 + 2 * ill, 1.5), 0, 10), "level": level, "ill": ill})


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(study, "TREES", 40)
    monkeypatch.setattr(study, "ClustMix", partial(study.ClustMix, steps=5, sigma_max=(0.1,)))


@pytest.fixture
def scope(monkeypatch, tmp_path):
    def load(name, folder):
        if name == "credit_card_default":
            raise InputError("is not here", where=name)
        return small()

    monkeypatch.setattr(studies, "load", load)
    return Scope(data=tmp_path, quick=True)


def reported(scope: Scope, methods, monkeypatch):
    monkeypatch.setattr(study, "METHODS", methods)
    work = study.plan(scope)
    return work.report(performed(work))


def test_numbers_are_as_printed_and_their_means_too():
    assert TABLE[ADULT] == {REAL: 0.931, DPGAN: 0.511, PATEGAN: 0.732, ADSGAN: 0.821, DPMERF: 0.650, CLUSTMIX: 0.863}
    assert TABLE[MNIST][CLUSTMIX] == 0.818
    for method, lost in LOST.items():
        assert np.mean([row[REAL] - row[method] for row in TABLE.values()]) == pytest.approx(lost, abs=0.0007)
    assert set(WHY_NOT) == set(TABLE) - {ADULT}


def test_methods_are_recipes_and_every_published_one_is_run():
    assert {line.recipe for line in study.METHODS} <= set(recipes.names())
    assert set(TABLE[ADULT]) - {REAL} <= {line.name for line in study.METHODS}
    assert {FILES.get(name) or LABELLED[name] for name in study.FILES.values()}
    proven = {line.name for line in study.METHODS if line.proven}
    assert proven == {"clustmix-certified", "dpmix", DPMERF, "dpgan-certified", "pate-gan-certified"}
    for line in study.METHODS:
        line.turned(quick=True)
        replace(line, knobs=line.images or {}).turned(quick=False)


def test_every_method_has_its_line_with_the_published_number_and_what_is_proven(scope, monkeypatch):
    report = reported(scope, (CODES, ROWS, ALONE), monkeypatch)
    auc = numbers_of(report, ADULT, "AUC")
    assert list(auc) == [REAL, CLUSTMIX, "clustmix, rows", DPMERF]
    assert auc[REAL].ours > 0.85
    assert auc[CLUSTMIX].ours > 0.7
    assert auc[DPMERF].ours < 0.9  # columns drawn alone keep no dependence
    assert [one.published for one in auc.values()] == [0.931, 0.863, None, 0.650]
    assert auc[CLUSTMIX].why_not == SHORT
    grid = next(part for part in report.parts if isinstance(part, Grid))
    proven = {row[0]: row[-1] for row in grid.rows}
    assert proven[DPMERF].startswith("epsilon ")
    assert proven[CLUSTMIX] == proven["clustmix, rows"] == "nothing (claimed)"
    drawn = report.figures[0].drawn
    assert f"{DPMERF}, published: 0.650" in drawn
    assert drawn.count("<circle") == 1 + 3 + 2  # real rows, three methods, and the key
    assert "750 rows to learn from, 250 held out, 3 columns; the class is ill" in report.sections[0].lead
    assert numbers_of(report, "census", "AUC")[CLUSTMIX].why_not == WHY_NOT["census"]
    assert {one.verdict for one in report.statements} == {Verdict.UNDECIDED, Verdict.CONTRADICTED}
    assert f"{OURS}: not in the quick scope" in report.skipped


@pytest.mark.parametrize(("layout", "width"), [(Layout.CODES, 2), (Layout.ONEHOT, 4)])
def test_averages_are_learned_from_as_vectors(scope, layout, width):
    held = study.held_out(ADULT, scope.data, None)
    lesson = study.averages(held.train, held.test, layout, 0)
    assert lesson.rows.x.shape[1] == lesson.test.shape[1] == width
    assert len(lesson.test) == held.test.rows
    assert len(lesson.rows) < held.train.rows / 10
    assert set(np.unique(lesson.test[:, 1])) == ({0, 0.5, 1} if layout is Layout.CODES else {0, 1})
    assert not set(np.unique(lesson.rows.x[:, 1])) & {0, 0.5, 1}  # noisy, and no level of any record
    assert not any(lesson.shape.categories)


def test_what_is_refused_is_said_and_the_rest_goes_on(scope, monkeypatch):
    def refuse(*_, **__):
        raise PlanError("no bounds")

    monkeypatch.setattr(study, "make", refuse)
    report = reported(scope, (CODES, ALONE, replace(ALONE, name="dpmix")), monkeypatch)
    assert "adult: dp-merf: no bounds" in report.skipped
    auc = numbers_of(report, ADULT, "AUC")
    assert (auc[DPMERF].ours, auc[DPMERF].published, auc["dpmix"].why_not) == (None, 0.650, REFUSED)
    assert auc[CLUSTMIX].ours > 0.7
    grid = next(part for part in report.parts if isinstance(part, Grid))
    assert (DPMERF, "-", "-", "refused") in grid.rows


def test_in_full_adult_is_compared_and_images_are_not(scope):
    work = study.plan(replace(scope, quick=False))
    assert any(line.startswith(f"{OURS}: ") for line in work.report({}).skipped)
    results = {}
    for data in (ADULT, MNIST):
        results[task_name(data, REAL, 0)] = {"refined": {"auc": 0.93, "accuracy": 0.9}}
        for line in study.METHODS:
            for run in range(3):
                one = {"auc": 0.8 + 0.01 * run + 0.05 * (line.name == CLUSTMIX), "accuracy": 0.5}
                both = {"refined": one, "drawn": one if line.name == ADSGAN else None}
                results[task_name(data, line.name, run)] = both | {"released": 5, "proven": "nothing", "seconds": 1.0}
    report = work.report(results)
    auc = numbers_of(report, ADULT, "AUC")
    assert auc[ADSGAN].as_good is False
    assert auc[ADSGAN + DRAWN].published == 0.821
    assert auc[PATEGAN].as_good
    assert auc[CLUSTMIX].agrees
    assert next(one for one in report.statements if "significantly" in one.says).verdict is Verdict.CONFIRMED
    assert {one.why_not for one in numbers_of(report, MNIST, "accuracy").values() if one.published} == {WHY_NOT[MNIST]}


def test_rows_without_a_class_are_left_out(monkeypatch, tmp_path):
    table = small(400)
    table = table.with_column(SCHEMA["ill"], np.where(np.arange(400) < 40, -1, table["ill"]).astype(np.int32))
    monkeypatch.setattr(studies, "load", lambda name, folder: table)
    held = study.held_out(ADULT, tmp_path, 100)
    assert (held.train.rows, held.test.rows) == (100, 90)
    assert (held.train["ill"] >= 0).all()


def test_a_release_of_one_class_teaches_nothing_and_many_classes_are_learnt_too():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 4, 600).astype(np.int32)
    target = Column(name="label", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("0", "1", "2", "3")), required=True)
    table = Table(Schema((SCHEMA["number"], target)), {"number": (2.5 * label + rng.random(600)), "label": label})
    held = study.HeldOut.of(table, "label")
    assert study.learnt(held.lesson(held.train))["accuracy"] > 0.95
    only = held.train.take(np.flatnonzero(held.train["label"] == 0))
    assert study.learnt(held.lesson(only))["auc"] == 0.5


def test_tables_without_a_schema_are_read(tmp_path, monkeypatch):
    import pandas as pd

    folder = tmp_path / "mnist"
    folder.mkdir()
    frame = pd.DataFrame({"label": [3, 7, 3], "p0": [0, 255, 4], "p1": [1, 2, 3]})
    frame.to_csv(folder / "mnist_t10k_5000.csv.gz", index=False)
    table = studies.table_of("mnist", tmp_path)
    assert (table.rows, table.schema.names) == (3, ("p0", "p1", "label"))
    assert table.strings("label").tolist() == ["3", "7", "3"]
    assert table.schema["p0"].domain == Bounds(0, 255)
    with pytest.raises(InputError, match="not here"):
        studies.table_of("tcga_breast", tmp_path)
