"""A quarter is held out, and models that learn from a release are tested on it."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.measures.downstream_models import STEEP, Rows, Shape, predictions
from hushtable.studies.held_out import HeldOut, Lesson
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="number", kind=Kind.REAL, domain=Bounds(0, 10)),
        Column(name="level", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), required=True),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes"))),
    )
)


def small(rows: int = 800) -> Table:
    rng = np.random.default_rng(0)
    ill = (rng.random(rows) < 0.3).astype(np.int32)
    level = np.where(rng.random(rows) < 0.8, 2 * ill, 1).astype(np.int32)
    return Table(SCHEMA, {"number": np.clip(rng.normal(4 + 2 * ill, 1.5), 0, 10), "level": level, "ill": ill})


def test_a_quarter_is_held_out_the_same_each_time_and_nobody_stands_on_both_sides():
    held, again = HeldOut.of(small(), "ill", 100), HeldOut.of(small(), "ill")
    assert (held.train.rows, held.test.rows, again.train.rows) == (100, 200, 600)
    assert np.array_equal(held.test["number"], again.test["number"])
    assert not set(again.train["number"]) & set(again.test["number"]) - {0.0, 10.0}
    assert held.majority == pytest.approx(np.mean(held.test["ill"] == 0))


def test_rows_without_a_target_are_neither_learnt_nor_tested():
    table = small()
    held = HeldOut.of(table.with_column(SCHEMA["ill"], np.where(np.arange(800) < 400, -1, table["ill"]).astype(np.int32)), "ill")
    lesson = held.lesson(held.train)
    assert len(lesson.rows) == (held.train["ill"] >= 0).sum() < held.train.rows
    assert len(lesson.truth) == (held.test["ill"] >= 0).sum()


def test_levels_are_read_by_their_words_not_by_their_order():
    held = HeldOut.of(small(), "ill")
    turned = Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("yes", "no")))
    other = held.train.with_column(turned, 1 - held.train["ill"])
    assert np.array_equal(held.lesson(other).rows.y, held.lesson(held.train).rows.y)


@pytest.mark.parametrize("family", ["boosting", STEEP, "linear"])
def test_a_good_release_teaches_and_one_of_a_single_class_does_not(family):
    held = HeldOut.of(small(), "ill")

    def scores(table: Table) -> dict[str, float]:
        lesson = held.lesson(table)
        return lesson.scores(predictions(family, lesson.rows, lesson.test, lesson.shape))

    assert scores(held.train)["AUC"] > 0.85
    assert scores(held.train)["F1"] > 0.6
    alone = scores(held.train.take(np.flatnonzero(held.train["ill"] == 0)))
    assert (alone["AUC"], alone["F1"], alone["accuracy"]) == (0.5, 0.0, held.majority)


def test_f1_is_that_of_the_rarer_class_and_the_mean_of_several():
    truth = np.array([0.0, 0, 0, 0, 0, 0, 1, 1])
    lesson = Lesson(Rows(np.zeros((2, 1)), np.zeros(2)), np.zeros((8, 1)), truth, Shape(classes=True, categories=(False,)))
    guessed = np.array([0.0, 0, 0, 0, 0, 1, 1, 0])
    assert lesson.scores({0.0: 1 - guessed, 1.0: guessed})["F1"] == pytest.approx(0.5)  # one found, one missed, one wrong
    three = Lesson(lesson.rows, lesson.test, np.array([0.0, 0, 1, 1, 2, 2, 2, 2]), lesson.shape)
    perfect = {float(k): (three.truth == k).astype(float) for k in range(3)}
    assert three.scores(perfect)["F1"] == 1.0


def test_a_number_is_missed_by_its_root_mean_square():
    lesson = Lesson(
        Rows(np.zeros((2, 1)), np.zeros(2)), np.zeros((2, 1)), np.array([1.0, 5.0]), Shape(classes=False, categories=())
    )
    assert lesson.scores({np.nan: np.array([4.0, 1.0])}) == {"RMSE": pytest.approx(np.sqrt(12.5))}
