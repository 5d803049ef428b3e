"""What a classifier learns from mixtures of records: table 1 of Madl et al. (2023), repeated where the data are to be had.

A quarter of the rows is held out. Each method releases a table made from the others, boosted trees (histogram boosting in
place of LightGBM) learn from the release, and are tested on the held-out rows: by the area under the ROC curve, for images by
accuracy. ClustMix as published stands in three lines: its noisy averages as they are, as vectors, which is what the publication
tests, with one coordinate for each category and with one for each level; and the rows that the averages stand for. The noise is
fresh: numbers vary. ``hush study clustmix``
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.api.store import Result
from hushtable.measures.downstream_models import Rows, Shape
from hushtable.measures.prediction_scores import Predictions
from hushtable.privacy.vault import Vault
from hushtable.studies.clustmix_published import ADSGAN, ADULT, CLUSTMIX, DPGAN, DPMERF, MNIST, OURS, PATEGAN, SOURCE
from hushtable.studies.clustmix_report import report
from hushtable.studies.held_out import HeldOut, Lesson
from hushtable.studies.lines import REAL, Lines, task_name
from hushtable.studies.releases import Method, make
from hushtable.studies.study import Scope, Study, Task, Work
from hushtable.studies.tables import found, table_of
from hushtable.synthesize.published.clustmix import ClustMix
from hushtable.synthesize.published.clustmix_encoding import Encoding, Layout
from hushtable.table.table import Table

EPSILON = 1.0
DELTA = 1e-5
"""For the methods that are proven; ClustMix as published has one over the number of rows."""
TREES = 200
"""That a classifier boosts; of ten classes a fifth of so many rounds, each with a tree for every class."""
FILES: Mapping[str, str] = {ADULT: "adult_train", OURS: "credit_card_default", MNIST: "mnist"}


@dataclass(frozen=True, kw_only=True)
class Line(Method):
    """A method of the table: the release of a recipe, or, with a layout, the averages of ClustMix as vectors."""

    layout: Layout | None = None
    images: Mapping[str, Any] | None = field(default_factory=dict)
    """What is different on hundreds of columns; None if it cannot be run on so many within hours."""


METHODS = (
    Line(name=CLUSTMIX, recipe="clustmix", layout=Layout.CODES),
    Line(name="clustmix, averages (levels)", recipe="clustmix", layout=Layout.ONEHOT),
    Line(name="clustmix, rows", recipe="clustmix"),
    Line(name="clustmix-certified", recipe="clustmix-certified"),
    Line(name="dpmix", recipe="dpmix"),
    Line(name=DPMERF, recipe="dp-merf"),
    Line(name=DPGAN, recipe="dpgan", quick={"epochs": 30}),
    Line(name="dpgan-certified", recipe="dpgan-certified", quick={"steps": 100}, images=None),
    Line(name=PATEGAN, recipe="pate-gan"),
    Line(name="pate-gan-certified", recipe="pate-gan-certified", images=None),
    Line(name=ADSGAN, recipe="ads-gan", quick={"epochs": 20}, images={"refine": 0}),
)


@dataclass(frozen=True)
class Size:
    """How much is run."""

    names: tuple[str, ...] = (ADULT, OURS, MNIST)
    rows: int | None = None
    runs: int = 3
    quick: bool = False


FULL, QUICK = Size(), Size(names=(ADULT,), rows=4000, runs=1, quick=True)


def plan(scope: Scope) -> Work:
    """A task for each method, run and table that is at hand."""
    size = QUICK if scope.quick else FULL
    size = replace(size, runs=scope.runs or size.runs)
    tables, skipped = found(size.names, scope.data, lambda name, folder: table_of(FILES[name], folder))
    skipped += [f"{name}: not in the quick scope" for name in FULL.names if name not in size.names]
    sets = {name: held_out(name, scope.data, size.rows) for name in tables}
    tasks = [_task(scope, size, name, None, 0) for name in tables]
    lines = [(name, line) for name in tables for line in METHODS if line.images is not None or name != MNIST]
    tasks += [_task(scope, size, name, line, run) for name, line in lines for run in range(size.runs)]
    if MNIST in tables:
        skipped += [f"{MNIST}: {line.name}: hundreds of columns take it many hours" for line in METHODS if line.images is None]
    ran = tuple(tables), tuple(line.name for line in METHODS), size.runs, size.quick, tuple(skipped)
    return Work(
        tasks=tasks,
        report=lambda results: report(Lines(*ran, results)),
        identity=["clustmix", EPSILON, DELTA, size.rows, [(line.name, line.recipe, dict(line.quick)) for line in METHODS]],
        tables=[part for one in sets.values() for part in (one.train, one.test)],
    )


STUDY = Study(name="clustmix", title="What classifiers learn from mixtures", source=SOURCE, plan=plan)


@cache
def held_out(name: str, folder: Path | None, rows: int | None) -> HeldOut:
    """A table under study; rows whose class is missing teach nothing and are left out."""
    table = table_of(FILES[name], folder)
    target = Encoding.of(table.schema).target
    return HeldOut.of(table.take(np.flatnonzero(table[target] >= 0)), target, rows)


def _task(scope: Scope, size: Size, name: str, line: Line | None, run: int) -> Task:
    label = line.name if line else REAL
    return Task(
        name=task_name(name, label, run),
        title=f"{name}: {label}",
        make=partial(cell, name, scope.data, size.rows, line, run, quick=size.quick),
        cost=4.0 if label in (ADSGAN, DPGAN) or name == MNIST else 1.0,
    )


def cell(name: str, folder: Path | None, rows: int | None, line: Line | None, run: int, *, quick: bool) -> Result:
    """What is learnt from one release; without a method from the real rows."""
    held = held_out(name, folder, rows)
    if line is None:
        counted = {"rows": held.train.rows, "test": held.test.rows, "columns": len(held.train.schema), "target": held.target}
        return counted | {"refined": learnt(held.lesson(held.train))}
    if line.layout is not None:
        return _averages(held, line.layout, run)
    line = replace(line, knobs={**line.knobs, **(line.images or {})}) if name == MNIST else line
    made = make(line.turned(quick=quick), held.train, epsilon=EPSILON, delta=DELTA, seed=run)
    drawn = None if made.drawn is None else learnt(held.lesson(made.drawn))
    return {
        "refined": learnt(held.lesson(made.table)), "drawn": drawn, "released": made.table.rows, "proven": made.proven,
        "seconds": made.seconds,
    }  # fmt: skip


def _averages(held: HeldOut, layout: Layout, run: int) -> Result:
    start = time.process_time()
    lesson = averages(held.train, held.test, layout, run)
    seconds = time.process_time() - start
    return {"refined": learnt(lesson), "released": len(lesson.rows), "proven": "nothing (claimed)", "seconds": seconds}


def averages(train: Table, test: Table, layout: Layout, run: int) -> Lesson:
    """The noisy averages of ClustMix as vectors, and other rows as vectors of the same kind."""
    model = ClustMix(layout=layout, epsilon0=EPSILON).fit(Vault.of(train), np.random.default_rng(run))
    tested, truth = model.encoding.vectors(test)
    shape = Shape(classes=True, categories=(False,) * tested.shape[1])
    return Lesson(Rows(model.vectors, model.labels.astype(np.float64)), tested, truth.astype(np.float64), shape)


def learnt(lesson: Lesson) -> Result:
    """How well boosted trees that learn from a lesson predict: AUC and accuracy."""
    scores = lesson.scores(_boosted(lesson))
    return {"auc": scores["AUC"], "accuracy": scores["accuracy"]}


def _boosted(lesson: Lesson) -> Predictions:
    """Trees with the settings of the first repetition of this study; leaves of few rows where there are few."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    classes = np.unique(lesson.rows.y)
    if len(classes) < 2:
        return {float(one): np.ones(len(lesson.truth)) for one in classes}
    leaf = max(2, min(20, len(lesson.rows) // 10))
    rounds = TREES if len(classes) == 2 else TREES // 5
    with threadpool_limits(1, "openmp"):
        trees = HistGradientBoostingClassifier(
            max_iter=rounds, learning_rate=0.05 * TREES / rounds, min_samples_leaf=leaf, random_state=0,
            categorical_features=list(lesson.shape.categories),
        )  # fmt: skip
        scores = trees.fit(lesson.rows.x, lesson.rows.y).predict_proba(lesson.test)
    return dict(zip(classes.tolist(), scores.T, strict=True))
