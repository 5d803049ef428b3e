"""A choice of levels judged without a search, against the release that is made with these levels, and against counting by hand."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

import hushtable as ht
from hushtable.api.evaluate import Evaluation
from hushtable.errors import InputError
from hushtable.privacy import criteria
from hushtable.table import trees
from hushtable.table.table import Table
from tests.oracle.test_lattice import people
from tests.persons import UNEQUAL, held

CHOICES = (
    {"age": 2},
    {"age": 3, "town": 2},
    {"age": 4, "town": 1, "sex": 1},
    {"age": 1, "town": 3, "sex": 1},
    {"age": 2, "town": 2},
)
DEMANDS = ({}, {"l": 2.0, "secrets": "ill"}, {"t": 0.5, "secrets": "ill"}, {"t": 0.4, "secrets": "ill", "suppressed": "star"})


def released(table: Table, choice: Evaluation, **more: object) -> ht.Release:
    return ht.release(table, choice.recipe.set({"limit": 1.0}), seed=1, allow_copies="a test", **more)


@pytest.mark.parametrize("levels", CHOICES)
@pytest.mark.parametrize("asked", DEMANDS)
def test_a_choice_is_what_a_release_with_these_levels_does(levels, asked):
    table = people(seed=3, rows=200)
    settings = {name: value for name, value in asked.items() if name not in ("l", "t")}
    found = ht.evaluate(table, levels, k=3, limit=1.0, settings=settings, **{n: asked[n] for n in ("l", "t") if n in asked})
    choice = found.choice
    if not choice.met:
        with pytest.raises(InputError, match="no generalization keeps"):
            released(table, found)
        return
    made = released(table, found)
    result = made.result["generalize"]
    assert result["suppressed_rows"] == choice.suppressed
    assert result["classes"] == choice.kept
    assert result["smallest_class"] == choice.k
    assert result["search"]["value"] == pytest.approx(choice.loss, rel=1e-12)
    assert {name: column["level"] for name, column in result["columns"].items()} == choice.levels
    assert {name: column["lost"] for name, column in result["columns"].items()} == pytest.approx(choice.losses, abs=1e-9)
    if "suppressed" not in asked:
        assert made.table.rows == table.rows - choice.suppressed
        assert criteria.measure(made.table, made.table.schema.quasi)["k"] == choice.k


@pytest.mark.parametrize("limit", [0.0, 0.05, 0.2, 0.5])
def test_it_is_met_exactly_where_a_release_is_not_refused(limit):
    table = people(seed=4, rows=150)
    for levels in CHOICES:
        found = ht.evaluate(table, levels, k=4, limit=limit)
        try:
            ht.release(table, found.recipe, seed=1, allow_copies="a test")
        except InputError:
            assert not found.choice.met
        else:
            assert found.choice.met


@pytest.mark.parametrize("alike", [True, False])
def test_people_who_hold_several_rows_are_counted_once(alike):
    table = held(UNEQUAL, alike=alike, unknown=5)
    levels = {"age": 1, "town": 0}
    found = ht.evaluate(table, levels, k=2, limit=1.0, person="pid").choice
    # By hand: who is in which class of the generalized values.
    level = trees.build(table.schema["age"])[0]
    ages, towns = level.index(table.schema["age"], table["age"]), table["town"]
    who = [f"row {row}" if name is None else name for row, name in enumerate(table.strings("pid"))]
    members, rows = defaultdict(set), Counter()
    for person, key in zip(who, zip(ages.tolist(), towns.tolist(), strict=True), strict=True):
        members[key].add(person)
        rows[key] += 1
    small = {key for key, people_ in members.items() if len(people_) < 2}
    assert found.classes == len(members)
    assert found.smallest == min(map(len, members.values()))
    assert found.alone == len(set().union(*(members[key] for key in small)))
    assert found.suppressed == sum(rows[key] for key in small)
    assert found.suppressed_people == found.alone
    assert found.k == min(len(people_) for key, people_ in members.items() if key not in small)
    # The rows that a release would use, if it may use all of them.
    unit = ht.Unit(by="pid", rows=int(UNEQUAL.max()))
    known = table.take(~table.missing("pid"))
    same = ht.evaluate(known, levels, k=2, limit=1.0, person="pid")
    made = ht.release(known, same.recipe, seed=1, unit=unit, allow_copies="a test")
    assert made.result["generalize"]["suppressed_rows"] == same.choice.suppressed
    assert ht.evaluate(known, levels, k=2, limit=1.0).choice.suppressed != same.choice.suppressed


def test_neighbours_are_the_choices_one_rung_away():
    table = people(seed=5)
    found = ht.evaluate(table, {"age": 2, "sex": 1}, k=3)
    assert [(rung.column, rung.up) for rung in found.around] == [("age", False), ("age", True), ("town", True), ("sex", False)]
    for rung in found.around:
        assert rung.choice == ht.evaluate(table, rung.choice.levels, k=3).choice
        changed = {name for name, level in rung.choice.levels.items() if level != found.choice.levels[name]}
        assert changed == {rung.column}
    # What is coarser leaves no more classes, and nobody alone who was not before.
    for rung in found.around:
        fewer, more = (rung.choice, found.choice) if rung.up else (found.choice, rung.choice)
        assert fewer.classes <= more.classes
        assert fewer.alone <= more.alone


def test_a_ladder_is_judged_rung_by_rung():
    found = ht.choices(people(seed=6), k=3)
    ladder = list(found.along({"town": 1}, "age"))
    assert [choice.levels["age"] for choice in ladder] == list(range(found.heights["age"] + 1))
    assert [choice.classes for choice in ladder] == sorted((choice.classes for choice in ladder), reverse=True)
    assert [choice.alone for choice in ladder] == sorted((choice.alone for choice in ladder), reverse=True)
    assert {choice.levels["town"] for choice in ladder} == {1}


def test_levels_that_do_not_exist_are_refused_all_at_once():
    with pytest.raises(InputError) as refused:
        ht.evaluate(people(seed=6), {"agge": 1, "town": 9})
    assert "did you mean 'age'?" in str(refused.value)
    assert "town has the levels 0 to 3, not 9" in str(refused.value)
    with pytest.raises(InputError, match="levels are given"):
        ht.evaluate(people(seed=6), {}, settings={"levels": "age=1"})


def test_everybody_under_a_star_is_one_class():
    table = people(seed=7)
    found = ht.choices(table, k=5)
    choice = found.at(found.heights)
    assert (choice.classes, choice.k, choice.alone, choice.suppressed) == (1, table.rows, 0, 0)
    assert list(choice.losses.values()) == pytest.approx([1.0] * 3)
    assert np.isclose(choice.loss, 1.0)
