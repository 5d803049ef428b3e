"""Noisy counts of words: what one row changes, and texts that follow them."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import PlanError
from hushtable.language.cells import Cells
from hushtable.language.models import Sort, checkpoint
from hushtable.language.words import CERTAIN, LONG, UNIT, WordChances, WordCounts
from hushtable.privacy.unit import Relation
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.language_models import BAD, GOOD, sentence, tiny_causal

pytestmark = pytest.mark.neural
SCHEMA = Schema.parse("columns: {mood: {kind: category, domain: [good, bad], role: target}, note: {kind: text}}")
MOODS = Cells((SCHEMA["mood"],))


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    from hushtable.language.nets import Language

    folder = tiny_causal(tmp_path_factory.mktemp("models") / "tiny")
    return Language.load(checkpoint(str(folder), Sort.CAUSAL, "test"))


@pytest.fixture(scope="module")
def vocabulary(language):
    return language.vocabulary


def notes(texts, moods=None):
    mood = np.zeros(len(texts), np.int32) if moods is None else np.array(moods, np.int32)
    return Table(SCHEMA.select(["mood"]), {"mood": mood}).with_text(SCHEMA["note"], texts)


def awkward(rng):
    return [sentence(rng), " ".join([*GOOD, *BAD] * 30), "", " ", "good", "GOOD Good good", "🙂", "患者", "0123456789", None]


def test_a_row_changes_the_counts_by_no_more_than_is_paid_for(vocabulary):
    query = WordCounts("note", MOODS, vocabulary)
    l1, l2, ones = query.sensitivity(SCHEMA, Relation.ADD_REMOVE)
    texts = awkward(np.random.default_rng(0))
    everybody = query.answer(notes(texts))
    changes = [everybody - query.answer(notes(texts[:row] + texts[row + 1 :])) for row in range(len(texts))]
    assert max(np.linalg.norm(change) for change in changes) <= l2 == UNIT
    assert max(np.abs(change).sum() for change in changes) <= l1
    assert ones == 0
    # A count of one for every word would be longer than what is paid for: the bound is one of these weights.
    assert max(np.count_nonzero(change) for change in changes) > 1
    assert max(np.linalg.norm(UNIT * (change != 0)) for change in changes) > l2


def test_levels_are_counted_apart_and_missing_texts_not_at_all(vocabulary):
    query = WordCounts("note", MOODS, vocabulary)
    one, two = vocabulary.names[:2]
    counts = query.answer(notes([one, two, None], [0, 1, 1])).reshape(-1, len(vocabulary.names))
    assert counts.sum(axis=1).tolist() == [UNIT, UNIT, 0]
    assert not (counts[0] * counts[1]).any()
    together = WordCounts("note", Cells(()), vocabulary).answer(notes([one, f"{one.upper()} "], [0, 1]))
    assert together.max() == 2 * UNIT


def test_words_are_whole_ones_and_each_is_counted_once(vocabulary):
    name = max(vocabulary.names, key=len)
    (found,) = vocabulary.present([f"{name}, {name.upper()}! {name}{name} {name}7"])
    assert [vocabulary.names[word] for word in found] == [name]
    assert all(len(own) <= LONG for own in vocabulary.present(text or "" for text in awkward(np.random.default_rng(1))))


def noisy_counts(rng, deviation, rows=4000, words=2000, known=40):
    """Two levels; the first words have chances of their own in each, the others stand in no text."""
    chances = np.zeros((2, words))
    chances[:, :known] = rng.uniform(0.02, 0.3, (2, known))
    counts = np.zeros((2, words))
    for level in (0, 1):
        present = rng.random((rows, words)) < chances[level]
        counts[level] = (present / np.sqrt(np.maximum(present.sum(1), 1))[:, None]).sum(0)
    return chances, counts + rng.normal(0, deviation, counts.shape)


def test_words_that_stand_out_of_the_noise_are_followed_at_their_own_chances():
    texts, false = np.array([4000, 4000]), []
    for seed in range(5):
        chances, counts = noisy_counts(np.random.default_rng(seed), 3.0)
        found = WordChances.of(counts, texts, 3.0)
        assert set(range(40)) <= set(found.words.tolist())
        np.testing.assert_allclose(found.chances[:, :40], chances[:, :40], atol=0.06)
        assert found.chances.max() <= CERTAIN
        false.append(len(found.words) - 40)
    # A tenth of the 80 counts and of those beside them; a bound of two deviations would let ninety through.
    assert 3 < np.mean(false) < 15
    nothing = [len(WordChances.of(np.random.default_rng(seed).normal(0, 3.0, (2, 2000)), texts, 3.0).words) for seed in range(20)]
    assert np.mean(np.array(nothing) > 0) <= 0.3


def test_words_that_the_model_writes_anyway_are_left_to_it():
    rng, texts = np.random.default_rng(0), np.array([4000, 4000])
    # Usual and the same in both cells; usual, but of one cell; unusual; and the first again, which the model hardly writes.
    chances = np.array([[0.3, 0.3, 0.3, 0.3], [0.3, 0.1, 0.3, 0.3]])
    present = [rng.random((4000, 4)) < own for own in chances]
    counts = np.stack([(own / np.sqrt(np.maximum(own.sum(1), 1))[:, None]).sum(0) for own in present])
    counts = np.pad(counts, ((0, 0), (0, 500))) + rng.normal(0, 3.0, (2, 504))
    usual = np.array([0.3, 0.3, 0.05, 0.001, *[0.001] * 500])
    assert {1, 2, 3} <= set(WordChances.of(counts, texts, 3.0, usual).words.tolist()) & set(range(4))
    assert 0 not in WordChances.of(counts, texts, 3.0, usual).words
    assert 0 in WordChances.of(counts, texts, 3.0).words


def test_words_are_counted_by_the_target_or_by_the_first_labels_that_have_few_values():
    levels = {"ward": ["a", "b", "c"], "unit": [f"u{i}" for i in range(30)], "sex": ["f", "m"], "note.topic": ["t1", "t2"]}
    columns = ", ".join(f"{name}: {{kind: category, domain: [{', '.join(own)}]}}" for name, own in levels.items())
    schema = Schema.parse(f"columns: {{{columns}, note: {{kind: text}}}}")
    assert Cells.of_labels(schema, (), "step", 24).names == ("ward", "sex")
    assert Cells.of_labels(SCHEMA, (), "step", 24).names == ("mood",)
    assert Cells.of_labels(schema, ("unit",), "step", 50).names == ("unit",)
    with pytest.raises(PlanError, match="name fewer columns"):
        Cells.of_labels(schema, ("unit",), "step", 24)
    assert Cells.of_labels(schema.select(["note"]), (), "step", 24).number == 1


def test_words_are_drawn_by_the_chances_of_the_level():
    chances = WordChances(np.array([3, 7]), np.array([[0.9, 0.1], [0.0, 0.5]]))
    drawn = chances.drawn(np.repeat([0, 1], 1000), 5, np.random.default_rng(0))
    shares = [[np.mean([word in own for own in part]) for word in (3, 7)] for part in (drawn[:1000], drawn[1000:])]
    np.testing.assert_allclose(shares, chances.chances, atol=0.05)
    assert max(map(len, chances.drawn(np.zeros(100, np.int64), 1, np.random.default_rng(0)))) == 1


def test_a_text_holds_the_words_that_it_is_given(language, vocabulary):
    from hushtable.language.write import Asked, Writer

    word = vocabulary.numbers["good"]
    given = [np.array([word] if row % 2 else [], np.int64) for row in range(60)]
    asked = Asked.of(vocabulary, np.array([word]), given, 10)
    texts = [own.text for own in Writer(language=language, nucleus=1.0).write(["the"] * 60, np.random.default_rng(0), 10, asked)]
    without, holding = (np.mean(["good" in text for text in texts[start::2]]) for start in (0, 1))
    assert holding > 0.8
    assert without < holding - 0.3
