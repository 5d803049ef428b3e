"""How often copied texts are found, how often an independent sample is suspected, and that both could come out otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from hushtable.audits.text.verbatim import VerbatimTexts
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.verdict import alarms
from tests.sentences import noted, notes, rewritten

ROWS, COPIES, RUNS = 1000, 20, 15


def suspected(train, release, control, seed: int) -> bool:
    return bool(alarms(harness.run(Case(train, release, control), {"text-verbatim": VerbatimTexts()}, seed)))


def sides(seed: int):
    return tuple(notes(ROWS, 70_000 + 3 * seed + part) for part in range(3))


def planted(train, fresh, seed: int, change=lambda text, rng: text):
    """A fiftieth of the texts replaced by texts of training rows, at places drawn by lot."""
    rng = np.random.default_rng(seed)
    places, rows = (rng.permutation(ROWS)[:COPIES].tolist() for _ in range(2))
    texts = train.strings("note")
    return rewritten(fresh, {place: change(texts[row], rng) for place, row in zip(places, rows, strict=True)})


def shuffled(text: str, rng: np.random.Generator) -> str:
    return " ".join(rng.permutation(text.split()))


def disordered(table):
    """The same texts with their words in another order: a control of another kind than the training rows."""
    rng = np.random.default_rng(0)
    return noted([shuffled(text, rng) for text in table.strings("note")], table.strings("label"), table.strings("branch"))


@pytest.mark.slow
def test_a_fiftieth_of_copied_texts_is_found_in_every_run():
    for seed in range(RUNS):
        train, control, fresh = sides(seed)
        assert suspected(train, planted(train, fresh, seed), control, seed)


@pytest.mark.slow
def test_the_same_words_in_another_order_are_no_copy():
    drawn = [sides(seed) for seed in range(10)]
    found = sum(suspected(t, planted(t, f, seed, shuffled), c, seed) for seed, (t, c, f) in enumerate(drawn))
    assert found <= binom.ppf(0.99, 10, 0.05)


@pytest.mark.slow
def test_an_independent_sample_is_suspected_as_rarely_as_stated():
    drawn = [sides(seed) for seed in range(RUNS)]
    assert sum(suspected(t, f, c, seed) for seed, (t, c, f) in enumerate(drawn)) <= binom.ppf(0.99, RUNS, 0.05)


@pytest.mark.slow
def test_a_control_of_another_kind_would_have_every_sample_suspected():
    for seed in range(3):
        train, control, fresh = sides(seed)
        assert suspected(train, fresh, disordered(control), seed)
