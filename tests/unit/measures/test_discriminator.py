"""Telling released rows from real ones: no better than guessing on an independent sample, and never by heart."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.verdict.finding import AS_REAL, CLOSER_THAN_FRESH, LIKE_COPIES, surely_worse, verdict
from hushtable.measures import discriminator as module
from hushtable.measures.discriminator import Discriminator, auc, folds
from tests.unit.measures.clouds import bound, findings_of, levels, numbers, odd_cases, ordinary, shuffled

AUC, ERROR = "real or released: AUC", "propensity error"


def cloud(n: int, seed: int, width: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, width))


def test_an_independent_sample_cannot_be_told():
    findings = findings_of(Discriminator(), ordinary(example(600, 3), 600))
    assert findings[AUC].value < 0.56
    assert findings[AUC].low < 0.5 < findings[AUC].high
    assert verdict(findings[AUC]) is AS_REAL
    assert findings[ERROR].value == pytest.approx(findings[ERROR].baseline, rel=0.5)
    assert "no single column" in findings[AUC].note


def test_broken_pairs_are_told_and_the_columns_named():
    train, release, control = (bound(example(600, seed)) for seed in (1, 3, 2))
    findings = findings_of(Discriminator(), Case(train, shuffled(release), control))
    finding = findings[AUC]
    assert finding.low > 0.75
    assert finding.baseline < 0.56
    assert findings[ERROR].low > 2 * findings[ERROR].baseline
    assert set(finding.detail["columns"][:2]) == {"age", "pay"}
    assert finding.detail["importance"] == sorted(finding.detail["importance"], reverse=True)
    assert "age" in finding.note
    assert "pay" in finding.note


def test_a_level_that_no_real_row_has_gives_the_release_away():
    rng = np.random.default_rng(0)
    tables = [levels("a", rng.integers(0, k, 300).tolist(), ("x", "y", "z")) for k in (2, 3, 2)]
    findings = findings_of(Discriminator(), Case(*tables))
    assert findings[AUC].low > 0.6
    assert findings[AUC].note.endswith("the columns that distinguish them most: a")


def test_copies_are_not_told_apart_and_do_not_fool_the_model(monkeypatch):
    train = cloud(200, 0)
    case = Case(numbers(train), numbers(train[::-1]), numbers(cloud(200, 1)))
    assert findings_of(Discriminator(), case)[AUC].value < 0.55
    assert findings_of(Discriminator(), case)[AUC].value == pytest.approx(0.5, abs=0.03)
    # Without the rule the twin of a row is seen under the opposite label, and the model is worse than guessing.
    monkeypatch.setattr(module, "folds", lambda x, count, rng: rng.permutation(len(x)) % count)
    assert findings_of(Discriminator(), case)[AUC].value < 0.45


def test_near_copies_are_not_called_better_than_real_rows():
    train = cloud(1500, 0, 2)
    near = train + 1e-3 * cloud(1500, 1, 2)
    finding = findings_of(Discriminator(), Case(numbers(train), numbers(near), numbers(cloud(1500, 2, 2))))[AUC]
    assert finding.high < 0.5 < finding.baseline + 0.05
    assert "closer to the rows they were made from than fresh rows" in finding.note
    assert surely_worse(finding)
    assert verdict(finding) in (CLOSER_THAN_FRESH, LIKE_COPIES)
    fresh = findings_of(Discriminator(), Case(numbers(train), numbers(cloud(1500, 3, 2)), numbers(cloud(1500, 2, 2))))[AUC]
    assert not surely_worse(fresh)
    assert "closer" not in fresh.note


def test_equal_rows_share_a_fold_unless_they_are_common():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.repeat(cloud(50, 0), 4, axis=0), np.zeros((60, 3))])
    fold = folds(x, 2, rng)
    assert all(len(set(fold[at : at + 4])) == 1 for at in range(0, 200, 4))
    assert set(fold[200:]) == {0, 1}
    assert 60 < (fold[:200] == 0).sum() < 140


def test_models_of_different_folds_are_not_compared():
    rng = np.random.default_rng(0)
    positive, fold = rng.random(400) < 0.5, np.arange(400) % 2
    score = rng.normal(positive)
    one, other = (auc(score[fold == f], positive[fold == f]) for f in (0, 1))
    moved = auc(score + 10 * fold, positive, fold)
    assert moved.value == pytest.approx((one.value + other.value) / 2)
    assert moved.high - moved.value == pytest.approx(np.hypot(one.high - one.value, other.high - other.value) / 2)
    assert moved.value - moved.low == pytest.approx(np.hypot(one.value - one.low, other.value - other.low) / 2)
    assert auc(score, positive, np.where(positive, 0, 1)).value == 0.5


@pytest.mark.parametrize("fold", [None, np.arange(30) % 2])
def test_perfect_separation_is_no_certainty(fold):
    positive = np.arange(30) < 15
    findings_of = auc(positive + np.arange(30) / 100, positive, fold)
    assert findings_of.value == findings_of.high == 1
    assert 0.5 < findings_of.low < 0.9


def test_few_rows_learn_nothing_and_say_so():
    findings = findings_of(Discriminator(), odd_cases()["two rows each"])
    assert all(f.value is None and "at least 20 rows" in f.note and "release has 2" in f.note for f in findings.values())
    few = findings_of(Discriminator(), odd_cases()["two rows of control"])
    assert few[AUC].value is not None
    assert few[AUC].baseline is None
    assert "the control has only 2 rows" in few[AUC].note


@pytest.mark.parametrize("name", odd_cases())
def test_odd_tables_have_numbers_in_range(name):
    for finding in findings_of(Discriminator(), odd_cases()[name]).values():
        assert finding.value is None or finding.span[0] <= finding.low <= finding.value <= finding.high <= finding.span[1]


def test_rows_of_one_kind_only_cannot_be_told():
    same = [numbers(np.repeat(row[None], 40, axis=0)) for row in cloud(3, 5)]
    findings = findings_of(Discriminator(), Case(same[0], same[0], same[1]))
    assert findings[AUC].value == 0.5
    assert findings_of(Discriminator(), Case(same[0], same[1], same[2]))[AUC].value == 1.0


def test_big_tables_are_sampled():
    findings = findings_of(Discriminator(most=50), ordinary(example(300, 3)))
    assert findings[AUC].n == 50


@pytest.mark.parametrize("knobs", [{"most": 5}, {"folds": 1}, {"rounds": 0}])
def test_wrong_knobs_are_refused(knobs):
    with pytest.raises(InputError):
        Discriminator(**knobs)


def test_errors_are_compared_at_as_many_rows():
    """A model of few rows believes more by chance: with a small control fresh rows would look worse, or better, by that alone."""
    case = Case(*(numbers(cloud(n, seed)) for n, seed in ((600, 0), (600, 1), (60, 2))))
    findings = findings_of(Discriminator(), case)
    assert findings[AUC].n == 600
    assert findings[ERROR].n == 60
