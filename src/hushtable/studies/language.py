"""Private classifiers of text: the published accuracies beside ours on SST-2, the majority class beside each."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hushtable.api.store import Result
from hushtable.errors import InputError
from hushtable.evidence.confidence import wilson
from hushtable.evidence.finding import Better
from hushtable.language.classifier import TextClassifier
from hushtable.language.models import Sort, checkpoint
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.options import ReleaseOptions
from hushtable.pipeline.run import release
from hushtable.studies.language_published import (
    BUDGETS,
    MAJORITY,
    PERPLEXITY,
    SIMILARITY,
    SOURCE,
    SST2,
    TABLES,
    below_majority,
    impossible_f1,
    impossible_perplexity,
)  # fmt: skip
from hushtable.studies.report import Number, Numbers, Report, Section
from hushtable.studies.study import Scope, Study, Task, Work, slug
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

MODEL, FOLDER, TEXT, LABEL = "minilm", "glue_sst2", "sentence", "label"
EPSILON, DELTA = 1.0, 1e-6
ELSEWHERE = "this task was not run: only SST-2 is"
OTHER = "another encoder (all-MiniLM-L6-v2: 6 layers, 22.7 million parameters), a part of the rows, delta 1e-6"
NOT_RUN = "no run of ours corresponds to it"


@dataclass(frozen=True)
class Line:
    """A recipe of ours, and the published lines that it stands beside."""

    name: str
    recipe: str
    knobs: tuple[tuple[str, object], ...]
    beside: tuple[str, ...]
    private: bool = True


_PLAIN = (("sigma", 0.0), ("clip", 1e9), ("batch", 128), ("speed", 0.002))
LINES = (
    Line("a private head alone", "dp-lora", (("steps", 0),), ()),
    Line("dp-lora", "dp-lora", (), ("BERT-base, DP",)),
    Line("dp-lora of three layers", "dp-lora", (("drop", 3),), ("BERT-tiny, DP", "pairwise, LoRA, epsilon 1")),
    Line("tskd", "tskd", (), ("BERT-tiny, TSKD", "DistilBERT, TSKD")),
    Line("tskd-transfer", "tskd-transfer", (), ()),
    Line("by one neighbour", "prune-dp-lora", (("rule", "cosine"), ("drop", 3)), ("cosine, LoRA, epsilon 1",)),
    Line("without privacy", "dp-lora-published", _PLAIN, ("BERT-base, no DP",), private=False),
    Line("three layers without privacy", "dp-lora-published", (*_PLAIN, ("drop", 3)), ("BERT-tiny, no DP",), private=False),
)


@dataclass(frozen=True)
class Size:
    """How much is run."""

    rows: int
    public: int
    rate: float
    steps: int
    epochs: int
    runs: int


QUICK, FULL = Size(2000, 300, 0.2, 5, 1, 1), Size(20_000, 2000, 0.1, 30, 3, 3)


def plan(scope: Scope) -> Work:
    """A task for each line and run, where the rows and the encoder are at hand."""
    size = QUICK if scope.quick else FULL
    size = replace(size, runs=scope.runs or size.runs)
    folder, skipped = _folder(scope), []
    if folder is None:
        skipped.append(f"{SST2}: its rows are not at hand (set HUSHTABLE_DATA)")
    try:
        checkpoint(MODEL, Sort.ENCODER, "study language")
    except InputError as error:
        skipped.append(f"{SST2}: the encoder is not at hand: {error}")
    here = LINES if not skipped else ()
    skipped.append("RTE, MRPC, CoLA, QNLI: only SST-2 is run; of table 5.10 only the published numbers are judged")
    tasks = [
        Task(name=f"{slug(line.name)}-{run}", title=f"{SST2}: {line.name}", make=partial(cell, str(folder), size, line, run))
        for line in here
        for run in range(size.runs)
    ]
    said = tuple(skipped)
    return Work(
        tasks=tasks, report=lambda results: report(results, size, said),
        identity=["language", EPSILON, DELTA, size.rows, size.public, size.rate, size.steps, size.epochs],
        tables=[rows(str(folder), size.rows)[0]] if here else [],
    )  # fmt: skip


STUDY = Study(name="language", title="Private classifiers of text", source=SOURCE, plan=plan)


def _folder(scope: Scope) -> Path | None:
    root = scope.data or (Path(os.environ["HUSHTABLE_DATA"]) if os.environ.get("HUSHTABLE_DATA") else None)
    return root / FOLDER if root is not None and (root / FOLDER / "sst2_train.tsv.gz").is_file() else None


@cache
def rows(folder: str, count: int) -> tuple[Table, list[str], Table]:
    """So many rows of the training set, all its other texts, which are taken for public, and the development set."""
    train, held = (_read(Path(folder) / f"sst2_{part}.tsv.gz") for part in ("train", "dev"))
    order = np.random.default_rng(0).permutation(len(train))
    return _table([train[i] for i in order[:count]]), [train[i][0] for i in order[count:]], _table(held)


def _read(path: Path) -> list[tuple[str, int]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [(row[TEXT].strip(), int(row[LABEL])) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def _table(pairs: list[tuple[str, int]]) -> Table:
    label = Column(name=LABEL, kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("0", "1")), required=True)
    table = Table(Schema((label,)), {LABEL: np.array([own for _, own in pairs], label.dtype)})
    return table.with_text(Column(name=TEXT, kind=Kind.TEXT), [text for text, _ in pairs])


def cell(folder: str, size: Size, line: Line, run: int) -> Result:
    """How many texts of the development set a classifier gets right."""
    train, public, held = rows(folder, size.rows)
    with TemporaryDirectory() as place:
        pool = Path(place) / "pool.txt"
        start = (run * size.public) % max(len(public) - size.public, 1)
        pool.write_text("\n".join(public[start : start + size.public]), encoding="utf-8")
        recipe = recipes.load(line.recipe)
        own = {"model": MODEL, "pool": str(pool)} | ({"rate": size.rate, "steps": size.steps} if line.private else {})
        own |= {} if line.private else {"epochs": size.epochs}
        knobs = {**own, **dict(line.knobs)}
        recipe = replace(recipe, steps=tuple(replace(step, **knobs) for step in recipe.steps))  # type: ignore[type-var]
        options = ReleaseOptions(epsilon=EPSILON, delta=DELTA) if line.private else ReleaseOptions()
        made = release(train, recipe, options).require_fitted().model
        assert isinstance(made, TextClassifier)
        right = made.chances(list(held.strings(TEXT))).argmax(1) == held[LABEL]
    return {"right": int(right.sum()), "texts": held.rows}


def report(results: Mapping[str, Result], size: Size, skipped: tuple[str, ...]) -> Report:
    """All published tables, ours beside the lines that they repeat."""
    refused = [f"{own['title']}: {own['refused']}" for own in results.values() if "refused" in own]
    accuracies = Section(
        title="Accuracy", parts=(Numbers(title="Ours alone", numbers=tuple(_alone(results, size))), *_accuracies(results, size)),
        lead="In percent, on the development sets. Beside each task stands its majority class: what a constant reaches.",
    )  # fmt: skip
    written = Section(title="Written text", parts=(Numbers(title="Table 5.10", numbers=tuple(_written())),))
    return Report(
        title=STUDY.title, source=SOURCE,
        lead=f"Classifiers of {SST2} ({size.rows:,} rows, epsilon {EPSILON:g}, delta {DELTA:g}) beside what was published.",
        sections=(accuracies, written),
        notes=(
            "the other texts of the training set are taken for public ones",
            "what the encoder read in public is unknown, and may overlap with the task",
        ),
        skipped=(*skipped, *refused),
    )  # fmt: skip


def named(task: str) -> str:
    """A task and its majority class."""
    return f"{task} (majority {MAJORITY[task]:g})" if task in MAJORITY else f"{task} (majority unknown here)"


def _ours(results: Mapping[str, Result], line: Line, size: Size) -> dict[str, float | None]:
    """Of one run with its binomial interval, of several with that of their mean."""
    runs = [own for run in range(size.runs) if "right" in (own := results.get(f"{slug(line.name)}-{run}", {}))]
    if not runs:
        return {}
    if len(runs) == 1:
        rate = wilson(runs[0]["right"], runs[0]["texts"])
        return {"ours": 100 * rate.value, "low": 100 * rate.low, "high": 100 * rate.high}
    over = Number.over([100 * own["right"] / own["texts"] for own in runs], data="", method="", measure="")
    return {"ours": over.ours, "low": over.low, "high": over.high}


def _alone(results: Mapping[str, Result], size: Size) -> Iterator[Number]:
    for line in LINES:
        if ours := _ours(results, line, size):
            yield Number(data=named(SST2), method=line.name, measure="accuracy", better=Better.HIGHER, **ours)  # type: ignore[arg-type]


def _accuracies(results: Mapping[str, Result], size: Size) -> Iterator[Numbers]:
    for title, (tasks, lines) in TABLES.items():
        numbers = []
        for method, values in lines.items():
            for task, value in zip(tasks, values, strict=True):
                line = next((own for own in LINES if method in own.beside and task == SST2), None)
                ours = _ours(results, line, size) if line is not None else {}
                why = (OTHER if ours else NOT_RUN) if task == SST2 else ELSEWHERE
                wrong = below_majority(task, value) if value is not None else ""
                numbers.append(
                    Number(
                        data=named(task),
                        method=method,
                        measure="accuracy",
                        published=value,
                        better=Better.HIGHER,
                        why_not=wrong or why,
                        **ours,
                    )
                )
        yield Numbers(title=title, numbers=tuple(numbers))


def _written() -> Iterator[Number]:
    for task, values in PERPLEXITY.items():
        for place, (budget, value) in enumerate(zip(BUDGETS, values, strict=True)):
            precision, recall, f1 = (float(own[place] or 0) for own in SIMILARITY[task])
            lines = {
                "perplexity": (float(value or 0), impossible_perplexity(float(value or 0))),
                "BERTScore F1": (f1, impossible_f1(precision, recall, f1)),
            }
            for measure, (number, wrong) in lines.items():
                yield Number(data=task, method=budget, measure=measure, published=number, why_not=wrong or NOT_RUN)
