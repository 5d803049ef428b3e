"""A study of two methods that draw numbers: one that is refused, one that fails, one that works."""

from __future__ import annotations

from functools import partial

import numpy as np

from hushtable.errors import InputError
from hushtable.evidence.finding import Better
from hushtable.report.charts.plots import svg
from hushtable.studies.report import (
    Figure,
    Grid,
    Number,
    Numbers,
    Report,
    Section,
    Statement,
    Statements,
    Verdict,
    refusals,
)
from hushtable.studies.study import Scope, Study, Task, Work

MADE: list[str] = []
"""Tasks that were made, in order."""


def made(name: str, run: int) -> dict[str, float]:
    MADE.append(f"{name}-{run}")
    if name == "refused":
        raise InputError("has no rows", where="table")
    if name == "broken":
        raise ValueError("the secret of a row")
    return {"auc": float(np.random.default_rng(run).normal(0.8, 0.01))}


def plan(scope: Scope) -> Work:
    runs = scope.runs or (1 if scope.quick else 3)
    names = ("works", "refused", "broken")
    tasks = [Task(name=f"{n}-{r}", title=f"{n}, run {r}", make=partial(made, n, r)) for n in names for r in range(runs)]
    return Work(tasks=tasks, report=report, identity=[100])


def report(results):
    aucs = [one["auc"] for one in results.values() if "auc" in one]
    same = {"data": "Adult", "measure": "AUC", "better": Better.HIGHER}
    scale = "the scale is not given"
    numbers = (
        Number.over(aucs, method="works", published=0.795, **same),
        Number.over(aucs, method="also", published=0.7, **same),
        Number.over(aucs, method="works", published=3.2e9, data="Adult", measure="FID", why_not=scale),
        Number(method="absent", published=-4.05, data="RNA", measure="FID", why_not="the data are not to be had"),
        Number(method="new", ours=0.9, data="Adult", measure="AUC"),
    )
    said = Statement(says="It works.", verdict=Verdict.CONFIRMED, because="0.80 against 0.50")
    figure = Figure(name="curve", title="Figure 1", caption="Nothing rises.", drawn=svg(10, 10, "nothing"))
    grid = Grid(title="Seconds", heads=("method", "s"), rows=(("works", "1"),), note="of one core")
    parts = (
        Numbers(title="Table 1", numbers=numbers, note="by boosting"),
        grid,
        figure,
        Statements(title="Words", statements=(said,)),
    )
    return Report(
        title="A toy",
        source="T. Oy, Toys, 2020",
        lead="Two methods | one <table>.",
        sections=(Section(title="Adult", parts=parts, lead="All of it."),),
        notes=("Read with care.",),
        skipped=refusals(results),
    )


STUDY = Study(name="toy", title="A toy", source="T. Oy, Toys, 2020", plan=plan)
