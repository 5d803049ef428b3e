"""Texts by votes: one row has one vote, the price is that of the noisy counts, and no private text leaves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.encode.bins import Bins
from hushtable.errors import InputError, PlanError
from hushtable.language.cells import Cells
from hushtable.language.votes import TextVotes, Votes
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.plan import plan
from hushtable.privacy.allowance import change
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.language_models import sentence

pytestmark = pytest.mark.neural
SCHEMA = """
columns:
  mood: {kind: category, domain: [good, bad], role: target}
  age: {kind: integer, domain: [0, 9]}
  who: {kind: key, role: identifier}
  note: {kind: text}
"""
QUICK = {"text-votes.model": "smollm2", "text-votes.candidates": 4, "text-votes.length": 4}
CANARY = "zebra crossing"


def fast(name):
    """The recipe with a core that takes no time."""
    recipe = recipes.load(name)
    return replace(recipe, steps=(Bins(share=0.05), Margins(share=0.35), recipe.steps[-1]))


def desk(rows=80, seed=0):
    rng = np.random.default_rng(seed)
    schema, mood = Schema.parse(SCHEMA), rng.integers(2, size=rows)
    notes = [f"{CANARY} {sentence(rng, good=not bad)}" for bad in mood]
    notes[:6] = [None, "", "zażółć gęślą jaźń", "患者は元気です", "🙂 🙂", "word " * 5000]
    arrays = {"mood": mood.astype(np.int32), "age": rng.integers(0, 9, rows)}
    table = Table(schema.select(["mood", "age"]), arrays).with_text(schema["who"], [f"p{row // 2}" for row in range(rows)])
    return table.with_text(schema["note"], notes).select(schema.names).under(schema)


class Lookup:
    """Vectors by hand: a text is its first letter."""

    def rows(self, table, name):
        return np.array([[1.0, 0.0] if str(word).startswith("a") else [0.0, 1.0] for word in table.words(name)]).reshape(-1, 2)


def voting(texts, moods):
    schema = Schema.parse("columns: {mood: {kind: category, domain: [good, bad]}, note: {kind: text}}")
    table = Table(schema.select(["mood"]), {"mood": np.array(moods, np.int32)}).with_text(schema["note"], texts)
    cells = Cells.of(table.schema, ("mood",), "test", 10)
    return table, Votes("note", cells, np.tile(np.eye(2), (cells.number, 1, 1)), Lookup())


def test_every_row_has_one_vote_in_its_own_cell_missing_among_them():
    table, query = voting(["apple", "bee", None, "axe", "bear"], [0, 0, 0, 1, -1])
    votes = query.answer(table).reshape(3, 3)
    assert votes.tolist() == [[1, 1, 1], [1, 0, 0], [0, 1, 0]]
    for row in range(table.rows):
        less = query.answer(table.take(np.delete(np.arange(table.rows), row))).reshape(3, 3)
        assert np.abs(votes - less).sum() == 1
    assert query.sensitivity(table.schema, Relation.ADD_REMOVE) == (1.0, 1.0, 1)
    assert query.sensitivity(table.schema, Relation.REPLACE_ONE) == (2.0, math.sqrt(2), 2)
    assert change(query, table.schema, Unit(rows=3))[:2] == (3.0, 3.0)


def test_all_rounds_are_planned_as_paid_behind_the_released_table(installed_models):
    recipe = recipes.load("text-votes").set({**QUICK, "text-votes.rounds": 3})
    course = plan(recipe, desk().schema, budget=Budget(1.0, 1e-6))
    own = [entry.event for entry in course.ledger.entries if entry.step == "text-votes"]
    assert len(own) == 3
    assert all(isinstance(event, DiscreteGaussian) and event.sensitivity == 1 for event in own)
    pure = plan(recipe.set({"bins.edges": "uniform"}), desk().schema, budget=Budget(1.0, 0.0))
    own = [entry.event for entry in pure.ledger.entries if entry.step == "text-votes"]
    assert all(isinstance(event, DiscreteLaplace) for event in own)


@pytest.fixture(scope="module")
def release(models_folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HUSHTABLE_MODELS", str(models_folder))
        yield ht.release(desk(), fast("text-votes"), epsilon=2.0, delta=1e-6, settings=QUICK, seed=1)


def test_what_leaves_costs_what_was_asked_for_and_holds_no_private_word(release):
    assert release.guarantee.assurance == "proven"
    assert release.guarantee.epsilon() <= 2.0 + 1e-9
    assert release.table.schema.names == ("mood", "age", "note")
    assert not any("zebra" in str(text) for text in release.table.strings("note"))
    assert "public-model" in " ".join(release.guarantee.caveats)
    assert release.result["text-votes"]["rounds"] == 2


def test_a_saved_model_draws_under_a_condition(release, tmp_path, installed_models):
    saved = ht.save_model(release, tmp_path / "it.model")
    drawn = ht.draw(saved, 12, {"mood": "good"}, seed=1).table
    assert drawn.rows == 12
    assert set(drawn.strings("mood")) == {"good"}
    assert not any("zebra" in str(text) for text in drawn.strings("note"))


def test_the_same_seeds_give_the_same_texts(installed_models):
    from hushtable.privacy.noise import Entropy

    one, two = (
        ht.release(
            desk(), fast("text-votes"), epsilon=2.0, delta=1e-6, settings=QUICK, seed=1, entropy=Entropy.seeded(3), unproven=True
        ).table
        for _ in range(2)
    )
    assert one.frame().equals(two.frame())


def test_votes_move_the_texts_to_those_that_the_rows_are_near(installed_models):
    """With a large budget the candidate that all rows are nearest to is drawn for nearly all; no vote, no draw."""
    table = desk()
    knobs = {**QUICK, "text-votes.rounds": 1, "fresh": False, "text-votes.encoder": "minilm"}
    released = ht.release(table, fast("text-votes"), epsilon=200.0, delta=1e-6, settings=knobs, seed=1)
    model = released.fitted.model
    shares = model.candidates["note"].shares
    assert np.allclose(shares.sum(1), 1)
    assert (shares == 0).any()
    assert set(released.table.strings("note")) - {None} <= {text for own in model.candidates["note"].texts for text in own}


def test_missing_texts_are_as_frequent_as_in_the_rows_and_a_required_text_is_never_missing(installed_models):
    table = desk(200)
    holes = table.with_text(table.schema["note"], [None if row % 2 else "the lamp was warm" for row in range(200)])
    released = ht.release(holes, fast("text-votes"), epsilon=100.0, delta=1e-6, settings={**QUICK, "fresh": False}, seed=1)
    assert 0.35 < released.table.missing("note").mean() < 0.65
    required = Schema.parse(SCHEMA.replace("kind: text}", "kind: text, required: true}"))
    full = table.with_text(required["note"], ["the lamp was warm"] * 200).under(required)
    assert not ht.release(full, fast("text-votes"), epsilon=0.5, delta=1e-6, settings=QUICK, seed=1).table.missing("note").any()


def test_persons_with_several_rows_are_paid_for_as_a_whole(installed_models):
    unit = Unit(by="who", rows=2)
    released = ht.release(desk(), fast("text-votes"), epsilon=2.0, delta=1e-6, settings=QUICK, unit=unit, seed=1)
    assert released.guarantee.epsilon() <= 2.0 + 1e-9
    own = [e.event for e in released.guarantee.ledger if e.step == "text-votes" and isinstance(e.event, DiscreteGaussian)]
    assert {event.sensitivity for event in own} == {2.0}


def test_what_cannot_be_used_is_refused_by_name(installed_models):
    schema, budget = desk().schema, Budget(1.0, 1e-6)
    with pytest.raises(PlanError, match="age is no category"):
        plan(recipes.load("text-votes").set({**QUICK, "by": "age"}), schema, budget=budget)
    with pytest.raises(PlanError, match="no column 'moot'"):
        plan(recipes.load("text-votes").set({**QUICK, "by": "moot"}), schema, budget=budget)
    with pytest.raises(PlanError, match="mood is no column of free text"):
        plan(recipes.load("text-votes").set({**QUICK, "text-votes.columns": "mood"}), schema, budget=budget)
    with pytest.raises(PlanError, match="cells together"):
        plan(recipes.load("text-votes").set({**QUICK, "text-votes.candidates": 19_000}), schema, budget=budget)
    with pytest.raises(InputError, match="needs a model of language"):
        plan(recipes.load("text-votes"), schema, budget=budget)
    with pytest.raises(PlanError, match="released table"):
        plan(_alone(), schema, budget=budget)


def _alone():
    from hushtable.pipeline.recipe import Recipe

    return Recipe(recipe="alone", steps=(TextVotes(model="smollm2"),))
