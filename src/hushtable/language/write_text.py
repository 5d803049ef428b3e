"""Free text for the rows of a released table, by a language model that was adapted to private texts with differential privacy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from hushtable.language.behind import opened, texts_to_write, with_texts
from hushtable.language.beside import bought
from hushtable.language.cells import Cells, released_rows
from hushtable.language.corpus import TOPIC, Corpus
from hushtable.language.models import READ_IN_PUBLIC, Sort, checkpoint, found_again
from hushtable.language.words import UNIT, Vocabulary, WordChances, WordCounts
from hushtable.learn import network
from hushtable.pipeline.step import Arrays, Given, Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, SampledGaussian
from hushtable.privacy.preserve import Effect
from hushtable.privacy.sampled import FLOAT_NOISE, sampled_gaussian
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.patterns import scan
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NET, PURPOSE = "hushtable.language.writing_net", "a model of language"
RATE, BATCH = 0.1, 512
"""The chance of a person to be in a batch, and the rows of a batch that are enough where the schema declares how many there are."""
TRIES = 4
"""So often a text that is empty, or stands in the release already, is written again."""
EACH = 2
"""Tokens of the longest text for each word that a text is given, at least."""
TRAINING = 0.7
"""About the part of the time that training takes; the rest is writing."""
MOST = 24
"""Cells of labels by which words are counted, at most, those of missing values among them."""
SENTENCE = re.compile(r"^.*[.!?…。！？](?=\s|$)", re.DOTALL)
"""A text up to the last end of a sentence."""


@dataclass(frozen=True, kw_only=True)
class WriteText(PrivateCore):
    """A text for each row of a released table, written in view of the row's other columns.

    Adapters (LoRA) of a public causal model are trained on the private rows, each one sequence of its other columns and its texts,
    by DP-SGD: a coin for every person in each step, the gradients of a person clipped together to ``clip``, normal noise on the sum
    (Abadi et al. 2016; Yu et al. 2022). Rate, number and noise of the steps are fixed in the plan, the number of rows is the noisy
    one of the released table. Before that, noisy counts of words by labels are paid for. The rows of the released
    table, each with words drawn by these counts, are the prompts, so what is written afterwards is post-processing:
    texts that are empty or stand there already are written again, and one that the model did not end is cut at a sentence.
    Needs a delta, and one record or person more or less (add-remove).
    """

    quick: ClassVar[Mapping[str, object]] = {"model": "smollm2", "steps": 1, "length": 4, "twin": 2, "words": 0.0}
    extra: ClassVar[str] = "language"
    reads_text: ClassVar[bool] = True
    common: ClassVar[frozenset[str]] = frozenset({"model"})

    model: str = ""
    """The causal model: a folder, or the name of an installed model."""
    columns: tuple[str, ...] = ()
    """The texts to write, each in view of those before it; all when empty."""
    rate: float = 0.0
    """The chance of each person to be in the batch of a step; 0 is 0.1, or less where the schema declares many rows."""
    steps: int = 10
    """Steps of the descent."""
    rank: int = 4
    """Of the adapters."""
    layers: int = 0
    """Layers that are adapted, counted from the last; 0 takes a sixth of them. Those below are run once for each row."""
    length: int = 96
    """Tokens of a text, at most."""
    words: float = 0.4
    """The part of its budget that goes to noisy counts of words, kept apart by ``by``; 0 for none."""
    by: tuple[str, ...] = ()
    """The labels by which words are counted; when empty the target, or, without one, the first labels that have few values."""
    clip: float = 0.1
    """The largest norm of one person's part in the gradient of a step. Nearly all are longer, so it hardly matters."""
    speed: float = 1e-2
    """Learning rate at the start; it falls to nothing."""
    twin: int = 200
    """Rows for which the untouched model writes a text too, to see what the budget bought; 0 for none."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(
            self,
            rate=(0 <= self.rate <= 1, "must be from 0 to 1"),
            steps=(self.steps >= 1, "must be at least 1"),
            rank=(self.rank >= 1, "must be at least 1"),
            layers=(self.layers >= 0, "must not be negative"),
            length=(self.length >= 1, "must be at least 1"),
            words=(0 <= self.words < 1, "must be from 0 to below 1"),
            clip=(0 < self.clip < np.inf, "must be positive"),
            speed=(0 < self.speed < np.inf, "must be positive"),
            twin=(self.twin >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no text, a model that cannot be loaded, and a budget without delta."""
        known = checkpoint(self.model, Sort.CAUSAL, "write-text")
        texts, cells = texts_to_write(schema, self.columns, "write-text"), self._cells(schema)
        events: tuple[Event, ...] = ()
        if budget is not None:
            counts, rest = self._split(budget, texts)
            words = (part.event(WordCounts(name, cells), schema) for name, part in counts.items())
            events = (*words, self._descent(rest, schema))
        public = f"the language model {known.name} (fingerprint {known.fingerprint})"
        return Plan(
            schema=with_texts(schema, texts), events=events, behind=True, effect=Effect.GENERATE, public=(public,),
            caveats=(FLOAT_NOISE, READ_IN_PUBLIC),
        )  # fmt: skip

    def _cells(self, schema: Schema) -> Cells:
        """The labels by which words are counted."""
        return Cells.of_labels(schema, self.by, "write-text", MOST)

    def _split(self, budget: Allowance, texts: tuple[str, ...]) -> tuple[dict[str, Allowance], Allowance]:
        """What the words of each text may cost, and the descent."""
        if not self.words:
            return {}, budget
        first, rest = budget.split([self.words, 1 - self.words])
        return dict(zip(texts, first.split([1.0] * len(texts)), strict=True)), rest

    def _descent(self, budget: Allowance, schema: Schema) -> SampledGaussian:
        """The steps of the training."""
        return sampled_gaussian(budget, self.rate or min(RATE, BATCH / (schema.size or 1)), self.steps)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Written:
        """Train the adapters on the rows behind the released table."""
        known = checkpoint(self.model, Sort.CAUSAL, "write-text")
        rows, origin = opened(vault, "write-text")
        texts = texts_to_write(origin.schema, self.columns, "write-text")
        module = network(NET, PURPOSE)
        language = module.loaded(known)
        corpus = Corpus(origin.schema, texts, module.chats(language))
        cells = self._cells(origin.schema)
        cells.require_same(rows.schema, "write-text")
        conditions = Conditions(rows, corpus, cells, self.length)
        few = conditions.some(self.twin, rng)
        untouched = few.texts(language, rng) if few.table.rows else {}
        counts, rest = self._split(vault.paid(), texts)
        chances = {
            name: conditions.counted(origin, name, part, language.vocabulary, untouched.get(name)) for name, part in counts.items()
        }
        happened = self._descent(rest, origin.schema)
        descent = network("hushtable.learn.private", PURPOSE).PrivateDescent
        how = descent(rate=happened.rate, steps=self.steps, multiplier=happened.multiplier, clip=self.clip, part=module.PART)
        adapting = module.Adapting(
            corpus=corpus, length=self.length, rank=self.rank, layers=self.layers, speed=self.speed, seed=int(rng.integers(2**31)),
            chances=chances,
        )  # fmt: skip
        arrays = module.adapted(language, origin, how, adapting, max(rows.rows, 1), lambda share: vault.report(TRAINING * share))
        chosen: dict[str, Any] = {
            "model": known.name, "steps": self.steps, "rate": happened.rate, "noise multiplier": round(how.multiplier, 4),
            "adapted weights": sum(array.size for array in arrays.values()),
        }  # fmt: skip
        if chances:
            chosen["words followed"] = {name: len(own.words) for name, own in chances.items()}
        written = Written(conditions, known.name, known.fingerprint, chances, arrays, chosen, self.model, vault.report)
        if untouched:
            chosen["bought"] = bought(untouched, few.texts(written.language, rng, chances))
        return written


@dataclass(frozen=True, eq=False)
class Conditions:
    """The rows of a released table, for which texts are written."""

    table: Table
    corpus: Corpus
    cells: Cells
    length: int

    def present(self, name: str) -> Mask:
        """Which rows have a text: those with a topic, and all where there are no topics."""
        topic = f"{name}{TOPIC}"
        return ~self.table.missing(topic) if topic in self.table.schema else np.ones(self.table.rows, bool)

    def take(self, rows: Integers) -> Conditions:
        """Some of the rows."""
        return Conditions(self.table.take(rows), self.corpus, self.cells, self.length)

    def some(self, count: int, rng: np.random.Generator) -> Conditions:
        """So many rows at random, or all if there are fewer."""
        return self.take(rng.permutation(self.table.rows)[:count])

    def counted(
        self, origin: Vault, name: str, part: Allowance, vocabulary: Vocabulary, untouched: Sequence[str | None] | None
    ) -> WordChances:
        """How likely each word is in the texts of each cell, by noisy counts in the rows behind."""
        query = WordCounts(name, self.cells, vocabulary)
        noisy = origin.spend(query, part).reshape(-1, len(vocabulary.names)) / UNIT
        texts = np.bincount(self.cells.rows(self.table)[self.present(name)], minlength=len(noisy))
        usual = vocabulary.rates([text for text in untouched if text]) if untouched else None
        return WordChances.of(noisy, texts, part.deviation(query, origin.schema) / UNIT, usual)

    def texts(
        self,
        language: Any,
        rng: np.random.Generator,
        chances: Mapping[str, WordChances] | None = None,
        report: Callable[[float], None] = lambda share: None,
    ) -> dict[str, list[str | None]]:
        """One text for each row and column of text."""
        present = {name: self.present(name) for name in self.corpus.texts}
        most = max(self.length // EACH, 1)
        rows = self.cells.rows(self.table)
        given = {name: (own.words, own.drawn(rows, most, rng)) for name, own in (chances or {}).items()}
        found = network(NET, PURPOSE).written_texts(
            language, self.corpus, self.table, self.length, rng, present=present, given=given, report=report
        )
        return {
            name: [None if own is None else tidy(own.text, finished=own.finished) for own in some] for name, some in found.items()
        }


@dataclass(frozen=True, eq=False)
class Written:
    """A released table and a language model adapted with differential privacy: it writes a text for each row."""

    conditions: Conditions
    model: str
    """The name of the base model, which is not a part of the file."""
    fingerprint: str
    chances: dict[str, WordChances]
    """For each text the words that are drawn for it."""
    adapters: Arrays
    chosen: dict[str, Any]
    folder: str = ""
    """Where the base model was found; a file of the model does not say."""
    report: Callable[[float], None] = field(default=lambda share: None, repr=False)
    """Where it reports how much is written."""

    @property
    def schema(self) -> Schema:
        """The released columns and the texts."""
        return self.conditions.table.schema.with_columns(*(self.conditions.corpus.schema[n] for n in self.conditions.corpus.texts))

    @cached_property
    def language(self) -> Any:
        """The base model, found again by its name and checked by its fingerprint, with the adapters."""
        known = found_again(self.folder or self.model, Sort.CAUSAL, self.fingerprint, "write-text")
        module = network(NET, PURPOSE)
        return module.restored(module.loaded(known), self.adapters)

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """A text for each released row; for ``n`` rows some of them, or some twice; under a condition, of the rows that meet it."""
        here = self.conditions.take(released_rows(self.conditions.table, n, rng, given))
        texts = here.texts(self.language, rng, self.chances, report=lambda share: self.report(TRAINING + (1 - TRAINING) * share))
        again = 0
        for _ in range(TRIES if here.table.rows else 0):
            poor = np.flatnonzero(np.any([_poor(own) for own in texts.values()], axis=0))
            if not len(poor):
                break
            again += len(poor)
            for name, own in here.take(poor).texts(self.language, rng, self.chances).items():
                for row, text in zip(poor, own, strict=True):
                    texts[name][row] = text
        self.chosen["written again"] = again
        self.chosen["patterns"] = dict(Counter(str(m.kind) for own in texts.values() for text in own if text for m in scan(text)))
        table = here.table
        for name in self.conditions.corpus.texts:
            table = table.with_text(self.schema[name], texts[name])
        return table

    def log_likelihood(self, texts: Sequence[str], rows: Table) -> Floats:
        """The logarithm of the likelihood of each text, as the first one of the row beside it, for ``exposure_finding``."""
        corpus = replace(self.conditions.corpus, texts=self.conditions.corpus.texts[:1])
        return np.asarray(
            network("hushtable.language.likelihood", PURPOSE).log_likelihoods(
                self.language, corpus, texts, rows, self.conditions.length
            )
        )

    def result(self) -> dict[str, Any]:
        """What was trained and with how much noise, what the budget bought, and which patterns stand in the texts."""
        return self.chosen

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The released rows, the adapters, and by which fingerprint the base model is known; never the base model."""
        corpus = self.conditions.corpus
        values = {
            "schema": self.conditions.table.schema.portable().dump(), "read": corpus.schema.portable().dump(), "chat": corpus.chat,
            "texts": list(corpus.texts), "by": list(self.conditions.cells.names), "length": self.conditions.length,
            "model": self.model, "fingerprint": self.fingerprint,
            "chosen": self.chosen,
        }  # fmt: skip
        columns = {f"column: {name}": own for name, own in self.conditions.table.arrays.items()}
        words = {f"words: {name}": own.words for name, own in self.chances.items()}
        chances = {f"chances: {name}": own.chances for name, own in self.chances.items()}
        return values, {**columns, **words, **chances, **self.adapters}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        firsts = ("column: ", "words: ", "chances: ")
        rows, words, shares = (
            {name.removeprefix(first): own for name, own in arrays.items() if name.startswith(first)} for first in firsts
        )
        corpus = Corpus(Schema.parse(values["read"]), tuple(values["texts"]), values["chat"])
        cells = Cells(tuple(corpus.schema[name] for name in values["by"]))
        conditions = Conditions(Table(Schema.parse(values["schema"]), rows), corpus, cells, values["length"])
        adapters = {name: own for name, own in arrays.items() if not name.startswith(firsts)}
        chances = {name: WordChances(own, shares[name]) for name, own in words.items()}
        return cls(conditions, values["model"], values["fingerprint"], chances, adapters, values["chosen"])


def tidy(text: str, *, finished: bool) -> str:
    """A text without spaces around it; one that was not ended, up to its last whole sentence if it has one."""
    text = text.strip()
    whole = None if finished else SENTENCE.match(text)
    return whole.group(0) if whole else text


def _poor(texts: Sequence[str | None]) -> Mask:
    """Which texts are empty, or have stood before."""
    seen: set[str] = set()
    poor = np.zeros(len(texts), bool)
    for row, text in enumerate(texts):
        if text is not None:
            poor[row] = not text or text in seen
            seen.add(text)
    return poor
