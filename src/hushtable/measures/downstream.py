"""Train on the release, test on real people: how much worse models predict that learn from the release."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.errors import InputError
from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.measure import Measure
from hushtable.evidence.reading import floats_like
from hushtable.measures import catalogue
from hushtable.measures.bins import tables
from hushtable.measures.downstream_models import FAMILIES, Rows, Shape, predictions
from hushtable.measures.prediction_scores import Predictions
from hushtable.measures.score_intervals import ScoreEstimate, score_estimates
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import CODED, DAY, Kind, Role
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

MOST = 20
"""Classes that are learnt one by one; a code of hundreds of diagnoses would need a tree for each in every round."""
FEWEST = 20
"""Rows with a known target that a table must have."""
SIDES = ("release", "train")
NAMES = {"train": "the training table", "release": "the release", "control": "the control table"}
MEASURES: Mapping[str, Measure] = {
    "AUC": catalogue.AUC, "accuracy": catalogue.ACCURACY, "F1": catalogue.F1, "R2": catalogue.R2, "RMSE": catalogue.RMSE,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrainOnRelease(Utility):
    """Models of several families fitted on the release and on the training rows, all tested on the control rows.

    AUC (one against the rest, averaged by frequency, where there are more than two classes), accuracy and macro F1 for a target
    with classes; R2 and RMSE for a number or a date. The baseline is the model fitted on the training rows. The first findings
    are those of gradient boosting, which learns from all rows; the other families say whether it alone is served well.

    The interval covers two chances: who is tested (a bootstrap over the control rows) and what is learnt from (the spread between
    models of random halves of the release, see ``measures.spread``). Around the loss, the difference to the baseline, it is of
    the same resamples for both sides, so that what they share drops out; models of the training rows are taken to vary as those
    of as many released rows do.
    """

    target: str = ""
    """The column to predict; when empty, the one with role target, else the first secret."""
    models: tuple[str, ...] = tuple(FAMILIES)
    """The families: boosting, forest, linear, tree, bayes. The first one's findings come first."""
    seeds: int = 3
    """Random halves of the rows, each with another seed of the model; below 2 the interval is of the control rows alone."""
    bootstrap: int = 200
    """Resamples of the control rows for the interval."""
    rows: int = 10_000
    """Rows that a half has at most, and that families other than boosting learn from at most."""

    def __post_init__(self) -> None:
        """Known families, and numbers that can be counted."""
        unknown = sorted(set(self.models) - set(FAMILIES))
        check_knobs(
            self,
            models=(bool(self.models) and not unknown, f"must be some of {', '.join(FAMILIES)}"),
            seeds=(self.seeds >= 0, "must not be negative"),
            bootstrap=(self.bootstrap >= 1, "must be at least 1"),
            rows=(self.rows >= FEWEST, f"must be at least {FEWEST}"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """The scores of each family, or a finding that says why there are none."""
        target = self.target or target_of(case)
        if not target:
            return [_nothing(case, "no column has the role target or secret, and none was named")]
        task = task_of(case, target)
        if task.reason:
            return [_nothing(case, task.reason)]
        families = [family for family in self.models if task.shape.name(family)]
        if not families:
            return [_nothing(case, f"{target}: is a number, which {', '.join(self.models)} cannot predict")]
        estimates = self._estimates(case, task, families, rng)
        return [
            _finding(
                task,
                family,
                estimates[family, "release"][score],
                estimates[family, "train"][score],
                score,
                first=family == families[0],
            )
            for family in families
            for score in estimates[family, "release"]
        ]

    def _estimates(
        self, case: Case, task: Task, families: list[str], rng: np.random.Generator
    ) -> dict[Hashable, dict[str, ScoreEstimate]]:
        """By family and side, then by score."""
        whole: dict[Hashable, Predictions] = {}
        parts: dict[Hashable, list[Predictions]] = {}
        shares: dict[Hashable, float] = {}
        orders = {side: rng.permutation(len(task.rows[side])) for side in SIDES}
        lots = [rng.random(len(task.rows["release"])) for _ in range(self.seeds)]
        for family in families:
            used = {side: np.sort(order if family == "boosting" else order[: self.rows]) for side, order in orders.items()}
            for side in SIDES:
                whole[family, side] = (
                    fitted(case, task.target).predictions[side]
                    if family == "boosting"
                    else predictions(family, task.rows[side].take(used[side]), task.test, task.shape)
                )
            learnt, size = used["release"], min(len(used["release"]) // 2, self.rows)
            halves = [learnt[np.argsort(lot[learnt], kind="stable")[:size]] for lot in lots]
            of_halves = [
                predictions(family, task.rows["release"].take(half), task.test, task.shape, seed)
                for seed, half in enumerate(halves, start=1)
            ]
            # Models of as many training rows are taken to vary as much.
            for side in SIDES:
                parts[family, side] = of_halves
                shares[family, side] = size / (len(learnt) - size) * len(learnt) / len(used[side])
        return score_estimates(task.truth, whole, parts, shares, classes=task.shape.classes, times=self.bootstrap, rng=rng)


@dataclass(frozen=True, eq=False)
class Task:
    """One column to be predicted for the control rows, from the release and from the training rows."""

    target: str
    reason: str = ""
    """Why it cannot be; then nothing else is set."""
    shape: Shape = field(default_factory=lambda: Shape(classes=False, categories=()))
    rows: Mapping[str, Rows] = field(default_factory=dict)
    """What is learnt from: ``release`` and ``train``."""
    control: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The control rows with a known target; ``test`` and ``truth`` are theirs, in this order."""
    test: Floats = field(default_factory=lambda: np.empty((0, 0)))
    truth: Floats = field(default_factory=lambda: np.empty(0))
    """The number (a date in days), or the code of the class in the training table, -1 for the rest beyond the commonest."""
    date: bool = False
    commonest: int = 0
    """Classes that are distinguished where there are too many; 0 if all are."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Gradient boosting learnt from all rows of the release and of the training table, and what it predicts for control rows."""

    task: Task
    predictions: Mapping[str, Predictions]
    """By side (``release``, ``train``): by class the probability of each of ``task.control``, or the number under the key NaN."""


def fitted(case: Case, target: str) -> Fitted:
    """The boosting models of a target, fitted once for all audits of the case.

    Check ``.task.reason`` first: if it is not empty there are no predictions. ``predicted(predictions[side])`` is the predicted
    class or number of each control row ``task.control``, ``task.truth`` what it is, ``task.shape.classes`` which of the two.
    """

    def make() -> Fitted:
        task = task_of(case, target)
        if task.reason:
            return Fitted(task, {})
        return Fitted(task, {side: predictions("boosting", task.rows[side], task.test, task.shape) for side in SIDES})

    models: Fitted = case.once(("boosting", target), make)
    return models


def target_of(case: Case) -> str:
    """The column that an audit predicts if none is named: the first with role target, else the first secret; empty if none."""
    schema = case.train.schema
    named = [column.name for column in schema if column.role is Role.TARGET]
    return next(iter([*named, *(name for name in case.columns if schema[name].role is Role.SECRET)]), "")


def task_of(case: Case, target: str) -> Task:
    """The data to learn a target from, or the reason why it cannot be learnt; made once."""
    task: Task = case.once(("task", target), lambda: _task(case, target))
    return task


def _task(case: Case, target: str) -> Task:
    schema = case.train.schema
    if target not in schema:
        raise InputError(f"there is no column {target!r}", where="target")
    if target not in case.columns:
        return Task(target, f"{target}: {_left_out(case, target)}")
    predictors = [name for name in case.columns if name != target]
    data = {which: _matrix(table, case.train, predictors, target) for which, table in tables(case).items()}
    shape = Shape(schema[target].kind in CODED, tuple(schema[name].kind in CODED for name in predictors))
    reason = _unfit({which: rows for which, (rows, _) in data.items()}, classes=shape.classes, predictors=predictors)
    if reason:
        return Task(target, f"{target}: {reason}")
    commonest = _commonest(data["train"][0].y) if shape.classes else None
    rows = {which: _merged(part, commonest) for which, (part, _) in data.items()}
    test = rows.pop("control")
    return Task(
        target=target, shape=shape, rows=rows, control=data["control"][1], test=test.x, truth=test.y,
        date=schema[target].kind is Kind.DATE, commonest=len(commonest) if commonest is not None else 0,
    )  # fmt: skip


def _left_out(case: Case, target: str) -> str:
    column = case.train.schema[target]
    if column.role is Role.IDENTIFIER:
        return "is an identifier; there is nothing to learn"
    if not column.numeric and column.kind not in CODED:
        return f"is {column.kind}; only numbers, dates and levels can be predicted"
    return "the release has no such column"


def _matrix(table: Table, reference: Table, predictors: list[str], target: str) -> tuple[Rows, Integers]:
    """Predictors and target as floats, NaN where missing; levels coded as in the reference table; rows with a target only."""
    columns = [floats_like(table, name, reference) for name in (*predictors, target)]
    known = np.flatnonzero(np.isfinite(columns[-1]))
    x = np.stack(columns[:-1], axis=1) if predictors else np.zeros((table.rows, 0))
    days = DAY if reference.schema[target].kind is Kind.DATE else 1.0
    return Rows(x[known], columns[-1][known] / days), known


def _merged(rows: Rows, commonest: Floats | None) -> Rows:
    return rows if commonest is None else Rows(rows.x, np.where(np.isin(rows.y, commonest), rows.y, -1.0))


def _commonest(truth: Floats) -> Floats | None:
    """The classes to distinguish, where there are too many to learn each; None where all of them can be."""
    values, counts = np.unique(truth, return_counts=True)
    return values[np.argsort(-counts, kind="stable")[: MOST - 1]] if len(values) > MOST else None


def _unfit(data: Mapping[str, Rows], *, classes: bool, predictors: list[str]) -> str:
    if not predictors:
        return "there is no other column to predict it from"
    for which, rows in data.items():
        if len(rows) < FEWEST:
            return f"only {len(rows)} rows of {NAMES[which]} have a value"
        if len(np.unique(rows.y)) < 2:
            return f"all rows of {NAMES[which]} have the same value"
    if classes and not set(np.unique(data["control"].y)) & set(np.unique(data["release"].y)):
        return "release and control have no class in common"
    return ""


def _finding(task: Task, family: str, release: ScoreEstimate, real: ScoreEstimate, score: str, *, first: bool) -> Finding:
    measure, n, by = MEASURES[score], len(task.truth), task.shape.name(family)
    lost = release.loss(real, measure.better)
    low, high = lost.interval
    unit = " days" if score == "RMSE" and task.date else ""
    note = (
        f"{by} predicts {task.target} of {n:,} real people: {release.value:.3f}{unit} if trained on the release, "
        f"{real.value:.3f}{unit} if trained on the real rows; the loss is {lost.value:.3f} ({low:.3f} to {high:.3f})"
    )
    if task.commonest:
        note += f"; classes beyond the {task.commonest} commonest count as one"
    real_low, real_high = _inside(measure, real.interval)
    detail: dict[str, Any] = {
        "target": task.target, "model": by, "score": score, "baseline_low": real_low, "baseline_high": real_high,
        "loss": lost.value, "loss_low": low, "loss_high": high,
        "tested": release.tested, "learnt": release.learnt,
    }  # fmt: skip
    scope = task.target if first else f"{task.target}, by {by}"
    interval = _inside(measure, release.interval)
    return measure.finding(release.value, n=n, note=note, baseline=real.value, interval=interval, scope=scope, detail=detail)


def _inside(measure: Measure, interval: tuple[float, float]) -> tuple[float, float]:
    low, high = interval
    return max(low, measure.low) if measure.low is not None else low, min(high, measure.high) if measure.high is not None else high


def _nothing(case: Case, reason: str) -> Finding:
    return catalogue.DOWNSTREAM.finding(None, n=case.control.rows, note=reason)
