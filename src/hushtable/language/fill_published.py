"""Mask filling as published (Garg 2025): parts of private sentences are masked and filled, and the rest leaves as it is.

The certified twin, which starts from masks alone, is the step ``mask-fill``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.language.behind import texts_to_write
from hushtable.language.cells import Cells
from hushtable.language.filled import label
from hushtable.language.filling import MOST, PURPOSE, Filling
from hushtable.language.models import READ_IN_PUBLIC
from hushtable.learn import network
from hushtable.pipeline.step import Arrays, Given, Plan, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "the words of private sentences that are not masked leave as they are"
CLAIM = "differential privacy with the epsilon that the filling model was trained with"
GAPS = (
    "the words that are not masked leave verbatim: a name or a number stays with the chance of not being masked, whatever the "
    "model that fills the rest was trained with. Filling reads private sentences, so it is no post-processing of that model",
    "a word that one sentence alone has proves, wherever it leaves, that the sentence was there: delta is at least about the "
    "chance of a word not to be masked, whatever epsilon is",
)
"""Where the argument fails (the filling model is the public one here: the gap is there with any)."""


@dataclass(frozen=True, kw_only=True)
class PublishedMaskFill(Filling):
    """Each private text with a part of its words masked and filled anew. Its differential privacy is a claim that fails.

    Tokens are masked by coins, drawn anew from the likeliest ones, and the least likely of them masked again, in ten rounds
    (Ghazvininejad et al. 2019). The other tokens, and all other columns, leave as they are, so epsilon is infinite; ``mask-fill``
    is the form that holds. The share, the rounds and the number of candidates were not published. Garg 2025.
    """

    quick: ClassVar[Mapping[str, object]] = {"model": "smollm2", "warm": 1, "length": 4, "rounds": 2, "written": 4}

    masked: float = 0.3
    """The chance of each token to be masked."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(self, **self.ranges(), masked=(0 < self.masked <= 1, "must be above 0 and at most 1"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no text or no label, and models that cannot be loaded."""
        texts, public = self.planned(schema, "mask-fill-published")
        Cells.of(schema, self.by, "mask-fill-published", MOST)
        return Plan(
            schema=schema, events=(Raw(_WHY),), effect=Effect.EDIT_ROWS, moves=texts, public=public, caveats=(READ_IN_PUBLIC,),
            claims=(Claim(CLAIM, GAPS),),
        )  # fmt: skip

    def fit(self, vault: Vault, rng: np.random.Generator) -> Rewritten:
        """Train the head on public texts, then mask and fill the private ones."""
        step = "mask-fill-published"
        texts, cells = texts_to_write(vault.schema, self.columns, step), Cells.of(vault.schema, self.by, step, MOST)
        known, filler = self.public_filler(vault.schema, cells, texts, rng, step)
        module = network("hushtable.language.fill_net", PURPOSE)
        table = vault.open(Raw(_WHY), _WHY)
        prefixes = filler.ids([label(own) for own in cells.known()], module.PREFIX)
        for number, name in enumerate(texts, 1):
            strings = table.strings(name)
            tokens = filler.ids([text or "" for text in strings], self.length)
            whole = [filler.row(prefixes[cell], [own]) for cell, own in zip(cells.rows(table), tokens, strict=True)]
            rows = [
                module.Row(row.tokens, (np.array(row.open) & (rng.random(len(row.open)) < self.masked)).tolist()) for row in whole
            ]
            found = module.filled(filler, rows, self.rounds, self.candidates, rng)
            made = [module.texts_of(filler, ids, [len(own)])[0] for ids, own in zip(found, tokens, strict=True)]
            made = [None if text is None else own for text, own in zip(strings, made, strict=True)]
            table = table.with_text(table.schema[name], made)
            vault.report(number / len(texts))
        return Rewritten(table, {"encoder": known.name, "masked": self.masked, "rounds": self.rounds})


@dataclass(frozen=True, eq=False)
class Rewritten:
    """The table with its texts rewritten: it can be handed out, not sampled anew."""

    table: Table
    chosen: dict[str, Any]

    @property
    def schema(self) -> Schema:
        """Of the table."""
        return self.table.schema

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """The table; a number of rows or a condition cannot be asked of it."""
        if given or (n is not None and n != self.table.rows):
            raise InputError("texts of real rows were rewritten: there are no other rows, and no conditions", where="rows, given")
        return self.table

    def result(self) -> dict[str, Any]:
        """The knobs."""
        return self.chosen

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The table itself."""
        texts = {name: self.table.texts[name].tolist() for name in self.schema.texts}
        return {"schema": self.schema.portable().dump(), "texts": texts, "chosen": self.chosen}, dict(self.table.arrays)

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        texts = {name: np.array([*words, None], object)[:-1] for name, words in values["texts"].items()}
        return cls(Table(Schema.parse(values["schema"]), arrays, texts), values["chosen"])
