"""Free text for the rows of a released table: public candidates, for which the private rows vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hushtable.language.behind import opened, texts_to_write, with_texts
from hushtable.language.cells import Cells
from hushtable.language.corpus import Corpus
from hushtable.language.models import READ_IN_PUBLIC, Sort, checkpoint
from hushtable.language.voted import Candidates, Voted
from hushtable.learn import network
from hushtable.numerics.simplex import without_missing
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    # It brings PyTorch with it.
    from hushtable.language.nets import Language

NET, PURPOSE = "hushtable.language.writing_net", "a model of language"
MOST = 20_000
"""Candidates of all cells together, at most: a model writes every one of them."""


@dataclass(frozen=True, kw_only=True)
class TextVotes(PrivateCore):
    """A text for each row of a released table, drawn from public candidates by noisy votes of the private rows.

    An untouched causal model writes ``candidates`` texts for each cell of the label columns, from the levels that the schema
    declares. Then every private row votes for the one of its own cell that is nearest to its text (or for missing), and the votes
    are counted with noise: one row, one vote, so a row more or less changes one count by one. The texts with most noisy votes stay,
    variations of them take the place of the others, and the rows vote again, ``rounds`` times, all of it paid for. No text of a row
    leaves: what is released was written by the public model, and chosen by noisy counts. Nothing is trained. Pure epsilon where
    delta is 0. After Xie et al. 2024 (AUG-PE).
    """

    quick: ClassVar[Mapping[str, object]] = {"model": "smollm2", "candidates": 2, "rounds": 2, "length": 4, "fresh": False}
    extra: ClassVar[str] = "language"
    reads_text: ClassVar[bool] = True
    common: ClassVar[frozenset[str]] = frozenset({"model"})

    model: str = ""
    """The causal model that writes: a folder, or the name of an installed model."""
    encoder: str = ""
    """The encoder whose vectors decide which candidate is nearest; without one, the embeddings of the causal model do."""
    columns: tuple[str, ...] = ()
    """The texts to write; all when empty."""
    by: tuple[str, ...] = ()
    """The labels for each of whose values, and combinations of values, there are candidates; the target and topics when empty."""
    candidates: int = 24
    """Texts for each cell of the labels. More need more rows: each should have votes well above the noise."""
    rounds: int = 2
    """How often the rows vote; the budget is shared out evenly."""
    length: int = 48
    """Tokens of a text, at most."""
    fresh: bool = True
    """Whether a candidate is varied for every further row that it is drawn for; if not, texts repeat."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(
            self,
            candidates=(self.candidates >= 2, "must be at least 2"),
            rounds=(self.rounds >= 1, "must be at least 1"),
            length=(self.length >= 1, "must be at least 1"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no text or no label, too many cells, and a model that cannot be loaded."""
        known = checkpoint(self.model, Sort.CAUSAL, "text-votes")
        public = [f"the language model {known.name} (fingerprint {known.fingerprint})"]
        if self.encoder:
            reads = checkpoint(self.encoder, Sort.ENCODER, "text-votes")
            public.append(f"the encoder {reads.name} (fingerprint {reads.fingerprint})")
        texts, cells = texts_to_write(schema, self.columns, "text-votes"), self._cells(schema)
        events: list[Event] = []
        if budget is not None:
            parts = budget.split([1.0] * (self.rounds * len(texts)))
            queries = (Votes(name, cells) for _ in range(self.rounds) for name in texts)
            events = [part.event(query, schema) for part, query in zip(parts, queries, strict=True)]
        return Plan(
            schema=with_texts(schema, texts), events=tuple(events), behind=True, effect=Effect.GENERATE, public=tuple(public),
            caveats=(READ_IN_PUBLIC,),
        )  # fmt: skip

    def _cells(self, schema: Schema) -> Cells:
        return Cells.of(schema, self.by, "text-votes", MOST // self.candidates)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Voted:
        """Write candidates, and count the votes of the rows behind the released table."""
        table, origin = opened(vault, "text-votes")
        cells, texts = self._cells(table.schema), texts_to_write(origin.schema, self.columns, "text-votes")
        cells.require_same(origin.schema, "text-votes")
        known = checkpoint(self.model, Sort.CAUSAL, "text-votes")
        writes = network(NET, PURPOSE).loaded(known)
        reads = writes
        if self.encoder:
            nets = network("hushtable.language.nets", PURPOSE)
            reads = nets.Language.load(checkpoint(self.encoder, Sort.ENCODER, "text-votes"))
        chat = network(NET, PURPOSE).chats(writes)
        parts = vault.paid().split([1.0] * (self.rounds * len(texts)))
        found, sigma = {}, 0.0
        for place, name in enumerate(texts):
            corpus = Corpus(origin.schema, (name,), chat)
            candidates = Candidates.written(corpus, cells, self.candidates, self.length, writes, rng)
            seen = Seen(reads)
            for number in range(self.rounds):
                part = parts[place * self.rounds + number]
                query = Votes(name, cells, seen.vectors(candidates), seen)
                votes = origin.spend(query, part).reshape(cells.number, self.candidates + 1).astype(float)
                sigma = part.deviation(query, origin.schema)
                candidates = candidates.weighed(_settled(votes, origin.schema, name, sigma))
                if number + 1 < self.rounds:
                    candidates = candidates.varied(writes, rng)
                vault.report((place + (number + 1) / self.rounds) / len(texts))
            found[name] = candidates
        chosen = {
            "model": known.name, "cells": cells.number, "candidates": self.candidates, "rounds": self.rounds,
            "noise of a count": round(sigma, 2), "most votes": {name: own.best() for name, own in found.items()},
        }  # fmt: skip
        return Voted(table, found, known.name, known.fingerprint, chosen, fresh=self.fresh, folder=self.model)


@dataclass(eq=False)
class Seen:
    """Vectors of texts, worked out once for all rounds. Those of rows are as private as the rows."""

    language: Language
    _held: dict[str, Floats] = field(default_factory=dict)

    def vectors(self, candidates: Candidates) -> Floats:
        """Cells x candidates x width."""
        flat = [text for own in candidates.texts for text in own]
        return np.asarray(self.language.embedded(flat)).reshape(len(candidates.texts), -1, self._width(flat))

    def rows(self, table: Table, name: str) -> Floats:
        """Of each distinct text of a column."""
        if name not in self._held:
            self._held[name] = self.language.embedded([str(word) for word in table.words(name)])
        return self._held[name]

    def _width(self, flat: Sequence[str]) -> int:
        return int(self.language.embedded(flat[:1]).shape[1])


@dataclass(frozen=True, eq=False)
class Votes:
    """For each cell of the labels how many rows are nearest to each candidate, and how many have no text."""

    text: str
    cells: Cells
    candidates: Floats | None = None
    """Cells x candidates x width, unit vectors; none in a plan."""
    seen: Seen | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The labels and the text."""
        return (*self.cells.names, self.text)

    def answer(self, table: Table) -> Integers:
        """Cells x (candidates, missing): every row counts in one place, whatever its text is."""
        assert self.candidates is not None
        assert self.seen is not None
        votes = np.zeros((len(self.candidates), self.candidates.shape[1] + 1), np.int64)
        cells, codes = self.cells.rows(table), table[self.text].astype(np.int64)
        missing = table.missing(self.text)
        vectors = self.seen.rows(table, self.text)
        votes[:, -1] = np.bincount(cells[missing], minlength=len(votes))
        for cell in np.unique(cells[~missing]):
            own = codes[(cells == cell) & ~missing]
            votes[cell, :-1] += np.bincount(np.argmax(vectors[own] @ self.candidates[cell].T, axis=1), minlength=votes.shape[1] - 1)
        return votes.ravel()

    def largest(self, schema: Schema, rows: int) -> int:
        """A row votes once."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A record votes once; replacing it takes one vote away and gives one."""
        return Histogram(self.cells.names).sensitivity(schema, relation)


def _settled(votes: Floats, schema: Schema, name: str, sigma: float) -> Floats:
    """The noisy votes with none for missing where a text is required, or where noise alone explains how many are missing."""
    settled = votes.copy()
    if schema[name].required or without_missing(schema[name], float(votes[:, -1].sum()), sigma * len(votes) ** 0.5):
        settled[:, -1] = -np.inf
    return settled
