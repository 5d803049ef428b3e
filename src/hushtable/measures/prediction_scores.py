"""How well predictions fit the truth: AUC, accuracy and macro F1 of classes, R2 and RMSE of numbers, for any weights of the rows.

Weights make resamples cheap: what does not change with them, the order of the predictions, is found once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hushtable.table.arrays import Floats, Mask

Predictions = Mapping[float, Floats]
"""By class the probability of each row; for a number what is predicted, under the key NaN."""
Score = Callable[[Floats], float]
"""From a weight of each row to a score."""


def scores_of(truth: Floats, predictions: Predictions, *, classes: bool) -> dict[str, Score]:
    """The scores by name: AUC, accuracy and F1, or R2 and RMSE."""
    if classes:
        likeliest = predicted(predictions)
        return {
            "AUC": area_score(truth, predictions), "accuracy": accuracy_score(truth, likeliest), "F1": f1_score(truth, likeliest),
        }  # fmt: skip
    (values,) = predictions.values()
    return {"R2": r2_score(truth, values), "RMSE": rmse_score(truth, values)}


def predicted(predictions: Predictions) -> Floats:
    """The likeliest class of each row, the first of several; for a number what is predicted."""
    if len(predictions) == 1:
        ((label, values),) = predictions.items()
        return values if np.isnan(label) else np.full(len(values), label)
    labels = np.array(list(predictions))
    return np.asarray(labels[np.argmax(np.stack(list(predictions.values())), axis=0)], np.float64)


def area_score(truth: Floats, predictions: Predictions) -> Score:
    """The area under the ROC curve: one against the rest, averaged by frequency where there are more than two classes.

    A class that the model does not know has probability 0. One half if a single class is left.
    """
    classes = np.unique(truth)
    if len(classes) == 2 and set(classes.tolist()) == set(predictions):
        # One curve serves both: the probabilities of two classes add up to one.
        positive, area = truth == classes[1], _area(predictions[float(classes[1])], truth == classes[1])
        return lambda weights: area(weights) if 0 < weights[positive].sum() < weights.sum() else 0.5
    parts = [(truth == c, _area(predictions.get(c, np.zeros(len(truth))), truth == c)) for c in classes.tolist()]

    def mean(weights: Floats) -> float:
        total = float(weights.sum())
        held = [float(weights[positive].sum()) for positive, _ in parts]
        areas = [(count, area(weights)) for count, (_, area) in zip(held, parts, strict=True) if 0 < count < total]
        return sum(c * a for c, a in areas) / sum(c for c, _ in areas) if areas else 0.5

    return mean


def _area(score: Floats, positive: Mask) -> Score:
    """Mann-Whitney: the share of (positive, negative) pairs in the right order, ties half."""
    values, codes = np.unique(score, return_inverse=True)
    size = len(values)

    def area(weights: Floats) -> float:
        ups = np.bincount(codes, weights * positive, minlength=size)
        downs = np.bincount(codes, weights, minlength=size) - ups
        below = np.cumsum(downs) - downs
        pairs = float(ups.sum() * downs.sum())
        return float((ups * (below + downs / 2)).sum()) / pairs if pairs else 0.5

    return area


def accuracy_score(truth: Floats, predicted: Floats) -> Score:
    """The share of rows whose class is predicted correctly."""
    right = (truth == predicted).astype(np.float64)
    return lambda weights: float(weights @ right / weights.sum())


def f1_score(truth: Floats, predicted: Floats) -> Score:
    """F1 of each class that is there or predicted, averaged: a rare class counts as much as a common one."""
    labels, codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
    there, named, size = codes[: len(truth)], codes[len(truth) :], len(labels)
    right = (truth == predicted).astype(np.float64)

    def mean(weights: Floats) -> float:
        both = np.bincount(there, weights, minlength=size) + np.bincount(named, weights, minlength=size)
        hits = np.bincount(there, weights * right, minlength=size)
        return float(np.mean(2 * hits[both > 0] / both[both > 0]))

    return mean


def r2_score(truth: Floats, predicted: Floats) -> Score:
    """The share of the variance that is explained; 0 where there is none."""
    error = (truth - predicted) ** 2

    def explained(weights: Floats) -> float:
        middle = weights @ truth / weights.sum()
        spread = float(weights @ (truth - middle) ** 2)
        return 1 - float(weights @ error) / spread if spread else 0.0

    return explained


def rmse_score(truth: Floats, predicted: Floats) -> Score:
    """The root of the mean square of what is missed."""
    error = (truth - predicted) ** 2
    return lambda weights: float(np.sqrt(weights @ error / weights.sum()))
