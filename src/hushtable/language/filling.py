"""What both forms of mask filling share: the knobs, and the filler that is trained on public texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.language.behind import texts_to_write
from hushtable.language.cells import Cells
from hushtable.language.corpus import Corpus
from hushtable.language.filled import label
from hushtable.language.models import Checkpoint, Sort, checkpoint
from hushtable.language.pool import public_texts
from hushtable.language.voted import Candidates
from hushtable.learn import network
from hushtable.pipeline.step import Core
from hushtable.table.schema import Schema

NET, PURPOSE = "hushtable.language.fill_net", "a model of language"
MOST = 2000
"""Cells of labels, at most."""
MARKS = 26
"""Places of a sequence that hold labels and marks, at most, beside one after each text."""


@dataclass(frozen=True, kw_only=True)
class Filling(Core):
    """A core that fills masks with an encoder and a head that was trained on public texts."""

    extra: ClassVar[str] = "language"
    reads_text: ClassVar[bool] = True
    common: ClassVar[frozenset[str]] = frozenset({"model"})

    encoder: str = "minilm"
    """The encoder: a folder, or the name of an installed model. Its tokenizer must have a mask."""
    public: str = ""
    """A file of public texts, one a line, that the head is trained on."""
    model: str = ""
    """A causal model that writes public texts for each cell of the labels, where no file of them is given."""
    written: int = 256
    """Public texts that the causal model writes."""
    warm: int = 150
    """Steps of training on public texts."""
    columns: tuple[str, ...] = ()
    """The texts to write; all when empty."""
    by: tuple[str, ...] = ()
    """The labels that stand before a text; the target and topics when empty."""
    rank: int = 8
    """Of the adapters."""
    length: int = 32
    """Tokens of a text, at most; of longer ones the beginning counts."""
    rounds: int = 10
    """How often masks are filled."""
    candidates: int = 20
    """The likeliest tokens that each one is drawn from (top-k)."""
    least: float = 0.15
    """The least share of the tokens of a text that is masked in training."""
    most: float = 1.0
    """The largest share; filling starts from masks alone, so training goes up to all."""

    def ranges(self) -> dict[str, tuple[bool, str]]:
        """What its knobs must be."""
        return {
            "written": (self.written >= 1, "must be at least 1"),
            "warm": (self.warm >= 0, "must not be negative"),
            "rank": (self.rank >= 1, "must be at least 1"),
            "length": (self.length >= 1, "must be at least 1"),
            "rounds": (self.rounds >= 1, "must be at least 1"),
            "candidates": (self.candidates >= 1, "must be at least 1"),
            "least": (0 < self.least <= 1, "must be above 0 and at most 1"),
            "most": (self.least <= self.most <= 1, "must be from 'least' to 1"),
        }

    def planned(self, schema: Schema, step: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The texts, and what is public; refuses models that are not there or too short, and a head without public texts."""
        texts = texts_to_write(schema, self.columns, step)
        known = checkpoint(self.encoder, Sort.ENCODER, step)
        fits = int(known.config.get("max_position_embeddings") or 512)
        if MARKS + len(texts) * (self.length + 1) > fits:
            raise PlanError(f"{step}: {known.name} reads {fits} tokens at once, too few for the texts: give a smaller length")
        public = [f"the encoder {known.name} (fingerprint {known.fingerprint})"]
        if self.public:
            public_texts(self.public, texts[0], step)
            public.append("the file of public texts")
        elif self.model:
            writes = checkpoint(self.model, Sort.CAUSAL, step)
            public.append(f"the language model {writes.name} (fingerprint {writes.fingerprint})")
        else:
            raise InputError(
                "an encoder has no head that fills masks: give public texts to train one on, in a file (--set public=FILE) or "
                "written by a causal model (--set model=smollm2)",
                where=step,
            )
        return texts, tuple(public)

    def public_filler(
        self, schema: Schema, cells: Cells, texts: tuple[str, ...], rng: np.random.Generator, step: str
    ) -> tuple[Checkpoint, Any]:
        """The encoder with a head and adapters that were trained on public texts alone."""
        known, module = checkpoint(self.encoder, Sort.ENCODER, step), network(NET, PURPOSE)
        filler = module.loaded(known)
        prefixes = filler.ids([label(own) for own in cells.known()], module.PREFIX)
        columns = [self._public(schema, cells, name, rng, step) for name in texts]
        tokens = [filler.ids([text for _, text in own], self.length) for own in columns]
        places = [cell for cell, _ in columns[0]] if columns else []
        rows = [filler.row(prefixes[cell], own) for cell, own in zip(places, zip(*tokens, strict=True), strict=True)]
        how = module.Training(least=self.least, most=self.most, rank=self.rank, speed=2e-3, seed=int(rng.integers(2**31)))
        module.learnt(filler, [row for row in rows if any(row.open)], how, self.warm)
        return known, filler

    def _public(self, schema: Schema, cells: Cells, name: str, rng: np.random.Generator, step: str) -> list[tuple[int, str]]:
        """Public texts, each with a cell: at random for those of a file, which says nothing of labels."""
        if self.public:
            lines = public_texts(self.public, name, step)
            return list(zip(rng.integers(cells.number, size=len(lines)).tolist(), lines, strict=True))
        writing = network("hushtable.language.writing_net", PURPOSE)
        language = writing.loaded(checkpoint(self.model, Sort.CAUSAL, step))
        each = max(1, self.written // cells.number)
        corpus = Corpus(schema, (name,), writing.chats(language))
        made = Candidates.written(corpus, cells, each, self.length, language, rng)
        return [(cell, text) for cell, own in enumerate(made.texts) for text in own]
