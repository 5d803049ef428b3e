"""Attacks in the space of a contrastive encoder beside the plain ones, on three generators: chapter 3 of Plasencia Palacios 2025.

Singling out, the distance to the closest record, linkability and inference, each plain and contrastive, on releases of CTGAN,
DPCTGAN and REaLTabFormer, along the overfit ratio of a generator, and on leaks of known size with and without noise.
``hush study attacks``
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from hushtable.api.certify import Study as Planted
from hushtable.api.store import Result
from hushtable.audits.neural.encoder import Training
from hushtable.display import silent
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.studies import attacks_report, plasencia, risk_curves
from hushtable.studies.plasencia_metrics import CONTRASTIVE, attacks
from hushtable.studies.releases import Method, make
from hushtable.studies.report import Report
from hushtable.studies.study import Scope, Study, Task, Work, slug

DELTA = 1e-6


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is run."""

    rows: int | None
    """Of a table at most, training and control rows together; of planted leaks training, control and fresh rows."""
    control: float
    """The share of rows that no generator sees. Not said in the thesis; a fifth is that of the attacks' own authors."""
    encoder: Training
    """How the contrastive encoder is trained."""
    iterations: int
    """Of boosting in contrastive inference."""
    runs: int
    noisy: tuple[str, ...]
    """The risk models of leaks of known size."""


FULL = Effort(rows=None, control=0.2, encoder=Training(), iterations=40, runs=3, noisy=("leaky", "noisy"))
"""As published, as far as it is known. Hours."""
QUICK = Effort(rows=4000, control=0.5, encoder=Training(width=128, batch=256, steps=150), iterations=10, runs=1, noisy=("noisy",))
"""About four minutes of one core."""


METHODS = (
    Method(name="CTGAN", recipe="ctgan", knobs={"refine": 0, "epochs": 300, "dropout": 0.5}, quick={"epochs": 20}),
    Method(name="DPCTGAN", recipe="dp-ctgan", quick={"epochs": 20}),
    Method(name="DPCTGAN, certified", recipe="dp-ctgan-certified"),
    Method(name="RTF", recipe=plasencia.TRANSFORMER, knobs=plasencia.unrefined(plasencia.TRANSFORMER), quick={}),
)
"""By the names of the thesis; the certified form has none there. Epsilon is 1, which the thesis does not say."""


def plan(scope: Scope) -> Work:
    """Releases attacked, a training that goes too far, and planted leaks, for each table that is here."""
    effort, folder = _effort(quick=scope.quick), None if scope.data is None else str(scope.data)
    here, skipped = plasencia.tables(folder, effort.rows)
    runs, methods = scope.runs or effort.runs, METHODS
    tasks = []
    for title, name in here.items():
        for run in range(runs):
            for method in methods:
                make_it = partial(release_attacked, name, folder, method.name, run, quick=scope.quick)
                tasks.append(
                    Task(name=f"{name}-{slug(method.name)}-{run}", title=f"{title}: {method.name}", make=make_it, cost=4.0)
                )
            for model in ("overfit", *effort.noisy):
                make_it = partial(leaks_attacked, name, folder, model, run, quick=scope.quick)
                tasks.append(Task(name=f"{name}-{model}-{run}", title=f"{title}: {model}", make=make_it, cost=8.0))

    def report(results: Mapping[str, Result]) -> Report:
        return attacks_report.report(
            results, here, methods, runs=runs, skipped=skipped, quick=_little(effort) if scope.quick else ""
        )

    return Work(
        tasks=tasks,
        report=report,
        identity=["attacks", effort, [(method.recipe, dict(method.knobs)) for method in methods]],
        tables=[plasencia.loaded(name, folder, effort.rows) for name in here.values()],
    )


def release_attacked(name: str, folder: str | None, method: str, run: int, *, quick: bool) -> Result:
    """A release of one generator under all attacks: their numbers, and their seconds, each on a case of its own."""
    effort = _effort(quick=quick)
    table = plasencia.loaded(name, folder, effort.rows)
    order = np.random.default_rng([run]).permutation(table.rows)
    cut = round((1 - effort.control) * table.rows)
    train, control = table.take(order[:cut]), table.take(order[cut:])
    chosen = next(one for one in METHODS if one.name == method)
    made = make(chosen.turned(quick=quick), train, epsilon=chosen.epsilon, delta=DELTA, seed=run)
    case = Case(train, made.table, control)
    found, seconds, shared = dict[str, Sequence[float]](), dict[str, float](), 0.0
    for metric, audit in attacks(effort.encoder, effort.iterations).items():
        contrastive = metric.startswith(CONTRASTIVE)
        if contrastive and not shared:
            start = time.process_time()
            effort.encoder.encoder(case.read_as_values())
            shared = time.process_time() - start
        start = time.process_time()
        (one,) = harness.run(case, {metric: audit}, run)
        # Every contrastive attack needs the encoder that they share.
        seconds[metric] = time.process_time() - start + (shared if contrastive else 0.0)
        if one.value is not None:
            found[metric] = [one.value, one.low or 0.0, one.high or 0.0]
    return {"found": found, "seconds": seconds, "made": made.seconds, "proven": made.proven, "rows": [train.rows, control.rows]}


def leaks_attacked(name: str, folder: str | None, model: str, run: int, *, quick: bool) -> Result:
    """A risk model of ``certify`` under all attacks: one training that goes too far, or leaks of known size."""
    effort = _effort(quick=quick)
    table = plasencia.loaded(name, folder, effort.rows)
    climbing = plasencia.climbing(quick=quick)
    study = Planted(
        table, attacks(effort.encoder, effort.iterations), table.rows // 3, run, None, quick, silent, generator=climbing, named=True
    )  # fmt: skip
    certificate = study.run((model,))
    return risk_curves.stored(certificate.curves, certificate.refused)


def _effort(*, quick: bool) -> Effort:
    return QUICK if quick else FULL


def _little(effort: Effort) -> str:
    return f"a quick look: {effort.rows:,} rows and little training here, all rows there"


STUDY = Study(
    name="attacks",
    title="Contrastive attacks beside plain ones",
    source=plasencia.SOURCE,
    plan=plan,
)
