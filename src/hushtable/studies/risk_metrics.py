"""Whether metrics of privacy answer to a risk that was put there on purpose: chapter 4 of Plasencia Palacios 2025.

Leaks of known size, a generator that is trained too far, and private generators at ever larger epsilon; then outliers removed,
other numbers of neighbours and radii, larger releases, how metrics go together, and what they cost. ``hush study risk-metrics``
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from hushtable.api.certificate import Expect, curve
from hushtable.api.certify import Study as Planted
from hushtable.api.generator_curves import TREES
from hushtable.api.store import Result
from hushtable.audits import planted
from hushtable.display import silent
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.measures.discriminator import Discriminator
from hushtable.studies import plasencia, risk_curves, risk_metrics_report
from hushtable.studies.plasencia import TRANSFORMER, loaded
from hushtable.studies.plasencia_metrics import risks, sensitivity
from hushtable.studies.releases import Method, make
from hushtable.studies.report import Report
from hushtable.studies.study import Scope, Study, Task, Work, slug

DELTA = 1e-6


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is run."""

    rows: int | None
    """Of a table at most; a third each are training, control and fresh rows."""
    epsilons: Mapping[str, tuple[float, ...]]
    """Those of each private generator."""
    runs: int
    outliers: bool
    """Whether outliers are removed for the transformer too, which takes a training for each share; for synthpop they always are."""


EPSILONS = (1.0, 5.0, 10.0, 50.0, 100.0)
PRIVATE = {"AIM": "aim", "PATE-GAN": "pate-gan"}
"""The private generators of the thesis, by recipe. AIM is proven, PATE-GAN's epsilon is claimed."""
FULL = Effort(rows=None, epsilons={"AIM": EPSILONS, "PATE-GAN": EPSILONS}, runs=3, outliers=True)
"""As published. Hours."""
LONG = ("PATE-GAN and AIM at large epsilons", "outliers removed for REaLTabFormer")
"""What a quick look leaves out."""
QUICK = Effort(rows=6000, epsilons={"AIM": (1.0, 10.0)}, runs=1, outliers=False)
"""About four minutes of one core."""
GENERATORS = (
    Method(name="RTF", recipe=TRANSFORMER, knobs=plasencia.unrefined(TRANSFORMER)),
    Method(name="synthpop", recipe="sequential", knobs={"min_leaf": 5, "prune": 0, "shrink": 0, "refine": 0}),
    Method(name="AIM", recipe="aim"),
    Method(name="PATE-GAN", recipe="pate-gan"),
)
"""Those of figure 4.9. synthpop's own trees are not ours: its leaves are smaller, and nothing is pruned or refined."""


def plan(scope: Scope) -> Work:
    """For each table and run a task for each risk model, for what metrics cost, and for what each generator's rows are like."""
    effort, folder = _effort(quick=scope.quick), None if scope.data is None else str(scope.data)
    here, skipped = plasencia.tables(folder, effort.rows)
    runs = scope.runs or effort.runs
    tasks = [
        Task(name=f"{name}-{slug(what)}-{run}", title=f"{title}: {what}", make=made, cost=cost)
        for title, name in here.items()
        for run in range(runs)
        for what, made, cost in _tasks(name, folder, run, effort, quick=scope.quick)
    ]
    left = [f"{title}: {what}, which takes long" for title in here for what in (LONG if scope.quick else ())]
    little = f"a quick look: {effort.rows:,} rows here, all rows there" if scope.quick else ""

    def report(results: Mapping[str, Result]) -> Report:
        return risk_metrics_report.report(results, here, runs=runs, skipped=[*skipped, *left], quick=little)

    return Work(
        tasks=tasks,
        report=report,
        identity=["risk-metrics", effort, plasencia.climbing(quick=scope.quick).recipe],
        tables=[loaded(name, folder, effort.rows) for name in here.values()],
    )


def _tasks(
    name: str, folder: str | None, run: int, effort: Effort, *, quick: bool
) -> list[tuple[str, partial[Result], float]]:  # fmt: skip
    on = partial(_planted, name, folder, run, quick=quick)
    made = [
        ("leaky", partial(on, models=("leaky",)), 3.0),
        ("overfit RTF", partial(on, models=("overfit", "size"), climbing=True), 20.0),
        ("overfit synthpop", partial(on, models=("overfit",)), 4.0),
        ("outliers synthpop", partial(on, models=("outliers",)), 6.0),
        ("seconds", partial(timed, name, folder, run, quick=quick), 2.0),
    ]
    made += [("outliers RTF", partial(on, models=("outliers",), climbing=True), 60.0)] if effort.outliers else []
    made += [
        (f"private {shown}", partial(private, name, folder, run, shown, epsilons, quick=quick), 20.0)
        for shown, epsilons in effort.epsilons.items()
    ]
    made += [(f"likeness {one.name}", partial(likeness, name, folder, run, one.name, quick=quick), 5.0) for one in GENERATORS]
    return made


def _planted(
    name: str, folder: str | None, run: int, *, quick: bool, models: Sequence[str], climbing: bool = False
) -> Result:  # fmt: skip
    """Some risk models of ``certify`` under all metrics."""
    certificate = _study(name, folder, run, quick=quick, climbing=climbing).run(models)
    return risk_curves.stored(certificate.curves, certificate.refused)


def private(
    name: str, folder: str | None, run: int, shown: str, epsilons: Sequence[float], *, quick: bool
) -> Result:  # fmt: skip
    """A private generator at each epsilon under all metrics; one whose epsilon is only claimed is told it as a knob."""
    study = _study(name, folder, run, quick=quick)

    def case(epsilon: float) -> Case:
        method = Method(name=shown, recipe=PRIVATE[shown])
        method = method if method.proven else replace(method, knobs={"epsilon": epsilon})
        made = make(method.turned(quick=quick), study.parts["train"], epsilon=epsilon, delta=DELTA, seed=run)
        return study.case(made.table)

    points = [(epsilon, study.cell(f"private-{epsilon:g}", partial(case, epsilon))) for epsilon in epsilons]
    return risk_curves.stored([curve("private", shown, "epsilon", Expect.NOTHING, points)], {})


def timed(name: str, folder: str | None, run: int, *, quick: bool) -> Result:
    """Processor seconds of each metric on a release of which half is leaked, the second time that it is used on it."""
    study = _study(name, folder, run, quick=quick)
    seconds = {}
    for metric, audit in study.audits.items():
        for _ in range(2):
            rng = np.random.default_rng(run)
            case = study.case(planted.leaky(study.parts["train"], study.parts["fresh"], 0.5, rng))
            start = time.process_time()
            harness.run(case, {metric: audit}, run)
            seconds[metric] = time.process_time() - start
    return {"seconds": seconds, "rows": study.parts["train"].rows}


def likeness(name: str, folder: str | None, run: int, generator: str, *, quick: bool) -> Result:
    """How well a model distinguishes the rows of a generator from real ones (figure 4.9), and fresh rows beside it."""
    study = _study(name, folder, run, quick=quick)
    method = next(one for one in GENERATORS if one.name == generator)
    made = make(method.turned(quick=quick), study.parts["train"], epsilon=method.epsilon, delta=DELTA, seed=run)
    found = Discriminator().run(study.case(made.table), np.random.default_rng(run))[0]
    return {"auc": found.value, "low": found.low, "high": found.high, "fresh": found.baseline, "proven": made.proven}


def _study(name: str, folder: str | None, run: int, *, quick: bool, climbing: bool = False) -> Planted:
    table = loaded(name, folder, _effort(quick=quick).rows)
    audits = risks(name, table) | sensitivity(name, table)
    generator = plasencia.climbing(quick=quick) if climbing else TREES
    return Planted(table, audits, table.rows // 3, run, None, quick, silent, generator=generator, named=True)


def _effort(*, quick: bool) -> Effort:
    return QUICK if quick else FULL


STUDY = Study(
    name="risk-metrics",
    title="Metrics of privacy under a risk that was put there",
    source=plasencia.SOURCE,
    plan=plan,
)
