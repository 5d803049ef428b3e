"""A table of which a quarter is held out, and how well models that learn from a release predict those people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.evidence.reading import floats_like
from hushtable.measures.downstream_models import Rows, Shape
from hushtable.measures.prediction_scores import Predictions, predicted, scores_of
from hushtable.table.arrays import Floats
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The rows that releases are made from, those that nobody sees, and the column that is to be predicted."""

    train: Table
    test: Table
    target: str

    @classmethod
    def of(cls, table: Table, target: str, rows: int | None = None) -> HeldOut:
        """The same quarter every time, and of the others so many at most."""
        order = np.random.default_rng(0).permutation(table.rows)
        cut = len(order) // 4
        return cls(table.take(order[cut : None if rows is None else cut + rows]), table.take(order[:cut]), target)

    def lesson(self, released: Table) -> Lesson:
        """What there is to learn from a release; rows without a target teach nothing, and are not tested."""
        names = [name for name in self.train.schema.names if name != self.target and name in released.schema]
        learnt, tested = (_rows(table, self.train, names, self.target) for table in (released, self.test))
        categories = tuple(self.train.schema[name].coded for name in names)
        return Lesson(learnt, tested.x, tested.y, Shape(self.train.schema[self.target].coded, categories))

    @property
    def majority(self) -> float:
        """The accuracy of whoever always says the commonest class of the training rows."""
        classes = np.bincount(self.train[self.target][self.train[self.target] >= 0])
        return float(np.mean(self.test[self.target] == classes.argmax()))

    @property
    def spread(self) -> float:
        """The standard deviation of a number that is to be predicted."""
        return float(np.nanstd(self.test.floats(self.target)))


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a model learns from and what it is tested on."""

    rows: Rows
    test: Floats
    truth: Floats
    shape: Shape

    def scores(self, predictions: Predictions) -> dict[str, float]:
        """AUC, accuracy and F1 (of the rarer of two classes, the mean over more than two), or RMSE."""
        ones = np.ones(len(self.truth))
        by_name = scores_of(self.truth, predictions, classes=self.shape.classes)
        if not self.shape.classes:
            return {"RMSE": by_name["RMSE"](ones)}
        classes, counts = np.unique(self.truth, return_counts=True)
        found = {name: score(ones) for name, score in by_name.items()}
        return found if len(classes) > 2 else found | {"F1": self._rarer(classes[counts.argmin()], predicted(predictions))}

    def _rarer(self, label: float, guesses: Floats) -> float:
        there, named = self.truth == label, guesses == label
        return 2 * float((there & named).sum()) / max(1.0, float(there.sum() + named.sum()))


def _rows(table: Table, reference: Table, names: list[str], target: str) -> Rows:
    truth = floats_like(table, target, reference)
    known = np.isfinite(truth)
    return Rows(np.column_stack([floats_like(table, name, reference) for name in names])[known], truth[known])
