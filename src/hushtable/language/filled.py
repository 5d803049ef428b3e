"""The model that fills a text for each row of a released table. Nothing here reads a private row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.language.cells import Cells, released_rows
from hushtable.language.models import Sort, found_again
from hushtable.learn import network
from hushtable.pipeline.step import Arrays, Given
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BINS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Where bins of lengths begin: the same for every table."""


def edges(length: int) -> Integers:
    """Where the bins of lengths begin, and where the last one ends."""
    return np.array([*(edge for edge in BINS if edge <= length), length + 1])


def label(known: Mapping[str, str]) -> str:
    """The labels of a row as words."""
    return ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in known.items())


@dataclass(frozen=True, eq=False)
class Filled:
    """A released table, noisy lengths, and an encoder adapted with differential privacy: it fills a text for each row."""

    table: Table
    texts: dict[str, Column]
    cells: Cells
    shares: dict[str, Floats]
    """For each text, cells x (bins of lengths, missing)."""
    weights: Arrays
    base: tuple[str, str, str]
    """The encoder's name and fingerprint, and where it was found; a file does not say where."""
    drawing: tuple[int, int, int]
    """Rounds, candidates of a token, and the longest text."""
    chosen: dict[str, Any]

    @property
    def schema(self) -> Schema:
        """The released columns and the texts."""
        return self.table.schema.with_columns(*self.texts.values())

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """A text for each released row; for ``n`` rows some of them, or some twice; under a condition, of the rows that meet it."""
        table = self.table.take(released_rows(self.table, n, rng, given))
        module, filler = network("hushtable.language.fill_net", "a model of language"), self._filler()
        cells = self.cells.rows(table)
        prefixes = filler.ids([label(own) for own in self.cells.known()], module.PREFIX)
        sizes = np.stack([self._lengths(name, cells, rng) for name in self.texts], axis=1)
        rounds, candidates, _ = self.drawing
        rows = [
            filler.row(prefixes[cell], [[filler.mask] * max(size, 0) for size in own])
            for cell, own in zip(cells, sizes.tolist(), strict=True)
        ]
        found = module.filled(filler, rows, rounds, candidates, rng)
        written = [
            module.texts_of(filler, tokens, [max(s, 0) for s in own]) for tokens, own in zip(found, sizes.tolist(), strict=True)
        ]
        for place, column in enumerate(self.texts.values()):
            missing = sizes[:, place] < 0
            strings = [None if gone else own[place] for gone, own in zip(missing, written, strict=True)]
            table = table.with_text(column, strings)
        return table

    def _lengths(self, name: str, cells: Integers, rng: np.random.Generator) -> Integers:
        """A length for each row, by the shares of its cell; -1 where the text is missing."""
        running = np.cumsum(self.shares[name], axis=1)[cells]
        bins = edges(self.drawing[2])
        place = np.minimum((rng.random(len(cells))[:, None] * running[:, -1:] >= running).sum(1), len(bins) - 1)
        inside = np.minimum(place, len(bins) - 2)
        drawn: Integers = rng.integers(bins[inside], bins[inside + 1])
        return np.where(place == len(bins) - 1, -1, drawn)

    def pseudo_log_likelihood(self, table: Table) -> tuple[Floats, Integers]:
        """For each row of a table with labels and texts: the log-probabilities of the tokens of its texts, and their number.

        Each token is masked alone and judged in view of its row's labels and of all other tokens; the two together give the
        pseudo-perplexity, exp(-sum / number). It reads the rows that it is given: of private rows it is for measuring only.
        """
        self.cells.require_same(table.schema, "mask-fill")
        module, filler = network("hushtable.language.fill_net", "a model of language"), self._filler()
        prefixes = filler.ids([label(own) for own in self.cells.known()], module.PREFIX)
        pieces = [filler.ids([text or "" for text in table.strings(name)], self.drawing[2]) for name in self.texts]
        texts = zip(*pieces, strict=True)
        rows = [filler.row(prefixes[cell], own) for cell, own in zip(self.cells.rows(table), texts, strict=True)]
        found: tuple[Floats, Integers] = module.pseudo_log_likelihoods(filler, rows)
        return found

    def _filler(self) -> Any:
        name, fingerprint, folder = self.base
        known = found_again(folder or name, Sort.ENCODER, fingerprint, "mask-fill")
        return network("hushtable.language.fill_net", "a model of language").restored(known, self.weights)

    def result(self) -> dict[str, Any]:
        """What was trained, and with how much noise."""
        return self.chosen

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The released rows, noisy lengths, adapters and head, and the fingerprint of the encoder; never the encoder."""
        values = {
            "schema": self.schema.portable().dump(), "texts": list(self.texts), "by": list(self.cells.names), "base": self.base[:2],
            "drawing": self.drawing, "chosen": self.chosen,
        }  # fmt: skip
        arrays = {f"column: {name}": own for name, own in self.table.arrays.items()}
        shares = {f"lengths: {name}": own for name, own in self.shares.items()}
        return values, {**arrays, **shares, **{f"weights: {name}": own for name, own in self.weights.items()}}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema = Schema.parse(values["schema"])

        def under(head: str) -> Arrays:
            return {name.removeprefix(head): own for name, own in arrays.items() if name.startswith(head)}

        table = Table(schema.select(name for name in schema.names if name not in values["texts"]), under("column: "))
        name, fingerprint = values["base"]
        return cls(
            table, {text: schema[text] for text in values["texts"]}, Cells(tuple(schema[by] for by in values["by"])),
            under("lengths: "), under("weights: "), (name, fingerprint, ""), tuple(values["drawing"]), values["chosen"],
        )  # fmt: skip
