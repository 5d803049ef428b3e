"""Prior knowledge in GANs: tables 4.5 to 4.7 of Garg (2025), repeated on Adult, German Credit and Social Diagnosis 2011.

A quarter of the rows is held out. Each method draws as many rows as it was given, three learners predict from them the class (or,
of Social Diagnosis, the income) of the people held out, and associations of pairs of columns are compared. LightGBM and XGBoost are
histogram boosting with the settings that these have when nobody sets any. ``hush study constraints``
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.api.store import Result
from hushtable.evidence.case import Case
from hushtable.measures import catalogue
from hushtable.measures.dependence import Association
from hushtable.measures.downstream_models import STEEP, predictions
from hushtable.studies.constraints_published import ADULT, CONSTRAINTS, CREDIT, LIGHTGBM, LINEAR, SD2011, SOURCE, XGBOOST
from hushtable.studies.constraints_report import report
from hushtable.studies.constraints_tables import held_out, table
from hushtable.studies.held_out import HeldOut
from hushtable.studies.lines import REAL, Lines, task_name
from hushtable.studies.releases import Method, make
from hushtable.studies.study import Scope, Study, Task, Work
from hushtable.studies.tables import found
from hushtable.synthesize.neural.gan.constraints import read_constraints
from hushtable.table.broken import breaks
from hushtable.table.table import Table

LEARNERS = {LIGHTGBM: "boosting", XGBOOST: STEEP, LINEAR: "linear"}
SHORT: Mapping[str, Any] = {"epochs": 10}
FEW: Mapping[str, Any] = {"steps": 20}
METHODS = (
    Method(name="CTGAN", recipe="ctgan", quick=SHORT),
    Method(name="PCGAN", recipe="pcgan", quick=SHORT),
    Method(name="CSGAN", recipe="csgan", quick=SHORT),
    Method(name="BNGAN", recipe="bngan", quick=SHORT),
    Method(name="DP-PCGAN", recipe="dp-pcgan", quick=SHORT),
    Method(name="DP-CSGAN", recipe="dp-csgan", quick=SHORT),
    Method(name="DP-BNGAN", recipe="dp-bngan", quick=SHORT),
    Method(name="DPGAN", recipe="dpgan", quick=SHORT),
    Method(name="PATEGAN", recipe="pate-gan", quick={"most": 20}),
    Method(name="ADSGAN", recipe="ads-gan", quick=SHORT),
    Method(name="dp-pcgan-certified", recipe="dp-pcgan-certified", quick=FEW),
    Method(name="dp-csgan-certified", recipe="dp-csgan-certified", quick=FEW),
    Method(name="dp-bngan-certified", recipe="dp-bngan-certified", epsilon=2.0, quick=FEW),
    Method(name="dpgan-certified", recipe="dpgan-certified", quick=FEW),
    Method(name="pate-gan-certified", recipe="pate-gan-certified", quick=FEW),
)
"""The source's names for its own, then our certified twins by the names of their recipes."""


@dataclass(frozen=True)
class Size:
    """How much is run: rows of each table to learn from at most."""

    rows: Mapping[str, int | None] = field(default_factory=lambda: {ADULT: None, CREDIT: None, SD2011: None})
    runs: int = 3
    quick: bool = False


FULL, QUICK = Size(), Size(rows={ADULT: 1200, CREDIT: None, SD2011: 600}, runs=1, quick=True)


def plan(scope: Scope) -> Work:
    """A task for each method, run and table that is at hand."""
    size = QUICK if scope.quick else FULL
    size = replace(size, runs=scope.runs or size.runs)
    tables, skipped = found(size.rows, scope.data, table)
    sets = {name: held_out(name, scope.data, size.rows[name]) for name in tables}
    tasks = [_task(scope, size, name, None, 0) for name in tables]
    tasks += [_task(scope, size, name, m, run) for name in tables for m in METHODS for run in range(size.runs)]
    ran = tuple(tables), tuple(m.name for m in METHODS), size.runs, size.quick, tuple(skipped)
    return Work(
        tasks=tasks,
        report=lambda results: report(Lines(*ran, results)),
        identity=["constraints", dict(size.rows), [(m.recipe, m.epsilon, dict(m.knobs), dict(m.quick)) for m in METHODS]],
        tables=[part for one in sets.values() for part in (one.train, one.test)],
    )


STUDY = Study(name="constraints", title="Prior knowledge in GANs", source=SOURCE, plan=plan)


def _task(scope: Scope, size: Size, name: str, method: Method | None, run: int) -> Task:
    label = method.name if method else REAL
    return Task(
        name=task_name(name, label, run),
        title=f"{name}: {label}",
        make=partial(cell, name, scope.data, size.rows[name], method, run, quick=size.quick),
        cost={ADULT: 10.0, CREDIT: 1.0, SD2011: 3.0}[name] * (0.1 if method is None else 1.0),
    )


def cell(name: str, folder: Path | None, rows: int | None, method: Method | None, run: int, *, quick: bool) -> Result:
    """One release and all that is measured of it; without a method, of the real rows."""
    held = held_out(name, folder, rows)
    if method is None:
        return _real(name, held) | {"refined": learnt(held, held.train) | associations(held, held.test)}
    if "pcgan" in method.recipe:
        method = replace(method, knobs={**method.knobs, "constraints": CONSTRAINTS[name]})
    made = make(method.turned(quick=quick), held.train, epsilon=method.epsilon, delta=1 / held.train.rows, seed=run)
    both = {"refined": made.table, "drawn": made.drawn}
    measured = {side: one and learnt(held, one) | associations(held, one) for side, one in both.items()}
    return {**measured, "proven": made.proven, "seconds": made.seconds}


def learnt(held: HeldOut, released: Table) -> Result:
    """By learner, how well it predicts the people held out."""
    lesson = held.lesson(released)
    return {
        name: lesson.scores(predictions(family, lesson.rows, lesson.test, lesson.shape)) if len(lesson.rows) else {}
        for name, family in LEARNERS.items()
    }


def associations(held: HeldOut, released: Table) -> Result:
    """Of pairs of categories how many stay as strong, and of pairs of numbers how alike their correlations are."""
    wanted = {"levels": (False, catalogue.LEVELS_KEPT), "pearson": (True, catalogue.PEARSON)}
    values = dict[str, float | None]()
    for key, (numeric, measure) in wanted.items():
        names = [column.name for column in held.train.schema if column.numeric is numeric]
        case = Case(held.train.select(names), released.select(names), held.test.select(names))
        findings = Association().run(case, np.random.default_rng(0))
        values[key] = next(finding.value for finding in findings if finding.name == measure.name)
    return values


def _real(name: str, held: HeldOut) -> Result:
    """What there is to know of the rows themselves, and how many break the constraints."""
    whole = Table.concat([held.train, held.test])
    constraints = read_constraints(CONSTRAINTS[name], whole.schema, "constraints")
    broken = {one.text: int(np.logical_or.reduce([breaks(whole, zero) for zero in one.zeros]).sum()) for one in constraints}
    of_class = {"majority": held.majority} if held.train.schema[held.target].coded else {"spread": held.spread}
    counted = {"rows": held.train.rows, "test": held.test.rows, "columns": len(whole.schema), "target": held.target}
    return {**counted, **of_class, "broken": broken}
