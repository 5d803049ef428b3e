"""k rows that are one person hide nobody: with a key, every promise of k is about persons, whatever the recipe."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.lattice.generalize import Generalize
from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.anonymize.recoding.mondrian import Mondrian
from hushtable.anonymize.sample import Method, Sample
from hushtable.api.methods import everything
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline import run
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.pipeline.verify import verify
from hushtable.privacy import criteria
from hushtable.privacy.criteria import Classes, Counted
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Syntactic
from hushtable.privacy.unit import Unit
from hushtable.table.table import Table
from tests.persons import FIVE, GIANT, SCHEMA, UNEQUAL, held

PROMISES = [method["name"] for method in everything()["recipes"] if {"k-anonymity", "k-map,"} & set(method["guarantee"].split())]
RECORDS_ONLY = {"beta-k-eps-certified", "safe-k"}
"""Their proofs are for persons of one row each, and refuse others before a row is read."""


def fewest(table, quasi, who):
    """The fewest persons of a class, counted one by one."""
    classes = {}
    for key, person in zip(zip(*(table[name].tolist() for name in quasi), strict=True), who.tolist(), strict=True):
        classes.setdefault(key, set()).add(person)
    return min(map(len, classes.values()))


@pytest.fixture
def measured(monkeypatch):
    """Every promise of k that a run measured, and the table it was measured on."""
    seen, real = [], run.unmet
    monkeypatch.setattr(run, "unmet", lambda promise, grouped: (seen.append((promise, grouped.rows)), real(promise, grouped))[1])
    return seen


@pytest.mark.parametrize(
    ("table", "rows"),
    [(held(FIVE), 5), (held(UNEQUAL, alike=False, unknown=20), 7), (held(GIANT), 200)],
    ids=["five rows each", "unequal, unlike, some nobody's", "one person with half of all rows"],
)
@pytest.mark.parametrize("name", PROMISES)
def test_every_recipe_that_promises_k_counts_persons(name, table, rows, measured):
    recipe = load(name).quick()
    epsilon = 2.0 if any(step.spends for step in recipe.steps) else None
    unit = Unit(relation=recipe.relation, rows=rows, by="pid")
    if name in RECORDS_ONLY:
        with pytest.raises(GuaranteeRefused):
            release(table, recipe, epsilon=epsilon, unit=unit, seed=1)
        return
    released = release(table, recipe, epsilon=epsilon, unit=unit, seed=1)
    assert released.table.persons is None
    assert released.guarantee.promises
    assert all(p.counted is Counted.PERSONS for p in released.guarantee.promises)
    assert "people" in " ".join(text for head, text in released.guarantee.sentences() if head == "Verified")
    promised = [(p, t) for p, t in measured if p.kind is Syntactic.K_ANONYMITY]
    assert promised
    for promise, at in promised:
        # This one replaces all columns, the tag among them.
        who = at.persons if name == "beta-k-eps" else at["tag"]
        assert fewest(at, promise.quasi, who) >= promise.value


def test_the_same_counting_finds_one_person_where_rows_were_counted(measured):
    """The twin: without a key five rows of one person are a class, and that is not called k-anonymity of people."""
    released = release(held(FIVE), Recipe(recipe="rows", steps=(Microaggregate(),)), unit=Unit(rows=5), seed=1)
    promise, table = measured[0]
    assert fewest(table, promise.quasi, table["tag"]) == 1
    assert released.guarantee.promises == ()
    assert released.guarantee.assurance is Assurance.NONE
    assert released.guarantee.k() is None
    assert any("nothing follows for people" in caveat and "--person" in caveat for caveat in released.guarantee.caveats)


@pytest.mark.parametrize("name", sorted(set(PROMISES) - RECORDS_ONLY - {"beta-k-eps"}))
def test_where_the_key_is_not_known_no_recipe_promises_more_people_than_there_are(name, measured):
    released = release(held(np.full(200, 3)), load(name).quick().set({"k": "20"}), unit=Unit(rows=3), seed=1)
    assert released.guarantee.promises
    assert {promise.counted for promise in released.guarantee.promises} == {Counted.PERSONS}
    for promise in released.guarantee.promises:
        for at in (at for asked, at in measured if asked.quasi == promise.quasi):
            assert fewest(at, promise.quasi, at["tag"]) >= promise.value


@pytest.mark.parametrize(("k", "rows", "people", "sampled"), [(10, 5, 2, None), (22, 5, 5, 3), (5, 1, 5, 3), (6, 2, 3, 2)])
def test_without_a_key_k_rows_are_as_many_people_as_must_hold_them(k, rows, people, sampled):
    steps = (Microaggregate(k=k, l=2, t=0.9), Sample(beta=0.5, method=Method.STRATIFIED))
    one, both = (
        release(held(FIVE), Recipe(recipe="rows", steps=some), unit=Unit(rows=rows), seed=1) for some in (steps[:1], steps)
    )
    assert one.guarantee.k(("age", "town")) == people
    assert both.guarantee.k(("age", "town")) == sampled
    # Of l and t by rows nothing follows for people: all of them may hold one value beside others.
    kinds = {promise.kind for promise in one.guarantee.promises}
    assert kinds == (set(Syntactic) - {Syntactic.K_MAP} if rows == 1 else {Syntactic.K_ANONYMITY})


@dataclass(frozen=True, kw_only=True)
class Anew(Microaggregate):
    """Makes groups of k rows and builds the table anew, so that nobody knows any more whose rows they are."""

    def fit(self, vault, rng):
        released = super().fit(replace(vault, _table=replace(vault._table, persons=None)), rng).table
        return Anonymized(Table(released.schema, dict(released.arrays), dict(released.texts)))


def test_a_table_that_lost_its_persons_is_promised_no_more_than_follows_from_rows():
    unit = Unit(rows=5, by="pid")
    assert release(held(FIVE), Recipe(recipe="anew", steps=(Anew(),)), unit=unit, seed=1).guarantee.promises == ()
    released = release(held(FIVE), Recipe(recipe="anew", steps=(Anew(k=20),)), unit=unit, seed=1)
    assert released.guarantee.k() == 4
    assert any("one person may hold 5: at least 4 people follow" in caveat for caveat in released.guarantee.caveats)


@dataclass(frozen=True, kw_only=True)
class Boasts(Anew):
    """Makes the same groups, and knows whose rows they are."""

    def fit(self, vault, rng):
        released = super().fit(vault, rng).table
        return Anonymized(replace(released, persons=vault._table.persons))


def test_classes_of_one_person_are_refused_where_persons_are_known():
    with pytest.raises(GuaranteeRefused, match="the table has 1"):
        release(held(FIVE), Recipe(recipe="boasts", steps=(Boasts(),)), unit=Unit(rows=5, by="pid"), seed=1)


@pytest.mark.parametrize("step", [Microaggregate(l=2, t=0.6), Mondrian(l=2, t=0.6), Generalize(l=2, t=0.6, limit=0.3)])
def test_l_and_t_hold_by_persons_and_by_rows(step, measured):
    table = held(UNEQUAL)
    released = release(table, Recipe(recipe="secret", steps=(step,)), unit=Unit(rows=7, by="pid"), seed=1)
    _, at = measured[-1]
    stated = released.guarantee.criteria
    assert stated["counted"] == "persons"
    assert stated["by_rows"]["counted"] == "rows"
    assert stated["secrets"]["ward"]["l_distinct"] >= 2
    for name, better in (("l_distinct", 1), ("l_entropy", 1), ("l_recursive_c2", 1), ("t", -1)):
        persons, rows = (part["secrets"]["ward"][name] for part in (stated, stated["by_rows"]))
        assert better * persons <= better * rows
    # Nobody's class has one value that all of its people hold.
    for group in np.unique(groups := at.groups(("age", "town"))[0]):
        inside = groups == group
        sets = [set(at["ward"][inside & (at["tag"] == tag)].tolist()) for tag in np.unique(at["tag"][inside])]
        assert not set.intersection(*sets)


def test_a_value_that_everybody_holds_among_others_is_known_of_everybody():
    """Five persons with the same two values: two distinct values by rows, and no doubt about either."""
    table = held(np.full(5, 2)).with_columns(
        (SCHEMA["age"], np.full(10, 40)),
        (SCHEMA["town"], np.zeros(10, np.int32)),
        (SCHEMA["ward"], np.tile([0, 1], 5).astype(np.int32)),
    )
    assert criteria.distinct_l(Classes(table, ("age", "town")), "ward") == 2
    persons = Classes(table.held_by("pid"), ("age", "town"))
    assert criteria.k_anonymity(persons) == 5
    assert (criteria.distinct_l(persons, "ward"), criteria.entropy_l(persons, "ward")) == (1, 1.0)
    assert criteria.recursive_l(persons, "ward", 2.0) == 1


def test_a_k_map_counts_the_persons_of_the_population():
    table = held(FIVE)
    rows, persons = (criteria.k_map(table.take(np.arange(20)), people, ("town",)) for people in (table, table.held_by("pid")))
    assert rows == 5 * persons > 0


def test_a_person_with_most_rows_of_a_class_is_named_as_a_risk():
    released = release(held(GIANT), Recipe(recipe="giant", steps=(Microaggregate(),)), unit=Unit(rows=200, by="pid"), seed=1)
    assert released.guarantee.criteria["largest_share"] > 0.9
    assert "one person holds up to" in dict(released.guarantee.sentences())["But"]


@pytest.mark.parametrize("step", [Microaggregate(l=2), Mondrian(), Generalize()])
def test_a_release_counted_by_persons_verifies_by_rows(step, tmp_path):
    released = release(held(UNEQUAL), Recipe(recipe="counted", steps=(step,)), unit=Unit(rows=7, by="pid"), seed=1)
    folder = released.save(tmp_path / "made")
    assert verify(folder).faults == ()
    card = json.loads((folder / "card.json").read_text())
    stated = card["guarantee"]["criteria"]
    assert stated["k"] <= stated["by_rows"]["k"]
    stated["k"] = stated["by_rows"]["k"] + 1
    (folder / "card.json").write_text(json.dumps(card))
    assert any("persons" in fault.reason for fault in verify(folder).faults)
    stated["k"], stated["by_rows"]["k"] = 2, stated["by_rows"]["k"] + 1
    (folder / "card.json").write_text(json.dumps(card))
    assert any(fault.where == "criteria: k" for fault in verify(folder).faults)


def test_strata_keep_their_share_of_persons_and_not_of_rows():
    """A person with half of the rows of a class would be all that is left of it if rows were drawn."""
    table = held(GIANT).with_columns((SCHEMA["age"], np.full(300, 40)), (SCHEMA["town"], np.zeros(300, np.int32)))
    steps = (Microaggregate(k=100), Sample(beta=0.3, method=Method.STRATIFIED))
    released = release(table, Recipe(recipe="strata", steps=steps), unit=Unit(rows=200, by="pid"), seed=1)
    assert released.guarantee.k() == 30
    assert len(np.unique(released.table["tag"])) == np.ceil(0.3 * 151)
