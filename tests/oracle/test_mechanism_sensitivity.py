"""Every question of a recipe asked again of all neighbours, by the audit; and questions that understate what one record changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.audits.mechanism.sensitivity import brute_force, compare, domain, neighbours
from hushtable.audits.mechanism.watch import Asked
from hushtable.audits.mechanism.worlds import LOW, table
from hushtable.pipeline.recipe import load
from hushtable.privacy.query import Histogram
from hushtable.privacy.unit import Relation

SMALL = table([LOW, LOW, (100, "d", "yes")])


@dataclass(frozen=True)
class Understated:
    """A histogram that says it changes by a part of what it does."""

    columns: tuple[str, ...]
    part: float = 1.0

    def answer(self, table):
        return 2 * Histogram(self.columns).answer(table)

    def largest(self, schema, rows):
        return 2 * rows

    def sensitivity(self, schema, relation):
        l1, l2, _ = Histogram(self.columns).sensitivity(schema, relation)
        return 2 * l1 * self.part, 2 * l2 * self.part, 0


@dataclass(frozen=True)
class Judged:
    """Scores: how many have each town, told to change by ``most``."""

    most: int
    columns: tuple[str, ...] = ("town",)

    def answer(self, table):
        return 3 * Histogram(self.columns).answer(table)

    def largest(self, schema, rows):
        return 3 * rows

    def change(self, schema, relation):
        return self.most


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("question", "holds"), [(Understated(("town",)), True), (Understated(("town",), 0.9), False)])
def test_a_question_that_says_too_little_is_found(question, holds, relation):
    shown = compare(Asked(question, SMALL), relation)
    assert shown.holds is holds
    assert shown.l1 == pytest.approx(2 if relation is Relation.ADD_REMOVE else 4)
    assert shown.l2 == pytest.approx(2 if relation is Relation.ADD_REMOVE else 2 * np.sqrt(2))


@pytest.mark.parametrize(("most", "holds"), [(3, True), (2, False)])
def test_scores_that_change_by_more_than_they_say_are_found(most, holds):
    shown = compare(Asked(Judged(most), SMALL), Relation.ADD_REMOVE)
    assert (shown.holds, shown.most) == (holds, 3)


def test_all_records_of_a_small_domain_are_tried_and_each_kind_of_row_is_left_out():
    towns = SMALL.select(["town", "ill"])
    assert domain(towns).rows == 6 * 3, "five towns and two answers, each or missing"
    result = list(neighbours(towns, Relation.ADD_REMOVE))
    assert sorted(t.rows for t in result) == [2] * 2 + [4] * 18
    assert {t.rows for t in neighbours(SMALL, Relation.REPLACE_ONE)} == {3}


@pytest.mark.parametrize("name", ["independent", "privsyn", "frechet", "beta-k-eps-certified"])
def test_the_questions_of_a_certified_recipe_change_as_little_as_they_say(name):
    lines = brute_force(load(name), epsilon=2.0)
    assert lines
    assert all(line.holds for line in lines)
    assert all(line.worst.neighbours > 20 for line in lines)


def test_a_recipe_that_asks_nothing_has_nothing_to_try():
    assert brute_force(load("mdav"), epsilon=1.0) == []
