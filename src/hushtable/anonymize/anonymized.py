"""The model of every anonymizer: the anonymized table itself, or rows out of memory that are written as they are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Arrays, Given
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class Anonymized:
    """A table that is its own model: it can be handed out, not sampled anew."""

    table: Table
    chosen: dict[str, Any] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        """Of the anonymized table."""
        return self.table.schema

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """The table; a number of rows or a condition cannot be asked of it."""
        if n is not None and n != self.table.rows:
            raise InputError(f"an anonymized table has the rows it has ({self.table.rows}), not {n}", where="rows")
        if given:
            raise InputError("an anonymized table cannot be sampled under a condition", where="given")
        return self.table

    def result(self) -> dict[str, Any]:
        """What the anonymizer chose."""
        return self.chosen

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema, result and columns, with the strings of texts."""
        texts = {name: words.tolist() for name, words in self.table.texts.items() if name in self.schema}
        values = {"schema": self.schema.portable().dump(), "result": self.chosen, **({"texts": texts} if texts else {})}
        return values, dict(self.table.arrays)

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        texts = {name: np.array([*words, None], object)[:-1] for name, words in values.get("texts", {}).items()}
        return cls(Table(Schema.parse(values["schema"]), arrays, texts), values["result"])


@dataclass(frozen=True, eq=False)
class AnonymizedRows:
    """The same for rows that are not in memory: they are anonymized whenever they are read, and always alike."""

    handed_on: Rows
    chosen: dict[str, Any] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        """Of the anonymized rows."""
        return self.handed_on.schema

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """The rows, where they fit."""
        return Anonymized(self.handed_on.whole("an anonymized table at once"), self.chosen).sample(n, rng, given)

    def result(self) -> dict[str, Any]:
        """What the anonymizer chose."""
        return self.chosen

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """As a table in memory has them."""
        return Anonymized(self.handed_on.whole("an anonymized table in one file")).parts()

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it: it is then in memory."""
        kept = Anonymized.from_parts(values, arrays)
        return cls(kept.table, kept.chosen)


def anonymized(rows: Rows, chosen: dict[str, Any]) -> Anonymized | AnonymizedRows:
    """The model that these rows are."""
    return Anonymized(rows, chosen) if isinstance(rows, Table) else AnonymizedRows(rows, chosen)
