"""The study of rows drawn after microaggregation: published numbers beside ours, and why some cannot be compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.errors import InputError, PlanError
from hushtable.pipeline import recipe as recipes
from hushtable.studies import kctgan as study
from hushtable.studies import tables as studies
from hushtable.studies.kctgan_published import GISETTE, HOW_MANY, IMPOSSIBLE, KERNEL, RNA, TABLES, UNREADABLE
from hushtable.studies.lines import ABSENT, REFUSED, SHORT, task_name
from hushtable.studies.releases import DRAWN, Method
from hushtable.studies.report import Figure, Verdict
from hushtable.studies.study import Scope
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.studies.performed import numbers_of, performed

SCHEMA = Schema(
    (
        Column(name="number", kind=Kind.REAL, domain=Bounds(0, 10), required=True),
        Column(name="level", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c"))),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")), required=True),
    )
)
TINY = {"epochs": 2, "width": 8, "noise": 4, "layers": 1, "refine": 1}
MMD, FID = "MMD (squared), 1e-3", "FID, values as they are"


def small(rows: int = 300) -> Table:
    rng = np.random.default_rng(0)
    ill = (rng.random(rows) < 0.4).astype(np.int32)
    level = np.where(rng.random(rows) < 0.8, 2 * ill, rng.integers(-1, 2, rows)).astype(np.int32)
    return Table(SCHEMA, {"number": np.clip(rng.normal(4 + 2 * ill, 1.5), 0, 10), "level": level, "ill": ill})


@pytest.fixture
def adult(monkeypatch, tmp_path):
    """Adult is a small table, and nothing else is at hand."""
    monkeypatch.setattr(studies, "load", lambda name, folder: small())
    return Scope(data=tmp_path, quick=True)


def test_numbers_are_as_printed():
    assert TABLES["Adult"]["M-KCTGAN"] == study_row(0.710, 1.95e8, 0.591, 1126, 47)
    assert TABLES["Adult"]["DPGAN"] == study_row(1.10, 2.44e11, 0.086, 25036, 13e7)
    assert TABLES["Gisette"]["PATEGAN"] == study_row(0.499, 7.18e7, 0.54, 13926, 24e5)
    assert TABLES["RNA"]["CTGAN"] == study_row(2.98, 2.95e5, 0.39, 780, 1e4)
    assert TABLES["RNA"]["ADSGAN"].fid == -4.05
    assert all(len(rows) == 7 for rows in TABLES.values())
    # What its own tables contradict.
    assert min(one.mmd for one in TABLES["RNA"].values()) == TABLES["RNA"]["DPGAN"].mmd < TABLES["RNA"]["M-KCTGAN"].mmd
    assert TABLES["Gisette"]["PATEGAN"].fid < TABLES["Gisette"]["M-KCTGAN"].fid
    assert max(TABLES["Adult"], key=lambda name: TABLES["Adult"][name].mmd) == "CTGAN"


def study_row(*values):
    from hushtable.studies.kctgan_published import Published

    return Published(*values)


def test_methods_are_those_of_the_source_and_recipes():
    names = [method.name for method in study.METHODS]
    assert set(TABLES["Adult"]) == set(names) - {"m-kctgan-certified"}
    for method in study.METHODS:
        assert method.turned(quick=True) != method.turned(quick=False) or method.recipe == "pate-gan"
        assert method.recipe in recipes.names()


def test_every_column_but_the_class_is_one_to_replace(adult):
    held = study.held_out("adult", adult.data, None)
    roles = {column.name: column.role for column in held.train.schema}
    assert roles == {"number": Role.QUASI, "level": Role.QUASI, "ill": Role.TARGET}
    assert held.target == "ill"


def test_the_plan_has_a_task_for_each_method_and_run(adult):
    work = study.plan(replace(adult, runs=2))
    assert len(work.tasks) == 1 + 2 * len(study.METHODS)
    assert [table.rows for table in work.tables] == [225, 75]
    quick, full = study.plan(adult), study.plan(replace(adult, quick=False))
    assert quick.identity != full.identity
    assert len(full.tasks) == 1 + 3 * len(study.METHODS)


@pytest.mark.neural
def test_published_numbers_stand_beside_ours_with_the_reason_why_not(adult, monkeypatch):
    pytest.importorskip("torch", reason="networks need torch")
    monkeypatch.setattr(study, "METHODS", (
        Method(name="CTGAN", recipe="ctgan", quick=TINY),
        Method(name="KCTGAN", recipe="kctgan", quick={**TINY, "k": 300}),
        Method(name="PATEGAN", recipe="pate-gan", quick={"most": 1, "width": 4, "noise": 4}),
    ))  # fmt: skip
    work = study.plan(adult)
    report = work.report(performed(work))
    f1 = numbers_of(report, "Adult", "F1")
    assert list(f1) == ["CTGAN", "CTGAN" + DRAWN, "KCTGAN", "PATEGAN", "real rows"]
    assert f1["CTGAN"].published == f1["CTGAN" + DRAWN].published == 0.025
    assert f1["CTGAN"].why_not == SHORT
    assert f1["real rows"].ours > 0.6
    assert f1["KCTGAN"].ours is None  # k is more than there are rows
    assert any("KCTGAN" in line and "k" in line for line in report.skipped)
    assert any(line.startswith("tcga_breast: ") for line in report.skipped)
    mmd = numbers_of(report, "Adult", MMD)
    assert mmd["CTGAN"].why_not == KERNEL
    assert mmd["real rows"].ours < mmd["PATEGAN"].ours
    assert numbers_of(report, "Adult", "nearest distance, mean")["CTGAN"].why_not == HOW_MANY
    assert numbers_of(report, "Gisette", "F1")["CTGAN"].why_not == GISETTE
    assert all(one.verdict is not Verdict.CONFIRMED for one in report.statements)  # of one run
    assert [part.name for part in report.figures] == ["disclosed-adult"]
    assert "median distance of real rows" in report.sections[0].lead


def test_a_refused_release_has_no_number_and_says_why(adult, monkeypatch):
    def refuse(*_, **__):
        raise PlanError("no bounds")

    monkeypatch.setattr(study, "make", refuse)
    monkeypatch.setattr(study, "METHODS", study.METHODS[:1])
    work = study.plan(adult)
    report = work.report(performed(work))
    assert "adult: RTVAE: no bounds" in report.skipped
    number = numbers_of(report, "Adult", FID)["RTVAE"]
    assert (number.ours, number.published, number.why_not) == (None, 1.85e9, SHORT)
    assert numbers_of(report, "Adult", "AUC")["RTVAE"].why_not == REFUSED


def measured(**changed):
    base = {
        "mmd": 2.0, "frechet": 0.1, "fid": 1e6, "f1": 0.3, "auc": 0.8, "distance": 600.0, "variance": 1e6,
        "disclosed": [0.5] * 20, "reconstruction": 0.01,
    }  # fmt: skip
    return base | changed


def full_results(**of_ours):
    """Three runs of every method, those of M-KCTGAN with other values."""
    real = {"rows": 10, "test": 3, "columns": 2, "width": 1.0, "own": {"3000": [540.0, 1e6], "48842": [92.0, 5e5]}}
    results = {task_name("Adult", "real rows", 0): real | {"refined": measured()}}
    for place, method in enumerate(study.METHODS):
        for run in range(3):
            one = measured(f1=0.3 + 0.01 * place + 0.001 * run) | (of_ours if method.name == "M-KCTGAN" else {})
            results[task_name("Adult", method.name, run)] = {"refined": one, "drawn": None, "proven": "", "seconds": 1.0}
    return results


def test_in_full_what_can_be_compared_is(adult):
    work = study.plan(replace(adult, quick=False))
    report = work.report(full_results(f1=0.6, fid=1e7))
    f1 = numbers_of(report, "Adult", "F1")
    assert f1["M-KCTGAN"].comparable
    assert f1["M-KCTGAN"].as_good
    assert f1["RTVAE"].as_good is False
    assert f1["RTVAE"].agrees is False
    assert numbers_of(report, "Adult", FID)["M-KCTGAN"].as_good
    assert not numbers_of(report, "Adult", MMD)["M-KCTGAN"].comparable
    rna = numbers_of(report, "RNA", FID)
    assert (rna["ADSGAN"].why_not, rna["PATEGAN"].why_not, rna["CTGAN"].why_not) == (IMPOSSIBLE, IMPOSSIBLE, RNA)
    assert numbers_of(report, "Gisette", "nearest distance, variance")["RTVAE"].why_not == UNREADABLE
    said = {one.says: one.verdict for one in report.statements}
    assert said["models that learn from M-KCTGAN have a higher F1 than those of other methods"] is Verdict.CONFIRMED
    assert said["M-KCTGAN discloses no record up to a threshold of 0.7 (Adult)"] is Verdict.CONTRADICTED
    nothing = work.report(full_results(f1=0.1, disclosed=[0.0] * 14 + [0.9] * 6))
    said = {one.says: one.verdict for one in nothing.statements}
    assert said["models that learn from M-KCTGAN have a higher F1 than those of other methods"] is Verdict.CONTRADICTED
    assert said["M-KCTGAN discloses no record up to a threshold of 0.7 (Adult)"] is Verdict.CONFIRMED
    assert said["beyond 0.8 it discloses far fewer records than the others"] is Verdict.CONTRADICTED


def test_without_tables_the_published_numbers_are_still_there(monkeypatch, tmp_path):
    def load(name, folder):
        raise InputError("is not here", where=name)

    monkeypatch.setattr(studies, "load", load)
    work = study.plan(Scope(data=tmp_path))
    assert not work.tasks
    report = work.report({})
    f1 = numbers_of(report, "Adult", "F1")
    assert {name: one.published for name, one in f1.items()} == {name: one.f1 for name, one in TABLES["Adult"].items()}
    assert {one.why_not for one in f1.values()} == {ABSENT}
    assert not [part for part in report.parts if isinstance(part, Figure)]
    assert report.to_json()["title"] == report.title


def test_values_as_they_are_and_the_nearest_of_them():
    table = small(6)
    points = study.as_they_are(table, table)
    assert points.shape == (6, 3)
    assert set(points[:, 1]) <= {-1.0, 0.0, 1.0, 2.0}
    near = study.nearest_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [0.0, 0.0]]))
    assert near.tolist() == [0.0, pytest.approx(np.sqrt(18))]
