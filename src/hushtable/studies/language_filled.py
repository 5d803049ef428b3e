"""Filling masks: pseudo-perplexity of training and held-out texts, and how alike they and written ones are (table 5.10)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hushtable.api.store import Result
from hushtable.language.cells import Cells
from hushtable.language.fill import Lengths, MaskFill
from hushtable.language.fill_published import PublishedMaskFill
from hushtable.language.filled import Filled, label
from hushtable.language.models import Sort, checkpoint
from hushtable.learn import network
from hushtable.measures.text.bert_score import BertScore, bert_score
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.options import ReleaseOptions
from hushtable.pipeline.run import release
from hushtable.privacy.vault import Vault
from hushtable.studies.language_published import BUDGETS
from hushtable.studies.language_tasks import DELTA, MODEL, TEXT, rows, some
from hushtable.studies.study import slug
from hushtable.table.arrays import Floats
from hushtable.table.table import Table

PURPOSE, STEP = "a model of language", "study language"
REWRITTEN = "rewritten as published"
"""Private sentences of which a part is masked and filled by the public model, and the rest leaves as it is."""
EPSILONS: Mapping[str, float | None] = dict(zip(BUDGETS, (None, 1.0, 5.0, 10.0), strict=True))
EXAMPLES = 5


@dataclass(frozen=True)
class Fill:
    """How much is run of filling masks."""

    rows: int
    """Private texts."""
    public: int
    warm: int
    """Steps on public texts."""
    rate: float
    steps: int
    """Private ones."""
    passes: int
    """Over the private texts where there is no privacy."""
    scored: int
    """Training texts whose pseudo-perplexity is measured, and as many held-out ones."""
    written: int
    length: int

    def knobs(self, pool: str) -> dict[str, object]:
        """Of a step that fills masks."""
        return {"encoder": MODEL, "public": pool, "warm": self.warm, "length": self.length}


def filled(data: str, size: Fill, name: str, budget: str, run: int) -> Result:
    """Written texts beside training and held-out ones, and how surprising both are to the model where there is one.

    Of a pair of sentences the first is taken. Training, public and held-out texts are rows of the training set.
    """
    begun = time.process_time()
    train, others, _ = rows(data, name, size.rows, first=True)
    control = others.take(np.arange(others.rows)[-size.scored :])
    known = train.take(np.arange(min(size.scored, train.rows)))
    with TemporaryDirectory() as place:
        pool = Path(place) / "public.txt"
        pool.write_text("\n".join(some(others, min(size.public, others.rows - control.rows))), encoding="utf-8")
        if budget == REWRITTEN:
            return _rewritten(known, control, size, str(pool), run) | {"seconds": time.process_time() - begun}
        model, written = _written(train, size, str(pool), EPSILONS[budget], run)
    surprise = {}
    for side, table in (("train", known), ("control", control)):
        total, count = model.pseudo_log_likelihood(table)
        surprise[side] = (-total[count > 0] / count[count > 0]).tolist()
    alike = _alike(written, known, control, run)
    return {"surprise": surprise, **alike, "seconds": time.process_time() - begun}


def _written(train: Table, size: Fill, pool: str, epsilon: float | None, run: int) -> tuple[Filled, Table]:
    if epsilon is None:
        model = unprotected(train, MaskFill(**size.knobs(pool)), size.passes, np.random.default_rng(run))  # type: ignore[arg-type]
        return model, model.sample(size.written, np.random.default_rng(run))
    own = size.knobs(pool) | {"rate": size.rate, "steps": size.steps}
    recipe = recipes.load("mask-fill").set({f"mask-fill.{knob}": value for knob, value in own.items()})
    made = release(train, recipe, ReleaseOptions(epsilon=epsilon, delta=DELTA, rows=size.written, seed=run))
    fitted = made.require_fitted().model
    assert isinstance(fitted, Filled)
    return fitted, made.table


def unprotected(train: Table, how: MaskFill, passes: int, rng: np.random.Generator) -> Filled:
    """The same model trained on the rows without noise, clipping or coins: what privacy is compared with."""
    module, cells = network("hushtable.language.fill_net", PURPOSE), Cells.of(train.schema, (), STEP, 2000)
    known, filler = how.public_filler(train.schema, cells, (TEXT,), rng, STEP)
    prefixes = filler.ids([label(own) for own in cells.known()], module.PREFIX)
    tokens = filler.ids(some(train, train.rows), how.length)
    own = [filler.row(prefixes[cell], [ids]) for cell, ids in zip(cells.rows(train), tokens, strict=True)]
    training = module.Training(least=how.least, most=how.most, rank=how.rank, speed=how.speed, seed=int(rng.integers(2**31)))
    module.tuned(filler, [row for row in own if any(row.open)], training, -(-passes * train.rows // module.BATCH))
    lengths = Lengths(TEXT, cells, how.length, lambda texts: module.lengths(filler, texts, how.length))
    counts = lengths.answer(train).reshape(cells.number, -1)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    return Filled(
        train.select(train.schema.without_text().names), {TEXT: train.schema[TEXT]}, cells, {TEXT: shares}, module.weights(filler),
        (known.name, known.fingerprint, how.encoder), (how.rounds, how.candidates, how.length), {},
    )  # fmt: skip


def _rewritten(known: Table, control: Table, size: Fill, pool: str, run: int) -> Result:
    """What the publication writes: each text beside its own original."""
    # The step itself: a release is shuffled, and then nobody knows whose original a text has.
    step = PublishedMaskFill(**size.knobs(pool))  # type: ignore[arg-type]
    written = step.fit(Vault.of(known), np.random.default_rng(run)).table
    similar = _cached(_encoder())
    both = list(zip(some(written, written.rows), some(known, known.rows), strict=True))
    pairs = [bert_score(similar(one), similar(other)) for one, other in both]
    return _alike(written, known, control, run) | {"own": _parts(pairs), "kept": [_kept(one, other) for one, other in both]}


def _kept(written: str, original: str) -> float:
    """The share of the words of a text that stand in its original."""
    words, there = written.lower().split(), set(original.lower().split())
    return sum(word in there for word in words) / max(len(words), 1)


def _alike(written: Table, known: Table, control: Table, run: int) -> Result:
    """BERTScore of each written text with a training text of its class at random, and with the nearest of each side."""
    similar, rng = _cached(_encoder()), np.random.default_rng(run)
    texts, classes = some(written, written.rows), [str(own) for own in written.strings("label")]
    sides = {side: [similar(text) for text in some(table, table.rows)] for side, table in (("train", known), ("control", control))}
    own = np.array([str(value) for value in known.strings("label")])
    random, nearest = list[BertScore](), {side: list[float]() for side in sides}
    for text, cls in zip(texts, classes, strict=True):
        same = np.flatnonzero(own == cls) if (own == cls).any() else np.arange(len(own))
        random.append(bert_score(similar(text), sides["train"][int(rng.choice(same))]))
        for side, others in sides.items():
            nearest[side].append(max(bert_score(similar(text), other).f1 for other in others))
    examples = [f"{cls}: {text}" for cls, text in list(zip(classes, texts, strict=True))[:EXAMPLES]]
    return {"random": _parts(random), "nearest": nearest, "examples": examples}


def _parts(scores: Sequence[BertScore]) -> dict[str, list[float]]:
    return {part: [float(getattr(score, part)) for score in scores] for part in ("precision", "recall", "f1")}


def _encoder() -> Callable[[str], Floats]:
    """Vectors of the tokens of a text, from the public encoder as it is."""
    language = network("hushtable.language.nets", PURPOSE).Language.load(checkpoint(MODEL, Sort.ENCODER, STEP))
    found: Callable[[str], Floats] = language.vectors
    return found


def _cached(embedding: Callable[[str], Floats]) -> Callable[[str], Floats]:
    found = dict[str, Floats]()

    def own(text: str) -> Floats:
        if text not in found:
            found[text] = embedding(text)
        return found[text]

    return own


def task_name(name: str, budget: str, run: int) -> str:
    """Of the task of one filled model."""
    return f"filled-{slug(name)}-{slug(budget)}-{run}"
