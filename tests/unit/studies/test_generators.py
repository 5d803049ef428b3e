"""The study of private generators: it goes on where it was stopped, says what it left out, and draws every curve."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from hushtable.errors import InputError, PlanError
from hushtable.pipeline import recipe as recipes
from hushtable.studies import generators as study
from hushtable.studies import tables as studies
from hushtable.studies.generators_page import MEASURES, mean
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
METHODS = (study.Method("alone", "independent"), study.Method("Gauss", "dpcopula-hybrid", True))


def small(rows: int = 200) -> Table:
    rng = np.random.default_rng(0)
    ill = (rng.random(rows) < 0.4).astype(np.int32)
    level = np.where(rng.random(rows) < 0.8, 2 * ill, 1).astype(np.int32)
    return Table(SCHEMA, {"number": np.clip(rng.normal(4 + 2 * ill, 1.5), 0, 10).astype(np.int64), "level": level, "ill": ill})


@pytest.fixture
def tables(monkeypatch):
    def load(name, folder):
        if name == "credit_approval":
            raise InputError("is not here", where=name)
        return small()

    monkeypatch.setattr(studies, "load", load)


@pytest.fixture
def asked(monkeypatch):
    """The cells that are computed, in order."""
    seen = []
    cell = study._cell

    def counted(one, method, epsilon):
        seen.append((method.name, epsilon))
        return cell(one, method, epsilon)

    monkeypatch.setattr(study, "_cell", counted)
    return seen


def test_a_study_that_was_killed_goes_on_where_it_stopped(tables, asked, tmp_path, monkeypatch):
    folder = tmp_path / "study"
    scope = study.Scope(names=("adult_train", "credit_approval"), epsilons=(0.4,), runs=2)

    def stop(what, done):
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.resumable(scope=scope, methods=METHODS).run(folder, stop)
    assert asked == [("alone", 0.4)] * 2 + [("Gauss", 0.4)]
    assert not (folder / "study.html").exists()
    before = {path.name: path.read_text() for path in (folder / "cells").iterdir()}
    report_text = study.resumable(scope=scope, methods=METHODS).run(folder)
    assert asked[3:] == [("Gauss", 0.4)]  # only what was missing
    assert all((folder / "cells" / name).read_text() == text for name, text in before.items())
    assert study.resumable(scope=scope, methods=METHODS).run(folder) == report_text
    assert len(asked) == 4
    assert "left out: credit_approval: " in report_text
    assert "adult_train: 200 rows, 3 columns, class ill" in report_text
    page = (folder / "study.html").read_text()
    assert "alone, epsilon 0.4" in page
    drawn = (folder / "adult_train-g.svg").read_text()
    assert drawn.count("<circle") == 2
    assert "Gauss (no proof)" in drawn
    with pytest.raises(InputError, match="other"):
        study.resumable(scope=replace(scope, runs=3), methods=METHODS).run(folder)
    numbers = json.loads((folder / "cells" / "adult_train-alone-0.4-0.json").read_text())
    assert numbers["g"] == pytest.approx(numbers["mu"] + numbers["delta"])
    assert numbers["g_plus"] == pytest.approx(numbers["g"] + numbers["nu"])


def test_what_is_refused_is_said_and_the_rest_goes_on(tables, monkeypatch):
    def refuse(table, recipe, **knobs):
        raise PlanError("no bounds")

    monkeypatch.setattr(study, "release", refuse)
    text = study.resumable(methods=METHODS[:1], scope=study.Scope(names=("adult_train",), epsilons=(0.4, 1.6), runs=1)).run()
    assert "refused: alone: no bounds" in text
    assert any(line.split() == ["alone", "-", "-"] for line in text.splitlines())


def test_without_any_of_the_published_tables_it_takes_the_bundled_one(monkeypatch):
    def load(name, folder):
        if name != "people":
            raise InputError("is not here", where=name)
        return small()

    monkeypatch.setattr(studies, "load", load)
    text = study.resumable(methods=METHODS[:1], scope=replace(study.QUICK, epsilons=(1.6,))).run()
    assert "people: 200 rows" in text
    assert "none of the published data sets is at hand" in text


def test_each_method_is_run_with_the_relation_and_the_epsilon_it_is_proven_for(tables, monkeypatch):
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


def test_every_method_is_a_recipe_we_have():
    assert {m.recipe for m in study.METHODS} <= set(recipes.names())


def test_a_study_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least one"):
        study.Scope(runs=0)


def test_means_leave_out_what_was_refused():
    assert mean([{"g": 1.0}, {"refused": "no"}, {"g": 3.0}], "g") == (2.0, 1.0)
    assert mean([{"refused": "no"}], "g") is None
    assert set(MEASURES) >= {"g", "g_plus", "mu", "delta", "nu"}
