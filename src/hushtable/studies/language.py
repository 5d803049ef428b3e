"""Private language models: the published numbers beside ours on four tasks of GLUE, the majority class beside every accuracy.

Classifiers by DP-LoRA, distillation and pruning (tables 5.2 to 5.9); texts by filling masks, and what of the training texts can be
seen in them (table 5.10); layers left out of a causal model. ``hush study language``
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hushtable.api.store import Result
from hushtable.errors import InputError
from hushtable.language.models import Sort, checkpoint
from hushtable.language.prune import Rule
from hushtable.studies import language_filled as filling
from hushtable.studies import language_pruned as pruning
from hushtable.studies import language_report, language_tasks
from hushtable.studies.language_filled import REWRITTEN, Fill
from hushtable.studies.language_pruned import CAUSAL, TENTHS, Pruning
from hushtable.studies.language_published import BUDGETS, SOURCE, SST2
from hushtable.studies.language_results import Measured
from hushtable.studies.language_tasks import DELTA, EPSILON, FEW, LINES, MODEL, TASKS, Size
from hushtable.studies.report import Report
from hushtable.studies.study import Scope, Study, Task, Work


@dataclass(frozen=True)
class Effort:
    """How much is run."""

    classifiers: Size
    fill: Fill
    pruning: Pruning
    runs: int
    whole: bool
    """Whether all lines and budgets are run on all tasks, or on the first alone."""


QUICK = Effort(
    Size(rows=100, pairs=60, public=30, tested=60, length=32, rate=0.2, steps=2, epochs=1),
    Fill(rows=100, public=200, warm=6, rate=0.2, steps=3, passes=2, scored=6, written=6, length=16),
    Pruning(public=12, tested=12, repeats=1), runs=1, whole=False,
)  # fmt: skip
"""About three minutes of one core."""
FULL = Effort(
    Size(rows=3000, pairs=900, public=300, tested=None, length=96, rate=0.1, steps=10, epochs=2),
    Fill(rows=1000, public=2000, warm=100, rate=0.1, steps=10, passes=3, scored=40, written=40, length=24),
    Pruning(public=64, tested=60, repeats=3), runs=1, whole=True,
)  # fmt: skip
"""More than an hour of one core; three runs take three times as long."""


def plan(scope: Scope) -> Work:
    """A task for each line on each task of GLUE, each budget of filled texts, and each pruned model, as far as is at hand."""
    effort = QUICK if scope.quick else FULL
    runs, root = scope.runs or effort.runs, _root(scope)
    here, skipped = _at_hand(root)
    encoder, causal = (_missing(model, sort) for model, sort in ((MODEL, Sort.ENCODER), (CAUSAL, Sort.CAUSAL)))
    skipped += [why for why in (encoder, causal) if why]
    made = list[Task]()
    if not encoder:
        made += _classifiers(str(root), here, effort, runs)
        made += _filled(str(root), here, effort, runs)
    if not causal and SST2 in here:
        made += _pruned(str(root), effort)
    skipped.append("QNLI, and WNLI as a source task: they are not at hand")
    if not effort.whole:
        skipped.append(f"most lines and budgets of tasks other than {SST2}, in a quick look")
    size, said = effort.classifiers, tuple(skipped)
    lead = (
        f"Classifiers of {', '.join(TASKS)} ({size.rows:,} rows, {size.pairs:,} pairs; epsilon {EPSILON:g}, delta {DELTA:g}), "
        f"texts filled by an encoder that {effort.fill.rows:,} texts adapted, and a pruned causal model, beside what was published."
    )

    def report(results: Mapping[str, Result]) -> Report:
        return language_report.report(Measured(results, runs), lead, said)

    return Work(
        tasks=made, report=report, identity=["language", EPSILON, DELTA, effort.classifiers, effort.fill, effort.pruning],
        tables=[language_tasks.rows(str(root), name, size.count(TASKS[name]))[0] for name in here] if made else [],
    )  # fmt: skip


STUDY = Study(name="language", title=language_report.TITLE, source=SOURCE, plan=plan)


def _classifiers(root: str, here: list[str], effort: Effort, runs: int) -> Iterator[Task]:
    size = effort.classifiers
    for name in here:
        for line in LINES:
            if effort.whole or name == SST2 or line.name in FEW:
                for run in range(runs):
                    yield Task(
                        name=language_tasks.task_name(name, line.name, run), title=f"{name}: {line.name}",
                        make=partial(language_tasks.cell, root, size, name, line, run), cost=3.0 if TASKS[name].pairs else 2.0,
                    )  # fmt: skip


def _filled(root: str, here: list[str], effort: Effort, runs: int) -> Iterator[Task]:
    for name in here if effort.whole else here[:1]:
        for budget in (*BUDGETS, REWRITTEN):
            for run in range(runs):
                yield Task(
                    name=filling.task_name(name, budget, run), title=f"{name}: texts, {budget}",
                    make=partial(filling.filled, root, effort.fill, name, budget, run), cost=4.0,
                )  # fmt: skip


def _pruned(root: str, effort: Effort) -> Iterator[Task]:
    for rule in Rule:
        for tenths in TENTHS:
            yield Task(
                name=pruning.task_name(rule, tenths), title=f"{CAUSAL} without {tenths} tenths of its layers, {rule}",
                make=partial(pruning.pruned, root, effort.pruning, rule, tenths), cost=1.0,
            )  # fmt: skip


def _root(scope: Scope) -> Path | None:
    return scope.data or (Path(os.environ["HUSHTABLE_DATA"]) if os.environ.get("HUSHTABLE_DATA") else None)


def _at_hand(root: Path | None) -> tuple[list[str], list[str]]:
    """The tasks whose rows are here, and why the others are not."""
    here = [name for name, task in TASKS.items() if root is not None and all(path.is_file() for path in task.files(root))]
    return here, [f"{name}: its rows are not at hand (set HUSHTABLE_DATA)" for name in TASKS if name not in here]


def _missing(model: str, sort: Sort) -> str:
    try:
        checkpoint(model, sort, "study language")
    except InputError as error:
        return f"{model}: it is not at hand: {error}"
    return ""
