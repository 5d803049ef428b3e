"""Families of models that learn a column from the others: boosting, a forest, a linear model, a tree, naive Bayes.

They are scikit-learn's (naive Bayes is counted here). Trees see levels as codes and a missing value as one more side to go to;
the linear model sees centred and scaled numbers, a missing one as their mean, and an indicator of each common level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.measures.prediction_scores import Predictions
from hushtable.numerics.fitting import fit
from hushtable.table.arrays import Floats, Integers, Mask

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

FAMILIES = {
    "boosting": ("gradient boosting", "gradient boosting"),
    "forest": ("random forest", "random forest"),
    "linear": ("logistic regression", "ridge regression"),
    "tree": ("tree", "tree"),
    "bayes": ("naive Bayes", None),
}
"""What a family is called when it predicts classes and when it predicts a number; None where it cannot."""
MOST_LEVELS = 50
"""Levels with an indicator of their own, the commonest among the rows that are learnt from."""
BINS = 20
"""Quantile bins of a number for naive Bayes."""
ITERATIONS = 1000
"""Of a logistic regression at most; the usual hundred are too few for many classes."""
LARGE = 1000
"""Coefficients up to which Newton's method is faster than its approximation."""
ROUNDS, FEWEST_ROUNDS = 150, 30
"""Of the boosting, for two classes and for many."""
STEEP = "steep boosting"
"""Beside the families: boosting as XGBoost does it when nobody sets anything, where ``boosting`` is as LightGBM."""
FARTHEST = 1e38
"""Trees compute in single precision."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to learn from: predictors as numbers, NaN where missing, levels as codes; and the column to predict."""

    x: Floats
    y: Floats

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Integers) -> Rows:
        """Some of them."""
        return Rows(self.x[rows], self.y[rows])


@dataclass(frozen=True)
class Shape:
    """What is to be predicted from what."""

    classes: bool
    """Whether the column to predict has classes; else it is a number."""
    categories: tuple[bool, ...]
    """Of each predictor whether its numbers are codes of levels."""

    def name(self, family: str) -> str | None:
        """What the family is called here; None if it cannot learn this."""
        return FAMILIES[family][0 if self.classes else 1]


def predictions(family: str, rows: Rows, test: Floats, shape: Shape, seed: int = 0) -> Predictions:
    """What a model of the family, learnt from the rows, predicts for others; the same bits for the same seed."""
    labels = np.unique(rows.y)
    if len(labels) == 1:
        return {float(labels[0]) if shape.classes else np.nan: np.full(len(test), 1.0 if shape.classes else labels[0])}
    known: Mask = np.asarray(~np.isnan(rows.x).all(axis=0))
    if not known.all():
        # A column that nobody has a value of teaches nothing, and boosting stumbles over it.
        rows, test = Rows(rows.x[:, known], rows.y), test[:, known]
        shape = Shape(shape.classes, tuple(c for c, held in zip(shape.categories, known, strict=True) if held))
    if not known.any():
        rows, test = Rows(np.zeros((len(rows), 1)), rows.y), np.zeros((len(test), 1))
        shape = Shape(shape.classes, (False,))
    # Sums over several threads differ in the last bit from those over another number of them, and on a busy machine threads wait.
    # Values near the end of what a number can be may overflow when they are squared or summed; the models cope with that.
    with _threads().limit(limits=1), np.errstate(over="ignore"):
        return _LEARNERS[family](rows, test, shape, seed)


@cache
def _threads() -> ThreadpoolController:
    """The libraries whose threads are counted; to search for them takes longer than a small model, and they stay."""
    import sklearn.ensemble
    import sklearn.linear_model  # noqa: F401 - what is loaded later would be overlooked
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _boosting(rows: Rows, test: Floats, shape: Shape, seed: int, **settings: Any) -> Predictions:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    # The boosting has 255 bins: a category of more levels is read as a number.
    limited = [c and np.nanmax(np.append(rows.x[:, i], 0)) < 255 for i, c in enumerate(shape.categories)]
    kind = HistGradientBoostingClassifier if shape.classes else HistGradientBoostingRegressor
    classes = len(np.unique(rows.y)) if shape.classes else 1
    # A round of more than two classes is a tree for each: as many rounds as for two would learn the rows by heart, slowly.
    rounds = ROUNDS if classes <= 2 else max(FEWEST_ROUNDS, 2 * ROUNDS // classes)
    model = kind(**{"categorical_features": limited, "random_state": seed, "max_iter": rounds, "early_stopping": False} | settings)
    return _predicted(model, rows.x, rows.y, test, shape)


def _steep(rows: Rows, test: Floats, shape: Shape, seed: int) -> Predictions:
    return _boosting(
        rows, test, shape, seed, learning_rate=0.3, max_depth=6, max_leaf_nodes=None, min_samples_leaf=5, l2_regularization=1.0
    )


def _forest(rows: Rows, test: Floats, shape: Shape, seed: int) -> Predictions:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if shape.classes else RandomForestRegressor
    some: Any = "sqrt" if shape.classes else 1 / 3
    model = kind(n_estimators=30, min_samples_leaf=5, max_features=some, random_state=seed)
    return _predicted(model, _single(rows.x), rows.y, _single(test), shape)


def _tree(rows: Rows, test: Floats, shape: Shape, seed: int) -> Predictions:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if shape.classes else DecisionTreeRegressor
    model = kind(min_samples_leaf=20, random_state=seed)
    return _predicted(model, _single(rows.x), rows.y, _single(test), shape)


def _linear(rows: Rows, test: Floats, shape: Shape, seed: int) -> Predictions:
    from sklearn.linear_model import LogisticRegression, Ridge

    read = indicators(rows.x, shape.categories)
    x = read(rows.x)
    if not shape.classes:
        middle, wide = float(rows.y.mean()), float(rows.y.std()) or 1.0
        predicted = Ridge().fit(x, (rows.y - middle) / wide).predict(read(test))
        return {np.nan: middle + wide * predicted}
    solver = "newton-cholesky" if x.shape[1] * len(np.unique(rows.y)) <= LARGE else "lbfgs"
    return _predicted(LogisticRegression(solver=solver, max_iter=ITERATIONS), x, rows.y, read(test), shape)


def _bayes(rows: Rows, test: Floats, shape: Shape, seed: int) -> Predictions:
    """Naive Bayes over bins, one count added to each: missing is a bin, and so are levels that the rows do not have."""
    labels, codes = np.unique(rows.y, return_inverse=True)
    logs = np.tile(np.log(np.bincount(codes) / len(codes)), (len(test), 1))
    for i, category in enumerate(shape.categories):
        cells, size = _cells(rows.x[:, i], category=category)
        ours, theirs = cells(rows.x[:, i]), cells(test[:, i])
        counts = np.bincount(ours * len(labels) + codes, minlength=size * len(labels)).reshape(size, len(labels)) + 1.0
        logs += np.log(counts / counts.sum(axis=0))[theirs]
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return dict(zip(labels.tolist(), shares.T, strict=True))


_LEARNERS: dict[str, Callable[[Rows, Floats, Shape, int], Predictions]] = {
    "boosting": _boosting, "forest": _forest, "linear": _linear, "tree": _tree, "bayes": _bayes, STEEP: _steep,
}  # fmt: skip


def indicators(x: Floats, categories: tuple[bool, ...]) -> Callable[[Floats], Floats]:
    """A reading of rows as these are: numbers centred and scaled, a missing one as their mean; each common level an indicator."""
    numbers = [i for i, category in enumerate(categories) if not category]
    scale = scaling(x[:, numbers])
    levels = []
    for i in (i for i, category in enumerate(categories) if category):
        values, counts = np.unique(x[~np.isnan(x[:, i]), i], return_counts=True)
        levels.append((i, np.sort(values[np.argsort(-counts, kind="stable")[:MOST_LEVELS]])))

    def read(other: Floats) -> Floats:
        return np.hstack([scale(other[:, numbers]), *((other[:, [i]] == held).astype(np.float64) for i, held in levels)])

    return read


def scaling(x: Floats) -> Callable[[Floats], Floats]:
    """Centre and scale as these rows; a missing value becomes their mean."""
    known = ~np.isnan(x)
    count = np.maximum(known.sum(axis=0), 1)
    middle = np.where(known, x, 0.0).sum(axis=0) / count
    wide = np.sqrt((np.where(known, x - middle, 0.0) ** 2).sum(axis=0) / count)
    wide[wide <= 1e-12 * np.maximum(np.abs(middle), 1)] = 1.0
    return lambda other: np.nan_to_num((other - middle) / wide, nan=0.0)


def _cells(values: Floats, *, category: bool) -> tuple[Callable[[Floats], Integers], int]:
    """From values to bins, and how many there are: first one for missing, one for new levels; then levels, or quantiles."""
    known = values[~np.isnan(values)]
    if not category:
        cuts = np.unique(np.quantile(known, np.linspace(0, 1, BINS + 1)[1:-1])) if len(known) else np.empty(0)
        return lambda other: np.where(np.isnan(other), 0, 2 + np.searchsorted(cuts, other, side="right")), len(cuts) + 3
    levels = np.unique(known)

    def places(other: Floats) -> Integers:
        at = np.searchsorted(levels, other)
        known = np.append(levels, np.nan)[at] == other
        return np.where(np.isnan(other), 0, np.where(known, 2 + at, 1))

    return places, len(levels) + 2


def _single(x: Floats) -> Floats:
    return np.clip(x, -FARTHEST, FARTHEST)


def _predicted(model: Any, x: Floats, y: Floats, test: Floats, shape: Shape) -> Predictions:
    fit(model, x, y)
    if not shape.classes:
        return {np.nan: model.predict(test)}
    return dict(zip(model.classes_.tolist(), model.predict_proba(test).T, strict=True))
