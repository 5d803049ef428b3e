"""Free text for the rows of a released table, by an encoder that fills masks and was adapted with differential privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hushtable.language.behind import opened, texts_to_write, with_texts
from hushtable.language.cells import Cells
from hushtable.language.filled import Filled, edges, label
from hushtable.language.filling import MOST, PURPOSE, Filling
from hushtable.language.models import READ_IN_PUBLIC
from hushtable.learn import network
from hushtable.numerics.simplex import on_simplex, without_missing
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.sampled import FLOAT_NOISE, sampled_gaussian
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, kw_only=True)
class MaskFill(Filling, PrivateCore):
    """A text for each row of a released table, by filling a row of masks of a drawn length, in view of the row's labels.

    A public encoder gets a head over its vocabulary, which is trained on public texts. Then how long the texts of each cell of the
    labels are is counted with noise on public bins (a row, added or removed, changes one count of each text by one), and adapters
    (LoRA) of the encoder are trained on the private rows by DP-SGD: in each step a coin for every person, random masks, the
    gradients of a person clipped together to ``clip``, normal noise on the sum (Abadi et al. 2016). What is drawn starts from masks
    alone, never from a private text: all masks are filled at once, and in ten rounds ever fewer of the least likely tokens again
    (Ghazvininejad et al. 2019), so it is post-processing. Texts come as the tokenizer writes them, in lower case for many encoders.
    Needs a delta, and one record or person more or less (add-remove).
    """

    quick: ClassVar[Mapping[str, object]] = {"model": "smollm2", "steps": 1, "warm": 1, "length": 4, "rounds": 2, "written": 4}

    rate: float = 0.1
    """The chance of each person to be in the batch of a step."""
    steps: int = 30
    """Private steps."""
    clip: float = 0.1
    """The largest norm of one person's part in the gradient of a step."""
    speed: float = 1e-3
    """Learning rate of the private steps at the start; it falls to nothing."""
    lengths: float = 0.1
    """The part of its budget that goes to the lengths of texts."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(
            self,
            **self.ranges(),
            rate=(0 < self.rate <= 1, "must be above 0 and at most 1"),
            steps=(self.steps >= 1, "must be at least 1"),
            clip=(0 < self.clip < math.inf, "must be positive"),
            speed=(0 < self.speed < math.inf, "must be positive"),
            lengths=(0 < self.lengths < 1, "must be above 0 and below 1"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no text or no label, models that cannot be loaded, and a budget without delta."""
        texts, public = self.planned(schema, "mask-fill")
        cells = Cells.of(schema, self.by, "mask-fill", MOST)
        events: tuple[Event, ...] = ()
        if budget is not None:
            counts, rest = self._parts(budget, len(texts))
            events = (
                *(part.event(Lengths(name, cells), schema) for part, name in zip(counts, texts, strict=True)),
                sampled_gaussian(rest, self.rate, self.steps),
            )
        return Plan(
            schema=with_texts(schema, texts), events=events, behind=True, effect=Effect.GENERATE, public=public,
            caveats=(FLOAT_NOISE, READ_IN_PUBLIC),
        )  # fmt: skip

    def _parts(self, budget: Allowance, texts: int) -> tuple[list[Allowance], Allowance]:
        first, rest = budget.split([self.lengths, 1 - self.lengths])
        return first.split([1.0] * texts), rest

    def fit(self, vault: Vault, rng: np.random.Generator) -> Filled:
        """Train on public texts, count lengths, then train on the rows behind the released table."""
        table, origin = opened(vault, "mask-fill")
        cells = Cells.of(table.schema, self.by, "mask-fill", MOST)
        texts = texts_to_write(origin.schema, self.columns, "mask-fill")
        cells.require_same(origin.schema, "mask-fill")
        known, filler = self.public_filler(origin.schema, cells, texts, rng, "mask-fill")
        module = network("hushtable.language.fill_net", PURPOSE)
        counts, rest = self._parts(vault.paid(), len(texts))
        shares = {}
        for part, name in zip(counts, texts, strict=True):
            query = Lengths(name, cells, self.length, lambda some: module.lengths(filler, some, self.length))
            noisy = origin.spend(query, part).reshape(cells.number, -1).astype(float)
            shares[name] = _shares(noisy, origin.schema, name, part.deviation(query, origin.schema))
        happened = sampled_gaussian(rest, self.rate, self.steps)
        descent = network("hushtable.learn.private", PURPOSE).PrivateDescent
        how = descent(rate=self.rate, steps=self.steps, multiplier=happened.multiplier, clip=self.clip, part=module.PART)
        training = module.Training(
            least=self.least, most=self.most, rank=self.rank, speed=self.speed, seed=int(rng.integers(2**31))
        )
        prefixes = filler.ids([label(own) for own in cells.known()], module.PREFIX)

        def read(rows: Table) -> list[Any]:
            pieces = [filler.ids([text or "" for text in rows.strings(name)], self.length) for name in texts]
            return [filler.row(prefixes[cell], own) for cell, own in zip(cells.rows(rows), zip(*pieces, strict=True), strict=True)]

        module.adapted(filler, origin, read, training, how, max(table.rows, 1), vault.report)
        arrays = module.weights(filler)
        chosen = {
            "encoder": known.name, "steps": self.steps, "rate": self.rate, "noise multiplier": round(how.multiplier, 4),
            "weights": sum(array.size for array in arrays.values()),
        }  # fmt: skip
        return Filled(
            table, {name: origin.schema[name] for name in texts}, cells, shares, arrays,
            (known.name, known.fingerprint, self.encoder), (self.rounds, self.candidates, self.length), chosen,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Lengths:
    """For each cell of the labels how many rows have a text of each length, on public bins of tokens, and how many have none."""

    text: str
    cells: Cells
    length: int = 1
    """The most tokens that count."""
    count: Any = None
    """Gives the number of tokens of texts; none in a plan."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The labels and the text."""
        return (*self.cells.names, self.text)

    def answer(self, table: Table) -> Integers:
        """Cells x (bins, missing): every row counts in one place."""
        bins = edges(self.length)
        counts = np.zeros((self.cells.number, len(bins)), np.int64)
        own = self.count([str(word) for word in table.words(self.text)])
        places = np.append(np.searchsorted(bins, own, side="right") - 1, len(bins) - 1)
        np.add.at(counts, (self.cells.rows(table), places[table[self.text].astype(np.int64)]), 1)
        return counts.ravel()

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A record lies in one cell and one bin; replacing it changes two."""
        return Histogram(self.cells.names).sensitivity(schema, relation)


def _shares(noisy: Floats, schema: Schema, name: str, sigma: float) -> Floats:
    """For each cell the share of each bin, missing last; none is missing where noise alone explains how many are."""
    totals = np.maximum(noisy.sum(1), 1.0)
    if schema[name].required or without_missing(schema[name], float(noisy[:, -1].sum()), sigma * len(noisy) ** 0.5):
        noisy = np.concatenate([noisy[:, :-1], np.full((len(noisy), 1), -1e12)], axis=1)
    return np.stack([on_simplex(own, total) / total for own, total in zip(noisy, totals, strict=True)])
