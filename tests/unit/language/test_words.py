"""Noisy counts of words: what one row changes, and texts that follow them."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.language.models import Sort, checkpoint
from hushtable.language.words import LONG, MOST, UNIT, WordCounts, tilted
from hushtable.privacy.unit import Relation
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.language_models import BAD, GOOD, sentence, tiny_causal

pytestmark = pytest.mark.neural
SCHEMA = Schema.parse("columns: {mood: {kind: category, domain: [good, bad], role: target}, note: {kind: text}}")


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


def test_a_row_changes_the_counts_by_no_more_than_is_paid_for(language, vocabulary):
    query = WordCounts("note", "mood", language)
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


def test_levels_are_counted_apart_and_missing_texts_not_at_all(language, vocabulary):
    query = WordCounts("note", "mood", language)
    one, two = (language.text([int(np.flatnonzero(vocabulary.words == word)[0])]) for word in (0, 1))
    counts = query.answer(notes([one, two, None], [0, 1, 1])).reshape(-1, vocabulary.count)
    assert counts.sum(axis=1).tolist() == [UNIT, UNIT, 0]
    assert not (counts[0] * counts[1]).any()
    together = WordCounts("note", "", language).answer(notes([one, f"{one} "], [0, 1]))
    assert together.max() == 2 * UNIT


def test_frequencies_of_texts_are_counted_like_those_of_rows(language, vocabulary):
    texts = [text for text in awkward(np.random.default_rng(1)) if text is not None]
    counts = WordCounts("note", "", language).answer(notes(texts))
    np.testing.assert_allclose(vocabulary.frequencies(language, texts), counts / UNIT / len(texts))
    assert all(len(own) <= LONG for own in vocabulary.present(language, texts))


def test_only_what_is_sure_is_followed():
    wanted, own = np.array([[0.5, 0.02, 0.0, 0.3]]), np.array([[0.1, 0.01, 0.2, 0.3]])
    tilt = tilted(wanted, own, np.array([0.01]), 1000, np.zeros((1, 4)))
    assert tilt[0, 0] > 1
    assert tilt[0, 1] == tilt[0, 3] == 0
    assert tilt[0, 2] < -1
    assert np.abs(tilted(wanted, own, np.array([1e-9]), 1000, np.full((1, 4), 19.0))).max() <= MOST
    assert not tilted(wanted, own, np.array([1.0]), 1000, np.zeros((1, 4))).any()


def test_a_tilted_word_is_written_more_often_by_texts_of_its_level(language, vocabulary):
    import torch

    from hushtable.language.write import Tilts, Writer

    (token,) = language.tokens([" good"])[0]
    tilt = np.zeros((2, vocabulary.count))
    tilt[1, vocabulary.words[token]] = MOST
    levels = np.repeat([0, 1], 60)
    tilts = Tilts.of(torch.from_numpy(vocabulary.words), torch.from_numpy(tilt).float(), torch.from_numpy(levels))
    texts = [own.text for own in Writer(language=language, nucleus=1.0).write(["the"] * 120, np.random.default_rng(0), 10, tilts)]
    first, second = (sum("good" in text for text in part) for part in (texts[:60], texts[60:]))
    assert second > first + 10
    assert max(text.count("good") for text in texts) <= 3
