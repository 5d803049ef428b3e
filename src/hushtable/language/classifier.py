"""A fitted classifier of text: adapters, a head, and which public model they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.language.models import Checkpoint, Sort, found_again
from hushtable.language.task import Task
from hushtable.learn import network
from hushtable.pipeline.step import Arrays, Given
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NET, PURPOSE = "hushtable.language.classify_net", "a classifier of text"
GENERAL, OWN = "general/", "own/"
"""Before the names of arrays: what public texts taught, folded into the encoder, and what the rows taught, on top of it."""


@dataclass(frozen=True)
class Shape:
    """Which network it is: enough to build it again beside its arrays."""

    model: str
    """The name of the public model."""
    fingerprint: str
    kept: tuple[int, ...]
    """The numbers of the layers that were left in."""
    length: int
    folder: str = ""
    """Where the public model was found; a file of the classifier does not say."""

    @classmethod
    def of(cls, found: Checkpoint, kept: tuple[int, ...], length: int) -> Shape:
        """On a model that is at hand."""
        return cls(found.name, found.fingerprint, kept, length, str(found.folder))

    def checkpoint(self) -> Checkpoint:
        """The public model, by folder or by name; InputError where it is not there, or is another one."""
        return found_again(self.folder or self.model, Sort.ENCODER, self.fingerprint, "classify-text")


@dataclass(frozen=True, eq=False, kw_only=True)
class TextClassifier:
    """Labels texts. It holds adapters and a head, which are small, and the fingerprint of the public model, never that model.

    What it samples are public texts, of the pool that it was given, with the classes that it predicts for them.
    """

    schema: Schema
    task: Task
    shape: Shape
    arrays: Arrays
    pool: tuple[str, ...]
    chosen: dict[str, Any]
    """What the plan and paid answers led to, for the card."""

    @cached_property
    def net(self) -> Any:
        """The network, built when it is first used."""
        module = network(NET, PURPOSE)
        net = module.Classifier.of(self.shape.checkpoint(), self.shape.kept, len(self.levels), self.shape.length)
        if general := _under(GENERAL, self.arrays):
            restored, folded = (getattr(network("hushtable.language.adapter", PURPOSE), name) for name in ("restore", "fold"))
            restored(net.encoder, general)
            folded(net.encoder)
        net.restore(_under(OWN, self.arrays))
        return net

    @property
    def levels(self) -> tuple[str, ...]:
        """The classes."""
        return self.schema[self.task.target].levels

    def chances(self, texts: Sequence[str | None]) -> Floats:
        """Texts x classes: the probability of each class; a missing text is an empty one."""
        if not len(texts):
            return np.zeros((0, len(self.levels)))
        found: Floats = self.net.chances(texts)
        return found

    def labelled(self, texts: Sequence[str | None]) -> Table:
        """A table of these texts and the likeliest class of each."""
        column = self.schema[self.task.target]
        codes = self.chances(texts).argmax(1).astype(column.dtype)
        table = Table(self.schema.select([column.name]), {column.name: codes})
        return table.with_text(self.schema[self.task.text], texts).select(self.schema.names)

    @cached_property
    def labelled_pool(self) -> Table:
        """All texts of the pool."""
        return self.labelled(self.pool)

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` texts of the pool, without repeats (by default all of them), with their classes; ``given`` may fix the class."""
        table = self.labelled_pool
        if self.task.text in (given or {}):
            raise InputError("a text cannot be fixed: label texts of your own with 'hush predict'", where="given")
        if self.task.target in (given or {}):
            wanted = (given or {})[self.task.target]
            table = table.take(np.flatnonzero(table.strings(self.task.target) == wanted))
        if n is None:
            return table
        if n > table.rows:
            raise InputError(f"the pool has {table.rows:,} such texts, and {n:,} are asked for", where="rows")
        return table.take(rng.permutation(table.rows)[:n])

    def result(self) -> dict[str, Any]:
        """Layers, parameters, noise and noisy counts: nothing of single rows."""
        return dict(self.chosen)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Adapters and head as arrays; the pool is public and goes along."""
        values = {
            "schema": self.schema.dump(), "text": self.task.text, "target": self.task.target, "model": self.shape.model,
            "fingerprint": self.shape.fingerprint, "kept": list(self.shape.kept), "length": self.shape.length,
            "pool": list(self.pool), "chosen": self.chosen,
        }  # fmt: skip
        return values, self.arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it; the public model is looked for when it is first used."""
        kept = tuple(map(int, values["kept"]))
        return cls(
            schema=Schema.parse(values["schema"]), task=Task(values["text"], values["target"]),
            shape=Shape(values["model"], values["fingerprint"], kept, int(values["length"])),
            arrays=arrays, pool=tuple(values["pool"]), chosen=values["chosen"],
        )  # fmt: skip


def _under(start: str, arrays: Arrays) -> Arrays:
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
