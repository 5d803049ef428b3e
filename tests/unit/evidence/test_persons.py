"""People in place of rows: one number each, and nothing at all where every row is a person."""

import numpy as np
import pytest

from hushtable.evidence.persons import People
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

WHO = np.array([2, 0, 2, 1, 0, 2])


@pytest.fixture
def people() -> People:
    return People(6, WHO)


def test_any_row_that_is_hit_hits_the_person(people: People) -> None:
    assert people.any(np.array([False, False, True, False, True, False])).tolist() == [True, False, True]


def test_a_person_scores_as_high_as_their_highest_row_and_as_low_as_their_lowest(people: People) -> None:
    scores = np.array([1.0, 5.0, 3.0, 2.0, 4.0, 3.0])
    assert people.most(scores).tolist() == [5.0, 2.0, 3.0]
    assert people.least(scores).tolist() == [4.0, 2.0, 1.0]
    assert people.strongest(scores).tolist() == [1, 3, 2]


def test_infinite_scores_are_scores(people: People) -> None:
    scores = np.array([-np.inf, -np.inf, -np.inf, np.inf, -np.inf, 0.0])
    assert people.most(scores).tolist() == [-np.inf, np.inf, 0.0]


def test_counts_and_the_row_that_stands_for_a_person(people: People) -> None:
    assert (people.count, people.first.tolist(), people.held.tolist()) == (3, [1, 3, 0], [2, 1, 3])
    assert people.independent == pytest.approx(36 / 14)


def test_blind_chances_add_up_over_the_rows_of_a_person(people: People) -> None:
    chances = np.array([0.5, 0.0, 0.5, 1.0, 0.25, 0.0])
    assert people.chance(chances) == pytest.approx([0.25, 1.0, 0.75])


def test_rows_of_persons_come_person_after_person(people: People) -> None:
    assert people.rows_of(np.array([2, 1])).tolist() == [0, 2, 5, 3]
    assert sorted(people.rows_of(np.array([1, 0, 2]))) == list(range(6))


def test_among_some_rows_only_their_holders_are_left(people: People) -> None:
    some = people.among(np.array([True, False, True, True, False, False]))
    assert (some.rows, some.count, some.who.tolist()) == (3, 2, [1, 1, 0])
    assert people.among(np.array([3, 0])).who.tolist() == [0, 1]


def test_where_every_row_is_a_person_nothing_changes() -> None:
    people, scores, hit = People(4), np.array([3.0, 1.0, 2.0, 1.0]), np.array([True, False, False, True])
    assert people.any(hit) is hit
    assert people.chance(scores) is scores
    assert np.array_equal(people.most(scores), scores)
    assert np.array_equal(people.least(scores), scores)
    order = np.array([2, 0])
    assert people.rows_of(order) is order
    assert (people.count, people.independent) == (4, 4.0)
    assert people.among(np.array([0, 3])).persons is None


def test_people_of_a_table_are_numbered_without_gaps() -> None:
    schema = Schema((Column(name="pid", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c"))),))
    table = Table(schema, {"pid": np.array([2, 0, 2, -1, -1], np.int32)}).held_by("pid")
    assert People.of(table).count == 4
    assert People.of(table.take(np.array([0, 2, 4]))).who.tolist() == [0, 0, 1]
    assert People.of(table.held_by(None)).persons is None
