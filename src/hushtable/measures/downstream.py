"""Train on the release, test on real people: what a model loses by learning from the release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import Rate, bootstrap
from hushtable.evidence.finding import Audit, Better, Finding, Subject
from hushtable.evidence.reading import floats_like
from hushtable.table.columns import CODED, Role
from hushtable.table.table import Table

Floats = NDArray[np.float64]
MOST = 20
"""Classes that are learnt one by one; a code of hundreds of diagnoses would need a tree for each in every round."""


@dataclass(frozen=True, kw_only=True)
class TrainOnRelease(Audit):
    """Gradient boosting fitted on the release and on the training rows, both tested on the control rows.

    AUC for a target with classes (one against the rest, averaged, where there are more than two), R^2 for a number.
    The interval is a bootstrap over the control rows; the baseline is the model fitted on the training rows.
    """

    target: str = ""
    """The column to predict; when empty, the one with role target, else the first secret."""
    bootstrap: int = 200
    """Resamples of the control rows for the interval."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding, or a finding that says why there is none."""
        target = self._target(case)
        if target is None:
            return [_nothing(case, "no column has the role target or secret, and none was named")]
        tables = {"train": case.train, "release": case.ordinary(), "control": case.control}
        predictors = [name for name in case.columns if name != target]
        data = {which: _matrix(table, case.train, predictors, target) for which, table in tables.items()}
        classes = case.train.schema[target].kind in CODED
        reason = _unfit(data, classes=classes, predictors=predictors)
        if reason:
            return [_nothing(case, f"{target}: {reason}")]
        kept = _commonest(data["train"][1]) if classes else None
        if kept is not None:
            data = {which: (x, np.where(np.isin(y, kept), y, -1.0)) for which, (x, y) in data.items()}
        categories = [case.train.schema[name].kind in CODED for name in predictors]
        scores = {w: _predictions(*data[w], data["control"][0], categories, classes=classes) for w in ("release", "train")}
        truth = data["control"][1]
        measure = _auc if classes else _r2
        value = _interval(truth, scores["release"], measure, self.bootstrap, rng)
        real = measure(truth, scores["train"])
        name = "AUC" if classes else "R2"
        return [
            Finding(
                name=f"train on release, test on real: {name}", scope=target,
                value=value.value, low=value.low, high=value.high, baseline=real,
                better=Better.HIGHER, subject=Subject.UTILITY, n=len(truth),
                note=f"predicting {target} for {len(truth):,} real people: {value.value:.3f}; trained on the real rows {real:.3f}"
                + (f"; classes beyond the {len(kept)} commonest count as one" if kept is not None else ""),
            )
        ]  # fmt: skip

    def _target(self, case: Case) -> str | None:
        if self.target:
            if self.target not in case.columns:
                raise InputError(f"there is no column {self.target!r} in all three tables", where="target")
            return self.target
        for role in (Role.TARGET, Role.SECRET):
            for name in case.columns:
                if case.train.schema[name].role is role:
                    return name
        return None


def _matrix(table: Table, reference: Table, predictors: list[str], target: str) -> tuple[Floats, Floats]:
    """Predictors and target as floats, NaN where missing; levels coded as in the reference table; rows with a target only."""
    columns = [floats_like(table, name, reference) for name in (*predictors, target)]
    known = ~np.isnan(columns[-1])
    x = np.stack(columns[:-1], axis=1) if predictors else np.zeros((table.rows, 0))
    return x[known], columns[-1][known]


def _commonest(truth: Floats) -> Floats | None:
    """The classes to tell apart, where there are too many to learn each; None where all of them can be."""
    values, counts = np.unique(truth, return_counts=True)
    return values[np.argsort(-counts, kind="stable")[: MOST - 1]] if len(values) > MOST else None


def _unfit(data: dict[str, tuple[Floats, Floats]], *, classes: bool, predictors: list[str]) -> str:
    if not predictors:
        return "there is no other column to predict it from"
    for which, (_, y) in data.items():
        if len(y) < 20:
            return f"only {len(y)} rows of {which} have a value"
        if len(np.unique(y)) < 2:
            return f"all rows of {which} have the same value"
    if classes and not set(np.unique(data["control"][1])) & set(np.unique(data["release"][1])):
        return "release and control have no class in common"
    return ""


def _predictions(x: Floats, y: Floats, test: Floats, categories: list[bool], *, classes: bool) -> dict[float, Floats]:
    """Class to probability for every test row, or the predicted number under the key NaN."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    # The boosting has 255 bins: a category of more levels is read as a number.
    limited = [c and np.nanmax(np.append(x[:, i], 0)) < 255 for i, c in enumerate(categories)]
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = kind(categorical_features=limited, random_state=0, max_iter=150, early_stopping=False)
    # Sums over several threads differ in the last bit from those over another number of them, and on a busy machine threads wait.
    with threadpool_limits(1, "openmp"):
        model.fit(x, y)
        if not classes:
            return {np.nan: model.predict(test)}
        return dict(zip(model.classes_.tolist(), model.predict_proba(test).T, strict=True))


def _auc(truth: Floats, scores: dict[float, Floats]) -> float:
    """The area under the ROC curve, averaged over classes against the rest by their frequency (one curve for two classes)."""
    classes, counts = np.unique(truth, return_counts=True)
    total, weight = 0.0, 0
    for label, count in zip(classes.tolist(), counts.tolist(), strict=True):
        positive = truth == label
        if 0 < count < len(truth):
            score = scores.get(label, np.zeros(len(truth)))
            total, weight = total + count * _area(score, positive), weight + count
    return total / weight if weight else 0.5


def _area(score: Floats, positive: NDArray[np.bool_]) -> float:
    """Mann-Whitney: the share of (positive, negative) pairs in the right order, ties half."""
    values, codes = np.unique(score, return_inverse=True)
    ups = np.bincount(codes, positive, minlength=len(values))
    downs = np.bincount(codes, ~positive, minlength=len(values))
    below = np.cumsum(downs) - downs
    return float((ups * (below + downs / 2)).sum() / (ups.sum() * downs.sum()))


def _r2(truth: Floats, scores: dict[float, Floats]) -> float:
    (predicted,) = scores.values()
    spread = float(((truth - truth.mean()) ** 2).sum())
    return 1 - float(((truth - predicted) ** 2).sum()) / spread if spread else 0.0


def _interval(truth: Floats, scores: dict[float, Floats], measure, times: int, rng: np.random.Generator) -> Rate:  # type: ignore[no-untyped-def]
    return bootstrap(
        lambda rows: measure(truth[rows], {label: s[rows] for label, s in scores.items()}), len(truth), rng, times=times
    )


def _nothing(case: Case, reason: str) -> Finding:
    return Finding(
        name="train on release, test on real",
        value=None,
        better=Better.HIGHER,
        subject=Subject.UTILITY,
        n=case.control.rows,
        note=reason,
    )
