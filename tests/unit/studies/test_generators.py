"""The study of private generators: what it left out is said, every curve is drawn, and table 5.1 stands beside ours."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import InputError, PlanError
from hushtable.pipeline import recipe as recipes
from hushtable.studies import generators as study
from hushtable.studies import tables as studies
from hushtable.studies.generators_report import MEASURES, Extent
from hushtable.studies.report import Verdict
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="number", kind=Kind.INTEGER, domain=Bounds(0, 10), required=True),
        Column(name="level", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c"))),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")), required=True),
    )
)
METHODS = (
    study.Method("alone", "independent"),
    study.Method("PrivBayes, degree 3", "independent", True),
    study.Method("NPGauss", "dpcopula-hybrid", True),
)


def small(rows: int = 200) -> Table:
    rng = np.random.default_rng(0)
    ill = (rng.random(rows) < 0.4).astype(np.int32)
    level = np.where(rng.random(rows) < 0.8, 2 * ill, 1).astype(np.int32)
    return Table(SCHEMA, {"number": np.clip(rng.normal(4 + 2 * ill, 1.5), 0, 10).astype(np.int64), "level": level, "ill": ill})


@pytest.fixture(autouse=True)
def tables(monkeypatch):
    def load(name, folder):
        if name == "credit_approval":
            raise InputError("is not here", where=name)
        return small()

    monkeypatch.setattr(studies, "load", load)
    monkeypatch.setattr(study, "METHODS", METHODS)
    monkeypatch.setattr(study, "DRAWS", 2)
    monkeypatch.setattr(study, "QUICK", Extent(names=("adult_train", "credit_approval"), epsilons=(0.4, 1.6), runs=2))
    study.data_sets.cache_clear()
    yield
    study.data_sets.cache_clear()


def test_every_number_curve_and_reason_is_in_the_report(tmp_path):
    repeated = ht.study("generators", quick=True, folder=tmp_path / "out")
    report = repeated.reports["generators"]
    assert any("credit_approval" in line for line in report.skipped)
    points, data = report.sections
    (table,) = points.parts
    assert len(table.numbers) == 20
    assert all(one.comparable for one in table.numbers)
    turned = next(one for one in table.numbers if (one.method, one.measure) == ("turned by 90", "G+"))
    assert (turned.published, turned.ours) == (0.97, pytest.approx(0.97, abs=0.05))
    assert data.lead.startswith("200 rows, 3 columns; the class is ill.")
    names = {figure.name for figure in report.figures}
    assert names == {f"adult_train-{key}" for key in ("g", "g_plus", "score", "there")}
    drawn = (tmp_path / "out" / "adult_train-g.svg").read_text()
    assert drawn.count("<circle") == 6
    assert "NPGauss (no proof)" in drawn
    cell = json.loads((tmp_path / "out" / "cells" / "adult_train-alone-0.4-0.json").read_text())
    assert cell["g"] == pytest.approx(cell["mu"] + cell["delta"])
    assert cell["g_plus"] == pytest.approx(cell["g"] + cell["nu"])
    assert len(report.statements) == 2
    assert all(one.verdict in Verdict for one in report.statements)


def test_what_is_refused_is_said_and_the_rest_goes_on(monkeypatch):
    def refuse(table, recipe, **knobs):
        raise PlanError("no bounds")

    monkeypatch.setattr(study, "release", refuse)
    text = ht.study("generators", quick=True, runs=1).text()
    assert "left out: adult_train: alone, epsilon 0.4: no bounds" in text
    assert any(line.split() == ["alone", "-", "-"] for line in text.splitlines())
    assert "turned by 90" in text


def test_without_any_of_the_published_tables_it_takes_the_bundled_one(monkeypatch):
    def load(name, folder):
        if name != "people":
            raise InputError("is not here", where=name)
        return small()

    monkeypatch.setattr(studies, "load", load)
    monkeypatch.setattr(study, "METHODS", METHODS[:1])
    report = ht.study("generators", quick=True, runs=1).reports["generators"]
    assert report.sections[-1].title == "people"
    assert any("none of the published data sets is at hand" in line for line in report.skipped)


def test_each_method_is_run_with_the_relation_and_the_epsilon_it_is_proven_for(monkeypatch):
    monkeypatch.undo()
    asked = {}
    release = study.release

    def kept(table, recipe, **knobs):
        asked[recipe.recipe] = knobs
        released = release(table, recipe, **knobs)
        asked[recipe.recipe]["epsilon proven"] = released.guarantee.epsilon()
        return released

    monkeypatch.setattr(study, "release", kept)
    chosen = [m for m in study.METHODS if m.name in ("PrivBayes, degree 2", "NPGauss", "Gauss", "mst")]
    for method in chosen:
        released, proven = method.make(small(), 0.8)
        assert released.rows == 200
        assert proven
    assert asked["privbayes-published"]["unit"].relation == asked["dpcopula-kendall"]["unit"].relation == "replace_one"
    assert asked["dpcopula-kendall"]["delta"] == 0
    assert asked["mst"]["unit"].relation == "add_remove"
    assert all(asked[m.recipe]["epsilon proven"] <= 0.8 for m in chosen if m.name != "Gauss")
    assert math.isinf(asked["dpcopula-hybrid"]["epsilon proven"])
    assert {m.recipe for m in study.METHODS} <= set(recipes.names())
    assert set(MEASURES) >= {"g", "g_plus", "mu", "delta", "nu"}
