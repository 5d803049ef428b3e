"""Candidates with noisy votes, and the model that draws texts from them. Nothing here reads a private row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hushtable.language.cells import Cells, released_rows
from hushtable.language.corpus import Corpus
from hushtable.language.models import Sort, found_again
from hushtable.language.write_text import tidy
from hushtable.learn import network
from hushtable.numerics.simplex import on_simplex
from hushtable.pipeline.step import Arrays, Given
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    # It brings PyTorch with it.
    from hushtable.language.nets import Language

PURPOSE = "a model of language"
SHOWN = 3
"""Texts that a card shows."""
KEPT = 0.25, 0.75
"""The least and the most of a text that a variation begins with."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Texts for each cell of some labels, as many for each, and what share of the rows of the cell each stands for."""

    corpus: Corpus
    cells: Cells
    length: int
    texts: list[list[str]]
    shares: Floats
    """Cells x (texts, missing)."""

    @classmethod
    def written(
        cls, corpus: Corpus, cells: Cells, each: int, length: int, language: Language, rng: np.random.Generator
    ) -> Candidates:
        """Texts that the model writes for the values of each cell."""
        prompts = [prompt for known in cells.known() for prompt in [corpus.prompt(known)] * each]
        flat = _continued(language, prompts, [""] * len(prompts), length, rng)
        shares = np.full((cells.number, each + 1), 1 / each)
        shares[:, -1] = 0.0
        return cls(corpus, cells, length, [flat[start : start + each] for start in range(0, len(flat), each)], shares)

    def weighed(self, votes: Floats) -> Candidates:
        """With shares by noisy votes: the nearest that are none below zero, with the noisy number of votes of the cell as sum."""
        totals = np.maximum(np.where(np.isfinite(votes), votes, 0.0).sum(1), 1.0)
        finite = np.where(np.isfinite(votes), votes, -1e12)
        return replace(self, shares=np.stack([on_simplex(own, total) / total for own, total in zip(finite, totals, strict=True)]))

    def varied(self, language: Language, rng: np.random.Generator) -> Candidates:
        """Half of the texts of each cell, those with most votes, and variations of these, drawn by votes, for the others."""
        kept = (len(self.texts[0]) + 1) // 2
        stay, prompts, bases = [], [], []
        for own, shares, known in zip(self.texts, self.shares[:, :-1], self.cells.known(), strict=True):
            order = np.argsort(-shares, kind="stable")[:kept]
            stay.append([own[place] for place in order])
            weights = shares[order] + 1e-9
            drawn = rng.choice(order, len(own) - kept, p=weights / weights.sum())
            bases += [own[place] for place in drawn]
            prompts += [self.corpus.prompt(known)] * len(drawn)
        fresh = iter(_varied(language, prompts, bases, self.length, rng))
        return replace(self, texts=[[*own, *(next(fresh) for _ in range(len(self.texts[0]) - kept))] for own in stay])

    def drawn(self, cells: Integers, rng: np.random.Generator) -> Integers:
        """For each row of these cells the number of a text; one beyond the last is a missing one."""
        running = np.cumsum(self.shares, axis=1)[cells]
        beyond = (rng.random(len(cells))[:, None] * running[:, -1:] >= running).sum(1)
        places: Integers = np.minimum(beyond, self.shares.shape[1] - 1)
        return places

    def best(self) -> list[str]:
        """The texts with most votes in the first cells: public texts, chosen by what was paid for."""
        return [own[int(np.argmax(shares[:-1]))] for own, shares in zip(self.texts[:SHOWN], self.shares, strict=False)]


@dataclass(frozen=True, eq=False)
class Voted:
    """A released table, and candidates with noisy votes: for each row a text of its cell is drawn."""

    table: Table
    candidates: dict[str, Candidates]
    model: str
    fingerprint: str
    chosen: dict[str, Any]
    fresh: bool
    folder: str = ""
    """Where the model was found; a file does not say."""

    @property
    def schema(self) -> Schema:
        """The released columns and the texts."""
        return self.table.schema.with_columns(*(own.corpus.schema[name] for name, own in self.candidates.items()))

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """A text for each released row; for ``n`` rows some of them, or some twice; under a condition, of the rows that meet it."""
        table = self.table.take(released_rows(self.table, n, rng, given))
        for name, own in self.candidates.items():
            cells = own.cells.rows(table)
            places = own.drawn(cells, rng)
            rows = zip(cells, places, strict=True)
            texts: list[str | None] = [own.texts[cell][place] if place < len(own.texts[cell]) else None for cell, place in rows]
            if self.fresh:
                self._vary(own, cells, texts, rng)
            table = table.with_text(own.corpus.schema[name], texts)
        return table

    def _vary(self, own: Candidates, cells: Integers, texts: list[str | None], rng: np.random.Generator) -> None:
        """Put a variation in the place of every text that has stood before."""
        seen: set[str | None] = {None}
        again = []
        for row, text in enumerate(texts):
            if text in seen and text is not None:
                again.append(row)
            seen.add(text)
        if not again:
            return
        prompts = [own.corpus.prompt(known) for known in own.cells.known()]
        bases = [texts[row] or "" for row in again]
        varied = _varied(self._language(), [prompts[cells[row]] for row in again], bases, own.length, rng)
        for row, text in zip(again, varied, strict=True):
            texts[row] = text

    def _language(self) -> Any:
        known = found_again(self.folder or self.model, Sort.CAUSAL, self.fingerprint, "text-votes")
        return network("hushtable.language.writing_net", PURPOSE).loaded(known)

    def result(self) -> dict[str, Any]:
        """How many candidates there are, the noise, and those with most votes."""
        return self.chosen

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The released rows, the candidates and their shares; never the model that wrote them."""
        first = next(iter(self.candidates.values()))
        values = {
            "schema": self.table.schema.portable().dump(), "read": first.corpus.schema.portable().dump(), "chat": first.corpus.chat,
            "by": list(first.cells.names), "length": first.length, "texts": {n: own.texts for n, own in self.candidates.items()},
            "model": self.model, "fingerprint": self.fingerprint, "chosen": self.chosen, "fresh": self.fresh,
        }  # fmt: skip
        arrays = {f"column: {name}": own for name, own in self.table.arrays.items()}
        return values, {**arrays, **{f"shares: {name}": own.shares for name, own in self.candidates.items()}}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        rows = {name.removeprefix("column: "): own for name, own in arrays.items() if name.startswith("column: ")}
        table = Table(Schema.parse(values["schema"]), rows)
        cells, read = Cells(tuple(table.schema[name] for name in values["by"])), Schema.parse(values["read"])
        candidates = {
            name: Candidates(Corpus(read, (name,), values["chat"]), cells, values["length"], texts, arrays[f"shares: {name}"])
            for name, texts in values["texts"].items()
        }
        return cls(table, candidates, values["model"], values["fingerprint"], values["chosen"], fresh=values["fresh"])


def _varied(language: Language, prompts: list[str], bases: list[str], length: int, rng: np.random.Generator) -> list[str]:
    """Texts that begin like these, and go on as the model writes them."""
    return _continued(language, prompts, [_begin(text, rng) for text in bases], length, rng)


def _begin(text: str, rng: np.random.Generator) -> str:
    """A part of a text, up to the end of a word where it has several."""
    part = text[: int(len(text) * rng.uniform(*KEPT))]
    return part[: part.rfind(" ")] if " " in part else part


def _continued(language: Language, prompts: list[str], begun: list[str], length: int, rng: np.random.Generator) -> list[str]:
    writer = network("hushtable.language.write", PURPOSE).Writer(language=language)
    found = writer.write([prompt + begin for prompt, begin in zip(prompts, begun, strict=True)], rng, length)
    return [tidy(begin + own.text, finished=own.finished) for begin, own in zip(begun, found, strict=True)]
