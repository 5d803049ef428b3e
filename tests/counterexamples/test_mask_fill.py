"""Filling masks of private sentences hands out the words that were not masked; filling from masks alone does not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hushtable as ht
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.language_models import sentence, sentences
from tests.unit.language.test_votes import fast

pytestmark = pytest.mark.neural
CANARY = "the kitchen ticket the kitchen ticket the kitchen ticket"
"""Words of the vocabulary in an order that no public sentence has."""


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    path = tmp_path_factory.mktemp("public") / "public.txt"
    path.write_text("\n".join(sentences(100)), encoding="utf-8")
    return str(path)


def notes(rows=60):
    rng = np.random.default_rng(0)
    schema = Schema.parse("columns: {mood: {kind: category, domain: [good, bad], role: target}, note: {kind: text}}")
    mood = rng.integers(2, size=rows)
    texts = [f"{CANARY} {row}" if row < 10 else sentence(rng, good=not mood[row]) for row in range(rows)]
    return Table(schema.select(["mood"]), {"mood": mood.astype(np.int32)}).with_text(schema["note"], texts)


def canaries(table, words="kitchen ticket"):
    return sum(words in str(text) for text in table.strings("note"))


def test_unmasked_words_of_a_private_sentence_return_from_the_published_form(public, installed_models):
    knobs = {"public": public, "warm": 5, "length": 16}
    released = ht.release(notes(), "mask-fill-published", settings=knobs, seed=1, allow_copies="nobody exists")
    assert released.guarantee.assurance == "claimed"
    assert math.isinf(released.guarantee.epsilon())
    assert "verbatim" in " ".join(gap for claim in released.guarantee.claims for gap in claim.gaps)
    assert canaries(released.table) >= 5
    assert canaries(released.table, "kitchen ticket the kitchen") >= 1


def test_they_never_return_from_the_certified_form(public, installed_models):
    knobs = {"public": public, "warm": 5, "length": 16, "steps": 2, "mask-fill.rounds": 4}
    released = ht.release(notes(), fast("mask-fill"), epsilon=1.0, delta=1e-6, settings=knobs, seed=1)
    assert released.guarantee.assurance == "proven"
    # Two words may stand beside one another by chance, four in this order do not.
    assert canaries(released.table, "kitchen ticket the kitchen") == 0
