"""The worlds, what is heard of a run, and the report of a mechanism audit."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.audits.mechanism import onerun, scores, twoworld
from hushtable.audits.mechanism.guessing import judge
from hushtable.audits.mechanism.watch import Heard, watched
from hushtable.audits.mechanism.worlds import CANARIES, HOLDS, relation_of, table, worlds
from hushtable.bench.mechanism import audit_mechanism, proven_recipes
from hushtable.encode.bins import Bins
from hushtable.errors import InputError
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.unit import Relation
from hushtable.synthesize.margins import Margins

MARGINS = Recipe(recipe="margins", steps=(Bins(), Margins()))


def rows(table):
    return Counter(zip(*(table.strings(name).tolist() for name in table.schema.names), strict=True))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("k", [0, 10])
@pytest.mark.parametrize("name", CANARIES)
def test_the_worlds_are_neighbours(name, relation, k):
    pair = worlds(name, relation, k=k)
    more, less = rows(pair.within) - rows(pair.without), rows(pair.without) - rows(pair.within)
    units = HOLDS + 1 if name == "person" else 1
    assert more.total() == units
    assert less.total() == (0 if relation is Relation.ADD_REMOVE else units)
    assert pair.unit.relation is relation


def test_the_tie_lies_on_a_multiple_of_k_and_the_lone_category_has_one_holder():
    pair = worlds("tie", Relation.ADD_REMOVE, k=10)
    assert (pair.within.rows, pair.without.rows) == (20, 19)
    lone = worlds("lone", Relation.REPLACE_ONE)
    assert [(t.strings("town") == "lone").sum() for t in (lone.within, lone.without)] == [1, 0]


def test_a_canary_that_is_not_there_is_named():
    with pytest.raises(InputError, match="no canary 'bird'; there are corner"):
        worlds("bird", Relation.ADD_REMOVE)


def test_watching_a_recipe_changes_nothing_but_the_names():
    pair, heard = worlds("crowd", Relation.ADD_REMOVE), Heard()
    entropy = [twoworld.seeded(4) for _ in range(2)]
    plain = release(pair.within, MARGINS, epsilon=2.0, seed=4, entropy=entropy[0], unproven=True)
    seen = release(pair.within, watched(MARGINS, heard), epsilon=2.0, seed=4, entropy=entropy[1], unproven=True)
    assert rows(plain.table) == rows(seen.table)
    assert [e.event for e in plain.guarantee.ledger] == [e.event for e in seen.guarantee.ledger]
    assert [type(one.question).__name__ for one in heard.asked] == ["Histogram"] * 3
    assert heard.log_ratio == 0.0, "without another world there is nothing to compare with"


def test_the_ratio_of_the_answers_is_the_exact_one_and_has_one_sign_in_both_worlds():
    """With a budget so large that there is no noise to speak of, the ratio tells the world every time."""
    pair = worlds("corner", Relation.ADD_REMOVE)
    for here, there, sign in ((pair.within, pair.without, 1), (pair.without, pair.within, -1)):
        heard = Heard(rival=there, sign=sign)
        release(here, watched(MARGINS, heard), epsilon=200.0, seed=1, unproven=True)
        assert heard.answers == 3
        assert sign * heard.log_ratio > 10


def test_a_release_becomes_numbers_that_the_canary_moves():
    pair = worlds("lone", Relation.ADD_REMOVE)
    heard = Heard()
    made = release(pair.within, watched(MARGINS, heard), epsilon=50.0, seed=0, unproven=True)
    found = scores.features(made, heard, pair)
    assert found["rows"] == made.table.rows
    assert found["somebody like the canary in town"] == float("lone" in made.table.strings("town"))
    assert any(name.startswith("model.arrays.town[") for name in found)
    assert any(name.startswith("card.") for name in found)
    assert all(np.isfinite(list(found.values())))
    outside = scores.features(made, heard, pair, inside=False)
    assert not any(name.startswith(("model", "card")) or name == scores.TRANSCRIPT for name in outside)
    assert scores.refused(InputError("x"))[scores.REFUSED] == 1.0


@dataclass(frozen=True, kw_only=True)
class Copies(Core):
    """Hands out the rows as they are, and says that this is private."""

    fails: bool = False
    """Whether it refuses where the lone category is there."""

    def plan(self, schema, budget):
        return Plan(schema=schema, events=(Raw("copies"),), effect=Effect.GENERATE)

    def fit(self, vault, rng):
        from hushtable.anonymize.anonymized import Anonymized

        held = vault.open(Raw("copies"), "copies")
        if self.fails and "lone" in held.strings("town"):
            raise InputError("no")
        return Anonymized(held)


@pytest.mark.parametrize(("step", "canary"), [(Copies(), "lone"), (Copies(), "label"), (Copies(fails=True), "lone")])
def test_a_copy_and_a_refusal_that_tells_are_refuted_by_few_runs(step, canary):
    recipe = Recipe(recipe="copies", steps=(step,))
    (line,) = twoworld.audit(recipe, epsilon=1.0, canaries=[canary], runs=60, seed=0)
    assert line["refuted"]
    assert line["epsilon_lb"] == pytest.approx(line["ceiling"])
    assert line["source"].startswith("nobody")
    assert bool(line["unreleased"]) is step.fails


def test_one_run_refutes_a_copy_and_finds_nothing_where_nothing_is():
    copy = onerun.one_run(Recipe(recipe="copies", steps=(Copies(),)), epsilon=1.0, canaries=200, repeats=1, seed=0)
    assert copy["refuted"]
    assert copy["right"] == copy["guesses"]
    fair = onerun.one_run(MARGINS, epsilon=1.0, canaries=200, repeats=1, seed=0)
    assert not fair["refuted"]
    with pytest.raises(InputError, match="at least 40"):
        onerun.one_run(MARGINS, epsilon=1.0, canaries=10)
    with pytest.raises(InputError, match="holds 1000 different"):
        onerun.planted(2000, np.random.default_rng(0))


def test_a_canary_that_the_recipe_refuses_is_not_tested_and_says_why():
    lines = twoworld.audit(load("beta-k-eps-certified"), epsilon=2.0, canaries=["person", "tie"], runs=4, seed=0)
    assert lines[0]["verdict"] == "not tested"
    assert lines[0]["why"]
    assert lines[1]["relation"] == "replace_one"
    assert relation_of(load("beta-k-eps-certified")) is Relation.REPLACE_ONE


def test_runs_follow_from_the_time_of_one():
    assert [twoworld.budgeted(seconds) for seconds in (1e-9, 0.015, 0.1, 5.0)] == [2000, 2000, 300, 60]


def test_no_runs_that_differ_are_no_evidence():
    assert judge([{}] * 40, [{}] * 40, delta=0.0, tail=0.025, also="rho")["epsilon_lb"] == 0.0


def test_the_report_is_plain_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    told = {"epsilon": 2.0, "canaries": ["crowd"], "runs": 8, "seed": 0, "folder": tmp_path / "out"}
    first = audit_mechanism(MARGINS, **told)
    assert json.loads((tmp_path / "out" / "mechanism.json").read_text()) == first.to_json()
    assert not first.refuted
    assert first.told["label"] == "not refuted"
    page = (tmp_path / "out" / "mechanism.html").read_text()
    assert "not refuted (at least" in page
    assert "<script" not in page
    monkeypatch.setattr(twoworld._Audited, "line", lambda self: pytest.fail("was done already"))
    assert audit_mechanism(MARGINS, **told).to_json() == first.to_json()
    with pytest.raises(InputError, match="other rows, audits or settings"):
        audit_mechanism(MARGINS, **told | {"runs": 10})


def test_a_seed_gives_the_same_report_but_for_the_time():
    one, two = (twoworld.audit(MARGINS, epsilon=2.0, canaries=["tie"], runs=8, seed=3)[0] for _ in range(2))
    assert {k: v for k, v in one.items() if "seconds" not in k} == {k: v for k, v in two.items() if "seconds" not in k}


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({}, "give one"),
        ({"epsilon": 1.0, "relation": "friends"}, "add_remove or replace_one"),
        ({"epsilon": 1.0, "canaries": ["bird"]}, "no canary bird"),
        ({"epsilon": 1.0, "runs": 2}, "at least 4"),
        ({"epsilon": 1.0, "seed": -1}, "not negative"),
        ({"epsilon": 1.0, "relation": "replace_one", "one_run": True}, "add_remove"),
    ],
)
def test_bad_input_is_refused(wrong, match):
    with pytest.raises(InputError, match=match):
        audit_mechanism(MARGINS, **wrong)


def test_the_recipes_that_are_said_to_be_proven_are_found_by_themselves():
    found = proven_recipes()
    assert {"independent", "frechet", "sample-independent"} <= set(found)
    assert not {"beta-k-eps", "mdav", "noise"} & set(found)


def test_rows_of_a_table_are_as_given():
    assert table([(3, "b", "no")]).strings("town").tolist() == ["b"]
