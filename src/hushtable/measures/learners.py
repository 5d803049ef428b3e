"""Classifiers trained and tested on one table: support vectors, logistic regression and a tree, by accuracy, recall and F1.

They are scikit-learn's with its defaults. Numbers are centred and scaled by the rows that are trained on, a missing one is their
mean; a level is an indicator. Support vectors learn from and are tested on at most ``SVC_ROWS`` rows each, as their time grows
with the square of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.evidence.reading import floats_like
from hushtable.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
MODELS = ("support vectors", "logistic regression", "tree")
SCORES = ("accuracy", "recall", "F1")
SVC_ROWS = 3000
TESTED = 0.2
"""The share of rows that is tested on."""
MOST_LEVELS = 50
"""Levels with an indicator of their own, the commonest of the real table; the others are none."""


@dataclass(frozen=True)
class Performance:
    """Scores by (model, score)."""

    values: Mapping[tuple[str, str], float]

    def mean(self, score: str | None = None) -> float:
        """Over the models, and over the scores if none is named."""
        return float(np.mean([v for (_, name), v in self.values.items() if score in (None, name)]))

    def to_json(self) -> dict[str, dict[str, float]]:
        """Model to score to value."""
        return {model: {score: self.values[model, score] for score in SCORES} for model in MODELS}


@dataclass(frozen=True, eq=False)
class Task:
    """To tell the classes of one column of a real table from its other columns; other tables are read as that one is."""

    reference: Table
    target: str
    positive: int | None
    """Of two classes the rarer one, which recall and F1 are about; with more, both are averaged over the classes."""
    levels: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, reference: Table, target: str) -> Task:
        """Refuses a column that is a number, and one that shows a single class."""
        if target not in reference.schema:
            raise InputError(f"there is no column {target!r}", where="targets")
        if reference.schema[target].numeric:
            raise InputError("is a number; the scores are of classifiers: name a column with levels", where=target)
        codes = floats_like(reference, target, reference)
        classes, counts = np.unique(codes[~np.isnan(codes)].astype(np.int64), return_counts=True)
        if len(classes) < 2:
            raise InputError("shows a single class; there is nothing to tell apart", where=target)
        levels = {}
        for name in reference.schema.names:
            if not reference.schema[name].numeric and name != target:
                seen = reference[name].astype(np.int64)
                often = np.bincount(seen[seen >= 0], minlength=1)
                best = np.argsort(-often, kind="stable")[:MOST_LEVELS]
                levels[name] = tuple(sorted(best[often[best] > 0].tolist()))
        rarer = int(classes[np.argmin(counts)]) if len(classes) == 2 else None
        return cls(reference, target, rarer, levels)

    def performance(
        self, table: Table, *, splits: int = 1, seed: int = 0, elsewhere: Table | None = None
    ) -> tuple[Performance, Performance | None]:
        """Means over random splits: tested on other rows of the same table, and on as large a part of another one."""
        x, y = self._read(table)
        other = self._read(elsewhere) if elsewhere is not None else None
        own, there = [], []
        for number in range(splits):
            train, test = _split(len(y), seed + number)
            tests = [(x[test], y[test])]
            if other is not None:
                _, part = _split(len(other[1]), seed + number)
                tests.append((other[0][part], other[1][part]))
            found = self._scores(x[train], y[train], tests)
            own.append(found[0])
            there += found[1:]
        return _mean(own), _mean(there) if there else None

    def _read(self, table: Table) -> tuple[Floats, NDArray[np.int64]]:
        """Predictors as numbers and indicators, and the class; rows with a known class only."""
        goal = floats_like(table, self.target, self.reference)
        known = ~np.isnan(goal)
        columns = []
        for name in self.reference.schema.names:
            if name == self.target:
                continue
            values = floats_like(table, name, self.reference)[known]
            if name in self.levels:
                columns.append((values[:, None] == np.array(self.levels[name], dtype=np.float64)).astype(np.float64))
            else:
                columns.append(values[:, None])
        if not columns:
            raise InputError("there is no other column to predict it from", where=self.target)
        return np.concatenate(columns, axis=1), goal[known].astype(np.int64)

    def _scores(
        self, x: Floats, y: NDArray[np.int64], tests: list[tuple[Floats, NDArray[np.int64]]]
    ) -> list[dict[tuple[str, str], float]]:
        from threadpoolctl import threadpool_limits

        found: list[dict[tuple[str, str], float]] = [{} for _ in tests]
        scale = _scaling(x)
        with threadpool_limits(1):
            for model in MODELS:
                most = SVC_ROWS if model == "support vectors" else None
                predict = _fitted(model, scale(x[:most]), y[:most])
                for values, (seen, truth) in zip(found, tests, strict=True):
                    told = predict(scale(seen[:most]))
                    values |= {(model, score): v for score, v in zip(SCORES, self._judge(truth[:most], told), strict=True)}
        return found

    def _judge(self, truth: NDArray[np.int64], told: NDArray[np.int64]) -> tuple[float, float, float]:
        """Accuracy, recall and F1; the latter two are 0 if the rarer class is neither there nor told."""
        if not len(truth):
            return 0.0, 0.0, 0.0
        asked = np.union1d(truth, told) if self.positive is None else [self.positive]
        hits = np.array([np.sum((truth == c) & (told == c)) for c in asked], dtype=np.float64)
        there = np.array([np.sum(truth == c) for c in asked], dtype=np.float64)
        named = np.array([np.sum(told == c) for c in asked], dtype=np.float64)
        recall, f1 = hits / np.maximum(there, 1), 2 * hits / np.maximum(there + named, 1)
        return float((truth == told).mean()), float(recall.mean()), float(f1.mean())


def _split(rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    order = np.random.default_rng(seed).permutation(rows)
    cut = max(1, round(TESTED * rows)) if rows > 1 else 0
    return order[cut:], order[:cut]


def _scaling(x: Floats) -> Callable[[Floats], Floats]:
    known = ~np.isnan(x)
    count = np.maximum(known.sum(axis=0), 1)
    middle = np.where(known, x, 0.0).sum(axis=0) / count
    wide = np.sqrt((np.where(known, x - middle, 0.0) ** 2).sum(axis=0) / count)
    wide[wide <= 1e-12 * np.maximum(np.abs(middle), 1)] = 1.0
    return lambda other: np.nan_to_num((other - middle) / wide, nan=0.0)


def _fitted(model: str, x: Floats, y: NDArray[np.int64]) -> Callable[[Floats], NDArray[np.int64]]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    if len(np.unique(y)) < 2:
        only = int(y[0]) if len(y) else -1
        return lambda other: np.full(len(other), only, dtype=np.int64)
    kinds: dict[str, Callable[[], Any]] = {
        "support vectors": lambda: SVC(random_state=0),
        "logistic regression": lambda: LogisticRegression(max_iter=300),
        "tree": lambda: DecisionTreeClassifier(random_state=0),
    }
    fitted = kinds[model]().fit(x, y)
    return lambda other: fitted.predict(other) if len(other) else np.empty(0, dtype=np.int64)


def _mean(found: list[dict[tuple[str, str], float]]) -> Performance:
    return Performance({key: float(np.mean([one[key] for one in found])) for key in found[0]})
