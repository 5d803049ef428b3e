"""Measured properties: known tables, the journalist's people by brute force, and what is said where there is nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.audits.properties import Properties, _people
from hushtable.checks import example
from hushtable.data.people import people
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Finding
from hushtable.privacy.criteria import k_map
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def town(rows: list[tuple[str, int, str]]) -> Table:
    levels, sick = ("north", "south"), ("no", "yes", "maybe")
    schema = Schema(
        (
            Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(levels)),
            Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99)),
            Column(name="sick", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(sick)),
        )
    )
    where, age, ill = zip(*rows, strict=True)
    arrays = {
        "town": np.array([levels.index(w) for w in where], np.int32),
        "age": np.array(age, np.int64),
        "sick": np.array([sick.index(w) for w in ill], np.int32),
    }
    return Table(schema, arrays)


def measured(case: Case, **knobs: object) -> dict[tuple[str, str], Finding]:
    return {(f.name, f.scope): f for f in Properties(**knobs).run(case, np.random.default_rng(0))}


def test_a_known_table():
    """Classes (north, 30) x 3, (north, 40) x 2, (south, 30) x 1; the last is nobody's, the second fits one person."""
    release = town([("north", 30, s) for s in ("no", "yes", "maybe")] + [("north", 40, "no")] * 2 + [("south", 30, "yes")])
    train = town([("north", 30, "no")] * 3 + [("north", 40, "yes")])
    control = town([("north", 30, "yes"), ("south", 99, "no"), ("north", 31, "no")])
    estimated = measured(Case(train, release, control))
    assert estimated["k-anonymity", ""].value == 1
    assert estimated["k-anonymity", ""].detail["train"] == 1
    assert estimated["unique rows", ""].value == pytest.approx(1 / 6)
    assert estimated["prosecutor risk", ""].value == 1
    assert estimated["prosecutor risk", ""].detail["average"] == pytest.approx(3 / 6)
    assert estimated["prosecutor risk", ""].detail["share above"] == {
        "1/2": pytest.approx(1 / 6), "1/3": pytest.approx(3 / 6), "1/5": 1.0, "1/10": 1.0, "1/20": 1.0,
    }  # fmt: skip
    assert estimated["marketer risk", ""].value == pytest.approx(3 / 6)
    assert estimated["journalist risk", ""].value == 1
    assert estimated["journalist risk", ""].detail["fit_nobody"] == 1
    assert estimated["journalist risk", ""].detail["population"] == 7
    assert estimated["l-diversity", "sick"].value == 1
    assert estimated["t-closeness", "sick"].value == pytest.approx(2 / 3)
    assert all(f.p is None and f.risk is None for f in estimated.values())


def test_the_quasi_identifiers_can_be_chosen():
    release = town([("north", 30, "no"), ("north", 40, "yes")])
    case = Case(release, release, town([("south", 1, "no"), ("south", 2, "no")]))
    assert measured(case)["k-anonymity", ""].value == 1
    estimated = measured(case, quasi=("town",))
    assert estimated["k-anonymity", ""].value == 2
    assert estimated["l-diversity", "sick"].value == 2
    assert estimated["journalist risk", ""].value == pytest.approx(1 / 2)
    with pytest.raises(InputError, match="no column 'ages'"):
        measured(case, quasi=("ages",))


def test_without_quasi_identifiers_there_is_a_reason():
    table = example(40, 0)
    plain = [replace(column, role=Role.PLAIN) for column in table.schema]
    bare = table.with_columns(*((column, table[column.name]) for column in plain))
    (finding,) = Properties().run(Case(bare.take(np.arange(20)), bare, bare.take(np.arange(20, 40))), np.random.default_rng(0))
    assert finding.value is None
    assert "no column is declared" in finding.note
    case = Case(table.take(np.arange(20)), table.select(["pay", "sick"]), table.take(np.arange(20, 40)))
    (finding,) = Properties().run(case, np.random.default_rng(0))
    assert finding.value is None
    assert "none of the quasi-identifiers" in finding.note


def test_rows_that_fit_nobody_have_no_journalist():
    release = town([("north", 1, "no"), ("north", 2, "yes")])
    case = Case(town([("south", 1, "no"), ("south", 2, "no")]), release, town([("south", 3, "no"), ("south", 2, "no")]))
    assert measured(case)["journalist risk", ""].value is None
    assert "nobody" in measured(case)["journalist risk", ""].note


def test_a_k_anonymous_release_measures_what_it_promised():
    table = people(900, seed=2)
    train, control = table.take(np.arange(600)), table.take(np.arange(600, 900))
    released = ht.release(train, "mondrian", settings={"k": "5"}, seed=1)
    estimated = measured(Case(train, released.table, control))
    assert estimated["k-anonymity", ""].value == released.guarantee.criteria["k"] >= 5
    assert estimated["unique rows", ""].value == 0
    assert estimated["prosecutor risk", ""].value <= 1 / 5
    assert estimated["journalist risk", ""].value <= estimated["prosecutor risk", ""].value
    assert estimated["marketer risk", ""].value <= estimated["prosecutor risk", ""].value


@settings(max_examples=30)
@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_the_people_a_row_could_be_are_those_that_a_map_counts(seed, intervals, stars):
    """Against ``k_map``, which goes through every class and every person."""
    rng = np.random.default_rng(seed)
    train, control, release = (example(12, 3 * seed + i).select(["age", "town", "school", "sick"]) for i in range(3))
    if intervals:
        age = release.schema["age"]
        cells = (*(age.interval_cell(Interval(a, a + 33)) for a in (0, 20, 50)), ANYTHING)
        release = release.with_column(age.generalize(cells), rng.integers(-1, 4, 12).astype(np.int32))
    if stars:
        school = release.schema["school"]
        cells = (school.set_cell(frozenset(school.levels[:2])), school.set_cell(frozenset(school.levels[2:])), ANYTHING)
        release = release.with_column(school.generalize(cells), rng.integers(-1, 3, 12).astype(np.int32))
    quasi = ("age", "town", "school") if seed % 2 else ("age", "school")
    fits = _people(Case(train, release, control), quasi)
    everyone = Table.concat([train, control])
    assert fits.tolist() == [k_map(release.take(np.array([row])), everyone, quasi) for row in range(12)]
