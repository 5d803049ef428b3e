"""Canaries in texts: a generator that remembers is found, one that does not is not, and exposure is what it is defined to be."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.audits.text.canaries import TextCanaries
from hushtable.audits.text.exposure import Exposure, exposure_finding, exposure_p, exposures
from hushtable.audits.text.planting import plant, vocabulary
from hushtable.evidence.case import Case
from tests.sentences import noted, notes


def copying(table, seed):
    """Releases half of the rows as they are, and fresh ones."""
    keep = np.random.default_rng(seed).permutation(table.rows)[: table.rows // 2]
    fresh = notes(table.rows, 10_000 + seed % 1000)
    texts = [*table.strings("note")[keep], *fresh.strings("note")[len(keep) :]]
    return noted(texts, fresh.strings("label"), fresh.strings("branch"))


def blind(table, seed):
    """Reads nothing."""
    return notes(table.rows, 20_000 + seed % 1000)


def case_of(generator, rows=400) -> Case:
    return Case(notes(rows, 0), notes(rows, 1), notes(rows, 2), generator)


@pytest.mark.parametrize("seed", range(3))
def test_a_generator_that_copies_texts_is_found(seed):
    (canary,) = TextCanaries(canaries=40).run(case_of(copying), np.random.default_rng(seed))
    # Half of the canaries are copied and half of the others win by chance.
    assert canary.p < 0.001
    assert canary.detail["hits"] > 1.5 * canary.detail["control_hits"]
    (exposed,) = Exposure(canaries=40, ends=64).run(case_of(copying), np.random.default_rng(seed))
    assert exposed.p < 1e-6
    assert exposed.value > 2.5
    assert exposed.low <= exposed.value <= exposed.high <= 6


def test_a_generator_that_reads_nothing_is_found_as_rarely_as_stated():
    case = case_of(blind, rows=200)
    ps = [
        [
            audit.run(case, np.random.default_rng(seed))[0].p
            for audit in (TextCanaries(canaries=20, trainings=1), Exposure(canaries=20, ends=32))
        ]
        for seed in range(40)
    ]
    assert (np.array(ps) <= 0.05).sum(axis=0).max() <= 6


def test_exposure_is_the_logarithm_of_the_rank():
    scores = np.array([[3.0, 1, 2, 0], [0.0, 1, 2, 3], [1.0, 1, 0, 0]])
    assert exposures(scores).tolist() == [2.0, 0.0, 1.0]
    rng = np.random.default_rng(0)
    by_chance = exposures(rng.random((4000, 256)))
    assert by_chance.mean() == pytest.approx(1.44, abs=0.1)
    ps = [exposure_p(exposures(rng.random((10, 64)))) for _ in range(1000)]
    assert 0.02 < np.mean(np.array(ps) <= 0.05) < 0.07
    assert exposure_p(np.full(10, 8.0)) < 1e-6
    assert exposure_p(np.empty(0)) == 1.0


def test_any_scorer_may_rank_the_ends():
    table = notes(100, 0)
    case = case_of(None, rows=100)
    changed, planted = plant(table, "note", 16, 10, (4, 6), vocabulary(case, "note"), np.random.default_rng(0))
    inside = set(changed.strings("note"))
    assert sum(texts[0] in inside for texts in planted.texts) == 10
    assert not any(text in inside for texts in planted.texts for text in texts[1:])
    perfect = exposure_finding(planted, lambda texts, rows: np.array([float(text in inside) for text in texts]), "note")
    assert perfect.value == 4.0
    assert perfect.p < 1e-4
    none = exposure_finding(planted, lambda texts, rows: np.zeros(len(texts)), "note")
    assert (none.value, none.p) == (0.0, 1.0)
    assert planted.rows.rows == 10


@pytest.mark.parametrize("audit", [TextCanaries(canaries=5, trainings=1), Exposure(canaries=5, ends=4)])
def test_what_cannot_be_planted_says_why(audit):
    assert "recipe" in audit.run(case_of(None, rows=40), np.random.default_rng(0))[0].note
    bare = Case(*(notes(40, part).select(["label", "branch"]) for part in range(3)), blind)
    assert "free text" in audit.run(bare, np.random.default_rng(0))[0].note
    dropping = case_of(lambda table, seed: table.select(["label", "branch"]), rows=40)
    assert "has no note" in audit.run(dropping, np.random.default_rng(0))[0].note
    few = Case(noted(["ok", None, ""] * 9), noted(["no"] * 9), noted(["ok"] * 9, "bad"), blind)
    assert "different words" in audit.run(few, np.random.default_rng(0))[0].note
