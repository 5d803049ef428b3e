"""Models that learn from a release: their scores equal scikit-learn's, and what cannot be learnt is told with its reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.measures.downstream import TrainOnRelease, fitted
from hushtable.measures.downstream_models import Rows, Shape, predictions
from hushtable.measures.prediction_scores import area_score, predicted, r2_score, scores_of
from hushtable.table.columns import Column, Kind, Levels, Role

QUICK = TrainOnRelease(models=("boosting",), seeds=0, bootstrap=20)


@pytest.fixture
def case() -> Case:
    return Case(example(300, 1), example(250, 2), example(200, 3))


def test_area_equals_the_share_of_ordered_pairs():
    rng = np.random.default_rng(0)
    score, positive = rng.integers(0, 8, 60).astype(float), rng.random(60) < 0.4
    pairs = [(a > b) + 0.5 * (a == b) for a in score[positive] for b in score[~positive]]
    area = area_score(positive.astype(float), {0.0: -score, 1.0: score})
    assert area(np.ones(60)) == pytest.approx(np.mean(pairs))


def test_r2_of_the_mean_is_zero():
    truth = np.arange(10.0)
    assert r2_score(truth, np.full(10, truth.mean()))(np.ones(10)) == pytest.approx(0)
    assert r2_score(truth, truth)(np.ones(10)) == pytest.approx(1)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(3))
def test_scores_of_classes_equal_scikit_learn(classes, seed):
    """With ties, and for weights as for rows that are repeated so often."""
    from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

    rng = np.random.default_rng(seed)
    truth = np.append(rng.integers(0, classes, 150), np.arange(classes)).astype(float)
    shares = np.round(rng.dirichlet(np.ones(classes), len(truth)), 1) + 0.05 * (np.arange(classes) == truth[:, None])
    shares /= shares.sum(axis=1, keepdims=True)
    reported = dict(zip(np.arange(float(classes)).tolist(), shares.T, strict=True))
    scores = scores_of(truth, reported, classes=True)
    for weights in (np.ones(len(truth)), np.append(rng.integers(0, 3, 150), np.ones(classes))):
        rows = np.repeat(np.arange(len(truth)), weights.astype(int))
        own, named = truth[rows], predicted(reported)[rows]
        kwargs = {} if classes == 2 else {"multi_class": "ovr", "average": "weighted"}
        area = roc_auc_score(own, shares[rows, 1] if classes == 2 else shares[rows], **kwargs)
        assert scores["AUC"](weights.astype(float)) == pytest.approx(area, abs=1e-12)
        assert scores["accuracy"](weights.astype(float)) == pytest.approx(accuracy_score(own, named))
        assert scores["F1"](weights.astype(float)) == pytest.approx(f1_score(own, named, average="macro"))


def test_a_class_that_the_model_does_not_know_has_no_probability():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 90).astype(float)
    plain = {0.0: rng.random(90), 1.0: rng.random(90)}
    by_hand = [(np.sum(truth == c), roc_auc_score(truth == c, plain.get(c, np.zeros(90)))) for c in (0.0, 1.0, 2.0)]
    assert by_hand[2][1] == 0.5
    assert area_score(truth, plain)(np.ones(90)) == pytest.approx(sum(n * a for n, a in by_hand) / 90)
    assert area_score(truth, plain)((truth == 1).astype(float)) == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_numbers_equal_scikit_learn(seed):
    from sklearn.metrics import mean_squared_error, r2_score

    rng = np.random.default_rng(seed)
    truth, weights = rng.normal(100, 3, 80), rng.integers(0, 3, 80).astype(float)
    predicted = truth + rng.normal(1, 2, 80)
    scores = scores_of(truth, {np.nan: predicted}, classes=False)
    assert scores["R2"](weights) == pytest.approx(r2_score(truth, predicted, sample_weight=weights))
    assert scores["RMSE"](weights) == pytest.approx(np.sqrt(mean_squared_error(truth, predicted, sample_weight=weights)))


def test_naive_bayes_equals_scikit_learn():
    from sklearn.naive_bayes import CategoricalNB

    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, (200, 3)).astype(float)
    y = (rng.random(200) < 0.2 + 0.15 * x[:, 0]).astype(float)
    test = rng.integers(0, 4, (50, 3)).astype(float)
    # Two bins more than there are levels: one for missing values, one for levels that are new.
    theirs = CategoricalNB(min_categories=6).fit(x, y).predict_proba(test)
    ours = predictions("bayes", Rows(x, y), test, Shape(classes=True, categories=(True,) * 3))
    assert np.stack([ours[0.0], ours[1.0]], axis=1) == pytest.approx(theirs, abs=1e-12)


def test_the_first_model_is_scikit_learns_boosting_of_all_rows(case):
    from sklearn.ensemble import HistGradientBoostingClassifier

    task = fitted(case, "sick").task
    for side in ("release", "train"):
        rows = task.rows[side]
        model = HistGradientBoostingClassifier(
            categorical_features=list(task.shape.categories), random_state=0, max_iter=150, early_stopping=False
        )
        theirs = model.fit(rows.x, rows.y).predict_proba(task.test)
        assert np.array_equal(np.stack(list(fitted(case, "sick").predictions[side].values()), axis=1), theirs)


def test_a_shuffled_target_costs_the_model_its_accuracy():
    from hushtable.data.people import people

    table = people(1800, seed=1)
    train, control = table.take(np.arange(1000)), table.take(np.arange(1000, 1800))
    names = [n for n in table.schema.released if n != "postcode"]
    train, control = train.select(names), control.select(names)
    order = np.random.default_rng(0).permutation(1000)
    broken = train.with_column(train.schema["readmitted"], train["readmitted"][order])
    audit = TrainOnRelease(bootstrap=20, models=("linear", "bayes"), seeds=0)
    good, bad = (audit.run(Case(train, r, control), np.random.default_rng(0)) for r in (train, broken))
    assert good[0].value == pytest.approx(good[0].baseline)
    assert good[0].value > 0.7
    for one, other in zip(good, bad, strict=True):
        assert one.low <= one.value <= one.high
        assert other.low <= other.value <= other.high
        if other.name.endswith("AUC"):
            assert other.value < 0.6 < one.value
            assert other.detail["loss"] == pytest.approx(other.baseline - other.value)
            assert other.detail["loss_high"] > other.detail["loss"] > other.detail["loss_low"]


@pytest.mark.parametrize(("target", "change", "told"), [("sick", 0, "the same value"), ("pay", None, "have a value")])
def test_a_target_that_cannot_be_learnt_is_a_finding_with_a_reason(case, target, change, told):
    column = case.release.schema[target]
    values = np.full(case.release.rows, change if change is not None else np.iinfo(np.int64).min).astype(case.release[target].dtype)
    broken = Case(case.train, case.release.with_column(column, values), case.control)
    (finding,) = replace(QUICK, target=target).run(broken, np.random.default_rng(0))
    assert finding.value is None
    assert told in finding.note


def test_rare_classes_of_a_long_code_are_learnt_as_one():
    rng = np.random.default_rng(0)
    levels = tuple(f"d{i}" for i in range(300))
    code = Column(name="code", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(levels))
    parts = []
    for _ in range(3):
        table = example(600, int(rng.integers(1000)))
        parts.append(table.with_column(code, np.minimum(rng.geometric(0.1, 600), 299).astype(np.int32)))
    for finding in TrainOnRelease(target="code", bootstrap=5, seeds=0, models=("linear", "tree", "bayes")).run(Case(*parts), rng):
        assert "beyond the 19 commonest count as one" in finding.note
        if finding.name.endswith("AUC"):
            assert finding.value == pytest.approx(0.5, abs=0.1)
