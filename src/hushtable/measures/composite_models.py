"""Models trained and tested on one table: support vectors, a linear model and a tree, by accuracy, recall and F1, or by R2.

They are scikit-learn's with its defaults. Numbers are centred and scaled by the rows that are trained on, a missing one is their
mean; a level is an indicator. Support vectors learn from and are tested on at most ``SVC_ROWS`` rows each, as their time grows
with the square of them, and on fewer of a table with hundreds of indicators. A number that is predicted is centred and scaled
as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.evidence.reading import floats_like
from hushtable.measures.downstream_models import scaling
from hushtable.numerics.fitting import fit
from hushtable.table.arrays import Floats, Integers
from hushtable.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

MODELS = ("support vectors", "logistic regression", "tree")
SCORES = ("accuracy", "recall", "F1")
NUMBER_MODELS = ("support vectors", "linear regression", "tree")
NUMBER_SCORES = ("R2",)
"""Of a column of numbers; below 0, where the mean would do better, it counts as 0, so that every score lies between 0 and 1."""
FAMILIES = ("support vectors", "linear", "tree")
"""In the order of ``MODELS`` and ``NUMBER_MODELS``."""
SVC_ROWS, SVC_CELLS = 3000, 600_000
"""The most rows for support vectors, and the most cells: of more than 200 predictors and indicators they see fewer rows."""
MOST_CLASSES = 100
"""A column that shows more levels is not predicted."""
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
        models = dict.fromkeys(model for model, _ in self.values)
        return {model: {score: v for (name, score), v in self.values.items() if name == model} for model in models}


@dataclass(frozen=True, eq=False)
class Task:
    """To predict one column of a real table from its other columns; other tables are read as that one is."""

    reference: Table
    target: str
    positive: int | None
    """Of two classes the rarer one, which recall and F1 are about; with more, both are averaged over the classes."""
    levels: Mapping[str, tuple[int, ...]]
    families: Sequence[str] = FAMILIES

    @property
    def classes(self) -> bool:
        """Whether classes are predicted; else it is a number."""
        return not self.reference.schema[self.target].numeric

    @property
    def models(self) -> tuple[str, ...]:
        """What the families are called for this target."""
        names = MODELS if self.classes else NUMBER_MODELS
        return tuple(names[FAMILIES.index(family)] for family in self.families)

    @classmethod
    def of(cls, reference: Table, target: str, families: Sequence[str] = FAMILIES) -> Task:
        """Refuses a column that shows a single value, and a table without another column."""
        if target not in reference.schema:
            raise InputError(f"there is no column {target!r}", where="targets")
        reason = unfit(reference, target)
        if reason:
            raise InputError(reason, where=target)
        levels = {}
        for name in reference.schema.names:
            if not reference.schema[name].numeric and name != target:
                seen = reference[name].astype(np.int64)
                often = np.bincount(seen[seen >= 0], minlength=1)
                best = np.argsort(-often, kind="stable")[:MOST_LEVELS]
                levels[name] = tuple(sorted(best[often[best] > 0].tolist()))
        values, counts = _values(reference, target)
        two = not reference.schema[target].numeric and len(values) == 2
        return cls(reference, target, int(values[np.argmin(counts)]) if two else None, levels, tuple(families))

    def performance(
        self, table: Table, *, splits: int = 1, seed: int = 0, elsewhere: Table | None = None, rows: int | None = None
    ) -> tuple[Performance, Performance | None]:
        """Means over random splits: tested on other rows of the same table, and on as large a part of another one.

        Of a table with more than ``rows`` rows a random part of so many is used.
        """
        read = self._reader(table)
        other = self._reader(elsewhere) if elsewhere is not None else None
        own, there = [], []
        for number in range(splits):
            train, test = _split(read.rows, seed + number, rows)
            tests = [read(test)]
            if other is not None:
                tests.append(other(_split(other.rows, seed + number, rows)[1]))
            scores = self._scores(*read(train), tests)
            own.append(scores[0])
            there += scores[1:]
        return _mean(own), _mean(there) if there else None

    def _reader(self, table: Table) -> _Reader:
        columns = {name: floats_like(table, name, self.reference) for name in self.reference.schema.names}
        goal = columns.pop(self.target)
        return _Reader(columns, goal, np.flatnonzero(np.isfinite(goal)), self.levels)

    def _scores(self, x: Floats, y: Floats, tests: list[tuple[Floats, Floats]]) -> list[dict[tuple[str, str], float]]:
        from threadpoolctl import threadpool_limits

        scores: list[dict[tuple[str, str], float]] = [{} for _ in tests]
        scale = scaling(x)
        fit, names = (_classifier, SCORES) if self.classes else (_regressor, NUMBER_SCORES)
        with threadpool_limits(1):
            for model in self.models:
                most = min(SVC_ROWS, SVC_CELLS // x.shape[1]) if model == "support vectors" else None
                predict = fit(model, scale(x[:most]), y[:most])
                for values, (seen, truth) in zip(scores, tests, strict=True):
                    predicted = predict(scale(seen[:most])) if len(seen) else np.empty(0)
                    values |= {(model, score): v for score, v in zip(names, self._judge(truth[:most], predicted), strict=True)}
        return scores

    def _judge(self, truth: NDArray[Any], predicted: NDArray[Any]) -> tuple[float, ...]:
        """Accuracy, recall and F1, the latter two 0 if the rarer class is neither there nor predicted; or R2 between 0 and 1."""
        if not self.classes:
            spread = float(((truth - truth.mean()) ** 2).sum()) if len(truth) else 0.0
            return (max(0.0, 1 - float(((truth - predicted) ** 2).sum()) / spread) if spread else 0.0,)
        if not len(truth):
            return 0.0, 0.0, 0.0
        asked = np.union1d(truth, predicted) if self.positive is None else [self.positive]
        hits = np.array([np.sum((truth == c) & (predicted == c)) for c in asked], dtype=np.float64)
        there = np.array([np.sum(truth == c) for c in asked], dtype=np.float64)
        named = np.array([np.sum(predicted == c) for c in asked], dtype=np.float64)
        recall, f1 = hits / np.maximum(there, 1), 2 * hits / np.maximum(there + named, 1)
        return float((truth == predicted).mean()), float(recall.mean()), float(f1.mean())


def unfit(table: Table, target: str) -> str:
    """Why a column cannot be learnt from the others; empty if it can."""
    if len(table.schema.names) < 2:
        return "there is no other column to predict it from"
    shown = len(_values(table, target)[0])
    if shown < 2:
        return "has a single value, so there is nothing to predict"
    if shown > MOST_CLASSES and not table.schema[target].numeric:
        return f"has {shown:,} levels, of which at most {MOST_CLASSES} can be predicted"
    return ""


def _values(table: Table, name: str) -> tuple[Floats, Integers]:
    values = floats_like(table, name, table)
    return np.unique(values[np.isfinite(values)], return_counts=True)


@dataclass(frozen=True, eq=False)
class _Reader:
    """Rows of a table with a known target as predictors, numbers and indicators, and target; only those that are asked for."""

    columns: Mapping[str, Floats]
    goal: Floats
    known: Integers
    levels: Mapping[str, tuple[int, ...]]

    @property
    def rows(self) -> int:
        return len(self.known)

    def __call__(self, which: Integers) -> tuple[Floats, Floats]:
        at = self.known[which]
        return np.concatenate(list(self._parts(at)), axis=1), self.goal[at]

    def _parts(self, at: Integers) -> Iterable[Floats]:
        for name, values in self.columns.items():
            column = values[at][:, None]
            held = self.levels.get(name)
            yield column if held is None else (column == np.array(held, dtype=np.float64)).astype(np.float64)


def _split(rows: int, seed: int, most: int | None = None) -> tuple[Integers, Integers]:
    order = np.random.default_rng(seed).permutation(rows)[:most]
    cut = max(1, round(TESTED * len(order))) if len(order) > 1 else 0
    return order[cut:], order[:cut]


def _classifier(model: str, x: Floats, y: Floats) -> Callable[[Floats], Floats]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    if len(np.unique(y)) < 2:
        only = y[0] if len(y) else -1.0
        return lambda other: np.full(len(other), only)
    kinds: dict[str, Callable[[], Any]] = {
        "support vectors": lambda: SVC(random_state=0),
        "logistic regression": lambda: LogisticRegression(max_iter=300),
        "tree": lambda: DecisionTreeClassifier(random_state=0),
    }
    learner = kinds[model]()
    fit(learner, x, y)
    predict: Callable[[Floats], Floats] = learner.predict
    return predict


def _regressor(model: str, x: Floats, y: Floats) -> Callable[[Floats], Floats]:
    from sklearn.linear_model import LinearRegression
    from sklearn.svm import SVR
    from sklearn.tree import DecisionTreeRegressor

    middle, wide = (float(y.mean()), float(y.std())) if len(y) else (0.0, 0.0)
    if not wide:
        return lambda other: np.full(len(other), middle)
    kinds: dict[str, Callable[[], Any]] = {
        "support vectors": lambda: SVR(),
        "linear regression": lambda: LinearRegression(),
        "tree": lambda: DecisionTreeRegressor(random_state=0),
    }
    fitted = kinds[model]().fit(x, (y - middle) / wide)
    return lambda other: middle + wide * fitted.predict(other)


def _mean(scores: list[dict[tuple[str, str], float]]) -> Performance:
    return Performance({key: float(np.mean([one[key] for one in scores])) for key in scores[0]})
