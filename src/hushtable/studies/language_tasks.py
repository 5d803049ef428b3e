"""Tasks of GLUE with private rows, public texts and a development set, and classifiers of ours on them (tables 5.2 to 5.9)."""

from __future__ import annotations

import csv
import gzip
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hushtable.api.store import Result
from hushtable.language.classifier import TextClassifier
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.options import ReleaseOptions
from hushtable.pipeline.run import release
from hushtable.studies.language_published import COLA, MRPC, RTE, SST2
from hushtable.studies.study import slug
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

MODEL, TEXT, LABEL = "minilm", "sentence", "label"
EPSILON, DELTA = 1.0, 1e-6
BETWEEN = " [SEP] "
"""Between the two sentences of a pair; the encoder's tokenizer knows it as a mark."""


@dataclass(frozen=True)
class Glue:
    """Where a task lies, which sentences it has, and its classes."""

    stem: str
    sentences: tuple[str, ...] = (TEXT,)
    classes: tuple[str, str] = ("0", "1")

    @property
    def pairs(self) -> bool:
        """Whether a text is two sentences."""
        return len(self.sentences) > 1

    def files(self, root: Path) -> list[Path]:
        """Of the training and the development set."""
        return [root / f"glue_{self.stem}" / f"{self.stem}_{part}.tsv.gz" for part in ("train", "dev")]


_TWO = ("sentence1", "sentence2")
TASKS: Mapping[str, Glue] = {
    SST2: Glue("sst2"),
    RTE: Glue("rte", _TWO, ("entailment", "not_entailment")),
    MRPC: Glue("mrpc", _TWO),
    COLA: Glue("cola"),
}
"""Those of the source that are at hand; QNLI, and WNLI as a source task, are not."""


@dataclass(frozen=True)
class Line:
    """A recipe of ours, and the published lines that it stands beside."""

    name: str
    recipe: str
    knobs: tuple[tuple[str, object], ...] = ()
    beside: tuple[str, ...] = ()
    private: bool = True


HEAD, LORA, THREE, TSKD, TRANSFER = "a private head alone", "dp-lora", "dp-lora of three layers", "tskd", "tskd-transfer"
ONE, TWO = ("one layer less, pairwise", "one layer less, cosine"), ("two layers less, pairwise", "two layers less, cosine")
PLAIN, PLAIN_THREE = "without privacy", "three layers without privacy"
PLAIN_ONE, PLAIN_TWO = "one layer less, without privacy", "two layers less, without privacy"
_FREE = (("sigma", 0.0), ("clip", 1e9), ("batch", 64), ("speed", 0.002))
LINES = (
    Line(HEAD, "dp-lora", (("steps", 0),)),
    Line(LORA, "dp-lora", beside=("BERT-base, DP", "DistilBERT, DP")),
    Line(THREE, "dp-lora", (("drop", 3),), ("BERT-tiny, DP",)),
    Line(TSKD, "tskd", beside=("BERT-tiny, TSKD", "DistilBERT, TSKD")),
    Line(TRANSFER, "tskd-transfer"),
    Line(ONE[0], "prune-dp-lora", (("drop", 1),), ("pairwise, LoRA, epsilon 1", "0.2, LoRA, epsilon 1", "PrunePrivyTune")),
    Line(ONE[1], "prune-dp-lora", (("drop", 1), ("rule", "cosine")), ("cosine, LoRA, epsilon 1",)),
    Line(TWO[0], "prune-dp-lora", (("drop", 2),), ("0.3, LoRA, epsilon 1",)),
    Line(TWO[1], "prune-dp-lora", (("drop", 2), ("rule", "cosine"))),
    Line(PLAIN, "dp-lora-published", _FREE, ("BERT-base, no DP", "DistilBERT, no DP"), private=False),
    Line(PLAIN_THREE, "dp-lora-published", (*_FREE, ("drop", 3)), ("BERT-tiny, no DP",), private=False),
    Line(PLAIN_ONE, "dp-lora-published", (*_FREE, ("drop", 1)), ("pairwise, LoRA", "0.2, LoRA"), private=False),
    Line(PLAIN_TWO, "dp-lora-published", (*_FREE, ("drop", 2)), ("0.3, LoRA",), private=False),
)
"""One layer of six is nearest to a sparsity of 0.1 and of 0.2, two to 0.3."""
FEW = (LORA, TSKD, ONE[0], PLAIN)
"""What a quick look takes of the tasks after the first."""


@dataclass(frozen=True)
class Size:
    """How much is run of classifiers."""

    rows: int
    pairs: int
    """Private rows of tasks with one sentence, and with two."""
    public: int
    tested: int | None
    """Texts of the development set; all for None."""
    length: int
    rate: float
    steps: int
    epochs: int
    """Of what is trained without privacy."""

    def count(self, task: Glue) -> int:
        """Private rows of a task."""
        return self.pairs if task.pairs else self.rows


@cache
def rows(data: str, name: str, count: int, *, first: bool = False) -> tuple[Table, Table, Table]:
    """So many rows of the training set, its other rows, which are taken for public ones, and the development set.

    Two sentences are one text with a mark between them; ``first`` takes the first alone.
    """
    task = TASKS[name]
    train, held = (_read(path, task, first=first) for path in task.files(Path(data)))
    order = np.random.default_rng(0).permutation(len(train))
    return _table(task, [train[i] for i in order[:count]]), _table(task, [train[i] for i in order[count:]]), _table(task, held)


def _read(path: Path, task: Glue, *, first: bool) -> list[tuple[str, str]]:
    taken = task.sentences[:1] if first else task.sentences
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(BETWEEN.join(line[name].strip() for name in taken), line[LABEL]) for line in lines]


def _table(task: Glue, texts: Sequence[tuple[str, str]]) -> Table:
    label = Column(name=LABEL, kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(task.classes), required=True)
    codes = np.array([task.classes.index(own) for _, own in texts], label.dtype)
    return Table(Schema((label,)), {LABEL: codes}).with_text(Column(name=TEXT, kind=Kind.TEXT), [text for text, _ in texts])


def some(table: Table, count: int, start: int = 0) -> list[str]:
    """So many of its texts, from a place on."""
    return [text or "" for text in table.strings(TEXT)][start : start + count]


def cell(data: str, size: Size, name: str, line: Line, run: int) -> Result:
    """How many texts of the development set a classifier gets right."""
    begun = time.process_time()
    train, others, held = rows(data, name, size.count(TASKS[name]))
    held = held if size.tested is None else held.take(np.arange(min(size.tested, held.rows)))
    with TemporaryDirectory() as place:
        pool = Path(place) / "pool.txt"
        start = (run * size.public) % max(others.rows - size.public, 1)
        pool.write_text("\n".join(some(others, size.public, start)), encoding="utf-8")
        recipe = recipes.load(line.recipe)
        own: dict[str, object] = {"model": MODEL, "pool": str(pool), "length": size.length}
        own |= {"rate": size.rate, "steps": size.steps} if line.private else {"epochs": size.epochs}
        own |= {"student_steps": size.steps} if line.name == TSKD else {}
        knobs = {**own, **dict(line.knobs)}
        recipe = replace(recipe, steps=tuple(replace(step, **knobs) for step in recipe.steps))  # type: ignore[type-var]
        options = ReleaseOptions(epsilon=EPSILON, delta=DELTA, seed=run) if line.private else ReleaseOptions(seed=run)
        made = release(train, recipe, options).require_fitted().model
        assert isinstance(made, TextClassifier)
        right = made.chances(list(held.strings(TEXT))).argmax(1) == held[LABEL]
    return {
        "right": int(right.sum()), "texts": held.rows, "majority": int(np.bincount(held[LABEL], minlength=2).max()),
        "layers": made.chosen["layers kept"], "seconds": time.process_time() - begun,
    }  # fmt: skip


def task_name(name: str, line: str, run: int) -> str:
    """Of the task of one classifier."""
    return f"{slug(name)}-{slug(line)}-{run}"
