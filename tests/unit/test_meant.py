"""A name that does not exist: what was meant is said, wherever names are given."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import hushtable as ht
from hushtable.display import meant
from hushtable.errors import HushError
from hushtable.pipeline import recipe as recipes

TOWN = ht.people(60, seed=1)


@pytest.mark.parametrize(
    ("given", "known", "text"),
    [
        ("k-anonimity", ["mdav", "k-anonymity"], " (did you mean 'k-anonymity'?)"),
        ("K_Anonymity", ["mdav", "k-anonymity"], " (did you mean 'k-anonymity'?)"),
        (["agee", "sexx", "zzz"], ["age", "sex"], " (did you mean 'age' and 'sex'?)"),
        ("zzz", ["age", "sex"], ""),
        ("", [], ""),
    ],
)
def test_the_nearest_name_is_said_and_nothing_where_none_is_near(given: str | list[str], known: list[str], text: str) -> None:
    assert meant(given, known) == text


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: ht.release(TOWN, "k-anonimity"), "k-anonymity"),
        (lambda: ht.release(TOWN, "k-anonymity", limitt=0.1), "limit"),
        (lambda: recipes.load("k-anonymity").set({"generalise.k": 5}), "generalize.k"),
        (lambda: ht.release(TOWN, "k-anonymity", columns=("sexx",)), "sex"),
        (lambda: ht.audit(TOWN, TOWN, TOWN, only=["linkabilty"]), "linkability"),
        (lambda: ht.utility(TOWN, TOWN, target="readmited"), "readmitted"),
        (lambda: TOWN.held_by("person_if"), "person_id"),
        (lambda: TOWN.schema["postcod"], "postcode"),
        (lambda: ht.compare(TOWN, ["mdav"], target="readmited"), "readmitted"),
        (lambda: ht.compare(TOWN, ["mdav"], epsilon=[1]), "epsilons"),
        (lambda: ht.compare(TOWN, ["mdav"], constraints=["max_risc<0.05"]), "max_risk"),
        (lambda: ht.ReleaseOptions.from_json({"epsilom": 1}), "epsilon"),
        (lambda: ht.Schema.parse("columns: {a: {kynd: real}}"), "kind"),
    ],
)  # fmt: skip
def test_every_refusal_of_a_name_says_the_nearest(call: Callable[[], object], name: str) -> None:
    with pytest.raises(HushError, match=rf"did you mean '{name}'"):
        call()
