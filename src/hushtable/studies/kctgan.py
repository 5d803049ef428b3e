"""Rows drawn after microaggregation on a manifold: tables 4.1 to 4.3 and figure 4.2 of Garg (2025), repeated on Adult.

A quarter of the rows is held out. Each method draws as many rows as it was given, which are compared with these as clouds of
points, taught to boosted trees that are tested on the people held out, and attacked by distance. Distances in the source are those
of values as they are, levels by their codes, so that fnlwgt decides: they are measured so too, and beside that with every column
in standard deviations. ``hush study kctgan``
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from hushtable.api.store import Result
from hushtable.audits.reconstruction import Reconstruction
from hushtable.evidence.case import Case
from hushtable.evidence.reading import floats_like
from hushtable.measures.downstream_models import predictions
from hushtable.measures.features import features
from hushtable.measures.joint import Joint, Moments, bandwidth, frechet_distance
from hushtable.studies.held_out import HeldOut
from hushtable.studies.kctgan_published import SOURCE
from hushtable.studies.kctgan_report import report
from hushtable.studies.lines import REAL, Lines, task_name
from hushtable.studies.releases import Method, make
from hushtable.studies.study import Scope, Study, Task, Work
from hushtable.studies.tables import found, table_of
from hushtable.table.arrays import Floats
from hushtable.table.columns import Role
from hushtable.table.table import Table

DATA = {"adult": "Adult", "tcga_breast": "RNA"}
"""Our tables, and what they stand for in the source."""
COMPARED = 3000
"""Rows of each table between which distances of values as they are are taken."""
THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(1, 21))
"""Of figure 4.2, in means of the nearest distance."""
OWN = (100, 300, 1000, 3000, 10_000, 30_000, 48_842)
"""Numbers of real rows whose own nearest distances are shown."""


@dataclass(frozen=True)
class Size:
    """How much is run."""

    names: tuple[str, ...] = ("adult", "tcga_breast")
    rows: int | None = None
    runs: int = 3
    quick: bool = False


FULL, QUICK = Size(), Size(names=("adult",), rows=2000, runs=1, quick=True)
METHODS = (
    Method(name="RTVAE", recipe="rtvae", quick={"epochs": 30}),
    Method(name="DPGAN", recipe="dpgan", quick={"epochs": 30}),
    Method(name="ADSGAN", recipe="ads-gan", quick={"epochs": 20}),
    Method(name="PATEGAN", recipe="pate-gan"),
    Method(name="CTGAN", recipe="ctgan", quick={"epochs": 20}),
    Method(name="KCTGAN", recipe="kctgan", quick={"epochs": 20}),
    Method(name="M-KCTGAN", recipe="m-kctgan", quick={"gan.epochs": 20, "embed-decoded.epochs": 20}),
    Method(name="m-kctgan-certified", recipe="m-kctgan-certified", quick={"gan.epochs": 20, "embed-decoded.epochs": 20}),
)
"""The source's names for its own; ours by that of the recipe."""


def plan(scope: Scope) -> Work:
    """A task for each method, run and table that is at hand."""
    size = QUICK if scope.quick else FULL
    size = replace(size, runs=scope.runs or size.runs)
    tables, skipped = found(size.names, scope.data)
    skipped += [f"{name}: not in the quick scope" for name in FULL.names if name not in size.names]
    sets = {name: held_out(name, scope.data, size.rows) for name in tables}
    tasks = [_task(scope, size, name, None, 0) for name in tables]
    tasks += [_task(scope, size, name, m, run) for name in tables for m in METHODS for run in range(size.runs)]
    ran = tuple(DATA[name] for name in tables), tuple(m.name for m in METHODS), size.runs, size.quick, tuple(skipped)
    return Work(
        tasks=tasks,
        report=lambda results: report(Lines(*ran, results)),
        identity=["kctgan", size.rows, [(m.recipe, dict(m.knobs), dict(m.quick)) for m in METHODS]],
        tables=[part for one in sets.values() for part in (one.train, one.test)],
    )


STUDY = Study(name="kctgan", title="Synthetic rows after microaggregation on a manifold", source=SOURCE, plan=plan)


@cache
def held_out(name: str, folder: Path | None, rows: int | None) -> HeldOut:
    """A table under study: every column but the class is one that microaggregation replaces, as in the source."""
    table = table_of(name, folder)
    target = next(column.name for column in table.schema if column.role is Role.TARGET)
    roles = [replace(column, role=Role.QUASI) for column in table.schema if column.name != target]
    return HeldOut.of(table.under(table.schema.with_columns(*roles)), target, rows)


def _task(scope: Scope, size: Size, name: str, method: Method | None, run: int) -> Task:
    label = method.name if method else REAL
    # Of the longest, microaggregation and t-SNE.
    cost = 0.2 if method is None else 2.0 if "kctgan" in method.recipe else 1.0
    return Task(
        name=task_name(DATA[name], label, run),
        title=f"{name}: {label}",
        make=partial(cell, name, scope.data, size.rows, method, run, quick=size.quick),
        cost=cost,
    )


def cell(name: str, folder: Path | None, rows: int | None, method: Method | None, run: int, *, quick: bool) -> Result:
    """One release and all that is measured of it; without a method, of the real rows: those held out for a release."""
    held = held_out(name, folder, rows)
    counted = {"rows": held.train.rows, "columns": len(held.train.schema), "test": held.test.rows}
    if method is None:
        return counted | {"refined": measured(held, held.test, held.train), "own": _own(held), "width": _width(held)}
    made = make(method.turned(quick=quick), held.train, epsilon=method.epsilon, delta=1 / held.train.rows, seed=run)
    drawn = None if made.drawn is None else measured(held, made.drawn)
    return counted | {
        "refined": measured(held, made.table), "drawn": drawn, "proven": made.proven, "seconds": made.seconds,
    }  # fmt: skip


def measured(held: HeldOut, released: Table, lesson: Table | None = None) -> Result:
    """Everything about a release; what is learnt from ``lesson`` where that is another table."""
    case = Case(held.train, released, held.test)
    discrepancy, frechet = Joint().run(case, np.random.default_rng(0))
    curve, _ = Reconstruction().run(case, np.random.default_rng(0))
    learnt = held.lesson(released if lesson is None else lesson)
    scores = learnt.scores(predictions("boosting", learnt.rows, learnt.test, learnt.shape))
    ours, real = (as_they_are(table, held.train) for table in (released, held.train))
    nearest = nearest_distances(ours[:COMPARED], real[:COMPARED])
    assert discrepancy.value is not None
    assert frechet.value is not None
    return {
        "mmd": 1000 * discrepancy.value**2, "frechet": frechet.value**2,
        "fid": frechet_distance(_moments(ours), _moments(real)) ** 2,
        "f1": scores["F1"], "auc": scores["AUC"],
        "distance": float(nearest.mean()), "variance": float(nearest.var()),
        "disclosed": [float((nearest < share * nearest.mean()).mean()) for share in THRESHOLDS],
        "reconstruction": curve.value,
    }  # fmt: skip


def as_they_are(table: Table, reference: Table) -> Floats:
    """Numbers, and levels by their place in the schema, -1 where missing: what the source takes distances between."""
    return np.nan_to_num(np.column_stack([floats_like(table, name, reference) for name in reference.schema.names]), nan=-1.0)


def nearest_distances(ours: Floats, real: Floats) -> Floats:
    """From each of our points to the nearest real one."""
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(real).query(ours)[0])


def _moments(points: Floats) -> Moments:
    return Moments(points.mean(axis=0), np.cov(points, rowvar=False))


def _own(held: HeldOut) -> Mapping[str, list[float]]:
    """Of so many real rows the mean and variance of the distance to the nearest other."""
    from scipy.spatial import cKDTree

    points = np.concatenate([as_they_are(table, held.train) for table in (held.train, held.test)])
    found = dict[str, list[float]]()
    for rows in OWN:
        if rows <= len(points):
            apart = np.asarray(cKDTree(points[:rows]).query(points[:rows], k=2)[0])[:, 1]
            found[str(rows)] = [float(apart.mean()), float(apart.var())]
    return found


def _width(held: HeldOut) -> float:
    """Of the kernel: it depends on real rows only."""
    return bandwidth(features(Case(held.train, held.test, held.test)), np.random.default_rng(0))
