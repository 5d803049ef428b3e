"""The study of mixtures: it goes on where it was stopped, has published numbers beside ours, and says what is refused or absent."""

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
from hushtable.synthesize.published.clustmix_encoding import Layout
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="number", kind=Kind.REAL, domain=Bounds(0, 10), required=True),
        Column(name="level", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), required=True),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes"))),
    )
)
CODES, ROWS, ALONE = study.METHODS[0], study.Method("clustmix, rows", "clustmix"), study.Method("dp-merf", "independent")
ONCE = study.Scope(names=("adult_train",), runs=1)


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
def tables(monkeypatch):
    def load(name, folder):
        if name == "credit_card_default":
            raise InputError("is not here", where=name)
        return small()

    monkeypatch.setattr(studies, "load", load)


def lines(told: str) -> dict[str, list[str]]:
    """The cells of the table by method."""
    split = (line.split("  ") for line in told.splitlines())
    return {cells[0]: [cell.strip() for cell in cells[1:] if cell.strip()] for cells in split if len(cells) > 3}


def test_a_study_that_was_killed_goes_on_where_it_stopped(tables, tmp_path, monkeypatch):
    asked = []
    rng = np.random.default_rng(0)

    def cell(one, method, number):
        asked.append((method.name, number))
        return {"auc": rng.random(), "released": 10, "proven": "nothing", "seconds": 0.1}  # another number each time it is asked

    monkeypatch.setattr(study, "_cell", cell)
    folder = tmp_path / "study"
    scope = study.Scope(runs=2)

    def stop(what, done):
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.resumable(scope=scope, methods=(CODES, ALONE)).run(folder, stop)
    assert asked == [(CODES.name, 0), (CODES.name, 1), ("dp-merf", 0)]
    assert not (folder / "study.html").exists()
    before = {path.name: path.read_text() for path in (folder / "cells").iterdir()}
    report_text = study.resumable(scope=scope, methods=(CODES, ALONE)).run(folder)
    assert asked[3:] == [("dp-merf", 1)]  # only what was missing
    assert all((folder / "cells" / name).read_text() == text for name, text in before.items())
    assert study.resumable(scope=scope, methods=(CODES, ALONE)).run(folder) == report_text
    assert len(asked) == 4
    assert (folder / "clustmix.txt").read_text() == report_text
    assert "Left out: credit_card_default: " in report_text
    assert "adult_train: 750 rows to learn from, 250 held out, 3 columns; the class is ill" in report_text
    page = (folder / "study.html").read_text()
    assert "dp-merf, published: 0.650" in page
    drawn = (folder / "adult_train.svg").read_text()
    assert drawn.count("<circle") == 1 + 2 * 2 + 2  # real rows, two runs of two methods, and the key
    assert drawn.count("published: ") == len(study.PUBLISHED["adult_train"])
    with pytest.raises(InputError, match="other"):
        study.resumable(scope=replace(scope, runs=3), methods=(CODES, ALONE)).run(folder)


def test_every_method_has_its_line_with_the_published_number_and_what_is_proven(tables):
    text = lines(study.resumable(scope=ONCE, methods=(CODES, ROWS, ALONE)).run())
    assert list(text)[1:] == ["real rows", CODES.name, ROWS.name, "dp-merf", "ADS-GAN", "PATE-GAN", "DP-GAN"]
    assert float(text["real rows"][0]) > 0.85
    assert float(text[CODES.name][0]) > 0.7
    assert float(text["dp-merf"][0]) < 0.9  # columns drawn alone keep no dependence
    assert [text[name][1] for name in ("real rows", CODES.name, ROWS.name, "dp-merf", "DP-GAN")] == [
        "0.931", "0.863", "-", "0.650", "0.511",
    ]  # fmt: skip
    assert text["dp-merf"][-1].startswith("epsilon ")
    assert text[CODES.name][-1] == text[ROWS.name][-1] == "nothing (claimed)"
    assert text["DP-GAN"][0] == "-"


@pytest.mark.parametrize(("layout", "width"), [(Layout.CODES, 2), (Layout.ONEHOT, 4)])
def test_averages_are_learned_from_as_vectors(layout, width):
    one = study.Data.of("adult_train", small(), None)
    lesson, _ = study.Method("averages", "clustmix", layout).make(one, 0)
    assert lesson.train.shape[1] == lesson.test.shape[1] == width
    assert len(lesson.test) == one.test.rows
    assert len(lesson.train) < one.train.rows / 10
    assert set(np.unique(lesson.test[:, 1])) == ({0, 0.5, 1} if layout is Layout.CODES else {0, 1})
    assert not set(np.unique(lesson.train[:, 1])) & {0, 0.5, 1}  # noisy, and no level of any record
    assert lesson.categories is None


def test_what_is_refused_is_said_and_the_rest_goes_on(tables, monkeypatch):
    def refuse(*_, **__):
        raise PlanError("no bounds")

    monkeypatch.setattr(study, "release", refuse)
    text = study.resumable(scope=ONCE, methods=(CODES, ALONE)).run()
    assert "refused: dp-merf: no bounds" in text
    assert lines(text)["dp-merf"] == ["-", "0.650", "-", "-", "refused"]
    assert float(lines(text)[CODES.name][0]) > 0.7


def test_a_quarter_is_held_out_and_rows_without_a_class_are_left_out():
    table = small(400)
    table = table.with_column(SCHEMA["ill"], np.where(np.arange(400) < 40, -1, table["ill"]).astype(np.int32))
    one = study.Data.of("adult_train", table, 100)
    assert (one.train.rows, one.test.rows) == (100, 90)
    assert (one.train["ill"] >= 0).all()
    assert (one.test["ill"] >= 0).all()
    assert not set(one.train["number"][one.train["number"] > 0]) & set(one.test["number"])


def test_a_release_of_one_class_teaches_nothing_and_other_classes_are_refused():
    one = study.Data.of("adult_train", small(), None)
    only = one.train.take(np.flatnonzero(one.train["ill"] == 0))
    assert one.auc(one.table(only)) == 0.5
    other = Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("yes", "no")))
    with pytest.raises(InputError, match="other classes"):
        one.table(one.train.with_column(other, one.train["ill"]))


def test_methods_are_recipes_and_data_sets_are_known():
    assert {m.recipe for m in study.METHODS} <= set(recipes.names())
    assert set(study.FULL.names) <= set(FILES)
    only = set(study.PUBLISHED["adult_train"]) - {m.name for m in study.METHODS}
    assert only == {"real rows", "ADS-GAN", "PATE-GAN", "DP-GAN"}  # the other numbers stand beside a method of ours
    assert [m.proven for m in study.METHODS] == [False] * 3 + [True] * 3
    with pytest.raises(InputError, match="at least one"):
        study.Scope(runs=0)
